"""What code computes a trial?  A checksum of it, which is in the key that the log keeps the trial's result under."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect

from plumbing.files import ROOT

NOTHING_COMPUTED = ("plumbing", "figures", "experiments.ledger")


def code_of(function) -> str:
    """A checksum of the project's code that a function of one of its modules may run; of NOTHING_COMPUTED nothing.

    It is made of syntax trees without docstrings, so comments and layout do not count; of functions and constants those
    that are named on the way from `function`, so claims, budgets and summaries do not count; and of all that a module
    on this way does when it is imported, such as its classes: to define a block is to register it.
    """
    function = inspect.unwrap(function.func if isinstance(function, functools.partial) else function)
    return _code_from(function.__module__, function.__name__)


@functools.cache
def _code_from(module: str, name: str) -> str:
    todo, texts = [(module, name)], {}
    while todo:
        module, name = todo.pop()
        if (module, name) not in texts and (there := Module.named(module)):
            tree = there.definitions.get(name, ast.Module([], []))
            texts[module, name] = ast.unparse(without_docstrings(tree))
            todo += [(module, ""), *there.uses(tree)]
    return hashlib.sha256(repr(sorted(texts.items())).encode()).hexdigest()[:16]


class Module:
    """A module's statements by the name that they define, "" for what it does besides; what it has from others."""

    def __init__(self, name: str, source: str):
        self.name, self.definitions, self.origins = name, {}, {}
        for node in (tree := ast.parse(source)).body:
            if not isinstance(node, (ast.Import, ast.ImportFrom)) and not is_start(node):
                for defined in names_defined(node) or [""]:
                    self.definitions.setdefault(defined, ast.Module([], [])).body.append(node)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                self.origins |= {a.asname or a.name: (a.name, "") for a in node.names}
            elif isinstance(node, ast.ImportFrom):
                self.origins |= {a.asname or a.name: (node.module, a.name) for a in node.names}

    @staticmethod
    @functools.cache
    def named(name: str) -> Module | None:
        """The project's module of this name; None for others, and for those that compute nothing."""
        path = ROOT.joinpath(*name.split(".")).with_suffix(".py")
        if f"{name}.".startswith(tuple(f"{each}." for each in NOTHING_COMPUTED)) or not path.is_file():
            return None
        return Module(name, path.read_text(encoding="utf-8"))

    def uses(self, tree: ast.AST):
        """(module, name) of all names in this tree that are defined in a module of the project."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) in self.origins:
                module, name = self.origins[node.value.id]
                yield (f"{module}.{name}" if name else module), node.attr
            elif isinstance(node, ast.Name):
                yield self.origins.get(node.id, (self.name, node.id))


def names_defined(node: ast.stmt) -> list[str]:
    """By a function or an assignment; a class is something that the module does."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [node.name]
    one = [node.target] if isinstance(node, (ast.AnnAssign, ast.AugAssign)) else []
    targets = node.targets if isinstance(node, ast.Assign) else one
    names = [each for target in targets for each in getattr(target, "elts", [target])]
    return [each.id for each in names if isinstance(each, ast.Name)]


def is_start(node: ast.stmt) -> bool:
    """if __name__ == "__main__": ..."""
    return isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)


def without_docstrings(tree: ast.AST) -> ast.AST:
    for node in ast.walk(tree):
        match getattr(node, "body", None):
            case [ast.Expr(ast.Constant()), *others]:
                node.body = others or [ast.Pass()]
    return tree
