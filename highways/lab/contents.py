"""What a sweep's run depends on: the code and the arrays in its function and in its settings."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import json
import linecache
import operator
import os
import re
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
IMPORT = re.compile(rb"\b(?:from|import)\b(?:.*\\\n)*.*")  # goes on in the next line after a backslash


def checksum_of(texts: list[bytes]) -> str:
    digests = sorted({hashlib.sha256(text).digest() for text in texts})
    return hashlib.sha256(b"".join(digests)).hexdigest()


LIBRARY = checksum_of([*LIBRARY_TEXTS, (ROOT / "conv_highway_networks.py").read_bytes()])


class Contents:
    """Checksums of the code and the arrays that values consist of."""

    def __init__(self):
        self.checksums = []

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
            self._add_definition(type(value), what)
            return call_of(value.name, [], settings) if settings else value.name
        if isinstance(value, functools.partial):
            called = self.shown(value.func, what)
            given = [self.shown(argument, what) for argument in value.args]
            by_name = {name: self.shown(argument, what) for name, argument in sorted(value.keywords.items())}
            return call_of(called, given, by_name)
        if callable(value):
            self._add_definition(value, what)
            return value.__qualname__ if isinstance(value, type) else value.__name__
        if type(value) is list:
            return [self.shown(item, what) for item in value]
        if type(value) is dict:
            hn.check_json(dict.fromkeys(value), what)
            return {name: self.shown(item, what) for name, item in value.items()}
        hn.check_json(value, what)
        if isinstance(value, str):
            for kind in registered(value):
                self._add_definition(kind, what)
        return value

    def _add_definition(self, defined, what: str) -> None:
        """Adds the text of a function or a class, which must have its name at the top of its file: what one inside
        another function uses, its text does not tell."""
        if found_by_name(defined) != defined:
            raise InputError(
                f"{what}: {defined!r} has no name at the top of a file; define it there, with def or class, "
                "and give what it uses as a setting"
            )
        self.checksums.append(checksum_of_definition(defined))

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


def found_by_name(defined):
    """What the name of a function or a class stands for in its module; None if it stands for nothing."""
    try:
        return operator.attrgetter(defined.__qualname__)(sys.modules[defined.__module__])
    except (AttributeError, KeyError):
        return None


def checksum_of_definition(defined) -> str:
    """The name of a function or a class, the checksum of its text, and that of the files that count."""
    defined = inspect.unwrap(defined)  # functools.cache
    try:
        file = file_of(defined)
        if file is None:
            text = text_in_notebook(defined)
            files = []
        elif defined.__module__.split(".")[0] in PROJECT:
            text = text_that_counts(file)
            files = []
        else:
            text = inspect.getsource(defined).encode() + text_that_counts(file)
            files = texts_imported_by(file)
    except (OSError, TypeError, SyntaxError, UnicodeError) as error:
        raise InputError(f"the source of {defined.__qualname__} cannot be read: {error}") from None
    return f"{defined.__qualname__} {hashlib.sha256(text).hexdigest()} {checksum_of(files)}"


def file_of(defined) -> Path | None:
    """The file that defines a function or a class; None in a notebook."""
    if defined.__module__ == "__main__" and not hasattr(sys.modules["__main__"], "__file__"):
        return None
    file = Path(os.path.realpath(inspect.getfile(defined)))
    return file if file.is_file() else None


def text_in_notebook(defined) -> bytes:
    """The text of a function, or of the cell of a class: Python does not find a class in a cell."""
    if isinstance(defined, types.FunctionType):
        return inspect.getsource(defined).encode()
    for part in vars(defined).values():
        if isinstance(part, types.FunctionType) and linecache.getlines(part.__code__.co_filename):
            return "".join(linecache.getlines(part.__code__.co_filename)).encode()
    raise OSError("no file has it")


def texts_imported_by(file: Path) -> list[bytes]:
    """The texts of the files that a file imports from its folder, and that these import.  Of a package, and of the
    one that the file is in, all files count; of what is installed, none."""
    folder = file.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    first, *_ = file.relative_to(folder).parts
    if is_installed(file):
        return []
    found = {}
    waiting = [file, *files_called(first, folder)]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = text_that_counts(path)
            imports = b" ".join(IMPORT.findall(found[path])).decode(errors="replace")
            for name in {*re.findall(r"\w+", imports)} - {*PROJECT}:
                waiting += files_called(name, folder)
    return list(found.values())


def is_installed(file: Path) -> bool:
    of_package = {"site-packages", "dist-packages"} & {*file.parts}
    return bool(of_package) or file.is_relative_to(STANDARD_LIBRARY)


def files_called(name: str, folder: Path) -> list[Path]:
    """The file of the module of this name in a folder, and those of the package of this name."""
    module = folder / f"{name}.py"
    of_package = (folder / name).rglob("*.py")
    return [Path(os.path.realpath(file)) for file in (module, *of_package) if file.is_file()]


def names_of_the_module(table: symtable.SymbolTable) -> set[str]:
    """The names that functions and classes use and do not define themselves."""
    names = set()
    for inner in table.get_children():
        names |= {symbol.get_name() for symbol in inner.get_symbols() if symbol.is_global()}
        names |= names_of_the_module(inner)
    return names


_texts = {}  # by file, as they were when they were read first


def text_that_counts(file: Path) -> bytes:
    """The text of a file without what stands under `if __name__ == "__main__":`, unless a function of the file uses
    a name that is assigned there.

    Raises InputError where it has changed since it was read first: what is imported may be either."""
    counts = without_main(file.read_bytes(), str(file))
    if _texts.setdefault(file, counts) != counts:
        raise InputError(f"{file} has changed since this program read it: start the program again")
    return counts


@functools.cache
def without_main(text: bytes, name: str) -> bytes:
    """The text of the file of this name as text_that_counts() gives it."""
    kept = text.split(b"\n")
    used = names_of_the_module(symtable.symtable(text, name, "exec"))
    for node in reversed(ast.parse(text).body):
        if not isinstance(node, ast.If) or ast.unparse(node.test) != "__name__ == '__main__'" or node.orelse:
            continue
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        if not names & used:
            del kept[node.lineno - 1 : node.end_lineno]
    return b"\n".join(kept)
