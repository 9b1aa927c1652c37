"""Draws the pictures in viz/ from JSON alone: from run.json, run_sweep.json and run_seeds.json, as
highway_networks.py (or the published program) writes them; from results/*.json, which experiments
and benchmarks write; and from data/published.json and data/authors_logs_cifar.json.

    python visualize_highway_networks.py                           everything whose JSON exists
    python visualize_highway_networks.py --only depth_sweep,seeds  these pictures
    python visualize_highway_networks.py --format svg --scale 1.5  for slides: larger text

A matplotlibrc changes nothing.  To draw with rcParams of your own, in Python: after
experiments.register_pictures_and_tables(), registry.PICTURES["depth_sweep"].draw(record) of
highways/lab/showing/registry.py returns a figure.
"""

from __future__ import annotations

import highways.lab.showing.installed  # noqa: F401  isort: skip  first: says what is not installed
import argparse
import difflib
from functools import partial
from pathlib import Path

import matplotlib

from experiments import register_pictures_and_tables
from highways.commands import Parser, number, path_name, run_command, run_program
from highways.files import ROOT, InputError, check_kind, printable, read_json
from highways.lab.showing import registry
from highways.lab.showing.style import FORMATS, drawing, house_style, picture_bytes
from highways.records import load_record, load_results

PUBLISHED = ("published", "authors_logs_cifar")  # in data/
RUNS = {"run": "run.json", "run_sweep": "run_sweep.json", "run_seeds": "run_seeds.json"}
BEGINNINGS = {"png": b"\x89PNG", "svg": b"<?xml"}
FLAGS = {"run": "--run", "run_sweep": "--sweep", "run_seeds": "--seeds"}
register_pictures_and_tables()


def load_source(source: str, path: Path) -> dict:
    if source in PUBLISHED:
        return read_json(path)
    return load_record(path) if source in RUNS else load_results(path)


def draw_picture(name: str, kind: str, paths: dict, records: dict) -> bytes | None:
    """The picture as the bytes of a `kind` of file, "png" or "svg".  If its JSON is missing or
    lacks what it needs, prints a line and returns None."""
    picture = registry.PICTURES[name]
    sources = picture.sources
    absent = [str(paths[source]) for source in sources if source not in records]
    if absent:
        print(f"left out {name}: not measured yet, there is no {printable(' and no '.join(absent))}", flush=True)
        return None
    if picture.shown_if:
        first_highway_run = records[sources[0]]["runs"][0]["highway"]
        if not first_highway_run.get(picture.shown_if):
            print(f"left out {name}: {printable(paths[sources[0]])} has no {picture.shown_if}", flush=True)
            return None
    with drawing(" or ".join(str(paths[source]) for source in sources), name):
        return picture_bytes(picture.draw(*(records[source] for source in sources)), kind)


def draw_pictures(args, save) -> int:
    """Draws the wanted pictures, then writes them all.  Returns the exit status, 1 if there is
    nothing to write."""
    wanted = args.only or list(registry.PICTURES)
    if args.results and not Path(args.results).is_dir():
        raise InputError(f"--results {args.results} is not a folder")
    if Path(args.out).exists() and not Path(args.out).is_dir():
        raise InputError(f"--out {args.out} is a file; a folder is needed")
    places = {name: ROOT / "data" / f"{name}.json" for name in PUBLISHED}
    for name, file in RUNS.items():
        places[name] = Path(getattr(args, name) or ROOT / file)
    results = Path(args.results or ROOT / "results")
    paths = {}
    records = {}
    for name in wanted:
        for source in registry.PICTURES[name].sources:
            path = places.get(source, results / f"{source}.json")
            paths[source] = path
            must_exist = args.only or getattr(args, source, None)
            if source not in records and (must_exist or path.exists()):
                records[source] = load_source(source, path)
    with house_style(args.scale):
        pictures = {name: draw_picture(name, args.format, paths, records) for name in wanted}
    files = {}
    for name, picture in pictures.items():
        if picture:
            files[Path(args.out) / f"{name}.{args.format}"] = picture
    if not files:
        return 1
    Path(args.out).mkdir(parents=True, exist_ok=True)
    for path in files:
        check_kind(path, BEGINNINGS[args.format])
    save(files)
    print("".join(f"drew {printable(path)}\n" for path in files), end="", flush=True)
    return 0


def picture_names(text: str) -> list[str]:
    """An argparse type: names of pictures separated by commas."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if not name:
            raise argparse.ArgumentTypeError(f"{text!r} has an empty name before or after a comma")
        if name not in registry.PICTURES:
            [nearest] = difflib.get_close_matches(name, registry.PICTURES, n=1, cutoff=0)
            raise argparse.ArgumentTypeError(f"no picture is called {name!r}; {nearest} is the nearest name")
    return names


def main(argv=None) -> int:
    parser = Parser(description="Draw the pictures in viz/ from JSON alone.")
    for name, file in RUNS.items():
        parser.add_argument(FLAGS[name], dest=name, metavar="FILE", type=path_name, help=f"instead of {file}")
    where = {"metavar": "DIR", "type": path_name}
    names = ", ".join(registry.PICTURES)
    parser.add_argument("--results", **where, help="instead of results/")
    only = f"draw only these, separated by commas: {names}"
    parser.add_argument("--only", type=picture_names, metavar="NAMES", help=only)
    parser.add_argument("--format", choices=FORMATS, default="png", help="the files' format (%(default)s)")
    scale = "the size of text, lines and markers (%(default)s)"
    parser.add_argument("--scale", type=number(float, 0.5, 2), default=1.0, help=scale)
    parser.add_argument("--out", **where, default=ROOT / "viz", help="instead of viz/")
    args = parser.parse_args(argv)
    matplotlib.use("agg")  # needs no screen, whatever MPLBACKEND names
    return run_command(parser.prog, partial(draw_pictures, args))


if __name__ == "__main__":
    run_program(main)
