"""The article's tables, its pictures, and the paragraphs that appear once their question is measured."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from experiments import GROUPS, without_brackets
from highways.files import ROOT
from highways.lab.showing import registry
from highways.lab.showing.convolutional import accuracy_cell
from highways.lab.showing.pages import number_in
from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, MARKER, NO_BREAK, OTHERS, headline, note, panels, with_settings
from highways.lab.showing.tables import cell, entry_text
from highways.records import select
from highways.statistics import mean_sd_n, spaced

CITATION = ROOT / "CITATION.cff"
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December")  # fmt: skip

# ---- Who wrote it, and when -----------------------------------------------------------------------------------------


def cited(entry: str) -> str:
    """An entry of CITATION.cff, such as its version."""
    found = re.search(rf'^ *-? *{entry}: *"?([^"\n]+)"?$', CITATION.read_text(encoding="utf-8"), re.M)
    if not found:
        raise ValueError(f"CITATION.cff has no {entry}")
    return found[1]


def authors() -> str:
    return cited("name")


def version() -> str:
    return cited("version")


def date_in_words() -> str:
    year, month, day = cited("date-released").split("-")
    return f"{int(day)} {MONTHS[int(month) - 1]} {year}"


@table("article-byline")
def byline(read) -> str:
    return f"{authors()}. Version {version()}, {date_in_words()}."


# ---- The ten primary claims -----------------------------------------------------------------------------------------


class Primary(NamedTuple):
    """One of the ten claims."""

    claim: str
    paper: str  # what its source has
    judged_by: tuple[str, ...]  # the rows of the ledger that confirm it, with seeds of their own
    group: str  # of results/primary.json, whose seeds or searches are counted
    earlier: dict[str, tuple[str, int]]  # {row until then: (what its numbers are of, how many clauses are shown)}


PRIMARY = (
    Primary(
        "thirty plain layers fail, thirty highway layers train",
        "HEADLINE",
        ("primary-thirty-layers",),
        "headline",
        {"highway-learns-plain-does-not": ("", 1)},
    ),
    Primary(
        "at 100 layers highway nets are far better optimised",
        "“more than 2 orders of magnitude”",
        ("primary-two-orders",),
        "figure_1",
        {"two-orders-at-100-wide": ("", 1)},
    ),
    Primary(
        "highway nets do not get worse with depth, plain nets do",
        "50 and 100 layers “similar” to 10 and 20",
        ("primary-no-degradation",),
        "figure_1",
        {"highway-does-not-degrade": ("highway, ", 1), "plain-degrades": ("plain, ", 1)},
    ),
    Primary(
        "more than 1000 layers train, and are of use",
        "“SGD did not stall”",
        ("primary-past-1000",),
        "deep",
        {"sgd-does-not-stall-past-1000": ("", 2), "depth-of-use-past-1000": ("accuracy, ", 1)},
    ),
    Primary(
        "$b_T$ must be negative, need not be exact, fails at extremes",
        "searched between -1 and -10; the blog warns of both ends",
        ("primary-gate-bias",),
        "biases",
        {
            "high-gate-biases-fail": ("0 and above: ", 1),
            "low-gate-biases-fail": ("-10 and below: ", 2),
            "biases-need-not-be-exact": ("in between: ", 2),
        },
    ),
    Primary("Table 1, 16 maps", "TABLE 1, 16", ("16-maps-reach",), "", {"16-maps-reach": ("", 1)}),
    Primary("Table 1, 32 maps", "TABLE 1, 32", ("32-maps-reach",), "", {"32-maps-reach": ("", 1)}),
    Primary(
        "Table 3, nineteen layers on CIFAR-10",
        "TABLE 3",
        ("19-layers-reach-on-whitened-images",),
        "",
        {"19-layers-reach-on-cifar-10": ("", 1)},
    ),
    Primary(
        "many layers are idle on MNIST, few on CIFAR-100",
        "“about 60%” on MNIST; the first 40 matter on CIFAR-100",
        ("primary-idle-layers",),
        "fifty",
        {"idle-share": ("MNIST, ", 1), "first-40-matter-on-cifar": ("the first 40 on CIFAR-100, ", 1)},
    ),
    Primary(
        "biases fall in training, and $T$ follows depth",
        "“most biases decreased”; on CIFAR-100 they rise with depth; lower layers more open (the program)",
        ("primary-biases",),
        "fifty",
        {
            "most-biases-decreased": ("fell, ", 1),
            "biases-rise-with-depth-on-cifar": ("bias on CIFAR-100, ", 3),
            "lower-layers-more-open": ("depth 30, ", 1),
        },
    ),
    Primary(
        "gates that see $x$ matter",
        "“an important part of the computation”",
        ("primary-gates-see-x",),
        "kinds",
        {
            "trained-nets-need-their-gates": ("T replaced by its mean: ", 3),
            "wide-gates-training-loss": ("static gates with as many parameters: is the loss higher? ", 2),
            "wide-gates-test-accuracy": ("the same nets: is the accuracy lower? ", 2),
        },
    ),
)
NUMBERS = ("1", "2", "3", "4", "5", "6", "", "7", "8", "9", "10")  # of PRIMARY: Table 1 has two lines
# {row whose numbers do not say how many nets they are of: (record, entry, settings) that does}
COUNTED_IN = {
    "two-orders-at-100-wide": ("wider_rates", "loss", "row=net, block=plain"),
    "trained-nets-need-their-gates": ("static_gates", "error", "row=replaced, data=MNIST, by=unit"),
    "wide-gates-training-loss": ("static_gates", "training_loss", "row=net, data=MNIST, variant=wide"),
    "wide-gates-test-accuracy": ("static_gates", "training_loss", "row=net, data=MNIST, variant=wide"),
}
EARLIER = "†"  # marks verdicts on runs that are older than the rules of the ten claims
HEADER = "| | claim | its source | here, with 95 % intervals | n | passed, too, by | verdict |"
WIDTHS = (2, 16, 16, 30, 3, 17, 16)  # of the columns, as a share of their sum


def table_of(header: str, rows: list[str], widths: tuple[int, ...]) -> str:
    """Markdown whose dashes say how wide the columns are in the PDF."""
    rule = "|".join("-" * (width + 2) for width in widths)
    return "\n\n" + "\n".join([header, f"|{rule}|", *rows]) + "\n\n"


def claims_of(read) -> list[dict]:
    return read("results/claims.json")["trials"]


def row_of(read, name: str) -> dict:
    return select(claims_of(read), id=name)


def is_tested(row: dict) -> bool:
    return not row["verdict"].startswith("not tested")


def shown_rows(read) -> list[tuple[str, Primary, str, bool]]:
    """(number, claim, row of the ledger, whether it confirms) of every line of the table."""
    found = []
    for number, primary in zip(NUMBERS, PRIMARY, strict=True):
        confirmed = all(is_tested(row_of(read, name)) for name in primary.judged_by)
        names = primary.judged_by if confirmed else tuple(primary.earlier)
        for place, name in enumerate(names):
            found.append((number if place == 0 else "", primary, name, confirmed))
    return found


@table("article-primary")
def primary_table(read) -> str:
    lines = []
    before = None
    for number, primary, name, confirmed in shown_rows(read):
        row = row_of(read, name)
        is_first = primary is not before
        before = primary
        numbers = clauses(row["ours"])
        if confirmed:
            shown = "; ".join(numbers)
        else:
            of_what, n_clauses = primary.earlier[name]
            shown = of_what + "; ".join(numbers[:n_clauses])
        verdict = in_bold(row["verdict"].partition(";")[0])
        cells = [
            number,
            primary.claim if is_first else "",
            in_paper(read, primary) if is_first else "",
            cell(compact(shown)),
            counted(read, row, primary, confirmed),
            passed_by(row),
            verdict if confirmed or not is_tested(row) else f"{verdict}{NO_BREAK}{EARLIER}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    text = table_of(HEADER, lines, WIDTHS)
    if all(confirmed for *_, confirmed in shown_rows(read)):
        return text
    note = f"{EARLIER} Judged on runs that are older than the rules of the ten claims."
    if "fail hard" in text:
        note += " A net *fails hard* if its loss stays at that of guessing."
        note += " It *fails softly* if it trains and its blocks do nothing."
    return f"{text}{note}\n\n"


def in_bold(verdict: str) -> str:
    return f"**{cell(verdict)}**"


def clauses(text: str) -> list[str]:
    """The parts of a row's numbers between semicolons that no bracket encloses."""
    return re.split(r"; (?![^()]*\))", text)


def compact(text: str) -> str:
    """A row's numbers with each interval as "(low to high)", and without counts, which have a column."""
    text = re.sub(r"\(95 %: ([^,;()]*)[^()]*\)", r"(\1)", text)
    return re.sub(r" ?\(n = [^()]*\)", "", text)


def counted(read, row: dict, primary: Primary, confirmed: bool) -> str:
    """How many nets, or searches, stand behind a row."""
    found = sorted({int(n) for n in re.findall(r"n = (\d+)", row["ours"])})
    if "one run" in row["verdict"] or not is_tested(row):
        return "1"
    if confirmed and primary.group:
        budget = read("results/primary.json")["settings"][primary.group]
        return str(budget.get("searches") or budget["seeds"])
    if row["id"] in COUNTED_IN:
        record, entry, settings = COUNTED_IN[row["id"]]
        found = [number_in(read(f"results/{record}.json")["summary"], entry, settings)["n"]]
    return str(found[0])


def passed_by(row: dict) -> str:
    if row["passed_by"]:
        return cell(row["passed_by"])
    if not row["controls"]:
        return "-"
    names = [control["control"] for control in row["controls"]]
    return f"not by {cell(names[0])}" if len(names) == 1 else f"by none of {len(names)}"


def in_paper(read, primary: Primary) -> str:
    """What a claim's source has; accuracies come from data/published.json."""
    published = read("data/published.json")
    if primary.paper == "HEADLINE":
        program = published["program"]["headline"]
        return f"{program['highway']['test_acc']} against {program['plain']['test_acc']} (the program)"
    if primary.paper == "TABLE 3":
        return accuracy_in_paper(published["table_3"]["cifar-10"])
    if primary.paper.startswith("TABLE 1"):
        return accuracy_in_paper(published["table_1"][primary.paper[-2:]])
    return primary.paper


def accuracy_in_paper(paper: dict) -> str:
    sd = f" ± {100 * paper['sd']:.2f}" if paper["sd"] else ""
    return f"{100 * paper['mean']:.2f}{sd}"


@table("article-primary-count")
def primary_count(read) -> str:
    """How many lines of the table have which verdict."""
    verdicts = [row_of(read, name)["verdict"] for _, _, name, _ in shown_rows(read)]
    kinds = {"reproduced": 0, "in part": 0, "not reproduced": 0, "not clear": 0, "not tested": 0}
    for verdict in verdicts:
        kinds[kind_of(verdict)] += 1
    counts = [f"{count} {kind}" for kind, count in kinds.items() if count]
    return f"{len(verdicts)} verdicts: {', '.join(counts)}"


def kind_of(verdict: str) -> str:
    for kind in ("not tested", "not reproduced", "not clear", "in part"):
        if verdict.startswith(kind):
            return kind
    return {"yes": "reproduced", "no": "not reproduced"}.get(re.split("[, ]", verdict)[0], "reproduced")


@table("article-primary-passed")
def primary_passed(read) -> str:
    """How many of the reproduced lines a net passes that lacks what the claim is about."""
    rows = [row_of(read, name) for _, _, name, _ in shown_rows(read)]
    reproduced = [row for row in rows if kind_of(row["verdict"]) == "reproduced"]
    passed = sum(row["passed_by"] != "" for row in reproduced)
    return f"{passed} of the {len(reproduced)} reproduced"


# ---- Questions whose results may be awaited -------------------------------------------------------------------------


def rows_measured(read, question: str) -> list[dict]:
    """The rows of the ledger that rest on this question's results."""
    return [row for row in claims_of(read) if question in row["results"] and is_tested(row)]


def verdicts(read, question: str) -> str:
    """A line for each row that rests on this question's results; nothing before it is measured."""
    lines = []
    for row in rows_measured(read, question):
        asked = cell(without_brackets(row["claim"]))
        lines.append(f"- {asked[0].upper()}{asked[1:]}: **{cell(row['verdict'])}**.")
    return "\n\n" + "\n".join(lines) + "\n\n" if lines else ""


@table("article-what-trains")
def what_trains(read) -> str:
    """How the design was, what was predicted right, and the picture; nothing before it is measured."""
    if not rows_measured(read, "what_trains"):
        return ""
    summary = read("results/what_trains.json")["summary"]
    [defined] = with_settings(summary, row="definitions")
    right = {row["predictor"]: row for row in with_settings(summary, row="predictor")}
    low, high = right["gradient"]["interval"]
    [sees_x] = with_settings(summary, row="gate", kind="sees x")
    sentences = (
        "A factorial design takes start and gate apart.",
        "Nine kinds of block, four values of $b_T$, three starts and four depths give",
        f"{defined['cells']} cells.",
        "Which of them train was predicted from untrained nets alone.",
        "The predictor is the gradient at the first block, divided by that at the last.",
        "It must lie between two bounds, which were set at depths 10 and 30 and tested at 100 and 300.",
        "Rules and expectations are older than the runs (commit 253e2b8).",
        f"Of the {defined['test_cells']} deep cells, {defined['test_cells_that_train']} train.",
        f"The prediction is right for a share of {right['gradient']['right_where_tested']:.3f} of them",
        f"(95 %: {low:.3f} to {high:.3f}).",
        "Two controls do not look at the weights:",
        f"what a block carries is right for {right['carry']['right_where_tested']:.3f},",
        f"and the outcome at depth 30 for {right['as at 30']['right_where_tested']:.3f}.",
        f"A gate that sees $x$ trains {sees_x['gate_alone']} cells that a fixed mixture with the same start does not,",
        f"and the mixture {sees_x['convex_alone']} that the gate does not, of {sees_x['cells']}.",
    )
    shown = "![Nets of every kind at their gradient before training; full marks train, and grey is predicted to train.]"
    return f"\n\n{' '.join(sentences)}{verdicts(read, 'what_trains')}{shown}(../viz/what_trains.png)\n\n"


@table("article-which-carry")
def which_carry(read) -> str:
    """Loss and accuracy of every kind of block where all train; nothing before it is measured."""
    if not rows_measured(read, "which_carry"):
        return ""
    record = read("results/which_carry.json")
    depths = record["settings"]["depths"]
    kinds = list(dict.fromkeys(row["kind"] for row in record["summary"]))
    lines = []
    for kind in kinds:
        cells = [kind]
        for depth in depths:
            row = select(record["summary"], kind=kind, depth=depth)
            cells += [entry_text(row["loss"], "loss", 2), entry_text(row["test_accuracy"], "test_accuracy", 4)]
        lines.append(f"| {' | '.join(cells)} |")
    columns = " | ".join(f"{depth} blocks: training loss | test accuracy" for depth in depths)
    sentences = (
        "Which kind fits best where each may choose its start, rate and bias?",
        "All have as many parameters and the same search, on all of MNIST (`which_carry`).",
    )
    table_of_kinds = table_of(f"| kind | {columns} |", lines, (20, *(20, 16) * len(depths)))
    return f"\n\n{' '.join(sentences)}{table_of_kinds}{verdicts(read, 'which_carry')}"


@table("article-paths")
def paths(read) -> str:
    """What shuffled blocks keep, and how long the gradient's way is; nothing before it is measured."""
    if not rows_measured(read, "paths"):
        return ""
    summary = read("results/paths.json")["summary"]

    def of(kind: str, measure: str, when: str = "trained") -> str:
        return entry_text(select(summary, row="look", kind=kind, when=when)[measure], measure, 2)

    sentences = (
        "**Order and paths.** In nets of 30 blocks we changed the order of the blocks (`paths`).",
        f"Shuffled, highway nets keep a share of {of('highway', 'kept_shuffled')} of their accuracy above guessing,",
        f"residual nets {of('residual', 'kept_shuffled')},",
        f"and plain nets that are as accurate {of('plain', 'kept_shuffled')}.",
        f"But untrained highway nets keep {of('highway', 'answers_kept_shuffled', 'at_start')} of their answers,",
        f"and trained ones {of('highway', 'answers_kept_shuffled')}: the start makes order matter little.",
        f"On its way back the gradient takes {of('highway', 'mean_length')} of the 30 blocks in highway nets,",
        f"in the mean, and {of('residual', 'mean_length')} in residual ones.",
    )
    return f"\n\n{' '.join(sentences)}{verdicts(read, 'paths')}"


@table("article-depth-on-demand")
def depth_on_demand(read) -> str:
    """The tasks, what was found, and the picture; nothing before it is measured."""
    if not rows_measured(read, "depth_on_demand"):
        return ""
    sentences = (
        "So we trained nets on two tasks of known depth k.",
        "One is to follow a pointer k times in a random table, the other to give a cell of rule 30 after k steps.",
        "The net is told k.",
        "Seven kinds of net have as many parameters each, and the same search.",
        "The rules are older than the runs (commit 725abe8).",
    )
    shown = "![The share of right answers if the output layer reads the state after each block, for each k.]"
    accuracies = registry.TABLES["depth-on-demand"](read)
    told = f"\n\n{' '.join(sentences)}{accuracies}{verdicts(read, 'depth_on_demand')}"
    return f"{told}{shown}(../viz/depth_on_demand.png)\n\n"


AWAITED = {
    "what_trains": "which start and which carry make nets train, predicted from untrained nets",
    "which_carry": "which kind of block fits best where all train",
    "depth_on_demand": "what gates that see x are for on tasks that need depth",
    "primary": "the ten claims with new seeds and repeated searches",
}


@table("article-awaited")
def awaited(read) -> str:
    """The questions whose rules are committed and whose results are not; nothing when all are there."""
    waiting = [f"{words} (`{name}`)" for name, words in AWAITED.items() if not rows_measured(read, name)]
    if not waiting:
        return ""
    named = waiting[0] if len(waiting) == 1 else f"{', '.join(waiting[:-1])} and {waiting[-1]}"
    return f"Rules are committed, and results are not there yet, on {named}."


# ---- Tables 1 to 3 --------------------------------------------------------------------------------------------------

# (table, text, record, settings of its rows, where the paper's number is)
NETS = (
    ("1", "16 maps", "table1", {"width": 16, "block": "highway"}, ("table_1", "16")),
    ("", "32 maps", "table1", {"width": 32, "block": "highway"}, ("table_1", "32")),
    ("", "plain, 16 maps", "table1", {"width": 16, "block": "plain"}, None),
    ("2", "A, 11 layers", "cifar", {"net": "highway-a", "block": "highway"}, ("table_2", "highway-a")),
    ("", "plain A", "cifar", {"net": "highway-a", "block": "plain"}, None),
    ("", "plain maxout A", "cifar", {"net": "highway-a", "block": "plain-maxout"}, None),
    ("", "B, 19 layers", "cifar", {"net": "highway-b", "block": "highway"}, ("table_2", "highway-b")),
    ("", "plain maxout B", "cifar", {"net": "highway-b", "block": "plain-maxout"}, None),
    ("", "C, 32 layers", "cifar", {"net": "highway-c", "block": "highway"}, ("table_2", "highway-c")),
    ("3", "19 layers", "cifar", {"net": "nineteen-layers", "data": "cifar-10"}, ("table_3", "cifar-10")),
    ("", "19 layers, CIFAR-100", "cifar", {"net": "nineteen-layers", "data": "cifar-100"}, ("table_3", "cifar-100")),
)


@table("article-tables-1-to-3")
def tables_1_to_3(read) -> str:
    published = read("data/published.json")
    lines = []
    for number, words, record, kind, place in NETS:
        summary = [row for row in read(f"results/{record}.json")["summary"] if "test_accuracy" in row]
        short = select(summary, **kind, protocol="short")
        theirs = accuracy_in_paper(published[place[0]][place[1]]) if place else "-"
        released = [accuracy_cell(summary, **kind, protocol=protocol) for protocol in ("whitened", "paper")]
        cells = [
            number,
            words,
            spaced(short["parameters"]),
            theirs,
            next((text for text in released if text != "-"), "-").strip("*"),
            accuracy_cell(summary, **kind, protocol="short").strip("*"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    header = "| | net | parameters | paper, % | here, released settings, % | here, short recipe, % |"
    return table_of(header, lines, (2, 20, 11, 13, 30, 30))


@table("article-short-of-table-3")
def short_of_table_3(read) -> str:
    """How far our short runs of the 19 layers are below the paper's means."""
    paper = read("data/published.json")["table_3"]
    summary = [row for row in read("results/cifar.json")["summary"] if row.get("protocol") == "short"]
    points = {}
    for data in ("cifar-10", "cifar-100"):
        ours = select(summary, net="nineteen-layers", data=data)["test_accuracy"]["mean"]
        points[data] = 100 * (paper[data]["mean"] - ours)
    return f"{points['cifar-10']:.1f} points below the paper on CIFAR-10, and {points['cifar-100']:.1f} on CIFAR-100"


@table("article-first-author")
def first_author(read) -> str:
    paper = read("data/published.json")["first_author_2025"]
    return f"{100 * paper['highway']:.2f} % on CIFAR-10, and the residual net {100 * paper['residual']:.2f} %"


@table("article-best-biases")
def best_biases(read) -> str:
    """The best gate bias, and the highest that trains, by depth."""
    return cell(row_of(read, "more-negative-with-depth")["ours"])


@table("article-draws")
def draws(read) -> str:
    """How many draws a search of Figure 1 has."""
    fewest, most = (read(f"results/{name}.json")["settings"]["trials"] for name in ("optimization", "wider_rates"))
    return f"{fewest} to {most}"


# ---- What it cost ---------------------------------------------------------------------------------------------------


def steps_of_everything() -> list:
    from experiments import everything  # imported here: it imports what trains, and pictures need JSON alone

    return everything.all_steps()


@table("article-hours")
def hours(read) -> str:
    """Core-hours by what a reader asks, as `everything --plan` counts them."""
    steps = {step.name: step for step in steps_of_everything()}
    lines = []
    counted_already = set()
    for title, names in GROUPS.items():
        of_group = [steps[name] for name in names if name in steps]
        counted_already.update(step.name for step in of_group)
        lines.append(line_of_hours(title, of_group))
    others = [step for name, step in steps.items() if name not in counted_already]
    lines.append(line_of_hours("The headline's runs, and the rest", others))
    lines.append(line_of_hours("In all", list(steps.values())))
    header = "| what is asked | commands | core-hours | and of long trainings |"
    return table_of(header, [line for line in lines if line], (44, 10, 12, 20))


def line_of_hours(title: str, steps: list) -> str:
    if not steps:
        return ""
    apart = sum(step.hours_apart for step in steps)
    by_command = sum(step.core_hours for step in steps)
    return f"| {title} | {len(steps)} | {by_command:.1f} | {f'{apart:.1f}' if apart else '-'} |"


@table("article-hours-in-all")
def hours_in_all(read) -> str:
    return f"{sum(step.core_hours + step.hours_apart for step in steps_of_everything()):.0f}"


@table("article-processors")
def processors(read) -> str:
    """The processors of the records, with NumPy and BLAS, and the core-hours of each."""
    found = {}
    for step in steps_of_everything():
        found[step.processor] = found.get(step.processor, 0) + step.core_hours
    longest_first = sorted(found.items(), key=lambda item: -item[1])
    return "; ".join(f"{processor}: {core_hours:.1f} core-hours" for processor, core_hours in longest_first)


# what the note of a row says if its rule was not fixed before all runs
SEEN = re.compile(
    r"after (the|a first) (first )?run|after (three of|looking|counting)|results were known|had been seen|was seen|"
    r"were known|\bat first\b|added after"
)


@table("article-rules-after")
def rules_after(read) -> str:
    """How many rows say that runs had been seen when something of their rule was chosen or changed."""
    rows = claims_of(read)
    return f"{sum(bool(SEEN.search(row['note'])) for row in rows)} of {len(rows)}"


# ---- Pictures -------------------------------------------------------------------------------------------------------

# {net of the headline or control: (as the picture names it, colour, marker)}
NETS_OF_DEPTH_30 = {
    "plain": ("plain", COLOR["plain"], MARKER["plain"]),
    "highway": ("highway", COLOR["highway"], MARKER["highway"]),
    "a net whose gates stay shut": ("highway, gates held shut", COLOR["highway"], "x"),
    "a net of random gates": ("highway, gates do not learn", COLOR["highway"], "+"),
    "a net without blocks": ("no blocks at all", GREY, "D"),
    "a plain net with its best start": ("plain, another start and rate", COLOR["plain"], "s"),
}
CHANCE = 0.1


@picture("run_seeds", "controls")
def article_who_trains(headline_record, controls):
    """The test accuracy of every seed at depth 30: plain, highway, and nets that lack a part."""
    by_net = {}
    for block in ("plain", "highway"):
        by_net[block] = [pair[block]["final_test_acc"] for pair in headline_record["runs"]]
    for control in list(NETS_OF_DEPTH_30)[2:]:
        trials = with_settings(controls["trials"]["final"], control=control, depth=30)
        by_net[control] = [trial["test_accuracy"] for trial in trials]
    fig, ax = panels(1, 1, 3.1)
    for place, (net, values) in enumerate(by_net.items()):
        _, color, marker = NETS_OF_DEPTH_30[net]
        ax.plot(values, [place] * len(values), marker, color=color, ms=7, alpha=0.7)
        mean = mean_sd_n(values)["mean"]
        note(ax, f"{mean:.3f}", (0.5, place), (0, 0), color, va="center")
    ax.axvline(CHANCE, color=GREY, ls=":")
    note(ax, "chance", (CHANCE, len(by_net) - 1), (4, 0), GREY, ha="left", va="center")
    names = [NETS_OF_DEPTH_30[net][0] for net in by_net]
    ax.set(yticks=range(len(names)), yticklabels=names, xlim=(0, 1))
    ax.set_xlabel("test accuracy; a mark: one seed; the number: their mean")
    ax.invert_yaxis()
    ax.margins(y=0.12)
    headline(fig, "At depth 30 highway nets learn; so do nets that lack what is said to make them learn")
    return fig


@picture("optimization", "figure_1_finals", "one_hidden_layer")
def article_depth(optimization, finals, one_layer):
    """The training loss against depth after 20 and 400 epochs, beside that of one hidden layer."""
    fig, axes = panels(1, 2, 3.2, sharey=True)
    growth = {}
    for ax, record in zip(axes, (optimization, finals), strict=True):
        epochs = record["settings"]["epochs"]
        nets = with_settings(record["summary"], row="net")
        for block in ("highway", "plain"):
            found = sorted(with_settings(nets, block=block), key=lambda net: net["depth"])
            layers = [net["depth"] + 1 for net in found]
            losses = [net["loss"]["mean"] for net in found]
            ax.plot(layers, losses, MARKER[block], ls="-", color=COLOR[block], label=block)
            growth.setdefault(block, losses[-1] / losses[0])  # after 20 epochs
        [alone] = with_settings(one_layer["summary"], row="Figure 1", epochs=epochs)
        ax.axhline(alone["loss"]["mean"], color=GREY, ls=":", label="one hidden layer")
        ax.set(xscale="log", yscale="log", xlabel="layers")
        ax.set_title(f"after {epochs} epochs")
        ax.set_xticks(layers, layers)
        ax.minorticks_off()
    axes[0].set_ylabel("training loss")
    axes[1].legend(loc="upper left")
    of_plain = f"a plain net's loss grows {growth['plain']:.0f}-fold"
    of_highway = f"a highway net's {growth['highway']:.1f}-fold"
    headline(fig, f"From 10 to 100 layers {of_plain}, {of_highway}, in 20 epochs")
    return fig


OVER = 7  # epochs that a point of the picture is a mean of
OF_THE_LOG = {
    "paper": ("ours, normalised contrast", COLOR["highway"]),
    "whitened": ("ours, whitened images", OTHERS[1]),
    "earlier log": ("the authors' earlier log", "0.6"),
}
SAME_AS_THE_LOG = 10  # the epoch from which on distances are compared


@picture("cifar")
def article_log(record):
    """The test accuracy of the 19 layers less that of the authors' log, epoch by epoch."""
    fig, ax = panels(1, 1, 2.9)
    furthest = {}
    for row in with_settings(record["summary"], row="less the log"):
        words, color = OF_THE_LOG[row["training"]]
        points = 100 * np.convolve(row["differences"], np.full(OVER, 1 / OVER), "valid")
        epochs = np.arange(len(points)) + 1 + OVER // 2
        furthest[row["training"]] = np.abs(points[epochs >= SAME_AS_THE_LOG]).max()
        ax.plot(epochs, points, color=color, lw=1.6, label=words)
    ax.axhline(0, color="black", lw=1)
    ax.set(xlabel="epoch", ylabel="points of test accuracy\nabove the authors' log")
    ax.legend(loc="lower right")
    headline(
        fig,
        "On whitened images our run stays near the authors' log "
        f"(within {furthest['whitened']:.1f} points); on normalised contrast it falls {furthest['paper']:.1f} behind",
        f"19 layers, CIFAR-10; means over {OVER} epochs, compared from epoch {SAME_AS_THE_LOG} on",
    )
    return fig
