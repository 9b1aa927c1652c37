"""The table of the ten primary claims."""

from __future__ import annotations

import re

from docs.article.ledger_rows import is_tested, row_of, table_of
from docs.article.tables_1_to_3 import accuracy_in_paper
from docs.article.ten_claims import Primary, shown_rows
from highways.lab.judging.controls import by_outcome
from highways.lab.showing.registry import table
from highways.lab.showing.tables import cell
from highways.records import select
from highways.verdict import ONE_RUN, Verdict

HEADER = "| | claim, and its source | holds if | here, with 95 % intervals | n | simpler nets | verdict |"
WIDTHS = (2, 22, 22, 37, 3, 20, 11)  # of the columns, as a share of their sum
IN_SHORT = {  # a control, as the table names it
    "a net without blocks": "no blocks",
    "a net whose gates stay shut": "shut gates",
    "a net of random gates": "random gates",
    "an untrained net": "untrained",
    "a plain net with its best start": "plain from its best start",
    "a net of one hidden layer": "one hidden layer",
    "plain nets from orthogonal weights in highway's place": "orthogonal plain for highway",
    "plain nets from orthogonal weights in plain's place": "orthogonal plain for plain",
}


@table("article-primary")
def primary_table(read) -> str:
    lines = []
    for number, primary, name in shown_rows(read):
        row = row_of(read, name)
        verdict = Verdict.of(row)
        if not is_tested(row):
            verdict = Verdict(verdict.word, verdict.additions[:1])  # without accuracies, which have a column
        cells = [
            number,
            f"{primary.claim} ({in_paper(read, primary)})",
            primary.holds_if,
            cell(compact(row["ours"])),
            counted(read, row, primary),
            simpler_nets(row["controls"]),
            f"**{cell(verdict.as_text())}**",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    notes = (
        "*Simpler nets*: other nets that went through the same rule in the place of highway nets.",
        "Those *for plain* stood in the place of plain nets: unless they pass, the claim is weaker.",
        "A net without blocks has the settings of the deep nets, one of one hidden layer has its own.",
        "± is a standard deviation over *n* seeds, or over *n* searches, intervals are in brackets.",
    )
    return f"{table_of(HEADER, lines, WIDTHS)}{' '.join(notes)}\n\n"


def simpler_nets(controls: list[dict]) -> str:
    """Which controls pass a row's rule, which do not, and which are undecided."""
    told = []
    for outcome, names in zip(("pass", "do not pass", "undecided"), by_outcome(controls), strict=True):
        if names:
            told.append(f"{outcome}: {', '.join(IN_SHORT[name] for name in names)}")
    return "; ".join(told) or "none tried"


def compact(text: str) -> str:
    """A row's numbers with each interval as "(low to high)", and without counts, which have a column."""
    text = text.replace("short protocol", "short recipe").replace("another recipe", "short recipe")
    text = text.replace("b_T", "$b_T$").replace("mean T", "mean $T$")
    text = re.sub(r"\(95 %: ([^,;()]*)[^()]*\)", r"(\1)", text)
    text = re.sub(r" ?\(n = [^()]*\)| \(95 % prediction interval [^()]*\)", "", text)
    return re.sub(r"(?<![\w)])-(?=\d)", "\N{MINUS SIGN}", text)


def counted(read, row: dict, primary: Primary) -> str:
    """How many nets, or searches, stand behind a row."""
    if ONE_RUN in row["additions"] or not is_tested(row):
        return "1"
    if primary.groups:
        budgets = [read("experiments/results/primary.json")["settings"][group] for group in primary.groups]
        return ", ".join(str(budget.get("searches") or budget["seeds"]) for budget in budgets)
    of_width = {"width": int(primary.paper[-2:]), "block": "highway", "protocol": "paper"}
    return str(select(read("experiments/results/table1.json")["summary"], **of_width)["test_accuracy"]["n"])


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
