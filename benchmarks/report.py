"""What the benchmarks share: the summary of a list of times, and the envelope of a results file."""

from __future__ import annotations

import sys

import numpy as np

import highway_networks as hn


def summarise(seconds: list[float]) -> dict:
    low, median, high = np.percentile(seconds, (25, 50, 75))
    return {"median_ms": 1e3 * median, "quartiles_ms": [1e3 * low, 1e3 * high], "n": len(seconds)}


def save(name: str, command: str, settings: dict, summary: dict, trials) -> int:
    path = hn.HERE / "results" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    versions = {package: getattr(sys.modules.get(package), "__version__", None) for package in ("torch", "jax")}
    record = {"experiment": name, "source": "this project's own question", "command": command, "settings": settings}
    hn.write_json(path, record | {"env": hn.environment() | versions, "summary": summary, "trials": trials})
    print(f"saved to {path}")
    return 0
