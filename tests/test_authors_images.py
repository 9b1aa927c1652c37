"""Which images the authors trained on: the losses before training beside those of their logs."""

import pytest
from conftest import verdict_on

from experiments import authors_images
from report.authors_images import losses_and_sizes


def record_of(ten: float, hundred: float) -> dict:
    """A record in which the losses lie around `ten` times and `hundred` times those of the two logs."""
    trials = []
    for data, factor in ((authors_images.TEN, ten), (authors_images.HUNDRED, hundred)):
        log = authors_images.LOGS[data.upper()]["before_training"]
        losses = [log * factor * (0.9 + 0.01 * draw) for draw in range(21)]  # from 0.9 to 1.1
        for kind in authors_images.KINDS:
            of_images = {"root_mean_square": 1.0, "bytes_of_image": 5000.0}
            trials.append({"data": data, "images": kind, "losses": losses, **of_images})
    starts = [{"images": "contrast", "diverged": "epoch 1, step 3"}, {"images": "contrast", "diverged": None}]
    starts.append({"images": "whitened", "diverged": None})
    record = {"settings": {"sets": [authors_images.TEN, authors_images.HUNDRED]}}
    record["trials"] = {"before_training": trials, "start": starts}
    return {**record, "summary": authors_images.rows(record)}


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
@pytest.mark.parametrize("kind", authors_images.KINDS)
def test_the_log_must_lie_in_the_middle_of_our_losses_on_both_sets(kind, ten, hundred, verdict):
    record = record_of(ten, hundred)
    assert verdict_on("authors_images", f"authors-images-{kind}", record) == verdict


def test_a_start_that_diverges_is_counted():
    counted = {row["images"]: (row["diverged"], row["starts"]) for row in record_of(1, 1)["summary"] if "starts" in row}
    assert counted == {"contrast": (1, 2), "whitened": (0, 1)}


def test_the_table_has_a_line_for_each_set_and_kind():
    text = losses_and_sizes(lambda path: record_of(1, 1))
    assert text.count("CIFAR-100") == text.count("CIFAR-10 ") == 2
    assert text.count("5.0") == 4
