"""The seeds that were added: with the settings that a search chose, and seeds it did not use."""

import json

from conftest import ROOT

from highways.files import read_json
from highways.nets import search

RESULTS = ROOT / "results"


def settings_but_for_the_seed(trials: list[dict]) -> set[str]:
    return {json.dumps({**setting, "seed": 0}) for setting in search.chosen_settings(trials)}


def test_more_seeds_have_the_settings_that_were_chosen():
    for question, added in read_json(RESULTS / "more_seeds.json")["trials"].items():
        final = read_json(RESULTS / f"{question}.json")["trials"]["final"]
        assert settings_but_for_the_seed(added) < settings_but_for_the_seed(final)
        assert not {trial["seed"] for trial in final} & {trial["seed"] for trial in added}
