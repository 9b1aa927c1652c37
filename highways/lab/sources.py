"""Checksums of the source text that computes a trial: part of the key of its result in the log.

The text is whole files, comments included: the module of the trial's function, and all modules
that it imports, directly or indirectly, from any folder, at the top of a file or within a
function.  Installed packages, the standard library, and of highways/ all but nets/ and conv/ are left out,
and imports by a computed name are not seen.

A changed comment therefore makes trials run again; that is the price of a simple rule.  Finished
trials stay available in results/NAME.json.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.util
import inspect
import os
import sys
import sysconfig
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from highway_networks import ACTIVATIONS, BLOCKS, Named
from highways.files import ROOT, InputError

COMPUTING = ("nets", "conv")  # the folders of highways/ that compute trials
INSTALLED = {"site-packages", "dist-packages"}
STANDARD_LIBRARY = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")}


def checksum_of_sources(function, block=None, activation=None) -> str:
    """The checksum of the source text of a function and of its trial's block and activation.

    Block and activation are objects or names, and may be defined in any module.  Raises InputError
    if a source cannot be read."""
    names = modules_of(function)
    for part, registry in ((block, BLOCKS), (activation, ACTIVATIONS)):
        if isinstance(part, Named):
            names.append(type(part).__module__)
        elif isinstance(part, str) and part in registry:
            names.append(registry[part].__module__)
    digests = {hashlib.sha256(text).digest() for text in texts_from(names)}
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()[:16]


def modules_of(function) -> list[str]:
    """The names of the modules that define a function, and the functions that a functools.partial
    holds."""
    if isinstance(function, functools.partial):
        parts = [function.func, *function.args, *function.keywords.values()]
        return [name for part in parts if callable(part) for name in modules_of(part)]
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    # the function was typed into a shell or a notebook, or lies in a .zip
    if code and not os.path.isfile(code.co_filename):
        missing = f"there is no file {code.co_filename}"
        raise InputError(f"the source of {function.__qualname__} cannot be read: {missing}")
    return [function.__module__]


def texts_from(names: list[str]) -> list[bytes]:
    """The texts of these modules and of all that they import, if _is_part_of_key() says so."""
    pending = list(names)
    seen = set()
    texts = []
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        path = _file_of(name)
        if path and _is_part_of_key(path):
            text = _text_of(name, path)
            texts.append(text)
            pending += _imports_in(name, path, text)
    return texts


def _spec_of(name: str) -> ModuleSpec | None:
    """Where a module was loaded from, or would be; None where there is none of this name.
    Imports nothing."""
    if name in sys.modules:
        return getattr(sys.modules[name], "__spec__", None)
    parent = name.rpartition(".")[0]
    if not parent:
        return importlib.util.find_spec(name)
    of_parent = _spec_of(parent)
    folders = of_parent.submodule_search_locations if of_parent else None
    return PathFinder.find_spec(name, folders) if folders else None


def _file_of(name: str) -> Path | None:
    """The file of a module; None for an unknown name, a built-in module, and a folder without
    __init__.py."""
    spec = _spec_of(name)
    if spec:
        return Path(spec.origin) if spec.has_location else None
    if name not in sys.modules:  # in `from module import name` the name may be a function
        return None
    # __main__ has no spec if Python was given a file
    file = getattr(sys.modules[name], "__file__", None)
    if file is None:
        raise InputError(f"the source of the module {name} cannot be read: it has no file")
    return Path(file)


def _is_part_of_key(path: Path) -> bool:
    """Whether this file's text computes trials."""
    real = path.resolve()
    if real.is_relative_to(ROOT):
        folders = real.relative_to(ROOT).parts
        if folders[0] == "highways":
            return folders[1] in COMPUTING
        return not INSTALLED & {*folders}
    if INSTALLED & {*path.parts, *real.parts}:
        return False
    return not any(real.is_relative_to(folder) for folder in STANDARD_LIBRARY)


# {module: (the spec that it was loaded by, its text)}
_loaded: dict[str, tuple[ModuleSpec | None, bytes]] = {}


def _text_of(name: str, path: Path) -> bytes:
    """The text of a module.

    For a loaded module this is the text that the process first read, usually in
    keep_loaded_texts(): later edits do not run here.  A module that is loaded again has a new
    spec, and its file is read again.  For a module that is not loaded it is the file as it is
    now."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    if module and name in _loaded and _loaded[name][0] is spec:
        return _loaded[name][1]
    try:
        text = path.read_bytes()
    except OSError as error:
        message = f"the source of the module {name} cannot be read: {path}: {error.strerror}"
        raise InputError(message) from error
    if module:
        _loaded[name] = spec, text
    return text


def keep_loaded_texts() -> None:
    """Reads the texts of all loaded modules that count, so that later edits do not change them."""
    for name in list(sys.modules):
        # checksum_of_sources() raises it again if the module computes a trial
        with contextlib.suppress(InputError):
            path = _file_of(name)
            if path and _is_part_of_key(path):
                _text_of(name, path)


def _imports_in(name: str, path: Path, text: bytes) -> frozenset[str]:
    spec = _spec_of(name)
    try:
        return _names_imported(text, spec.parent if spec else "")
    except (SyntaxError, ValueError) as error:
        message = f"the source of the module {name} cannot be read: {path} is not Python"
        raise InputError(message) from error


@functools.cache
def _names_imported(text: bytes, package: str) -> frozenset[str]:
    """The names of all modules and packages that the text of a module in `package` imports.

    In `from a import b` b may be a module, so that a.b is one of the names."""
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # a relative import beyond the top package: Python refuses it when it runs
            with contextlib.suppress(ImportError):
                relative = "." * node.level + (node.module or "")
                module = importlib.util.resolve_name(relative, package)
                names.add(module)
                names.update(f"{module}.{alias.name}" for alias in node.names)
    for name in list(names):
        while name := name.rpartition(".")[0]:
            names.add(name)
    return frozenset(names)
