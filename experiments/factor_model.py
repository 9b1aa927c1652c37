"""Is the mean gate of a highway net a measure of how complex a market's regime is?

    python -m experiments factor_model            -> results/factor_model.json

An encyclopedia article's application: returns from factors by a net num_factors -> hidden ReLU ->
4 highway layers (gate bias -1) -> 1 under the squared error.  The article reads the mean gate of
an input as how complex the regime is: closed in calm, linear ones, open in turbulent ones.  Here
the truth is known, because the data are simulated: days in a calm or a turbulent regime that last
(a Markov chain), factors f, a return

    y = beta' f + [turbulent and non-linear] kappa g(f) + noise,    g: products, absolute values, a threshold

in three worlds that take the article's two properties of turbulence apart:

    both         turbulent days are volatile and non-linear: what the article speaks of
    volatile     turbulent days are volatile, and as linear as calm ones: nothing is more complex
    non-linear   turbulent days are non-linear and no more volatile; a state among the factors shows the regime

The first two have the same factors and noise day by day, and differ in the non-linearity alone.
Measured on later days that the net has not seen: how well an input's mean gate tells turbulent
from calm (AUC, rank correlation).  Beside it the gates before training (a gate at a negative bias
opens for any large input), the norm of the factors, their Mahalanobis norm (nothing can tell a
change of scale better), their volatility over the last twenty days, and the error of a plain net,
which knows y.  Verdicts are on paired differences over seeds, by 95 % intervals.  Ten and fifty
seeds left open whether the gates tell anything in the third world; so there are 200.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

import highway_networks as hn
from claims.claim import Claim, of
from claims.rules import above
from experiments.question import Question
from plumbing.statistics import mean_sd_n
from training import measures
from training.trials import Runner

BUDGETS = {
    "quick": {"seeds": 2, "epochs": 2, "n_train": 2000, "n_test": 1000},
    "default": {"seeds": 200, "epochs": 20, "n_train": 20000, "n_test": 10000},
    "full": {"seeds": 1000, "epochs": 50, "n_train": 50000, "n_test": 20000},
}
WORLDS = ("both", "volatile", "non-linear")
FACTORS = 8
HIDDEN = 32
DEPTH = 4
GATE_BIAS = -1.0
# of the worlds, fixed before the first run
STAYS = 0.98  # the probability that a regime lasts another day
VOLATILITY = 2.0  # of turbulent days over calm ones
KAPPA = 0.5  # the size of the non-linearity
NOISE = 0.5
# of the training
BATCH = 128
RATE = 2e-3
WINDOW = 20  # days over which volatility is measured

# ---- The data --------------------------------------------------------------------------------------------------------


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


# ---- The net ---------------------------------------------------------------------------------------------------------


def make(block: str, setting: dict) -> hn.DeepNet:
    rng = np.random.default_rng(setting["seed"])
    return hn.DeepNet(FACTORS, 1, HIDDEN, DEPTH, block, rng, activation="relu", init="he", gate_bias=GATE_BIAS)


def trained(block: str, x: np.ndarray, y: np.ndarray, setting: dict) -> hn.DeepNet:
    """A net (n, FACTORS) -> (n, 1) after Adam on the mean squared error.

    Raises FloatingPointError if it diverges."""
    net = make(block, setting)
    shuffle = np.random.default_rng([setting["seed"], 1])
    steps = setting["epochs"] * len(x) / BATCH
    optimizer = hn.Adam(net.parameters, RATE, decay=0.01 ** (1 / steps))
    orders = (shuffle.permutation(len(x)) for _ in range(setting["epochs"]))
    _, diverged = hn.train_epochs(net, optimizer, x, y, orders, BATCH, loss=squared_error)
    if diverged:
        raise FloatingPointError(diverged)
    return net


def squared_error(out: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """out (N, 1), y (N,) -> the mean of (out - y)^2, and its gradient (N, 1)."""
    error = out - y[:, None].astype(out.dtype)
    return np.mean(error**2), 2 / len(y) * error


# ---- Scores that may tell turbulent days from calm ones --------------------------------------------------------------


def openness(net: hn.DeepNet, x: np.ndarray) -> np.ndarray:
    """x (N, FACTORS) -> the mean transform gate of each input, (N,)."""
    return net.gates(x).mean(axis=(0, 2), dtype=np.float64)


def mahalanobis_norm(f: np.ndarray, fitted_to: np.ndarray) -> np.ndarray:
    """f (N, FACTORS) -> (N,): the norm of f in units in which the factors of `fitted_to` are uncorrelated and have
    variance 1."""
    root = np.linalg.cholesky(np.cov(fitted_to.T))
    return np.linalg.norm(np.linalg.solve(root, f.T), axis=0)


def recent_volatility(norm: np.ndarray) -> np.ndarray:
    """The root mean square of the norm over the last WINDOW days, fewer at the beginning."""
    sums = np.concatenate([[0.0], np.cumsum(norm**2)])
    ends = np.arange(1, len(norm) + 1)
    starts = np.maximum(ends - WINDOW, 0)
    return np.sqrt((sums[ends] - sums[starts]) / (ends - starts))


def trial(setting: dict) -> dict:
    days = setting["n_train"] + setting["n_test"]
    f, y, turbulent = simulate(setting["world"], days, np.random.default_rng(setting["seed"]))
    train = slice(setting["n_train"])
    test = slice(setting["n_train"], None)
    x = ((f - f[train].mean(axis=0)) / f[train].std(axis=0)).astype(np.float32)
    y = (y - y[train].mean()) / y[train].std()
    nets = {block: trained(block, x[train], y[train], setting) for block in ("highway", "plain")}

    predictions = {block: net.predict(x[test])[:, 0] for block, net in nets.items()}
    predictions["linear"] = x[test] @ np.linalg.lstsq(x[train].astype(float), y[train], rcond=None)[0]
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

    now = turbulent[test]
    result = {f"auc_{name}": measures.auc(score, now) for name, score in scores.items()}
    result["rank_correlation_gate"] = float(stats.spearmanr(scores["gate"], now)[0])
    result["rank_correlation_gate_norm"] = float(stats.spearmanr(scores["gate"], scores["norm"])[0])
    for regime, of_regime in (("calm", ~now), ("turbulent", now)):
        result[f"mean_gate_{regime}"] = float(scores["gate"][of_regime].mean())
        for name, error in errors.items():
            result[f"error_{name}_{regime}"] = float(np.mean(error[of_regime] ** 2))
    return result


def run(runner: Runner) -> list[dict]:
    budget = runner.settings
    of_budget = {name: budget[name] for name in ("epochs", "n_train", "n_test")}
    seeds = range(budget["seeds"])
    wanted = [{"world": world, "seed": seed, **of_budget} for world in WORLDS for seed in seeds]
    return runner.run(trial, wanted)


# ---- What they say ---------------------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions; a row for each world; by how much the mean gate's AUC exceeds others."""
    trials = record["trials"]
    names = [name for name in trials[0] if name.startswith(("auc", "rank", "mean_gate", "error"))]
    result = [{"row": "definitions", "window": WINDOW}]
    for world in WORLDS:
        row = {"world": world}
        for name in names:
            row[name] = mean_sd_n(of(trials, name, world=world))
        result.append(row)
    for less, values in differences(trials).items():
        result.append({"row": "difference", "less": less, "difference": mean_sd_n(values)})
    return result


def differences(trials: list[dict]) -> dict[str, list[float]]:
    """The mean gate's AUC where turbulent days are volatile and non-linear, less other AUCs, seed by seed.

    {what is subtracted: the differences}.  If the mean gate measured complexity, all would be above 0."""
    by_seed = sorted(trials, key=lambda trial: trial["seed"])
    gate = np.array(of(by_seed, "auc_gate", world="both"))
    subtracted = {
        "where volatile only": of(by_seed, "auc_gate", world="volatile"),
        "before training": of(by_seed, "auc_gate_before_training", world="both"),
        "norm": of(by_seed, "auc_norm", world="both"),
    }
    return {name: (gate - np.array(values)).tolist() for name, values in subtracted.items()}


def gate_auc_by_world(record: dict) -> dict:
    return {
        "both": of(record["trials"], "auc_gate", world="both"),
        "non_linear": of(record["trials"], "auc_gate", world="non-linear"),
    }


ABOUT = {"n_train": (20000, 50000)}
CLAIMS = (
    Claim(
        id="mean-gate-tells-turbulence",
        source="encyclopedia article",
        says="a factor model's mean gate says how complex the regime is: it is open in turbulent regimes",
        about=ABOUT,
        measure=gate_auc_by_world,
        show="AUC {both:2}; non-linear only {non_linear:2}",
        holds=lambda m: [above(m["both"], 0.5), above(m["non_linear"], 0.5)],
    ),
    Claim(
        id="mean-gate-tells-complexity",
        source="encyclopedia article",
        says="... for their complexity: more than where they are volatile only, than before training, "
        "and than the norm",
        about=ABOUT,
        measure=lambda r: differences(r["trials"]),
        show="AUC more by {where volatile only:2}, {before training:2}, {norm:2}",
        holds=lambda m: [above(difference, 0) for difference in m.values()],
    ),
)

QUESTION = Question(
    name="factor_model",
    source="an encyclopedia article on highway networks: a factor model of returns",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    claims=CLAIMS,
)
