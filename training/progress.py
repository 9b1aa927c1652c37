"""What is shown while convolutional nets train."""

from __future__ import annotations

import heapq
import sys

from tqdm import tqdm

from training.protocols import BATCH, Settings


class Progress:
    """What is shown while nets train: a line for each epoch and, on a terminal, a bar within it for each net."""

    def __init__(self, planned: list[Settings], jobs: int):
        self.planned, self.jobs, self.bars = {settings.seed: settings for settings in planned}, jobs, {}
        self.epochs_left = {settings.seed: settings.epochs for settings in planned}
        self.no_bars = not (sys.stdout.isatty() and sys.stderr.isatty())  # a bar in a file is garbage

    def heard(self, message: tuple[int, dict]) -> None:
        """What train_one() tells."""
        seed, row = message
        if "step" in row:
            self._step(seed, row["step"])
            return
        settings = self.planned[seed]
        self.epochs_left[seed] = settings.epochs - row["epoch"]
        text = f"loss {{train_loss:.4f}}  train {{train_acc:.4f}}  {settings.tested_on} {{test_acc:.4f}}"
        took, to_go = (duration(n * row["seconds"] / row["epoch"]) for n in (row["epoch"], self._epochs_to_go()))
        tqdm.write(f"{settings.label}  epoch {row['epoch']:3d}  {text.format_map(row)}  {took}, {to_go} to go")
        sys.stdout.flush()

    def _step(self, seed: int, step: int) -> None:
        steps_of_epoch = self.planned[seed].n_train // BATCH
        epochs, rest = divmod(step - 1, steps_of_epoch)
        self.epochs_left[seed] = self.planned[seed].epochs - epochs  # a resumed one does not begin with the first
        if seed not in self.bars:
            self.bars[seed] = tqdm(total=steps_of_epoch, unit="step", leave=False, disable=self.no_bars)
        bar = self.bars[seed]
        bar.set_description(f"seed {seed}  epoch {epochs + 1:3d}", refresh=False)
        if rest == 0:
            bar.reset()
        bar.update(rest + 1 - bar.n)

    def _epochs_to_go(self) -> int:
        """Of the job that ends last, when each takes the next net as soon as it is done with one."""
        ends = [0] * self.jobs
        for left in self.epochs_left.values():
            heapq.heapreplace(ends, ends[0] + left)
        return max(ends)

    def finished(self, seed: int) -> None:
        self.epochs_left[seed] = 0  # it may have diverged
        if seed in self.bars:
            self.bars.pop(seed).close()
            if not self.no_bars:  # tqdm leaves the cursor behind the last bar that it removes
                print(end="\r", file=sys.stderr, flush=True)

    def close(self) -> None:
        for seed in [*self.bars]:
            self.finished(seed)


def duration(seconds: float) -> str:
    """As one would say it: 72 s, 14 min, 3.2 h."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 99.5 * 60 else f"{seconds / 3600:.1f} h"
