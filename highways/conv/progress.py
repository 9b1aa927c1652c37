"""What is shown while convolutional nets train, and after it."""

from __future__ import annotations

import heapq
import sys

import numpy as np

from highways.commands import duration
from highways.conv.protocols import BATCH, ConvSettings


class Progress:
    """A line for each epoch and, on a terminal, a bar within it for each net."""

    def __init__(self, planned: list[ConvSettings], jobs: int):
        from tqdm import tqdm  # imported here: nets can be built and used without it

        tqdm.monitor_interval = 0  # tqdm starts no thread: forking a process that has threads can hang
        self.tqdm = tqdm
        self.planned = {settings.seed: settings for settings in planned}
        self.epochs_left = {settings.seed: settings.epochs for settings in planned}
        self.jobs = jobs
        self.bars = {}
        # a bar in a file is garbage
        self.no_bars = not (sys.stdout.isatty() and sys.stderr.isatty())

    def show(self, message: tuple[int, dict]) -> None:
        """Shows a message of train_one(): (seed, row)."""
        seed, row = message
        if "step" in row:
            self._show_step(seed, row["step"])
        else:
            self._show_epoch(self.planned[seed], row)

    def _show_epoch(self, settings: ConvSettings, row: dict) -> None:
        epoch = row["epoch"]
        self.epochs_left[settings.seed] = settings.epochs - epoch
        accuracies = f"train {row['train_accuracy']:.4f}  {settings.tested_on} {row['test_accuracy']:.4f}"
        results = f"loss {row['train_loss']:.4f}  {accuracies}"
        took = duration(row["seconds"])
        to_go = duration(self._epochs_to_go() * row["seconds"] / epoch)
        self.tqdm.write(f"{settings.label}  epoch {epoch:3d}  {results}  {took}, {to_go} to go")
        sys.stdout.flush()

    def _show_step(self, seed: int, step: int) -> None:
        steps_of_epoch = self.planned[seed].n_train // BATCH
        epochs, steps_before = divmod(step - 1, steps_of_epoch)
        # counted from the step: a resumed net does not begin with its first epoch
        self.epochs_left[seed] = self.planned[seed].epochs - epochs
        if seed not in self.bars:
            self.bars[seed] = self.tqdm(
                total=steps_of_epoch,
                unit="step",
                leave=False,
                disable=self.no_bars,
            )
        bar = self.bars[seed]
        bar.set_description(f"seed {seed}  epoch {epochs + 1:3d}", refresh=False)
        if steps_before == 0:
            bar.reset()
        bar.update(steps_before + 1 - bar.n)

    def _epochs_to_go(self) -> int:
        """The epochs left to the job that will end last; a job that is free takes the next net."""
        ends = [0] * self.jobs
        for left in self.epochs_left.values():
            heapq.heapreplace(ends, ends[0] + left)
        return max(ends)

    def finished(self, seed: int) -> None:
        self.epochs_left[seed] = 0  # the net may have diverged
        if seed in self.bars:
            self.bars.pop(seed).close()
            if not self.no_bars:  # tqdm leaves the cursor behind the last bar that it removes
                print(end="\r", file=sys.stderr, flush=True)

    def close(self) -> None:
        for seed in [*self.bars]:
            self.finished(seed)


def table(runs: list[dict]) -> str:
    """The results as text: a line for each seed and, for several seeds, mean ± deviation."""
    where = "validation" if runs[0]["validation"] else "test"
    lines = [f"seed   parameters   {where} accuracy %   train loss"]
    for run in runs:
        if run["diverged"]:
            numbers = "         DIVERGED            -"
        else:
            accuracy = run["history"]["test_accuracy"][-1]
            loss = run["history"]["train_loss"][-1]
            numbers = f"{100 * accuracy:17.2f} {loss:12.4g}"
        if "stopped_after" in run:
            numbers += f"   stopped after {run['stopped_after']} of {run['epochs']} epochs"
        lines.append(f"{run['seed']:4d} {run['n_parameters']:12d} {numbers}")
    finals = [run.get("test_accuracy") for run in runs]
    accuracies = [100 * final for final in finals if final is not None]
    if len(accuracies) > 1:
        sd = np.std(accuracies, ddof=1)
        lines.append(f"mean {np.mean(accuracies):.2f} ± {sd:.2f} over {len(accuracies)} seeds")
    return "\n".join(lines)
