"""Made-up images in the files of CIFAR's binary version."""

from pathlib import Path

import numpy as np

from highways.cifar import PIXELS, Layout


def made_up(layout: Layout, seed: int) -> dict[str, np.ndarray]:
    """{file: its records}, shuffled.  Every label occurs equally often."""
    rng = np.random.default_rng(seed)
    parts = []
    for n in (layout.n_train, layout.n_test):
        labels = np.stack([np.arange(n) % values for values in layout.labels], axis=1)
        parts.append(np.hstack([labels, rng.integers(0, 256, (n, PIXELS))]).astype(np.uint8))
    train, test = parts
    batches = np.split(rng.permutation(train), len(layout.train))
    return dict(zip(layout.train, batches, strict=True)) | {layout.test[0]: rng.permutation(test)}


def write(folder: Path, records: dict[str, np.ndarray]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for file, part in records.items():
        (folder / file).write_bytes(part.tobytes())
    return folder
