"""The checksum of code: of what computes a trial, and of what draws a picture.

That is a program, and all that it imports, directly or not, from the project and from its own folder.  The log of a
question serves a result only to the code that computed it, a checkpoint likewise, and a picture that other code drew is
drawn anew.  Words are free: a changed comment, docstring or text of a message leaves the checksum as it is.

Followed are all import statements, and what a program names as a part of a package: highways.train_net(...).  Not
followed are other packages, and names that are made while it runs, by importlib or getattr().
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import inspect
import operator
import sys
import sysconfig
from pathlib import Path

import highway_networks as hn
from highways import HOMES
from highways.files import ROOT, InputError

# what reads and writes files, or runs processes: another way of it changes no number, and data have checksums
COMPUTES_NOTHING = ("highways.files", "highways.record_types", "highways.cifar", "highways.processes")
PUBLIC = {f"highways.{name}": home for name, home in HOMES.items()}  # {what highways offers: the module that has it}
LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))  # folders of others' modules
COMMAND_LINE = "parse_arguments"  # the function from which on the core, and no other program, is left out as a command


def checksum_of_code(function, kinds=()) -> str:
    """The checksum of the code that computes a trial.

    It covers the files that define the function and the `kinds` of its net, and all that these
    import.  The kinds are blocks and activations, as objects or as names, and may be functions.
    Raises InputError if a file cannot be read."""
    read_imported_modules()
    checksums = set()
    for part in (function, *kinds):
        for defined in definitions_of(part):
            text = _text_defining(defined)
            checksums |= code_of(text, import_folder(defined))
    return hashlib.sha256("".join(sorted(checksums)).encode()).hexdigest()[:16]


@functools.cache
def code_of(text: bytes, folder: Path = ROOT) -> frozenset[str]:
    """The checksums of a program and of all that it imports from the project or `folder`, directly or not, except
    COMPUTES_NOTHING."""
    found = {}
    waiting = [text]
    while waiting:
        text = waiting.pop()
        if text in found:
            continue
        found[text] = checksum_of_text(text)
        for module in imported_by(text).difference(COMPUTES_NOTHING):
            waiting += map(_imported_text, files_of_module(module, folder))
    return frozenset(found.values())


@functools.cache
def checksum_of_text(text: bytes) -> str:
    """The checksum of a program's syntax without its words, the same in every version of Python; of the core's
    without its command line, which computes no trial."""
    tree = ast.parse(text)
    if text == _imported_text(Path(hn.__file__).resolve()):
        names = [getattr(part, "name", None) for part in tree.body]
        del tree.body[names.index(COMMAND_LINE) :]
    return hashlib.sha256(syntax(WithoutWords().visit(tree)).encode()).hexdigest()


def syntax(part) -> str:
    """A syntax tree as text, without what is empty: newer versions of Python have more that can be."""
    if isinstance(part, ast.AST):
        entries = [f"{name}={syntax(value)}" for name, value in ast.iter_fields(part) if value not in (None, [])]
        return f"{type(part).__name__}({', '.join(entries)})"
    if isinstance(part, list):
        return f"[{', '.join(map(syntax, part))}]"
    return repr(part)


class WithoutWords(ast.NodeTransformer):
    """Takes what a user reads out of a syntax tree: docstrings, and the texts in what is given to print(), to
    warnings.warn() and to an error that is raised.

    What is computed there stays: the message of a FloatingPointError is a result, "diverged_at"."""

    def without_docstring(self, node):
        if ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
        return self.generic_visit(node)

    visit_Module = visit_ClassDef = visit_FunctionDef = visit_AsyncFunctionDef = without_docstring

    def visit_Raise(self, node: ast.Raise) -> ast.Raise:
        return WithoutTexts().generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.Call:
        match node.func:
            case ast.Name(id="print") | ast.Attribute(value=ast.Name(id="warnings"), attr="warn"):
                return WithoutTexts().generic_visit(node)
        return self.generic_visit(node)


class WithoutTexts(ast.NodeTransformer):
    """Takes all texts out of a syntax tree, those of f-strings, too."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant | None:
        return None if isinstance(node.value, str) else node


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
    """The functions or the class that `part` consists of.

    A functools.partial consists of several; an unknown name, and None, of nothing."""
    if part is None:
        return []
    if isinstance(part, str):
        return registered(part)
    if isinstance(part, hn.Named):
        return [type(part)]
    if isinstance(part, functools.partial):
        bound = [*part.args, *part.keywords.values()]
        functions = [part.func, *filter(callable, bound)]
        return [definition for function in functions for definition in definitions_of(function)]
    return [inspect.unwrap(part)]


def registered(name: str) -> list[type]:
    """The classes of blocks and of activations with this name."""
    return [registry[name] for registry in (hn.BLOCKS, hn.ACTIVATIONS) if name in registry]


def import_folder(defined) -> Path:
    """The folder with the module that defines a function or a class, or with the outermost package of that module."""
    names = getattr(defined, "__globals__", None) or vars(sys.modules[defined.__module__])
    folder = Path(inspect.getfile(defined)).parent
    spec = names.get("__spec__")  # None of a script; of `python -m package.main` the whole name
    return folder.parents[spec.parent.count(".")] if spec and spec.parent else folder


_specs = {}  # {the name of an imported module: its spec, which is another when it is loaded again}
_texts = {}  # {a file, without links: its text}


def read_imported_modules() -> None:
    """Reads the files of the modules that were imported, or loaded again, since the last call: what runs is their text
    of now, and no later one."""
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)  # None of a script
        if name in _specs and _specs[name] is spec:
            continue
        _specs[name] = spec
        file = getattr(module, "__file__", None)
        if not file or not file.endswith(".py") or file.startswith(LIBRARIES):
            continue
        path = Path(file).resolve()
        with contextlib.suppress(OSError):
            text = path.read_bytes()
            if _texts.get(path, text) != text:
                code_of.cache_clear()
            _texts[path] = text


@functools.cache
def _text_defining(defined) -> bytes:
    """The text of the file that defines a function or a class: that of its module as it was imported; else, as where a
    notebook runs a file, as it is at the first call."""
    try:
        file = inspect.getfile(defined)
        if file == getattr(sys.modules.get(defined.__module__), "__file__", None):
            return _imported_text(Path(file).resolve())
        return Path(file).read_bytes()
    except (OSError, TypeError) as error:  # it was typed into a shell or a notebook, or lies in a .zip
        name = getattr(defined, "__qualname__", defined)
        raise InputError(f"the source of {name} cannot be read: {error}") from error


def _imported_text(file: Path) -> bytes:
    """The text of a file as its module was imported, or as it is at the first call: later edits do not run here."""
    if file not in _texts:
        _texts[file] = file.read_bytes()
    return _texts[file]


@functools.cache
def files_of_module(module: str, folder: Path) -> list[Path]:
    """The files in the project and in the folder that a module of this name may be."""
    path = PUBLIC.get(module, module).replace(".", "/")
    files = {ROOT / f"{path}.py", folder / f"{path}.py"}
    if folder != ROOT:  # the project's packages hold modules, and compute nothing themselves
        files.add(folder / path / "__init__.py")
    return [file.resolve() for file in files if file.is_file()]


@functools.cache
def imported_by(text: bytes) -> frozenset[str]:
    """The modules that a program imports, and the names that it takes from them, which may be modules.

    Raises InputError for a relative import, which does not say from where."""
    nodes = list(ast.walk(ast.parse(text)))
    names = set()
    bound = set()  # (a name in the program, what it stands for)
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.level:
            raise InputError(f"a program imports from {'.' * node.level}{node.module or ''}: give the whole name")
        if isinstance(node, ast.ImportFrom):
            names.add(node.module)
            bound |= {(alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names}
        if isinstance(node, ast.Import):
            for alias in node.names:
                names.add(alias.name)
                top, *_ = alias.name.split(".")
                bound.add((alias.asname, alias.name) if alias.asname else (top, top))
    names |= {module for _, module in bound}
    for node in nodes:
        if isinstance(node, ast.Attribute):
            top, _, rest = dotted_name(node).partition(".")
            names |= {f"{module}.{rest}" for name, module in bound if name == top}
    return frozenset(names)


def dotted_name(node: ast.AST) -> str:
    """a.b.c, where a node is that; "" where it is something else."""
    if isinstance(node, ast.Attribute):
        return f"{dotted_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""
