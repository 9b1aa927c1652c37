"""The article's tables, its pictures, and the paragraphs that appear once their question is measured."""

from __future__ import annotations

import re
from decimal import Decimal
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
from highways.statistics import mean_and_sd, mean_sd_n, spaced

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


NOT_THE_PAPERS = "the authors of this reproduction, none of whom wrote the paper"


@table("article-byline")
def byline(read) -> str:
    return f"{authors()} ({NOT_THE_PAPERS}). Version {version()}, {date_in_words()}."


@table("article-work")
def work(read) -> str:
    return f"*{cited('title')}*, version {version()} of {date_in_words()}"


@table("article-licence")
def licence(read) -> str:
    return cited("license")


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
        {"two-orders-at-100-wide": ("20 epochs: ", 1), "two-orders-at-100-in-400-epochs-wide": ("400 epochs: ", 1)},
    ),
    Primary(
        "highway nets “do not suffer” from depth, plain nets do",
        "50 and 100 layers “similar” to 10 and 20",
        ("primary-no-degradation",),
        "figure_1",
        {"highway-does-not-degrade": ("highway, 20 epochs: ", 1), "plain-degrades": ("plain, 20 epochs: ", 1)},
    ),
    Primary(
        "more than 1000 layers train, and are of use",
        "“SGD did not stall”",
        ("primary-past-1000",),
        "deep",
        {
            "sgd-does-not-stall-past-1000": ("1500 layers: ", 2),
            "depth-of-use-past-1000": ("1500 layers, accuracy: ", 1),
        },
    ),
    Primary(
        "$b_T$ must be negative, need not be exact, fails at extremes",
        "searched between -1 and -10; the blog warns of both ends",
        ("primary-gate-bias",),
        "biases",
        {
            "high-gate-biases-fail": ("$b_T$ of 0 and 2: ", 2),
            "low-gate-biases-fail": ("$b_T$ of -10 and -20: ", 2),
            "biases-need-not-be-exact": ("", 2),
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
        "“most biases decreased”; on CIFAR-100 they rise with depth; the program: lower layers more open",
        ("primary-biases",),
        "fifty",
        {
            "most-biases-decreased": ("fell, ", 1),
            "biases-rise-with-depth-on-cifar": ("CIFAR-100, 100 epochs, bias: ", 4),
            "lower-layers-more-open": ("depth 30: ", 1),
        },
    ),
    Primary(
        "gates that see $x$ matter",
        "“an important part of the computation”",
        ("primary-gates-see-x",),
        "kinds",
        {
            "trained-nets-need-their-gates": ("$T$ replaced by its mean: ", 3),
            "wide-gates-training-loss": ("static gates, as many parameters: ", 2),
            "wide-gates-test-accuracy": ("the same nets; below zero they gain: ", 2),
        },
    ),
)
NUMBERS = ("1", "2", "3", "4", "5", "6", "", "7", "8", "9", "10")  # of PRIMARY: Table 1 has two lines
# {row whose numbers do not say how many nets they are of: (record, entry, settings) that does}
COUNTED_IN = {
    "two-orders-at-100-wide": ("wider_rates", "loss", "row=net, block=plain"),
    "two-orders-at-100-in-400-epochs-wide": ("figure_1_finals", "loss", "row=net, block=highway, depth=99"),
    "trained-nets-need-their-gates": ("static_gates", "error", "row=replaced, data=MNIST, by=unit"),
    "wide-gates-training-loss": ("static_gates", "training_loss", "row=net, data=MNIST, variant=wide"),
    "wide-gates-test-accuracy": ("static_gates", "training_loss", "row=net, data=MNIST, variant=wide"),
}
# {row of the ledger: when it holds}; the numbers are those of the row
HOLDS_IF = {
    "primary-thirty-layers": "accuracy above 0.85, and below 0.15",
    "highway-learns-plain-does-not": "accuracy above 0.85, and below 0.15",
    "primary-two-orders": "ratio of losses over two orders of magnitude",
    "two-orders-at-100-wide": "ratio of losses over two orders of magnitude",
    "two-orders-at-100-in-400-epochs-wide": "the same, after 400 epochs",
    "primary-no-degradation": "50 and 100 layers: less than 3 times the loss of 10 and 20; plain: over 3 times 20's",
    "highway-does-not-degrade": "50 and 100 layers: less than 3 times the loss of 10 and 20",
    "plain-degrades": "50 and 100 layers: over 3 times the loss of 20",
    "primary-past-1000": "the loss falls; accuracy above 0.9, and above one hidden layer; blocks are worth over 0.002",
    "sgd-does-not-stall-past-1000": "the loss falls; accuracy above 0.9",
    "depth-of-use-past-1000": "both gains above zero",
    "primary-gate-bias": "0 and 2 do not train, nor -10 and -20; over half of -1 to -7 within 0.01 of the best",
    "high-gate-biases-fail": "at each depth most nets of 0 and above do not train in three epochs",
    "low-gate-biases-fail": "at each depth most of -10 and below do not train; most train with idle blocks",
    "biases-need-not-be-exact": "at each depth over half of the 6 biases from -1 to -7 within 0.01 of the best",
    "16-maps-reach": "interval within the paper's prediction intervals, 99.30 to 99.42 and 99.36 to 99.48",
    "32-maps-reach": "one run within the prediction interval, 99.48 to 99.60",
    "19-layers-reach-on-whitened-images": "one run from 91.95 to 92.67, in 400 epochs",
    "19-layers-reach-on-cifar-10": "within the prediction interval, in 400 epochs",
    "primary-idle-layers": "0.45 to 0.75 of the blocks; fewer than 0.1 of the first 40",
    "idle-share": "45 to 75 % of the blocks",
    "first-40-matter-on-cifar": "fewer than 10 % of blocks 1 to 40",
    "primary-biases": "over half fall; correlations above and below zero; first third above the last",
    "most-biases-decreased": "over half, on both sets",
    "biases-rise-with-depth-on-cifar": "correlation above 0.3, and below -0.3, after 100 epochs and after 200",
    "lower-layers-more-open": "difference above zero",
    "primary-gates-see-x": "error rises by over 0.01; static gates: over 1.5 times the loss, lose over 0.005 (0.01)",
    "trained-nets-need-their-gates": "error rises by more than a hundredth",
    "wide-gates-training-loss": "loss over 1.5 times full's",
    "wide-gates-test-accuracy": "accuracy lower by over 0.005 (MNIST), 0.01 (CIFAR-100), after 25 epochs",
    "blocks-refine-the-same-features": "both kinds keep over 0.5 of the accuracy above guessing, shuffled and half-way",
    "idle-layers-are-hard-to-get-in-plain-nets": "plain nets: fewer than 10 % of the layers are idle",
    "one-block-deleted": "the worst block costs less than 0.02; plain nets have less than 0.15 left",
    "deleting-many-is-smooth": "no step of one block costs 0.25",
    "reordering-is-smooth": "no step costs 0.25",
    "gradient-from-short-paths": "paths of at most 9 of 30 blocks carry over half",
    "residual-blocks-follow-the-gradient": "mean cosine above 0, and above that of untrained nets",
    "higher-residual-blocks-refine": "cosine larger in the last third than in the first",
    "highway-nets-refine": "kept without blocks below 0.5, shuffled above 0.5; own reader under 0.1 behind",
    "highway-blocks-follow-the-gradient": "mean cosine above 0, and above that of untrained nets",
    "highway-nets-behave-like-ensembles": "the worst block costs less than 0.02; smooth; over half by short paths",
}
EARLIER = "†"  # marks verdicts on runs that are older than the rules of the ten claims
HEADER = "| | claim, and its source | holds if | here, with 95 % intervals | n | tried | pass | verdict |"
WIDTHS = (2, 21, 22, 34, 3, 6, 5, 14)  # of the columns, as a share of their sum
LETTERS = "abcdefghijkl"


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
    letters = letters_of_controls(read)
    rows = shown_rows(read)
    lines = []
    for i, (number, primary, name, confirmed) in enumerate(rows):
        row = row_of(read, name)
        claim = ""
        if i == 0 or primary is not rows[i - 1][1]:
            claim = f"{primary.claim} ({in_paper(read, primary)})"
        verdict = in_bold(row["verdict"].partition(";")[0])
        if row["kind"] == "open question":
            verdict += " (our question)"
        awaits_new_runs = primary.group and not confirmed
        cells = [
            number,
            claim,
            HOLDS_IF[name],
            numbers_of(row, primary, confirmed),
            counted(read, row, primary, confirmed),
            lettered(letters, row["controls"]),
            lettered(letters, [control for control in row["controls"] if control["passes"]]),
            f"{verdict}{NO_BREAK}{EARLIER}" if awaits_new_runs else verdict,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    tried = "; ".join(f"*{letter}* {cell(control)}" for control, letter in letters.items())
    notes = (
        f"*Tried* and *pass*: simpler or other nets put to the same rule, and those that pass it ({tried}).",
        "± is a standard deviation over *n* seeds, intervals are in brackets.",
        f"{EARLIER} Earlier runs, judged by earlier rules; new runs will be judged by the new ones."
        if EARLIER in "".join(lines)
        else "",
    )
    return f"{table_of(HEADER, lines, WIDTHS)}{' '.join(note for note in notes if note)}\n\n"


def letters_of_controls(read) -> dict[str, str]:
    """A letter for each control of the table's rows, in the order in which they appear."""
    names = []
    for _, _, name, _ in shown_rows(read):
        names += [control["control"] for control in row_of(read, name)["controls"]]
    return dict(zip(dict.fromkeys(names), LETTERS, strict=False))


def lettered(letters: dict[str, str], controls: list[dict]) -> str:
    return " ".join(sorted(letters[control["control"]] for control in controls)) or "-"


def numbers_of(row: dict, primary: Primary, confirmed: bool) -> str:
    """A row's numbers as the table shows them: of an earlier row the first clauses, with what they are of."""
    if confirmed:
        return cell(compact(row["ours"]))
    of_what, n_clauses = primary.earlier[row["id"]]
    failures = FAILURES.fullmatch(row["ours"])
    if failures:
        return of_what + in_words(**failures.groupdict())
    return of_what + cell(compact("; ".join(clauses(row["ours"])[:n_clauses])))


FAILURES = re.compile(
    r"of (?P<nets>\d+) settings at (?P<depths>[\d, ]+) layers: "
    r"(?P<hard>[\d, ]+) fail hard; (?P<soft>[\d, ]+) fail softly"
)


def in_words(nets: str, depths: str, hard: str, soft: str) -> str:
    """How many nets of each depth do not train, and of how many the blocks do nothing."""

    def share(counts: str) -> str:
        different = set(counts.split(", "))
        if different == {"0"}:
            return "none"
        return "all" if different == {nets} else counts

    text = f"of {nets} nets at each of {depths} layers, {share(hard)} do not train"
    return text if share(soft) == "none" else f"{text}; {share(soft)} train, with blocks that do nothing"


def in_bold(verdict: str) -> str:
    return f"**{cell(verdict)}**"


def clauses(text: str) -> list[str]:
    """The parts of a row's numbers between semicolons that no bracket encloses."""
    return re.split(r"; (?![^()]*\))", text)


def compact(text: str) -> str:
    """A row's numbers with each interval as "(low to high)", without powers of ten, and without counts, which
    have a column."""
    text = text.replace("short protocol", "short recipe")
    text = re.sub(r"\(95 %: ([^,;()]*)[^()]*\)", r"(\1)", text)
    text = re.sub(r" ?\(n = [^()]*\)| \(95 % prediction interval [^()]*\)", "", text)
    text = re.sub(r"\d+(\.\d+)?e[+-]\d+", lambda found: written_out(found[0]), text)
    return re.sub(r"(?<![\w)])-(?=\d)", "\N{MINUS SIGN}", text)


def written_out(number: str) -> str:
    """A number such as 3.1e-05 without a power of ten."""
    plain = format(Decimal(number), "f")
    return plain if "." in plain else spaced(int(plain))


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


def in_paper(read, primary: Primary) -> str:
    """What a claim's source has; accuracies come from data/published.json."""
    published = read("data/published.json")
    if primary.paper == "HEADLINE":
        program = published["program"]["headline"]
        return f"the program: {program['highway']['test_acc']} against {program['plain']['test_acc']}"
    if primary.paper == "TABLE 3":
        return accuracy_in_paper(published["table_3"]["cifar-10"])
    if primary.paper.startswith("TABLE 1"):
        return accuracy_in_paper(published["table_1"][primary.paper[-2:]])
    return primary.paper


def accuracy_in_paper(paper: dict) -> str:
    sd = f" ± {100 * paper['sd']:.2f}" if paper["sd"] else ""
    return f"{100 * paper['mean']:.2f}{sd}"


@table("article-provisional")
def provisional(read) -> str:
    """Whether the ten claims have been judged by their own rules, for the summary."""
    if is_confirmed(read):
        return "The table judges eight of them by these runs; Table 1 stands on earlier runs."
    return (
        "**None of their runs has been reported yet, and the table of claims is provisional:** it judges earlier runs "
        "by earlier rules, many of which were chosen when results were known."
    )


@table("article-earlier-rules")
def earlier_rules(read) -> str:
    """What the earlier rules lack, as long as the table applies them."""
    if is_confirmed(read):
        return f"Where the table has a {EARLIER}, it still applies an earlier rule to earlier runs."
    return (
        "None of their runs has been reported yet. Until then, the table applies earlier rules of the ledger to "
        f"earlier runs, and the verdicts on these eight are provisional ({EARLIER}). The new rules are stricter: they "
        "repeat whole searches, search a rate for each $b_T$, and give one hidden layer its best rate."
    )


@table("article-how-it-stands")
def how_it_stands(read) -> str:
    return "in part" if is_confirmed(read) else "in part, and provisionally"


def is_confirmed(read) -> bool:
    """Whether all claims that have runs of their own are judged by them."""
    own = [primary for primary in PRIMARY if primary.group]
    return all(is_tested(row_of(read, name)) for primary in own for name in primary.judged_by)


@table("article-primary-count")
def primary_count(read) -> str:
    """How many of the ten claims, and how many lines of the table, have which verdict."""
    by_claim = {}
    of_sources = []
    of_our_own = []
    number = ""
    for shown_number, _, name, _ in shown_rows(read):
        row = row_of(read, name)
        number = shown_number or number
        by_claim.setdefault(number, []).append(kind_of(row["verdict"]))
        (of_our_own if row["kind"] == "open question" else of_sources).append(row["verdict"])
    claims = counts_of([all_in_all(kinds) for kinds in by_claim.values()])
    rows = counts_of([kind_of(verdict) for verdict in of_sources])
    text = f"Of the {len(by_claim)} claims, each as a whole and with our own questions on it: {claims}. "
    text += f"Of the {len(of_sources)} rows that judge a sentence of a source: {rows}"
    if not of_our_own:
        return text
    answers = [answer_of(verdict) for verdict in of_our_own]
    said = ", ".join(f"{answers.count(answer)} {answer}" for answer in dict.fromkeys(sorted(answers, reverse=True)))
    return f"{text}. Of {len(of_our_own)} rows that are questions of our own: {said}"


def answer_of(verdict: str) -> str:
    """The verdict on a question: yes, no, or what else it says."""
    word = re.split("[, ]", verdict)[0]
    return word if word in ("yes", "no") else kind_of(verdict)


VERDICTS = ("reproduced", "in part", "not reproduced", "not clear", "not tested")


def counts_of(kinds: list[str]) -> str:
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in VERDICTS if kind in kinds)


def kind_of(verdict: str) -> str:
    for kind in ("not tested", "not reproduced", "not clear", "in part"):
        if verdict.startswith(kind):
            return kind
    return {"yes": "reproduced", "no": "not reproduced"}.get(re.split("[, ]", verdict)[0], "reproduced")


def all_in_all(kinds: list[str]) -> str:
    """The verdict on a claim of several rows: in part if they differ and some part of it holds."""
    if len(set(kinds)) == 1:
        return kinds[0]
    if "reproduced" in kinds or "in part" in kinds:
        return "in part"
    return "not reproduced" if "not reproduced" in kinds else "not clear"


@table("article-primary-passed")
def primary_passed(read) -> str:
    """How many of the reproduced lines a net passes that lacks what the claim is about, and how many were not tried."""
    rows = [row_of(read, name) for _, _, name, _ in shown_rows(read)]
    reproduced = [row for row in rows if row["verdict"].startswith("reproduced")]
    passed = sum(row["passed_by"] != "" for row in reproduced)
    untried = sum(not row["controls"] for row in reproduced)
    text = f"a simpler net passes, too, in {passed} of the {len(reproduced)} rows that are reproduced"
    return f"{text}, and in {untried} others no simpler net was tried" if untried else text


# ---- Questions whose results may be awaited -------------------------------------------------------------------------


def rows_measured(read, question: str) -> list[dict]:
    """The rows of the ledger that rest on this question's results."""
    return [row for row in claims_of(read) if question in row["results"] and is_tested(row)]


def verdicts(read, question: str) -> str:
    """A line for each row that rests on this question's results; nothing before it is measured."""
    lines = []
    for row in rows_measured(read, question):
        asked = cell(without_brackets(row["claim"]))
        passed = f"; passed, too, by {cell(row['passed_by'])}" if row["passed_by"] else ""
        lines.append(f"- {asked[0].upper()}{asked[1:]}: **{cell(row['verdict'])}**{passed}.")
    return "\n\n" + "\n".join(lines) + "\n\n" if lines else ""


BLOCK_OF = {  # {kind of what_trains: its equation}
    "none": "plain: $y = H$",
    "skip": "$y = x + H$",
    "skip / sqrt L": "$y = x + H / \\sqrt{L}$",
    "rezero": "$y = x + \\alpha H$, $\\alpha$ learned, 0 at the start",
    "convex": "$y = (1 - a)\\, x + a H$, $a = \\sigma(b_T)$ fixed",
    "static scalar": "the same, $a$ learned, one a block",
    "static unit": "the same, $a$ learned, one a unit",
    "sees x": "highway: the same, $a = \\sigma(W_T x + b_T)$",
    "uncoupled": "$y = x + a H$, $a = \\sigma(W_T x + b_T)$",
}
BEGIN_ALIKE = ("convex", "static scalar", "static unit", "sees x")  # with the same b_T, start and depth
DEPTHS_SHOWN = (30, 100, 300)
BARELY = 1.5  # a loss above this is near that of guessing, 2.3
NEAR_THE_BOUND = -2.0  # log10 of a gradient


@table("article-what-trains")
def what_trains(read) -> str:
    """How the design was, what was predicted right, a table of the kinds, and the picture; nothing before it is
    measured."""
    if not rows_measured(read, "what_trains"):
        return ""
    summary = read("results/what_trains.json")["summary"]
    [defined] = with_settings(summary, row="definitions")
    predictors = {row["predictor"]: row for row in with_settings(summary, row="predictor")}
    right = {name: f"{row['right_where_tested']:.3f}" for name, row in predictors.items()}
    gradient = predictors["gradient"]
    low, high = gradient["interval"]
    cells = with_settings(summary, row="cell")
    barely = sum(cell["trains"] and max(cell["loss"]) > BARELY for cell in cells)
    deep = [cell for cell in cells if cell["depth"] >= 100]
    near = [cell for cell in deep if gradient["low"] <= cell["gradient"] <= NEAR_THE_BOUND]
    wrong = [cell for cell in deep if cell["trains"] != cell["predicted"]]
    wrong_there = sum(cell in near for cell in wrong)
    starts, right_starts, low_of_starts, high_of_starts = distinct_starts(deep)
    [sees_x] = with_settings(summary, row="gate", kind="sees x")
    agree = sees_x["cells"] - sees_x["gate_alone"] - sees_x["convex_alone"]
    asked = "; ".join(
        f"{ASKED_OF_TRAINING.get(row['id'], cell(without_brackets(row['claim'])))}: **{cell(row['verdict'])}**"
        for row in rows_measured(read, "what_trains")
    )
    design = (
        "**A factorial design** takes start and gate apart (`what_trains`).",
        f"Its {defined['cells']} *cells* are combinations of nine kinds of block (in the table), four values of $b_T$,",
        "and 10, 30, 100 or 300 blocks with one of three starts and tanh (the program's, Glorot's, and orthogonal",
        "weights), or 30 or 100 blocks with He's start and ReLU.",
        "Training is SGD with momentum on 6 000 images, with the gradient clipped at norm 1.",
        "A cell *trains* if at the best of four rates all three seeds end, after 12 epochs, with a training loss below",
        f"{defined['trains_below']:.2f}, which is 0.9 times that of guessing.",
        f"The bar is low: of the {sum(entry['trains'] for entry in cells)} cells that train, {barely} have a seed",
        f"with a loss above {BARELY}.",
        "Rules and expectations were written before the runs (commit 253e2b8), but after a pilot of one epoch.",
    )
    prediction = (
        "We predicted from the untrained nets alone which cells train: those where the ratio of the gradient's length",
        "at the first block to that at the last lies between",
        f"$10^{{{gradient['low']:.2f}}}$ and $10^{{{gradient['high']:.2f}}}$.",
        "These bounds were set on the cells of depths 10 and 30;",
        "so a gradient *survives* here even if it shrinks some thousandfold.",
        f"Of the {defined['test_cells']} cells of depths 100 and 300, {defined['test_cells_that_train']} train,",
        f"and the prediction is right for a share of {right['gradient']} (95 %: {low:.3f} to {high:.3f}).",
        "That takes cells as independent, though convex, static and highway nets of one $b_T$ begin alike.",
        f"In {right_starts} of the {starts} distinct starts all cells are predicted right, a share of",
        f"{right_starts / starts:.3f} ({low_of_starts:.3f} to {high_of_starts:.3f}; computed after looking).",
        f"Most cells are easy. Of the {len(near)} with a ratio between the low bound and 0.01,",
        f"{sum(entry['trains'] for entry in near)} train, and",
        f"{'all' if wrong_there == len(wrong) else f'{wrong_there} of the'} {len(wrong)} wrong predictions lie there.",
        "Of other predictors, these shares are right: of the distance that two images' states keep",
        f"{right['distance']}; of the mean field, which knows the variance of the weights but not the weights,",
        f"{right['mean field']}; of the singular values of the whole stack {right['singular values']}.",
        f"Two never look at the weights: what the blocks carry, {right['carry']},",
        f"and whether the same cell trains at depth 30, {right['as at 30']}.",
    )
    gates = (
        f"In {agree} of {sees_x['cells']} pairs a highway net and a net of fixed gates (*convex*) with the same start",
        f"both train or both fail; in {sees_x['convex_alone']} only the fixed gates train,",
        f"and in {sees_x['gate_alone']} only the highway net.",
        "Both begin alike, so this shows only that in 12 epochs gates hardly ever learn to open a path that was shut.",
        good_starts(cells),
        f"Our own questions, and their verdicts: {asked}.",
    )
    shown = (
        "![Cells at their gradient before training. Full marks train, hollow ones do not; grey is predicted to train, "
        "and orange marks are predicted wrongly. Ratios beyond the axis are drawn at its ends.]"
    )
    paragraphs = "\n\n".join(" ".join(sentences) for sentences in (design, prediction, gates))
    shown_below = f"{kinds_that_train(cells)}{not_fitting(cells)}\n\n{shown}(../viz/what_trains.png)\n\n"
    return f"\n\n{paragraphs}{shown_below}"


ASKED_OF_TRAINING = {  # {row of what_trains: what it asks, in short}
    "start-says-what-trains": "does the untrained net tell what trains",
    "weights-say-more-than-the-carry": "does its gradient tell more than the two that never look at the weights",
    "gate-trains-what-a-fixed-mixture-does-not": "do learned gates train where fixed ones do not",
    "plain-trains-from-a-good-start": "does a plain net train at 30, 100 and 300 blocks from a good start",
}


STARTS = {"program": "the program's", "glorot": "Glorot's", "orthogonal": "orthogonal"}


def good_starts(cells: list[dict]) -> str:
    """From which starts plain nets train at all depths that are shown, and how well at the largest."""
    plain = [entry for entry in cells if entry["kind"] == "none" and entry["activation"] == "tanh"]
    names = list(dict.fromkeys(entry["start"] for entry in plain))
    good = [
        name
        for name in names
        if all(entry["trains"] for entry in plain if entry["start"] == name and entry["depth"] in DEPTHS_SHOWN)
    ]
    deepest = [entry for entry in plain if entry["start"] in good and entry["depth"] == DEPTHS_SHOWN[-1]]
    losses = [f"{min(entry['loss']):.2f} to {max(entry['loss']):.2f} ({STARTS[entry['start']]})" for entry in deepest]
    return (
        f"Plain nets train at 30, 100 and 300 blocks from {len(good)} of the {len(names)} starts; "
        f"at {DEPTHS_SHOWN[-1]} blocks their losses are {' and '.join(losses)}."
    )


def distinct_starts(cells: list[dict]) -> tuple[int, int, float, float]:
    """How many different starts the cells have, for how many all cells are predicted right, and the 95 % interval
    (Clopper and Pearson) of that share."""
    from scipy.stats import binomtest  # imported here: it takes a second

    is_right = {}
    for entry in cells:
        kind = "mixture" if entry["kind"] in BEGIN_ALIKE else entry["kind"]
        start = (kind, entry["gate_bias"], entry["start"], entry["activation"], entry["depth"])
        is_right[start] = is_right.get(start, True) and entry["trains"] == entry["predicted"]
    right = sum(is_right.values())
    interval = binomtest(right, len(is_right)).proportion_ci(0.95)
    return len(is_right), right, float(interval.low), float(interval.high)


def lowest_loss(cells: list[dict], kind: str, depth: int) -> str:
    """The lowest mean loss of this kind's cells with tanh that train, over starts, biases and rates."""
    found = [entry for entry in cells if entry["kind"] == kind and entry["depth"] == depth and entry["trains"]]
    losses = [np.mean(entry["loss"]) for entry in found if entry["activation"] == "tanh"]
    return f"{min(losses):.2g}" if losses else "-"


def kinds_that_train(cells: list[dict]) -> str:
    """A line for each kind: its equation, how many of its deep cells train, and the lowest loss at three depths."""
    lines = []
    for kind, equation in BLOCK_OF.items():
        deep = [entry for entry in cells if entry["kind"] == kind and entry["depth"] >= 100]
        train = sum(entry["trains"] for entry in deep)
        share = f" ({100 * train / len(deep):.0f} %)" if deep else ""
        shown = [kind, equation, f"{train} of {len(deep)}{share}"]
        shown += [lowest_loss(cells, kind, depth) for depth in DEPTHS_SHOWN]
        lines.append(f"| {' | '.join(shown)} |")
    header = "| kind | block | train at 100 and 300 | lowest loss at 30 | at 100 | at 300 |"
    return table_of(header, lines, (14, 38, 14, 12, 9, 9))


def not_fitting(cells: list[dict]) -> str:
    """How much worse the best plain nets fit than other kinds, at the depths of the test."""
    losses = {kind: [lowest_loss(cells, kind, depth) for depth in (100, 300)] for kind in BLOCK_OF}
    words = {"none": "plain", "sees x": "highway", "rezero": "rezero", "skip / sqrt L": "skip / sqrt L"}
    said = "; ".join(f"{name} {' and '.join(losses[kind])}" for kind, name in words.items())
    return (
        "**Training is not fitting.** The table's losses are the lowest over starts, biases and rates, chosen after "
        f"looking. At 100 and 300 blocks they are: {said}. "
        "So from its best start a plain net trains, but fits several times worse at these depths. "
        "The lowest losses at 30 and 300 blocks are those of *uncoupled* nets, which have a full skip and gates that "
        f"see $x$ ({lowest_loss(cells, 'uncoupled', 30)} and {lowest_loss(cells, 'uncoupled', 300)}); "
        "they had four biases to choose from, and rezero none."
    )


@table("article-best-plain-loss", kind="none")
@table("article-best-highway-loss", kind="sees x")
@table("article-best-rezero-loss", kind="rezero")
def loss_at_100(read, kind: str) -> str:
    """The lowest loss of a kind at 100 blocks in `what_trains`."""
    return lowest_loss(with_settings(read("results/what_trains.json")["summary"], row="cell"), kind, 100)


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


CLAIM_OF_PATHS = {  # {row of paths: the claim, in short}
    "one-block-deleted": "one block deleted hardly matters in a residual net; a plain net falls to chance",
    "deleting-many-is-smooth": "a residual net's error rises smoothly with the blocks deleted",
    "reordering-is-smooth": "and with the blocks swapped",
    "idle-layers-are-hard-to-get-in-plain-nets": "idle layers are difficult to obtain in plain nets",
    "gradient-from-short-paths": "most of a residual net's gradient comes from short paths",
    "blocks-refine-the-same-features": "highway and residual blocks “iteratively refine”",
    "residual-blocks-follow-the-gradient": "residual blocks move the state against the gradient of the loss",
    "higher-residual-blocks-refine": "higher residual blocks refine, the first make features",
    "highway-nets-behave-like-ensembles": "do highway nets behave as residual ones do, by Veit's measures?",
    "highway-nets-refine": "do the headline's highway nets refine?",
    "highway-blocks-follow-the-gradient": "do highway blocks move the state against the gradient?",
}


@table("article-paths")
def paths(read) -> str:
    """What shuffled blocks keep, how long the gradient's way is, and the verdicts with the controls that pass;
    nothing before it is measured."""
    if not rows_measured(read, "paths"):
        return ""
    summary = read("results/paths.json")["summary"]

    def of(kind: str, measure: str, when: str = "trained") -> str:
        return entry_text(select(summary, row="look", kind=kind, when=when)[measure], measure, 2)

    sentences = (
        "**Order and paths.** We changed the order of the blocks in nets of 30 blocks (`paths`: the headline's",
        "protocol, ten seeds a kind, a lower rate for all but the highway nets).",
        "With all blocks shuffled, highway nets keep a share",
        f"of {of('highway', 'kept_shuffled')} of their accuracy above guessing,",
        f"and residual nets {of('residual', 'kept_shuffled')}; equally accurate plain nets keep nothing.",
        "Most of this is there before training: shuffled, an untrained highway net",
        f"keeps {of('highway', 'answers_kept_shuffled', 'at_start')} of its answers,",
        f"a trained one {of('highway', 'answers_kept_shuffled')}.",
        "On average, weighted by its size, the gradient passes back through the $H$ of only",
        f"{of('highway', 'mean_length')} blocks out of 30 in highway nets (gates held fixed), and of",
        f"{of('residual', 'mean_length')} in residual nets.",
        "**This is not yet refinement.**",
        "Applied half-way, the net's own output layer is less accurate than a linear classifier fitted there, by",
        f"{of('highway', 'lag_of_own_reader')} in highway nets",
        f"and {of('residual', 'lag_of_own_reader')} in residual ones.",
        "Highway blocks hardly move the state against the gradient of the loss",
        f"(a cosine of {of('highway', 'mean_cosine')}); residual blocks do ({of('residual', 'mean_cosine')}).",
        "In these nets trained highway blocks look more like an ensemble than like steps of one estimate.",
        "And nets with shut gates, whose blocks do nothing, pass most of these rules:",
        "a smooth rise of the error, short paths and indifference to order do not show that blocks do anything.",
    )
    lines = []
    for row in sorted(rows_measured(read, "paths"), key=place_of):
        passing = [control["control"] for control in row["controls"] if control["passes"]]
        controls = f"{len(row['controls'])} tried"
        if row["controls"]:
            controls += f"; {' and '.join(passing)}" if passing else "; none passes"
        short = CLAIM_OF_PATHS.get(row["id"], without_brackets(row["claim"]))
        cells = [
            source_of(row),
            cell(short),
            HOLDS_IF.get(row["id"], "-"),
            cell(controls),
            in_bold(row["verdict"].partition(";")[0]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    header = "| source | claim or question | holds if | controls, and those that pass | verdict |"
    return f"\n\n{' '.join(sentences)}{table_of(header, lines, (12, 28, 26, 20, 14))}"


def place_of(row: dict) -> int:
    names = list(CLAIM_OF_PATHS)
    return names.index(row["id"]) if row["id"] in names else len(names)


def source_of(row: dict) -> str:
    """Whose claim a row judges, with the year; a question of our own is called so."""
    if row["kind"] == "open question":
        return "our question"
    return cell(row["source"].partition(",")[0].replace(" and others", " et al."))


@table("article-best-start")
def best_start(read) -> str:
    """The verdicts where both kinds have their best start; nothing before it is measured."""
    if not rows_measured(read, "best_start"):
        return ""
    sentence = "With five whole searches of each kind, which also search the start (`best_start`):"
    return f"\n\n{sentence}{verdicts(read, 'best_start')}"


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
    "best_start": "by what factor a plain net's loss exceeds a highway net's when both have their best start",
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
    ("", "residual, 16 maps", "table1", {"width": 16, "block": "residual"}, None),
    ("", "16 maps, batch normalisation", "table1", {"width": 16, "block": "highway-bn"}, None),
    ("2", "A, 11 layers", "cifar", {"net": "highway-a", "block": "highway"}, ("table_2", "highway-a")),
    ("", "plain A", "cifar", {"net": "highway-a", "block": "plain"}, None),
    ("", "plain maxout A", "cifar", {"net": "highway-a", "block": "plain-maxout"}, None),
    ("", "B, 19 layers", "cifar", {"net": "highway-b", "block": "highway"}, ("table_2", "highway-b")),
    ("", "plain B", "cifar", {"net": "highway-b", "block": "plain"}, None),
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


@table("article-short-of-table-2")
def short_of_table_2(read) -> str:
    """How far Highway A, trained for 400 epochs, is below the paper's number."""
    paper = read("data/published.json")["table_2"]["highway-a"]["mean"]
    summary = [row for row in read("results/cifar.json")["summary"] if row.get("protocol") == "paper"]
    return f"{100 * (paper - select(summary, net='highway-a')['test_accuracy']['mean']):.1f}"


@table("article-error-replaced")
def error_replaced(read) -> str:
    """The training error on CIFAR-100, in percent, if T is replaced by its mean of each unit."""
    summary = read("results/static_gates.json")["summary"]
    return f"{100 * select(summary, row='replaced', data='CIFAR-100', by='unit')['error_replaced']['mean']:.0f}"


@table("article-program-over-seeds")
def program_over_seeds(read) -> str:
    """The published program's accuracy of thirty highway layers over its seeds."""
    accuracies = read("data/published.json")["program"]["seeds"]["highway"]
    return f"{mean_and_sd(accuracies)} over {len(accuracies)}"


@table("article-highway-grows", row="highway-no-worse-with-depth", of="100 over 10 layers")
@table("article-less-than-one-layer", row="depth-is-of-use", of="at its own rate, 1.849,")
def part_of_row(read, row: str, of: str) -> str:
    """One number of a row of the ledger, with its interval and count."""
    numbers = row_of(read, row)["ours"]
    found = re.search(rf"{re.escape(of)} (\S+ \([^)]*\))", numbers)
    if not found:
        raise LookupError(f"{row} has no number {of}")
    return found[1]


@table("article-plain-grows")
def plain_grows(read) -> str:
    """The loss of plain nets of 100 layers over that of 10."""
    nets = with_settings(read("results/optimization.json")["summary"], row="net", block="plain")
    loss = {net["depth"] + 1: net["loss"]["mean"] for net in nets}
    return f"{loss[100] / loss[10]:.0f}"


BIASES = re.compile(r"(\w+): best ([-\d, ]+), highest ([-\d, ]+)")


@table("article-best-biases")
def best_biases(read) -> str:
    """A table of the best gate bias, and of the highest that trains, by depth."""
    numbers = row_of(read, "more-negative-with-depth")["ours"]
    depths = re.search(r"at ([\d, ]+) layers", numbers)[1].split(", ")
    lines = []
    for activation, best, highest in BIASES.findall(numbers):
        name = {"relu": "ReLU"}.get(activation.lower(), activation)
        for words, values in (("lowest loss", best), ("highest that trains", highest)):
            lines.append(f"| {name}, {words} | {' | '.join(values.strip(', ').split(', '))} |")
    header = f"| $b_T$ at this many layers | {' | '.join(depths)} |"
    return table_of(header, lines, (28, *[8] * len(depths)))


@table("article-draws")
def draws(read) -> str:
    """How many draws a search of Figure 1 has."""
    fewest, most = (read(f"results/{name}.json")["settings"]["trials"] for name in ("optimization", "wider_rates"))
    return f"{fewest} to {most}"


# ---- What it cost ---------------------------------------------------------------------------------------------------


def steps_of_everything() -> list:
    from experiments import everything  # imported here: it imports what trains, and pictures need JSON alone

    return everything.all_steps()


NOT_TOLD = {  # groups of questions of which the article tells nothing
    "What do gates say of a market?": "Do gates tell a simulated market's regime? (not in this article)",
}


@table("article-hours")
def hours(read) -> str:
    """Core-hours by what a reader asks, as `everything --plan` counts them."""
    steps = {step.name: step for step in steps_of_everything()}
    lines = []
    counted_already = set()
    for group, names in GROUPS.items():
        title = NOT_TOLD.get(group, group)
        of_group = [steps[name] for name in names if name in steps]
        counted_already.update(step.name for step in of_group)
        lines.append(line_of_hours(title, of_group))
    others = [step for name, step in steps.items() if name not in counted_already]
    lines.append(line_of_hours("The headline's runs, and the rest", others))
    lines.append(line_of_hours("In all", list(steps.values())))
    header = "| what is asked | commands | core-hours | long trainings, in addition |"
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
    r"were known|was known before|\bat first\b|added after"
)


@table("article-rules-after")
def rules_after(read) -> str:
    """How many tested rows say that runs had been seen when something of their rule was chosen or changed."""
    rows = [row for row in claims_of(read) if is_tested(row)]
    return f"{sum(bool(SEEN.search(row['note'])) for row in rows)} of {len(rows)}"


@table("article-rows")
def ledger_rows(read) -> str:
    return str(len(claims_of(read)))


# ---- Pictures -------------------------------------------------------------------------------------------------------

# {net of the headline or control: (as the picture names it, colour, marker)}
NETS_OF_DEPTH_30 = {
    "plain": ("plain", COLOR["plain"], MARKER["plain"]),
    "highway": ("highway", COLOR["highway"], MARKER["highway"]),
    "a net whose gates stay shut": ("highway, gates held shut", COLOR["highway"], "x"),
    "a net of random gates": ("highway, gates do not learn", COLOR["highway"], "+"),
    "a net without blocks": ("no blocks", GREY, "D"),
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
        note(ax, f"{mean:.2f}", (1, place), (6, 0), color, ha="left", va="center", annotation_clip=False)
    ax.axvline(CHANCE, color=GREY, ls=":")
    note(ax, "chance", (CHANCE, len(by_net) - 1), (4, 0), GREY, ha="left", va="center")
    names = [NETS_OF_DEPTH_30[net][0] for net in by_net]
    ax.set(yticks=range(len(names)), yticklabels=names, xlim=(0, 1))
    ax.set_xlabel("test accuracy; a mark: one seed; at the right edge: their mean")
    ax.invert_yaxis()
    ax.margins(y=0.12)
    headline(
        fig,
        "Thirty plain layers stay at chance; five nets that pass the input on, or start well, reach about 0.9",
    )
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
    of_plain = f"plain nets' loss grows {growth['plain']:.0f}-fold"
    of_highway = f"highway nets' {growth['highway']:.1f}-fold"
    headline(fig, f"With depth, from 10 to 100 layers, {of_plain}, {of_highway} (after 20 epochs)")
    return fig


OVER = 7  # epochs that a point of the picture is a mean of
OF_THE_LOG = {
    "paper": ("ours, normalised contrast", COLOR["highway"]),
    "whitened": ("ours, whitened images", OTHERS[1]),
    "earlier log": ("the authors' earlier log", "0.6"),
}
COMPARED_FROM = 10  # the epoch from which on the text compares
STOPPED_EARLY = ("paper", "whitened")  # before the 400 epochs of the log


def less_the_log(row: dict) -> tuple[np.ndarray, np.ndarray]:
    """(epochs, points of accuracy above the authors' log), means over some epochs, each at the middle one."""
    points = 100 * np.convolve(row["differences"], np.full(OVER, 1 / OVER), "valid")
    return np.arange(len(points)) + 1 + OVER // 2, points


@table("article-largest-differences")
def largest_differences(read) -> str:
    """The largest differences from the authors' log, in points, from an epoch on."""
    said = []
    for row in with_settings(read("results/cifar.json")["summary"], row="less the log"):
        words, _ = OF_THE_LOG[row["training"]]
        epochs, points = less_the_log(row)
        said.append(f"{np.abs(points[epochs >= COMPARED_FROM]).max():.1f} points ({words})")
    return ", ".join(said)


@picture("cifar")
def article_log(record):
    """The test accuracy of the 19 layers less that of the authors' log, epoch by epoch."""
    fig, ax = panels(1, 1, 2.9)
    for row in with_settings(record["summary"], row="less the log"):
        words, color = OF_THE_LOG[row["training"]]
        epochs, points = less_the_log(row)
        ax.plot(epochs, points, color=color, lw=1.6, label=words)
        if row["training"] in STOPPED_EARLY:
            ax.plot(epochs[-1], points[-1], "o", color=color, ms=5)
            note(ax, "stopped", (epochs[-1], points[-1]), (6, 4), color, ha="left")
    ax.axhline(0, color="black", lw=1)
    ax.set(xlabel="epoch", ylabel="points of test accuracy\nabove the authors' log")
    ax.legend(loc="lower right")
    headline(
        fig,
        "On whitened images our run stays near the authors' log until it stops; on normalised contrast it falls behind",
        f"19 layers, CIFAR-10, one run each; means over {OVER} epochs",
    )
    return fig
