"""The seeds that were added: with the settings that a search chose, and seeds it did not use."""

import json

from conftest import ROOT

from highways.nets import search
from highways.records import load_results

RESULTS = ROOT / "results"


def settings_but_for_the_seed(trials: list[dict]) -> set[str]:
    return {json.dumps({**setting, "seed": 0}) for setting in search.chosen_settings(trials)}


def test_more_seeds_have_the_settings_that_were_chosen():
    for question, added in load_results(RESULTS / "more_seeds.json")["trials"].items():
        final = load_results(RESULTS / f"{question}.json")["trials"]["final"]
        assert settings_but_for_the_seed(added) < settings_but_for_the_seed(final)
        assert not {trial["seed"] for trial in final} & {trial["seed"] for trial in added}
