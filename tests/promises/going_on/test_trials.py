"""How a logged trial is found again, and when it is served in place of a new run."""

import ast
import functools
import importlib
import json
import os
import sys
import types
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from conftest import forget_what_was_read, setting

import highway_networks as hn
from experiments.shared_trials import fully_connected
from highways import files, trial_code
from highways.files import InputError
from highways.lab import trials as trials_module
from highways.lab.log import Log
from highways.lab.trials import Runner
from highways.nets.extra_blocks import Residual
from highways.record_types import Environment
from highways.trial_code import WithoutWords, checksum_of_code, code_of, name_of_trial, syntax

NOWHERE = files.ROOT / "absent" / "net.npz"


def same(t):
    return {"is": t["a"]}


def twice(t):
    return {"is": 2 * t["a"]}


def thrice(t):
    return {"is": 3 * t["a"]}


def first_less_second(t, first=same, second=same):
    return {"is": first(t)["is"] - second(t)["is"]}


def thrice_less(other, t):
    return {"is": 3 * t["a"] - other(t)["is"]}


def scaled(factor):
    def decorated(function):
        @functools.wraps(function)
        def wrapper(t):
            return {"is": factor * function(t)["is"]}

        return wrapper

    return decorated


@scaled(10)
def ten_times(t):
    return {"is": t["a"]}


def runner_in(folder):
    return Runner("log", "default", {}, folder=folder, jobs=1)


def run_in(folder, *arguments) -> list[dict]:
    with runner_in(folder) as runner:
        return runner.run(*arguments)


def key_of_trial(function, setting: dict, data) -> str:
    return trials_module.key_of_trial(function, name_of_trial(function), setting, data)


def trials_of(folder) -> list[dict]:
    """The lines of the log."""
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def test_a_trial_is_known_by_its_settings_its_data_and_its_code(tmp_path, monkeypatch):
    def run(data, code):
        monkeypatch.setattr(trials_module, "checksum_of_code", lambda function, needs: code)
        with runner_in(tmp_path) as runner:
            rows = runner.run(same, [{"a": 1}, {"a": 2}], lambda t: SimpleNamespace(name="set", sha256=data))
        assert [row["is"] for row in rows] == [1, 2]
        assert runner.data_sets == {"set": data}
        return len(trials_of(tmp_path))

    assert run("0", "x") == 2
    assert run("0", "x") == 2
    assert run("1", "x") == 4
    assert run("1", "y") == 6
    assert run("0", "x") == 6
    first = trials_of(tmp_path)[0]
    assert (first["trial"], first["data"], first["code"]) == ({"a": 1}, "0", f"{__name__}.same x")


def parameters_of(t):
    return {"scale": hn.Block.find(t["block"]).scale}


def test_a_block_in_a_trial_is_known_by_its_settings(tmp_path):
    def run(*scales):
        return run_in(tmp_path, parameters_of, [{"block": Residual(scale), "seed": 0} for scale in scales])

    rows = run(0.1, 0.02)
    assert [row["scale"] for row in rows] == [0.1, 0.02]
    assert [row["block"] for row in rows] == ["residual"] * 2
    assert [row["block_settings"] for row in rows] == [{"scale": 0.1}, {"scale": 0.02}]
    assert [row["scale"] for row in run(0.02, 0.5)] == [0.02, 0.5]
    assert len(trials_of(tmp_path)) == 3


def returns_what_is_bound(t, factor=None, load=None, folder=None):
    return {"folder": folder}


@pytest.mark.parametrize("bound", [10, None, Residual(0.1)])
def test_what_is_bound_to_the_function_of_a_trial_is_refused(tmp_path, bound):
    """The log's key lacks it, so that another value would be served this one's result."""
    for function in (
        functools.partial(returns_what_is_bound, factor=bound),
        functools.partial(returns_what_is_bound, bound),
        functools.partial(returns_what_is_bound, load=functools.partial(returns_what_is_bound, factor=bound)),
        lambda t: {"is": bound},
        lambda t, value=bound: {"is": value},
        scaled(bound)(same),
        types.MethodType(returns_what_is_bound, bound or 1),
    ):
        with pytest.raises(ValueError):
            run_in(tmp_path, function, [{"seed": 0}])


def test_a_function_is_never_served_the_result_of_another_of_its_file(tmp_path):
    """They have the same code."""
    functions = {
        same: 1,
        twice: 2,
        ten_times: 10,
        functools.partial(first_less_second, first=thrice): 2,
        functools.partial(first_less_second, second=thrice): -2,
        functools.partial(first_less_second, first=thrice, second=twice): 1,
        functools.partial(first_less_second, first=twice, second=thrice): -1,
        functools.partial(thrice_less, thrice): 0,
        functools.partial(thrice_less, twice): 1,
    }
    for _ in range(2):
        for function, expected in functions.items():
            assert run_in(tmp_path, function, [{"a": 1}])[0]["is"] == expected
    assert len(trials_of(tmp_path)) == len(functions)


def test_trials_that_are_all_finished_are_not_run_again(tmp_path, monkeypatch):
    first = run_in(tmp_path, parameters_of, [{"block": "residual"}])
    assert first[0]["scale"] is None
    monkeypatch.setattr(trials_module, "_run_trial", None)  # running a trial would fail
    assert run_in(tmp_path, parameters_of, [{"block": "residual"}]) == first


def test_the_order_of_a_setting_s_names_does_not_count(tmp_path):
    """Nor does it in a log of an earlier version, whose lines have the names as they were declared."""
    first = {"b": 1, "a": 2}
    second = {"a": 2, "b": 1}
    key = json.loads(key_of_trial(returns_its_setting, first, None))
    as_declared = json.dumps({**key, "trial": first})
    with Log(tmp_path / "log.jsonl") as log:
        log.append(as_declared, {"seconds": 7.0}, {"git": "0" * 12})
    rows = run_in(tmp_path, returns_its_setting, [first, second])
    assert [list(row) for row in rows] == [["b", "a", "seconds"], ["a", "b", "seconds"]]
    assert [row["seconds"] for row in rows] == [7.0, 7.0]
    assert len(trials_of(tmp_path)) == 1


def test_a_setting_that_is_listed_twice_runs_once(tmp_path):
    settings = [{"a": 1}, {"a": 2}, {"a": 1}]
    found = run_in(tmp_path, same, settings)
    assert [trial["is"] for trial in found] == [1, 2, 1]
    assert len(trials_of(tmp_path)) == 2


def test_a_worker_with_other_code_or_data_is_refused():
    """On a cluster each machine has a clone and data of its own."""
    t = setting(epochs=1)
    trial = fully_connected.trial
    data_of = fully_connected.data_of
    key = json.loads(key_of_trial(trial, t, data_of(t)))
    _, result, _ = trials_module._run_trial(trial, name_of_trial(trial), data_of, t, json.dumps(key), NOWHERE)
    assert result["diverged"] is False
    for wrong in ({"code": "0"}, {"data": "0"}):
        with pytest.raises(InputError):
            trials_module._run_trial(trial, name_of_trial(trial), data_of, t, json.dumps(key | wrong), NOWHERE)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """project({file: text}) writes a project with these files, which a new process then reads."""
    folder = tmp_path / "project"
    monkeypatch.setattr(trial_code, "ROOT", folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        forget_what_was_read()
        return folder

    yield write
    forget_what_was_read()


MY_TRIALS = """\
from my_factor import FACTOR

def trial(t):
    return {"is": t["a"] * FACTOR}
"""


@pytest.fixture
def my_trials(project):
    """my_trials(factor) writes MY_TRIALS with another factor, and imports it as a new process does."""

    def load(factor=1):
        project({"my_trials.py": MY_TRIALS, "my_factor.py": f"FACTOR = {factor}"})
        importlib.invalidate_caches()
        forget_my_modules()
        return importlib.import_module("my_trials")

    yield load
    forget_my_modules()


def forget_my_modules() -> None:
    for name in ("my_trials", "my_factor"):
        sys.modules.pop(name, None)


def files_of(program: Path) -> list[str]:
    """The names of the files that its code consists of."""
    return [line.split()[0] for line in code_of(program)]


def test_the_code_of_a_trial_is_what_it_imports():
    rooms = files.ROOT / "experiments"
    fully = set(files_of(rooms / "figure_1" / "full_mnist_trial.py"))
    conv = set(files_of(rooms / "table1" / "table1_trial.py"))
    assert {"highway_networks.py", "experiments/shared_trials/fully_connected.py"} <= fully & conv
    assert "highways/conv/winograd.py" in conv - fully
    others = {"highways/files.py", "highways/processes.py", "highways/lab/trials.py", "highways/conv/progress.py"}
    assert not others & (fully | conv)


PROGRAM = '''
def f(x):
    """One."""
    if not x:
        raise ValueError(f'a {x}', state['b'])
    print('a', x, found('c'))
    warnings.warn(f'a {x:.3f}')
    if x > 1:
        raise error('e')('a')
    return 0.5 * registry['a'](x)

def g(x=1):
    return x
'''


def syntax_with(old: str = "", new: str = "") -> str:
    assert old in PROGRAM
    return syntax(WithoutWords().visit(ast.parse(PROGRAM.replace(old, new))))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    return", "    # as it is\n    return"),
        ("def f(x):", "# bent\n\ndef f(x) :"),
        ('    """One."""\n', ""),
        ("ValueError(f'a {x}'", "ValueError(f'{x} b'"),
        ("print('a', x", "print(x"),
        ("warnings.warn(f'a {x:.3f}')", "warnings.warn(f'{x:.3f} b')"),
        ("\n", "\r\n"),
    ],
)
def test_words_are_not_in_the_key(old, new):
    assert syntax_with(old, new) == syntax_with()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.5", "0.25"),
        ("not x", "x"),
        ("0.5 * ", ""),
        ("['a']", "['b']"),
        ("x=1", "x=2"),
        ("ValueError(f'a {x}'", "ValueError(f'a {x + 1}'"),
        ("state['b']", "state['c']"),
        ("found('c')", "found('d')"),
        ("error('e')", "error('f')"),
    ],
)
def test_what_computes_is_in_the_key(old, new):
    """A name that a message looks up is no text of it."""
    assert syntax_with(old, new) != syntax_with()


@pytest.mark.parametrize(
    "line",
    [
        "from experiments.a import a_trial as other, a, show",
        "def g():\n    from experiments.a.a_trial import f",
        "import experiments.a.a_trial",
    ],
)
def test_imports_are_followed(project, line):
    """But not into what only reads and writes files."""
    folder = project({
        "program.py": line,
        "experiments/a/a_trial.py": "import experiments.b.stack, highways.files\n",
        "experiments/b/stack.py": "from experiments.a import a_trial  # each imports the other\n",
        "experiments/c/c_trial.py": "# not imported by a trial\n",
        "highways/files.py": "import experiments.c.c_trial\n",
    })  # fmt: skip
    assert files_of(folder / "program.py") == ["experiments/a/a_trial.py", "experiments/b/stack.py", "program.py"]


def test_what_highways_offers_by_name_is_followed(project):
    folder = project({"program.py": "from highways import train_net", "highways/trainer.py": ""})
    assert files_of(folder / "program.py") == ["highways/trainer.py", "program.py"]


def test_a_relative_import_is_refused(project):
    folder = project({"program.py": "from . import a"})
    with pytest.raises(InputError):
        code_of(folder / "program.py")


def test_files_that_swap_their_contents_are_other_code(project):
    program = "import a, b\nloss = a.FACTOR - b.FACTOR"
    before = code_of(project({"program.py": program, "a.py": "FACTOR = 1", "b.py": "FACTOR = 2"}) / "program.py")
    after = code_of(project({"a.py": "FACTOR = 2", "b.py": "FACTOR = 1"}) / "program.py")
    assert before != after


def test_a_trial_outside_the_project_is_refused(my_trials, monkeypatch):
    """What it imports from its own folder would not be in its key."""
    mine = my_trials()
    checksum_of_code(mine.trial)
    monkeypatch.setattr(trial_code, "ROOT", files.ROOT)
    with pytest.raises(InputError):
        checksum_of_code(mine.trial)


def test_a_trial_that_was_typed_into_a_shell_is_refused():
    typed = {"__name__": "__main__"}
    exec(compile("def trial(t):\n    return {}", "<stdin>", "exec"), typed)
    with pytest.raises(InputError):
        checksum_of_code(typed["trial"])


def test_a_bound_function_is_part_of_the_code_of_a_trial(project, my_trials):
    project({"other_trials.py": "def trial(t, other=None):\n    return other(t)\n"})
    mine = my_trials()
    other = importlib.import_module("other_trials")
    bound = functools.partial(other.trial, other=mine.trial)
    assert checksum_of_code(bound) != checksum_of_code(other.trial)
    assert checksum_of_code(functools.partial(mine.trial)) == checksum_of_code(mine.trial)


@pytest.mark.parametrize("base", [Residual, hn.Tanh])
def test_the_file_of_a_block_or_an_activation_is_part_of_its_trials_code(project, my_trials, monkeypatch, base):
    """A trial only names it, or has it as an object."""
    project({"named_trials.py": "def trial(t):\n    return {}\n"})
    monkeypatch.delitem(sys.modules, "named_trials", raising=False)
    named_trial = importlib.import_module("named_trials").trial

    def checksums(factor):
        mine = my_trials(factor)
        kind = type("Mine", (base,), {"__module__": mine.__name__})
        monkeypatch.setitem(base.registry, "mine", kind)
        return code_in_key({base.family: "mine"}), checksum_of_code(named_trial, (kind(),))

    def code_in_key(setting):
        return json.loads(key_of_trial(named_trial, setting, None))["code"].split()[-1]

    before = checksums(1)
    assert before[0] == before[1] != code_in_key({base.family: "none of this name"})
    assert checksums(1) == before
    after = checksums(100)
    assert after[0] == after[1] != before[0]


@pytest.mark.parametrize("edited_before", ["the first trials", "later ones"])
def test_an_edit_is_not_the_code_that_runs(my_trials, project, tmp_path, edited_before):
    """So the edited text is not served the results of what was imported."""
    mine = my_trials()
    settings = [{"a": 1}, {"a": 2}]
    with runner_in(tmp_path) as runner:
        if edited_before == "later ones":
            runner.run(mine.trial, settings[:1])
        (tmp_path / "project" / "my_factor.py").write_text("FACTOR = 100")
        assert [row["is"] for row in runner.run(mine.trial, settings)] == [1, 2]
    assert [row["is"] for row in run_two(tmp_path, my_trials(100).trial)] == [100, 200]


def run_two(tmp_path, trial) -> list[dict]:
    return run_in(tmp_path, trial, [{"a": 1}, {"a": 2}])


@pytest.mark.parametrize(
    "bad", [lambda line: b'{"trial": {', lambda line: b"\xff\xfe", lambda line: line.replace(b'"is": 2', b'"is": 3')]
)
def test_a_bad_line_of_a_log_costs_its_trial_alone(my_trials, tmp_path, bad):
    trial = my_trials().trial
    log = tmp_path / "log.jsonl"
    rows = run_two(tmp_path, trial)
    first, second = log.read_bytes().splitlines()
    log.write_bytes(bad(second) + b"\n" + first + b"\n")
    again = run_two(tmp_path, trial)
    assert [row["is"] for row in again] == [row["is"] for row in rows] == [1, 2]
    assert log.read_bytes().splitlines()[0] == first


def size_of_net(t, folder):
    return {"is": len(net_file_of(t, folder).read_bytes())}


def net_file_of(t, folder) -> Path:
    return Path(folder) / f"net_{t['a']}.npz"


def test_a_trial_that_looks_into_another_net_runs_again(tmp_path):
    found = []
    for net in (b"one", b"another", b"another", b"one"):
        (tmp_path / "net_1.npz").write_bytes(net)
        found += run_in(tmp_path, size_of_net, [{"a": 1}], None, net_file_of)
    assert [trial["is"] for trial in found] == [3, 7, 7, 3]
    assert len(trials_of(tmp_path)) == 2
    assert found[0].keys() == {"a", "is", "seconds"}  # not the key's checksum of the net


def makes_its_net(t, folder):
    net_file_of(t, folder).touch()
    return {}


def test_a_trial_may_make_its_net(tmp_path):
    for _ in range(3):
        run_in(tmp_path, makes_its_net, [{"a": 1}], None, net_file_of)
    assert len(trials_of(tmp_path)) == 2  # without a net, and with that one


def test_a_line_without_its_end_is_not_joined_by_the_next(tmp_path):
    log = tmp_path / "log.jsonl"
    run_in(tmp_path, same, [{"a": 1}])
    log.write_bytes(log.read_bytes().rstrip())
    run_in(tmp_path, same, [{"a": 2}])
    assert [line["trial"]["a"] for line in trials_of(tmp_path)] == [1, 2]


def leaves_its_checkpoint(t, checkpoint):
    checkpoint.write_bytes(b"")
    return {}


def test_a_result_is_on_disk_before_its_checkpoint_goes(tmp_path, monkeypatch):
    found = []

    def fsync(file):
        found.append((len(trials_of(tmp_path)), len([*tmp_path.glob("unfinished_*")])))

    monkeypatch.setattr(os, "fsync", fsync)
    run_two(tmp_path, leaves_its_checkpoint)
    assert found == [(1, 1), (2, 1)]
    assert not [*tmp_path.glob("unfinished_*")]


def of_numpy(t):
    return {"is": np.float32(t["a"]), "both": np.arange(2), "of": type(t["a"]).__name__}


def test_a_trial_may_have_numbers_and_arrays_of_numpy(tmp_path):
    for _ in range(2):
        [row] = run_in(tmp_path, of_numpy, [{"a": np.float32(0.5)}])
        del row["seconds"]
        assert row == {"a": 0.5, "is": 0.5, "both": [0, 1], "of": "float"}
    assert run_in(tmp_path, of_numpy, [{"a": 0.5}])[0]["is"] == 0.5
    assert len(trials_of(tmp_path)) == 1


def returns_its_setting(t):
    return {"first": 1, "a": "replaced", "last": 2}


def test_a_result_replaces_no_setting(tmp_path):
    for _ in range(2):  # as it was run, and as the log has it
        [row] = run_in(tmp_path, returns_its_setting, [{"a": 1, "b": 2}])
        assert (row["a"], row["b"]) == (1, 2)
        assert list(row) == ["a", "b", "first", "last", "seconds"]


def test_results_name_the_program_that_began(tmp_path, monkeypatch):
    def check_out(commit):
        """Lets git name this commit, and no changed file."""
        monkeypatch.setattr(hn, "git", lambda *words: commit if words[0] == "rev-parse" else "")

    hn.commit.cache_clear()
    check_out("111111111111")
    with runner_in(tmp_path) as runner:
        check_out("222222222222")
        runner.run(same, [{"a": 1}])
    assert runner.record("a test", [])["env"]["git"] == "111111111111"
    assert [line["git"] for line in trials_of(tmp_path)] == ["111111111111"]
    hn.commit.cache_clear()
    with runner_in(tmp_path) as runner:  # a trial that is logged is still of the commit that ran it
        runner.run(same, [{"a": 1}])
    env = runner.record("a test", [])["env"]
    assert (env["git"], env["git_of_trials"]) == ("222222222222", ["111111111111"])
    hn.commit.cache_clear()


def test_results_name_the_processors_that_computed_them(tmp_path, monkeypatch):
    """The line of an old log does not say which."""

    def record(settings):
        with runner_in(tmp_path) as runner:
            return runner.record("a test", runner.run(same, settings))["env"]

    assert "env_of_trials" not in record([])
    assert "env_of_trials" not in record([{"a": 1}])
    here = trials_module.env_of_trial()
    monkeypatch.setattr(files, "processor", lambda: "another")
    there = trials_module.env_of_trial()
    assert record([{"a": 1}])["env_of_trials"] == [here]
    both = record([{"a": 1}, {"a": 2}])
    assert both["processor"] == "another"
    assert {env["processor"] for env in both["env_of_trials"]} == {here["processor"], "another"}
    assert "env_of_trials" not in record([{"a": 2}])
    with Log(tmp_path / "log.jsonl") as log:
        log.append(key_of_trial(same, {"a": 3}, None), {}, {"git": "0" * 12})
    env = record([{"a": 2}, {"a": 3}])
    assert env["env_of_trials"] == [None, there]
    msgspec.convert(env, Environment)
