"""Fills the numbers of README.md and docs/*.md from the committed JSON; it measures nothing.

    python docs/fill.py

A number stands between two comments, <!-- NAME -->0.917<!-- end -->.  NAME is one of

    FILE.KEY          an entry of `summary` in results/FILE.json, as mean ± standard deviation (n)
    FILE.KEY:2        its mean alone, with so many significant digits
    verdict: WORDS    the ledger's verdict on the one claim with these words; judged: WORDS, with our numbers before it
    takes-FILE        how long that took
    a name of FILLED, at the end of this file: a table, or a sentence
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from statistics import mean, median, stdev

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
from functools import cache, partial

from experiments.ledger import format_stat
from plumbing import records
from plumbing.commands import first_line, run_command, run_program
from plumbing.files import ROOT, InputError, read_json

BLOCKS = ("highway", "plain")
NAME = r"<!-- ((?!end )[\w.-]+(?::\d)?|(?:verdict|judged): [^<>]+) -->"
MARK = re.compile(NAME + r"(?:(?!<!--).)*<!-- end -->", re.S)
WIDTHS = (16, 32)


def pages(root: Path = ROOT) -> list[Path]:
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def fill(text: str, read) -> str:
    """The text with what stands between its comments filled in anew; read(name) gives the JSON of that name.

    Raises InputError for a comment that nothing is known of, for one without its end, and for results that lack what
    it needs.
    """
    stray = re.search(f"{NAME}|<!-- end -->", MARK.sub("", text))
    if stray:
        raise InputError(f"{stray[0]} stands alone: a number stands between <!-- NAME --> and <!-- end -->")

    def filled(match):
        try:
            return f"<!-- {match[1]} -->{value_of(match[1], read)}<!-- end -->"
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
            raise InputError(f"<!-- {match[1]} --> cannot be filled in: {error!r}") from error

    return MARK.sub(filled, text)


def value_of(name: str, read) -> str:
    column, is_claim, words = name.partition(": ")
    if is_claim:
        claim = the_claim(read, words)
        return {"verdict": claim["verdict"], "judged": f"{claim['ours']} | {claim['verdict']}"}[column]
    if name.startswith("takes-"):
        return takes(read, name.removeprefix("takes-"))
    if name in FILLED:
        return FILLED[name](read)
    file, _, key = name.partition(".")
    key, _, digits = key.rpartition(":") if re.search(r":\d$", key) else (key, "", "")
    return of_summary(read(f"results/{file}.json")["summary"][key], key, int(digits or 0))


def of_summary(value, key: str, digits: int) -> str:
    """A summary's entry as text: its mean in so many digits or, where none are asked for, its mean ± deviation (n)."""
    mean_of = value["mean"] if isinstance(value, dict) else value
    if mean_of is None:
        return "never" if key.startswith("epochs_to") else "diverged"
    return format_stat(mean_of if digits else value, digits or 4)


def table(header: str, rows: list[str]) -> str:
    return "\n\n" + "\n".join([header, re.sub(r"[^|]+", " --- ", header), *rows]) + "\n\n"


def spaced(n: int) -> str:
    return f"{n:,}".replace(",", " ")


# ---- The headline, its depths and seeds ------------------------------------------------------------------------------


def output(read) -> str:
    return f"\n\n```text\n{records.table(read('run.json')['runs'])}\n```\n\n"


def headline(read) -> str:
    """Seed 0, and the means of several seeds."""
    program, pair, rows = read("data/published.json")["program"], read("run.json")["runs"][0], []
    for block in BLOCKS:
        theirs, run = program["headline"][block], pair[block]
        means = (mean_and_sd(values) for values in (program["seeds"][block], of_seeds(read, block)))
        cells = f"{theirs['test_acc']:.3f}", f"{run['final_test_acc']:.3f}", *means
        rows.append(f"| {block} | {' | '.join(cells)} | {theirs['train_loss']:.3f} | {run['final_train_loss']:.3f} |")
    counts = len(program["seeds"]["highway"]), len(of_seeds(read, "highway"))
    seed_0 = "seed 0, published | seed 0, here"
    means = "mean ± sd, published ({} seeds) | mean ± sd, here ({} seeds)".format(*counts)
    return table(f"| net | test accuracy: {seed_0} | {means} | training loss: {seed_0} |", rows)


def of_seeds(read, block: str) -> list[float]:
    return [pair[block]["final_test_acc"] for pair in read("run_seeds.json")["runs"]]


def mean_and_sd(values: list[float]) -> str:
    return f"{mean(values):.3f} ± {stdev(values):.3f}"


def seeds(read) -> str:
    published, rows = read("data/published.json")["program"]["seeds"], []
    for block in BLOCKS:
        ours = of_seeds(read, block)
        cells = mean_and_sd(published[block]), mean_and_sd(ours), f"{len(ours)} | {min(ours):.3f} | {max(ours):.3f}"
        rows.append(f"| {block} | {' | '.join(cells)} |")
    return table("| net | published (3 seeds) | here | seeds | lowest | highest |", rows)


def fashion(read) -> str:
    rows, pairs = [], read("run_fashion.json")["runs"]
    for block in BLOCKS:
        each = [pair[block]["final_test_acc"] for pair in pairs]
        rows.append(f"| {block} | {mean_and_sd(each)} | {' | '.join(f'{accuracy:.3f}' for accuracy in each)} |")
    seeds = " | ".join(f"seed {pair['seed']}" for pair in pairs)
    return table(f"| test accuracy on Fashion-MNIST, depth {pairs[0]['depth']} | mean ± sd | {seeds} |", rows)


def sweep(read, columns: dict) -> str:
    """The pair at each depth: of each column the published number beside ours."""
    published, rows = read("data/published.json")["program"]["depths"], []
    for pair in read("run_sweep.json")["runs"]:
        theirs = published[str(pair["depth"])]
        cells = [f"{theirs[b][name]:.3f} | {pair[b][f'final_{name}']:.3f}" for name in columns for b in BLOCKS]
        rows.append(f"| {pair['depth']} | {' | '.join(cells)} |")
    header = [f"{block} {what}".strip() + ", published | here" for what in columns.values() for block in BLOCKS]
    return table(f"| depth | {' | '.join(header)} |", rows)


def thirds(read) -> str:
    """Mean T of the lower and the upper third of the blocks, in the headline nets of all seeds."""
    gates = [pair["highway"]["final_T_per_layer"] for pair in read("run_seeds.json")["runs"]]
    n = len(gates[0]) // 3
    low, high = [mean(T[:n]) for T in gates], [mean(T[-n:]) for T in gates]
    higher = sum(b > a for a, b in zip(low, high, strict=True))
    cells = mean_and_sd(low), mean_and_sd(high), f"{higher} of {len(gates)}"
    header = f"| mean T of blocks 1 to {n} | of the last {n} | seeds in which the last are higher |"
    return table(header, [f"| {' | '.join(cells)} |"])


# ---- The ledger ------------------------------------------------------------------------------------------------------


def the_claim(read, words: str) -> dict:
    found = [row for row in read("results/claims.json")["trials"] if words in row["claim"]]
    if len(found) != 1:
        raise LookupError(f"{len(found)} claims contain {words!r}")
    return found[0]


def ledger(read) -> str:
    rows = []
    for row in read("results/claims.json")["trials"]:
        by = ", ".join(f"[{name}]({where_computed(name)})" for name in row["results"])
        by += f": {max(row['minutes_on_two_cores'], 0.1):.1f}" if by else "-"
        note = f" ({row['note']})" if row["note"] else ""
        rows.append(f"| {row['source']} | {row['claim']}{note} | {row['ours']} | **{row['verdict']}** | {by} |")
    return table("| where | what it says | ours | verdict | by, minutes on two cores |", rows)


def where_computed(name: str) -> str:
    return f"../{name}.json" if name.startswith("run_") else f"../experiments/{name}.py"


def ledger_counts(read) -> str:
    counts = read("results/claims.json")["summary"]
    return table(f"| {' | '.join(counts)} |".replace("_", " "), [f"| {' | '.join(map(str, counts.values()))} |"])


def ledger_reproduced(read) -> str:
    counts = read("results/claims.json")["summary"]
    return f"{counts['reproduced']} of {sum(counts.values())} claims"


# ---- Depth and blocks ------------------------------------------------------------------------------------------------


def depths(read) -> str:
    summary, rows = read("results/optimization.json")["summary"], []
    for n in (10, 20, 50, 100):
        loss, accuracy = (
            [summary[f"{name}_{block}_{n}"]["mean"] for block in BLOCKS] for name in ("final_loss", "test_accuracy")
        )
        ratio = f"{summary[f'plain_over_highway_loss_at_{n}']:.3g}"
        cells = f"{loss[0]:.2g} | {loss[1]:.2g} | {ratio} | {accuracy[0]:.4f} | {accuracy[1]:.4f}"
        rows.append(f"| {n} | {cells} |")
    header = "| layers | highway: loss | plain: loss | plain over highway | highway: accuracy | plain: accuracy |"
    return table(header, rows)


def long_training(read) -> str:
    summary, rows = read("results/long_training.json")["summary"], []
    for block, n in (("plain", 10), ("plain", 20), ("highway", 10)):
        names = "best", "final_loss", "epochs_to_loss_1e-4", "test_accuracy"
        cells = [of_summary(summary[f"{name}_{block}_{n}"], name, 0) for name in names]
        rows.append(f"| {block}, {n} layers | {' | '.join(cells)} |")
    header = "best setting (rate: lr / (1 - momentum)) | training loss | first epoch of a mean loss of 1e-4"
    return table(f"| net | {header} | test accuracy |", rows)


def very_deep(read) -> str:
    record, rows = read("results/very_deep.json"), []
    for n in record["settings"]["layers"]:
        for block in ("residual", "highway"):
            names = "best", "loss", "test_accuracy", "skipped_accuracy"
            cells = (of_summary(record["summary"][f"{name}_{block}_{n}"], name, 0) for name in names)
            rows.append(f"| {n} | {block} | {' | '.join(cells)} |")
    return table("| layers | blocks | setting | training loss | test accuracy | with all blocks closed |", rows)


SWEPT = "loss", "test_accuracy", "skipped_accuracy", "sum_of_mean_T"


def bias_sweep(read) -> str:
    """Of 1000 layers; bold is the bias of the lowest mean training loss."""
    record, rows = read("results/very_deep.json"), {}
    for bias in sorted({t["gate_bias"] for t in record["trials"]["by_bias"]}):
        stats = [record["summary"][f"{name}_bias_minus_{-bias:g}"] for name in SWEPT]
        cells = (of_summary(stat, name, 0) for stat, name in zip(stats, SWEPT, strict=True))
        rows[bias] = stats[0]["mean"], f"| {' | '.join(cells)} |"
    best = min(loss for loss, _ in rows.values() if loss is not None)
    rows = [f"| {f'**{bias:g}**' if loss == best else f'{bias:g}'} {cells}" for bias, (loss, cells) in rows.items()]
    return table("| b_T | training loss | test accuracy | with all blocks closed | sum of mean T |", rows)


def shut(read, name: str) -> str:
    """Of the nets of 1000 layers whose gates start at -20."""
    values = [t[name] for t in read("results/thousand_layers.json")["trials"]["shut"]]
    return of_summary({"mean": mean(values), "sd": stdev(values), "n": len(values)}, name, 0)


def exploded(read) -> str:
    """Test accuracy of the three seeds of each optimiser, one by one."""
    record, rows = read("results/full_mnist.json"), []
    for name, what in (("sgd", "SGD with momentum"), ("adam", "Adam")):
        runs = [t for t in record["trials"]["hundred_layers"] if t["optimizer"] == name]
        each = ", ".join("diverged" if t["test_accuracy"] is None else f"{t['test_accuracy']:.4f}" for t in runs)
        key = f"test_accuracy_highway_100_{name}"
        rows.append(f"| {what} | {each} | {of_summary(record['summary'][key], key, 0)} |")
    return table("| 100 layers, all of MNIST | test accuracy of each seed | mean ± sd |", rows)


def cures(read) -> str:
    """Adam as it was and with one thing changed, each over the same seeds."""
    record, rows = read("results/adam_explodes.json"), []
    for change in dict.fromkeys(t["change"] for t in record["trials"]):
        own = [t for t in record["trials"] if t["change"] == change]
        exploded = sum(t["explosion"] is not None for t in own)
        each = ", ".join("diverged" if t["test_accuracy"] is None else f"{t['test_accuracy']:.4f}" for t in own)
        above = ", ".join(str(t["batches_above_guessing"]) for t in own)
        rows.append(f"| {change} | {exploded} of {len(own)} | {above} | {each} |")
    return table("| | seeds that explode | batches above log 10 | test accuracy of each seed |", rows)


def bursting(read) -> list[dict]:
    """The nets of adam_explodes whose first burst comes from a usual gradient: nothing had exploded before."""
    trials = read("results/adam_explodes.json")["trials"]
    return [t for t in trials if t["burst"] and t["burst"]["usual_norm"] < 10]


def left_out(read) -> str:
    there = [t for t in read("results/adam_explodes.json")["trials"] if t["burst"]]
    return f"{len(there) - len(bursting(read))}"


def worse(read, name: str) -> str:
    """The share of blocks in which the worst image has more than the median one, least and most over the bursts."""
    shares = []
    for t in bursting(read):
        worst, median_one = (t["burst"][which][name] for which in ("worst", "median"))
        shares.append(100 * mean(a > b for a, b in zip(worst, median_one, strict=True)))
    return f"{min(shares):.0f} to {max(shares):.0f} %"


def bursts(read) -> str:
    rows = []
    for t in bursting(read):
        burst = t["burst"]
        stretches = (f"{burst[which]['stretch'][0]:.2g}" for which in ("worst", "median"))
        ratio = spaced(round(burst["gradient_norm"] / burst["usual_norm"]))
        rows.append(f"| {t['change']}, {t['seed']} | {burst['epoch']} | {ratio} | {' | '.join(stretches)} |")
    names = "epoch", "gradient over the usual", "stretch of the worst image", "of the median image"
    return table(f"| change, seed | {' | '.join(names)} |", rows)


def onsets(read) -> str:
    """Of each explosion when each statistic left its range, and in which layer most."""
    rows, names = [], ("state", "gradient", "surprise", "step", "parameters")
    for t in (t for t in bursting(read) if t["explosion"]):
        found = [t["explosion"]["onsets"].get(name) for name in names]
        cells = (f"{its['step']}, layer {its['layer']}" if its else "in range" for its in found)
        rows.append(f"| {t['change']}, {t['seed']} | {t['explosion']['epoch']} | {' | '.join(cells)} |")
    return table(f"| change, seed | epoch | {' | '.join(names)} |", rows)


def blocks(read, matched: str) -> str:
    """Median loss and accuracy of four kinds of block, at as many parameters or at one width."""
    record, rows = read("results/blocks.json"), []
    widths = {"plain": 71, "residual": 71, "highway": 50, "highway-carry": 41}
    for n in record["settings"]["layers"]:
        cells = []
        for block, width in widths.items():
            wanted = {"block": block, "layers": n, "width": 50 if matched == "width" else width}
            runs = [t for t in record["trials"]["final"] if wanted.items() <= t.items()]
            lost = sum(t["test_accuracy"] is None for t in runs)
            both = None if lost else [median(t[name] for t in runs) for name in ("loss", "test_accuracy")]
            cells.append("{:.2g}, {:.4f}".format(*both) if both else f"{lost} of {len(runs)} diverged")
        rows.append(f"| {n} | {' | '.join(cells)} |")
    return table(f"| layers | {' | '.join(widths)} |", rows)


def compounding(read) -> str:
    record, rows = read("results/blocks.json"), []
    names = "identity_part_at_start_highway", "identity_part_trained_highway"
    names += tuple(f"gradient_first_over_last_trained_{block}" for block in ("highway", "residual"))
    names += "mean_T_early_highway", "mean_T_late_highway"
    for n in record["settings"]["layers"]:
        cells = " | ".join(f"{record['summary'][f'{name}_{n}']['mean']:.2g}" for name in names)
        rows.append(f"| {n} | {cells} |")
    columns = "identity part at the start", "trained", "gradient, first layer over last: highway", "residual"
    return table(f"| layers | {' | '.join(columns)} | mean T, first third | last third |", rows)


def to_the_end(read) -> str:
    """How all Jacobians together stretch: of each kind of net, before and after training."""
    summary, rows = read("results/jacobian.json")["summary"], []
    for block in ("plain", "residual", "highway"):
        for when, text in (("at_start", "before"), ("trained", "after")):
            names = *(f"{name}_to_the_end" for name in ("largest", "median", "smallest")), "directions_that_pass"
            cells = " | ".join(f"{summary[f'{name}_{block}_{when}']['mean']:.2g}" for name in names)
            rows.append(f"| {block} | {text} | {cells} |")
    return table("| net | training | largest | median | smallest | directions that pass |", rows)


def unscaled(read) -> str:
    record = read("results/blocks.json")
    layers = record["settings"]["layers"]
    rows = [
        f"| {what} | " + " | ".join(f"{record['summary'][f'best_loss_residual_{name}_{n}']:.2g}" for n in layers) + " |"
        for name, what in (("unscaled", "not scaled"), ("scaled", "scaled"))
    ]
    return table(f"| W_H at the start | {' | '.join(f'{n} layers' for n in layers)} |", rows)


def budget(read, name: str, text: str) -> str:
    return text.format_map(read(f"results/{name}.json")["settings"])


# ---- Times -----------------------------------------------------------------------------------------------------------


def takes(read, name: str) -> str:
    seconds = records.seconds_on_two_cores(read(f"{name}.json" if name.startswith("run_") else f"results/{name}.json"))
    if seconds > 5 * 3600:
        return f"{seconds / 3600:.0f} h"
    return f"{seconds / 60:.0f} min" if seconds > 90 else f"{seconds:.0f} s"


def cost(read) -> str:
    """Of optimization --full: its search, then its final runs, each as long as its share or its longest trial."""
    seconds = {}
    for t in read("results/optimization.json")["trials"]["final"]:  # second chances are as long
        if not t["diverged"]:
            seconds.setdefault((t["block"], t["layers"]), []).append(t["seconds"] / t["epochs"])
    trial = [400 * mean(values) for values in seconds.values()]

    def hours(cores):
        return sum(max(max(trial), n * sum(trial) / cores) for n in (100, 3)) / 3600

    useful = round(100 * sum(trial) / max(trial))
    rows = [f"| {n} | {hours(n) / 24:.1f} days |" if hours(n) > 48 else f"| {n} | {hours(n):.1f} h |" for n in (2, 64)]
    rows.append(
        f"| {useful} and more | {hours(useful):.1f} h: the longest trial of each half, {max(trial) / 3600:.1f} h |"
    )
    rows.append(f"| all trials together | {103 * sum(trial) / 3600:.0f} core-hours |")
    return table("| cores | time |", rows)


def told_the_reverse(read) -> str:
    """Of how many nets the mean gate is lower where the formula alone is another."""
    trials = read("results/factor_model.json")["trials"]
    return str(sum(t["world"] == "non-linear" and t["auc_gate"] < 0.5 for t in trials))


# ---- Convolution -----------------------------------------------------------------------------------------------------


def percent(value: dict) -> str:
    if value["mean"] is None:
        return "diverged"
    sd = "" if value["sd"] is None else f" ± {100 * value['sd']:.2f}"
    return f"{100 * value['mean']:.2f}{sd}, {value['n']} seed{'s' * (value['n'] > 1)}"


def table_1(read) -> str:
    summary, published, rows = read("results/table1.json")["summary"], read("data/published.json")["table_1"], []
    for name in ("width_16", "width_32", "width_16_plain", "width_16_residual"):
        width, kind = (*name.removeprefix("width_").split("_"), "highway")[:2]
        paper = published[width] if kind == "highway" else None
        paper = f"{100 * paper['mean']:.2f} ± {100 * paper['sd']:.2f}, 5 runs, 300 epochs" if paper else "-"
        ours = []
        for protocol in ("paper", "short"):
            accuracy = summary.get(f"test_accuracy_{name}_{protocol}")
            epochs = summary.get(f"epochs_{name}_{protocol}")
            ours.append(f"**{percent(accuracy)}, {epochs} epochs**" if accuracy else "-")
        cells = f"{kind}, {width} maps", spaced(summary[f"parameters_{name}"]), paper, *ours
        rows.append(f"| {' | '.join(cells)} |")
    return table("| net | parameters | paper, % | here, as the authors train, % | here, short, % |", rows)


def difference(ours: dict, paper: dict) -> str:
    """Ours less the paper's mean, in points; of several runs with its standard error."""
    points = f"{100 * (ours['mean'] - paper['mean']):+.2f}"
    if ours["n"] == 1:
        return f"{points}, 1 seed"
    return f"{points} ± {100 * (paper['sd'] ** 2 / paper['runs'] + ours['sd'] ** 2 / ours['n']) ** 0.5:.2f}"


def table_1_differences(read) -> str:
    summary, published, rows = read("results/table1.json")["summary"], read("data/published.json")["table_1"], []
    for width in WIDTHS:
        accuracies = [summary[f"test_accuracy_width_{width}_{protocol}"] for protocol in ("paper", "short")]
        hours = 300 * summary[f"seconds_per_epoch_width_{width}_paper"] / 3600
        cells = str(width), *(difference(ours, published[str(width)]) for ours in accuracies), f"{hours:.1f} h"
        rows.append(f"| {' | '.join(cells)} |")
    return table("| maps | as the authors train, less the paper | short, less the paper | 300 epochs take |", rows)


def authors_log(read) -> str:
    return f"{100 * read('data/published.json')['authors_log']['32']['test_accuracy']:.2f} %"


def normalised(read) -> str:
    """The highway net of 16 maps without and with batch normalisation of H."""
    summary, step = (read(f"results/{name}.json")["summary"] for name in ("table1", "benchmark_conv_step"))
    rows = []
    for kind, ending, cost in (
        ("highway", "", 1),
        ("highway-bn", "_highway_bn", step["mnist_16_normalised_over_not"]),
    ):
        accuracy, first = (summary[f"{what}_width_16{ending}_short"] for what in ("test_accuracy", "epochs_to_99"))
        each = f"{percent(accuracy)}, {summary[f'epochs_width_16{ending}_short']} epochs"
        rows.append(f"| {kind} | {each} | {format_stat(first, 2)} | {cost:.2f} |")
    return table("| block, 16 maps | test accuracy, % | epochs to 99 % | time of a step |", rows)


def recipes(read) -> str:
    summary, start = read("results/table1.json")["summary"], "validation_accuracy_"
    parts = {name.removeprefix(start).replace("_", " "): summary[name] for name in summary if name.startswith(start)}
    return table("| recipe | validation, % |", [f"| {name} | {100 * value:.2f} |" for name, value in parts.items()])


CIFAR_NETS = {  # of results/cifar.json: in words, and where the paper's number is
    "highway_a": ("highway A, 11 layers", "CIFAR-10", "table_2", "highway-a"),
    "plain_a": ("plain A, 11 layers", "CIFAR-10", None, None),
    "highway_b": ("highway B, 19 layers", "CIFAR-10", "table_2", "highway-b"),
    "plain_b": ("plain B, 19 layers", "CIFAR-10", None, None),
    "highway_c": ("highway C, 32 layers", "CIFAR-10", "table_2", "highway-c"),
    "nineteen_layers": ("Table 3's highway net of 19 layers", "CIFAR-10", "table_3", "cifar-10"),
    "nineteen_layers_cifar_100": ("Table 3's highway net of 19 layers", "CIFAR-100", "table_3", "cifar-100"),
    "best_evening": ("our own highway net of eight layers", "CIFAR-10", None, None),
}


def tables_2_and_3(read) -> str:
    summary, published, rows = read("results/cifar.json")["summary"], read("data/published.json"), []
    for name, (net, data, where, key) in CIFAR_NETS.items():
        if f"test_accuracy_{name}" not in summary:
            continue
        paper = published[where][key] if where else None
        sd = f" ± {100 * paper['sd']:.2f}" if paper and paper["sd"] else ""
        epochs = f", {paper['epochs']} epochs" if paper and "epochs" in paper else ""
        theirs = f"{100 * paper['mean']:.2f}{sd}{epochs}" if paper else "-"
        ours = f"**{percent(summary[f'test_accuracy_{name}'])}, {summary[f'epochs_{name}']} epochs**"
        seconds = summary[f"seconds_per_epoch_{name}"]
        minutes = f"{seconds / 60:.1f}" if seconds else "-"
        cells = net, data, spaced(summary[f"parameters_{name}"]), theirs, ours, minutes
        rows.append(f"| {' | '.join(cells)} |")
    return table("| net | data | parameters | paper, % | here, short, % | minutes an epoch |", rows)


def evening(read) -> str:
    """What our own net reaches, and the hours that it took."""
    summary = read("results/cifar.json")["summary"]
    if summary["test_accuracy_best_evening"]["n"] != 1:
        raise ValueError("the sentence on our own net is about one run")
    hours = summary["epochs_best_evening"] * summary["seconds_per_epoch_best_evening"] / 3600
    right = 100 * summary["test_accuracy_best_evening"]["mean"]
    return f"{right:.2f} % on CIFAR-10 in one run of {hours:.1f} hours on one core"


def evening_search(read) -> str:
    """The hours of the search before it."""
    trials = read("results/cifar.json")["trials"]["search"]
    return f"{sum(t['wallclock_sec'] for t in trials if t['net'] == 'eight-layers') / 3600:.1f} hours"


def cifar_search(read) -> str:
    rows = []
    for t in read("results/cifar.json")["trials"]["search"]:
        gates = "-" if t["block"] == "plain" else f"{t['gate_bias']:g}"
        dropout = f"{t['dropout'][0]:g}" if any(t["dropout"]) else "none"
        right = "diverged" if t["final_test_acc"] is None else f"{100 * t['final_test_acc']:.2f}"
        cells = f"{t['net']}, {t['block']}", f"{t['lr']:g}", gates, dropout, str(t["epochs"]), right
        rows.append(f"| {' | '.join(cells)} |")
    return table("| net and block | rate | b_T at the start | dropout | epochs | validation, % |", rows)


# ---- Speed -----------------------------------------------------------------------------------------------------------


def ratios(header: str, records: list[dict], what: dict, elsewhere: dict | None = None) -> str:
    """A row for each key of a summary: what, against what, the ratio, whether the target was reached, and the ratio
    elsewhere, if there is another record."""
    summary = {key: value for record in records for key, value in record["summary"].items()}
    targets, rows = {key: t for record in records for key, t in record["settings"]["targets"].items()}, []
    for key, (ours, theirs) in what.items():
        value, target = summary[key], targets.get(key)
        end = f"{target:.2f} | {'reached' if value <= target else 'missed'}" if target else "- | -"
        end += f" | {elsewhere['summary'][key]:.2f}" if elsewhere else ""
        rows.append(f"| {ours} | {theirs} | **{value:.2f}** | {end} |")
    return table(header, rows)


def speed(read) -> str:
    step, commands, scaling = (read(f"results/benchmark_{name}.json") for name in ("step", "commands", "scaling"))
    highway, plain = (
        f"training step, {block} ({step['trials'][f'step, {block}']['this project']['median_ms']:.2f} ms)"
        for block in BLOCKS
    )
    of_command = "the {0} command ({1:.1f} s)"
    headline, sweep = (of_command.format(n, commands["summary"][f"{n}_seconds"]) for n in ("headline", "sweep"))
    what = {
        "highway_over_jax": (highway, "JAX jit + scan"),
        "plain_over_jax": (plain, "JAX jit + scan"),
        "highway_over_torch_compile": (highway, "torch.compile, fused Adam"),
        "highway_over_torch_eager": (highway, "PyTorch eager"),
        "highway_over_torch_eager_fused_adam": (highway, "PyTorch eager, fused Adam"),
        "highway_over_matrix_products": (highway, "its matrix products alone, the limit"),
        "evaluation_over_torch_eager": ("evaluation of 10 000 images", "PyTorch eager, `inference_mode`"),
        "headline_over_straightforward": (headline, "straightforward NumPy"),
        "sweep_over_straightforward": (sweep, "straightforward NumPy"),
        "time_per_added_layer_depth_1000_over_30": ("time per layer, depth 10 to 1000", "depth 10 to 30"),
    }
    return ratios("| what | against | ours / theirs | aimed at | |", [step, commands, scaling], what)


def conv_speed(read) -> str:
    nets = {"mnist_16": "MNIST, 16 maps", "mnist_32": "MNIST, 32 maps"}
    nets |= {"highway_a": "CIFAR, Table 2's A", "cifar_19": "CIFAR, Table 3's 19 layers"}
    rivals = {"torch": "PyTorch eager", "jax": "JAX jit", "direct": "the direct products"}
    what = {f"{net}_over_{key}": (name, rival) for net, name in nets.items() for key, rival in rivals.items()}
    what |= {f"{net}_memory_over_torch": (f"{name}: memory", "PyTorch eager") for net, name in nets.items()}
    what["mnist_16_normalised_over_not"] = ("MNIST, 16 maps, batch normalisation of H", "without it")
    header = "| training step | against | ours / theirs | aimed at | | ours / theirs with AVX2 alone |"
    here, avx2 = (read(f"results/benchmark_conv_step{ending}.json") for ending in ("", "_avx2"))
    return ratios(header, [here], what, avx2)


def avx2_slower(read) -> str:
    """How many times as long the steps of the four nets take without AVX-512."""
    here, avx2 = (read(f"results/benchmark_conv_step{ending}.json")["trials"] for ending in ("", "_avx2"))
    ours = "this project"
    return ", ".join(f"{avx2[net][ours]['median_ms'] / here[net][ours]['median_ms']:.1f}" for net in here)


def conv_errors(read) -> str:
    summary, rows = read("results/benchmark_conv_errors.json")["summary"], []
    for method in dict.fromkeys(name.rpartition(" ")[0] for name in summary):
        largest = (f"{summary[f'{method} {what}']:.1e}" for what in ("z", "dx", "dW"))
        rows.append(f"| {method} | {' | '.join(largest)} |")
    return table("| float32 | z = W ∗ x + b | dL/dx | dL/dW |", rows)


def shares(read) -> str:
    summary, rows = read("results/benchmark_step.json")["summary"], []
    parts = {
        "matrix products": "the products alone, hot, in the fastest operand order",
        "element-wise and memory": "tanh, exp, the gate's arithmetic, transposing, and moving it all through the cache",
        "clip and Adam": "ten lines over all parameters, and the norm",
        "calls": "Python and NumPy's cost of a call: the same step on arrays of one number",
    }
    for part, what in parts.items():
        both = [summary[f"{block}_share_of_{re.sub('[ -]', '_', part)}"] for block in BLOCKS]
        rows.append(f"| {part} | {both[0]:.0%} | {both[1]:.0%} | {what} |")
    return table("| part of a step | highway | plain | what it is |", rows)


def growth(read) -> str:
    rows = []
    for row in read("results/benchmark_scaling.json")["trials"]:
        ours, jax = row["this project"], row["JAX jit + scan"]
        cells = f"{ours['ms']:.1f}", f"{jax['ms']:.1f}", f"{row['ours_over_jax']:.2f}", f"{ours['peak_mb']:.0f}"
        rows.append(f"| {row['axis']} {row[row['axis']]} | {' | '.join(cells)} | {jax['peak_mb']:.0f} |")
    return table("| | ms a step | JAX | ours / JAX | MB | JAX |", rows)


def growth_verdict(read) -> str:
    rows = read("results/benchmark_scaling.json")["trials"]
    worst, best = (pick(rows, key=lambda row: row["ours_over_jax"]) for pick in (max, min))
    where = [f"{row['axis']} {row[row['axis']]} ({row['ours_over_jax']:.2f})" for row in (worst, best)]
    slower = worst["ours_over_jax"] > 1
    ends = "NumPy stops winning at some of these sizes" if slower else "NumPy is faster at every one"
    return f"{ends}; the ratio is worst at {where[0]} and best at {where[1]}"


def startup(read) -> str:
    times = list(read("results/benchmark_commands.json")["trials"]["start-up"].values())
    steps = [times[0], times[1], times[2] - times[1], times[3] - times[2], times[4] - times[3]]
    names = ("Python", "importing NumPy", "the other imports", "unpacking and checking MNIST", "starting workers")
    rows = [f"| {name} | {1e3 * step:.0f} |" for name, step in zip(names, steps, strict=True)]
    return table("| start-up | ms |", rows)


# ---- Filling ---------------------------------------------------------------------------------------------------------

ACCURACY = {"test_acc": "test accuracy"}
FILLED = {
    "output": output,
    "headline": headline,
    "seeds": seeds,
    "fashion": fashion,
    "thirds": thirds,
    "depths": depths,
    "long-training": long_training,
    "very-deep": very_deep,
    "bias-sweep": bias_sweep,
    "exploded": exploded,
    "cures": cures,
    "bursts": bursts,
    "burst-left-out": left_out,
    "burst-state": partial(worse, name="state"),
    "burst-gate": partial(worse, name="gate_term"),
    "onsets": onsets,
}
FILLED |= {"shut-skipped": partial(shut, name="skipped_accuracy"), "shut-sum": partial(shut, name="sum_of_mean_T")}
FILLED |= {"depth-accuracy": partial(sweep, columns={"test_acc": ""})}
FILLED |= {"sweep": partial(sweep, columns=ACCURACY | {"train_loss": "training loss"})}
FILLED |= {"claims": ledger, "ledger-counts": ledger_counts, "ledger-reproduced": ledger_reproduced}
FILLED |= {"compounding": compounding, "unscaled": unscaled, "to-the-end": to_the_end}
FILLED |= {"blocks": partial(blocks, matched="parameters"), "blocks-width-50": partial(blocks, matched="width")}
FILLED |= {
    f"trials-{name}": partial(budget, name=name, text="{trials} trials of {search_epochs} epochs")
    for name in ("optimization", "blocks")
}
FILLED |= {
    f"finals-{name}": partial(budget, name=name, text="{epochs} epochs, {seeds} seeds")
    for name in ("blocks", "long_training")
}
FILLED |= {"cost": cost, "told-the-reverse": told_the_reverse}
FILLED["budget-very_deep"] = partial(
    budget,
    name="very_deep",
    text="{trials} trials of {search_epochs} epoch, then {epochs} epochs over {seeds} seeds",
)
FILLED["sweep-budget"] = partial(budget, name="very_deep", text="{longer} epochs over {seeds} seeds")
FILLED |= {
    "table-1": table_1,
    "table-1-differences": table_1_differences,
    "authors-log": authors_log,
    "normalised": normalised,
    "recipes": recipes,
    "tables-2-and-3": tables_2_and_3,
    "cifar-search": cifar_search,
    "evening": evening,
    "evening-search": evening_search,
}
FILLED |= {
    "speed": speed,
    "conv-speed": conv_speed,
    "avx2-slower": avx2_slower,
    "conv-errors": conv_errors,
    "shares": shares,
    "growth": growth,
    "startup": startup,
}
FILLED |= {"growth-verdict": growth_verdict}


def of_mnist(name: str, record: dict) -> dict:
    """The record; raises InputError for headline runs on another data set, which the tables would show as MNIST's."""
    if name in ("run.json", "run_sweep.json", "run_seeds.json") and record.get("data_set", "MNIST") != "MNIST":
        raise InputError(f"{name} is about {record['data_set']}, the pages about MNIST: git checkout {name}")
    return record


def main(argv=None) -> int:
    argparse.ArgumentParser(prog="docs/fill.py", description=first_line(__doc__)).parse_args(argv)

    def work(save):
        read, texts = cache(lambda name: of_mnist(name, read_json(ROOT / name))), {}
        for page in pages():
            try:
                texts[page] = fill(page.read_text(encoding="utf-8"), read).encode()
            except ValueError as error:  # InputError is one, and so is a page that is not text
                raise InputError(f"{page.relative_to(ROOT)}: {error}") from error
        changed = {page: text for page, text in texts.items() if text != page.read_bytes()}
        if changed:
            save(changed)
        print(f"{len(changed)} of {len(texts)} pages changed")

    return run_command("docs/fill.py", work)


if __name__ == "__main__":
    run_program(main)
