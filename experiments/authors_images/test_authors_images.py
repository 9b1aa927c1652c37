"""Which images the authors trained on: losses before training, and the first epochs."""

import numpy as np
import pytest
from conftest import verdict_on

from experiments.authors_images import question as authors_images
from experiments.authors_images.trial import Scaled
from experiments.published import AUTHORS_LOGS
from highways.cifar import PIXELS
from highways.conv.pipeline import Pipeline

LOGS = authors_images.CURRENT + authors_images.EARLIER


def record_of(factors: dict[str, float], accuracies: dict[str, float]) -> dict:
    """A record in which the losses lie around those of the logs, times the log's factor."""
    trials = []
    for name in LOGS:
        loss = AUTHORS_LOGS[name]["before_training"]
        losses = [loss * factors.get(name, 1) * (0.9 + 0.01 * draw) for draw in range(21)]  # from 0.9 to 1.1
        for kind in authors_images.KINDS:
            of_images = {"root_mean_square": 1.0, "bytes_of_image": 5000.0, "largest_of_mean_image": 0.1}
            trials.append({"log": name, "images": kind, "losses": losses, **of_images})
    starts = [{"images": "contrast", "diverged": True}, {"images": "contrast", "diverged": False}]
    starts.append({"images": "whitened", "diverged": False})
    epochs = [
        {"images": kind, "test_accuracy": [accuracy - 0.1, accuracy + 0.1], "diverged": False}
        for kind, accuracy in accuracies.items()
    ]
    record = {"settings": {"logs": [*LOGS], "epochs": 2}}
    record["trials"] = {"before_training": trials, "start": starts, "first_epochs": epochs}
    return {**record, "summary": authors_images.rows(record)}


ACCURACIES = {"contrast": 0.5, "whitened": 0.6, "smaller": 0.5}


@pytest.mark.parametrize(
    ("ten", "hundred", "verdict"),
    [
        (1, 1, "reproduced"),
        (1.05, 0.95, "reproduced"),
        (1.3, 1, "in part"),
        (1, 0.8, "in part"),
        (1.3, 0.8, "not reproduced"),
    ],
)
def test_both_current_logs_must_lie_in_the_middle_of_our_losses(ten, hundred, verdict):
    record = record_of({"CIFAR-10": ten, "CIFAR-100": hundred, "CIFAR-10, earlier": 1.3}, ACCURACIES)
    for kind in authors_images.KINDS:
        assert verdict_on("authors_images", f"authors-images-{kind}", record) == verdict


@pytest.mark.parametrize(("factor", "verdict"), [(1, "reproduced"), (0.95, "reproduced"), (1.3, "not reproduced")])
def test_the_earlier_log_is_judged_alone(factor, verdict):
    record = record_of({"CIFAR-10": 1.3, "CIFAR-10, earlier": factor}, ACCURACIES)
    for kind in authors_images.KINDS:
        assert verdict_on("authors_images", f"authors-earlier-log-{kind}", record) == verdict


@pytest.mark.parametrize(
    ("smaller", "whitened", "verdict"),
    [
        (0.57, 0.6, "reproduced"),
        (0.53, 0.6, "not reproduced"),
        (0.56, 0.6, "not clear"),  # nearer to half of the lead than two seeds are to each other
        (0.54, 0.6, "not clear"),
        (0.56, 0.515, "not clear"),  # there is no lead to explain
        (0.54, 0.4, "not clear"),
    ],
)
def test_smaller_pixels_explain_a_lead_if_they_have_half_of_it(smaller, whitened, verdict):
    record = record_of({}, {"contrast": 0.5, "whitened": whitened, "smaller": smaller})
    assert verdict_on("authors_images", "authors-images-size", record) == f"{verdict}, one run"


def test_smaller_pixels_are_those_of_normalised_contrast_times_a_factor():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (20, PIXELS), np.uint8)
    scaled = Scaled(Pipeline("contrast", pad=8), 0.5).fit(x)
    pipeline = Pipeline("contrast", pad=8).fit(x)
    np.testing.assert_array_equal(scaled.test(x), pipeline.test(x) / 2)
    np.testing.assert_array_equal(scaled.before_mean_image(x), pipeline.before_mean_image(x) / 2)
    ours = scaled.train_batch(x, np.random.default_rng(1))
    np.testing.assert_array_equal(ours, pipeline.train_batch(x, np.random.default_rng(1)) / 2)
