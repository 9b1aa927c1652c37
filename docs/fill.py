"""Fills the numbers of the pages from the committed JSON: python docs/fill.py."""

import json
import re
import sys
from functools import partial
from pathlib import Path
from statistics import mean, median, stdev

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
README = (ROOT / "README.md").read_text(encoding="utf-8")
PUBLISHED = {  # depth: highway and plain test accuracy, highway and plain training loss
    5: (0.903, 0.857, 0.190, 0.478),
    10: (0.913, 0.292, 0.187, 1.773),
    20: (0.910, 0.098, 0.215, 2.303),
    30: (0.926, 0.124, 0.189, 2.302),
    50: (0.905, 0.124, 0.301, 2.302),
}
PUBLISHED_SEEDS = {"highway": (0.926, 0.904, 0.893), "plain": (0.124, 0.119, 0.111)}


def load(name):
    return json.loads((ROOT / name).read_text())


def table(header, rows):
    return "\n\n" + "\n".join([header, re.sub(r"[^|]+", " --- ", header), *rows]) + "\n\n"


def headline():
    pair, rows = load("run.json")["runs"][0], []
    for block, (accuracy, loss) in {"highway": (0.926, 0.189), "plain": (0.124, 2.302)}.items():
        run = pair[block]
        here = f"{run['final_test_acc']:.3f} | {loss:.3f} | {run['final_train_loss']:.3f}"
        rows.append(f"| {block} | {accuracy:.3f} | {here} |")
    return table("| net | published test acc | here | published train loss | here |", rows)


def sweep():
    rows = []
    for pair in load("run_sweep.json")["runs"]:
        here = [pair[b][name] for name in ("final_test_acc", "final_train_loss") for b in ("highway", "plain")]
        cells = [f"{p:.3f} | {h:.3f}" for p, h in zip(PUBLISHED[pair["depth"]], here, strict=True)]
        rows.append(f"| {pair['depth']} | {' | '.join(cells)} |")
    columns = "highway test acc", "plain test acc", "highway train loss", "plain train loss"
    return table("| depth | " + " | ".join(f"{name}, published | here" for name in columns) + " |", rows)


def seeds():
    runs, rows = load("run_seeds.json")["runs"], []
    for block, theirs in PUBLISHED_SEEDS.items():
        ours = [pair[block]["final_test_acc"] for pair in runs]
        published, here = (f"{mean(values):.3f} ± {stdev(values):.3f}" for values in (theirs, ours))
        rows.append(f"| {block} | {published} | {here} | {len(ours)} | {min(ours):.3f} | {max(ours):.3f} |")
    return table("| net | published (3 seeds) | here | n | lowest | highest |", rows)


def gates():
    gates = [pair["highway"]["final_T_per_layer"] for pair in load("run_seeds.json")["runs"]]
    thirds = {"layers 1-10": [mean(T[:10]) for T in gates], "layers 21-30": [mean(T[20:]) for T in gates]}
    parts = [f"mean T of {name} is {mean(values):.3f} ± {stdev(values):.3f}" for name, values in thirds.items()]
    higher = sum(high > low for low, high in zip(*thirds.values(), strict=True))
    return f"{', '.join(parts)}; the upper third is higher in {higher} of {len(gates)} seeds"


def speed():
    step, commands, scaling = (load(f"results/benchmark_{name}.json") for name in ("step", "commands", "scaling"))
    ours = {block: step["trials"][f"step, {block}"]["this project"]["median_ms"] for block in ("highway", "plain")}
    steps = {block: f"training step, {block} ({ours[block]:.2f} ms)" for block in ours}
    seconds = {name: commands["summary"][f"{name}_seconds"] for name in ("headline", "sweep")}
    what = {
        "highway_over_jax": (steps["highway"], "JAX jit + scan"),
        "plain_over_jax": (steps["plain"], "JAX jit + scan"),
        "highway_over_torch_compile": (steps["highway"], "torch.compile, fused Adam"),
        "highway_over_torch_eager": (steps["highway"], "PyTorch eager"),
        "highway_over_torch_eager_fused_adam": (steps["highway"], "PyTorch eager, fused Adam"),
        "highway_over_matrix_products": (steps["highway"], "its matrix products alone, the limit"),
        "evaluation_over_torch_eager": ("evaluation of 10 000 images", "PyTorch eager, `inference_mode`"),
        "headline_over_straightforward": (
            f"the headline command ({seconds['headline']:.1f} s)",
            "straightforward NumPy",
        ),
        "sweep_over_straightforward": (f"the sweep command ({seconds['sweep']:.1f} s)", "straightforward NumPy"),
        "time_per_added_layer_depth_1000_over_30": ("time per layer, depth 10 to 1000", "depth 10 to 30"),
    }
    rows = []
    for results in (step, commands, scaling):
        for key in results["summary"].keys() & what.keys():
            value, target = results["summary"][key], results["settings"]["targets"].get(key)
            verdict = f"{target:.2f} | {'reached' if value <= target else 'missed'}" if target else "- | -"
            rows.append((list(what).index(key), f"| {' | '.join(what[key])} | **{value:.2f}** | {verdict} |"))
    rows = [row for _, row in sorted(rows)]
    assert len(rows) == len(what)
    return table("| what | against | ours / theirs | aimed at | |", rows)


def ledger():
    from experiments import claims  # here: the path of a script is another than that of a test

    return f"\n\n{claims.markdown(claims.rows(claims.read(ROOT)))}\n\n"


def ledger_counts():
    counts = load("results/claims.json")["summary"]
    parts = [f"{n} {name.replace('_', ' ')}" for name, n in counts.items()]
    return f"of {sum(counts.values())} rows {', '.join(parts)}"


def depths():
    summary, rows = load("results/optimization.json")["summary"], []
    for n in (10, 20, 50, 100):
        loss, accuracy = (
            [summary[f"{name}_{block}_{n}"]["mean"] for block in ("highway", "plain")]
            for name in ("final_loss", "test_accuracy")
        )
        rows.append(f"| {n} | {loss[0]:.2g} | {loss[1]:.2g} | {accuracy[0]:.4f} | {accuracy[1]:.4f} |")
    return table("| layers | highway: loss | plain: loss | highway: accuracy | plain: accuracy |", rows)


def compounding():
    summary, rows = load("results/blocks.json")["summary"], []
    names = "identity_part_at_start_highway", "identity_part_trained_highway"
    names += tuple(f"gradient_first_over_last_trained_{block}" for block in ("highway", "residual"))
    names += "mean_T_early_highway", "mean_T_late_highway"
    for n in (10, 20, 50, 100, 200):
        cells = " | ".join(f"{summary[f'{name}_{n}']['mean']:.2g}" for name in names)
        rows.append(f"| {n} | {cells} |")
    columns = "identity part at the start", "trained", "gradient, first layer over last: highway", "residual"
    return table(f"| layers | {' | '.join(columns)} | mean T, first third | last third |", rows)


def conv_sizes():
    import conv_highway_networks as cn  # here: the path of a script is another than that of a test

    rows = []
    for name, (shape, layers, published) in cn.PUBLISHED.items():
        n = len(cn.ConvNet(shape, layers, np.random.default_rng(0)).parameters)
        kinds = [kind for kind, *_ in layers if kind in ("conv", "highway", "dense")]
        rows.append(f"| {name} | {len(kinds)} | {spaced(n)} | {spaced(int(published))} |")
    return table("| net | layers | parameters | published |", rows)


def spaced(n):
    return f"{n:,}".replace(",", " ")


def percent(value):
    runs = f"{value['n']} seed{'s' * (value['n'] > 1)}"
    return (
        f"{100 * value['mean']:.2f}" + (f" ± {100 * value['sd']:.2f}" if value["sd"] is not None else "") + f", {runs}"
    )


PAPERS_TABLE_1 = {"width_16": (99.40, 0.03), "width_32": (99.54, 0.02)}


def table_1():
    summary, rows = load("results/table1.json")["summary"], []
    for name in ("width_16", "width_32", "width_16_plain", "width_16_residual"):
        paper = "{:.2f} ± {:.2f}, 5 runs of 300".format(*PAPERS_TABLE_1[name]) if name in PAPERS_TABLE_1 else "-"
        cells = []
        for protocol in ("short", "paper"):
            value = summary.get(f"test_accuracy_{name}_{protocol}")
            cells.append(f"{percent(value)} of {summary[f'epochs_{name}_{protocol}']}" if value else "-")
        what = [*name.removeprefix("width_").split("_"), "highway"]
        n = spaced(summary[f"parameters_{name}"])
        rows.append(f"| {what[1]}, {what[0]} maps | {n} | {paper} | **{cells[0]}** | {cells[1]} |")
    header = "| net | parameters | paper: %, epochs | here, short: %, epochs | here, as the authors train: %, epochs |"
    return table(header, rows)


def table_1_difference():
    """Ours less the paper's, with its standard error over runs, in points."""
    summary, parts = load("results/table1.json")["summary"], []
    for name, (paper, sd) in PAPERS_TABLE_1.items():
        ours = summary[f"test_accuracy_{name}_short"]
        error = (sd**2 / 5 + (100 * ours["sd"]) ** 2 / ours["n"]) ** 0.5
        parts.append(f"{100 * ours['mean'] - paper:+.2f} ± {error:.2f} at {name[6:]} maps")
    return " and ".join(parts)


def as_the_authors_train():
    """How far the paper's protocol, in fewer epochs, stays below the paper's mean, in points."""
    summary, parts = load("results/table1.json")["summary"], []
    for name, (paper, _) in PAPERS_TABLE_1.items():
        gap = paper - 100 * summary[f"test_accuracy_{name}_paper"]["mean"]
        parts.append(f"{gap:.2f} points below it after {summary[f'epochs_{name}_paper']} epochs of {name[6:]} maps")
    return ", ".join(parts)


def three_hundred_epochs():
    summary = load("results/table1.json")["summary"]
    hours = [300 * summary[f"seconds_per_epoch_width_{width}_paper"] / 3600 for width in (16, 32)]
    return f"{hours[0]:.0f} h at 16 maps and {hours[1]:.0f} h at 32"


def recipes():
    summary, start = load("results/table1.json")["summary"], "validation_accuracy_"
    parts = {name.removeprefix(start).replace("_", " "): summary[name] for name in summary if name.startswith(start)}
    return ", ".join(f"{name} {100 * accuracy:.2f} %" for name, accuracy in parts.items())


def conv_speed():
    record, rows = load("results/benchmark_conv_step.json"), []
    what = {
        "width_16_over_torch": ("width 16", "PyTorch eager"),
        "width_16_over_jax": ("width 16", "JAX jit"),
        "width_32_over_torch": ("width 32", "PyTorch eager"),
        "width_32_over_jax": ("width 32", "JAX jit"),
        "width_16_memory_over_torch": ("width 16, memory", "PyTorch eager"),
        "width_32_memory_over_torch": ("width 32, memory", "PyTorch eager"),
    }
    for key, (ours, theirs) in what.items():
        value, target = record["summary"][key], record["settings"]["targets"].get(key)
        verdict = f"{target:.2f} | {'reached' if value <= target else 'missed'}" if target else "- | -"
        rows.append(f"| {ours} | {theirs} | **{value:.2f}** | {verdict} |")
    return table("| training step | against | ours / theirs | aimed at | |", rows)


def shares():
    summary, rows = load("results/benchmark_step.json")["summary"], []
    parts = {
        "matrix products": "the products alone, hot, in the fastest operand order",
        "element-wise and memory": "tanh, exp, the gate's arithmetic, transposing, and moving it all through the cache",
        "clip and Adam": "ten lines over all parameters, and the norm",
        "calls": "Python and NumPy's cost of a call: the same step on arrays of one number",
    }
    for part, what in parts.items():
        both = [summary[f"{block}_share_of_{re.sub('[ -]', '_', part)}"] for block in ("highway", "plain")]
        rows.append(f"| {part} | {both[0]:.0%} | {both[1]:.0%} | {what} |")
    return table("| part of a step | highway | plain | what it is |", rows)


SUMMARY = r"(<!-- ([a-z_]+)\.([\w.-]+)(?::(\d))? -->)(.*?)<!-- end -->"  # an experiment's number, or its mean in digits


def of_summary(name, key, digits):
    value = load(f"results/{name}.json")["summary"][key]
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        if digits is None and value["mean"] is not None:
            return f"{value['mean']:.4g} ± {value['sd']:.1g} (n = {value['n']})"
        value = value["mean"]
    missing = "never" if key.startswith("epochs_to") else "diverged"
    return missing if value is None else f"{value:.{digits or 4}g}"


def blocks(suffix=""):
    record, rows = load("results/blocks.json"), []
    kinds = "plain", "residual", "highway", "highway-carry"
    for n in record["settings"]["layers"]:
        cells = []
        for block in kinds:
            width = 50 if suffix else {"plain": 71, "residual": 71, "highway": 50, "highway-carry": 41}[block]
            wanted = {"block": block, "layers": n, "width": width}
            runs = [t for t in record["trials"]["final"] if wanted.items() <= t.items()]
            lost = sum(t["test_accuracy"] is None for t in runs)
            cells.append(
                f"{lost} of {len(runs)} diverged"
                if lost
                else "{:.2g}, {:.4f}".format(*(median(t[name] for t in runs) for name in ("loss", "test_accuracy")))
            )
        rows.append(f"| {n} | {' | '.join(cells)} |")
    return table(f"| layers | {' | '.join(kinds)} |", rows)


def core_seconds(name):
    """Of all the trials that a results file holds."""
    trials = load(f"results/{name}.json")["trials"]
    groups = trials.values() if isinstance(trials, dict) else [trials]
    return sum(t["seconds"] for group in groups for t in group)


def takes(name):
    seconds = core_seconds(name) / 2
    return f"{seconds / 60:.0f} min" if seconds > 90 else f"{seconds:.0f} s"


def cost():
    """Of optimization --full: its search, then its final runs, each as long as its share or its longest trial."""
    seconds = {}
    for t in load("results/optimization.json")["trials"]["final"]:  # second chances are as long
        if not t["diverged"]:
            seconds.setdefault((t["block"], t["layers"]), []).append(t["seconds"] / t["epochs"])
    trial = [400 * mean(values) for values in seconds.values()]

    def hours(cores):
        return sum(max(max(trial), n * sum(trial) / cores) for n in (100, 3)) / 3600

    parts = [
        f"{hours(n) / 24:.1f} days on {n} cores" if hours(n) > 48 else f"{hours(n):.1f} h on {n}" for n in (2, 64, 1000)
    ]
    useful, longest = f"{100 * sum(trial) / max(trial):.0f}", f"{max(trial) / 3600:.1f} h"
    return (
        f"{103 * sum(trial) / 3600:.0f} core-hours: {', '.join(parts)}. It stops scaling at about {useful} cores: its "
        f"search and then its final runs each last as long as their longest trial, {longest}"
    )


def growth():
    rows = []
    for row in load("results/benchmark_scaling.json")["trials"]:
        ours, jax = row["this project"], row["JAX jit + scan"]
        cells = f"{ours['ms']:.1f}", f"{jax['ms']:.1f}", f"{row['ours_over_jax']:.2f}", f"{ours['peak_mb']:.0f}"
        rows.append(f"| {row['axis']} {row[row['axis']]} | {' | '.join(cells)} | {jax['peak_mb']:.0f} |")
    return table("| | ms a step | JAX | ours / JAX | MB | JAX |", rows)


def growth_verdict():
    rows = load("results/benchmark_scaling.json")["trials"]
    worst, best = (pick(rows, key=lambda row: row["ours_over_jax"]) for pick in (max, min))
    where = [f"{row['axis']} {row[row['axis']]} ({row['ours_over_jax']:.2f})" for row in (worst, best)]
    ends = (
        "NumPy stops winning at some of these sizes" if worst["ours_over_jax"] > 1 else "NumPy is faster at every one"
    )
    return f"{ends}; the ratio is worst at {where[0]} and best at {where[1]}"


def startup():
    times = list(load("results/benchmark_commands.json")["trials"]["start-up"].values())
    steps = [times[0], times[1], times[2] - times[1], times[3] - times[2], times[4] - times[3]]
    names = ("Python", "importing NumPy", "the other imports", "unpacking and checking MNIST", "starting workers")
    return ", ".join(f"{1e3 * step:.0f} ms for {name}" for name, step in zip(names, steps, strict=True))


def tried(name):
    """A constant of a test module: how often it tries something."""
    for path in ROOT.glob("tests/test_*.py"):
        found = re.search(
            rf"^((?:[A-Z_]+, )*{name}(?:, [A-Z_]+)*) = ([\d, ]+)$", path.read_text(encoding="utf-8"), re.M
        )
        if found:
            numbers = dict(zip(found[1].split(", "), found[2].split(", "), strict=True))
            return f"{int(numbers[name]):,}".replace(",", " ")
    raise LookupError(name)


TABLES = {"headline": headline, "sweep": sweep, "seeds": seeds, "gates": gates}
TRIED = "FLAG_EXAMPLES", "IDX_EXAMPLES", "JSON_EXAMPLES", "TEXT_EXAMPLES"
TRIED += "COMMAND_KILLS", "WRITER_KILLS", "WORKER_KILLS", "INTERRUPTIONS"
TABLES["cost"] = cost
TABLES["trials-optimization"] = lambda: "{trials} trials of {search_epochs} epochs".format_map(
    load("results/optimization.json")["settings"]
)
TABLES["trials-blocks"] = lambda: "{trials} trials of {search_epochs} epochs".format_map(
    load("results/blocks.json")["settings"]
)
TABLES["finals-blocks"] = lambda: "{epochs} epochs, {seeds} seeds".format_map(load("results/blocks.json")["settings"])
TABLES |= {"blocks": blocks, "blocks-width-50": partial(blocks, "_width_50")}
EXPERIMENTS = "optimization", "thousand_layers", "gate_bias", "full_mnist"
EXPERIMENTS += "fifty_layers", "gates", "lesion", "routing", "blocks", "table1", "data_movement", "factor_model"
TABLES |= {f"takes-{name}": partial(takes, name) for name in EXPERIMENTS}
TABLES |= {name: partial(tried, name) for name in TRIED}
TABLES |= {"conv-sizes": conv_sizes, "conv-speed": conv_speed, "table-1": table_1, "recipes": recipes}
TABLES |= {"claims": ledger, "ledger-counts": ledger_counts, "depths": depths, "compounding": compounding}
TABLES |= {"table-1-difference": table_1_difference, "three-hundred-epochs": three_hundred_epochs}
TABLES |= {"as-the-authors-train": as_the_authors_train}
TABLES |= {"speed": speed, "shares": shares, "growth": growth, "growth-verdict": growth_verdict, "startup": startup}


if __name__ == "__main__":  # python docs/fill.py puts the committed numbers into the README
    for name, text in TABLES.items():
        README = re.sub(rf"(<!-- {name} -->).*?(<!-- end -->)", lambda m, t=text: m[1] + t() + m[2], README, flags=re.S)
    README = re.sub(SUMMARY, lambda m: m[1] + of_summary(m[2], m[3], m[4]) + "<!-- end -->", README)
    Path(ROOT / "README.md").write_text(README, encoding="utf-8")
