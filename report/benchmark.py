"""The benchmarks: results/benchmark_step.json and results/benchmark_scaling.json."""

import re

from plumbing.records import PAIR
from report.registry import picture, table
from report.style import COLOR, GREY, OTHERS, headline, note, panels
from report.tables import markdown_table


@picture("benchmark_step", "benchmark_scaling")
def benchmark(steps, scaling):
    """Who is faster: milliseconds a training step; and how the cost grows against JAX's."""
    fig, axes = panels(2, 1, 6.6, height_ratios=(1.6, 1))
    above, below = axes
    times = {
        block: {name: row["median_ms"] for name, row in steps["trials"][f"step, {block}"].items()} for block in COLOR
    }
    names = sorted(times["highway"], key=times["highway"].get, reverse=True)
    for block, offset in (("highway", 0.2), ("plain", -0.2)):
        places = [i + offset for i in range(len(names))]
        lengths = [times[block][name] for name in names]
        above.barh(places, lengths, 0.38, color=COLOR[block])
        above.plot([], [], color=COLOR[block], lw=8, label=block)
        for place, length in zip(places, lengths, strict=True):
            note(above, f"{length:.2f}", (length, place), (3, -4), COLOR[block], ha="left")
    above.set(yticks=range(len(names)), yticklabels=names, xlim=(0, 1.15 * max(times["highway"].values())))
    above.set(xlabel="ms a training step, one core")
    above.grid(axis="y", visible=False)
    above.legend(loc="upper right")
    for axis, style, color in zip(("depth", "width", "batch"), ("o-", "s--", "^:"), OTHERS, strict=False):
        rows = [row for row in scaling["trials"] if row["axis"] == axis]
        ratios = [row["ours_over_jax"] for row in rows]
        below.plot([row[axis] for row in rows], ratios, style, color=color, lw=2, label=axis)
    below.axhline(1, color=GREY, lw=1.2)
    below.set(xscale="log", xlabel="depth, width or batch", ylim=(0, None))
    below.set(ylabel="this project / JAX")
    below.legend()
    below.set_title("below 1 NumPy is faster")
    over_jax = {block: of_block["this project"] / of_block["JAX jit + scan"] for block, of_block in times.items()}
    texts = [f"{ratio:.2f} ({block})" for block, ratio in over_jax.items()]
    finding = f"A training step takes {' and '.join(texts)} of JAX's time"
    headline(fig, finding, "depth {depth}, width {width}, batch {batch}".format_map(steps["settings"]))
    return fig


# ---- Tables ----------------------------------------------------------------------------------------------------------


def ratios(header: str, records: list[dict], what: dict, elsewhere: dict | None = None) -> str:
    """A row for each key of a summary: what, against what, the ratio, whether the target was reached, and the ratio
    elsewhere, if there is another record."""
    summary = {}
    targets = {}
    for record in records:
        summary.update(record["summary"])
        targets.update(record["settings"]["targets"])
    rows = []
    for key, (ours, theirs) in what.items():
        value = summary[key]
        cells = [ours, theirs, f"**{value:.2f}**"]
        if key in targets:
            target = targets[key]
            cells += [f"{target:.2f}", "reached" if value <= target else "missed"]
        else:
            cells += ["-", "-"]
        if elsewhere:
            cells.append(f"{elsewhere['summary'][key]:.2f}")
        rows.append(f"| {' | '.join(cells)} |")
    return markdown_table(header, rows)


@table("speed")
def speed(read) -> str:
    step = read("results/benchmark_step.json")
    commands = read("results/benchmark_commands.json")
    scaling = read("results/benchmark_scaling.json")

    def step_of(block):
        times = step["trials"][f"step, {block}"]["this project"]
        return f"training step, {block} ({times['median_ms']:.2f} ms)"

    def command(name):
        return f"the {name} command ({commands['summary'][f'{name}_seconds']:.1f} s)"

    highway = step_of("highway")
    plain = step_of("plain")
    what = {
        "highway_over_jax": (highway, "JAX jit + scan"),
        "plain_over_jax": (plain, "JAX jit + scan"),
        "highway_over_torch_compile": (highway, "torch.compile, fused Adam"),
        "highway_over_torch_eager": (highway, "PyTorch eager"),
        "highway_over_torch_eager_fused_adam": (highway, "PyTorch eager, fused Adam"),
        "highway_over_matrix_products": (highway, "its matrix products alone, the limit"),
        "evaluation_over_torch_eager": ("evaluation of 10 000 images", "PyTorch eager, `inference_mode`"),
        "headline_over_straightforward": (command("headline"), "straightforward NumPy"),
        "sweep_over_straightforward": (command("sweep"), "straightforward NumPy"),
        "time_per_added_layer_depth_1000_over_30": ("time per layer, depth 10 to 1000", "depth 10 to 30"),
    }
    return ratios("| what | against | ours / theirs | aimed at | |", [step, commands, scaling], what)


@table("conv-speed")
def conv_speed(read) -> str:
    nets = {
        "mnist_16": "MNIST, 16 maps",
        "mnist_32": "MNIST, 32 maps",
        "highway_a": "CIFAR, Table 2's A",
        "cifar_19": "CIFAR, Table 3's 19 layers",
    }
    rivals = {"torch": "PyTorch eager", "jax": "JAX jit", "direct": "the direct products"}
    what = {f"{net}_over_{key}": (name, rival) for net, name in nets.items() for key, rival in rivals.items()}
    what |= {f"{net}_memory_over_torch": (f"{name}: memory", "PyTorch eager") for net, name in nets.items()}
    what["mnist_16_normalised_over_not"] = ("MNIST, 16 maps, batch normalisation of H", "without it")
    header = "| training step | against | ours / theirs | aimed at | | ours / theirs with AVX2 alone |"
    here = read("results/benchmark_conv_step.json")
    avx2 = read("results/benchmark_conv_step_avx2.json")
    return ratios(header, [here], what, avx2)


@table("avx2-slower")
def avx2_slower(read) -> str:
    """How many times as long the steps of the four nets take without AVX-512."""
    here = read("results/benchmark_conv_step.json")["trials"]
    avx2 = read("results/benchmark_conv_step_avx2.json")["trials"]
    ours = "this project"
    return ", ".join(f"{avx2[net][ours]['median_ms'] / here[net][ours]['median_ms']:.1f}" for net in here)


@table("conv-errors")
def conv_errors(read) -> str:
    summary = read("results/benchmark_conv_errors.json")["summary"]
    rows = []
    for method in dict.fromkeys(name.rpartition(" ")[0] for name in summary):
        largest = (f"{summary[f'{method} {what}']:.1e}" for what in ("z", "dx", "dW"))
        rows.append(f"| {method} | {' | '.join(largest)} |")
    return markdown_table("| float32 | z = W ∗ x + b | dL/dx | dL/dW |", rows)


@table("shares")
def shares(read) -> str:
    summary = read("results/benchmark_step.json")["summary"]
    rows = []
    parts = {
        "matrix products": "the products alone, hot, in the fastest operand order",
        "element-wise and memory": "tanh, exp, the gate's arithmetic, transposing, and moving it all through the cache",
        "clip and Adam": "ten lines over all parameters, and the norm",
        "calls": "Python and NumPy's cost of a call: the same step on arrays of one number",
    }
    for part, what in parts.items():
        slug = re.sub("[ -]", "_", part)
        shares_of_part = [f"{summary[f'{block}_share_of_{slug}']:.0%}" for block in PAIR]
        rows.append(f"| {part} | {' | '.join(shares_of_part)} | {what} |")
    return markdown_table("| part of a step | highway | plain | what it is |", rows)


@table("growth")
def growth(read) -> str:
    rows = []
    for row in read("results/benchmark_scaling.json")["trials"]:
        ours = row["this project"]
        jax = row["JAX jit + scan"]
        cells = [
            f"{row['axis']} {row[row['axis']]}",
            f"{ours['ms']:.1f}",
            f"{jax['ms']:.1f}",
            f"{row['ours_over_jax']:.2f}",
            f"{ours['peak_mb']:.0f}",
            f"{jax['peak_mb']:.0f}",
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return markdown_table("| | ms a step | JAX | ours / JAX | MB | JAX |", rows)


@table("growth-verdict")
def growth_verdict(read) -> str:
    rows = read("results/benchmark_scaling.json")["trials"]
    by_ratio = sorted(rows, key=lambda row: row["ours_over_jax"])
    best = by_ratio[0]
    worst = by_ratio[-1]
    where = [f"{row['axis']} {row[row['axis']]} ({row['ours_over_jax']:.2f})" for row in (worst, best)]
    slower = worst["ours_over_jax"] > 1
    ends = "NumPy stops winning at some of these sizes" if slower else "NumPy is faster at every one"
    return f"{ends}; the ratio is worst at {where[0]} and best at {where[1]}"


@table("startup")
def startup(read) -> str:
    times = list(read("results/benchmark_commands.json")["trials"]["start-up"].values())
    steps = [times[0], times[1], times[2] - times[1], times[3] - times[2], times[4] - times[3]]  # times accumulate
    names = ("Python", "importing NumPy", "the other imports", "unpacking and checking MNIST", "starting workers")
    rows = [f"| {name} | {1e3 * step:.0f} |" for name, step in zip(names, steps, strict=True)]
    return markdown_table("| start-up | ms |", rows)
