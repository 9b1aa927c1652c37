"""What the tests in test_together.py let several ranks do.

    mpiexec -n 3 python tests/helpers/of_ranks.py FOLDER FUNCTION ...

Each rank writes the results of FUNCTION(ranks, FOLDER), by their names, to FOLDER/INDEX.pickle."""

import pickle
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

import highway_networks as hn
from conv_highway_networks import train_one
from highways.commands import run_command
from highways.conv.images import fingerprint
from highways.conv.net import ConvNet
from highways.conv.normalised import Normalised
from highways.conv.protocols import net_of, settings_of
from highways.conv.together import joined_ranks, let_the_first_rank_speak
from highways.conv.training import Training, train_conv
from highways.nets.optimizers import SGD, Nesterov

LAYERS = [("conv", 3, 4), ("highway-bn", 3), ("pool", 2, 2), ("conv-bn", 3, 5), ("dense", 3)]
WITHOUT_CHANCE = {"epochs": 2, "dropout": (), "shift": 0, "lr": 0.05}


def exchange_often(ranks, folder):
    """What this rank is handed in 200 turns.  The arrays differ in length; their numbers are 1000 turn + index."""
    generator = np.random.default_rng(ranks.index)
    handed = []
    for turn in range(200):
        mine = np.full(generator.integers(0, 9), 1000 * turn + ranks.index)
        handed.append(ranks.gather(mine).tolist())
    return handed


def gradients_of(step: int, size: int) -> np.ndarray:
    """Gradients of three ranks whose sums in different orders are different numbers."""
    rng = np.random.default_rng(step)
    return rng.permuted([[1e16] * size, [1.0] * size, [-1e16] * size], axis=0)


def add_up_often(ranks, folder):
    """-1 times the sums of all gradients, by gradient descent from 0."""
    sums = []
    for step, size in enumerate((1, 2, 3, 1000, 1001, 1000)):
        parameters = np.zeros(size)
        optimizer = SGD(parameters[ranks.part_of(parameters)], lr=1, momentum=0)
        gradient = gradients_of(step, size)[ranks.index].copy()
        ranks.step(optimizer, gradient, parameters)
        sums.append(parameters)
    return sums


def conv_gradient(ranks, folder):
    """For 12 images: the loss, the gradient, and its norm; the statistics and the parameters after
    a step."""
    rng = np.random.default_rng(0)
    net = ConvNet((1, 8, 8), LAYERS, rng, dtype=np.float64)
    net.parameters[:] += rng.normal(0, 0.1, net.parameters.shape)
    x = rng.random((12, 64))
    y = rng.integers(0, 3, 12)
    part = net.parameters[ranks.part_of(net.parameters)] if ranks.count > 1 else net.parameters
    optimizer = Nesterov(part, 0.1, weight_decay=1e-3)
    for layer in net.layers:
        if isinstance(layer, Normalised):
            layer.exchange = ranks.exchange
    rows = ranks.rows(len(x))
    logits = ranks.gather(net.forward(x[rows]))
    loss, d_logits = hn.softmax_cross_entropy(logits, y)
    gradient = net.backward(d_logits[rows])
    total = np.sum(ranks.exchange(gradient), axis=0)
    norm = ranks.step(optimizer, gradient, net.parameters)
    return float(loss), total, norm, net.statistics.copy(), net.parameters.copy()


def tiny_training(ranks, data, seed=0) -> Training:
    images = {"n_train": len(data.x_train), "n_test": len(data.x_test)}
    settings = settings_of(protocol="paper", seed=seed, ranks=ranks.count, **images, **WITHOUT_CHANCE)
    of_images = fingerprint(data)
    training = Training(settings, of_images, net=net_of(settings, of_images, LAYERS))
    if ranks.count > 1:
        training.join(ranks)
    return training


def train_tiny(ranks, folder):
    """The history of a run without dropout and shifts, its last parameters and statistics."""
    data = hn.load_mnist(folder / "eight")
    training = tiny_training(ranks, data)
    train_conv(training, data)
    return [*training.history.values(), training.net.parameters.copy(), training.net.statistics.copy()]


def draw(ranks, folder):
    """The order of the images, and a number with which this rank drops units, in two epochs of two seeds."""
    data = hn.load_mnist(folder / "eight")
    orders = []
    numbers = []
    for seed in (0, 1):
        training = tiny_training(ranks, data, seed)
        for epoch in (1, 2):
            orders.append(training.begin_epoch().tolist())
            numbers.append(training.rng_of_rank.random())
            training.history["epoch"].append(epoch)
    return orders, numbers


def stop_and_go_on(ranks, folder):
    """Two runs of a net with running statistics: whole, and stopped after an epoch.  Of each the settings, the history,
    what the net learned, and the arrays of its checkpoint."""
    data = hn.load_mnist(folder / "shapes")
    images = {"n_train": len(data.x_train), "n_test": len(data.x_test)}
    settings = settings_of(net="mnist-3", block="highway-bn", epochs=2, ranks=ranks.count, **images)
    found = []
    for name, stops in (("whole", [None]), ("stopped", [1, None])):
        checkpoint = folder / f"{name}.npz"
        for stop in stops:
            run = train_one(settings, data, checkpoint, stop_after=stop, resume=ranks.index == 0, ranks=ranks)
        with np.load(checkpoint) as net:
            arrays = [net[array].tobytes() for array in ("parameters", "statistics", "v")]
        found.append([run["ranks"], run["history"], run["filters"], run["wrong"], arrays])
    return found


def work(names: list[str], folder: Path) -> None:
    with joined_ranks() as ranks:
        results = {name: globals()[name](ranks, folder) for name in names}
        (folder / f"{ranks.index}.pickle").write_bytes(pickle.dumps(results))


if __name__ == "__main__":
    let_the_first_rank_speak()
    folder, *names = sys.argv[1:]
    sys.exit(run_command("of_ranks", lambda save: work(names, Path(folder))))
