"""The benchmarks: experiments/results/benchmark_*.json."""

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, OTHERS, headline, note, panels
from highways.lab.showing.tables import markdown_table
from highways.records import PAIR

OURS = "this project"
IN_C = "C, products by NumPy's BLAS"  # what NumPy costs: no framework's program, it does not compete
PROCESSORS = {"": "Zen 4", "_xeon": "Xeon"}  # by the end of a record's name
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
    return {processor: read(f"experiments/results/{name}{end}.json") for end, processor in PROCESSORS.items()}


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


@table("growth-verdict")
def growth_verdict(read) -> str:
    """At how many sizes each JAX program is faster than ours."""
    trials = read("experiments/results/benchmark_scaling.json")["trials"]
    counts = []
    for name in trials[0]["ours_over_theirs"]:
        faster = [row for row in trials if row["ours_over_theirs"][name] > 1]
        counts.append(f"*{name}* at {len(faster)}")
    return f"{', '.join(counts)} of {len(trials)}"


# ---- Tables: convolutional nets --------------------------------------------------------------------------------------


@table("ranks")
def ranks(read) -> str:
    """How much faster several ranks train one net."""
    record = read("experiments/results/benchmark_ranks.json")
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
