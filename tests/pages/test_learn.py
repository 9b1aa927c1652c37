"""The notebooks of learn/ are as their sources, which run; the solutions of the exercises pass, and the
exercises' tests name what is wrong in others."""

import importlib
import json
import re
from types import SimpleNamespace

import matplotlib.pyplot as plt
import pytest
from conftest import ROOT

import highway_networks as hn

LEARN = ROOT / "learn"
EXERCISES = LEARN / "exercises"
# settings of a run that takes a second
TINY = {
    "plain_to_highway": {"DEPTH": 4, "EPOCHS": 1, "N_TRAIN": 256},
    "why_it_fails": {"DEPTH": 4, "EPOCHS": 1, "N_TRAIN": 256},
    "your_own_gate": {"DEPTH": 3, "EPOCHS": 1, "N_TRAIN": 256, "SEEDS": (0,)},
    "later_answers": {"DEPTH": 2, "STEPS": 20, "N_TEST": 50},
}

# ---- Notebooks ----------------------------------------------------------------------------------


def test_every_notebook_is_run_here():
    assert {path.stem for path in LEARN.glob("*.ipynb")} == TINY.keys()


def with_settings(source: str, settings: dict) -> str:
    for name, value in settings.items():
        source, n = re.subn(rf"^{name} = .*$", f"{name} = {value}", source, flags=re.M)
        assert n == 1, name
    return source


@pytest.mark.thorough
@pytest.mark.parametrize("name", TINY)
def test_a_notebooks_source_runs(name, monkeypatch, capsys):
    monkeypatch.chdir(LEARN)
    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    source = with_settings((LEARN / f"{name}.py").read_text(encoding="utf-8"), TINY[name])
    exec(compile(source, name, "exec"), {"__name__": "notebook"})
    assert capsys.readouterr().out


def cells_of_source(name: str) -> list[str]:
    """The cells of a source; those of text without the # before each line."""
    source = (LEARN / f"{name}.py").read_text(encoding="utf-8")
    found = []
    for cell in re.split(r"^# %%", source, flags=re.M)[1:]:
        kind, _, text = cell.partition("\n")
        if "[markdown]" in kind:
            text = re.sub(r"^# ?", "", text, flags=re.M)
        found.append(text.strip())
    return found


@pytest.mark.parametrize("name", TINY)
def test_a_notebook_is_as_its_source_and_was_run(name):
    notebook = json.loads((LEARN / f"{name}.ipynb").read_text(encoding="utf-8"))
    cells = notebook["cells"]
    assert ["".join(cell["source"]) for cell in cells] == cells_of_source(name), "python -m learn.execute"
    numbers = [cell["execution_count"] for cell in cells if cell["cell_type"] == "code"]
    assert numbers == list(range(1, len(numbers) + 1))
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any(output["output_type"] == "error" for output in outputs)


# ---- Exercises ----------------------------------------------------------------------------------


@pytest.fixture
def tests_of_exercises(monkeypatch):
    """{number of the exercise: its test}"""
    monkeypatch.syspath_prepend(EXERCISES)
    found = {}
    for path in sorted(EXERCISES.glob("test_stage_*.py")):
        for name, function in vars(importlib.import_module(path.stem)).items():
            if name.startswith("test_exercise_"):
                found[int(name.split("_")[2])] = function
    return found


def module_of(text: str) -> SimpleNamespace:
    names = {"__name__": "work"}
    exec(compile(text, "work", "exec"), names)
    return SimpleNamespace(**names)


SOLUTIONS = (EXERCISES / "solutions.py").read_text(encoding="utf-8")


def test_the_solutions_pass(tests_of_exercises):
    assert sorted(tests_of_exercises) == list(range(1, 11))
    work = module_of(SOLUTIONS)
    with hn.one_blas_thread():
        for test in tests_of_exercises.values():
            test(work)


@pytest.mark.parametrize(
    ("exercise", "right", "wrong"),
    [
        (1, "(1 + np.tanh(z / 2)) / 2", "1 / (1 + np.exp(-z))"),
        (1, "return (1", "print(1"),
        (2, "x * (1 - T)\n", "x * T\n"),
        (2, "y = H * T + x * (1 - T)", "x *= 1 - T; y = H * T + x"),
        (2, 'x @ layer["W_H"].T', 'layer["W_H"] @ x'),
        (3, "float(gate_bias)", "-2.0"),
        (3, "rng.uniform(-bound, bound", "np.random.uniform(-bound, bound"),
        (3, "bound = 1 / np.sqrt(d)", "bound = 1 / np.sqrt(d); rng = np.random.default_rng(0)"),
        (3, "bound = 1 / np.sqrt(d)", "bound = 50**-0.5"),
        (3, "uniform(-bound, bound,", "normal(0, bound / 4,"),
        (4, "(H - x) * dy", "H * dy"),
        (5, "(1 - T) * dy + ", ""),
        (5, "(H - x) * dy", "H * dy"),
        (5, "dz_H.sum(axis=0)", "dz_H.mean(axis=0)"),
        (6, "x, kept_by_layer = ", "_, kept_by_layer = "),
        (6, "kept.append(kept_by_layer)", "kept.append(x)"),
        (7, "/ N\n", "\n"),
        (8, "insert(0, gradient_of_layer)", "append(gradient_of_layer)"),
        (9, "sum((gradient**2).sum() for gradient in gradients)", "(gradients[0]**2).sum()"),
        (9, "min(1.0, limit / max(norm, 1e-30))", "limit / max(norm, 1e-30)"),
        (10, "range(100)", "range(10)"),
        (10, "array -= change", "array = array - change"),
    ],
)
def test_an_exercises_test_notices_what_is_wrong(tests_of_exercises, exercise, right, wrong):
    assert right in SOLUTIONS
    work = module_of(SOLUTIONS.replace(right, wrong))
    with pytest.raises(pytest.fail.Exception), hn.one_blas_thread():
        tests_of_exercises[exercise](work)


def test_gradients_may_be_clipped_where_they_are(tests_of_exercises):
    right = "    return [scale * gradient for gradient in gradients]"
    assert right in SOLUTIONS
    in_place = "    for gradient in gradients:\n        gradient *= scale\n    return gradients"
    tests_of_exercises[9](module_of(SOLUTIONS.replace(right, in_place)))
