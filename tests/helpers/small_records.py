"""Small records of trainings, from which pictures are drawn: like ours, and like the published program's."""


def small_run(block, epochs=3, layers=4, level=0.9):
    history = {"epoch": list(range(1, epochs + 1)), "train_loss": [2.0 - 0.5 * i for i in range(epochs)]}
    history["test_acc"] = [level * (i + 1) / epochs for i in range(epochs)]
    history["train_acc"] = [accuracy / 2 for accuracy in history["test_acc"]]
    history["grad_norm"] = [3 * accuracy for accuracy in history["test_acc"]]
    record = {
        "label": block,
        "block": block,
        "depth": layers,
        "hidden": 8,
        "epochs": epochs,
        "batch_size": 32,
        "lr": 0.005,
    }
    record |= {
        "seed": 0,
        "history": history,
        "final_train_acc": level / 2,
        "final_test_acc": level,
        "final_train_loss": 1.0,
    }
    if block == "highway":
        record["layer_T_history"] = [[e, [0.1 + 0.02 * e + 0.01 * k for k in range(layers)]] for e in history["epoch"]]
        record["final_T_per_layer"] = record["layer_T_history"][-1][1]
    return record | {"wallclock_sec": 1.0}


def layer_history(block, layers=4):
    """What our program adds to a run, beside what the published one writes."""
    steps = [0, 1, 5, 100, 120]
    history = {"step": steps, "loss": [2.3 - 0.01 * step for step in steps]}
    history["gradient"] = [[10.0 ** (k - layers) * (step + 1) for k in range(layers)] for step in steps]
    if block == "highway":
        history["T"] = [[0.1 + 0.001 * step + 0.01 * k for k in range(layers)] for step in steps]
    return history


def published(depths=(4,)):
    """A record of the published program: no gate bias, clip, data set or seeds, and nothing says `diverged`."""
    head = {
        "seed": 0,
        "hidden": 8,
        "depth": 4,
        "epochs": 3,
        "batch_size": 32,
        "lr": 0.005,
        "n_train": 200,
        "n_test": 60,
    }
    runs = [
        {
            "depth": d,
            "wallclock_sec": 2.0,
            "highway": small_run("highway", layers=d),
            "plain": small_run("plain", level=0.1),
        }
        for d in depths
    ]
    return head | {"env": {"python": "3.12"}, "runs": runs}


def ours(pairs, **more):
    record = published() | {"gate_bias": -2.0, "clip": 5.0, "data_set": "MNIST", "n_classes": 10} | more
    record["runs"] = []
    for seed, depth in pairs:
        both = {}
        for block in ("highway", "plain"):
            both[block] = small_run(block, layers=depth) | {"diverged": False}
            both[block]["layer_history"] = layer_history(block, depth)
        record["runs"].append({"depth": depth, "seed": seed, "wallclock_sec": 2.0, **both})
    return record


def convolutional():
    """A record of conv_highway_networks.py, of a run of two epochs."""
    settings = {"epochs": 2, "lr": 0.1, "net": "mnist-1", "data": "mnist", "block": "highway", "protocol": "short"}
    settings |= {"seed": 0, "n_train": 60000, "n_test": 10000, "validation": False, "shift": 1, "images": "pixels"}
    settings |= {"dropout": [0.0, 0.1], "schedule": "warm cosine", "weight_decay": 1e-3, "decay_of_last": 1e-2}
    settings |= {"init": "he", "first": None, "last": 0.1, "gate_bias": -1.0}
    columns = ("train_loss", "train_accuracy", "test_accuracy", "grad_norm")
    history = {"epoch": [1, 2], **{column: [0.4, 0.5] for column in columns}}
    run = {"label": "mnist-1, mnist, highway, short, seed 0", **settings, "n_parameters": 10, "commits": [None]}
    run |= {"diverged": False, "diverged_at": None, "history": history}
    run |= {"train_accuracy": 0.5, "test_accuracy": 0.5, "loss": 0.5, "wallclock_sec": 1.0}
    data = {"data_set": "MNIST", "data_sha256": "ab" * 32, "data_sha256_as_read": "cd" * 32}
    return {**settings, **data, "env": {"python": "3.12", "numpy": "2.0"}, "runs": [run]}


def diverged():
    record = ours([(0, 4)])
    run = record["runs"][0]["plain"]
    run |= {"diverged": True, "final_test_acc": None, "final_train_acc": None, "final_train_loss": None}
    run["history"] = {name: [] for name in run["history"]}
    run["layer_history"] = {name: values[:2] for name, values in run["layer_history"].items()}
    return record
