"""The table of the ten primary claims."""

from __future__ import annotations

import re

from docs.article.ledger_rows import in_bold, is_tested, row_of, table_of
from docs.article.tables_1_to_3 import accuracy_in_paper
from docs.article.ten_claims import Primary, shown_rows
from highways.lab.showing.registry import table
from highways.lab.showing.tables import cell

HEADER = "| | claim, and its source | holds if | here, with 95 % intervals | n | tried | pass | verdict |"
WIDTHS = (2, 24, 25, 41, 3, 5, 5, 12)  # of the columns, as a share of their sum
LETTERS = "abcdefghijkl"


@table("article-primary")
def primary_table(read) -> str:
    letters = letters_of_controls(read)
    lines = []
    for number, primary, name in shown_rows(read):
        row = row_of(read, name)
        cells = [
            number,
            f"{primary.claim} ({in_paper(read, primary)})",
            primary.holds_if,
            cell(compact(row["ours"])),
            counted(read, row, primary),
            lettered(letters, row["controls"]),
            lettered(letters, [control for control in row["controls"] if control["passes"]]),
            in_bold(row["verdict"].partition(";")[0]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    tried = "; ".join(f"*{letter}* {cell(control)}" for control, letter in letters.items())
    notes = (
        f"*Tried* and *pass*: simpler or other nets put to the same rule, and those that pass it ({tried}).",
        "Nets in plain's place make a claim harder: there a failure weakens it.",
        "A net without blocks has the settings of the deep nets, one of one hidden layer has its own.",
        "± is a standard deviation over *n* seeds, or over *n* searches, intervals are in brackets.",
    )
    return f"{table_of(HEADER, lines, WIDTHS)}{' '.join(notes)}\n\n"


def letters_of_controls(read) -> dict[str, str]:
    """A letter for each control of the table's rows, in the order in which they appear."""
    names = []
    for _, _, name in shown_rows(read):
        names += [control["control"] for control in row_of(read, name)["controls"]]
    return dict(zip(dict.fromkeys(names), LETTERS, strict=False))


def lettered(letters: dict[str, str], controls: list[dict]) -> str:
    return "".join(sorted(letters[control["control"]] for control in controls)) or "-"


def compact(text: str) -> str:
    """A row's numbers with each interval as "(low to high)", and without counts, which have a column."""
    text = text.replace("short protocol", "short recipe").replace("another recipe", "short recipe")
    text = text.replace("b_T", "$b_T$").replace("mean T", "mean $T$")
    text = re.sub(r"\(95 %: ([^,;()]*)[^()]*\)", r"(\1)", text)
    text = re.sub(r" ?\(n = [^()]*\)| \(95 % prediction interval [^()]*\)", "", text)
    return re.sub(r"(?<![\w)])-(?=\d)", "\N{MINUS SIGN}", text)


def counted(read, row: dict, primary: Primary) -> str:
    """How many nets, or searches, stand behind a row."""
    if "one run" in row["verdict"] or not is_tested(row):
        return "1"
    if primary.groups:
        budgets = [read("experiments/results/primary.json")["settings"][group] for group in primary.groups]
        return ", ".join(str(budget.get("searches") or budget["seeds"]) for budget in budgets)
    return re.search(r"n = (\d+)", row["ours"])[1]


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
