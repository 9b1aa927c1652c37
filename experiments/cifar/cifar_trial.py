"""Trains a net of Tables 2 and 3 on CIFAR, from its checkpoint or from its seed."""

from __future__ import annotations

from pathlib import Path

from highways.conv import protocols
from highways.conv import trials as conv_trials
from highways.conv.nets import find_net

# kinds of nets: net and block
HIGHWAY_A = ("highway-a", "highway")
HIGHWAY_B = ("highway-b", "highway")
HIGHWAY_C = ("highway-c", "highway")
PLAIN_A = ("highway-a", "plain")
PLAIN_B = ("highway-b", "plain")
MAXOUT_A = ("highway-a", "plain-maxout")
MAXOUT_B = ("highway-b", "plain-maxout")
NINETEEN = ("nineteen-layers", "highway")
EVENING = ("eight-layers", "highway-bn")

TEN = "cifar-10"
HUNDRED = "cifar-100"
PICTURED = ((*HIGHWAY_A, TEN, 0), (*NINETEEN, TEN, 0))  # kind, data and seed of the nets in pictures
MOST_WRONG = 30  # the most misclassified images that are kept


def setting(kind, data: str, protocol: str, epochs: int, seed: int, selection: dict, changes: dict) -> dict:
    """The setting of a trial; `selection` comes from all_images() or held_out().

    `changes` replaces settings of the protocol, or the net's gate bias."""
    net, block = kind
    settings = protocols.settings_of(
        net=net,
        data=data,
        block=block,
        protocol=protocol,
        epochs=epochs,
        seed=seed,
        gate_bias=find_net(net).gate_bias,
        **selection,
    )
    return {**conv_trials.setting(settings), **changes}


def trial(setting: dict, load, checkpoint: Path | None = None) -> dict:
    return for_pictures(setting, conv_trials.train(setting, load(setting["data"]), checkpoint))


def for_pictures(setting: dict, result: dict) -> dict:
    """The result with only what pictures show of this net."""
    is_pictured = (setting["net"], setting["block"], setting["data"], setting["seed"]) in PICTURED
    if not is_pictured or setting["protocol"] != "short" or setting["validation"]:
        return conv_trials.without_pictures(result)
    if "wrong" in result:
        return {**result, "wrong": result["wrong"][:MOST_WRONG]}
    return result
