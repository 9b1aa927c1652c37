"""Code may only become easier to read.  A room is a folder, or a file of the root.  No room may
have more faults than tests/density.json says, plus a tolerance.

These faults are counted in each room, per 1000 lines that are not blank:

    pairs     a, b = x, y: several assignments in one; swaps and unpacked results are not counted
    nested    (a, b), c = f(): unpacking within unpacking
    walrus    := within a call, a comprehension or a subscript
    boolmath  text * (a > b): arithmetic in the place of an if
    merges    a |= {...} if b else {...}: a dict merged under a condition
    packed    three or more comprehensions, lambdas, conditions and stars in a statement of at most four lines
    long      lines of 100 characters or more

`python tests/test_density.py` prints the table; `--write` lowers tests/density.json to it.
"""

import ast
import collections
import functools
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tests" / "density.json"
KINDS = ("pairs", "nested", "walrus", "boolmath", "merges", "packed", "long")
TOLERANCE = 2  # per 1000 lines

HARD = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.IfExp, ast.BoolOp, ast.Starred)
NO_PLACE_FOR_WALRUS = (ast.Call, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Subscript)
STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)


def holds(node, kind) -> bool:
    return any(isinstance(inner, kind) for inner in ast.walk(node))


def is_truth(node) -> bool:
    negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return negated or isinstance(node, (ast.Compare, ast.BoolOp))


def is_literal(node) -> bool:
    return isinstance(node, (ast.Tuple, ast.List, ast.Constant, ast.JoinedStr))


def faults_of(node):
    """Yields (kind, node) for what makes this node of a syntax tree hard to read."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if not isinstance(target, ast.Tuple):
                continue
            if any(isinstance(part, (ast.Tuple, ast.List)) for part in target.elts):
                yield "nested", node
            if isinstance(node.value, ast.Tuple):
                names = {ast.unparse(part) for part in target.elts}
                if names != {ast.unparse(part) for part in node.value.elts}:
                    yield "pairs", node
    if isinstance(node, NO_PLACE_FOR_WALRUS):
        for inner in ast.walk(node):
            if isinstance(inner, ast.NamedExpr):
                yield "walrus", inner
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        sides = (node.left, node.right)
        if any(map(is_truth, sides)) and any(map(is_literal, sides)):
            yield "boolmath", node
    is_merge = isinstance(node, ast.AugAssign) and isinstance(node.op, ast.BitOr)
    if is_merge and holds(node.value, ast.IfExp) and holds(node.value, ast.Dict):
        yield "merges", node
    is_short = isinstance(node, STATEMENTS) and node.value is not None and node.end_lineno - node.lineno < 4
    if is_short and sum(isinstance(inner, HARD) for inner in ast.walk(node.value)) >= 3:
        yield "packed", node


def faults_in(text: str) -> list[tuple[str, int]]:
    """(kind, line) of all that makes a program hard to read."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        for kind, at in faults_of(node):
            found.add((kind, at.lineno, at.col_offset))
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) >= 100:
            found.add(("long", number, 0))
    return sorted((kind, line) for kind, line, _ in found)


def tracked_files() -> list[str]:
    command = ["git", "ls-files", "*.py"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


@functools.cache
def count():
    """{room: {kind: faults per 1000 lines}}, and the places {(room, kind): [a line of text each]}."""
    n_lines = collections.Counter()
    places = collections.defaultdict(list)
    for path in tracked_files():
        room = path.split("/")[0]
        text = (ROOT / path).read_text(encoding="utf-8")
        lines = text.splitlines()
        n_lines[room] += sum(bool(line.strip()) for line in lines)
        for kind, number in faults_in(text):
            places[room, kind].append(f"{path}:{number}: {lines[number - 1].strip()}")
    table = {}
    for room, n in n_lines.items():
        table[room] = {kind: round(1000 * len(places[room, kind]) / n, 1) for kind in KINDS}
    return table, places


def written_table() -> dict:
    return json.loads(TABLE.read_text(encoding="utf-8"))


def lowered(old: dict, new: dict) -> dict:
    """The new table, where no room that the old one has is denser than there."""
    result = {}
    for room, counts in new.items():
        before = old.get(room, counts)
        result[room] = {kind: min(before[kind], counts[kind]) for kind in KINDS}
    return result


pytestmark = pytest.mark.xdist_group("density")  # counted once


@pytest.fixture
def counted():
    if not (ROOT / ".git").exists():
        pytest.skip("no clone: git tells which files are the project's")
    return count()


def test_every_room_is_in_the_table(counted):
    rooms, _ = counted
    missing = rooms.keys() - written_table().keys()
    assert not missing, "python tests/test_density.py --write adds them"


@pytest.mark.parametrize("kind", KINDS)
def test_no_room_becomes_denser(counted, kind):
    rooms, places = counted
    for room, allowed in written_table().items():
        now = rooms.get(room, dict.fromkeys(KINDS, 0))[kind]
        longest_first = sorted(places[room, kind], key=len, reverse=True)
        worst = "\n".join(longest_first[:12])
        assert now <= allowed[kind] + TOLERANCE, (
            f"{room}: {now} {kind} per 1000 lines, not {allowed[kind]}: one idea a line.  The worst places:\n{worst}\n"
            "When they are rewritten, python tests/test_density.py --write lowers the table."
        )


@pytest.mark.parametrize(
    ("program", "kinds"),
    [
        ("a, b = 1, f()", ["pairs"]),
        ("a, b = b, a", []),
        ("a, b = f()", []),
        ("(a, b), c = f()", ["nested"]),
        ("g(f(a := 1))", ["walrus"]),
        ("if (a := f()):\n    pass", []),
        ("b = ('gate_bias',) * (a > 0)", ["boolmath"]),
        ("b = 2 * a", []),
        ("a |= {1: 2} if b else {}", ["merges"]),
        ("a = [*b] if c else [d for d in e]", ["packed"]),
        ("a = 1  " + "#" * 100, ["long"]),
    ],
)
def test_what_counts(program, kinds):
    assert [kind for kind, _ in faults_in(program)] == kinds


def test_the_table_is_lowered_and_never_raised():
    zero = dict.fromkeys(KINDS, 0)
    old = {"conv": zero | {"pairs": 5, "long": 5}, "gone": zero}
    new = {"conv": zero | {"pairs": 9, "long": 1}, "new": zero | {"pairs": 3}}
    assert lowered(old, new) == {"conv": zero | {"pairs": 5, "long": 1}, "new": zero | {"pairs": 3}}


def main(flags) -> None:
    table, _ = count()
    print(f"{'per 1000 lines':32}" + "".join(f"{kind:>10}" for kind in KINDS))
    for room, counts in table.items():
        print(f"{room:32}" + "".join(f"{counts[kind]:10}" for kind in KINDS))
    if "--write" in flags:
        old = written_table() if TABLE.exists() else {}
        rows = [f"  {json.dumps(room)}: {json.dumps(counts)}" for room, counts in lowered(old, table).items()]
        TABLE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
