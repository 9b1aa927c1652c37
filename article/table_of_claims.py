"""The table of the ten primary claims."""

from __future__ import annotations

import re
from decimal import Decimal

from article.ledger_rows import HOLDS_IF, in_bold, is_tested, row_of, table_of
from article.tables_1_to_3 import accuracy_in_paper
from article.ten_claims import EARLIER, Primary, shown_rows
from highways.lab.showing.pages import number_in
from highways.lab.showing.registry import table
from highways.lab.showing.style import NO_BREAK
from highways.lab.showing.tables import cell
from highways.statistics import spaced

# {row whose numbers do not say how many nets they are of: (record, entry, settings) that does}
COUNTED_IN = {
    "two-orders-at-100-wide": ("wider_rates", "loss", "row=net, block=plain"),
    "two-orders-at-100-in-400-epochs-wide": ("figure_1_finals", "loss", "row=net, block=highway, depth=99"),
    "trained-nets-need-their-gates": ("static_gates", "error", "row=replaced, data=MNIST, by=unit"),
    "wide-gates-training-loss": ("static_gates", "training_loss", "row=net, data=MNIST, variant=wide"),
    "wide-gates-test-accuracy": ("static_gates", "training_loss", "row=net, data=MNIST, variant=wide"),
}
HEADER = "| | claim, and its source | holds if | here, with 95 % intervals | n | tried | pass | verdict |"
WIDTHS = (2, 23, 23, 36, 3, 5, 5, 13)  # of the columns, as a share of their sum
LETTERS = "abcdefghijkl"


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
        "A net without blocks has the settings of the deep nets, one of one hidden layer has its own.",
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
    return "".join(sorted(letters[control["control"]] for control in controls)) or "-"


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

    text = f"of {nets} nets at each of {depths} layers, {share(hard)} fail to train"
    return text if share(soft) == "none" else f"{text}; {share(soft)} train, with blocks that do nothing"


def clauses(text: str) -> list[str]:
    """The parts of a row's numbers between semicolons that no bracket encloses."""
    return re.split(r"; (?![^()]*\))", text)


def compact(text: str) -> str:
    """A row's numbers with each interval as "(low to high)", without powers of ten, and without counts, which
    have a column."""
    text = text.replace("short protocol", "short recipe").replace("another recipe", "short recipe")
    text = text.replace("b_T", "$b_T$")
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
