"""What the code of a claim's rule calls the samples that its tests compare, for pages/claims.html."""

from __future__ import annotations

import ast
import contextlib
import inspect
import sys
import textwrap

from highways.lab.judging.claim import Claim, measured

TESTS = "above", "below", "within", "is_above", "is_below"
LONGEST_NAME = 44  # of a sample, in letters
LONGEST_VALUE = 12  # of a loop's variable that is told with the name


def names_of_samples(code: str, tests: list[dict]) -> list[list[str]]:
    """For each test, what the rule's code calls its two samples; an empty list if the code's calls
    are not the tests one by one, as in a loop."""
    calls = []
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        rule = node.func.id
        arguments = node.args
        if rule == "in_ratio":
            rule = ast.unparse(arguments[0])
            arguments = arguments[1:]
        if rule in TESTS and arguments:
            baselines = [keyword.value for keyword in node.keywords if keyword.arg == "baseline"]
            baselines += arguments[2:3]
            samples = [arguments[0], *baselines]
            calls.append((node.lineno, node.col_offset, rule, [ast.unparse(sample) for sample in samples]))
    if len(calls) != len(tests):
        return []
    names = []
    for (_, _, rule, samples), test in zip(sorted(calls), tests, strict=True):
        if rule == "is_below" and test["rule"] == "above":  # b - a > -bound is a - b < bound
            samples = samples[::-1]
        fits = all(len(sample) <= LONGEST_NAME for sample in samples)
        names.append(samples if fits else [])
    return names


def names_by_values(claim: Claim, tests: list[dict], records: list[dict]) -> list[list[str]]:
    """For each test, what its two samples are called in the rule, found by their values while the rule
    is put to the records; an empty list if one has no name of its own.

    The name of a sample in a loop has the loop's variables: "plain (depth 9)"."""
    variables = _Variables(claim.rule)
    with variables.watched():
        measured(claim, *records)
    found = []
    for test in tests:
        samples = [sample for sample in (test["values"], test["baseline"]) if isinstance(sample, list)]
        if test["log10"]:
            samples = [[None if value is None else 10**value for value in sample] for sample in samples]
        names = [variables.name_of(sample) for sample in samples]
        found.append(names if all(names) else [])
    return found


class _Variables:
    """The samples that a rule's variables hold while it runs."""

    def __init__(self, rule):
        self.code = rule.__code__
        tree = ast.parse(textwrap.dedent(inspect.getsource(rule)))
        self.of_loops = _targets(tree, ast.For)
        self.of_comprehensions = _targets(tree, ast.comprehension)  # another scope, before Python 3.12
        self.names = {}  # {values: {id of the sample: its first name}}
        self.samples = []  # keeps them, so that no id is used twice

    @contextlib.contextmanager
    def watched(self):
        """Looks at the rule's variables after each of its lines."""
        before = sys.gettrace()
        sys.settrace(lambda frame, event, argument: self._look if frame.f_code is self.code else None)
        try:
            yield
        finally:
            sys.settrace(before)

    def name_of(self, values: list) -> str:
        """The name of the sample with these values; "" if there is none, several, or a long one."""
        names = list(self.names.get(_rounded(values), {}).values())
        return names[0] if len(names) == 1 and len(names[0]) <= LONGEST_NAME else ""

    def _look(self, frame, event, argument):
        variables = {name: value for name, value in frame.f_locals.items() if name not in self.of_comprehensions}
        turn = []
        for name in self.of_loops:
            value = variables.get(name)
            if isinstance(value, (int, str)) and len(str(value)) <= LONGEST_VALUE:
                turn.append(f"{name} {value}")
        for name, value in variables.items():
            if _is_sample(value):
                self._add(value, f"{name} ({', '.join(turn)})" if turn else name)
            elif isinstance(value, dict):
                for key, entry in value.items():
                    if _is_sample(entry):
                        self._add(entry, f"{name}[{key!r}]")
        return self._look

    def _add(self, sample: list, name: str) -> None:
        names = self.names.setdefault(_rounded(sample), {})
        if id(sample) not in names:
            names[id(sample)] = name
            self.samples.append(sample)


def _targets(tree: ast.AST, kind: type) -> list[str]:
    """The variables of all loops or comprehensions, in their order."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, kind):
            names += [part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)]
    return list(dict.fromkeys(names))


def _is_sample(value) -> bool:
    return (
        isinstance(value, list)
        and len(value) > 1
        and all(entry is None or type(entry) in (int, float) for entry in value)
    )


def _rounded(values: list) -> tuple:
    return tuple(None if value is None else float(f"{value:.9g}") for value in values)
