"""Trains a factor model on simulated days, and scores how turbulent each later day is.

factor_model.py explains the worlds, the net and the scores.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from highways.nets import measures

WORLDS = ("both", "volatile", "non-linear")
FACTORS = 8
WIDTH = 32  # units of a layer, unless a trial names another width
DEPTH = 4
GATE_BIAS = -1.0
# the worlds, fixed before the first run
STAYS = 0.98  # the probability that a regime lasts another day
VOLATILITY = 2.0  # the ratio of turbulent days' volatility to that of calm ones
KAPPA = 0.5  # the size of the non-linearity
NOISE = 0.5
# the training
BATCH = 128
RATE = 2e-3
WINDOW = 20  # days over which volatility is measured


def trial(setting: dict) -> dict:
    """Trains on the first days of a world, and scores the days after them."""
    days = setting["n_train"] + setting["n_test"]
    f, y, turbulent = simulate(setting["world"], days, np.random.default_rng(setting["seed"]))
    train = slice(setting["n_train"])
    test = slice(setting["n_train"], None)
    x = ((f - f[train].mean(axis=0)) / f[train].std(axis=0)).astype(np.float32)
    y = (y - y[train].mean()) / y[train].std()
    nets = {block: trained(block, x[train], y[train], setting) for block in ("highway", "plain")}

    predictions = {block: net.predict(x[test])[:, 0] for block, net in nets.items()}
    linear = np.linalg.lstsq(x[train].astype(float), y[train], rcond=None)[0]
    predictions["linear"] = x[test] @ linear
    errors = {name: np.abs(predicted - y[test]) for name, predicted in predictions.items()}
    norm = np.linalg.norm(x.astype(np.float64), axis=1)
    scores = {
        "gate": openness(nets["highway"], x[test]),
        "gate_before_training": openness(make("highway", setting), x[test]),
        "norm": norm[test],
        "mahalanobis": mahalanobis_norm(f[test], fitted_to=f[train]),
        "volatility": recent_volatility(norm)[test],
        "plain_error": errors["plain"],
    }

    from scipy.stats import spearmanr  # imported here: it takes half a second

    is_turbulent = turbulent[test]
    result = {f"auc_{name}": measures.auc(score, is_turbulent) for name, score in scores.items()}
    result["rank_correlation_gate"] = float(spearmanr(scores["gate"], is_turbulent)[0])
    with_norm = spearmanr(scores["gate"], scores["norm"])[0]
    result["rank_correlation_gate_norm"] = float(with_norm)
    for regime, is_regime in (("calm", ~is_turbulent), ("turbulent", is_turbulent)):
        result[f"mean_gate_{regime}"] = float(scores["gate"][is_regime].mean())
        for name, error in errors.items():
            result[f"error_{name}_{regime}"] = float(np.mean(error[is_regime] ** 2))
    return result


# ---- The data -----------------------------------------------------------------------------------


def simulate(
    world: str,
    n: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Simulates n successive days.

    Returns the factors (n, FACTORS), the returns (n,), and whether each day is turbulent (n,)."""
    turbulent = np.cumsum(rng.random(n) > STAYS) % 2 == 1
    correlation = 0.3 + 0.7 * np.eye(FACTORS)
    f = rng.normal(size=(n, FACTORS)) @ np.linalg.cholesky(correlation).T
    if world == "non-linear":
        f[:, -1] = np.where(turbulent, 1.0, -1.0) + 0.5 * rng.normal(size=n)
    else:
        f *= np.where(turbulent, VOLATILITY, 1.0)[:, None]
    beta = rng.normal(size=FACTORS) / np.sqrt(FACTORS)
    y = f @ beta + NOISE * rng.normal(size=n)
    if world != "volatile":
        threshold = np.maximum(f[:, 3] - 1, 0)
        y += KAPPA * turbulent * (f[:, 0] * f[:, 1] + np.abs(f[:, 2]) - 2 * threshold)
    return f, y, turbulent


# ---- The net ------------------------------------------------------------------------------------


def make(block: str, setting: dict) -> hn.DeepNet:
    rng = np.random.default_rng(setting["seed"])
    width = setting.get("width", WIDTH)
    return hn.DeepNet(
        FACTORS,
        1,
        width,
        DEPTH,
        block,
        rng,
        activation="relu",
        init="he",
        gate_bias=GATE_BIAS,
    )


def trained(block: str, x: np.ndarray, y: np.ndarray, setting: dict) -> hn.DeepNet:
    """A net (n, FACTORS) -> (n, 1) after Adam on the mean squared error.

    Raises FloatingPointError if it diverges."""
    net = make(block, setting)
    shuffle = np.random.default_rng([setting["seed"], 1])
    steps = setting["epochs"] * len(x) / BATCH
    optimizer = hn.Adam(net.parameters, RATE, decay=0.01 ** (1 / steps))
    orders = (shuffle.permutation(len(x)) for _ in range(setting["epochs"]))
    _, diverged_at = hn.train_epochs(net, optimizer, x, y, orders, BATCH, loss=squared_error)
    if diverged_at:
        raise FloatingPointError(diverged_at)
    return net


def squared_error(out: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """out (N, 1), y (N,) -> the mean of (out - y)^2, and its gradient (N, 1)."""
    error = out - y[:, None].astype(out.dtype)
    return np.mean(error**2), 2 / len(y) * error


# ---- Scores that may tell turbulent days from calm ones -----------------------------------------


def openness(net: hn.DeepNet, x: np.ndarray) -> np.ndarray:
    """x (N, FACTORS) -> the mean transform gate of each input, (N,)."""
    return net.gates(x).mean(axis=(0, 2), dtype=np.float64)


def mahalanobis_norm(f: np.ndarray, fitted_to: np.ndarray) -> np.ndarray:
    """f (N, FACTORS) -> (N,): the norm of f in units in which the factors of `fitted_to` are
    uncorrelated and have variance 1."""
    root = np.linalg.cholesky(np.cov(fitted_to.T))
    return np.linalg.norm(np.linalg.solve(root, f.T), axis=0)


def recent_volatility(norm: np.ndarray) -> np.ndarray:
    """The root mean square of the norm over the last WINDOW days, fewer at the beginning."""
    sums = np.concatenate([[0.0], np.cumsum(norm**2)])
    ends = np.arange(1, len(norm) + 1)
    starts = np.maximum(ends - WINDOW, 0)
    return np.sqrt((sums[ends] - sums[starts]) / (ends - starts))
