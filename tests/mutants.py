"""Puts wrong lines into the library, one at a time, and writes down which test notices each: fifty in its numbers,
twelve in the guards of the five promises.

    python tests/mutants.py RESULTS.json          those that RESULTS.json lacks
    python tests/mutants.py RESULTS.json 7 11     these two of them

The tests run in a copy of the last commit.  A line is looked for in the file of its name, and a test file by its own,
wherever they lie: so both may move.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
MOST_SECONDS = 3600  # of the tests of one mutant, which may run for ever
NOBODY = "nobody"


class Mutant(NamedTuple):
    file: str
    old: str  # a text that the file has once
    new: str
    tests: str  # the files whose tests may notice it


GRADIENTS = "test_gradients.py"
FULLY = "test_fully_connected.py"
CONV = "test_conv.py"
CONV_TRAINING = "test_conv_training.py"
SEARCHES = "test_figure_1.py test_primary.py"
SPEED = "test_records.py test_cifar_94.py"
RULES = "test_rules.py test_claims.py"
NO_WRONG_NUMBER = "test_no_wrong_number.py"

MUTANTS = (
    # highways/nets
    Mutant("activations.py", "multiply(H, 0.5, H)", "multiply(H, 0.25, H)", GRADIENTS),
    Mutant("carries.py", "layer.S.sum()", "layer.S.mean()", GRADIENTS),
    Mutant("carries.py", "divide(layer.H, layer.q, layer.P)", "multiply(layer.H, layer.q, layer.P)", GRADIENTS),
    Mutant("equal_size.py", "width, depth, hn.Block.find", "width, depth + 1, hn.Block.find", "test_static_gates.py"),
    Mutant("extra_blocks.py", "1 / max(net.depth, 1)", "1 / max(net.depth + 1, 1)", "test_net.py"),
    Mutant("extra_blocks.py", "net.b_C[:] = -gate_bias", "net.b_C[:] = gate_bias", "test_net.py"),
    Mutant("extra_blocks.py", "sigmoid_back(layer, f, S,", "sigmoid_back(layer, i, S,", GRADIENTS),
    Mutant("gate_statistics.py", "change.sum())) + 1", "change.sum()))", "test_gates.py"),
    Mutant("initial.py", "1 / (2 * size)", "1 / size", "test_what_trains.py"),
    Mutant("jacobians.py", "(T * (1 - T))[:, :, None]", "(T * T)[:, :, None]", "test_why_plain_fails.py"),
    Mutant("layer_by_layer.py", "len(y) * d_logits @", "d_logits @", "test_layer_by_layer.py test_training.py"),
    Mutant("trainer.py", "smoothing / (n * n_classes)", "smoothing / n", SPEED),
    Mutant("statistics.py", "len(values) // 3", "len(values) // 4", FULLY),
    Mutant("measures.py", "axis=1)) / (root - 1)", "axis=1)) / root", "test_gates.py"),
    Mutant("muon.py", "(g + momentum * v)", "v", SPEED),
    Mutant(
        "optimizers.py", "multiply(v, momentum, ahead)", "multiply(step, momentum, ahead)", f"{CONV_TRAINING} {CONV}"
    ),
    Mutant("optimizers.py", "self.lr * scale", "self.lr", f"test_net.py {FULLY} test_contracts.py"),
    Mutant("schedules.py", "3 / 4, 7 / 8)", "3 / 4, 15 / 16)", f"{CONV_TRAINING} test_cifar_training.py test_cifar.py"),
    Mutant(
        "search.py",
        "return ranked_settings[:2]",
        "return ranked_settings[-2:]",
        f"{FULLY} {SEARCHES}",
    ),
    Mutant("fully_connected.py", "** (1 / steps)", "** 1", f"{FULLY} test_resumable.py"),
    # highways/conv
    Mutant("convolution.py", "[self.out_shape[0] :] = gate_bias", "[: self.out_shape[0]] = gate_bias", CONV),
    Mutant("convolution.py", "subtract(dy, dH, dy)", "add(dy, dH, dy)", CONV),
    Mutant("convolution.py", "add(q, 1, q)", "add(q, 2, q)", CONV),
    Mutant("direct.py", "rows_above = self.k - 1 - self.pad", "rows_above = self.pad", CONV),
    Mutant("direct.py", "end = max(min(by + size, room), first)", "end = min(by + size, room)", CONV),
    Mutant("layer.py", "np.array(1 / (1 - self.rate), ", "np.array(1, ", f"{CONV} {CONV_TRAINING}"),
    Mutant("layer.py", "dz.sum(axis=1)", "dz.mean(axis=1)", CONV),
    Mutant("layer.py", "math.sqrt(gain / fan_in)", "math.sqrt(1 / fan_in)", f"{CONV} {CONV_TRAINING}"),
    Mutant("maxout.py", "greater(z_2, z_1, won)", "greater(z_1, z_2, won)", CONV),
    Mutant("images.py", "if epoch % 2 == 0", "if epoch % 2 == 1", SPEED),
    Mutant("images.py", "predict_with_mirror_image(net, x) / 2", "predict_with_mirror_image(net, x) / 4", SPEED),
    Mutant("net.py", "inits[-1] = last", "inits[-1] = init", f"{CONV} {CONV_TRAINING}"),
    Mutant("normalised.py", "(means - mean) ** 2", "(means - mean)", "test_normalised.py"),
    Mutant("normalised.py", "of_maps(views.slope)", "of_maps(self.gamma)", "test_normalised.py"),
    Mutant(
        "pipeline.py",
        "products / n - np.outer(mean, mean)",
        "products / n",
        "test_cifar_images.py test_cifar.py",
    ),
    Mutant("pooled_convolution.py", "greater_equal(z[0], z[1],", "greater_equal(z[1], z[0],", f"{CONV} {SPEED}"),
    Mutant("pooling.py", "subtract(d_left, taken, d_left)", "subtract(d_left, 0 * taken, d_left)", CONV),
    Mutant("wide_highway.py", "add(slope, H, slope)", "subtract(slope, H, slope)", f"{CONV} {SPEED}"),
    Mutant("winograd.py", "end = m + 1 if top + m == self.side else m", "end = m", "test_winograd.py"),
    Mutant("winograd.py", "B_t[0] = B_t[0] / scale", "B_t[0] = B_t[0] * scale", "test_winograd.py"),
    Mutant("training.py", "(self.steps + 0.5)", "self.steps", CONV_TRAINING),
    # highways/lab/judging
    Mutant("rules.py", "ERROR = 0.05", "ERROR = 0.1", RULES),
    Mutant("rules.py", "of_mean**2 / (len(sample) - 1)", "of_mean**2 / len(sample)", RULES),
    Mutant("rules.py", "resolution / 12**0.5", "resolution / 12", RULES),
    Mutant("rules.py", "np.arange(len(p), 0, -1)", "np.arange(1, len(p) + 1)", RULES),
    Mutant("rules.py", '(1 / runs + 1 / published["runs"])', '(1 / published["runs"])', RULES),
    Mutant("verdict.py", '"in part") if False in parts', '"in part") if None in parts', RULES),
    Mutant("accuracies.py", "margin = ERRORS * paper", "margin = paper", "test_claims.py test_cifar.py test_table1.py"),
    Mutant("controls.py", "of_control.parts, strict=True) if part]", "of_control.parts, strict=True)]", RULES),
    Mutant("ledger.py", "for name in names) / 60", "for name in names) / 3600", "test_claims.py test_publish.py"),
    # guards of the five promises
    Mutant(
        "highway_networks.py",
        "if not np.isfinite(x).all():\n                found",
        "if False:\n                found",
        NO_WRONG_NUMBER,
    ),
    Mutant("highway_networks.py", "max(y_train.max(), y_test.max())", "y_train.max()", NO_WRONG_NUMBER),
    Mutant("highway_networks.py", "y.astype(np.uintp)) >= n_classes", "y) >= n_classes", NO_WRONG_NUMBER),
    Mutant(
        "highway_networks.py",
        "x = x.astype(self.dtype, copy=False)\n        if not np.isfinite(x).all()",
        "x = x.astype(self.dtype, copy=False)\n        if False",
        NO_WRONG_NUMBER,
    ),
    Mutant("highway_networks.py", "diverged = diverged_at is not None", "diverged = False", NO_WRONG_NUMBER),
    Mutant("highway_networks.py", "data[:4] != magic or len(data)", "len(data)", "test_known_data.py"),
    Mutant("highway_networks.py", "KNOWN_SETS.get(sha256, ", "KNOWN_SETS.get([*KNOWN_SETS][0], ", "test_known_data.py"),
    Mutant(
        "highway_networks.py",
        "os.replace(temporary, path)",
        "path.write_bytes(temporary.read_bytes())",
        "test_whole_files.py",
    ),
    Mutant("records.py", 'record["digest"] != digest_of(record)', "False", "test_pages_show_trials.py"),
    Mutant("files.py", "target[...] = arrays[name]", "target[:1] = arrays[name][:1]", "test_going_on.py"),
    Mutant("trials.py", 'line.get("checksum") == _checksum_of_line(line)', "True", "test_going_on.py"),
    Mutant("training.py", "    if not other:", "    if True:", "test_going_on.py"),
)


def main(results: Path, numbers: list[int]) -> None:
    known = json.loads(results.read_text()) if results.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        copy_last_commit(copy)
        for number, mutant in enumerate(MUTANTS):
            name = f"{mutant.file}: {mutant.new}"
            if number in numbers or (not numbers and name not in known):
                known[name] = noticed_by(mutant, copy)
                results.write_text(json.dumps(known, indent=2) + "\n")
                print(f"{number} {name}: {known[name]}", flush=True)
    survivors = [name for name, test in known.items() if test == NOBODY]
    print(f"{len(known)} mutants, noticed by nobody: {len(survivors)} {survivors}")


def copy_last_commit(copy: Path) -> None:
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x"], cwd=copy, input=archive, check=True)


def noticed_by(mutant: Mutant, copy: Path) -> str:
    """The first test that fails with the mutant and not without it."""
    file = file_of(mutant, copy)
    tests = [str(path) for name in mutant.tests.split() for path in copy.rglob(name)]
    text = file.read_text(encoding="utf-8")
    failing_anyway = []
    while True:
        file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        try:
            failed = first_failure([*tests, *(f"--deselect={name}" for name in failing_anyway)], copy)
        finally:
            file.write_text(text, encoding="utf-8")
        if failed is None:
            return NOBODY
        if "::" not in failed or not first_failure([failed], copy):
            return failed
        failing_anyway.append(failed)


def file_of(mutant: Mutant, copy: Path) -> Path:
    """The file that the mutant is for; raises ValueError unless one file of this name has its text, once."""
    files = [file for file in copy.rglob(mutant.file) if file.read_text(encoding="utf-8").count(mutant.old) == 1]
    if len(files) != 1:
        raise ValueError(f"{mutant.old!r} stands in {len(files)} files {mutant.file}")
    return files[0]


def first_failure(tests: list[str], copy: Path) -> str | None:
    """The name of the first of these tests that fails, or None."""
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--tb=no", *tests]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        run = subprocess.run(
            words, cwd=copy, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return "the tests do not end"
    failed = re.search(r"^(?:FAILED|ERROR) (\S+?(?:\[.*\])?)(?: - |$)", run.stdout, re.MULTILINE)
    if failed:
        return failed[1]
    if run.returncode:
        raise RuntimeError(f"pytest could not run {tests}: {run.stdout[-2000:]}{run.stderr[-2000:]}")
    return None


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(number) for number in sys.argv[2:]])
