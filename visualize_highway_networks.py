"""Draws the pictures in viz/ from JSON alone: run.json, run_sweep.json and run_seeds.json, as highway_networks.py (or
the published program) writes them, and results/*.json, what experiments and benchmarks measured.

    python visualize_highway_networks.py                         everything whose JSON exists
    python visualize_highway_networks.py --only depth_sweep      one picture
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":  # with python -I, or PYTHONSAFEPATH, this folder is not searched
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import argparse
from functools import partial
from pathlib import Path

from figures import (
    adam_explodes,
    benchmark,
    blocks,
    cifar,
    data_movement,
    factor_model,
    full_mnist,
    gate_bias,
    gates,
    headline,
    jacobian,
    lesion,
    long_training,
    optimization,
    routing,
    table1,
    thousand_layers,
    very_deep,
)
from figures.style import drawing, png
from plumbing.commands import path_name, run_command, run_program
from plumbing.files import ROOT, read_json
from plumbing.records import load_record, load_results

DRAWN = {  # of its JSON: what is drawn from it, each into a file in viz/ of the function's name
    ("run",): (
        headline.learning_curves,
        headline.plain_loss_collapse,
        headline.T_gate_evolution,
        headline.T_gate_final,
    ),
    ("sweep",): (headline.depth_sweep,),
    ("seeds",): (headline.seeds,),
    ("benchmark_step", "benchmark_scaling"): (benchmark.benchmark,),
    ("optimization",): (optimization.optimization,),
    ("long_training",): (long_training.long_training,),
    ("thousand_layers",): (thousand_layers.thousand_layers,),
    ("gate_bias",): (gate_bias.gate_bias,),
    ("full_mnist",): (full_mnist.full_mnist,),
    ("adam_explodes",): (adam_explodes.adam_explodes,),
    ("gates",): (gates.gates_figure_2, gates.gates_figure_3),
    ("lesion",): (lesion.lesion,),
    ("routing",): (routing.routing, routing.routes),
    ("blocks",): (blocks.blocks, blocks.gradient_flow),
    ("very_deep",): (very_deep.very_deep, very_deep.bias_sweep),
    ("jacobian",): (jacobian.jacobian,),
    ("data_movement",): (data_movement.data_movement,),
    ("factor_model",): (factor_model.factor_model,),
    ("table1", "published"): (table1.conv_curves,),
    ("table1",): (table1.conv_filters, table1.conv_gates, table1.conv_wrong),
    ("cifar", "published"): (cifar.cifar_curves,),
    ("cifar",): (cifar.cifar_filters, cifar.cifar_gates, cifar.cifar_wrong),
}
PICTURES = {draw.__name__: (sources, draw) for sources, functions in DRAWN.items() for draw in functions}
GATES = {"T_gate_evolution": "layer_T_history", "T_gate_final": "final_T_per_layer"}  # what they need of a net
RUNS = {"run": "run.json", "sweep": "run_sweep.json", "seeds": "run_seeds.json"}


def load_source(source: str, path: Path) -> dict:
    if source == "published":
        return read_json(path)
    return load_record(path) if source in RUNS else load_results(path)


def draw_picture(name: str, paths: dict, records: dict) -> bytes | None:
    """The picture as a PNG; None when something that it needs is missing, and a line says what."""
    (sources, draw), needs = PICTURES[name], GATES.get(name)
    absent = [str(paths[source]) for source in sources if source not in records]
    if absent:
        print(f"left out {name}: there is no {' and no '.join(absent)}", flush=True)
        return None
    if needs and not records[sources[0]]["runs"][0]["highway"].get(needs):
        print(f"left out {name}: {paths[sources[0]]} has no {needs}", flush=True)
        return None
    with drawing(" or ".join(str(paths[source]) for source in sources), f"{name} is"):
        return png(draw(*(records[source] for source in sources)))


def draw_pictures(args, save) -> int:
    """Draws what is wanted, then writes all of it; 1 when there is nothing to write."""
    wanted = [args.only] if args.only else list(PICTURES)
    runs = {name: Path(getattr(args, name) or ROOT / file) for name, file in RUNS.items()}
    places = runs | {"published": ROOT / "data" / "published.json"}
    sources = dict.fromkeys(source for name in wanted for source in PICTURES[name][0])
    paths = {source: places.get(source, Path(args.results) / f"{source}.json") for source in sources}
    asked = {source for source in sources if args.only or getattr(args, source, None)}  # must exist
    records = {s: load_source(s, path) for s, path in paths.items() if s in asked or path.exists()}
    pictures = {name: draw_picture(name, paths, records) for name in wanted}
    files = {Path(args.out) / f"{name}.png": picture for name, picture in pictures.items() if picture}
    if not files:
        return 1
    Path(args.out).mkdir(parents=True, exist_ok=True)
    save(files)
    print("".join(f"drew {path}\n" for path in files), end="", flush=True)
    return 0


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description="Draw the pictures in viz/ from JSON alone.")
    for name, file in RUNS.items():
        parser.add_argument(f"--{name}", metavar="FILE", type=path_name, help=f"instead of {file}")
    where = {"metavar": "DIR", "type": path_name}
    parser.add_argument("--results", **where, default=ROOT / "results", help="instead of results/")
    parser.add_argument("--only", choices=PICTURES, metavar="NAME", help=f"one of {', '.join(PICTURES)}")
    parser.add_argument("--out", **where, default=ROOT / "viz", help="instead of viz/")
    return run_command(parser.prog, partial(draw_pictures, parser.parse_args(argv)))


if __name__ == "__main__":
    run_program(main)
