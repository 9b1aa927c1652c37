"""Is the mean gate of a highway net a measure of how complex a market's regime is?

    python -m experiments.factor_model            -> results/factor_model.json

An encyclopedia article's application: returns from factors by a net num_factors -> hidden ReLU -> 4 highway layers
(gate bias -1) -> 1 under the squared error; the mean gate of an input is read as how complex the regime is, closed in
calm, linear ones, open in turbulent ones.  Here the truth is known, because the data are simulated: days in a calm or a
turbulent regime that last (a Markov chain), factors f, a return

    y = beta' f + [turbulent and non-linear] kappa g(f) + noise,    g: products, absolute values, a threshold

in three worlds that take the article's two properties of turbulence apart:

    both         turbulent days are volatile and non-linear: what the article speaks of
    volatile     turbulent days are volatile, and as linear as calm ones: nothing is more complex
    non-linear   turbulent days are non-linear and no more volatile; a state among the factors shows the regime

The first two have the same factors and noise day by day, and differ in the non-linearity alone.  Measured on later
days that the net has not seen: how well an input's mean gate tells turbulent from calm (AUC, rank correlation), beside
the gates before training (a gate at a negative bias opens for any large input), the norm of the factors, their
Mahalanobis norm (nothing can tell a change of scale better), their volatility over the last twenty days, and the error
of a plain net, which knows y.  Verdicts are on paired differences over seeds, by 95 % intervals.  There are 200 seeds,
because ten, and then fifty, left open whether the gates tell anything in the third world.
"""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import numpy as np
from scipy import stats

import highway_networks as hn
from claims.rules import Claim, above, mean_sd_n, of, print_claims, shown_in
from training import measures
from training.trials import Experiment, run_and_exit

BUDGETS = {
    "quick": {"seeds": 2, "epochs": 2, "n_train": 2000, "n_test": 1000},
    "default": {"seeds": 200, "epochs": 20, "n_train": 20000, "n_test": 10000},
    "full": {"seeds": 1000, "epochs": 50, "n_train": 50000, "n_test": 20000},
}
WORLDS = ("both", "volatile", "non-linear")
FACTORS, HIDDEN, DEPTH, GATE_BIAS = 8, 32, 4, -1.0
STAYS, VOLATILITY, KAPPA, NOISE = 0.98, 2.0, 0.5, 0.5  # fixed before the first run
BATCH, RATE = 128, 2e-3
WINDOW = 20


def simulate(world: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """n days one after another: factors (n, FACTORS), returns (n,), whether a day is turbulent (n,)."""
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
        y += KAPPA * turbulent * (f[:, 0] * f[:, 1] + np.abs(f[:, 2]) - 2 * np.maximum(f[:, 3] - 1, 0))
    return f, y, turbulent


def trained(block: str, x, y, t: dict) -> hn.DeepNet:
    """A net (n, FACTORS) -> (n, 1) after Adam on the mean squared error."""
    net, shuffle = make(block, t), np.random.default_rng([t["seed"], 1])
    optimizer = hn.Adam(net.parameters, RATE, decay=0.01 ** (BATCH / (t["epochs"] * len(x))))
    orders = (shuffle.permutation(len(x)) for _ in range(t["epochs"]))
    _, diverged = hn.train_epochs(net, optimizer, x, y, orders, BATCH, loss=squared_error)
    if diverged:
        raise FloatingPointError(diverged)
    return net


def make(block: str, t: dict) -> hn.DeepNet:
    rng = np.random.default_rng(t["seed"])
    return hn.DeepNet(FACTORS, 1, HIDDEN, DEPTH, block, rng, activation="relu", init="he", gate_bias=GATE_BIAS)


def squared_error(out: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """out (N, 1), y (N,) -> the mean of (out - y)^2, and its gradient (N, 1)."""
    error = out - y[:, None].astype(out.dtype)
    return np.mean(error**2), 2 / len(y) * error


def openness(net: hn.DeepNet, x: np.ndarray) -> np.ndarray:
    """x (N, FACTORS) -> the mean transform gate of each input, (N,)."""
    return net.gates(x).mean(axis=(0, 2), dtype=np.float64)


def recent_volatility(norm: np.ndarray) -> np.ndarray:
    """The root mean square of the norm over the last WINDOW days, fewer at the beginning."""
    sums = np.concatenate([[0.0], np.cumsum(norm**2)])
    ends = np.arange(1, len(norm) + 1)
    starts = np.maximum(ends - WINDOW, 0)
    return np.sqrt((sums[ends] - sums[starts]) / (ends - starts))


def trial(t: dict) -> dict:
    f, y, turbulent = simulate(t["world"], t["n_train"] + t["n_test"], np.random.default_rng(t["seed"]))
    train, test = slice(t["n_train"]), slice(t["n_train"], None)
    scale = f[train].std(axis=0)
    x = ((f - f[train].mean(axis=0)) / scale).astype(np.float32)
    y = (y - y[train].mean()) / y[train].std()
    nets = {block: trained(block, x[train], y[train], t) for block in ("highway", "plain")}
    norm = np.linalg.norm(x.astype(np.float64), axis=1)
    errors = {block: np.abs(net.predict(x[test])[:, 0] - y[test]) for block, net in nets.items()}
    scores = {
        "gate": openness(nets["highway"], x[test]),
        "gate_before_training": openness(make("highway", t), x[test]),
        "norm": norm[test],
        "mahalanobis": np.linalg.norm(np.linalg.solve(np.linalg.cholesky(np.cov(f[train].T)), f[test].T), axis=0),
        "volatility": recent_volatility(norm)[test],
        "plain_error": errors["plain"],
    }
    now = turbulent[test]
    result = {f"auc_{name}": measures.auc(score, now) for name, score in scores.items()}
    result["rank_correlation_gate"] = float(stats.spearmanr(scores["gate"], now)[0])
    result["rank_correlation_gate_norm"] = float(stats.spearmanr(scores["gate"], scores["norm"])[0])
    for name, days in (("calm", ~now), ("turbulent", now)):
        result[f"mean_gate_{name}"] = float(scores["gate"][days].mean())
        result |= {f"error_{block}_{name}": float(np.mean(errors[block][days] ** 2)) for block in nets}
        linear = x[test] @ np.linalg.lstsq(x[train].astype(float), y[train], rcond=None)[0]
        result[f"error_linear_{name}"] = float(np.mean((linear - y[test])[days] ** 2))
    return result


def main(argv=None) -> None:
    e = Experiment("factor_model", __doc__, BUDGETS, argv)
    own = {name: e.settings[name] for name in ("epochs", "n_train", "n_test")}
    todo = [{"world": world, "seed": seed, **own} for world in WORLDS for seed in range(e.settings["seeds"])]
    trials = e.run(trial, todo)
    record = e.save("an encyclopedia article on highway networks: a factor model of returns", summarise(trials), trials)
    print_claims(CLAIMS, record)


def summarise(trials: list[dict]) -> dict:
    names = [name for name in trials[0] if name.startswith(("auc", "rank", "mean_gate", "error"))]
    summary = {
        f"{name}_{world.replace('-', '_')}": mean_sd_n([t[name] for t in trials if t["world"] == world])
        for world in WORLDS
        for name in names
    }
    return summary | {f"auc_gate_{name}": mean_sd_n(values) for name, values in differences(trials).items()}


def differences(trials: list[dict]) -> dict[str, list[float]]:
    """Of the mean gate's AUC, seed by seed, to what it should be above if it measured complexity."""

    def of(name, world):
        return np.array([t[name] for t in sorted(trials, key=lambda t: t["seed"]) if t["world"] == world])

    gate = of("auc_gate", "both")
    return {
        "less_that_of_volatile": (gate - of("auc_gate", "volatile")).tolist(),
        "less_that_before_training": (gate - of("auc_gate_before_training", "both")).tolist(),
        "less_that_of_the_norm": (gate - of("auc_norm", "both")).tolist(),
    }


CLAIMS = [
    Claim(
        "encyclopedia article",
        "a factor model's mean gate says how complex the regime is: it is open in turbulent regimes",
        values=lambda r: [of(r["trials"], "auc_gate", world=world) for world in ("both", "non-linear")],
        ours=shown_in("AUC {}; non-linear only {}", 2),
        holds=lambda *auc: [above(each, 0.5) for each in auc],
    ),
    Claim(
        "encyclopedia article",
        "... for their complexity: more than where they are volatile only, than before training, and than the norm",
        values=lambda r: [*differences(r["trials"]).values()],
        ours=shown_in("AUC more by {}, {}, {}", 2),
        holds=lambda *more: [above(each, 0) for each in more],
    ),
]


if __name__ == "__main__":
    run_and_exit("factor_model")
