"""What code computes a trial?  A checksum of it, which is in the key that the log keeps the trial's result under."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect

from plumbing.files import ROOT

LOADERS = "highway_networks.load_mnist", "conv.cifar.load_cifar"  # data have a checksum of their own
NOT_IN_THE_KEY = ("plumbing", "report", "experiments.code", "experiments.ledger", *LOADERS)


def code_of(function) -> str:
    """A checksum of the project's code that a function of one of its modules may run, but for NOT_IN_THE_KEY.

    It is made of syntax trees without docstrings, so comments and layout do not count; of functions, classes and
    constants those that are named on the way from `function`, so claims, budgets and summaries do not count; and of all
    that a module on this way, or one that it imports, does when it is imported.  Subclasses are among this: to define a
    block is to register it.
    """
    function = inspect.unwrap(function.func if isinstance(function, functools.partial) else function)
    return _code_from(function.__module__, function.__name__)


@functools.cache
def _code_from(module: str, name: str) -> str:
    todo, texts = [(module, name)], {}
    while todo:
        module, name = todo.pop()
        if (module, name) not in texts and counts(f"{module}.{name}") and (there := Module.named(module)):
            tree = there.definitions.get(name, ast.Module([], []))
            texts[module, name] = ast.unparse(without_docstrings(tree))
            todo += [(module, ""), *((each, "") for each in there.imported), *there.uses(tree)]
    return hashlib.sha256(repr(sorted(texts.items())).encode()).hexdigest()[:16]


class Module:
    """A module's statements by the name that they define, "" for what it does besides; what it has from others."""

    def __init__(self, name: str, source: str):
        self.name, self.definitions, self.origins, self.imported = name, {}, {}, []
        for node in (tree := ast.parse(source)).body:
            if isinstance(node, ast.Import):
                self.imported += [a.name for a in node.names]
            elif isinstance(node, ast.ImportFrom):
                self.imported += [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
            elif not is_start(node):
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
        """The project's module of this name; None for others."""
        path = ROOT.joinpath(*name.split(".")).with_suffix(".py")
        return Module(name, path.read_text(encoding="utf-8")) if path.is_file() else None

    def uses(self, tree: ast.AST):
        """(module, name) of all names in this tree that are defined in a module of the project."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and (of := dotted(node.value)) in self.origins:
                module, name = self.origins[of]
                yield (f"{module}.{name}" if name else module), node.attr
            elif isinstance(node, ast.Name):
                yield self.origins.get(node.id, (self.name, node.id))


def names_defined(node: ast.stmt) -> list[str]:
    """By a function, a class or an assignment; a subclass is something that the module does, as is x |= y."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or (isinstance(node, ast.ClassDef) and not node.bases):
        return [node.name]
    one = [node.target] if isinstance(node, ast.AnnAssign) else []
    targets = node.targets if isinstance(node, ast.Assign) else one
    names = (each for target in targets for each in ast.walk(target))
    return [each.id for each in names if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]


def counts(name: str) -> bool:
    """Whether what is called so, by its module, is part of the key."""
    return not f"{name}.".startswith(tuple(f"{each}." for each in NOT_IN_THE_KEY))


def dotted(node: ast.AST) -> str | None:
    """a.b.c of such an expression; None of others."""
    if isinstance(node, ast.Attribute) and (of := dotted(node.value)):
        return f"{of}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else None


def is_start(node: ast.stmt) -> bool:
    """if __name__ == "__main__": ..."""
    return isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)


def without_docstrings(tree: ast.AST) -> ast.AST:
    for node in ast.walk(tree):
        match getattr(node, "body", None):
            case [ast.Expr(ast.Constant()), *others]:
                node.body = others or [ast.Pass()]
    return tree
