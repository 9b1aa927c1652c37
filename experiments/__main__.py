"""Answers questions about highway networks: trains, measures, judges.

python -m experiments                          lists the questions: what they ask, need, and how long they take
python -m experiments lesion                   answers one           -> experiments/results/lesion.json
python -m experiments lesion --quick           a smoke test of it    -> experiments/results/quick/lesion.json
python -m experiments add cifar RUN.json ...   adds finished trainings to a question's trials; trains nothing
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from pathlib import Path

from experiments import all_questions, find_question, question_names
from experiments.judging import check_budget, with_summary
from experiments.study import COMMANDS
from highways.commands import Parser, first_line, number, path_name, run_command, run_program
from highways.files import ROOT, InputError, Lock, commit, printable, write_all
from highways.lab.judging.claim import Claim, OtherResults, judge
from highways.lab.question import EXPERIMENTS, Question
from highways.lab.showing.tables import takes
from highways.lab.trials import Runner, results_folder
from highways.processes import MOST_JOBS, all_cores
from highways.records import RESULTS, check_results_replaceable, load_results, path_of, record_bytes
from highways.statistics import format_stat

MORE_DATA_SETS = "more data sets to measure, besides MNIST: CIFAR-100, or folders with MNIST's layout (Fashion-MNIST)"
LONGEST_WRITE = 600  # seconds that an answer waits for a command that writes the same results
RESUME = "finished trials are kept: the same command goes on from there"

# ---- Listing ------------------------------------------------------------------------------------


def list_questions() -> None:
    width = max(map(len, question_names()))
    for question in all_questions():
        details = [duration_or_source(question)]
        if question.needs:
            details.append(f"needs {', '.join(question.needs)}")
        print(f"{question.name:{width}} {question.asks}\n{'':{width}} {'; '.join(details)}")
    print(f"\n{EXPERIMENTS} NAME answers one, with --quick as a smoke test; {EXPERIMENTS} NAME --help says more.")


def duration_or_source(question: Question) -> str:
    """How long the committed results took; for a question without trials, what writes those that judge its claims."""
    if question.run is None:
        names = {name for claim in question.claims for name in claim.over if name in COMMANDS}
        return f"judged by what {' and '.join(COMMANDS[name] for name in sorted(names))} write"
    if not (ROOT / path_of(question.name)).exists():
        return "no committed results"
    # unchecked: to check all takes a second and more
    return f"{takes(lambda name: json.loads((ROOT / name).read_bytes()), question.name)} on two cores"


# ---- Answering one ------------------------------------------------------------------------------


def parse_arguments(question: Question, argv):
    parser = Parser(prog=f"{EXPERIMENTS} {question.name}", description=question.asks)
    smoke_test = "a smoke test: seconds, no evidence"
    parser.add_argument(
        "--quick", action="store_const", const="quick", default="default", dest="budget", help=smoke_test
    )
    parser.add_argument(
        "--jobs", type=number(int, 1, MOST_JOBS), default=all_cores(), help="parallel processes (%(default)s)"
    )
    parser.add_argument("--scheduler", metavar="ADDRESS", help="run on the Dask cluster of this scheduler")
    results = "the folder to write to (by default experiments/results/ or experiments/results/quick/)"
    parser.add_argument("--results", type=path_name, metavar="DIR", help=results)
    if question.takes_more_data_sets:
        parser.add_argument("--data-dir", type=path_name, metavar="SET", nargs="+", default=[], help=MORE_DATA_SETS)
    elif question.data_dir:
        parser.add_argument("--data-dir", type=path_name, metavar="DIR", help=question.data_dir)
    return parser.parse_args(argv)


def answer(question: Question, args, save=write_all) -> dict:
    """Runs a question's trials, writes its results by save(), prints its rows and claims; returns the record."""
    if args.budget != "quick":
        warn_of_uncommitted_files()
    needed = {name: result_of(name, args, save) for name in question.needs}
    with runner_of(question, args) as runner:
        runner.needed = needed
        record = runner.record(question.source, question.run(runner))
        with Lock(runner.folder, seconds=LONGEST_WRITE):
            if question.accept and runner.path.exists():
                from experiments import add  # only here: it imports the convolutional nets

                record = add.with_added(load_results(runner.path), record)
            record = with_summary(question, record)
            check_results_replaceable(runner.path, question.name, runner.budget)  # again: the trials took long
            save({runner.path: record_bytes(record, RESULTS)})
    smoke_test = ": a smoke test, not evidence" if args.budget == "quick" else ""
    print(f"saved to {printable(runner.path)}{smoke_test}")
    print_rows(record["summary"])
    print_claims(question.claims, record)
    return record


def runner_of(question: Question, args) -> Runner:
    more_data_sets = ()
    data_dir = getattr(args, "data_dir", None)
    if question.takes_more_data_sets:
        more_data_sets = data_dir
        data_dir = None
    return Runner(
        question.name,
        args.budget,
        question.budgets[args.budget],
        folder=Path(args.results) if args.results else None,
        jobs=args.jobs,
        scheduler=args.scheduler,
        more_data_sets=more_data_sets,
        data_dir=data_dir,
    )


def warn_of_uncommitted_files() -> None:
    """Says before a measurement that its results cannot be committed."""
    if (commit() or "").endswith("-dirty"):
        what_follows = "the results will say so, and a test refuses such results"
        print(f"some programs are not as they were committed: {what_follows}", file=sys.stderr)


def result_of(name: str, args, save) -> dict:
    """The results of another question under the same budget.

    A smoke test answers that question first; otherwise its results must be there.  Raises
    InputError if they are not, or if they are of another budget."""
    question = find_question(name)
    if args.budget == "quick":
        needed_args = argparse.Namespace(**vars(args))
        needed_args.data_dir = []
        if question.takes_more_data_sets:
            needed_args.data_dir = getattr(args, "data_dir", None) or []
        return answer(question, needed_args, save)
    path = results_folder(args.budget, args.results) / f"{name}.json"
    if not path.exists():
        raise InputError(f"{path} is missing: {EXPERIMENTS} {name}, with the same --results, makes it")
    record = load_results(path)
    check_budget(question, record)
    return record


def print_rows(rows: list[dict]) -> None:
    for row in rows:
        print(printable("  ".join(f"{name} {format_stat(value, 4)}" for name, value in row.items())))


def print_claims(claims: list[Claim], record: dict) -> None:
    """Prints the claims that a question's own results judge, each with its verdict.

    After a smoke test the verdicts are left out."""
    for claim in claims:
        if claim.over != (record["experiment"],):
            continue
        try:
            judgement = judge(claim, record)
            line = judgement.ours
            if record["settings"]["budget"] != "quick":
                line = f"{judgement.verdict.as_text(claim.kind)}: {line}"
        except KeyError:
            raise  # a name that the results do not have: the claim's fault, not that of the settings
        except (LookupError, OtherResults):
            line = "not measured with these settings"
        print(f"{claim.source}: {claim.says}\n    {printable(line)}")


# ---- The command --------------------------------------------------------------------------------


def main(argv: list[str]) -> int:
    if argv[:1] == ["add"]:
        from experiments import add  # only here: it imports the convolutional nets

        return add.main(argv[1:])
    parser = Parser(
        prog=EXPERIMENTS,
        usage=f"{EXPERIMENTS} [-h] [NAME | add] [FLAG ...]",
        description=first_line(__doc__),
        epilog=f"'{EXPERIMENTS}' alone lists the questions; '{EXPERIMENTS} NAME --help' explains the flags of one.",
    )
    explained = "a question to answer; or 'add', to add finished trainings to a question's results"
    choices = [*question_names(), "add"]
    parser.add_argument("name", nargs="?", choices=choices, metavar="NAME", help=explained)
    name = parser.parse_args(argv[:1]).name
    if name is None:
        return run_command(EXPERIMENTS, lambda save: list_questions())
    question = find_question(name)
    args = parse_arguments(question, argv[1:])

    def work(save):
        if question.run is None:
            raise InputError(f"{name} has no trials of its own: it is {duration_or_source(question)}")
        answer(question, args, save)

    return run_command(f"{EXPERIMENTS} {name}", work, lambda: RESUME)


if __name__ == "__main__":
    run_program(partial(main, sys.argv[1:]))
