"""The checksum of the code that computes a trial: its own file, those it imports, and the library.

The log of a question and the checkpoints of a training serve a result only to the code that
computed it.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import re
from pathlib import Path

import highway_networks as hn
from highways.files import ROOT, InputError

LIBRARY = ("highway_networks.py", "highways/nets/**/*.py", "highways/conv/**/*.py")  # the files that any trial may run
LIBRARY_TEXTS = [file.read_bytes() for pattern in LIBRARY for file in ROOT.glob(pattern)]  # later edits do not run here
IMPORT = re.compile(rb"^\s*from (experiments[.\w]*) import (\([^)]*\)|.*)", re.MULTILINE)
COMPUTES_NO_TRIAL = ("question.py", "show.py")  # they search, judge and draw


def checksum_of_code(function, kinds=()) -> str:
    """The checksum of the code that computes a trial.

    It covers the whole texts, comments included, of LIBRARY, of the files that define the function
    and the `kinds` of its net, and of the files of experiments/ that these import.  The kinds are
    blocks and activations, as objects or as names, and may be functions.  Raises InputError if a
    file cannot be read.

    What reads the images is not in it: the checksum of the data, in the trial's key, tells what was
    read.  Nor are files, records and statistics: they write, check and sum up results."""
    texts = set(LIBRARY_TEXTS)
    for part in (function, *kinds):
        for defined in _definitions_of(part):
            texts |= _with_imported(_text_defining(defined))
    digests = sorted(hashlib.sha256(text).digest() for text in texts)
    return hashlib.sha256(b"".join(digests)).hexdigest()[:16]


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
        return Path(inspect.getfile(defined)).read_bytes()
    except (OSError, TypeError) as error:  # it was typed into a shell or a notebook, or lies in a .zip
        name = getattr(defined, "__qualname__", defined)
        raise InputError(f"the source of {name} cannot be read: {error}") from error


def _with_imported(text: bytes) -> set[bytes]:
    """The text of a file, and those of the files of experiments/ that it imports, and that these
    import, except COMPUTES_NO_TRIAL."""
    found = set()
    waiting = [text]
    while waiting:
        text = waiting.pop()
        if text in found:
            continue
        found.add(text)
        for module, names in IMPORT.findall(text):
            modules = [module, *(module + b"." + name for name in re.findall(rb"\w+", names))]
            files = [ROOT / (name.decode().replace(".", "/") + ".py") for name in modules]
            waiting += [_text_of(file) for file in files if file.is_file() and file.name not in COMPUTES_NO_TRIAL]
    return found


@functools.cache
def _text_of(file: Path) -> bytes:
    """The text of a file, as it is at the first call: later edits do not run here."""
    return file.read_bytes()
