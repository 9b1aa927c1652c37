"""The benchmarks: our times beside those of rivals, as they are usually written and at their best."""

import re

import matplotlib.pyplot as plt

from plumbing.records import PAIR
from report.registry import picture, table
from report.style import COLOR, note
from report.tables import markdown_table

# the names of rivals in the results
OURS = "this project"
JAX = "JAX jit + scan"
JAX_AT_ITS_BEST = "JAX, features first, steps scanned"
JAX_BY_HAND = "JAX, our backward, steps scanned"


@picture("benchmark_step", "benchmark_scaling")
def benchmark(steps, scaling):
    """Who is faster: milliseconds a training step; and how the cost grows against JAX's."""
    fig, axes = plt.subplots(1, 2, figsize=(10, 4.8), width_ratios=(1.2, 1))
    left, right = axes
    times = {
        block: {name: row["median_ms"] for name, row in steps["trials"][f"step, {block}"].items()} for block in COLOR
    }
    names = sorted(times["highway"], key=times["highway"].get, reverse=True)
    for block, offset in (("highway", 0.2), ("plain", -0.2)):
        places = [i + offset for i in range(len(names))]
        lengths = [times[block][name] for name in names]
        left.barh(places, lengths, 0.38, color=COLOR[block])
        left.plot([], [], color=COLOR[block], lw=8, label=block)
        for place, length in zip(places, lengths, strict=True):
            note(left, f"{length:.2f}", (length, place), (3, -4), COLOR[block], ha="left")
    left.set(yticks=range(len(names)), yticklabels=names, xlim=(0, 1.15 * max(times["highway"].values())))
    left.set(xlabel="ms a training step, one core")
    left.grid(axis="y", visible=False)
    left.legend(loc="upper right")
    left.set_title("depth {depth}, width {width}, batch {batch}".format_map(steps["settings"]), fontsize=11)
    styles = {"depth": ("#0072B2", "o-"), "width": ("#D55E00", "s--"), "batch": ("#009E73", "^:")}
    for axis, (color, style) in styles.items():
        rows = [row for row in scaling["trials"] if row["axis"] == axis]
        ratios = [row["ours_over_theirs"][JAX_AT_ITS_BEST] for row in rows]
        right.plot([row[axis] for row in rows], ratios, style, color=color, lw=2, label=axis)
    right.axhline(1, color="0.35", lw=1.2)
    right.set(xscale="log", xlabel="depth, width or batch", ylim=(0, None))
    right.set(ylabel="time of a step, this project / JAX at its best")
    right.legend()
    right.set_title("below 1 NumPy is faster", fontsize=11)
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


def rivals(columns: dict[str, dict[str, dict]]) -> str:
    """A row for each rival: how it is written, who wrote its gradient, and in each column ours / theirs, the median and
    the quartiles, the fastest in bold.

    `columns` is {title: {rival: its row in the results}}; ours is left out."""
    names = [name for name in next(iter(columns.values())) if name != OURS]
    fastest = {title: max(names, key=lambda name, rows=rows: median_of(rows[name])) for title, rows in columns.items()}
    lines = []
    for name in names:
        rows = {title: rows[name] for title, rows in columns.items()}
        first = next(iter(rows.values()))
        cells = [name, "at its best" if first["at_its_best"] else "as usual", first["gradient"]]
        for title, row in rows.items():
            low, median, high = row["ours_over_theirs"]
            text = f"{median:.2f} ({low:.2f} to {high:.2f})"
            cells.append(f"**{text}**" if name == fastest[title] else text)
        lines.append(f"| {' | '.join(cells)} |")
    return markdown_table(f"| rival | written | its gradient | {' | '.join(columns)} |", lines)


def median_of(row: dict) -> float:
    """The median of ours / theirs; programs that are no framework's do not compete."""
    return row["ours_over_theirs"][1] if row["competes"] else 0.0


@table("rivals")
def step_rivals(read) -> str:
    trials = read("results/benchmark_step.json")["trials"]
    return rivals({f"ours / theirs, {block}": trials[f"step, {block}"] for block in PAIR})


@table("speed")
def speed(read) -> str:
    step = read("results/benchmark_step.json")
    commands = read("results/benchmark_commands.json")
    scaling = read("results/benchmark_scaling.json")

    def step_of(block):
        times = step["trials"][f"step, {block}"][OURS]
        return f"training step, {block} ({times['median_ms']:.2f} ms)"

    def command(name):
        return f"the {name} command ({commands['summary'][f'{name}_seconds']:.1f} s)"

    highway = step_of("highway")
    plain = step_of("plain")
    what = {
        "highway_over_jax_features_first": (highway, "JAX, features first"),
        "highway_over_best_automatic": (highway, "the fastest that derives its gradient itself"),
        "highway_over_best": (highway, "the fastest of all"),
        "plain_over_best_automatic": (plain, "the fastest that derives its gradient itself"),
        "plain_over_best": (plain, "the fastest of all"),
        "highway_over_matrix_products": (highway, "its matrix products alone, the limit"),
        "evaluation_over_torch_eager": ("evaluation of 10 000 images", "PyTorch eager, `inference_mode`"),
        "headline_over_straightforward": (command("headline"), "straightforward NumPy"),
        "sweep_over_straightforward": (command("sweep"), "straightforward NumPy"),
        "time_per_added_layer_depth_1000_over_30": ("time per layer, depth 10 to 1000", "depth 10 to 30"),
    }
    return ratios("| what | against | ours / theirs | aimed at | |", [step, commands, scaling], what)


NETS = {
    "mnist_16": "MNIST, 16 maps",
    "mnist_32": "MNIST, 32 maps",
    "highway_a": "CIFAR, Table 2's A",
    "cifar_19": "CIFAR, Table 3's 19 layers",
}


@table("conv-rivals")
def conv_rivals(read) -> str:
    trials = read("results/benchmark_conv_step.json")["trials"]
    return rivals({name: trials[net] for net, name in NETS.items()})


@table("conv-speed")
def conv_speed(read) -> str:
    against = {
        "best": "the fastest rival in float32",
        "best_bfloat16": "the fastest rival in bfloat16, which is less exact",
        "direct": "our direct products",
    }
    what = {}
    for net, name in NETS.items():
        for key, rival in against.items():
            what[f"{net}_over_{key}"] = (name, rival)
    for net, name in NETS.items():
        what[f"{net}_memory_over_torch"] = (f"{name}: memory", "PyTorch eager")
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
    lines = []
    for row in read("results/benchmark_scaling.json")["trials"]:
        cells = [f"{row['axis']} {row[row['axis']]}", f"{row[OURS]['ms']:.1f}"]
        cells += [f"{row['ours_over_theirs'][name]:.2f}" for name in (JAX, JAX_AT_ITS_BEST, JAX_BY_HAND)]
        cells += [f"{row[name]['peak_mb']:.0f}" for name in (OURS, JAX_AT_ITS_BEST)]
        lines.append(f"| {' | '.join(cells)} |")
    header = "| | ms a step | ours / JAX as usual | JAX at its best | JAX with our backward | MB | JAX at its best |"
    return markdown_table(header, lines)


@table("growth-verdict")
def growth_verdict(read) -> str:
    """Where JAX wins: at its best with its own derivative, and with our backward pass."""
    rows = read("results/benchmark_scaling.json")["trials"]

    def lost_to(rival: str) -> str:
        lost = [row for row in rows if row["ours_over_theirs"][rival] > 1]
        return ", ".join(f"{row['axis']} {row[row['axis']]} ({row['ours_over_theirs'][rival]:.2f})" for row in lost)

    by_itself = lost_to(JAX_AT_ITS_BEST) or "at none of these sizes"
    by_hand = lost_to(JAX_BY_HAND) or "at none of these sizes"
    return f"against JAX at its best: {by_itself}; against JAX with our backward pass: {by_hand}"


@table("cores")
def cores(read) -> str:
    record = read("results/benchmark_cores.json")
    several = record["settings"]["cores"]
    connected = {block: f"the headline's {block} net" for block in PAIR}
    lines = []
    for net, name in {**NETS, **connected}.items():
        row = record["trials"][net]
        low, median, high = row["speed_up"]
        times = [f"{row[f'{n} cores']['median_ms']:.1f}" for n in (1, several)]
        target = record["settings"]["targets"].get(f"{net}_speed_up")
        cells = [name, *times, f"**{median:.2f}** ({low:.2f} to {high:.2f})"]
        cells += [f"{target:.2f}", "reached" if median >= target else "missed"] if target else ["-", "-"]
        lines.append(f"| {' | '.join(cells)} |")
    header = f"| training step | ms on one core | on {several} | times as fast (quartiles) | aimed at | |"
    return markdown_table(header, lines)


@table("startup")
def startup(read) -> str:
    times = list(read("results/benchmark_commands.json")["trials"]["start-up"].values())
    steps = [times[0], times[1], times[2] - times[1], times[3] - times[2], times[4] - times[3]]  # times accumulate
    names = ("Python", "importing NumPy", "the other imports", "unpacking and checking MNIST", "starting workers")
    rows = [f"| {name} | {1e3 * step:.0f} |" for name, step in zip(names, steps, strict=True)]
    return markdown_table("| start-up | ms |", rows)
