"""The two drawing programs: what they draw from small records, like ours and like the published program's; and the
programs alone in a folder."""

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import imageio.v3 as imageio
import matplotlib
import numpy as np
import pytest
from conftest import ROOT, in_process, one_line_error
from small_records import diverged, ours, published

import make_highway_networks_gif as gif
import visualize_highway_networks as viz


def curves(ax, n=None) -> list[tuple[list, list]]:
    """The x and y of the first lines of the axes."""
    return [(list(line.get_xdata()), list(line.get_ydata())) for line in ax.lines[:n]]


def levels(ax) -> list[float]:
    """The heights of the horizontal lines across the axes."""
    return [line.get_ydata()[0] for line in ax.lines if list(line.get_xdata()) == [0, 1]]


def histories(record, name) -> list[tuple[list, list]]:
    """The two curves of a column of the histories of the first pair."""
    pair = record["runs"][0]
    return [(pair[block]["history"]["epoch"], pair[block]["history"][name]) for block in ("highway", "plain")]


# ---- What is drawn ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("record", [ours([(0, 4)], n_classes=4), published(), diverged()])
def test_the_learning_curves(record):
    left, right = viz.learning_curves(record).axes
    assert curves(left, 2) == histories(record, "test_acc")
    assert curves(right, 2) == histories(record, "train_loss")
    assert levels(left) == [1 / record.get("n_classes", 10)]


@pytest.mark.parametrize("record", [ours([(0, 4)], n_classes=4), diverged()])
def test_the_loss_and_the_gradients_before_and_after_training(record):
    left, right = viz.plain_loss_collapse(record).axes
    assert curves(left, 2) == histories(record, "train_loss")
    assert levels(left) == [math.log(record["n_classes"])]
    expected = []
    for block in ("highway", "plain"):
        gradients = record["runs"][0][block]["layer_history"]["gradient"]
        expected += [([1, 2, 3, 4], gradients[0]), ([1, 2, 3, 4], gradients[-1])]
    assert curves(right, 4) == expected


def test_a_record_without_layers_shows_the_norm_of_the_gradient():
    """As the published program writes it, or where one net lacks them."""
    without = ours([(0, 4)])
    del without["runs"][0]["plain"]["layer_history"]
    for record in (published(), without):
        _, right = viz.plain_loss_collapse(record).axes
        assert curves(right) == histories(record, "grad_norm")


def test_the_sweep_shows_the_mean_and_deviation_over_seeds_at_each_depth():
    record = ours([(0, 4), (0, 2), (1, 2), (1, 4)], seeds=[0, 1])
    for pair, accuracy in zip(record["runs"], (0.5, 0.7, 0.9, None), strict=True):  # the last run diverged
        pair["highway"]["final_test_acc"] = accuracy
    for pair, loss in zip(record["runs"], (1.0, 2.0, 2.0, 1.0), strict=True):
        pair["plain"]["final_train_loss"] = loss
    left, right = viz.depth_sweep(record).axes
    assert list(left.get_xticks()) == [2, 4]
    [(depths, means)] = curves(left, 1)
    assert depths == [2, 4]
    assert means == pytest.approx([0.8, 0.5])
    bars = left.containers[0].lines[2][0].get_segments()
    deviation = np.std([0.7, 0.9], ddof=1)
    assert [list(bar[:, 1]) for bar in bars] == [
        pytest.approx([0.8 - deviation, 0.8 + deviation]),
        pytest.approx([0.5, 0.5]),
    ]
    _, plain = right.containers
    assert list(plain.lines[0].get_ydata()) == [2.0, 1.0]


def test_the_first_steps_show_the_gates_and_gradients_of_every_block():
    record = ours([(0, 4)])
    layers = record["runs"][0]["highway"]["layer_history"]
    gates, gradients = viz.T_gate_evolution(record).axes
    shown = [0, 2, 3, 4]  # steps 0, 5, 100 and the last one, 120
    assert curves(gates) == [([1, 2, 3, 4], layers["T"][k]) for k in shown]
    assert curves(gradients) == [([1, 2, 3, 4], layers["gradient"][k]) for k in shown]


def test_a_record_without_layers_shows_the_gates_epoch_by_epoch():
    record = published()
    [ax] = viz.T_gate_evolution(record).axes
    history = record["runs"][0]["highway"]["layer_T_history"]
    assert curves(ax) == [([1, 2, 3, 4], gates) for _, gates in history]


def test_the_final_gates_stand_beside_their_start():
    record = ours([(0, 4)], gate_bias=-1.5)
    [ax] = viz.T_gate_final(record).axes
    assert [bar.get_height() for bar in ax.patches] == record["runs"][0]["highway"]["final_T_per_layer"]
    assert levels(ax) == [pytest.approx(1 / (1 + math.exp(1.5)))]


def test_every_seed_is_drawn_and_diverged_ones_leave_the_mean():
    record = ours([(0, 4), (7, 4), (2, 4)])
    for pair, accuracy in zip(record["runs"], (0.5, 0.7, None), strict=True):
        pair["highway"]["final_test_acc"] = accuracy
    left, right = viz.seeds(record).axes
    highway, plain = right.collections
    assert [tick.get_text() for tick in right.get_xticklabels()] == ["0", "7", "2"]
    assert [list(point) for point in highway.get_offsets()] == [[0, 0.5], [1, 0.7]]
    assert [list(point) for point in plain.get_offsets()] == [[0, 0.9], [1, 0.9], [2, 0.9]]
    assert "0.600 ± 0.141" in right.texts[0].get_text()
    assert curves(left, 3) == [histories(record, "test_acc")[0]] * 3


# ---- The frames of the GIF -------------------------------------------------------------------------------------------


@pytest.fixture
def figures(monkeypatch):
    """The figures of the frames, which are not made into images."""
    found = []
    monkeypatch.setattr(gif, "as_image", found.append)
    return found


def test_a_frame_shows_the_layers_at_its_own_step(figures):
    record = ours([(0, 4)])
    gif.draw_step(record, 5)
    loss, gradient, gates = figures[0].axes
    for curve, norms, block in zip(curves(loss, 2), curves(gradient), viz.COLOR, strict=True):
        layers = record["runs"][0][block]["layer_history"]
        assert curve == ([0, 1, 5], layers["loss"][:3])
        assert norms == ([1, 2, 3, 4], layers["gradient"][2])
    heights = [bar.get_height() for bar in gates.patches]
    assert heights == record["runs"][0]["highway"]["layer_history"]["T"][2]


def test_a_frame_shows_the_accuracies_of_its_own_epoch(figures):
    """Gates may be known before the first epoch, and not after every one."""
    record = published()
    gates = record["runs"][0]["highway"]["layer_T_history"]
    record["runs"][0]["highway"]["layer_T_history"] = [[0, [0.1] * 4], gates[0], gates[2]]
    for k, epochs in enumerate(([], [1], [1, 2, 3])):
        gif.draw_epoch(record, k)
        assert [x for x, _ in curves(figures[k].axes[0], 2)] == [epochs, epochs]


# ---- The programs ----------------------------------------------------------------------------------------------------

MAINS = {"visualize_highway_networks.py": viz.main, "make_highway_networks_gif.py": gif.main}
VISUALIZE, GIF = MAINS
OF_RUN = ["T_gate_evolution.png", "T_gate_final.png", "learning_curves.png", "plain_loss_collapse.png"]


def write(folder, **records) -> None:
    """Writes records, or texts, as the JSON of these names."""
    for name, record in records.items():
        text = record if isinstance(record, str) else json.dumps(record)
        (folder / f"{name}.json").write_text(text)


def files(folder) -> list[str]:
    """All files but JSON and programs, at any depth."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".json", ".py", ".pyc")]
    return sorted(path.name for path in paths)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """run(program, *words) runs a program in this process as if it lay in `tmp_path`."""
    for module in (viz, gif):
        monkeypatch.setattr(module, "ROOT", tmp_path)

    def run_main(program, *words):
        with matplotlib.rc_context():
            return in_process(MAINS[program], *words)

    return run_main


def run_alone(folder, program, *words, **environment):
    """Runs a copy of the program in a folder in which nothing else of the project lies."""
    known = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MPLBACKEND")}
    return subprocess.run(
        [sys.executable, program, *words],
        cwd=folder,
        env=known | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def must_be_a_gif_of(path, n_frames) -> None:
    frames = imageio.imread(path, index=None)
    assert len(frames) == n_frames
    assert all((frames[i] != frames[i + 1]).any() for i in range(n_frames - 1))


def test_alone_beside_its_json_a_program_draws(tmp_path):
    """A matplotlibrc changes nothing: a picture is the one that is drawn here."""
    shutil.copy(ROOT / VISUALIZE, tmp_path)
    records = {"run": ours([(0, 4)])}
    write(tmp_path, **records)
    style_file = tmp_path / "matplotlibrc"
    style_file.write_text("text.usetex: true\naxes.prop_cycle: cycler('color', ['w'])\nfont.size: 3\n")
    name = "learning_curves"
    nowhere = {"MATPLOTLIBRC": str(style_file), "MPLBACKEND": "module://not_there"}
    process = run_alone(tmp_path, VISUALIZE, "--only", name, **nowhere)
    assert (process.returncode, process.stderr) == (0, "")
    style_file.unlink()
    assert files(tmp_path) == [f"{name}.png"]
    source, draw = viz.PICTURES[name]
    with matplotlib.rc_context():
        viz.set_style()
        assert (tmp_path / "viz" / f"{name}.png").read_bytes() == viz.picture_bytes(draw(records[source]))
    for path in (tmp_path / "viz").glob("*.png"):
        assert imageio.imread(path).std() > 10


def test_the_published_program_s_record_is_drawn(run, tmp_path):
    write(tmp_path, run=published())
    for program in MAINS:
        process = run(program)
        assert (process.returncode, process.stderr) == (None, "")
    assert files(tmp_path) == sorted([*OF_RUN, "highway_networks.gif"])
    must_be_a_gif_of(tmp_path / "highway_networks.gif", 3)


def test_only_a_picture_is_replaced(run, tmp_path):
    write(tmp_path, run=published())
    targets = {VISUALIZE: tmp_path / "viz" / "T_gate_final.png", GIF: tmp_path / "highway_networks.gif"}
    for program, path in targets.items():
        words = ("--only", "T_gate_final") if program == VISUALIZE else ()
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
        one_line_error(run(program, *words))
        assert path.read_text() == "mine"


def test_a_picture_is_the_whole_old_one_or_the_whole_new_one(tmp_path, monkeypatch):
    old, new = b"\x89PNG, old", b"\x89PNG, new"
    picture = tmp_path / "a.png"
    picture.write_bytes(old)

    def write_half(path, data):
        with open(path, "wb") as file:
            file.write(data[:6])
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", write_half)
        with pytest.raises(SystemExit):
            viz.save(picture, new)
    assert picture.read_bytes() == old
    viz.save(picture, new)
    assert picture.read_bytes() == new
    assert os.listdir(tmp_path) == ["a.png"]
