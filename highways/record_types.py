"""What a record may hold: each kind of record is declared once, and msgspec compares JSON with it.

An entry that may be UNSET may be missing.  No entry may have another name, except where a class says so."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Count = Annotated[int, Meta(ge=0)]
Size = Annotated[int, Meta(ge=1)]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Share = Annotated[float, Meta(ge=0, le=1)]
NotNegative = Annotated[float, Meta(ge=0)]
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Commit = Annotated[str, Meta(pattern="^[0-9a-f]{12,64}(-dirty)?$")]


class Strict(Struct, forbid_unknown_fields=True):
    """A part of a record."""


class Environment(Struct):
    """What computed the numbers.  It may have other entries: a benchmark's has the versions of rivals."""

    python: str
    numpy: str
    git: Commit | UnsetType | None = UNSET
    data_sets: dict[str, Sha256] | UnsetType = UNSET
    git_of_trials: list[str] | UnsetType = UNSET
    env_of_trials: list[dict[str, str | None] | None] | UnsetType = UNSET  # where trials ran in another


# ---- What highway_networks.py writes --------------------------------------------------------------


class History(Strict):
    epoch: list[Size]
    train_loss: list[float]
    train_acc: list[Share]
    test_acc: list[Share]
    grad_norm: list[NotNegative]


class LayerHistory(Strict):
    step: list[Count]
    loss: list[float]
    gradient: list[list[NotNegative]]
    T: list[list[Share]] | UnsetType = UNSET


class Net(Strict):
    label: str
    block: Literal["highway", "plain"]
    depth: Size
    hidden: Size
    epochs: Size
    batch_size: Size
    lr: NotNegative
    seed: Seed
    n_parameters: Size
    diverged: bool
    diverged_at: str | None
    history: History
    final_train_acc: Share | None
    final_test_acc: Share | None
    final_train_loss: float | None
    wallclock_sec: NotNegative
    gate_bias: float | UnsetType = UNSET
    above_guessing: bool | UnsetType = UNSET
    layer_T_history: list[tuple[Count, list[Share]]] | UnsetType = UNSET
    final_T_per_layer: list[Share] | UnsetType | None = UNSET
    layer_history: LayerHistory | UnsetType = UNSET


class Pair(Strict):
    depth: Size
    seed: Seed
    wallclock_sec: NotNegative
    highway: Net
    plain: Net


class Runs(Strict):
    seed: Seed | None
    hidden: Size
    depth: Size | None
    epochs: Size
    batch_size: Size
    lr: NotNegative
    n_train: Size
    n_test: Size
    gate_bias: float | None
    clip: NotNegative
    dtype: Literal["float32", "float64"]
    activation: str
    optimizer: str
    n_classes: Annotated[int, Meta(ge=2)]
    data_set: str
    data_sha256: Sha256
    env: Environment
    runs: Annotated[list[Pair], Meta(min_length=1)]
    depths: list[Size] | UnsetType = UNSET
    seeds: list[Seed] | UnsetType = UNSET
    digest: Sha256 | UnsetType = UNSET


# ---- What conv_highway_networks.py writes ---------------------------------------------------------


class ConvHistory(Strict):
    epoch: list[Size]
    train_loss: list[float]
    train_accuracy: list[Share]
    test_accuracy: list[Share]
    grad_norm: list[NotNegative]
    test_loss: list[float] | UnsetType = UNSET


class Parent(Strict):
    """The checkpoint from which a branch began."""

    epoch: Size
    lr: NotNegative
    sha256: Sha256


class ConvSettings(Strict, kw_only=True):
    """What a record and each of its runs say; older ones do not say their ranks."""

    net: str
    data: str
    block: str
    protocol: str
    epochs: Size
    lr: NotNegative
    n_train: Size
    n_test: Size
    dropout: list[Share]
    shift: Count
    schedule: str
    weight_decay: NotNegative
    decay_of_last: NotNegative
    init: str
    first: float | str | None
    last: float | str
    images: str
    gate_bias: float
    validation: bool
    ranks: Size | UnsetType = UNSET


class ConvRun(ConvSettings, kw_only=True):
    label: str
    seed: Seed
    n_parameters: Size
    commits: Annotated[list[Commit | None], Meta(min_length=1)]
    diverged: bool
    history: ConvHistory
    wallclock_sec: NotNegative
    diverged_at: str | UnsetType | None = UNSET
    parent: Parent | UnsetType = UNSET
    stopped_after: Size | UnsetType = UNSET
    train_accuracy: Share | UnsetType | None = UNSET
    test_accuracy: Share | UnsetType | None = UNSET
    loss: float | UnsetType | None = UNSET
    filters: list | UnsetType = UNSET
    mean_T: list[Share] | UnsetType = UNSET
    mean_T_per_position: list | UnsetType = UNSET
    wrong: list[dict] | UnsetType = UNSET  # images with a wrong answer


class ConvRuns(ConvSettings, kw_only=True):
    data_set: str
    data_sha256: Sha256
    data_sha256_as_read: Sha256
    env: Environment
    runs: Annotated[list[ConvRun], Meta(min_length=1)]
    seed: Seed | UnsetType | None = UNSET
    seeds: list[Seed] | UnsetType = UNSET
    batch_size: Size | UnsetType = UNSET
    n_classes: Size | UnsetType = UNSET
    digest: Sha256 | UnsetType = UNSET


# ---- What experiments and benchmarks write --------------------------------------------------------


class Trial(Struct):
    """What the trials of several questions have.  The other entries of a trial are its question's."""

    seed: Seed | UnsetType = UNSET
    depth: Count | UnsetType = UNSET
    width: Size | UnsetType = UNSET
    epochs: Size | UnsetType = UNSET
    n_train: Size | UnsetType = UNSET
    n_test: Size | UnsetType = UNSET
    n_parameters: Size | UnsetType = UNSET
    seconds: NotNegative | UnsetType = UNSET
    wallclock_sec: NotNegative | UnsetType = UNSET
    diverged: bool | str | UnsetType | None = UNSET
    diverged_at: str | UnsetType | None = UNSET
    commits: list[Commit | None] | UnsetType = UNSET


class Results(Strict):
    experiment: str
    source: str
    command: str
    settings: dict
    env: Environment
    summary: list[dict] | dict
    trials: list[Trial] | dict[str, list[Trial]]
    judged: dict[str, Sha256] | UnsetType = UNSET  # of the ledger: the digests of the results that it judged
    digest: Sha256 | UnsetType = UNSET


class Measured(Results):
    """Of a benchmark, or measured for a page: times and answers, in trials of any form."""

    trials: Any
