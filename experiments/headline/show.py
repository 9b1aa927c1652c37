"""The tables of run.json, run_sweep.json, run_seeds.json and run_fashion.json: highway beside plain, and highway's
gates.  visualize_highway_networks.py draws the pictures."""

from __future__ import annotations

from statistics import mean

from highways.lab.showing.registry import table
from highways.lab.showing.tables import markdown_table
from highways.records import PAIR, table_of_runs
from highways.statistics import mean_and_sd

# the records of the same ten seeds, and what computed them
PROCESSORS = {"run_seeds": "AMD Zen 4 (AVX-512)", "run_seeds_avx2": "AMD Zen 3 (AVX2)"}


@table("output")
def output(read) -> str:
    return f"\n\n```text\n{table_of_runs(read('run.json')['runs'])}\n```\n\n"


@table("headline")
def headline_table(read) -> str:
    """The test accuracy, a mean over seeds: published, and ours on each processor."""
    published = read("data/published.json")["program"]["seeds"]
    lines = []
    for block in PAIR:
        cells = [f"{mean_and_sd(published[block])} (n = {len(published[block])})"]
        for record in PROCESSORS:
            ours = of_seeds(read, block, record)
            cells.append(f"{mean_and_sd(ours)} (n = {len(ours)})")
        lines.append(f"| {block} | {' | '.join(cells)} |")
    ours = " | ".join(f"ours, {processor}" for processor in PROCESSORS.values())
    return markdown_table(f"| test accuracy | published | {ours} |", lines)


def of_seeds(read, block: str, record: str = "run_seeds") -> list[float]:
    """The test accuracy of every seed."""
    return [pair[block]["final_test_acc"] for pair in read(f"{record}.json")["runs"]]


@table("largest-move")
def largest_move(read) -> str:
    """By how much the accuracy of one highway net differs, at most, between the processors."""
    of_processors = [of_seeds(read, "highway", record) for record in PROCESSORS]
    return f"{max(abs(first - second) for first, second in zip(*of_processors, strict=True)):.2f}"


@table("seeds")
def seeds_table(read) -> str:
    """The mean, the lowest and the highest accuracy of each block: published, and ours on each processor."""
    published = read("data/published.json")["program"]["seeds"]
    lines = []
    for block in PAIR:
        samples = {"published": published[block]}
        for record, processor in PROCESSORS.items():
            samples[f"here, {processor}"] = of_seeds(read, block, record)
        for which, sample in samples.items():
            extremes = f"{min(sample):.3f} | {max(sample):.3f}"
            lines.append(f"| {block} | {which} | {mean_and_sd(sample)} | {len(sample)} | {extremes} |")
    return markdown_table("| net | program, processor | test accuracy | seeds | lowest | highest |", lines)


@table("fashion")
def fashion(read) -> str:
    pairs = read("run_fashion.json")["runs"]
    lines = []
    for block in PAIR:
        accuracies = [pair[block]["final_test_acc"] for pair in pairs]
        of_each_seed = " | ".join(f"{accuracy:.3f}" for accuracy in accuracies)
        lines.append(f"| {block} | {mean_and_sd(accuracies)} | {of_each_seed} |")
    columns = " | ".join(f"seed {pair['seed']}" for pair in pairs)
    header = f"| test accuracy on Fashion-MNIST, depth {pairs[0]['depth']} | mean ± sd | {columns} |"
    return markdown_table(header, lines)


@table("sweep", columns={"test_acc": "test accuracy", "train_loss": "training loss"})
def sweep(read, columns: dict) -> str:
    """The pair at each depth: in each column the published number beside ours."""
    published = read("data/published.json")["program"]["depths"]
    header = ["depth"]
    for text in columns.values():
        header += [f"{block} {text}".strip() + ", published | here" for block in PAIR]
    lines = []
    for pair in read("run_sweep.json")["runs"]:
        theirs = published[str(pair["depth"])]
        cells = [str(pair["depth"])]
        for name in columns:
            cells += [f"{theirs[block][name]:.3f} | {pair[block][f'final_{name}']:.3f}" for block in PAIR]
        lines.append(f"| {' | '.join(cells)} |")
    return markdown_table(f"| {' | '.join(header)} |", lines)


@table("thirds")
def thirds(read) -> str:
    """Mean T of the lower and the upper third of the blocks, in the headline nets of all seeds."""
    gates = [pair["highway"]["final_T_per_layer"] for pair in read("run_seeds.json")["runs"]]
    n = len(gates[0]) // 3
    lower = [mean(mean_T[:n]) for mean_T in gates]
    upper = [mean(mean_T[-n:]) for mean_T in gates]
    higher = sum(of_upper > of_lower for of_lower, of_upper in zip(lower, upper, strict=True))
    header = f"| mean T of blocks 1 to {n} | of the last {n} | seeds in which the last are higher |"
    line = f"| {mean_and_sd(lower)} | {mean_and_sd(upper)} | {higher} of {len(gates)} |"
    return markdown_table(header, [line])
