"""The command line of highway_networks.py: what it prints, writes and refuses."""

import contextlib
import io
import json
import os
import subprocess
import sys

import pytest
from conftest import OLD, ROOT, SMALL, in_process, one_line_error, run, without_time

import conv_highway_networks as cn
import highway_networks as hn
from highways import files


def train(*words, **more):
    return run("highway_networks.py", *words, **more)


def test_the_json_and_the_output_of_a_pair_of_runs(tmp_path, data_set):
    """A pair is a highway net and a plain net of the same depth and seed."""
    out = tmp_path / "new.json"
    process = train(*SMALL, "--data-dir", data_set, "--gate-bias", -1.5, "--out", out)
    assert process.returncode == 0, process.stderr
    record = json.loads(out.read_text())
    expected = {"seed": 0, "hidden": 8, "depth": 3, "epochs": 2, "batch_size": 32, "lr": 5e-3, "n_train": 200}
    expected |= {"n_test": 60, "gate_bias": -1.5, "clip": 5.0, "dtype": "float32", "activation": "tanh"}
    assert record.items() >= (expected | {"optimizer": "adam", "data_set": 'folder "shapes"', "n_classes": 3}).items()
    env = {"python", "numpy", "blas", "platform", "processor", "cpu_count", "git"}
    assert record["env"].keys() == env
    assert record["data_sha256"] == hn.load_mnist(data_set).sha256
    [pair] = record["runs"]
    assert (pair["depth"], pair["seed"]) == (3, 0)
    assert pair["highway"]["history"]["test_acc"][-1] == pair["highway"]["final_test_acc"]
    assert pair["highway"]["gate_bias"] == -1.5
    for text in ('folder "shapes" from', "epoch   2", f"{pair['plain']['final_test_acc']:.3f}", f"saved to {out}"):
        assert text in process.stdout
    assert set(os.listdir(tmp_path)) == {"shapes", "new.json"}


def test_a_sweep_prints_a_line_for_each_net_and_the_time_to_go(data_set):
    process = in_process(hn.main, *SMALL, "--seeds", "0,1", "--data-dir", data_set, "--no-save", "--jobs", 1)
    lines = [line for line in process.stdout.splitlines() if " to go" in line]
    assert [line.split("  (")[1].split(" nets")[0] for line in lines] == ["1 of 4", "2 of 4", "3 of 4", "4 of 4"]
    assert lines[-1].endswith(" 0 s to go)")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of Unix")
def test_on_a_terminal_the_line_of_a_net_is_updated(data_set):
    import fcntl
    import pty
    import struct
    import termios

    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 80, 0, 0))
    words = [sys.executable, ROOT / "highway_networks.py", *SMALL, "--data-dir", data_set, "--no-save", "--jobs", 1]
    with subprocess.Popen(list(map(str, words)), stdin=end, stdout=end, stderr=end, close_fds=True) as process:
        os.close(end)
        shown = b""
        try:
            while part := os.read(terminal, 4096):
                shown += part
        except OSError:  # the terminal is closed
            pass
    os.close(terminal)
    assert process.returncode == 0, shown
    # an update returns to the line's start, and ends no line
    assert b"\rhighway, depth 3, seed 0  epoch   1/2" in shown
    lines = shown.decode().split("\r\n")
    last = [line.split("\r")[-1] for line in lines]
    assert sum("epoch   2/2" in line for line in last) == 2
    assert not any("epoch   1/2" in line for line in last)


def test_the_time_to_go_is_that_of_the_job_that_ends_last(monkeypatch):
    now = 0.0
    monkeypatch.setattr(hn.time, "perf_counter", lambda: now)
    nets = [
        (hn.Plain(), hn.Settings(depth=9, epochs=10)),
        (hn.Plain(), hn.Settings(depth=4, epochs=10)),
        (hn.Highway(), hn.Settings(depth=2, epochs=10)),
    ]
    progress = hn.Progress(nets, 2, quiet=True)
    assert list(progress.epoch_work.values()) == [11, 6, 6]
    now = 12.0
    progress.show((hn.key_of(*nets[1]), {"epoch": 10, "train_loss": 1, "test_acc": 0.5}))
    progress.show((hn.key_of(*nets[0]), {"epoch": 6, "train_loss": 1, "test_acc": 0.5}))
    # 60 + 66 in 12 s by two jobs, 5.25 a second each; left are 44 and 60
    assert progress.times() == "12 s, 11 s to go"


@pytest.mark.parametrize(
    ("words", "seeds", "depths"),
    [
        (("--seeds", "3,1"), [3, 1], [3]),
        (("--depths", "2,4"), [0], [2, 4]),
        (("--seeds", "0,1", "--depths", "1,2"), [0, 1], [1, 2]),
    ],
)
def test_several_runs_are_the_same_for_any_number_of_jobs(tmp_path, data_set, words, seeds, depths):
    records = []
    for jobs in (1, 2):
        out = tmp_path / f"{jobs}.json"
        small = SMALL if "--depths" not in words else SMALL[2:]  # without its --depth 3
        process = in_process(hn.main, *small, *words, "--data-dir", data_set, "--jobs", jobs, "--out", out)
        assert process.returncode == 0, process.stderr
        records.append(json.loads(out.read_text()))
    assert without_time(records[0]) == without_time(records[1])
    runs = [(pair["seed"], pair["depth"]) for pair in records[0]["runs"]]
    assert runs == [(seed, depth) for seed in seeds for depth in depths]
    for name, values in (("seed", seeds), ("depth", depths)):
        assert records[0][name] == (values[0] if len(values) == 1 else None)
        assert records[0].get(f"{name}s", values) == values


def test_no_save_writes_no_file_and_quiet_prints_two_lines(tmp_path, data_set):
    process = train(*SMALL, "--data-dir", data_set, "--no-save", "--quiet")
    assert process.returncode == 0, process.stderr
    assert len(process.stdout.splitlines()) == 2
    assert process.stderr == ""
    assert os.listdir(tmp_path) == ["shapes"]


def test_a_diverged_run_is_named(tmp_path, data_set):
    process = train(*SMALL, "--data-dir", data_set, "--lr", "1e38", "--out", tmp_path / "d.json")
    assert process.returncode == 0, process.stderr
    assert "DIVERGED" in process.stdout
    assert process.stderr.count("says nothing about the architecture") == 2
    assert "Warning" not in process.stderr
    run = json.loads((tmp_path / "d.json").read_text(), parse_constant=pytest.fail)["runs"][0]["plain"]
    assert run["diverged"] is True
    assert run["final_test_acc"] is None


@pytest.mark.parametrize(
    ("program", "words"),
    [(hn, "--seed 0 --seeds 1,2"), (hn, "--depth 30 --depths 5,10"), (cn, "--seed 0 --seeds 1,2")],
)
def test_one_value_and_several_are_refused_even_where_the_one_is_the_default(capsys, program, words):
    """Each of the two flags is taken without the other."""
    with pytest.raises(SystemExit):
        program.parse_arguments(words.split())
    assert "not allowed with argument" in capsys.readouterr().err
    one, its_value, several, their_values = words.split()
    program.parse_arguments([one, its_value])
    program.parse_arguments([several, their_values])


def test_a_loss_above_that_of_guessing_is_said_of_both_nets(tmp_path, data_set):
    process = train(*SMALL, "--data-dir", data_set, "--lr", "1000", "--out", tmp_path / "high.json")
    assert process.returncode == 0, process.stderr
    assert process.stdout.count("; guessing has 1.099: a lower --lr may help") == 2
    [pair] = json.loads((tmp_path / "high.json").read_text())["runs"]
    assert pair["highway"]["above_guessing"] is pair["plain"]["above_guessing"] is True
    assert "guessing" not in train(*SMALL, "--data-dir", data_set, "--no-save").stdout


BAD = [
    (("--depth", "0"), "'0' is not a whole number of at least 1"),
    (("--depth", "ten"), "'ten' is not a whole number"),
    (("--epochs", "2.5"), "'2.5' is not a whole number"),
    (("--seed", "-1"), "'-1' is not a whole number from 0 to 9223372036854775807"),
    (("--seed", "9223372036854775808"), "'9223372036854775808' is not a whole number from 0 to"),
    (("--seed", "1,2"), "argument --seed: '1,2' is more than one number: --seeds 1,2 takes them"),
    (("--depth", "5,10"), "argument --depth: '5,10' is more than one number: --depths 5,10 takes them"),
    (("--seeds", "0-9"), "argument --seeds: '0-9' is a range: name every number, 0,1,...,9"),
    (("--gate-bias", "-4,-2"), "argument --gate-bias: '-4,-2' is more than one number: --gate-biases -4,-2 takes them"),
    (("--block", "foo"), "block 'foo' is not one of highway, plain, "),
    (("--block", "foo"), "; import the module that defines it (on the command line: --import FILE.py)"),
    (("--block", "plain"), "--block and --against are both plain: name two kinds of block"),
    (("--activation", "foo"), "activation 'foo' is not one of tanh, relu"),
    (("--optimizer", "nesterov"), "optimizer 'nesterov' is not one of adam"),
    (("--import", "gone.py"), "--import gone.py: there is no such file"),
    (("--import", ""), "--import : there is no such module"),
    (("--import", "..os"), "--import ..os: there is no such module"),
    (("--import", "gone"), "--import gone: there is no such module; a file's name ends in .py"),
    (("--clip", "0"), "argument --clip: '0' is not a number of at least 1e-12"),
    (("--save", "net.txt"), "net.txt: the name of a net ends in .npz"),
    (("--save", "net.npz", "--seeds", "0,1"), "--save writes one net, and 2 pairs are trained"),
    (("--classify", "net.npz", "a.png"), "--classify trains nothing: --data-dir has no use beside it, --import alone"),
    (("--gate-bias", "-1e9"), "argument --gate-bias: '-1e9' is not a number from -1000.0 to 1000.0"),
    (("--lr", "nan"), "'nan' is not a number"),
    (("--lr", "inf"), "'inf' is not a number"),
    (("--lr", "0"), "'0' is not a number"),
    (("--gate-bias=-1e9",), "from -1000.0 to 1000.0"),
    (("--depths", "5,,10"), "'' is not a whole number"),
    (("--depths", "5,5"), "names one number twice"),
    (("--seeds", "a"), "'a' is not a whole number"),
    (("--seeds", ""), "'' is not a whole number"),
    (("--depths", ""), "'' is not a whole number"),
    (("--out", ""), "'' is not the name of a file"),
    (("--data-dir", ""), "'' is not the name of a file or folder"),
    (("--dtype", "float16"), "invalid choice"),
    (("--n-train", "301"), '--n-train 301 is more than the 300 that folder "shapes" has: give --n-train 300'),
    (("--n-train", "301", "--n-test", "99"), 'that folder "shapes" has: give --n-train 300 --n-test 80'),
    (("--n-test", "81"), '--n-test 81 is more than the 80 that folder "shapes" has'),
    (("--batch", "201", "--n-train", "200"), "--batch 201 is more than the 200 training images"),
    (("--out", "shapes"), "shapes does not end in .json"),
    (("--out", "README.md"), "README.md does not end in .json"),
    (("--out", "folder.json"), "is a folder or a device; the name of a file is needed"),
    (("--out", "other.json"), "other.json holds something else than runs of this program: it is not replaced"),
    (("--out", "no.json"), "no.json holds something else than runs"),
    (("--no-save",), "argument --no-save: not allowed with argument --out"),
    (
        ("--out", "missing/run.json"),
        f"{os.path.join('missing', 'run.json')} cannot be written: No such file or directory",
    ),
    (("--seed", "1", "--seeds", "2,3"), "not allowed with argument --seed"),
    (("--nonsense",), "unrecognized arguments"),
    (("--data-dir", "https://example.com/mnist"), "https://example.com/mnist is an address: download the four files"),
]


def test_the_flags_of_a_notebook_are_known(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["ipykernel_launcher.py", "-f", "kernel-1.json"])
    with pytest.raises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as stderr:
        hn.main()
    assert "in a notebook main() finds the notebook's flags: name yours, main(['--seed', '0'])" in stderr.getvalue()


@pytest.mark.parametrize(
    ("words", "message"), BAD, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_bad_input_is_one_line(tmp_path, data_set, monkeypatch, words, message):
    texts = {"run.json": OLD, "other.json": '{"trials": []}', "no.json": "{", "README.md": "text"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "folder.json").mkdir()
    monkeypatch.chdir(tmp_path)
    process = in_process(hn.main, "--data-dir", data_set, "--out", "run.json", *SMALL, *words)
    assert message in one_line_error(process)
    assert {name: (tmp_path / name).read_text() for name in texts} == texts
    assert set(os.listdir(tmp_path)) == {"shapes", "folder.json", *texts}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--classify", "net.npz"), "--classify net.npz needs images, too"),
        (("--classify", "gone.npz", "a.png"), "gone.npz: there is no such file"),
        (("--import", "gone.py", "--classify", "gone.npz", "a.png"), "--import gone.py: there is no such file"),
        (("--classify", "a.npz", "a.png", "--seed=0"), "--classify trains nothing: --seed has no use beside it"),
        (("--quiet", "--classify", "a.npz", "a.png"), "--classify trains nothing: --quiet has no use beside it"),
    ],
)
def test_what_classify_cannot_take_is_one_line(tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    assert message in one_line_error(in_process(hn.main, *words))


@pytest.mark.parametrize(
    ("text", "biases"), [("-.5,-1", [-0.5, -1]), ("-4,-2", [-4, -2]), ("-1e2", [-100]), ("0.5,-1", [0.5, -1])]
)
def test_a_minus_begins_a_list_of_gate_biases(text, biases):
    _, args = hn.parse_arguments(["--gate-biases", text])
    assert args.gate_biases == biases


def test_git_brings_a_committed_record_back_which_no_smoke_test_replaces(tmp_path, data_set, monkeypatch):
    monkeypatch.setattr(files, "ROOT", tmp_path)
    for name in ("run_shallow.json", "mine.json"):
        (tmp_path / name).write_text(OLD)
    for words in (["init", "-q"], ["add", "run_shallow.json"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    for name, committed in (("run_shallow.json", True), ("mine.json", False)):
        words = (*SMALL, "--data-dir", data_set, "--jobs", 1, "--out", tmp_path / name)
        process = in_process(hn.main, *words, "--quick")
        assert process.returncode == (2 if committed else 0)
        assert ("is committed: a smoke test does not replace it" in process.stderr) == committed
        process = in_process(hn.main, *words)
        assert process.returncode == 0, process.stderr
        assert (f"git checkout {name} brings the committed one back" in process.stdout) == committed


def test_nets_too_big_for_the_memory_are_refused_in_one_line(data_set):
    sizes = ("--depth", 10**9, "--hidden", 10**4, "--n-train", 200, "--n-test", 60)
    words = (*sizes, "--data-dir", data_set, "--no-save")
    for jobs in (1, 2):
        assert "not enough memory" in one_line_error(train(*words, "--jobs", jobs))
