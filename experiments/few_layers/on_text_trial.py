"""Trains a tagger of words, a character network below a few layers, with Adam, and measures it.

A word is looked at by filters over three characters, of whose values over the word the largest is kept; the layers of
the kind under test follow, of the same width; the predictor is a linear map of what the layers give for the word
before, the word and the word after.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

import experiments.few_layers.copies  # noqa: F401  this and the next register blocks
import highway_networks as hn
import highways.nets.layer_norm  # noqa: F401
from highways import brown

SPAN = 3  # characters under a filter
PLACES = 3  # the word before, the word, the word after
BATCH = 8  # pieces
LAST_RATE = 0.05  # the rate at the end, as a share of that at the start
SLICE = 500  # words at a time in evaluation
TENTH = 10  # of ten texts the last is for tests, and the one before it is held out


class CharacterNet:
    """Pieces (N, n + 2) of text, words as rows of `codes`, to logits (N n, tags) of the words that have two neighbours.

    Its parameters are those of a DeepNet, whose first layer has the filters: W_in (width, 3 n_codes) acts on three
    characters, one-hot.  The DeepNet's output has three parts of `n_tags` units, for a word that stands before, is
    the word itself, or stands after; the logits are their sum."""

    def __init__(self, codes, n_codes, n_tags, width, depth, block, seed, gate_bias=0.0, dtype=np.float32):
        self.codes = codes  # (words, LONGEST + 2)
        self.n_codes = n_codes
        self.n_tags = n_tags
        sizes = (SPAN * n_codes, PLACES * n_tags, width, depth)
        options = {"activation": "relu", "init": "uniform", "gate_bias": gate_bias, "dtype": dtype}
        self.net = hn.DeepNet(*sizes, block, seed, **options)
        self.net.W_in *= math.sqrt(n_codes)  # only three of a filter's inputs are not 0
        self.parameters = self.net.parameters

    def forward(self, x: np.ndarray) -> np.ndarray:
        """x (N, n + 2) -> logits (N n, tags); keeps what backward() needs."""
        self.shape = x.shape
        self.words = x.ravel()
        self.work = self.net.workspace(x.size, "train")
        return self._logits(self._run(self.words, self.work).reshape(*x.shape, -1))

    def backward(self, d_logits: np.ndarray) -> np.ndarray:
        """dL/dlogits (N n, tags) of the last forward() -> dL/dparameters."""
        net = self.net
        work = self.work
        pieces, words = self.shape
        d_out = np.zeros((pieces, words, PLACES * self.n_tags), net.dtype)
        for seen, units in self._places(words):
            d_out[:, seen, units] = d_logits.reshape(pieces, words - 2, -1)
        d_out = d_out.reshape(pieces * words, -1)
        net.grad.W_out[:] = d_out.T @ work.last[:-1].T
        net.grad.b_out[:] = d_out.sum(axis=0)
        dy = work.dy
        dy[:] = net.W_out.T @ d_out.T
        for layer in reversed(work.layers):
            dy = net.block_backward(layer, dy)
        net.activation.slope(work.z_in.T, work.H_in, work.dz_in)
        work.dz_in *= dy
        net.grad.b_in[:] = work.dz_in.sum(axis=1)
        self._filters_backward(work.dz_in)
        return net.gradient

    def predict(self, x: np.ndarray) -> np.ndarray:
        """The logits (N n, tags) for evaluation: each distinct word is looked at once."""
        words, rows = np.unique(x, return_inverse=True)
        out = np.empty((len(words), PLACES * self.n_tags), self.net.dtype)
        for start in range(0, len(words), SLICE):
            some = words[start : start + SLICE]
            out[start : start + SLICE] = self._run(some, self.net.workspace(len(some), "predict"))
        return self._logits(out, rows.reshape(x.shape))

    def _logits(self, out: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """The sum of the three parts: of out (N, n + 2, 3 tags) or, where it has a row a word, of those `rows`."""
        total = 0
        words = out.shape[1] if rows is None else rows.shape[1]
        for seen, units in self._places(words):
            total = total + (out[:, seen, units] if rows is None else out[rows[:, seen], units])
        return total.reshape(-1, self.n_tags)

    def _places(self, words: int) -> list[tuple[slice, slice]]:
        """For each place, before, at and after a word: which of the words of a piece stand there, and the units of the
        output that see it."""
        places = []
        for place in range(PLACES):
            seen = slice(place, words - 2 + place)
            places.append((seen, slice(place * self.n_tags, (place + 1) * self.n_tags)))
        return places

    def _run(self, words, work) -> np.ndarray:
        """The output (words, 3 tags) of the DeepNet."""
        net = self.net
        work.z_in[:] = self._filters(words)
        work.z_in += net.b_in
        net.activation.value(work.z_in.T, work.H_in)
        with np.errstate(over="ignore"):  # as in DeepNet
            for layer in work.layers:
                net.block_forward(layer)
        return work.last[:-1].T @ net.W_out.T + net.b_out

    def _filters(self, words) -> np.ndarray:
        """The largest value of each filter over the places of each word, (words, width).  Keeps which place that is."""
        codes = self.codes[words]
        shape = (len(words), self.net.hidden)
        tables = self.net.W_in.reshape(-1, SPAN, self.n_codes).transpose(1, 2, 0).copy()  # (3, codes, width)
        top = np.full(shape, -np.inf, self.net.dtype)
        self.place = np.zeros(shape, np.intp)
        for place in range(brown.LONGEST):
            z = tables[0][codes[:, place]]
            for offset in range(1, SPAN):
                z += tables[offset][codes[:, place + offset]]
            np.copyto(self.place, place, where=z > top)
            np.maximum(top, z, out=top)
        return top

    def _filters_backward(self, dz: np.ndarray) -> None:
        """dz (width, words) -> dW_in: each filter learns from the three characters where it was largest."""
        dW = self.net.grad.W_in
        width = len(dz)
        rows = np.arange(width) * dW.shape[1]
        words = self.words[:, None]
        for offset in range(SPAN):
            columns = offset * self.n_codes + self.codes[words, self.place + offset]
            total = np.bincount((rows + columns).ravel(), dz.T.ravel(), dW.size).reshape(dW.shape)
            part = slice(offset * self.n_codes, (offset + 1) * self.n_codes)
            dW[:, part] = total[:, part]


class Part(NamedTuple):
    """Pieces of text, and the tags of their words."""

    x: np.ndarray  # (N, PIECE + 2)
    y: np.ndarray  # (N, PIECE)


def parts_of(corpus: brown.Corpus, setting: dict) -> tuple[Part, Part]:
    """The pieces that a trial learns, drawn by its seed, and those it is measured by, the same for all seeds: of
    held-out texts, or of test texts."""
    tenth = corpus.texts % TENTH
    learned = tenth < TENTH - 2
    measured = tenth == (TENTH - 2 if setting["held_out"] else TENTH - 1)
    parts = []
    for pieces, words, seed in ((learned, "n_train", [setting["seed"], 2]), (measured, "n_test", 0)):
        rows = np.random.default_rng(seed).permutation(np.flatnonzero(pieces))
        rows = rows[: setting[words] // brown.PIECE]
        parts.append(Part(corpus.x[rows], corpus.y[rows]))
    return tuple(parts)


def make(setting: dict, corpus: brown.Corpus) -> CharacterNet:
    """The net of a trial, as its seed draws it.  With `drawn_biases` those of its layers are drawn, too."""
    settings = {"scale": 1.0} if setting["block"] == "residual" else {}
    block = hn.Block.find(setting["block"], **settings)
    sizes = (corpus.n_codes, len(corpus.tag_names), setting["width"], setting["depth"])
    made = CharacterNet(corpus.codes, *sizes, block, setting["seed"], setting.get("gate_bias", 0.0))
    if setting.get("drawn_biases"):
        rng = np.random.default_rng([setting["seed"], 3])
        limit = 1 / math.sqrt(setting["width"])
        for b in (made.net.b_H, made.net.b_T):
            b[:] = rng.uniform(-limit, limit, b.shape)
    return made


def cross_entropy(logits: np.ndarray, y: np.ndarray) -> tuple[np.number, np.ndarray]:
    """logits (N n, tags), y (N, n) -> the mean over all words, and its gradient."""
    return hn.softmax_cross_entropy(logits, y.ravel())


@hn.one_blas_thread()
def trial(setting: dict, load=brown.load_brown) -> dict:
    """Trains the net of a trial; `accuracy` is that on held-out or on test words."""
    corpus = load()
    learned, measured = parts_of(corpus, setting)
    net = make(setting, corpus)
    steps = setting["epochs"] * (len(learned.x) // BATCH)
    optimizer = hn.Adam(net.parameters, setting["lr"], hn.Settings().clip, decay=LAST_RATE ** (1 / steps))
    shuffle = np.random.default_rng([setting["seed"], 1])
    orders = (shuffle.permutation(len(learned.x)) for _ in range(setting["epochs"]))
    rows, diverged_at = hn.train_epochs(net, optimizer, *learned, orders, BATCH, loss=cross_entropy)
    diverged = diverged_at is not None
    return {
        "diverged": diverged,
        "loss": None if diverged else hn.four_digits(rows[-1]["train_loss"]),
        "accuracy": None if diverged else hn.accuracy(net, measured.x, measured.y.ravel()),
    }
