"""Promise 2: a stopped training goes on, and ends as if it had not been stopped, to the bit."""

import numpy as np
import pytest
from conftest import write_data_set
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import highway_networks as hn
from highways.conv import images, protocols
from highways.conv.training import Training, train_conv

EPOCHS = 4


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return hn.load_mnist(write_data_set(tmp_path_factory.mktemp("shapes"), side=14))


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    stops=st.sets(st.integers(1, EPOCHS - 1)),
    protocol=st.sampled_from(["paper", "short"]),
    block=st.sampled_from(["highway", "plain", "residual"]),
    seed=st.integers(0, 2**31),
)
def test_a_training_that_is_stopped_after_any_epochs_ends_with_the_same_bits(
    tmp_path, data, stops, protocol, block, seed
):
    chosen = protocols.settings_of(
        net="mnist-3", protocol=protocol, block=block, epochs=EPOCHS, n_train=300, n_test=80, seed=seed
    )
    whole = Training(chosen, images.fingerprint(data))
    train_conv(whole, data)
    stopped = Training(chosen, images.fingerprint(data))
    checkpoint = tmp_path / "net.npz"
    for epoch in sorted(stops):
        train_conv(stopped, data, checkpoint, stop_after=epoch)
        stopped = Training.load(checkpoint)
    train_conv(stopped, data, checkpoint)
    np.testing.assert_array_equal(stopped.parameters, whole.parameters)
    assert stopped.history == whole.history
