"""The benchmarks: results/benchmark_step.json and results/benchmark_scaling.json."""

import re

import matplotlib.pyplot as plt

from plumbing.records import PAIR
from report.registry import picture, table
from report.style import COLOR, note
from report.tables import markdown_table


@picture("benchmark_step", "benchmark_scaling")
def benchmark(steps, scaling):
    """Who is faster: milliseconds a training step; and how the cost grows against JAX's."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.8), width_ratios=(1.2, 1))
    times = {
        block: {name: row["median_ms"] for name, row in steps["trials"][f"step, {block}"].items()} for block in COLOR
    }
    names = sorted(times["highway"], key=times["highway"].get, reverse=True)
    for block, offset in (("highway", 0.2), ("plain", -0.2)):
        left.barh([i + offset for i in range(len(names))], [times[block][n] for n in names], 0.38, color=COLOR[block])
        left.plot([], [], color=COLOR[block], lw=8, label=block)
        for i, name in enumerate(names):
            length = times[block][name]
            note(left, f"{length:.2f}", (length, i + offset), (3, -4), COLOR[block], ha="left")
    left.set(yticks=range(len(names)), yticklabels=names, xlim=(0, 1.15 * max(times["highway"].values())))
    left.set(xlabel="ms a training step, one core")
    left.grid(axis="y", visible=False)
    left.legend(loc="upper right")
    left.set_title("depth {depth}, width {width}, batch {batch}".format_map(steps["settings"]), fontsize=11)
    styles = {"depth": ("#0072B2", "o-"), "width": ("#D55E00", "s--"), "batch": ("#009E73", "^:")}
    for axis, (color, style) in styles.items():
        rows = [row for row in scaling["trials"] if row["axis"] == axis]
        ratios = [row["ours_over_jax"] for row in rows]
        right.plot([row[axis] for row in rows], ratios, style, color=color, lw=2, label=axis)
    right.axhline(1, color="0.35", lw=1.2)
    right.set(xscale="log", xlabel="depth, width or batch", ylim=(0, None))
    right.set(ylabel="time of a step, this project / JAX")
    right.legend()
    right.set_title("below 1 NumPy is faster", fontsize=11)
    return fig


# ---- Tables ----------------------------------------------------------------------------------------------------------


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
    return markdown_table(header, rows)


@table("speed")
def speed(read) -> str:
    step, commands, scaling = (read(f"results/benchmark_{name}.json") for name in ("step", "commands", "scaling"))
    highway, plain = (
        f"training step, {block} ({step['trials'][f'step, {block}']['this project']['median_ms']:.2f} ms)"
        for block in PAIR
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


@table("conv-speed")
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


@table("avx2-slower")
def avx2_slower(read) -> str:
    """How many times as long the steps of the four nets take without AVX-512."""
    here, avx2 = (read(f"results/benchmark_conv_step{ending}.json")["trials"] for ending in ("", "_avx2"))
    ours = "this project"
    return ", ".join(f"{avx2[net][ours]['median_ms'] / here[net][ours]['median_ms']:.1f}" for net in here)


@table("conv-errors")
def conv_errors(read) -> str:
    summary, rows = read("results/benchmark_conv_errors.json")["summary"], []
    for method in dict.fromkeys(name.rpartition(" ")[0] for name in summary):
        largest = (f"{summary[f'{method} {what}']:.1e}" for what in ("z", "dx", "dW"))
        rows.append(f"| {method} | {' | '.join(largest)} |")
    return markdown_table("| float32 | z = W ∗ x + b | dL/dx | dL/dW |", rows)


@table("shares")
def shares(read) -> str:
    summary, rows = read("results/benchmark_step.json")["summary"], []
    parts = {
        "matrix products": "the products alone, hot, in the fastest operand order",
        "element-wise and memory": "tanh, exp, the gate's arithmetic, transposing, and moving it all through the cache",
        "clip and Adam": "ten lines over all parameters, and the norm",
        "calls": "Python and NumPy's cost of a call: the same step on arrays of one number",
    }
    for part, what in parts.items():
        both = [summary[f"{block}_share_of_{re.sub('[ -]', '_', part)}"] for block in PAIR]
        rows.append(f"| {part} | {both[0]:.0%} | {both[1]:.0%} | {what} |")
    return markdown_table("| part of a step | highway | plain | what it is |", rows)


@table("growth")
def growth(read) -> str:
    rows = []
    for row in read("results/benchmark_scaling.json")["trials"]:
        ours, jax = row["this project"], row["JAX jit + scan"]
        cells = f"{ours['ms']:.1f}", f"{jax['ms']:.1f}", f"{row['ours_over_jax']:.2f}", f"{ours['peak_mb']:.0f}"
        rows.append(f"| {row['axis']} {row[row['axis']]} | {' | '.join(cells)} | {jax['peak_mb']:.0f} |")
    return markdown_table("| | ms a step | JAX | ours / JAX | MB | JAX |", rows)


@table("growth-verdict")
def growth_verdict(read) -> str:
    rows = read("results/benchmark_scaling.json")["trials"]
    worst, best = (pick(rows, key=lambda row: row["ours_over_jax"]) for pick in (max, min))
    where = [f"{row['axis']} {row[row['axis']]} ({row['ours_over_jax']:.2f})" for row in (worst, best)]
    slower = worst["ours_over_jax"] > 1
    ends = "NumPy stops winning at some of these sizes" if slower else "NumPy is faster at every one"
    return f"{ends}; the ratio is worst at {where[0]} and best at {where[1]}"


@table("startup")
def startup(read) -> str:
    times = list(read("results/benchmark_commands.json")["trials"]["start-up"].values())
    steps = [times[0], times[1], times[2] - times[1], times[3] - times[2], times[4] - times[3]]
    names = ("Python", "importing NumPy", "the other imports", "unpacking and checking MNIST", "starting workers")
    rows = [f"| {name} | {1e3 * step:.0f} |" for name, step in zip(names, steps, strict=True)]
    return markdown_table("| start-up | ms |", rows)
