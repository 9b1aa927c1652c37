"""What a gate that sees x is for: the numbers of claim 10."""

from __future__ import annotations

import math

import numpy as np

from docs.article.ledger_rows import row_of, table_of
from experiments.gates_or_products import routing_or_multiplication as routing
from experiments.gates_or_products.gated_net import KINDS
from experiments.gates_or_products.routing_whole_trainings import with_searches
from experiments.gates_or_products.show import GATED, OVER_RELU, PRODUCTS, ROUTING, TASKS
from experiments.primary.primary import as_factor
from highways.lab.judging.claim import effect_as_text
from highways.lab.showing.registry import table
from highways.lab.showing.tables import markdown_table
from highways.records import select, with_settings


@table("article-static-over-full-on-cifar")
def static_over_full_on_cifar(read) -> str:
    """The loss of static gates over that of highway nets, in claim 10 on CIFAR-100."""
    tests = row_of(read, "primary-gates-see-x")["tests"]
    return as_factor(select(tests, names=["log10 of loss static ÷ highway, CIFAR-100"])["values"])


@table("article-closest-p")
def closest_p(read) -> str:
    """The largest p, corrected by Holm, of what claim 10 decides."""
    tests = row_of(read, "primary-gates-see-x")["tests"]
    return f"{max(test['p'] for test in tests if test['holds'] is not None):.4f}"


def on_cifar_after_100_epochs(read, kind: str) -> list[dict]:
    """The nets of claim 10, one of each search, after all epochs."""
    return with_settings(read("experiments/results/primary.json")["trials"]["kinds"], data="CIFAR-100", kind=kind)


FITS = 1.0  # a training loss below this is less than half of what static gates reach


@table("article-highway-that-fit-on-cifar", kind="full", most=FITS)
@table("article-static-on-cifar", kind="static")
def levels_on_cifar(read, kind: str, most: float = math.inf) -> str:
    """The lowest and the highest test accuracy of claim 10, after all epochs, of nets with less than some loss."""
    nets = on_cifar_after_100_epochs(read, kind)
    accuracies = [net["test_accuracy"] for net in nets if net["loss"] < most]
    return f"{min(accuracies):.4f} to {max(accuracies):.4f}"


@table("article-highway-that-did-not-fit-on-cifar")
def most_accurate_that_did_not_fit(read) -> str:
    """The test accuracy of the highway net that fits no better than static gates."""
    [net] = [net for net in on_cifar_after_100_epochs(read, "full") if net["loss"] >= FITS]
    return f"{net['test_accuracy']:.4f}"


@table("article-highway-less-static-on-cifar")
def highway_less_static(read) -> str:
    """The difference of test accuracies after all epochs, search by search."""
    highway, static = (
        [net["test_accuracy"] for net in on_cifar_after_100_epochs(read, kind)] for kind in ("full", "static")
    )
    return effect_as_text(np.subtract(highway, static).tolist())


SHORT = "experiments/results/routing_or_multiplication.json"
SEEING = {  # {what sees x: (the kind in which it does, the kind in which it does not)}
    "a branch gate, beside a static carry gate": ("branch", "neither"),
    "a branch gate, beside a whole carry": ("added", "scaled"),
    "a carry gate, beside a static branch gate": ("carry", "neither"),
    "both gates": ("both", "neither"),
    "a coupled gate, where the other sees k alone": ("coupled", "told"),
}


def gains_of_seeing(read, task: str, pair: tuple[str, str]) -> tuple[list[float], list[float]]:
    """What a kind is ahead of another, search by search: after the short trainings, a mean over draws with the same
    settings in both, and after whole ones."""
    searched = [trial for source in (SHORT, PRODUCTS) for trial in read(source)["trials"]["search"]]
    tested = [trial for source in (ROUTING, PRODUCTS) for trial in read(source)["trials"]["final"]]
    n_searches = len({trial["search"] for trial in tested})
    at_equal_settings = []
    whole = []
    for search in range(n_searches):
        of_short = [with_settings(searched, of=task, kind=kind, search=search) for kind in pair]
        means = [np.mean([trial["chosen_by"] for trial in trials]) for trials in of_short]
        at_equal_settings.append(float(means[0] - means[1]))
        of_whole = [with_settings(tested, of=task, kind=kind, search=search) for kind in pair]
        means = [np.mean([trial["accuracy"] for trial in trials]) for trials in of_whole]
        whole.append(float(means[0] - means[1]))
    return at_equal_settings, whole


def lines_of_gains(read) -> list[str]:
    """A line for each gate: what it gains if it sees x, after the short trainings and after the whole ones."""
    lines = []
    for name, pair in SEEING.items():
        cells = [effect_in_brackets(gain) for task in TASKS for gain in gains_of_seeing(read, task, pair)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


@table("gains-of-seeing")
def gains_table(read) -> str:
    titles = [f"{name}, 1500 steps | whole" for name in TASKS.values()]
    return markdown_table(f"| gain if it sees x | {' | '.join(titles)} |", lines_of_gains(read))


SEARCHED = {  # {a setting: its name, its range, which kinds have it}
    "lr": ("rate", np.log(routing.RATES), lambda carry, branch: True),
    "gain": ("gain of W_2", np.log(routing.GAINS), lambda carry, branch: True),
    "carry_bias": ("z_C", routing.CARRY_BIASES, lambda carry, branch: carry is not None),
    "branch_bias": ("z_B", routing.BRANCH_BIASES, lambda carry, branch: branch not in (None, "coupled")),
}
EDGE = 1 / 8  # the part of a range that counts as its end


@table("gates-at-ends")
def ends_table(read) -> str:
    """A row for each setting and end of its range: the kinds of which at least two searches chose it there."""
    tested = [trial for source in (ROUTING, PRODUCTS, OVER_RELU) for trial in read(source)["trials"]["final"]]
    lines = []
    for setting, (name, (low, high), has) in SEARCHED.items():
        for end in ("low", "high"):
            cells = []
            for task in TASKS:
                found = {
                    kind: n_at_end(tested, task, kind, setting, low, high, end) for kind in GATED if has(*KINDS[kind])
                }
                often = [f"{GATED[kind][0]} {n}" for kind, n in found.items() if n > 1]
                cells.append("; ".join(often) or "-")
            lines.append(f"| {name}, {end} | {' | '.join(cells)} |")
    return markdown_table(f"| chosen at an end | {' | '.join(TASKS.values())} |", lines)


def n_at_end(tested: list[dict], task: str, kind: str, setting: str, low: float, high: float, end: str) -> int:
    """In how many searches a kind's setting lies in the lowest or the highest part of its range."""
    chosen = {trial["search"]: trial[setting] for trial in with_settings(tested, of=task, kind=kind)}
    values = np.array(list(chosen.values()))
    places = ((np.log(values) if setting in ("lr", "gain") else values) - low) / (high - low)
    return int(np.sum(places < EDGE if end == "low" else places > 1 - EDGE))


def effect_in_brackets(values: list[float]) -> str:
    """A mean over searches and its interval of 95 %, as in 0.571 (0.553 to 0.613)."""
    return effect_as_text(values).replace("95 %: ", "").replace(f", n = {len(values)}", "")


IN_ARTICLE = {"cycle": "cycles", "rule 30": "rule 30"}


def of_all_kinds(read) -> dict:
    """A record with the tested nets of all three studies, whose searches drew the same settings."""
    final = [trial for source in (ROUTING, PRODUCTS, OVER_RELU) for trial in read(source)["trials"]["final"]]
    return with_searches({**read(ROUTING), "trials": {"final": final}})


@table("article-routing")
def where_gates_see_x(read) -> str:
    """A row for each kind: on each task its accuracy with an interval over searches, and that at the largest k."""
    record = of_all_kinds(read)
    lines = []
    for kind, (name, _, _) in GATED.items():
        cells = []
        for task in IN_ARTICLE:
            nets = with_settings(record["trials"]["final"], of=task, kind=kind)
            finished = [net for net in nets if not net["diverged"]]
            at_largest = np.mean([net["accuracy"][-1] for net in finished])
            lost = f", {len(nets) - len(finished)} net lost" if len(finished) < len(nets) else ""
            known = [value for value in routing.scores(record, task, kind) if value is not None]
            cells += [effect_in_brackets(known) + lost, f"{at_largest:.2f}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    titles = [f"{name} | $k = {routing.TASKS[task]['deepest']}$" for task, name in IN_ARTICLE.items()]
    return table_of(f"| | {' | '.join(titles)} |", lines, (24, 22, 7, 22, 7))


@table("article-gains-of-seeing")
def gains_in_article(read) -> str:
    titles = [f"{name}, 1 500 steps | whole" for name in IN_ARTICLE.values()]
    return table_of(f"| gain if it sees $x$ | {' | '.join(titles)} |", lines_of_gains(read), (22, 18, 18, 18, 18))


@table("article-difference-both-branch-cycle", kind="both", other="branch", task="cycle")
@table("article-difference-coupled-residual-cycle", kind="coupled", other="residual", task="cycle")
@table("article-difference-coupled-neither-cycle", kind="coupled", other="neither", task="cycle")
@table("article-difference-both-told-rule-30", kind="both", other="told", task="rule 30")
@table("article-difference-relu-residual-cycle", kind="relu", other="residual", task="cycle")
@table("article-difference-relu-coupled-cycle", kind="relu", other="coupled", task="cycle")
@table("article-difference-relu-coupled-relu-cycle", kind="relu", other="coupled_relu", task="cycle")
def difference(read, kind: str, other: str, task: str) -> str:
    """The accuracy of a kind less that of another, search by search."""
    return effect_as_text(routing.contrast(of_all_kinds(read), task, {kind: 1, other: -1}, f"{kind} less {other}"))
