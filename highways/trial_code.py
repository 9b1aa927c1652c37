"""The checksum of code: of what computes a trial, and of what draws a picture.

That is a program of the project, and all that it imports from the project, directly or not.  The log of a question
serves a result only to the code that computed it, and a picture that other code drew is drawn anew.  Words are free:
a changed comment, docstring or text of a message leaves the checksum as it is.

Every import statement is followed.  Not followed are other packages, and what a program imports by importlib, or
takes from a package without importing it: `import highways` alone does not lead to highways.train_net.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import operator
import sys
from pathlib import Path
from typing import NamedTuple

import highway_networks as hn
from highways import HOMES
from highways.files import ROOT, InputError

# what reads and writes files, or runs processes: another way of it changes no number, and data have checksums
COMPUTES_NOTHING = ("highways.files", "highways.record_types", "highways.cifar", "highways.processes")
PUBLIC = {f"highways.{name}": home for name, home in HOMES.items()}  # {what highways offers: the module that has it}


def checksum_of_code(function, kinds=()) -> str:
    """The checksum of the code that computes a trial.

    It covers the files that define the function and the `kinds` of its net, and all that these import.  The kinds are
    blocks and activations, as objects or as names.  Raises InputError for what is not defined in a file of the
    project."""
    files = [file_defining(defined) for part in (function, *kinds) for defined in definitions_of(part)]
    return hashlib.sha256("\n".join(code_of(*files)).encode()).hexdigest()[:16]


def code_of(*programs: Path) -> list[str]:
    """The name and the checksum of every file of these programs: their own, and those that they import, directly or
    not, except COMPUTES_NOTHING."""
    found = {}
    waiting = [*programs]
    while waiting:
        file = waiting.pop()
        if file not in found:
            source = source_of(file)
            found[file] = f"{source.name} {source.checksum}"
            waiting += source.imports
    return sorted(found.values())


class Source(NamedTuple):
    """What is in a file of the project."""

    name: str  # its place in the project
    checksum: str  # of its syntax, without words
    imports: list[Path]  # files of the project


@functools.cache
def source_of(file: Path) -> Source:
    tree = ast.parse(text_of(file))
    imports = []
    for module in modules_in(tree).difference(COMPUTES_NOTHING):
        imported = ROOT / f"{PUBLIC.get(module, module).replace('.', '/')}.py"
        if imported.is_file():
            imports.append(imported)
    without_words = syntax(WithoutWords().visit(tree))
    checksum = hashlib.sha256(without_words.encode()).hexdigest()
    return Source(file.resolve().relative_to(ROOT).as_posix(), checksum, imports)


@functools.cache
def text_of(file: Path) -> bytes:
    """The text of a file as it was at the first call.  What runs is the text that was imported, and no later one: see
    read_imported_modules()."""
    return file.read_bytes()


def read_imported_modules() -> None:
    """Reads the project's modules that are imported by now, before somebody edits their files.

    A trial must not import others while it runs; tests/house/test_imports.py sees to that."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and file.endswith(".py"):
            path = Path(file).resolve()
            if path.is_relative_to(ROOT) and path.is_file():
                text_of(path)


def modules_in(tree: ast.AST) -> set[str]:
    """The modules that a program imports, and the names that it takes from them, which may be modules.

    Raises InputError for a relative import, which does not say from where."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            if node.level:
                raise InputError(f"a program imports from {'.' * node.level}{node.module or ''}: give the whole name")
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


# ---- Syntax without words ---------------------------------------------------------------------------------------


def syntax(part) -> str:
    """A syntax tree as text, without what is empty: newer versions of Python have more that can be."""
    if isinstance(part, ast.AST):
        entries = [f"{name}={syntax(value)}" for name, value in ast.iter_fields(part) if value not in (None, [])]
        return f"{type(part).__name__}({', '.join(entries)})"
    if isinstance(part, list):
        return f"[{', '.join(map(syntax, part))}]"
    return repr(part)


class WithoutWords(ast.NodeTransformer):
    """Takes what a user reads out of a syntax tree: docstrings, and the texts that are themselves an argument of
    print(), of warnings.warn() or of the error in a `raise`.

    What is computed in a message stays: that of a FloatingPointError is a result, "diverged_at"."""

    def without_docstring(self, node):
        if ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
        return self.generic_visit(node)

    visit_Module = visit_ClassDef = visit_FunctionDef = visit_AsyncFunctionDef = without_docstring

    def visit_Raise(self, node: ast.Raise) -> ast.Raise:
        if isinstance(node.exc, ast.Call):
            node.exc.args = without_texts(node.exc.args)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.Call:
        if ast.unparse(node.func) in ("print", "warnings.warn"):
            node.args = without_texts(node.args)
        return self.generic_visit(node)


def without_texts(arguments: list[ast.expr]) -> list[ast.expr]:
    """The arguments of a call but for those that are texts; of an f-string what it computes."""
    kept = []
    for argument in arguments:
        if isinstance(argument, ast.JoinedStr):
            kept += [value for value in argument.values if not is_text(value)]
        elif not is_text(argument):
            kept.append(argument)
    return kept


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


# ---- Functions and blocks ----------------------------------------------------------------------------------------


def name_of(function) -> str:
    """The name under which its module has a function or a class.

    Raises ValueError for a lambda, a function that another made, a method of an object, and any other value: neither
    their names nor their files tell them apart."""
    try:
        name = function.__qualname__
        is_found = operator.attrgetter(name)(sys.modules[function.__module__]) is function
    except (AttributeError, KeyError):
        is_found = False
    if not is_found:
        raise ValueError(
            f"{function!r} has no name of its own in a module: define a function with def, outside of others, "
            "and give it values as settings"
        )
    return name


def name_of_trial(function) -> str:
    """The module and the name of a trial's function, and of the functions that a functools.partial binds to it.

    Two functions of one file have the same code.  Raises ValueError for what name_of() refuses, but leaves out the
    folder of the data, whose checksum a trial's key has."""
    if not isinstance(function, functools.partial):
        name = name_of(function)
        return f"{function.__module__}.{name}"
    bound = {**dict(enumerate(function.args)), **function.keywords}
    bound.pop("data_dir", None)
    named = [f"{place}={name_of_trial(value)}" for place, value in bound.items()]
    return f"{name_of_trial(function.func)}({', '.join(named)})"


def definitions_of(part) -> list:
    """The functions or the class that `part` consists of: several of a functools.partial; one for each registered
    class of a name; none of None."""
    if part is None:
        return []
    if isinstance(part, str):
        return [registry[part] for registry in (hn.BLOCKS, hn.ACTIVATIONS) if part in registry]
    if isinstance(part, hn.Named):
        return [type(part)]
    if isinstance(part, functools.partial):
        functions = filter(callable, [part.func, *part.args, *part.keywords.values()])
        return [definition for function in functions for definition in definitions_of(function)]
    return [inspect.unwrap(part)]


def file_defining(defined) -> Path:
    """The file of the project that defines a function or a class.

    Raises InputError for another, whose imports would not be followed: outside the project, or typed into a shell."""
    try:
        file = Path(inspect.getfile(defined)).resolve()
    except (OSError, TypeError) as error:
        raise InputError(f"{defined} has no file: {error}") from error
    if not (file.is_relative_to(ROOT) and file.is_file()):
        raise InputError(f"{defined} is defined in {file}: what computes a trial must lie in a file of the project")
    return file
