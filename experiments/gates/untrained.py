"""The control of all that is said of gates: the same nets, untrained.

Its functions return results with the gates that the nets have at the start.
"""

from __future__ import annotations

from highways.lab.judging.controls import Control


def as_untrained(nets: dict, longer: dict) -> tuple[dict, dict]:
    """The results of `gates` and of `gates_over_training`."""
    at_start = {}
    for trial in nets["trials"]:
        at_start[trial["data"], trial["seed"]] = trial["untrained"]
    untrained = [{**trial, **at_start[trial["data"], trial["seed"]]} for trial in nets["trials"]]
    untrained_for_longer = []
    for trial in longer["trials"]:
        measured = at_start[trial["data"], trial["seed"]]
        checkpoints = [{**checkpoint, **measured} for checkpoint in trial["measured"]]
        untrained_for_longer.append({**trial, "measured": checkpoints})
    return {**nets, "trials": untrained}, {**longer, "trials": untrained_for_longer}


def nets_alone(nets: dict) -> tuple[dict]:
    """The results of `gates`."""
    untrained, _ = as_untrained(nets, {"trials": []})
    return (untrained,)


def longer_alone(longer: dict, nets: dict) -> tuple[dict]:
    """The results of `gates_over_training`; those of `gates` have the untrained nets."""
    _, untrained = as_untrained(nets, longer)
    return (untrained,)


NAME = "an untrained net"
NETS = Control(NAME, nets_alone)
NETS_AND_LONGER = Control(NAME, as_untrained)
LONGER = Control(NAME, longer_alone, over=("gates",))
OF_BIASES = "where no bias has learned none has fallen, and all are alike, so that they correlate with nothing"
