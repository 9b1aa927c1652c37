"""Convolutional highway networks in pure NumPy: Tables 1 to 3 of *Training Very Deep Networks* (Srivastava, Greff,
Schmidhuber, NIPS 2015).

This is the sister of highway_networks.py, from which it has the loss.  A net is plain data, a list of layers;
`mnist_net(16)` is the paper's, and conv/nets.py has them all.  The layers with their hand-written passes are in
conv/, what trains a net is in training/.  This file is the command line.

    python conv_highway_networks.py --net mnist-16 --seeds 0,1,2,3,4   Table 1, twelve epochs       -> run_conv.json
    python conv_highway_networks.py --net mnist-32 --protocol paper    300 epochs, as the authors trained
    python conv_highway_networks.py --net highway-a --data cifar-10    Table 2, sixty epochs
    python conv_highway_networks.py --nets                             the nets: parameters, methods

    import numpy as np
    from conv.net import ConvNet
    from conv.nets import mnist_net
    from highway_networks import softmax_cross_entropy

    net = ConvNet((1, 28, 28), mnist_net(16), np.random.default_rng(0))
    logits = net.forward(x, dropout=np.random.default_rng(1))           # (N, 784) in [0, 1] -> (N, 10)
    loss, d_logits = softmax_cross_entropy(logits, y)
    gradient = net.backward(d_logits)                                   # flat, as net.parameters
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":  # with python -I, or PYTHONSAFEPATH, this folder is not searched
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import argparse
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

import highway_networks as hn
from conv.convolution import Convolution
from conv.net import KINDS, ConvNet
from conv.nets import NETS, find_net
from plumbing.commands import list_of, number, path_name, run_command, run_program
from plumbing.files import (
    ROOT,
    InputError,
    Lock,
    check_writable,
    json_bytes,
    replace_file,
)
from plumbing.processes import MOST_JOBS, all_cores, in_processes, interrupts_deferred
from training.checkpoints import branch, check_unsaved, checkpoint_to_resume, net_file, unfinished
from training.convolutional import Training
from training.images import check_square, fingerprint, load_images, select_images, shape_of
from training.progress import Progress
from training.protocols import BATCH, HELD_OUT, PROTOCOLS, Settings, protocol_of
from training.runs import record, table, train_one

NOT_FOR_JSON = (".npz", ".lock", ".tmp")  # names of files that are written beside it
QUICK = {"net": "mnist-8", "epochs": 5, "n_train": 5000, "n_test": 1000}  # to 90 %: 0.93, 0.93, 0.91 with seeds 0, 1, 2


def parse_arguments(argv=None):
    d, count, default = Settings(), number(int, 1), " (%(default)s)"
    duration_text = "The default, twelve epochs of 16 maps on all images, took a quarter of an hour on one core here."
    text = "Train a convolutional highway net on MNIST or CIFAR; write JSON."
    p = argparse.ArgumentParser(description=f"{text} {duration_text}")
    add, seeds, saving = p.add_argument, p.add_mutually_exclusive_group(), p.add_mutually_exclusive_group()
    nets = f"{', '.join(NETS)}; mnist-N has N maps a layer"
    add("--net", type=net_name, metavar="NET", default=d.net, help=nets + default)
    add("--data", choices=tuple(PROTOCOLS), help="the data set (mnist, or cifar-10 for nets that take colours)")
    kinds = [name for name, kind in KINDS.items() if issubclass(kind, Convolution) and name not in ("conv", "conv-bn")]
    add("--block", choices=kinds, help="hidden-layer kind (the net's own)")
    add("--protocol", choices=("paper", "short"), default=d.protocol, help="the authors', or a short one" + default)
    add("--epochs", type=number(int, 1, 10**6), help="passes over the training images (the protocol's)")
    add("--stop-after", type=number(int, 1, 10**6), metavar="N", help="stop after N of these epochs; --resume goes on")
    add("--branch", type=path_name, metavar="NET", help="begin with a copy of this checkpoint, at the rate of --lr")
    seeds.add_argument("--seed", type=number(int, 0), default=str(d.seed), help="for weights and training" + default)
    seeds.add_argument("--seeds", type=list_of(number(int, 0)), default=(), help="several: 0,1,2")
    add("--lr", type=number(float, 1e-12), help="the highest learning rate (the protocol's)")
    add("--gate-bias", type=number(float, -1e3, 1e3), help=hn.GATE_BIAS + " (the net's)")
    add("--n-train", type=number(int, BATCH), help="use the first N training images (all)")
    add("--n-test", type=count, help="use the first N test images (all)")
    add("--validation", action="store_true", help=f"test on the last {HELD_OUT} training images instead")
    add("--data-dir", type=path_name, metavar="DIR", help="with CIFAR's binary version, or a set in MNIST's layout")
    add("--jobs", type=number(int, 1, MOST_JOBS), default=all_cores(), help="processes, one a seed" + default)
    add("--quick", action="store_true", help="a smoke test: above 90 %% in half a minute; writes run_conv_quick.json")
    add("--out", type=path_name, metavar="FILE", help="instead of run_conv.json; each net to FILE_SEED.npz beside it")
    saving.add_argument("--resume", action="store_true", help="go on from the checkpoints that stand beside the JSON")
    saving.add_argument("--no-save", action="store_true", help="write nothing")
    add("--quiet", action="store_true", help="print the result alone")
    add(
        "--nets",
        action="store_true",
        help="print the nets, their parameters and how they are computed; train nothing",
    )
    if p.parse_args(argv).quick:
        p.set_defaults(**QUICK)
    args = p.parse_args(argv)
    sets = ("mnist",) if find_net(args.net).shape[0] == 1 else ("cifar-10", "cifar-100")
    args.data, args.block = args.data or sets[0], args.block or find_net(args.net).block
    if args.data not in sets:
        p.error(f"argument --data: {args.net} takes {' or '.join(sets)}, not {args.data}")
    args.epochs = args.epochs or PROTOCOLS[args.data][args.protocol].epochs
    if args.stop_after and args.stop_after > args.epochs:
        p.error(f"argument --stop-after: {args.stop_after} is more than the {args.epochs} epochs")
    if args.branch and len(args.seeds) > 1:
        p.error("argument --branch: it is a checkpoint of one seed; give --seed")
    if args.out and os.path.realpath(args.out).lower().endswith(NOT_FOR_JSON):
        named = f"{args.out} is named as a net, a lock or a temporary file"
        p.error(f"argument --out: {named}; the JSON goes there, each net beside it")
    return p, args


def net_name(text: str) -> str:
    """An argparse type."""
    try:
        find_net(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def net_sizes() -> str:
    """The nets: our parameters beside the published, how sure their layers are, how they are computed."""
    row = "{:17}{:9}{:>11} {:>10}  {:33}{}"
    lines = [row.format("net", "", "ours", "published", "the layers are", "convolutions")]
    for name, named in NETS.items():
        net = ConvNet(named.shape, named.layers, np.random.default_rng(0))
        methods = Counter(layer.method for layer in net.layers if isinstance(layer, Convolution))
        computed = ", ".join(f"{n} {method}" for method, n in methods.items())
        sizes = f"{len(net.parameters):,}", f"{named.parameters:,.0f}" if named.parameters else "-"
        lines.append(row.format(name, named.title, *sizes, named.source, computed))
    return "\n".join(lines)


def plan(args, data: hn.Dataset) -> list[Settings]:
    """One Settings a seed; raises InputError for images that cannot be had, or that the net cannot take."""
    n_train, n_test, of_these = len(data.x_train), len(data.x_test), ""
    if args.validation:
        n_train, n_test, of_these = n_train - HELD_OUT, HELD_OUT, " with --validation"
    if n_train < BATCH:
        held_out = f", of them {HELD_OUT} for --validation" if args.validation else ""
        raise InputError(f"{data.name} has {len(data.x_train)} training images{held_out}; a batch needs {BATCH}")
    for what, asked, n in (("train", args.n_train, n_train), ("test", args.n_test, n_test)):
        if (asked or 0) > n:
            raise InputError(f"--n-{what} {asked} is more than the {n} that {data.name} has{of_these}")
    net = find_net("mnist-1" if args.data == "mnist" else args.net)  # of any width: it shall be small
    try:
        check_square(data)
        ConvNet(shape_of(net.shape[0], data.x_train.shape[1]), net.layers_of(block=args.block), 0)
    except ValueError as error:
        raise InputError(f"the images of {data.name} are not for this net: {error}") from error
    names = ("net", "data", "block", "protocol", "epochs", "validation")
    own = {name: getattr(args, name) for name in names}
    own["gate_bias"] = find_net(args.net).gate_bias if args.gate_bias is None else args.gate_bias
    settings = Settings(**own, n_train=args.n_train or n_train, n_test=args.n_test or n_test)
    return [replace(settings, seed=seed) for seed in args.seeds or [args.seed]]


def train_seeds(args, save) -> None:
    """What the command line does; save({path: bytes}) writes the JSON.

    While it runs, no other command writes that file and the nets beside it."""
    path = Path(os.path.realpath(args.out)) if args.out else ROOT / f"run_conv{'_quick' * args.quick}.json"
    if args.no_save:
        _train_seeds(args, path, save)
        return
    check_writable(path)
    with Lock(path):
        _train_seeds(args, path, save)


def _train_seeds(args, path: Path, save) -> None:
    start = time.perf_counter()
    whole = load_images(args.data, args.data_dir)
    planned = plan(args, whole)
    data = select_images(whole, planned[0])
    protocol, images = protocol_of(planned[0], args.lr), fingerprint(data)
    files = [net_file(path, settings.seed) for settings in planned]
    branch_of = Path(args.branch) if args.branch else None
    checkpoints = [*map(unfinished, files)]
    if args.no_save:
        checkpoints = [None] * len(files)
    elif args.resume:
        stopped = any(checkpoint.exists() for checkpoint in checkpoints)
        checkpoints = [
            checkpoint_to_resume(Training(settings, protocol, images), file, stopped, branch_of)
            for settings, file in zip(planned, files, strict=True)
        ]
    else:
        for file in files:
            check_unsaved(file)
    if branch_of and not (checkpoints[0] and checkpoints[0].exists()):
        trunk = branch(branch_of, planned[0], protocol, images)  # refuses it before anything is written
        if args.stop_after and args.stop_after <= trunk.epochs:
            raise InputError(f"--stop-after {args.stop_after}: the branch begins after epoch {trunk.epochs}")
    tasks = [(settings, protocol, data, each) for settings, each in zip(planned, checkpoints, strict=True)]
    if not args.quiet:
        sizes = f"{len(data.x_train)} training and {len(data.x_test)} {planned[0].tested_on} images"
        print(f"{data.name} from {data.source}: {sizes}, lr {protocol.lr}", flush=True)
    work = partial(train_one, resume=args.resume, branch_of=branch_of, stop_after=args.stop_after)
    jobs, done = min(args.jobs, len(tasks)), {}
    to_train = [replace(settings, epochs=args.stop_after or args.epochs) for settings in planned]
    with closing(Progress(to_train, jobs)) as progress:
        heard = None if args.quiet else progress.heard
        with closing(in_processes(work, tasks, jobs, heard)) as finished:
            for run in finished:
                done[run["seed"]] = run
                progress.finished(run["seed"])
    runs = [done[settings.seed] for settings in planned]
    for run in runs:
        if run["diverged"]:
            print(f"{run['label']}: DIVERGED in {run['diverged_at']}; no net is kept", file=sys.stderr)
    try:
        if not args.no_save:
            with interrupts_deferred():  # the nets are the JSON's
                save({path: json_bytes(record(args, whole, planned[0], protocol, runs))})
                for run, checkpoint, file in zip(runs, checkpoints, files, strict=True):
                    if run["diverged"]:  # resumed, it would diverge again; an older run's net is not of this JSON
                        checkpoint.unlink(missing_ok=True)
                        file.unlink(missing_ok=True)
                    elif "stopped_after" not in run:  # else the checkpoint stays, for --resume
                        replace_file(checkpoint, file)
    finally:
        print(f"{table(runs)}\n", end="", flush=True)  # whatever happens to the disk; in one write
    if not args.no_save:
        print(f"saved to {path} after {time.perf_counter() - start:.1f} s", flush=True)


def main(argv=None) -> int:
    parser, args = parse_arguments(argv)
    if args.nets:
        return run_command(parser.prog, lambda save: print(net_sizes()))
    resume_hint = "" if args.no_save else "finished epochs are kept: --resume goes on from there"
    return run_command(parser.prog, partial(train_seeds, args), resume_hint)


if __name__ == "__main__":
    import conv_highway_networks  # so that worker processes find what they run under this name, not in "__main__"

    run_program(conv_highway_networks.main)
