"""The checksum of the code that computes a trial: its own file, those it imports, and the library.

The log of a question and the checkpoints of a training serve a result only to the code that
computed it.  Words are free: a changed comment, docstring or message leaves the checksum as it is.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import re
from pathlib import Path

import highway_networks as hn
from highways.files import ROOT, InputError

CORE = "highway_networks.py"
COMMAND_LINE = b"\n# ---- The command line "  # the heading in CORE below which nothing computes a trial
LIBRARY = (CORE, "highways/nets/**/*.py", "highways/conv/**/*.py")  # the files that any trial may run
COMPUTES_NO_TRIAL = re.compile(rb"^QUESTION = |^@table\(|^@picture\(", re.M)  # what searches, judges and draws


def text_of(file: Path) -> bytes:
    """The text of a program; of CORE, what stands above its command line."""
    text = file.read_bytes()
    if file.name == CORE:
        text, _, _ = text.partition(COMMAND_LINE)
    return text


LIBRARY_TEXTS = [text_of(file) for pattern in LIBRARY for file in ROOT.glob(pattern)]  # later edits do not run here


def checksum_of_code(function, kinds=()) -> str:
    """The checksum of the code that computes a trial.

    It covers LIBRARY, the files that define the function and the `kinds` of its net, and the files
    of experiments/ that these import: of each, its syntax without words.  The kinds are blocks and
    activations, as objects or as names, and may be functions.  Raises InputError if a file cannot
    be read.

    What reads the images is not in it: the checksum of the data, in the trial's key, tells what was
    read.  Nor are files, records and statistics: they write, check and sum up results."""
    texts = set(LIBRARY_TEXTS)
    for part in (function, *kinds):
        for defined in _definitions_of(part):
            texts |= _with_imported(_text_defining(defined))
    digests = sorted({checksum_of_text(text) for text in texts})
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:16]


@functools.cache
def checksum_of_text(text: bytes) -> str:
    """The checksum of a program's syntax without its words, the same in every version of Python."""
    tree = WithoutWords().visit(ast.parse(text))
    return hashlib.sha256(syntax(tree).encode()).hexdigest()


def syntax(part) -> str:
    """A syntax tree as text, without what is empty: newer versions of Python have more that can be."""
    if isinstance(part, ast.AST):
        entries = [f"{name}={syntax(value)}" for name, value in ast.iter_fields(part) if value not in (None, [])]
        return f"{type(part).__name__}({', '.join(entries)})"
    if isinstance(part, list):
        return f"[{', '.join(map(syntax, part))}]"
    return repr(part)


class WithoutWords(ast.NodeTransformer):
    """Takes docstrings and messages out of a syntax tree: what is given to print() and warnings.warn(),
    and to an error that is raised."""

    def without_docstring(self, node):
        if ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
        return self.generic_visit(node)

    visit_Module = visit_ClassDef = visit_FunctionDef = visit_AsyncFunctionDef = without_docstring

    def visit_Raise(self, node: ast.Raise) -> ast.Raise:
        if isinstance(node.exc, ast.Call):
            node.exc = node.exc.func
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.Call:
        match node.func:
            case ast.Name(id="print") | ast.Attribute(value=ast.Name(id="warnings"), attr="warn"):
                node.args = []
                node.keywords = []
        return self.generic_visit(node)


def _definitions_of(part) -> list:
    """The functions or the class that `part` consists of.

    A functools.partial consists of several; an unknown name, and None, of nothing."""
    if part is None:
        return []
    if isinstance(part, str):
        return registered(part)
    if isinstance(part, hn.Named):
        return [type(part)]
    if isinstance(part, functools.partial):
        bound = [value for value in (*part.args, *part.keywords.values()) if callable(value)]
        return [definition for inner in (part.func, *bound) for definition in _definitions_of(inner)]
    return [inspect.unwrap(part)]


def registered(name: str) -> list[type]:
    """The classes of blocks and of activations with this name."""
    return [registry[name] for registry in (hn.BLOCKS, hn.ACTIVATIONS) if name in registry]


@functools.cache
def _text_defining(defined) -> bytes:
    """The text of the file that defines a function or a class, as it is at the first call.

    A module that is loaded again defines new ones, and its file is read again."""
    try:
        return text_of(Path(inspect.getfile(defined)))
    except (OSError, TypeError) as error:  # it was typed into a shell or a notebook, or lies in a .zip
        name = getattr(defined, "__qualname__", defined)
        raise InputError(f"the source of {name} cannot be read: {error}") from error


def _with_imported(text: bytes) -> set[bytes]:
    """The text of a file, and those of the files of experiments/ that it imports, and that these
    import, except those that search, judge and draw."""
    found = set()
    waiting = [text]
    while waiting:
        text = waiting.pop()
        if text in found:
            continue
        found.add(text)
        for module in imported_by(text):
            if module.startswith("experiments.") and file_of_module(module).is_file():
                imported = _imported_text(file_of_module(module))
                if not COMPUTES_NO_TRIAL.search(imported):
                    waiting.append(imported)
    return found


def file_of_module(module: str) -> Path:
    """Where a module of this name would lie."""
    return ROOT / f"{module.replace('.', '/')}.py"


@functools.cache
def imported_by(text: bytes) -> list[str]:
    """The modules that a program imports, and what it imports from them, which may be modules.

    Raises InputError for a relative import, which does not say from where."""
    names = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom) and node.level:
            raise InputError(f"a program imports from {'.' * node.level}{node.module or ''}: give the whole name")
        if isinstance(node, ast.ImportFrom):
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names


@functools.cache
def _imported_text(file: Path) -> bytes:
    """The text of a file, as it is at the first call: later edits do not run here."""
    return text_of(file)
