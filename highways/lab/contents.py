"""What a sweep's run depends on: the code and the arrays in its function and in its settings."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import json
import linecache
import os
import symtable
import sys
import sysconfig
import types
from pathlib import Path

import numpy as np

import highway_networks as hn
from highways.files import ROOT, InputError
from highways.trial_code import LIBRARY_TEXTS, registered

PROJECT = ("highway_networks", "conv_highway_networks", "highways")
STANDARD_LIBRARY = os.path.realpath(sysconfig.get_path("stdlib"))


def checksum_of(texts: list[bytes]) -> str:
    digests = sorted({hashlib.sha256(text).digest() for text in texts})
    return hashlib.sha256(b"".join(digests)).hexdigest()


LIBRARY = checksum_of([*LIBRARY_TEXTS, (ROOT / "conv_highway_networks.py").read_bytes()])


class Contents:
    """Checksums of the code and the arrays that values consist of."""

    def __init__(self, functions: list | None = None):
        self.checksums = []
        self.functions = functions or []  # those that are in the checksums: a function may use itself

    def shown(self, value, what: str):
        """A value as the log and the rows show it.  Its code and its arrays go into the checksums.

        Raises ValueError for what JSON cannot hold, if it has neither source nor arrays."""
        value = hn.python_number(value)
        if isinstance(value, hn.Dataset):
            self._add_data(value, what)
            return value.name
        if type(value) is np.ndarray:
            self._add_array(value, what)
            return f"array {self.checksums[-1][:8]}"
        if isinstance(value, hn.Named):
            settings = hn.record_of(value).get(f"{value.family}_settings")
            self._add_class(type(value))
            return call_of(value.name, [], settings) if settings else value.name
        if isinstance(value, functools.partial):
            called = self.shown(value.func, what)
            given = [self.shown(argument, what) for argument in value.args]
            by_name = {name: self.shown(argument, what) for name, argument in sorted(value.keywords.items())}
            return call_of(called, given, by_name)
        if callable(value):
            return self._shown_callable(value, what)
        if type(value) is list:
            return [self.shown(item, what) for item in value]
        if type(value) is dict:
            hn.check_json(dict.fromkeys(value), what)
            return {name: self.shown(item, what) for name, item in value.items()}
        hn.check_json(value, what)
        if isinstance(value, str):
            for kind in registered(value):
                self._add_class(kind)
        return value

    def _shown_callable(self, value, what: str) -> str:
        if isinstance(value, type):
            self._add_class(value)
            return value.__qualname__
        if isinstance(value, types.MethodType):
            self._add_function(value.__func__, what)
            return f"{self.shown(value.__self__, what)}.{value.__name__}"
        if isinstance(value, types.FunctionType):
            self._add_function(value, what)
            return value.__name__
        if hasattr(value, "__wrapped__"):  # functools.cache
            return self.shown(value.__wrapped__, what)
        raise InputError(f"{what}: the source of {value!r} cannot be read; give a function of Python's")

    def _add_class(self, kind: type) -> None:
        if "<locals>" in kind.__qualname__:
            raise InputError(f"the class {kind.__qualname__} is inside a function: define it outside")
        self.checksums.append(checksum_of_definition(kind))

    def _add_function(self, function: types.FunctionType, what: str) -> None:
        """Adds the source of a function and, of one that is inside another, the values that it uses of
        the outer one.

        What a decorator keeps for itself, such as a cache or a lock, is left out."""
        if any(function is other for other in self.functions):
            return
        self.functions.append(function)
        if function.__name__ == "<lambda>":
            raise InputError(
                f"{what}: a lambda has no name to know it by; define a function with def, at the top of a file"
            )
        self.checksums.append(checksum_of_definition(function))
        used = {}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            used[name] = cell.cell_contents
        if "<locals>" in function.__qualname__:
            used["defaults"] = [*(function.__defaults__ or ())]
            used["defaults by name"] = function.__kwdefaults__ or {}
        for name, value in used.items():
            contents = Contents(self.functions)
            try:
                as_shown = contents.shown(value, f"what {function.__qualname__} uses as {name} (give it as a setting)")
            except ValueError:
                is_of_decorator = value is not getattr(function, "__wrapped__", value)
                if is_of_decorator:
                    continue
                raise
            self.checksums += [f"{name} = {json.dumps(as_shown)}", *contents.checksums]

    def _add_data(self, data: hn.Dataset, what: str) -> None:
        for array in (data.x_train, data.y_train, data.x_test, data.y_test):
            self._add_array(array, what)
        self.checksums.append(f"{data.n_classes} outputs, {data.shape}, {data.sha256}")

    def _add_array(self, array: np.ndarray, what: str) -> None:
        if array.dtype.hasobject:
            raise InputError(f"{what}: an array must hold numbers or text, not objects")
        checksum = hashlib.sha256(f"{array.dtype} {array.shape}".encode())
        checksum.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
        self.checksums.append(checksum.hexdigest())


def call_of(name: str, given: list, by_name: dict) -> str:
    """residual(scale=0.1)"""
    arguments = [json.dumps(value) for value in given]
    arguments += [f"{name}={json.dumps(value)}" for name, value in by_name.items()]
    return f"{name}({', '.join(arguments)})"


def checksum_of_definition(defined) -> str:
    """The place of a function or a class in its text, and the checksum of this text and of those it
    imports."""
    parts = [defined] if isinstance(defined, types.FunctionType) else vars(defined).values()
    lines = [part.__code__.co_firstlineno for part in parts if isinstance(part, types.FunctionType)]
    try:
        texts = texts_of(defined, lines)
    except (OSError, TypeError, SyntaxError, UnicodeError) as error:
        raise InputError(f"the source of {defined.__qualname__} cannot be read: {error}") from None
    own = hashlib.sha256(texts[0]).hexdigest()
    return f"{defined.__qualname__} {lines} {own} {checksum_of(texts)}"


def texts_of(defined, lines: list[int]) -> list[bytes]:
    """The text that defines a function or a class, then those of the user's files that it imports."""
    if defined.__module__ == "__main__" and not hasattr(sys.modules["__main__"], "__file__"):
        return [text_in_notebook(defined)]
    file = Path(os.path.realpath(inspect.getfile(defined)))
    if not file.is_file():
        return [text_in_notebook(defined)]
    text = text_that_counts(file, lines)
    if defined.__module__.split(".")[0] in PROJECT:
        return [text]
    return [text, *texts_beside(file, text)]


def text_in_notebook(defined) -> bytes:
    """The text of a function, or of the cell of a class: Python does not find a class in a cell."""
    if isinstance(defined, types.FunctionType):
        return inspect.getsource(defined).encode()
    for part in vars(defined).values():
        if isinstance(part, types.FunctionType) and linecache.getlines(part.__code__.co_filename):
            return "".join(linecache.getlines(part.__code__.co_filename)).encode()
    raise OSError("no file has it")


def texts_beside(file: Path, text: bytes) -> list[bytes]:
    """The texts of the modules in a file's folder and package that it imports, and that these import."""
    found = {file: text}
    waiting = [file]
    while waiting:
        importing = waiting.pop()
        if is_installed(importing):
            continue
        for other in modules_beside(importing, found[importing]):
            if other not in found:
                found[other] = text_that_counts(other, [])
                waiting.append(other)
    del found[file]
    return list(found.values())


def is_installed(file: Path) -> bool:
    of_package = {"site-packages", "dist-packages"} & {*file.parts}
    return bool(of_package) or file.is_relative_to(STANDARD_LIBRARY)


def modules_beside(file: Path, text: bytes) -> list[Path]:
    """The files in a file's folder and package that it imports."""
    folders = [file.parent]
    while (folders[-1] / "__init__.py").is_file():
        folders.append(folders[-1].parent)
    candidates = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                candidates += places_of(folders, alias.name)
        if isinstance(node, ast.ImportFrom):
            searched = folders[node.level - 1 : node.level] if node.level else folders
            module = f"{node.module}." if node.module else ""
            for alias in node.names:
                candidates += places_of(searched, module + alias.name)
    return [Path(os.path.realpath(place)) for place in candidates if place.is_file()]


def places_of(folders: list[Path], module: str) -> list[Path]:
    """Where the files of a module, and of the packages that it is in, may lie."""
    names = module.split(".")
    if names[0] in PROJECT:
        return []
    places = []
    for folder in folders:
        for n in range(1, len(names) + 1):
            place = folder.joinpath(*names[:n])
            places += [place.with_name(f"{place.name}.py"), place / "__init__.py"]
    return places


def names_of_the_module(table: symtable.SymbolTable) -> set[str]:
    """The names that functions and classes use and do not define themselves."""
    names = set()
    for inner in table.get_children():
        names |= {symbol.get_name() for symbol in inner.get_symbols() if symbol.is_global()}
        names |= names_of_the_module(inner)
    return names


_texts = {}  # by file and lines, as they were when they were read first


def text_that_counts(file: Path, lines: list[int]) -> bytes:
    """The text of a file without what stands under `if __name__ == "__main__":`, unless one of these
    lines is there, or a function of the file uses a name that is assigned there.

    Raises InputError where it has changed since it was read first: what is imported may be either."""
    text = file.read_bytes()
    kept = text.split(b"\n")
    used = names_of_the_module(symtable.symtable(text, str(file), "exec"))
    for node in reversed(ast.parse(text).body):
        if not isinstance(node, ast.If) or ast.unparse(node.test) != "__name__ == '__main__'" or node.orelse:
            continue
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        defines = any(node.lineno <= line <= node.end_lineno for line in lines)
        if not defines and not names & used:
            del kept[node.lineno - 1 : node.end_lineno]
    counts = b"\n".join(kept)
    if _texts.setdefault((file, *lines), counts) != counts:
        raise InputError(f"{file} has changed since this program read it: start the program again")
    return counts
