"""Any bytes but the known ones are refused, or are named as the user's own."""

import gzip

import pytest
from conftest import idx_bytes, write_data_set
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import highway_networks as hn

NAMES = hn.FILES
IMAGES = (0, 2)  # which of these are images
HEADER = 16  # bytes of a file of images before its pixels


@pytest.mark.filterwarnings("ignore::UserWarning")  # of labels that skip a class
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    garbage=st.binary(max_size=60),
    which=st.sampled_from(range(4)),
    at=st.integers(0, 60),
    is_compressed=st.booleans(),
    is_whole=st.booleans(),
)
@example(garbage=b"0", which=0, at=20, is_compressed=False, is_whole=False)  # another pixel
@example(garbage=b"0", which=0, at=40, is_compressed=False, is_whole=False)  # one byte too many
@example(garbage=b"\x09", which=0, at=2, is_compressed=False, is_whole=False)  # bytes with a sign
@example(garbage=b"\x04", which=1, at=8, is_compressed=False, is_whole=False)  # a label that skips a class
def test_any_bytes_are_read_as_what_they_say_or_refused(tmp_path, garbage, which, at, is_compressed, is_whole):
    folder = write_data_set(tmp_path / "shapes", n_train=6, n_test=3, side=2, compress=False)
    path = folder / NAMES[which]
    good = path.read_bytes()
    content = garbage if is_whole else good[:at] + garbage + good[at + len(garbage) :]
    path.write_bytes(gzip.compress(content) if is_compressed else content)
    only_pixels = which in IMAGES and not is_whole and at >= HEADER and at + len(garbage) <= len(good)
    try:
        data = hn.load_mnist(folder)
    except ValueError:
        assert content != good
        assert not only_pixels
        return
    arrays = (data.x_train.reshape(-1, 2, 2), data.y_train, data.x_test.reshape(-1, 2, 2), data.y_test)
    assert idx_bytes(arrays[which]) == content
    assert data.name not in hn.KNOWN_SETS.values()


def test_mnist_with_one_byte_changed_is_not_mnist(tmp_path):
    whole = {name: gzip.decompress((hn.BUNDLED / f"{name}.gz").read_bytes()) for name in NAMES}
    for name, content in whole.items():
        (tmp_path / name).write_bytes(content)
    for name, content in whole.items():
        (tmp_path / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))  # another grey or label
        assert hn.load_mnist(tmp_path).name != "MNIST"
        (tmp_path / name).write_bytes(content)
    assert hn.load_mnist(tmp_path).name == "MNIST"
