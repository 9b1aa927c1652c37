"""The convolutional nets of Tables 1 to 3: a trial, which goes on from its last epoch when it was stopped; and what its
runs reach."""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, fields
from pathlib import Path

import conv_highway_networks as cn
import highway_networks as hn
from experiments.ledger import shown


def setting(settings: cn.Settings, recipe: cn.Protocol) -> dict:
    """A trial: all of Settings, and all of the recipe but its own number of epochs."""
    return recipe._asdict() | {"dropout": [*recipe.dropout]} | asdict(settings)


def train(t: dict, data: hn.Dataset, folder: str, experiment: str) -> dict:
    """One run of a trial: from its seed, or from its checkpoint in the folder if this very program wrote it."""
    settings = cn.Settings(**{field.name: t[field.name] for field in fields(cn.Settings)})
    protocol = cn.Protocol(**{name: t[name] for name in cn.Protocol._fields})
    of_all = zlib.crc32(json.dumps(t, sort_keys=True).encode())
    words = experiment, settings.net, settings.data, settings.block, settings.protocol, settings.seed, f"{of_all:08x}"
    path = Path(folder) / f"{'_'.join(map(str, words))}.npz"
    checkpoint = path if path.parent.is_dir() else None  # on a cluster the folder may be elsewhere
    result = cn.train_one(settings, protocol, cn.select_images(data, settings), checkpoint)
    path.unlink(missing_ok=True)  # the log has it now, or in a moment
    return result


def percents(runs: list[dict]) -> list[float | None]:
    """Test accuracy of each; None where it diverged."""
    accuracies = [t["final_test_acc"] for t in runs]
    return [None if accuracy is None else 100 * accuracy for accuracy in accuracies]


def in_epochs(runs: list[dict]) -> str:
    return f"{shown(percents(runs), digits=4)} in {runs[0]['epochs']} epochs"
