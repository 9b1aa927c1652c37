"""Writes pages/claims.html, a table of all claims: what was measured, what the rule asks, the verdict, and at
which bound it would turn.  It is a single file that a browser opens from disk.

    python -m pages.make_claims

Its numbers are those of experiments/results/claims.json.  pages/claims/ has the page around the table, its
style, and the search, without which the table is all there, too."""

from __future__ import annotations

import html
import inspect
import math
import re
from pathlib import Path

from experiments import all_questions
from experiments.index import without_brackets
from experiments.primary.primary import PRIMARY
from highways.commands import duration, run_program
from highways.files import ROOT
from highways.lab.judging.claim import Claim, tested_as_text
from highways.lab.judging.controls import ANSWERS, by_outcome, listed, verdict_on
from highways.lab.judging.ledger import FOR_NOT_MEASURED, NOT_TRIED, SEEN, history_of
from highways.lab.judging.turns import Bound, Turn, bounds_of, turns_of
from highways.records import load_results
from highways.verdict import VERDICTS, Verdict
from pages.parts import MENU, RAISED, STYLE, page_of, run_page_command

LEDGER = ROOT / "experiments" / "results" / "claims.json"
PARTS = ROOT / "pages" / "claims"
PAGE_PARTS = STYLE, MENU, "page.css", "page.js"
MINUS = re.compile(r"(?<![\w)-])-(?=\w)|(?<= )-(?= )")  # of a number or a name, and between two
POWER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)\b")
MARKS = {  # what a verdict looks like
    "reproduced": "holds",
    "in part": "partly",
    "not reproduced": "fails",
    "not clear": "unclear",
    "not tested": "untested",
}
LONG = 200  # letters: what is longer stands in a row's details
FEW = 3  # samples that a row names


# ---- What the table says of a claim -------------------------------------------------------------


def why_fixed(row: dict) -> str:
    """Why no bound of a row can be moved; "" if each part is what one of its tests answers, whatever that is:
    test_claims.py asks every claim."""
    if row["verdict"] == "not tested":
        return "it is not tested yet"
    if row["parts"] is None:
        return "the verdict rests on single runs and the error of their test images, or on words"
    if not row["tests"]:
        return "the rule counts, or compares numbers without a test"
    if any(test["rule"] == "fewer lost" for test in row["tests"]):
        return "seeds were lost, and the rule compares how many"
    if [test["holds"] for test in row["tests"]] != row["parts"]:
        return "the rule combines its tests in a way of its own"
    return ""


def tests_of(row: dict) -> list[dict]:
    """The tests of a row, each as its rule says it."""
    return [turned(test) if says_below(test) else test for test in row["tests"]]


def says_below(test: dict) -> bool:
    """Whether a test that the ledger keeps as a / b > 1 / bound stands in its rule as b / a < bound."""
    return test["log10"] and test["rule"] == "above" and math.copysign(1, test["bounds"][0]) < 0


def turned(test: dict) -> dict:
    """The same test with its samples in the other order: b - a < -bound for a - b > bound."""
    return {
        **test,
        "rule": "below",
        "values": test["baseline"],
        "baseline": test["values"],
        "names": test["names"][::-1],
        "bounds": [-bound or 0.0 for bound in test["bounds"]],
        "spreads": test["spreads"][::-1],
    }


def sources_of(source: str) -> list[str]:
    """Who says a claim: of "paper, 2.2; blog" the paper and the blog."""
    return [part.split(",")[0] for part in re.split("; |, and the ", source)]


def primary_number(id: str) -> int | None:
    """Which of the ten primary claims this row of the ledger judges; None if it judges none of them."""
    for number, rows in enumerate(PRIMARY.values(), 1):
        if id in rows:
            return number
    return None


def why_no_control(claim: Claim, row: dict) -> str:
    """Why a row that is judged has no control; "" if it has one."""
    if row["controls"] or row["verdict"] == "not tested":
        return ""
    if row["kind"] == "count":
        return "what is counted or follows by algebra needs no trained net"
    if claim.no_control:
        return claim.no_control
    return "no simpler net was tried, since no part of this claim holds" if claim.controls else NOT_TRIED


# ---- As text ------------------------------------------------------------------------------------


def typeset(text: str) -> str:
    """The text with the signs of print: − for a minus, 2.6 · 10⁻⁶ for 2.6e-06; 95 % and n = 3 are not broken."""
    unbroken = text.replace(" %", "\xa0%").replace("n = ", "n\xa0=\xa0")
    return MINUS.sub("−", POWER.sub(_in_print, unbroken))


def _in_print(number: re.Match) -> str:
    power = "10" + str(int(number[2])).translate(RAISED)
    return power if number[1] == "1" else f"{number[1]} · {power}"


def capital(text: str) -> str:
    """A sentence with its capital; a symbol such as b_T stays."""
    return text[0].upper() + text[1:] if re.match("[a-z]+[ ,:]", text) else text


def plain_number(value: float, test: dict) -> float:
    return 10**value if test["log10"] else value


def bound_as_text(value: float) -> str:
    return typeset(f"{value:.4g}")


def place_as_text(place: float, bound: float) -> str:
    """The place with three digits, or with two of its distance from the bound."""
    digits = 3
    if place and place != bound:
        digits = 2 + math.floor(math.log10(abs(place))) - math.floor(math.log10(abs(place - bound)))
    return typeset(f"{place:.{min(max(digits, 3), 7)}g}")


def name_of(test: dict) -> str:
    """What a test is about: a sample, or two of them."""
    sign = "÷" if test["log10"] else "−"
    names = list(test["names"])
    if not isinstance(test["baseline"], list) and test["baseline"] != 0:
        names.append(bound_as_text(plain_number(test["baseline"], test)))
    return typeset(f" {sign} ".join(names))


def asked_by(test: dict) -> str:
    """What a test asks: "above 0.5", "between 0.45 and 0.75"."""
    bounds = [bound_as_text(plain_number(bound, test)) for bound in test["bounds"]]
    if test["rule"] == "within":
        return f"between {bounds[0]} and {bounds[1]}"
    return " ".join([test["rule"], *bounds])


# ---- As HTML ------------------------------------------------------------------------------------


def marked(text: str) -> str:
    """The text as HTML: typeset, with what stands in ticks as code."""
    parts = []
    for number, part in enumerate(text.split("`")):
        if number % 2 == 0:
            parts.append(html.escape(typeset(part)))
        else:
            parts.append(f"<code>{html.escape(part)}</code>")
    return "".join(parts)


def rule_in_html(bound: Bound, tests: list[dict]) -> str:
    """What the tests of a bound ask, with the names of the first of them."""
    first = tests[bound.tests[0]]
    names = [f"<span>{html.escape(name_of(tests[number]))}</span>" for number in bound.tests]
    asked = f"<b>{asked_by(first)}</b>"
    if len(names) == 1:
        return f"<p>{names[0]} is {asked}</p>"
    if len(names) > FEW:
        names[FEW - 1 :] = [f"and {len(names) - FEW + 1} more"]
    return f"<p>each is {asked}: {'; '.join(names)}</p>"


def turns_in_html(row: dict, number: int, bound: Bound, tests: list[dict], turns: list[Turn]) -> str:
    """Where the verdict turns if this bound moves; `number` is the bound's."""
    test = tests[bound.tests[0]]
    value = plain_number(bound.value, test)
    lines = []
    if test["rule"] == "within":
        lines.append(f"<i>{('lower', 'upper')[bound.end]} bound:</i>")
    for turn in turns:
        place = plain_number(turn.place, test)
        data = f'<data value="{place:.12g}">{place_as_text(place, value)}</data>'
        lines.append(f"<span>turns {turn.side} {data}</span> <span>to {turn.verdict.as_text(row['kind'])}</span>")
    if not turns:
        lines.append("<i>turns nowhere</i>")
    return f'<p class="turn" data-bound="{number}">{" ".join(lines)}</p>'


def nearest(turns: list[Turn]) -> list[Turn]:
    """The first turn on either side of a bound; or all, if they are two."""
    if len(turns) <= 2:
        return turns
    sides = [[turn for turn in turns if turn.side == side] for side in ("above", "below")]
    return [on_side[0] for on_side in sides if on_side]


def bounds_in_html(row: dict) -> tuple[str, str]:
    """What the rule asks and where the verdict turns; and all the turns, where these are more."""
    tests = tests_of(row)
    why = why_fixed(row)
    lines = []
    more = []
    for number, bound in enumerate(bounds_of(tests)):
        if bound.end == 0:
            lines.append(rule_in_html(bound, tests))
        if why:
            continue
        turns = turns_of(bound, tests)
        lines.append(turns_in_html(row, number, bound, tests, nearest(turns)))
        if nearest(turns) != turns:
            if bound.end == 0:
                more.append(rule_in_html(bound, tests))
            more.append(turns_in_html(row, number, bound, tests, turns))
    if why and row["verdict"] != "not tested":
        lines.append(f'<p class="small">no bound to move: {why}</p>')
    return "\n".join(lines) or "–", "\n".join(more)


def verdict_in_html(row: dict) -> str:
    word = Verdict(row["verdict"]).as_text(row["kind"])
    rest = marked("".join(row["additions"]))
    return f'<span class="verdict"><span class="mark {MARKS[row["verdict"]]}"></span><b>{word}</b>{rest}</span>'


def controls_in_html(row: dict) -> str:
    """Which controls pass, which do not, and which are undecided."""
    if not row["controls"]:
        return "–" if row["verdict"] == "not tested" else "none"
    lines = []
    passing, failing, undecided = by_outcome(row["controls"])
    if passing:
        says = "passed, too, by" if row["verdict"] == "reproduced" else "what holds also holds for"
        lines.append(f"<p><b>{says}</b> {html.escape(listed(passing))}</p>")
    if failing:
        lines.append(f"<p>not passed by {html.escape(listed(failing))}</p>")
    if undecided:
        lines.append(f"<p>undecided for {html.escape(listed(undecided))}</p>")
    return "\n".join(lines)


def parts_in_html(row: dict) -> str:
    """A table of a row's tests; "" if it has none."""
    lines = []
    for number, test in enumerate(tests_of(row), 1):
        if test["rule"] == "fewer lost":
            continue
        asked = f"{html.escape(name_of(test))} is {asked_by(test)}"
        cells = [str(number), asked, typeset(tested_as_text(test)), ANSWERS[test["holds"]]]
        lines.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    if not lines:
        return ""
    head = "<tr><th>part</th><th>the rule asks whether</th><th>measured</th><th>it</th></tr>"
    return "\n".join(["<table>", head, *lines, "</table>"])


def details_in_html(row: dict, claim: Claim, turns: str) -> str:
    """All that a row leaves out, as a list of terms and what is said of them."""
    entries = [("In full", f"<p>{marked(capital(row['claim']))}</p>")]
    if len(row["ours"]) > LONG:
        entries.append(("Measured", f"<p>{marked(row['ours'])}</p>"))
    entries += [("Parts", parts_in_html(row)), ("All turns", turns)]
    controls = []
    for control in row["controls"]:
        says = f"{control['control']} {verdict_on(control, row['kind'])} ({control['ours']})"
        controls.append(f"<li>{marked(says)}</li>")
    if controls:
        entries.append(("Controls", f"<ul>{''.join(controls)}</ul>"))
    why_none = why_no_control(claim, row)
    if why_none:
        entries.append(("No control", f"<p>{marked(capital(why_none))}</p>"))
    if claim.note:
        entries.append(("Caveat", f"<p>{marked(capital(claim.note))}</p>"))
    commands = " and ".join(f"<code>{command}</code>" for command in row["commands"])
    if commands:
        entries.append(
            ("Measure it", f"<p>{commands}: {minutes_as_text(row['minutes_on_two_cores'])} on two cores</p>")
        )
    file = Path(inspect.getsourcefile(claim.rule)).resolve().relative_to(ROOT)
    rule = f'<code>{claim.rule.__name__}()</code> in <a href="../{file}">{file}</a>'
    entries.append(("Its rule", f'<p>{rule}; <a href="../{file.parent}/README.md">the experiment</a></p>'))
    if claim.seen:
        entries.append(("Its history", f'<p>{capital(SEEN)}: <a href="../{history_of(claim)}">which part</a></p>'))
    return "\n".join(f"<dt>{name}</dt><dd>{says}</dd>" for name, says in entries if says)


def minutes_as_text(minutes: float) -> str:
    return duration(60 * minutes) if minutes > 1.5 else "less than two minutes"


def row_in_html(row: dict, claim: Claim) -> str:
    """A claim as a body of the table: a row, and below it the details."""
    number = primary_number(row["id"])
    source = marked(row["source"])
    if row["kind"] == "open question" and not source.startswith("a question"):
        source += " · a question"
    if number is not None:
        source = f"primary claim {number} of 10 · {source}"
    title = marked(capital(without_brackets(row["claim"])))
    measured = marked(row["ours"])
    if row["ours"] == FOR_NOT_MEASURED:
        measured = "–"
    elif len(row["ours"]) > LONG:
        measured = "in the details"
    rule, turns = bounds_in_html(row)
    sources = html.escape(";".join(sources_of(row["source"])))
    return f"""<tbody id="claim={row["id"]}" data-verdict="{row["verdict"]}" data-sources="{sources}">
<tr>
<th scope="row"><p class="title">{title}</p><p class="small">{source}</p></th>
<td data-label="measured">{measured}</td>
<td data-label="the rule">{rule}</td>
<td data-label="verdict">{verdict_in_html(row)}</td>
<td data-label="controls">{controls_in_html(row)}</td>
</tr>
<tr class="more"><td colspan="5"><details><summary>details<span class="unseen">: {title}</span></summary>
<dl>
{details_in_html(row, claim, turns)}
</dl></details></td></tr>
</tbody>"""


def table_in_html(rows: list[dict]) -> str:
    """The bodies of the table: the ten primary claims first, the others in the ledger's order."""
    claims = {claim.id: claim for question in all_questions() for claim in question.claims}
    in_order = sorted(rows, key=lambda row: primary_number(row["id"]) or len(PRIMARY) + 1)
    return "\n".join(row_in_html(row, claims[row["id"]]) for row in in_order)


def options(counts: dict[str, int]) -> str:
    return "\n".join(
        f'<option value="{html.escape(name)}">{html.escape(name)} ({n})</option>' for name, n in counts.items()
    )


def page(ledger: dict) -> str:
    """The page with this ledger."""
    rows = ledger["trials"]
    of_verdicts = [row["verdict"] for row in rows]
    of_sources = [source for row in rows for source in sources_of(row["source"])]
    data = {
        "rows": table_in_html(rows),
        "count": str(len(rows)),
        "verdicts": options({verdict: of_verdicts.count(verdict) for verdict in VERDICTS}),
        "sources": options({source: of_sources.count(source) for source in dict.fromkeys(of_sources)}),
    }
    return page_of(PARTS, PAGE_PARTS, data)


def whole_page() -> str:
    return page(load_results(LEDGER))


def main(argv=None) -> int:
    return run_page_command(argv, "claims.html", "a table of the claims and their verdicts", whole_page)


if __name__ == "__main__":
    run_program(main)
