"""The pictures and the GIF, drawn from small records: like ours, and like those of the published
program."""

import copy
import json
import os
import subprocess
import sys
from xml.etree import ElementTree

import imageio.v3 as imageio
import pytest
from conftest import ROOT, in_process, must_be_readable, one_line_error, run
from small_records import diverged, ours, published

import make_highway_networks_gif as gif
import visualize_highway_networks as viz
from benchmarks import show as benchmark
from highways.lab.showing import registry, style
from highways.records import sealed

PROGRAMS = {"visualize_highway_networks.py": viz, "make_highway_networks_gif.py": gif}


@pytest.fixture
def draw(tmp_path, capsys):
    """draw(*words, run=..., sweep=..., seeds=...) draws from these records, in this process.

    Returns the finished process, and the names of the files in the output folder.
    """

    def call(*words, script="visualize_highway_networks.py", **records):
        flags = []
        for name in ("run", "sweep", "seeds"):
            if name in records:
                text = records[name] if isinstance(records[name], str) else json.dumps(records[name])
                (tmp_path / f"{name}.json").write_text(text)
                flags += [f"--{name}", tmp_path / f"{name}.json"]
        if script.startswith("visualize"):
            (tmp_path / "results").mkdir(exist_ok=True)
            flags += ["--results", tmp_path / "results"]
        out = tmp_path / "out" if script.startswith("visualize") else tmp_path / "out.gif"
        flags += ["--out", out, *words]
        status = PROGRAMS[script].main([str(flag) for flag in flags])
        process = subprocess.CompletedProcess(flags, status, *capsys.readouterr())
        return process, sorted(os.listdir(tmp_path / "out")) if (tmp_path / "out").is_dir() else None

    return call


OF_RUNS = [name for name, picture in registry.PICTURES.items() if set(picture.sources) <= viz.RUNS.keys()]
ALL = sorted(f"{name}.png" for name in OF_RUNS)


@pytest.mark.parametrize("kind", ["ours", "published", "diverged"])
def test_every_picture(draw, tmp_path, kind):
    one = {"ours": ours([(0, 4)]), "published": published(), "diverged": diverged()}[kind]
    seeds = one
    sweep = ours([(0, 2), (0, 4), (1, 2), (1, 4)], seeds=[0, 1])
    if kind == "ours":
        seeds = ours([(0, 4), (1, 4), (2, 4)])
    elif kind == "published":
        sweep = published((2, 4, 8))
    process, drawn = draw(run=one, sweep=sweep, seeds=seeds)
    assert process.returncode == 0, process.stderr
    assert drawn == ALL
    for name in drawn:
        image = imageio.imread(tmp_path / "out" / name)
        assert image.shape[1] == 1300
        assert image.std() > 10
    assert process.stderr == ""


def test_pictures_move_with_the_numbers():
    """Each picture is drawn from the fields it is about: change one, and the picture changes."""
    fields = {
        "learning_curves": ("plain", "history", "test_acc"),
        "plain_loss_collapse": ("plain", "layer_history", "gradient", 0),
        "T_gate_evolution": ("highway", "layer_history", "T", 0),
        "T_gate_final": ("highway", "final_T_per_layer"),
        "depth_sweep": ("plain", "final_test_acc"),
        "seeds": ("highway", "final_test_acc"),
    }
    assert {f"{name}.png" for name in fields} == set(ALL)
    for name, (*path, last) in fields.items():
        record = ours([(0, 4)])
        changed = copy.deepcopy(record)
        target = changed["runs"][0]
        for key in path:
            target = target[key]
        target[last] = [0.3 for _ in target[last]] if isinstance(target[last], list) else 0.3
        draw_figure = registry.PICTURES[name].draw
        pictures = [style.picture_bytes(draw_figure(shown), dpi=30) for shown in (record, changed)]
        assert pictures[0] != pictures[1]


def test_the_same_numbers_give_the_same_picture():
    pictures = [style.picture_bytes(registry.PICTURES["learning_curves"].draw(GOOD), dpi=30) for _ in range(2)]
    assert pictures[0] == pictures[1]


def test_what_cannot_be_drawn_is_left_out_by_name(draw):
    record = ours([(0, 4)])
    for key in ("layer_T_history", "final_T_per_layer"):
        del record["runs"][0]["highway"][key]
    process, drawn = draw(run=record, sweep=record, seeds=record)
    assert process.returncode == 0
    assert drawn == [name for name in ALL if not name.startswith("T_gate")]
    assert "left out blocks: not measured yet, there is no " in process.stdout
    assert "left out T_gate_final: " in process.stdout
    assert "has no layer_T_history" in process.stdout


def benchmark_results(ms=2.0):
    rival = "JAX jit + scan"
    steps = {}
    for block in style.COLOR:
        rows = {}
        for i, name in enumerate(("this project", rival, "matrix products alone")):
            ratio = ms / (ms + i)
            row = {"median_ms": ms + i, "ours_over_theirs": [ratio, ratio, ratio], "arithmetic": "float32"}
            rows[name] = row | {"competes": name == rival}
        steps[f"step, {block}"] = rows
    growth = []
    for axis, values in {"depth": (10, 30), "width": (25, 50), "batch": (32, 128)}.items():
        for value in values:
            growth.append({"axis": axis, axis: value, "ours_over_theirs": {rival: 0.1 * ms}})
    envelope = {"experiment": "benchmark_a", "source": "b", "command": "c", "env": {"python": "3.12", "numpy": "2.0"}}
    envelope["env"]["processor"] = "any"
    envelope |= {"summary": {}, "settings": {"depth": 30, "width": 50, "batch": 128}}
    return {"benchmark_step": envelope | {"trials": steps}, "benchmark_scaling": envelope | {"trials": growth}}


def test_the_benchmark_picture(draw, tmp_path):
    (tmp_path / "results").mkdir()
    for name, record in benchmark_results().items():
        (tmp_path / "results" / f"{name}.json").write_text(json.dumps(sealed(record)))
    process, drawn = draw("--only", "benchmark")
    assert process.returncode == 0, process.stderr
    assert drawn == ["benchmark.png"]
    pictures = []
    for ms in (2.0, 2.0, 3.0):
        pictures.append(style.picture_bytes(benchmark.benchmark(*benchmark_results(ms).values()), dpi=30))
    assert pictures[0] == pictures[1] != pictures[2]
    for text, message in (
        ("{}", "the record is refused: 'experiment' is a required property"),
        (json.dumps(sealed(benchmark_results()["benchmark_step"] | {"trials": []})), "lacks what"),
    ):
        (tmp_path / "results" / "benchmark_step.json").write_text(text)
        assert message in one_line_error(draw("--only", "benchmark")[0])


def without(record, *path):
    """A copy of the record without the part at this path."""
    record = copy.deepcopy(record)
    target = record
    for key in path[:-1]:
        target = target[key]
    del target[path[-1]]
    return record


def put(record, value, *path):
    """A copy of the record with `value` at this path."""
    record = copy.deepcopy(record)
    target = record
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return record


GOOD = ours([(0, 4)])
BAD = {
    "empty": ("", "cannot be read as JSON"),
    "torn": (json.dumps(GOOD)[:200], "cannot be read as JSON"),
    "a list": ([1, 2], "is not of type 'object'"),
    "another program's": ({"loss": [1, 2]}, "'runs' is a required property"),
    "no runs": (put(GOOD, [], "runs"), "runs is refused: []"),
    "no plain net": (without(GOOD, "runs", 0, "plain"), "runs[0] is refused: 'plain' is a required property"),
    "no history": (without(GOOD, "runs", 0, "highway", "history"), "'history' is a required property"),
    "no test_acc": (without(GOOD, "runs", 0, "plain", "history", "test_acc"), "'test_acc' is a required property"),
    "text": (put(GOOD, ["a", "b", "c"], "runs", 0, "plain", "history", "test_acc"), "'a' is not of type 'number'"),
    "lengths": (put(GOOD, [1], "runs", 0, "plain", "history", "train_loss"), "does not have a number for each epoch"),
    "epochs in another order": (
        put(GOOD, [3, 2, 1], "runs", 0, "plain", "history", "epoch"),
        "runs[0].plain.history.epoch is not in the order of time",
    ),
    "an accuracy of 7": (
        put(GOOD, [0.1, 0.1, 7.0], "runs", 0, "plain", "history", "test_acc"),
        "runs[0].plain.history.test_acc[2] is refused: 7.0 is greater than the maximum",
    ),
    "a gate of 1.7": (put(GOOD, 1.7, "runs", 0, "highway", "final_T_per_layer", 0), "1.7 is greater than the maximum"),
    "another end": (put(GOOD, 0.8, "runs", 0, "highway", "final_test_acc"), "has final_test_acc 0.8; its history ends"),
    "NaN": (
        put(GOOD, [1, float("nan"), 2], "runs", 0, "plain", "history", "train_loss"),
        "NaN is not a finite number",
    ),
    "huge": (put(GOOD, [10**200, 2, 1], "runs", 0, "plain", "history", "train_loss"), "beyond 1e+100"),
    "more than huge": (
        put(GOOD, [1, 10**400, 2], "runs", 0, "plain", "history", "train_loss"),
        "is not a finite number",
    ),
    "null": (put(GOOD, None, "runs", 0, "plain", "final_test_acc"), "does not say that it diverged"),
    "no depth": (without(GOOD, "runs", 0, "depth"), "'depth' is a required property"),
    "a depth below 1": (put(GOOD, -3, "runs", 0, "depth"), "-3 is less than the minimum of 1"),
    "one class": (put(GOOD, 1, "n_classes"), "1 is less than the minimum of 2"),
    "a bias in words": (put(GOOD, "a", "gate_bias"), "gate_bias is refused: 'a' is not of type"),
    "a seed in words": (put(GOOD, "a", "runs", 0, "seed"), "seed is refused: 'a' is not of type 'integer'"),
    "uneven gates": (
        put(GOOD, [[1, [0.1]], [2, [0.1, 0.2]]], "runs", 0, "highway", "layer_T_history"),
        "mean gates of different numbers of layers",
    ),
    "gates": (put(GOOD, [[1, "x"]], "runs", 0, "highway", "layer_T_history"), "is not of type 'array'"),
    "layers": (put(GOOD, [1], "runs", 0, "plain", "layer_history"), "[1] is not of type 'object'"),
    "a gradient in words": (
        put(GOOD, [["a"]], "runs", 0, "plain", "layer_history", "gradient"),
        "'a' is not of type 'number'",
    ),
    "rows": (put(GOOD, [[1.0]], "runs", 0, "plain", "layer_history", "gradient"), "columns of different lengths"),
    "uneven layers": (
        put(GOOD, [1.0], "runs", 0, "plain", "layer_history", "gradient", 0),
        "rows of different numbers of layers",
    ),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_record_is_refused_in_one_line(draw, fault):
    record, message = BAD[fault]
    process, drawn = draw(run=record)
    assert message in one_line_error(process)
    assert "run.json" in process.stderr
    assert drawn is None
    assert message in one_line_error(draw(run=record, script="make_highway_networks_gif.py")[0])


@pytest.mark.parametrize("record", [diverged(), published()], ids=["ours, diverged", "published"])
def test_the_gif_has_a_frame_for_each_step_or_epoch(draw, tmp_path, record):
    process, _ = draw(run=record, script="make_highway_networks_gif.py")
    assert process.returncode == 0, process.stderr
    frames = imageio.imread(tmp_path / "out.gif", index=None)
    layers = record["runs"][0]["highway"].get("layer_history")
    assert len(frames) == (len(layers["step"]) if layers else 3)
    assert frames.shape[2] >= 800
    assert all((frames[i] != frames[i + 1]).any() for i in range(len(frames) - 1))
    assert sorted(os.listdir(tmp_path)) == ["out.gif", "run.json"]


def test_a_frame_shows_the_accuracies_of_its_own_epoch(monkeypatch):
    """Gates may be known before the first epoch, and not after every one."""
    shown = {}
    monkeypatch.setattr(gif, "as_image", lambda fig: shown.update(fig=fig))
    record = published()
    gates = record["runs"][0]["highway"]["layer_T_history"]
    record["runs"][0]["highway"]["layer_T_history"] = [[0, [0.1] * 4], gates[0], gates[2]]
    for k, epochs in enumerate(([], [1], [1, 2, 3])):
        gif.draw_epoch(record, k)
        curves = shown["fig"].axes[0].lines[: len(style.COLOR)]
        assert [list(curve.get_xdata()) for curve in curves] == [epochs, epochs]


def test_a_frame_shows_the_layers_at_its_own_step(monkeypatch):
    shown = {}
    monkeypatch.setattr(gif, "as_image", lambda fig: shown.update(fig=fig))
    record = ours([(0, 4)])
    gif.draw_step(record, 5)
    loss, gradient, gates = shown["fig"].axes
    for line, curve, block in zip(loss.lines, gradient.lines, style.COLOR, strict=False):
        layers = record["runs"][0][block]["layer_history"]
        assert list(line.get_xdata()) == [0, 1, 5]
        assert list(line.get_ydata()) == layers["loss"][:3]
        assert list(curve.get_ydata()) == layers["gradient"][2]
    heights = [bar.get_height() for bar in gates.patches]
    assert heights == record["runs"][0]["highway"]["layer_history"]["T"][2]


def test_a_record_in_which_one_net_has_no_layers_is_drawn_as_an_old_one(draw, tmp_path):
    """Old records have no layer_history; their GIF has a frame for each epoch."""
    record = without(ours([(0, 4)]), "runs", 0, "plain", "layer_history")
    for process, _ in (
        draw(run=record, script="make_highway_networks_gif.py"),
        draw("--only", "plain_loss_collapse,T_gate_evolution", run=record),
    ):
        assert (process.returncode, process.stderr) == (0, "")
    assert len(imageio.imread(tmp_path / "out.gif", index=None)) == 3


@pytest.mark.parametrize(
    ("pairs", "message"),
    [(((0, 4), (1, 8)), "one depth, not 4, 8"), (((0, 4), (1, 4), (0, 4)), "it has a seed twice")],
)
def test_seeds_are_of_one_depth_and_each_is_there_once(draw, pairs, message):
    process, drawn = draw("--only", "seeds", seeds=ours(pairs))
    assert message in one_line_error(process)
    assert drawn is None


# a matplotlibrc that would change every picture
RC = "image.origin: lower\ntext.usetex: true\naxes.prop_cycle: cycler('color', ['w'])\nfont.size: 3\n"


@pytest.mark.parametrize(
    "script",
    ["visualize_highway_networks.py", pytest.param("make_highway_networks_gif.py", marks=pytest.mark.thorough)],
)
def test_what_a_user_told_matplotlib_changes_no_picture(draw, tmp_path, script):
    words = ("--only", "T_gate_evolution") if script.startswith("visualize") else ()
    out = tmp_path / "out" / "T_gate_evolution.png" if words else tmp_path / "out.gif"
    assert draw(*words, run=GOOD, script=script)[0].returncode == 0
    before = out.read_bytes()
    (tmp_path / "matplotlibrc").write_text(RC)
    environment = {"MPLBACKEND": "module://not_there", "MATPLOTLIBRC": str(tmp_path / "matplotlibrc")}
    process = run(script, "--run", tmp_path / "run.json", "--out", out.parent if words else out, *words, **environment)
    assert (process.returncode, process.stderr) == (0, "")
    assert out.read_bytes() == before


def test_a_user_s_rcparams_are_respected_from_python():
    """Importing the pictures changes neither rcParams nor the backend."""
    program = (
        "import json, os, matplotlib; matplotlib.rcParams['font.size'] = 21.0; before = dict(matplotlib.rcParams)\n"
        "import experiments; from highways.lab.showing import registry, style\n"
        "experiments.register_pictures_and_tables()\n"
        "assert dict(matplotlib.rcParams) == before and 'MPLBACKEND' not in os.environ\n"
        "matplotlib.use('Agg'); matplotlib.rcParams['figure.figsize'] = (9, 4)\n"
        "record = json.load(open('run_sweep.json'))\n"
        "fig = registry.PICTURES['depth_sweep'].draw(record)\n"
        "assert fig.get_size_inches()[0] == 9\n"
        "assert fig.axes[0].xaxis.label.get_size() == 21.0\n"
        "with style.house_style(): pass\n"
        "assert matplotlib.rcParams['font.size'] == 21.0\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    words = [sys.executable, "-c", program]
    process = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (process.returncode, process.stderr) == (0, "")


def test_some_pictures_for_slides(draw, tmp_path):
    """Two pictures as SVG.  With --scale 1.5 a picture is smaller, and its text is larger in
    comparison.  The same JSON gives the same bytes."""
    words = ("--only", "depth_sweep,seeds", "--format", "svg")
    sizes = []
    for scale in (1, 1.5):
        process, drawn = draw(*words, "--scale", scale, sweep=published((2, 4)), seeds=published())
        assert (process.returncode, process.stderr) == (0, "")
        assert drawn == ["depth_sweep.svg", "seeds.svg"]
        picture = (tmp_path / "out" / "seeds.svg").read_bytes()
        sizes.append(float(ElementTree.fromstring(picture).get("width").removesuffix("pt")))
    assert sizes[0] == pytest.approx(1.5 * sizes[1])
    draw(*words, "--scale", 1.5, sweep=published((2, 4)), seeds=published())
    assert (tmp_path / "out" / "seeds.svg").read_bytes() == picture


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--only", "depth_sweep,seed"), "no picture is called 'seed'; seeds is the nearest name"),
        (("--only", "seeds,"), "'seeds,' has an empty name before or after a comma"),
        (("--results", __file__), f"--results {__file__} is not a folder"),
        (("--out", __file__), f"--out {__file__} is a file; a folder is needed"),
        (("--format", "bmp"), "invalid choice: 'bmp'"),
        (("--scale", "9"), "'9' is not a number from 0.5 to 2"),
    ],
)
def test_what_cannot_be_asked_for(words, message):
    assert message in one_line_error(in_process(viz.main, *words))


def committed_path(source):
    folder = {**dict.fromkeys(viz.PUBLISHED, "data"), **dict.fromkeys(viz.RUNS, ".")}.get(source, "results")
    return ROOT / folder / f"{source}.json"


def committed_figure(name):
    """A picture drawn from the committed JSON; not yet laid out."""
    sources, draw_figure, _ = registry.PICTURES[name]
    texts = [committed_path(source).read_text(encoding="utf-8") for source in sources]
    return draw_figure(*map(json.loads, texts))


MEASURED = [
    name
    for name, picture in registry.PICTURES.items()
    if all(committed_path(source).exists() for source in picture.sources)
]


@pytest.mark.parametrize("name", MEASURED)
def test_a_picture_can_be_read_on_a_phone_and_is_not_upside_down(name):
    """Other code may have set matplotlib's image.origin."""
    with style.house_style():
        style.plt.rcParams["image.origin"] = "lower"
        fig = committed_figure(name)
        style.plt.close(fig)
        must_be_readable(fig)
    assert all(image.origin == "upper" for ax in fig.axes for image in ax.images)


def test_a_colour_has_one_meaning():
    kinds = {**style.KINDS, **style.MORE_KINDS}
    meanings = [*kinds.values(), style.NORMALISED, *style.DATA_COLORS, style.PUBLISHED, *style.OTHERS]
    assert len(set(meanings)) == len(meanings)


def test_a_single_epoch_and_gates_that_are_shut_can_be_drawn(draw, tmp_path):
    record = ours([(0, 4)])
    run = record["runs"][0]["highway"]
    run["layer_T_history"] = [[1, [0.0] * 4]]
    for block in style.COLOR:
        del record["runs"][0][block]["layer_history"]
    run["final_T_per_layer"] = [0.0] * 4
    for block in style.COLOR:
        history = record["runs"][0][block]["history"]
        record["runs"][0][block]["history"] = {name: values[:1] for name, values in history.items()}
        for name in ("train_acc", "test_acc", "train_loss"):
            record["runs"][0][block][f"final_{name}"] = history[name][0]
    for process, _ in (
        draw(run=record, script="make_highway_networks_gif.py"),
        draw("--only", "learning_curves,T_gate_evolution,T_gate_final", run=record),
    ):
        assert (process.returncode, process.stderr) == (0, "")
    assert imageio.imread(tmp_path / "out.gif", index=None).shape[0] == 1


def test_all_pictures_or_none(draw, tmp_path):
    """The last target cannot be written: the others are left as they were."""
    (tmp_path / "out" / ALL[-1]).mkdir(parents=True)
    earlier = b"\x89PNG\r\n\x1a\n an earlier picture"
    (tmp_path / "out" / ALL[0]).write_bytes(earlier)
    process, drawn = draw("--only", f"{ALL[0]},{ALL[-1]}".replace(".png", ""), run=GOOD, seeds=GOOD)
    assert f"{ALL[-1]} cannot be replaced: it is a folder" in one_line_error(process)
    assert drawn == sorted([ALL[0], ALL[-1]])
    assert (tmp_path / "out" / ALL[0]).read_bytes() == earlier


@pytest.mark.parametrize("name", ["x" * 200, "a\tb", "$x_$", "caf\udce9"])
def test_any_name_of_a_data_set_can_be_drawn(draw, name):
    process, drawn = draw("--only", "learning_curves", run=ours([(0, 4)], data_set=name))
    assert (process.returncode, process.stderr) == (0, "")
    assert drawn == ["learning_curves.png"]


def test_the_gif_refuses_a_folder_and_a_record_without_gates(draw, tmp_path):
    (tmp_path / "out.gif").mkdir()
    one_line_error(draw(run=GOOD, script="make_highway_networks_gif.py")[0])
    assert os.listdir(tmp_path / "out.gif") == []
    assert "does not end in .gif" in one_line_error(in_process(gif.main, "--out", tmp_path / "a.png"))
    (tmp_path / "out.gif").rmdir()
    process, _ = draw(run=without(GOOD, "runs", 0, "highway", "layer_T_history"), script="make_highway_networks_gif.py")
    assert "nothing moves" in one_line_error(process)
