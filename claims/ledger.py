"""The ledger: what the paper and those who wrote about it claim, and what the committed results say.

    python -m experiments.claims            -> results/claims.json, and its rows on the screen

The claims stand in the experiments that measure them; here are those of the headline and those over several
experiments.  How they are judged: claims/rules.py.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
from dataclasses import replace
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import numpy as np

from claims.rules import PUBLISHED, Claim, NotMeasured, above, below, judge, of, shown, shown_in, within
from experiments.blocks import early_and_late
from plumbing.commands import first_line
from plumbing.files import ROOT, InputError, check_writable, environment, write_json
from plumbing.records import load_record, load_results, seconds_on_two_cores
from training import committed
from training.trials import run_and_exit

NEEDS = {name: ("fifty_layers",) for name in ("gates", "lesion", "routing", "data_movement")}  # what must run before
SOURCES = ("published program", "paper", "the authors' log", "blog", "encyclopedia article", "published program, open")


# ---- Claims of the headline, and over several results ----------------------------------------------------------------


def runs(*names: tuple[str, str]):
    """Of a record of seeds: (block, name of a number) of each run."""
    return lambda r: [[pair[block][name] for pair in r["runs"]] for block, name in names]


def accuracies(r: dict) -> list[dict]:
    """Of a record of depths: {depth: test accuracy} of highway and of plain."""
    return [{pair["depth"]: pair[block]["final_test_acc"] for pair in r["runs"]} for block in ("highway", "plain")]


def thirds(r: dict) -> list[tuple]:
    """Mean T of the lower and of the upper third of the layers, over seeds."""
    return [*zip(*(early_and_late(pair["highway"]["final_T_per_layer"]) for pair in r["runs"]), strict=True)]


def of_activation(activation: str, *records: dict) -> list[float]:
    """Test accuracy of the final highway nets of up to 100 layers with this activation."""
    finals = [t for record in records for t in record["trials"]["final"] if t["layers"] <= 100]
    return of(finals, "test_accuracy", block="highway", activation=activation)


HIGHWAY, PLAIN = (PUBLISHED["program"]["headline"][block]["test_acc"] for block in ("highway", "plain"))
SEEDS = PUBLISHED["program"]["seeds"]["highway"]
PLAIN_AT = {depth: PUBLISHED["program"]["depths"][str(depth)]["plain"]["test_acc"] for depth in (5, 10)}

HEADLINE = [
    Claim(
        "published program",
        f"at depth 30 highway learns ({HIGHWAY}), plain stays at chance ({PLAIN})",
        over=("run_seeds",),
        values=runs(("highway", "final_test_acc"), ("plain", "final_test_acc")),
        ours=shown_in("highway {}, plain {}"),
        holds=lambda highway, plain: [above(highway, 0.85), below(plain, 0.15)],
    ),
    Claim(
        "published program",
        f"... highway over three seeds {', '.join(map(str, SEEDS))}; ours the same within 0.02",
        over=("run_seeds",),
        values=runs(("highway", "final_test_acc")),
        holds=lambda ours: [within(SEEDS, -0.02, 0.02, less=ours)],
        note="theirs are three seeds, whose mean is known to 0.04: no number of ours decides it",
    ),
    Claim(
        "published program",
        "plain's loss stays at log 10, within 0.01",
        over=("run_seeds",),
        values=runs(("plain", "final_train_loss")),
        ours=shown_in("{}", 4),
        holds=lambda loss: [within(loss, math.log(10) - 0.01, math.log(10) + 0.01)],
    ),
    Claim(
        "published program",
        "highway is flat from depth 5 to 50 (within 0.04), plain is at chance from 20 on",
        over=("run_sweep",),
        values=accuracies,
        ours=lambda *nets: "highway {}; plain {}".format(
            *(", ".join(f"{accuracy:.3f}" for accuracy in net.values()) for net in nets)
        ),
        holds=lambda highway, plain: [
            np.ptp([*highway.values()]) <= 0.04,
            all(each < 0.15 for depth, each in plain.items() if depth >= 20),
        ],
        one_run=True,
    ),
    Claim(
        "published program",
        "plain learns at depth 5 ({}) and much less at 10 ({}); ours the same within 0.05".format(*PLAIN_AT.values()),
        over=("run_sweep",),
        values=lambda r: [accuracies(r)[1][depth] for depth in PLAIN_AT],
        ours="{:.3f}, {:.3f}".format,
        holds=lambda *ours: [abs(a - b) <= 0.05 for a, b in zip(ours, PLAIN_AT.values(), strict=True)],
        one_run=True,
    ),
    Claim(
        "published program",
        "lower layers develop higher T, upper layers keep it low",
        over=("run_seeds",),
        values=thirds,
        ours=shown_in("mean T of the lower third {}, of the upper {}"),
        holds=lambda lower, upper: [above(np.subtract(lower, upper), 0)],
    ),
]
VARIOUS_STARTS = Claim(
    "paper, 2.2",
    "works for various zero-mean initial distributions and activations",
    over=("run_seeds", "optimization", "blocks"),
    values=lambda seeds, *others: [
        *runs(("highway", "final_test_acc"))(seeds),
        *(of_activation(name, *others) for name in ("tanh", "relu")),
    ],
    ours=lambda uniform, tanh, relu: (
        f"uniform, tanh {shown(uniform)}; normal (Glorot or He), "
        f"tanh {shown(tanh, digits=4)}, relu {shown(relu, digits=4)}"
    ),
    holds=lambda uniform, tanh, relu: [above(uniform, 0.85), above(tanh, 0.95), above(relu, 0.95)],
)

# ---- All of them -----------------------------------------------------------------------------------------------------


def of_experiments(*names: str) -> list[Claim]:
    """Their claims, each with the names of the results that it is judged by."""
    claims = [(name, claim) for name in names for claim in importlib.import_module(f"experiments.{name}").CLAIMS]
    return [replace(claim, over=claim.over or (name,)) for name, claim in claims]


def place(claim: Claim) -> int:
    """Of its source among all of them."""
    return SOURCES.index(claim.source if claim.source in SOURCES else claim.source.split(",")[0])


CLAIMS = [
    *HEADLINE,
    *of_experiments("full_mnist", "optimization", "long_training", "thousand_layers", "gate_bias"),
    VARIOUS_STARTS,
    *of_experiments(
        "blocks",
        "very_deep",
        "jacobian",
        "routing",
        "data_movement",
        "table1",
        "cifar",
        "gates",
        "lesion",
        "factor_model",
    ),
]
CLAIMS.sort(key=place)


def find(start: str) -> Claim:
    """The one claim that begins so."""
    [claim] = [claim for claim in CLAIMS if claim.says.startswith(start)]
    return claim


CONTRADICTIONS = (  # of two sources, each pair cannot hold together
    (find("plain nets of 10 and 20 layers train"), find("20 plain fully connected layers stay under 15 %")),
    (find("SGD does not stall at 1000 layers"), find("highway nets struggle beyond about 100 layers")),
)


# ---- The table -------------------------------------------------------------------------------------------------------


def read(folder: Path) -> dict[str, dict]:
    """The committed results by name; raises InputError for one that is missing, no results file, or of other settings
    than the claims are about."""
    names = {name for claim in CLAIMS for name in claim.over}
    names |= {name for file in names for name in NEEDS.get(file, ())}
    records = {}
    for name in sorted(names):
        if name in committed.COMMANDS:
            record = load_record(folder / f"{name}.json")
        else:
            record = load_results(folder / "results" / f"{name}.json")
        records[name] = committed.checked(name, record)
    return records


def contradiction(claim: Claim, other: Claim, verdicts: dict[str, str]) -> str:
    """Who is right where two sources say what cannot hold together."""
    held = tuple(verdicts[each.says].startswith("reproduced") for each in (claim, other))
    right = {(True, False): claim.source, (False, True): other.source}.get(held)
    said = f"; the {other.source.split(',')[0]} says otherwise, "
    return said + (f"the {right.split(',')[0]} is right" if right else "both hold" if all(held) else "undecided")


def judge_by(records: dict, claim: Claim) -> tuple[str, str]:
    """What ours is, and the verdict on it; not tested where its runs are not there yet."""
    try:
        return judge(claim, *(records[name] for name in claim.over))
    except NotMeasured as error:
        return "-", f"not tested: {error}"


def rows(records: dict) -> list[dict]:
    """The ledger: of each claim what is claimed, measured and concluded, with the commands and their minutes."""
    try:
        found = {claim.says: judge_by(records, claim) for claim in CLAIMS}
        verdicts = {says: verdict for says, (_, verdict) in found.items()}
        against = {a.says: b for pair in CONTRADICTIONS for a, b in (pair, pair[::-1])}
        result = []
        for claim in CLAIMS:
            ours, verdict = found[claim.says]
            if claim.says in against:
                verdict += contradiction(claim, against[claim.says], verdicts)
            names = [name for own in claim.over for name in (*NEEDS.get(own, ()), own)] if ours != "-" else []
            row = {"source": claim.source, "claim": claim.says, "ours": ours, "verdict": verdict, "note": claim.note}
            row |= {"commands": [command(name, records[name]) for name in names], "results": names}
            minutes = sum(seconds_on_two_cores(records[name]) for name in names) / 60
            result.append(row | {"minutes_on_two_cores": round(minutes, 1)})
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise InputError(f"the results lack what a claim is judged by: {error!r}") from error
    return result


def command(name: str, record: dict) -> str:
    return record.get("command") or committed.COMMANDS[name]


def counts(ledger: list[dict]) -> dict:
    """How many rows have each verdict."""
    kinds = ("reproduced", "in part", "not reproduced", "not clear", "not tested")
    return {name.replace(" ", "_"): sum(row["verdict"].startswith(name) for row in ledger) for name in kinds}


def judged_record(records: dict) -> dict:
    """What results/claims.json holds, from the records by name that read() gives."""
    ledger = rows(records)
    head = {"experiment": "claims", "source": "all of them", "command": "python -m experiments.claims", "settings": {}}
    return head | {"env": environment(), "summary": counts(ledger), "trials": ledger}


def main(argv=None) -> None:
    p = argparse.ArgumentParser(prog="python -m experiments.claims", description=first_line(__doc__))
    p.parse_args(argv)
    path = ROOT / "results" / "claims.json"
    check_writable(path)
    record = judged_record(read(ROOT))
    write_json(path, record)
    for row in record["trials"]:
        note = f" ({row['note']})" if row["note"] else ""
        print(f"{row['source']}: {row['claim']}{note}\n    {row['verdict']}: {row['ours']}")
    print(f"saved to {path}", file=sys.stderr)


if __name__ == "__main__":
    run_and_exit("claims")
