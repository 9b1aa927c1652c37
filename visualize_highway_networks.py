"""Draws the pictures in viz/ from JSON alone: run.json, run_sweep.json and run_seeds.json, as highway_networks.py (or
the published program) writes them, and results/*.json, what experiments and benchmarks measured.

    python visualize_highway_networks.py                         everything whose JSON exists
    python visualize_highway_networks.py --only depth_sweep      one picture
"""

from __future__ import annotations

import argparse
import contextlib
import glob
import os
import signal
import sys
import time
from pathlib import Path

import matplotlib.pyplot as plt

from figures import (
    benchmark,
    blocks,
    data_movement,
    factor_model,
    full_mnist,
    gate_bias,
    gates,
    headline,
    lesion,
    optimization,
    routing,
    table1,
    thousand_layers,
)
from figures.style import png
from plumbing.records import RecordError, load_record, load_results

HERE = Path(__file__).resolve().parent

PICTURES = {  # file name in viz/: (which JSON, how to draw it, what it needs beside the histories)
    "learning_curves": (("run",), headline.learning_curves, None),
    "plain_loss_collapse": (("run",), headline.plain_loss_collapse, None),
    "T_gate_evolution": (("run",), headline.T_gate_evolution, "layer_T_history"),
    "T_gate_final": (("run",), headline.T_gate_final, "final_T_per_layer"),
    "depth_sweep": (("sweep",), headline.depth_sweep, None),
    "seeds": (("seeds",), headline.seeds, None),
    "benchmark": (("benchmark_step", "benchmark_scaling"), benchmark.benchmark, None),
    "optimization": (("optimization",), optimization.optimization, None),
    "thousand_layers": (("thousand_layers",), thousand_layers.thousand_layers, None),
    "gate_bias": (("gate_bias",), gate_bias.gate_bias, None),
    "full_mnist": (("full_mnist",), full_mnist.full_mnist, None),
    "gates": (("gates",), gates.gates, None),
    "lesion": (("lesion",), lesion.lesion, None),
    "routing": (("routing",), routing.routing, None),
    "routes": (("routing",), routing.routes, None),
    "blocks": (("blocks",), blocks.blocks, None),
    "gradient_flow": (("blocks",), blocks.gradient_flow, None),
    "data_movement": (("data_movement",), data_movement.data_movement, None),
    "factor_model": (("factor_model",), factor_model.factor_model, None),
    "conv_curves": (("table1",), table1.conv_curves, None),
    "conv_filters": (("table1",), table1.conv_filters, None),
    "conv_gates": (("table1",), table1.conv_gates, None),
    "conv_wrong": (("table1",), table1.conv_wrong, None),
}
RUNS = {"run": "run.json", "sweep": "run_sweep.json", "seeds": "run_seeds.json"}  # the rest lies in results/

# ---- The command line ------------------------------------------------------------------------------------------------


def write_whole(files: dict[Path, bytes]) -> None:
    """All of them or none, each the old file or the new one, never a part; as highway_networks.py does it, which this
    program does not know: through temporary files beside them, and clearing away those of processes killed before."""
    temporaries = {path: path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp") for path in files}
    try:
        for path, temporary in temporaries.items():
            if path.exists() and not path.is_file():
                raise RecordError(f"{path} is a folder or a device; the name of a file is needed")
            for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
                with contextlib.suppress(OSError):  # another process clears it away as well
                    if leftover.stat().st_mtime < time.time() - 60:
                        leftover.unlink()
            with temporary.open("xb") as file:
                file.write(files[path])
                file.flush()
                os.fsync(file.fileno())
        for path, temporary in temporaries.items():
            temporary.replace(path)
    except OSError as error:
        raise RecordError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        for temporary in temporaries.values():
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def draw_picture(name: str, paths: dict, records: dict) -> bytes | None:
    """The picture as a PNG; None when something that it needs is missing, and a line says what."""
    sources, draw, needs = PICTURES[name]
    absent = [str(paths[source]) for source in sources if source not in records]
    if absent:
        print(f"left out {name}: there is no {' and no '.join(absent)}", flush=True)
        return None
    if needs and not records[sources[0]]["runs"][0]["highway"].get(needs):
        print(f"left out {name}: {paths[sources[0]]} has no {needs}", flush=True)
        return None
    try:
        return png(draw(*(records[source] for source in sources)))
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        where = " or ".join(str(paths[source]) for source in sources)
        raise RecordError(f"{where} lacks what {name} is drawn from: {error!r}") from error
    finally:
        plt.close("all")


def file_name(text: str) -> Path:
    """An argparse type: not empty, as when a shell's variable is not set."""
    if not text:
        raise argparse.ArgumentTypeError("'' is not the name of a file or folder")
    return Path(text)


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description="Draw the pictures in viz/ from JSON alone.")
    for name, file in RUNS.items():
        parser.add_argument(f"--{name}", metavar="FILE", type=file_name, default=HERE / file, help=f"instead of {file}")
    parser.add_argument(
        "--results", metavar="DIR", type=file_name, default=HERE / "results", help="instead of results/"
    )
    parser.add_argument("--only", choices=PICTURES, metavar="NAME", help=f"one of {', '.join(PICTURES)}")
    parser.add_argument("--out", metavar="DIR", type=file_name, default=HERE / "viz", help="instead of viz/")
    args = parser.parse_args(argv)
    wanted = [args.only] if args.only else list(PICTURES)
    try:
        sources = dict.fromkeys(source for name in wanted for source in PICTURES[name][0])
        paths = {s: getattr(args, s) if s in RUNS else args.results / f"{s}.json" for s in sources}
        asked = {s for s in sources if args.only or (s in RUNS and paths[s] != parser.get_default(s))}  # must exist
        records = {
            s: (load_record if s in RUNS else load_results)(path)
            for s, path in paths.items()
            if s in asked or path.exists()
        }
        pictures = {name: draw_picture(name, paths, records) for name in wanted}
        pictures = {args.out / f"{name}.png": picture for name, picture in pictures.items() if picture}
        args.out.mkdir(parents=True, exist_ok=True)
        write_whole(pictures)
        print("".join(f"drew {path}\n" for path in pictures), end="", flush=True)
    except BrokenPipeError:  # whoever read our output stopped reading
        os._exit(1)
    except (OSError, RecordError) as error:
        parser.exit(2, f"{parser.prog}: error: {' '.join(str(error).split())}\n")
    except KeyboardInterrupt:
        print("interrupted: nothing was written", file=sys.stderr)
        return 130
    return 0 if pictures else 1


def run_program(main) -> None:
    """No program ends because its output was closed from the start, or cannot show a name."""
    sys.stdout, sys.stderr = (s or open(os.devnull, "w") for s in (sys.stdout, sys.stderr))  # noqa: SIM115
    sys.stdout.reconfigure(errors="backslashreplace")
    status = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is done: too late to be interrupted
    sys.exit(status)


if __name__ == "__main__":
    run_program(main)
