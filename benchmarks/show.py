"""The benchmarks: results/benchmark_*.json."""

import re

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, OTHERS, headline, note, panels
from highways.lab.showing.tables import markdown_table
from highways.records import PAIR

OURS = "this project"
IN_C = "C, products by NumPy's BLAS"  # what NumPy costs: no framework's program, it does not compete
PROCESSORS = {"": "Zen 4", "_xeon": "Xeon"}  # by the end of a record's name
SLOWED_DOWN = "Xeon"  # the processor that subnormal numbers slow down
CONV_NETS = {
    "mnist_16": "MNIST, 16 maps",
    "mnist_32": "MNIST, 32 maps",
    "highway_a": "CIFAR, Table 2's A",
    "cifar_19": "CIFAR, Table 3's 19 layers",
}
LINE_OF_SIZE = {"depth": "o-", "width": "s--", "batch": "^:"}  # marker and line of each size that grows


def ratio_of(row: dict) -> float:
    """The median of our time over a rival's, from the row of the rival."""
    return row["ours_over_theirs"][1]


def with_quartiles(row: dict) -> str:
    low, median, high = row["ours_over_theirs"]
    return f"{median:.2f} ({low:.2f} to {high:.2f})"


def competitors(rows: dict, arithmetic: str = "float32") -> dict:
    """{name: row} of the rivals with this arithmetic that compete to be the fastest."""
    return {name: row for name, row in rows.items() if row["competes"] and row["arithmetic"] == arithmetic}


def with_c(rows: dict) -> dict:
    """competitors(), and the program in C where there was a compiler."""
    return competitors(rows) | {name: row for name, row in rows.items() if name == IN_C}


def of_processors(read, name: str) -> dict[str, dict]:
    """{processor: its record} of a benchmark that was run on both."""
    return {processor: read(f"results/{name}{end}.json") for end, processor in PROCESSORS.items()}


def fastest(rows: dict) -> str:
    """The name of the fastest rival."""
    return max(rows, key=lambda name: ratio_of(rows[name]))


def how_written(row: dict) -> str:
    return "at its best" if row["at_its_best"] else "as usually written"


@picture("benchmark_step", "benchmark_scaling")
def benchmark(steps, scaling):
    """Above, the milliseconds that a training step takes each program.  Below, our time over that of the
    fastest JAX program, against the sizes of the net."""
    fig, axes = panels(2, 1, 8.8, height_ratios=(2.8, 1))
    above, below = axes
    of_block = {block: steps["trials"][f"step, {block}"] for block in COLOR}
    times = {block: {name: row["median_ms"] for name, row in rows.items()} for block, rows in of_block.items()}
    names = sorted(times["highway"], key=times["highway"].get, reverse=True)
    for block, offset in (("highway", 0.2), ("plain", -0.2)):
        places = [i + offset for i in range(len(names))]
        lengths = [times[block][name] for name in names]
        above.barh(places, lengths, 0.38, color=COLOR[block])
        above.plot([], [], color=COLOR[block], lw=8, label=block)
        for place, length in zip(places, lengths, strict=True):
            note(above, f"{length:.2f}", (length, place), (3, -4), COLOR[block], ha="left")
    above.set(yticks=range(len(names)), yticklabels=names)
    above.get_yticklabels()[names.index(OURS)].set_weight("bold")
    above.set(xlim=(0, 1.15 * max(times["highway"].values())))
    above.set(xlabel="ms a training step, one core")
    above.grid(axis="y", visible=False)
    above.legend(loc="upper right")
    for (axis, style), color in zip(LINE_OF_SIZE.items(), OTHERS, strict=False):
        rows = [row for row in scaling["trials"] if row["axis"] == axis]
        ratios = [max(row["ours_over_theirs"].values()) for row in rows]
        below.plot([row[axis] for row in rows], ratios, style, color=color, lw=2, label=axis)
    below.axhline(1, color=GREY, lw=1.2)
    below.margins(y=0.1)
    below.set(xscale="log", xlabel="depth, width or batch", ylim=(0, None))
    below.set(ylabel="ours / fastest JAX")
    below.legend()
    below.set_title("timed again, at other sizes; below 1 this project is faster")
    texts = []
    for block, rows in of_block.items():
        rivals = competitors(rows)
        texts.append(f"{ratio_of(rivals[fastest(rivals)]):.2f} ({block})")
    finding = f"A training step takes {' and '.join(texts)} times as long as the fastest framework's"
    sizes = "depth {depth}, width {width}, batch {batch}".format_map(steps["settings"])
    headline(fig, finding, f"{sizes}; {steps['env']['processor']}")
    return fig


# ---- Tables: fully connected nets ------------------------------------------------------------------------------------


def measured(value: float | None) -> str:
    """A cell: not everything was measured on every processor."""
    return "-" if value is None else f"{value:.2f}"


def table_row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


@table("rivals")
def rivals(read) -> str:
    """Every rival beside our program, on both processors; the fastest of the first comes first."""
    records = of_processors(read, "benchmark_step")
    first = with_c(records["Zen 4"]["trials"]["step, highway"])
    rows = []
    for name in sorted(first, key=lambda name: -ratio_of(first[name])):
        cells = [name, how_written(first[name]), first[name]["gradient"]]
        for record in records.values():
            for block in PAIR:
                row = record["trials"][f"step, {block}"].get(name)
                cells.append("-" if row is None else with_quartiles(row))
        rows.append(table_row(*cells))
    columns = [f"{block}, {processor}" for processor in records for block in PAIR]
    return markdown_table(f"| program | written | gradient | {' | '.join(columns)} |", rows)


@table("speed")
def speed(read) -> str:
    """The ratios of our time to that of others, and the same on the Xeon."""
    steps = of_processors(read, "benchmark_step")
    step, xeon = steps.values()
    commands = read("results/benchmark_commands.json")
    scaling = read("results/benchmark_scaling.json")
    records = (step, commands, scaling)
    summary = {}
    for record in records:
        summary |= record["summary"]

    def text_of_step(block):
        return f"training step, {block} ({step['trials'][f'step, {block}'][OURS]['median_ms']:.2f} ms)"

    def text_of_command(name):
        return f"the {name} command ({commands['summary'][f'{name}_seconds']:.1f} s)"

    def text_of_fastest(block):
        names = [fastest(competitors(record["trials"][f"step, {block}"])) for record in steps.values()]
        return f"the fastest rival: {', on the Xeon '.join(dict.fromkeys(names))}"

    highway = text_of_step("highway")
    plain = text_of_step("plain")
    headline_command = text_of_command("headline")
    sweep_command = text_of_command("sweep")
    compared = {  # by the key of the ratio: what of ours, against what
        "highway_over_jax_features_first": (highway, "JAX, features first"),
        "highway_over_best": (highway, text_of_fastest("highway")),
        "plain_over_best": (plain, text_of_fastest("plain")),
        "highway_over_c": (highway, f"{IN_C}: what NumPy costs"),
        "plain_over_c": (plain, f"{IN_C}: what NumPy costs"),
        "highway_over_matrix_products": (highway, "its matrix products alone, the limit"),
        "evaluation_over_torch_eager": ("evaluation of 10 000 images", "PyTorch eager, `inference_mode`"),
        "headline_over_straightforward": (headline_command, "straightforward NumPy"),
        "sweep_over_straightforward": (sweep_command, "straightforward NumPy"),
        "time_per_added_layer_depth_1000_over_30": ("time per layer, depth 10 to 1000", "depth 10 to 30"),
    }
    rows = []
    for key, (ours, theirs) in compared.items():
        on_the_xeon = measured(xeon["summary"].get(key))
        rows.append(table_row(ours, theirs, f"**{summary[key]:.2f}**", on_the_xeon))
    return markdown_table("| what | against | ours / theirs | on the Xeon |", rows)


@table("shares")
def shares(read) -> str:
    records = of_processors(read, "benchmark_step")
    rows = []
    parts = {
        "matrix products": "the products alone, one after another, in the fastest order of their operands",
        "element-wise and memory": "tanh, exp, the gate's arithmetic, transposing, and moving it all through the cache",
        "clip and Adam": "ten lines over all parameters, and the norm",
        "calls": "Python and NumPy's cost of a call: the same step on arrays of one number",
    }
    for part, what in parts.items():
        slug = re.sub("[ -]", "_", part)
        cells = [part]
        for record in records.values():
            cells += [f"{record['summary'][f'{block}_share_of_{slug}']:.0%}" for block in PAIR]
        rows.append(table_row(*cells, what))
    columns = [f"{block}, {processor}" for processor in records for block in PAIR]
    return markdown_table(f"| part of a step | {' | '.join(columns)} | what it is |", rows)


@table("subnormals")
def subnormals(read) -> str:
    """What flushing subnormal numbers saves of a step of very deep nets: the times on one processor, the ratios on
    both."""
    records = of_processors(read, "benchmark_subnormals")
    processors = sorted(records, key=lambda processor: processor != SLOWED_DOWN)
    rows = []
    for net, timed in records[SLOWED_DOWN]["trials"].items():
        cells = [net, *(f"{timed[how]['median_ms']:.1f}" for how in ("not flushed", "flushed"))]
        key = net.replace(", depth ", "_") + "_flushed_over_not"
        cells += [f"{records[processor]['summary'][key]:.2f}" for processor in processors]
        rows.append(table_row(*cells))
    ratios = " | ".join(f"ratio, {processor}" for processor in processors)
    return markdown_table(f"| net | ms a step, {SLOWED_DOWN} | flushed | {ratios} |", rows)


@table("growth")
def growth(read) -> str:
    trials = read("results/benchmark_scaling.json")["trials"]
    names = list(trials[0]["ours_over_theirs"])
    rows = []
    for row in trials:
        ratios = [f"{ratio:.2f}" for ratio in row["ours_over_theirs"].values()]
        ours = row[OURS]
        memory = [f"{ours['peak_mb']:.0f}", f"{row[names[0]]['peak_mb']:.0f}"]
        rows.append(table_row(size_of(row), f"{ours['ms']:.1f}", *ratios, *memory))
    return markdown_table(f"| | ms a step | {' | '.join(names)} | MB | MB of {names[0]} |", rows)


def size_of(row: dict) -> str:
    return f"{row['axis']} {row[row['axis']]}"


@table("growth-verdict")
def growth_verdict(read) -> str:
    """At which sizes each JAX program is faster than ours."""
    trials = read("results/benchmark_scaling.json")["trials"]
    rows = []
    for name in trials[0]["ours_over_theirs"]:
        faster = [size_of(row) for row in trials if row["ours_over_theirs"][name] > 1]
        rows.append(table_row(name, f"{len(faster)} of {len(trials)} sizes", ", ".join(faster) or "-"))
    return markdown_table("| program | is faster than ours at | that is, at |", rows)


@table("startup")
def startup(read) -> str:
    steps = read("results/benchmark_start_up.json")["summary"]
    rows = [table_row(name, f"{1e3 * seconds:.0f}") for name, seconds in steps.items()]
    return markdown_table("| start-up | ms |", rows)


# ---- Tables: convolutional nets --------------------------------------------------------------------------------------


@table("ranks")
def ranks(read) -> str:
    """How much faster several ranks train one net."""
    record = read("results/benchmark_ranks.json")
    n = record["settings"]["ranks"]
    rows = []
    for key, name in CONV_NETS.items():
        trial = record["trials"][key]
        low, median, high = trial["speed_up"]
        times = [f"{trial[count]['median_ms']:.1f}" for count in ("1 rank", f"{n} ranks")]
        rows.append(table_row(name, *times, f"**{median:.2f}** ({low:.2f} to {high:.2f})"))
    return markdown_table(f"| net | ms a step, 1 rank | {n} ranks | times as fast |", rows)


@table("conv-rivals")
def conv_rivals(read) -> str:
    """Every rival that competes to be the fastest, beside our program, on both processors; those in bfloat16
    come last."""
    records = of_processors(read, "benchmark_conv_step")
    first = records["Zen 4"]["trials"]["mnist_16"]
    rows = []
    for arithmetic in ("float32", "bfloat16"):
        found = competitors(first, arithmetic)
        for name in sorted(found, key=lambda name: -ratio_of(found[name])):
            cells = [name, how_written(found[name]), arithmetic]
            for record in records.values():
                for net in CONV_NETS:
                    row = record["trials"][net].get(name)
                    cells.append("-" if row is None else f"{ratio_of(row):.2f}")
            rows.append(table_row(*cells))
    short = ("16 maps", "32 maps", "A", "19 layers")
    columns = [f"{processor}: {' | '.join(short)}" for processor in records]
    return markdown_table(
        f"| our time divided by that of | which is written | arithmetic | {' | '.join(columns)} |", rows
    )


@table("conv-speed")
def conv_speed(read) -> str:
    """The ratios of convolutional nets, and the same ratios on the Xeon and with AVX2 alone."""
    here, xeon = of_processors(read, "benchmark_conv_step").values()
    avx2 = read("results/benchmark_conv_step_avx2.json")
    rows = []

    def add(what, against, key):
        elsewhere = [measured(record["summary"].get(key)) for record in (xeon, avx2)]
        rows.append(table_row(what, against, f"**{here['summary'][key]:.2f}**", *elsewhere))

    for net, name in CONV_NETS.items():
        best = dict.fromkeys(fastest(competitors(record["trials"][net])) for record in (here, xeon))
        add(name, f"the fastest float32 rival: {', on the Xeon '.join(best)}", f"{net}_over_best")
        add(name, "PyTorch as usually written", f"{net}_over_torch")
        add(name, "the fastest bfloat16 rival", f"{net}_over_best_bfloat16")
        add(name, "our direct products", f"{net}_over_direct")
    for net, name in CONV_NETS.items():
        add(f"{name}: memory", "PyTorch as usually written", f"{net}_memory_over_torch")
    add("MNIST, 16 maps, batch normalisation of H", "without it", "mnist_16_normalised_over_not")
    return markdown_table("| training step | against | ours / theirs | on the Xeon | with AVX2 alone |", rows)


@table("avx2-slower")
def avx2_slower(read) -> str:
    """How many times as long the steps of the four nets take without AVX-512."""
    here = read("results/benchmark_conv_step.json")["trials"]
    avx2 = read("results/benchmark_conv_step_avx2.json")["trials"]
    return ", ".join(f"{avx2[net][OURS]['median_ms'] / here[net][OURS]['median_ms']:.1f}" for net in CONV_NETS)


@table("conv-errors")
def conv_errors(read) -> str:
    summary = read("results/benchmark_conv_errors.json")["summary"]  # {"METHOD z", "METHOD dx" or "METHOD dW": error}
    methods = dict.fromkeys(key.rpartition(" ")[0] for key in summary)
    rows = []
    for method in methods:
        largest = (f"{summary[f'{method} {what}']:.1e}" for what in ("z", "dx", "dW"))
        rows.append(f"| {method} | {' | '.join(largest)} |")
    return markdown_table("| float32 | z = W ∗ x + b | dL/dx | dL/dW |", rows)
