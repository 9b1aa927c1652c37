"""Rebuilds all measurements from nothing, or says what that costs.

python -m experiments everything          runs the commands of the headline, and then those of all questions
python -m experiments everything --plan   prints them, in their order, with the time that each took
"""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass

import highway_networks as hn
from experiments import all_questions
from highways.commands import BROKEN_PIPE, INTERRUPTED, TERMINATED, Parser, first_line, run_command
from highways.files import ROOT, printable
from highways.lab.question import PROGRAM
from highways.records import COMMANDS, core_seconds, groups_of, seconds_of, was_trained_apart

FASHION = "/usr/share/datasets/fashion-mnist"
CIFAR_NOTE = "CIFAR's archives, 170 MB each, which are downloaded unless they are in ~/.cache/highway-networks-cifar"
FASHION_NOTE = f"Fashion-MNIST in {FASHION}, from Debian's package dataset-fashion-mnist"
NOTES = {"CIFAR": CIFAR_NOTE, "Fashion-MNIST": FASHION_NOTE}
KEPT = "finished trials are kept: the same command goes on from there"
AFTERWARDS = (
    "python -m pages.measure, python -m pages.measure_pointers, the benchmarks of docs/reproduce.md, and at the end "
    f"{PROGRAM} publish"
)


@dataclass(frozen=True)
class Step:
    """A command that measures something, with what its committed record says of it."""

    name: str
    command: str
    core_hours: float
    processor: str
    needs: tuple[str, ...] = ()  # the steps before it
    data: tuple[str, ...] = ()  # those of NOTES that it reads
    n_apart: int = 0  # long trainings in its record that the command does not train
    hours_apart: float = 0.0


# ---- The steps ----------------------------------------------------------------------------------


def all_steps() -> list[Step]:
    """The commands of the headline, and those of all questions that have results."""
    steps = []
    for name, command in COMMANDS.items():
        named = shlex.join(FASHION if word == "DIR" else word for word in shlex.split(command))
        steps.append(step_of(name, named, read(f"{name}.json")))
    for question in all_questions():
        if question.run and not question.awaits:
            record = read(f"results/{question.name}.json")
            steps.append(step_of(question.name, record["command"], record, question.needs))
    return in_order(steps)


def read(name: str) -> dict:
    return json.loads((ROOT / name).read_bytes())  # unchecked: to check all takes many seconds


def step_of(name: str, command: str, record: dict, needs: tuple[str, ...] = ()) -> Step:
    apart = []
    for group in groups_of(record.get("trials", [])).values():
        apart += filter(was_trained_apart, group)
    return Step(
        name,
        command,
        core_seconds(record) / 3600,
        processor_of(record["env"]),
        needs,
        data_of(record),
        len(apart),
        sum(map(seconds_of, apart)) / 3600,
    )


def processor_of(env: dict) -> str:
    """The processor of a record, its NumPy and its BLAS, which older records do not name."""
    blas = env.get("blas") or "a BLAS that is not named"
    return f"{env['processor']}, NumPy {env['numpy']}, {blas}"


def data_of(record: dict) -> tuple[str, ...]:
    """What a record was measured on that is not in the repository."""
    names = [record.get("data_set", ""), *record["env"].get("data_sets", {})]
    found = []
    if any(name.startswith("CIFAR") for name in names):
        found.append("CIFAR")
    if "fashion-mnist" in names:
        found.append("Fashion-MNIST")
    return tuple(found)


def in_order(steps: list[Step]) -> list[Step]:
    """The steps with each after those that it needs; where that leaves a choice, the shortest first."""
    waiting = sorted(steps, key=lambda step: step.core_hours)
    ordered = []
    while waiting:
        done = {step.name for step in ordered}
        ready = [step for step in waiting if done.issuperset(step.needs)]
        ordered.append(ready[0])
        waiting.remove(ready[0])
    return ordered


# ---- The plan -----------------------------------------------------------------------------------


def plan(steps: list[Step], awaited: list[str]) -> list[str]:
    """The lines of --plan."""
    width = max(len(step.name) for step in steps)
    lines = [f"{'core-hours':>10}  {'':{width}}  command"]
    for step in steps:
        lines.append(f"{step.core_hours:10.3f}  {step.name:{width}}  {step.command}")
        if step.needs:
            lines.append(f"{'':10}  {'':{width}}  after {', '.join(step.needs)}")
    total = sum(step.core_hours for step in steps)
    lines.append(f"{total:10.3f}  in all")
    lines += ["", "The times are those of the committed records, by the processor, NumPy and BLAS that these name:"]
    for processor in sorted({step.processor for step in steps}):
        hours = sum(step.core_hours for step in steps if step.processor == processor)
        lines.append(f"{hours:10.3f}  {processor}")
    lines += ["", "What the repository does not hold:"]
    for data, note in NOTES.items():
        readers = [step for step in steps if data in step.data]
        hours = sum(step.core_hours for step in readers)
        names = ", ".join(step.name for step in readers)
        lines.append(f"{hours:10.3f}  {note}: {names or 'nothing'}")
    without = sum(step.core_hours for step in steps if not step.data)
    lines.append(f"{without:10.3f}  all that need neither")
    lines += ["", "What it does not rebuild:"]
    for step in steps:
        if step.n_apart:
            lines.append(
                f"{step.hours_apart:10.3f}  {step.name}: long trainings that were added: {step.n_apart}; "
                "docs/reproduce.md has their commands"
            )
    for name in awaited:
        lines.append(f"{'':10}  {name}: its results are not committed yet")
    lines.append(f"{'':10}  {AFTERWARDS}")
    return lines


# ---- The rebuild --------------------------------------------------------------------------------


def rebuild(steps: list[Step], ask) -> int:
    """Runs every step; ask(words) answers a question.  Returns the exit status.

    A step that fails says why; those that need it are left out, and all others go on."""
    failed = []
    for number, step in enumerate(steps, 1):
        missing = [name for name in step.needs if name in failed]
        if missing:
            print(f"{step.name} is left out: it needs {', '.join(missing)}")
            failed.append(step.name)
            continue
        print(f"{number} of {len(steps)}: {printable(step.command)} ({step.core_hours:.3f} core-hours)", flush=True)
        _, *words = shlex.split(step.command)
        status = hn.main(words[1:]) if words[0] == "highway_networks.py" else ask(words[2:])
        if status in (INTERRUPTED, TERMINATED, BROKEN_PIPE):
            print(f"stopped in {step.name}: {KEPT}", file=sys.stderr)
            return status
        if status:
            failed.append(step.name)
    if failed:
        print(f"not rebuilt: {', '.join(failed)}; the same command tries these again, and finished trials are kept")
        return 2
    print(f"all is rebuilt but {AFTERWARDS}")
    return 0


def main(argv, ask) -> int:
    parser = Parser(prog=f"{PROGRAM} everything", description=first_line(__doc__))
    parser.add_argument("--plan", action="store_true", help="train nothing; print the commands and what they cost")
    args = parser.parse_args(argv)

    def work(save):
        steps = all_steps()
        if not args.plan:
            return rebuild(steps, ask)
        awaited = [question.name for question in all_questions() if question.awaits]
        print("\n".join(plan(steps, awaited)))
        return 0

    return run_command(parser.prog, work, lambda: "" if args.plan else KEPT)
