"""The room headline: its verdicts, and what its numbers need."""

import numpy as np
import pytest
from conftest import ROOT, verdict_on

import highway_networks as hn
from experiments.headline import headline, pixels, pixels_trial, show
from experiments.headline.headline import in_place_of
from experiments.headline.pixels_trial import NETS
from experiments.shared_trials import fully_connected, headline_nets
from highway_networks import PIXELS
from highways.files import read_json
from highways.lab.judging.searched_rates import accuracies_by_rate
from highways.lab.showing import style

# ---- Verdicts -------------------------------------------------------------------------------------

NOISE = (-0.001, 0, 0.001)


def pairs(highway=0.9, plain=0.11, plain_losses=(2.303,), loss=0.2, lower=0.1, upper=0.1) -> dict:
    """Three seeds at depth 30."""
    runs = []
    for noise in NOISE:
        mean_T = [lower + noise] * 10 + [0.9] * 10 + [upper] * 10  # the ten in the middle do not count
        losses = {"train_loss": [one + noise for one in plain_losses]}
        runs.append({
            "highway": {
                "final_test_acc": highway + noise, "final_train_loss": loss + noise, "final_T_per_layer": mean_T
            },
            "plain": {"final_test_acc": plain + noise, "history": losses},
        })  # fmt: skip
    return {"runs": runs}


def by_depth(highway, plain) -> dict:
    """One seed at each depth of the sweep."""
    runs = []
    for depth, high, low in zip((5, 10, 20, 30, 50), highway, plain, strict=True):
        runs.append({"depth": depth, "highway": {"final_test_acc": high}, "plain": {"final_test_acc": low}})
    return {"runs": runs}


def shallow(at_10) -> dict:
    runs = []
    for depth, accuracies in ((5, [0.86, 0.87, 0.85]), (10, at_10)):
        runs += [{"depth": depth, "plain": {"final_test_acc": accuracy}} for accuracy in accuracies]
    return {"runs": runs}


ALIKE = [0.9, 0.91, 0.91, 0.92, 0.9]
FALLING = [0.9, 0.6, 0.11, 0.1, 0.12]


@pytest.mark.parametrize(
    ("claim", "record", "verdict"),
    [
        ("highway-learns-plain-does-not", pairs(), "reproduced"),
        ("highway-learns-plain-does-not", pairs(plain=0.3), "in part"),
        ("highway-learns-plain-does-not", pairs(highway=0.3), "in part"),
        ("highway-learns-plain-does-not", pairs(highway=0.3, plain=0.3), "not reproduced"),
        ("no-overlap-over-seeds", pairs(), "reproduced"),
        ("no-overlap-over-seeds", pairs(plain=0.899), "not reproduced"),
        ("highway-over-three-seeds", pairs(highway=headline.PUBLISHED_MEAN), "reproduced"),
        ("highway-over-three-seeds", pairs(highway=0.95), "not reproduced"),
        ("highway-loss", pairs(loss=headline.HIGHWAY_LOSS), "reproduced"),
        ("highway-loss", pairs(loss=0.3), "not reproduced"),
        ("plain-loss-stays", pairs(plain_losses=(2.303, 2.302)), "reproduced"),
        ("plain-loss-stays", pairs(plain_losses=(2.303, 2.2)), "in part"),
        ("highway-is-flat-in-depth", by_depth(ALIKE, FALLING), "reproduced, one run"),
        ("highway-is-flat-in-depth", by_depth(ALIKE, ALIKE), "in part, one run"),
        ("contrast-saturates-by-20", by_depth(ALIKE, FALLING), "reproduced, one run"),
        ("contrast-saturates-by-20", by_depth(ALIKE, [0.9, 0.9, 0.9, 0.6, 0.1]), "not reproduced, one run"),
        ("plain-at-5-and-10", shallow([0.29, 0.3, 0.28]), "reproduced"),
        ("plain-at-5-and-10", shallow([0.84, 0.85, 0.86]), "in part"),  # depth 10 learns as well
        ("lower-layers-more-open", pairs(lower=0.3, upper=0.1), "reproduced"),
        ("lower-layers-more-open", pairs(lower=0.1, upper=0.3), "not reproduced"),
        ("lower-layers-more-open", pairs(lower=0.1, upper=0.1), "not clear"),
    ],
)
def test_verdict(claim, record, verdict):
    assert verdict_on("headline", claim, record) == verdict


@pytest.mark.parametrize(
    ("shut", "without", "open_after", "verdict"),
    [
        (0.9, 0.9, 3e-9, "reproduced"),
        (0.8, 0.9, 3e-9, "in part"),
        (0.9, 0.891, 3e-9, "in part, the rest not clear"),
        (0.8, 0.8, 0.1, "not reproduced"),
    ],
)
def test_verdict_on_shut_gates(shut, without, open_after, verdict):
    trials = []
    for noise in NOISE:
        setting = {"epochs": 12, "n_train": 6000}
        of_shut = {"kind": "shut gates", "depth": 30, "test_accuracy": shut + noise, "open_after": open_after}
        of_none = {"kind": "no blocks", "depth": 0, "test_accuracy": without + noise, "open_after": None}
        trials += [{**setting, **of_shut}, {**setting, **of_none}]
    record = {"depth": 30, "epochs": 12, "n_train": 6000, **pairs()}
    assert verdict_on("shut_gates", "accurate-without-blocks", {"trials": trials}, record) == verdict


def test_a_control_replaces_the_net_of_its_seed_and_depth():
    runs = [{"seed": seed, "depth": 30, "highway": {"final_test_acc": 0.9}, "plain": {}} for seed in (0, 1)]
    finals = []
    for control in (headline_nets.NO_BLOCKS, headline_nets.BEST_PLAIN):
        for seed, accuracy in ((1, 0.8), (0, 0.7)):
            measured = {"diverged": False, "test_accuracy": accuracy, "loss": 0.1, "history": {"train_loss": [0.1]}}
            finals.append({"control": control, "seed": seed, "depth": 30, **measured})
    [record] = in_place_of("highway", headline_nets.NO_BLOCKS)({"runs": runs}, {"trials": {"final": finals}})
    assert [pair["highway"]["final_test_acc"] for pair in record["runs"]] == [0.7, 0.8]
    assert record["runs"][0]["plain"] == {}


# ---- Trials ---------------------------------------------------------------------------------------

SETTING = {"lr": 5e-3, "depth": 4, "seed": 1, "epochs": 1, "n_train": 256, "n_test": 100}


def test_a_net_without_blocks_has_none():
    assert headline_nets.make({**SETTING, "control": headline_nets.NO_BLOCKS}).depth == 0


def test_shut_gates_stay_shut():
    result = headline_nets.trial({**SETTING, "control": headline_nets.GATES_SHUT})
    assert max(result["mean_T"]) < 1e-8
    assert len(result["history"]["train_loss"]) == 1


def test_random_gates_do_not_learn():
    net = headline_nets.make({**SETTING, "control": headline_nets.RANDOM_GATES})
    before = net.parameters.copy()
    W_T = net.W_T.copy()
    optimizer = headline_nets.WithoutGates(net, hn.Adam(net.parameters, 1e-3, 5.0))
    optimizer.step(np.ones_like(net.parameters))
    np.testing.assert_array_equal(net.W_T, W_T)
    assert np.count_nonzero(net.parameters != before) == len(before) - net.W_T.size - net.b_T.size


def test_the_headline_net_is_trained_as_highway_networks_trains_it():
    """With learning gates a control would be the headline's own net."""
    settings = hn.Settings(seed=1, depth=4, epochs=1, n_train=256, n_test=100)
    data = hn.subset(hn.load_mnist(), 1, 256, 100)
    run = hn.run_one("highway", settings, data)
    result = headline_nets.trial({**SETTING, "control": headline_nets.HIGHWAY})
    assert result["test_accuracy"] == run["final_test_acc"]
    assert result["loss"] == pytest.approx(run["final_train_loss"], rel=1e-4)
    assert result["mean_T"] == pytest.approx(run["final_T_per_layer"], rel=1e-3)


def test_an_untrained_net_guesses():
    setting = {**SETTING, "control": headline_nets.UNTRAINED}
    result = headline_nets.trial(setting)
    net = headline_nets.make(setting)
    images = headline_nets.images(1, 256, 100)
    x_train, x_test = (hn.scale_pixels(x, np.float32) for x in (images.x_train, images.x_test))
    loss, _ = hn.softmax_cross_entropy(net.predict(x_train), images.y_train)
    assert result["loss"] == pytest.approx(loss, rel=1e-4)
    assert result["test_accuracy"] == hn.accuracy(net, x_test, images.y_test)
    assert result["loss"] == pytest.approx(np.log(10), rel=0.05)


@pytest.mark.parametrize("misspelt", [{"control": "shut gates"}, {"control": headline_nets.HIGHWAY, "start": "he"}])
def test_no_other_control_or_start_is_made(misspelt):
    with pytest.raises(ValueError, match="no control"):
        headline_nets.make({**SETTING, **misspelt})


# ---- Picture --------------------------------------------------------------------------------------


def test_the_picture_shows_every_seed():
    with style.house_style():
        shut = read_json(ROOT / "experiments" / "results" / "shut_gates.json")
        fig = show.shut_gates(shut, read_json(ROOT / "run_seeds.json"))
        [ax] = fig.axes
        assert [len(line.get_xdata()) for line in ax.get_lines()][:4] == [10, 10, 10, 10]
        style.plt.close(fig)


# ---- A rate for every net, pixels in [-1, 1] and in [0, 1] ---------------------------------------


def searched(accuracy, best=None) -> dict:
    """A record of `pixels` in which accuracy(kind, interval of pixels) is the mean over seeds; the best rate is the
    fifth, or best(kind)."""
    budget = pixels.BUDGETS["default"]
    search, final = [], []
    for interval in PIXELS:
        for kind in NETS:
            net = {"pixels": interval, "kind": kind, "depth": 30, "epochs": 12, "n_train": 6000, "diverged": False}
            place = best(kind) if best else 4
            for rate in budget["rates"]:
                of_rate = 0.5 + (rate == budget["rates"][place]) * accuracy(kind, interval) / 10
                search.append({**net, "lr": rate, "n_test": 4000, "accuracy": of_rate, "loss": 0.2})
            for seed in range(10):
                noise = 1e-3 * np.sin(seed + len(kind))
                final.append(
                    {**net, "seed": seed, "n_test": 10000, "accuracy": accuracy(kind, interval) + noise, "loss": 0.2}
                )
    return {"settings": budget, "trials": {"search": search, "final": final}}


@pytest.mark.parametrize(
    ("claim", "highway", "verdict"),
    [
        ("searched-highway-over-shut", {"[-1, 1]": 0.91, "[0, 1]": 0.91}, "reproduced"),
        ("searched-highway-over-shut", {"[-1, 1]": 0.89, "[0, 1]": 0.91}, "in part"),
        ("searched-highway-over-no-blocks", {"[-1, 1]": 0.89, "[0, 1]": 0.89}, "not reproduced"),
        ("searched-plain-as-accurate", {"[-1, 1]": 0.905, "[0, 1]": 0.905}, "reproduced"),
        ("searched-plain-as-accurate", {"[-1, 1]": 0.92, "[0, 1]": 0.92}, "not reproduced"),
        ("pixels-decide-the-gain", {"[-1, 1]": 0.90, "[0, 1]": 0.91}, "reproduced"),
        ("pixels-decide-the-gain", {"[-1, 1]": 0.91, "[0, 1]": 0.90}, "not reproduced"),
    ],
)
def test_the_order_of_nets_with_a_rate_each(claim, highway, verdict):
    record = searched(lambda kind, interval: highway[interval] if kind == "highway" else 0.9)
    assert verdict_on("pixels", claim, record) == verdict


@pytest.mark.parametrize("end", [0, len(pixels.RATES) - 1])
def test_a_best_rate_at_an_end_leaves_a_row_open(end):
    record = searched(
        lambda kind, interval: 0.91 if kind == "highway" else 0.9, lambda kind: end if kind == "highway" else 4
    )
    assert verdict_on("pixels", "searched-highway-over-shut", record) == "not clear"


def test_a_net_that_diverged_counts_as_guessing_in_the_search():
    record = searched(lambda kind, interval: 0.9)
    for trial in record["trials"]["search"]:
        if trial["lr"] == pixels.RATES[4]:
            trial |= {"diverged": True, "accuracy": None}
    accuracies = accuracies_by_rate(record["trials"]["search"], kind="highway", pixels=PIXELS[0])
    assert accuracies[pixels.RATES[4]] == 0.1
    assert max(accuracies.values()) == 0.5


def test_images_held_out_are_not_trained_on():
    drawn = pixels_trial.images(300, 200, 100, held_out=True)
    assert (len(drawn.x_train), len(drawn.x_test)) == (200, 100)
    trained_on = {image.tobytes() for image in drawn.x_train}
    assert not trained_on & {image.tobytes() for image in drawn.x_test}
    in_training_set = {image.tobytes() for image in fully_connected.data_set().x_train}
    assert all(image.tobytes() in in_training_set for image in drawn.x_test)
