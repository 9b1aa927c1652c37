"""Convolutional highway networks in pure NumPy: Tables 1 to 3 of *Training Very Deep Networks*
(Srivastava, Greff, Schmidhuber, NIPS 2015).

A net is plain data, a list of layers: `mnist_net(16)` is one of the paper's, and highways/conv/nets.py has
them all.  The layers, with hand-written passes, and their training are in highways/conv/.
The loss is that of highway_networks.py.  This file is the command line.

    python conv_highway_networks.py --net mnist-16 --seeds 0,1,2,3,4   Table 1 -> run_conv.json
    python conv_highway_networks.py --net mnist-32 --protocol paper    as the authors trained
    python conv_highway_networks.py --net highway-a --data cifar-10    Table 2, sixty epochs
    python conv_highway_networks.py --nets                             the nets, their sizes
    mpiexec -n 4 python conv_highway_networks.py                       each net by four processes

    import numpy as np
    from highways.conv.net import ConvNet
    from highways.conv.nets import mnist_net
    from highway_networks import softmax_cross_entropy

    net = ConvNet((1, 28, 28), mnist_net(16), np.random.default_rng(0))
    logits = net.forward(x, dropout=np.random.default_rng(1))    # (N, 784) in [0, 1] -> (N, 10)
    loss, d_logits = softmax_cross_entropy(logits, y)
    gradient = net.backward(d_logits)                            # flat, as net.parameters
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np

import highway_networks as hn
from highways.cifar import sha256_as_read
from highways.commands import Parser, list_of, number, path_name, run_command, run_program
from highways.conv.checkpoints import (
    check_net_replaceable,
    check_unsaved,
    checkpoint_to_resume,
    net_file,
    unfinished,
)
from highways.conv.images import check_square, fingerprint, load_images, select_images
from highways.conv.net import HIDDEN_KINDS, ConvNet
from highways.conv.nets import NETS, find_net
from highways.conv.progress import Progress, table
from highways.conv.protocols import BATCH, HELD_OUT, PROTOCOLS, ConvSettings, settings_of
from highways.conv.together import ALONE, check_equal, joined_ranks, leave, let_the_first_rank_speak
from highways.conv.training import Training, load_same_run, train_conv
from highways.conv.trials import run_record
from highways.files import ROOT, InputError, Lock, commit, full_environment, printable
from highways.processes import MOST_JOBS, all_cores, in_processes, interrupts_deferred
from highways.records import CONVOLUTIONAL_RUN, check_record_replaceable, record_bytes
from highways.trial_code import checksum_of_code

# ends at a test accuracy of 0.93, 0.93, 0.91 with seeds 0, 1, 2
QUICK = {"net": "mnist-8", "epochs": 5, "n_train": 5000, "n_test": 1000}


# ---- Arguments -----------------------------------------------------------------------------------


def make_parser() -> Parser:
    parser = Parser(
        description="Train a convolutional highway net on MNIST or CIFAR; write JSON. The default, twelve "
        "epochs of 16 maps on all images, took a quarter of an hour on one core here. "
        "mpiexec -n 4 python conv_highway_networks.py trains each net in four processes."
    )
    add = parser.add_argument
    seeds = parser.add_mutually_exclusive_group()
    saving = parser.add_mutually_exclusive_group()
    default = settings_of()
    epochs = number(int, 1, 10**6)
    seed = number(int, 0, hn.MOST_SEED)
    gate_bias = number(float, -1e3, 1e3)
    jobs = number(int, 1, MOST_JOBS)
    nets = f"{', '.join(NETS)}; mnist-N has N maps a layer"

    def show(text):
        return f"{text} (%(default)s)"

    add("--net", type=net_name, metavar="NET", default=default.net, help=show(nets))
    add("--data", choices=tuple(PROTOCOLS), help="data set (mnist, or cifar-10 for nets that take colours)")
    add("--block", choices=HIDDEN_KINDS, help="kind of hidden layer (default: the net's own)")
    authors = "train as the authors did"
    protocol = show(f"{authors}, the same on whitened images of CIFAR, or for a short time")
    add("--protocol", choices=("paper", "whitened", "short"), default=default.protocol, help=protocol)
    add("--epochs", type=epochs, help="passes over the training images (default: the protocol's)")
    add("--stop-after", type=epochs, metavar="N", help="stop after N of these epochs; --resume goes on")
    # argparse would overlook a --seed beside --seeds whose value is the default; text is no value
    one_seed = show("the seed of weights and training")
    seeds.add_argument("--seed", type=seed, default=str(default.seed), help=one_seed)
    seeds.add_argument("--seeds", type=list_of(seed), default=(), help="several seeds: 0,1,2")
    highest_rate = "the highest learning rate (default: the protocol's)"
    add("--lr", type=number(float, 1e-12), help=highest_rate)
    add(
        "--gate-bias",
        type=gate_bias,
        help="the gates' bias at the start: the lower, the more is carried (default: the net's own)",
    )
    add("--n-train", type=number(int, BATCH), help="take the first N training images (default: all)")
    add("--n-test", type=number(int, 1), help="take the first N test images (default: all)")
    validation = f"test on the last {HELD_OUT} training images instead"
    add("--validation", action="store_true", help=validation)
    data_dir = "CIFAR's binary version, or a set in MNIST's layout"
    add("--data-dir", type=path_name, metavar="DIR", help=data_dir)
    processes = show("processes, one for each seed; under mpiexec, seeds run one after another")
    add("--jobs", type=jobs, default=all_cores(), help=processes)
    quick = "a smoke test: above 90 %% in half a minute; writes run_conv_quick.json"
    add("--quick", action="store_true", help=quick)
    out = "the JSON's name, instead of run_conv.json; each net goes to FILE_SEED.npz beside it"
    add("--out", type=path_name, metavar="FILE.json", help=out)
    resume = "go on from the checkpoints beside the JSON"
    saving.add_argument("--resume", action="store_true", help=resume)
    saving.add_argument("--no-save", action="store_true", help="write nothing")
    add("--quiet", action="store_true", help="print only the result")
    add("--nets", action="store_true", help="print the nets, their sizes and convolutions; train nothing")
    return parser


def parse_arguments(argv=None):
    parser = make_parser()
    if parser.parse_args(argv).quick:
        parser.set_defaults(**QUICK)
    args = parser.parse_args(argv)
    net = find_net(args.net)
    sets = ("mnist",) if net.shape[0] == 1 else ("cifar-10", "cifar-100")
    if args.data is None:
        args.data = sets[0]
    if args.data not in sets:
        parser.error(f"argument --data: {args.net} takes {' or '.join(sets)}, not {args.data}")
    if args.protocol not in PROTOCOLS[args.data]:
        protocols = " or ".join(PROTOCOLS[args.data])
        parser.error(f"argument --protocol: {args.data} has {protocols}, not {args.protocol}")
    if args.block is None:
        args.block = net.block
    if args.epochs is None:
        args.epochs = PROTOCOLS[args.data][args.protocol]["epochs"]
    if args.stop_after and args.stop_after > args.epochs:
        too_many = f"{args.stop_after} is more than the {args.epochs} epochs"
        parser.error(f"argument --stop-after: {too_many}")
    if args.out and args.no_save:  # argparse allows a flag in one exclusive group: --no-save is in that of --resume
        parser.error("argument --no-save: not allowed with argument --out")
    return parser, args


def net_name(text: str) -> str:
    """An argparse type: the name of a net."""
    try:
        find_net(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def plan(args, data: hn.Dataset, ranks: int = 1) -> list[ConvSettings]:
    """The settings of each seed; `ranks` processes train each net together.

    Raises InputError for too few images, and for images that the net cannot take."""
    n_train = len(data.x_train)
    n_test = len(data.x_test)
    held_out = ""
    of_these = ""
    if args.validation:
        n_train -= HELD_OUT
        n_test = HELD_OUT
        held_out = f", {HELD_OUT} of them for --validation"
        of_these = " with --validation"
    if n_train < BATCH:
        has = f"{len(data.x_train)} training images{held_out}"
        raise InputError(f"{data.name} has {has}; a batch needs {BATCH}")
    for what, asked, n in (("train", args.n_train, n_train), ("test", args.n_test, n_test)):
        if asked is not None and asked > n:
            raise InputError(f"--n-{what} {asked} is more than the {n} that {data.name} has{of_these}")
    check_shape(args, data)
    gate_bias = find_net(args.net).gate_bias if args.gate_bias is None else args.gate_bias
    others = {} if args.lr is None else {"lr": args.lr}
    settings = settings_of(
        net=args.net,
        data=args.data,
        block=args.block,
        protocol=args.protocol,
        epochs=args.epochs,
        gate_bias=gate_bias,
        n_train=args.n_train or n_train,
        n_test=args.n_test or n_test,
        validation=args.validation,
        ranks=ranks,
        **others,
    )
    if ranks > min(BATCH, settings.n_test):
        raise InputError(
            f"{ranks} ranks are more than there are images to divide, {BATCH} of a batch "
            f"and {settings.n_test} {settings.tested_on} images: give mpiexec a lower -n"
        )
    return [replace(settings, seed=seed) for seed in args.seeds or [args.seed]]


def check_shape(args, data: hn.Dataset) -> None:
    """Raises InputError for images of a shape that the net cannot take."""
    # all nets mnist-N take the same images: the smallest is made fastest
    net = find_net("mnist-1" if args.net.startswith("mnist-") else args.net)
    try:
        check_square(data)
        ConvNet(net.shape_for(data.x_train.shape[1]), net.layers_of(block=args.block), 0)
    except ValueError as error:
        raise InputError(f"the images of {data.name} do not fit this net: {error}") from error


# ---- What the command does ----------------------------------------------------------------------


def train_seeds(args, checkpoints: list, save) -> None:
    """Trains a net for each seed; save({path: bytes}) writes the JSON.  Adds the files of the
    checkpoints to the list as soon as they are known.

    A lock keeps other commands from writing that file and the nets beside it meanwhile."""
    with joined_ranks() as ranks:
        if ranks.index > 0:  # the first rank reads and writes the checkpoints, and writes the JSON
            args.no_save = True
            args.resume = False
        lock_and_train(args, ranks, checkpoints, save)


def lock_and_train(args, ranks, checkpoints: list, save) -> None:
    name = "run_conv_quick.json" if args.quick else "run_conv.json"
    path = Path(os.path.realpath(args.out)) if args.out else ROOT / name
    if args.no_save:
        train_and_save(args, ranks, path, checkpoints, save)
        return
    check_record_replaceable(path, CONVOLUTIONAL_RUN)
    with Lock(path):
        train_and_save(args, ranks, path, checkpoints, save)


def train_and_save(args, ranks, path: Path, checkpoints: list, save) -> None:
    start = time.perf_counter()
    whole = load_images(args.data, args.data_dir)
    planned = plan(args, whole, ranks.count)
    data = select_images(whole, planned[0])
    of_images = fingerprint(data)
    if ranks.count > 1:
        check_equal(ranks, facts_of(args, planned, of_images))
    net_files = [net_file(path, settings.seed) for settings in planned]
    checkpoints += find_checkpoints(args, planned, of_images, net_files)
    if not args.quiet:
        sizes = f"{len(data.x_train)} training and {len(data.x_test)} {planned[0].tested_on} images"
        together = f", {ranks.count} ranks" if ranks.count > 1 else ""
        print(f"{printable(f'{data.name} from {data.source}')}: {sizes}, lr {planned[0].lr}{together}", flush=True)
    runs = train_in_processes(args, ranks, planned, data, checkpoints)
    for run in runs:
        if run["diverged"]:
            print(f"{run['label']}: DIVERGED in {run['diverged_at']}; no net is kept", file=sys.stderr)
    try:
        if not args.no_save:
            record = file_record(whole, planned[0], args.seeds, runs)
            check_record_replaceable(path, CONVOLUTIONAL_RUN)  # again: the training took long
            for file in net_files:
                check_net_replaceable(file)
            with interrupts_deferred():  # JSON and nets belong together
                save({path: record_bytes(record, CONVOLUTIONAL_RUN)})
                keep_nets(runs, checkpoints, net_files)
    finally:
        print(f"{table(runs)}\n", end="", flush=True)  # in one write, even if saving failed
    if not args.no_save:
        print(f"saved to {printable(path)} after {time.perf_counter() - start:.1f} s", flush=True)


def facts_of(args, planned: list[ConvSettings], of_images: dict) -> dict:
    """What must be equal in all ranks: what the numbers depend on, and when the ranks end.

    `of_images` is the fingerprint() of the images."""
    return {
        "commit": commit(),
        "code": checksum_of_code(train_seeds),  # the commit does not say which files were changed since
        "loaded images": of_images,
        "last epoch": args.stop_after or args.epochs,
        **asdict(planned[0]),
        "seed": [settings.seed for settings in planned],
    }


def find_checkpoints(args, planned: list[ConvSettings], of_images: dict, net_files: list[Path]) -> list[Path | None]:
    """The file of each run's checkpoint, from which it goes on with --resume.

    Raises InputError if a run cannot go on, or if an unfinished run would be overwritten."""
    if args.no_save:
        return [None] * len(net_files)
    if not args.resume:
        for file in net_files:
            check_unsaved(file)
        return [unfinished(file) for file in net_files]
    was_stopped = any(unfinished(file).exists() for file in net_files)
    checkpoints = []
    for settings, file in zip(planned, net_files, strict=True):
        checkpoints.append(checkpoint_to_resume(settings, of_images, file, was_stopped))
    return checkpoints


def train_in_processes(args, ranks, planned, data: hn.Dataset, checkpoints) -> list[dict]:
    """Trains a net for each of the planned settings; returns the runs in their order."""
    work = partial(train_one, resume=args.resume, stop_after=args.stop_after, ranks=ranks)
    jobs = 1 if ranks.count > 1 else min(args.jobs, len(planned))
    last_epoch = args.stop_after or args.epochs
    runs = {}
    # what is shown ends with the last epoch of this command, not with that of the settings
    to_show = [replace(settings, epochs=last_epoch) for settings in planned]

    tasks = []
    for settings, checkpoint in zip(planned, checkpoints, strict=True):
        tasks.append((settings, data, checkpoint))
    with closing(Progress(to_show, jobs)) as progress:
        listen = None if args.quiet else progress.show
        with closing(in_processes(work, tasks, jobs, listen)) as finished:
            for run in finished:
                runs[run["seed"]] = run
                progress.finished(run["seed"])
    return [runs[settings.seed] for settings in planned]


@hn.one_blas_thread()
def train_one(
    settings: ConvSettings,
    data: hn.Dataset,
    checkpoint: Path | None = None,
    *,
    resume: bool = True,
    stop_after: int | None = None,
    ranks=ALONE,
    tell=lambda message: None,
) -> dict:
    """Trains one net and returns its RUN.

    If `checkpoint` exists, the run goes on from it.  Otherwise it starts from the seed.  With
    resume=False it starts in any case, and replaces the checkpoint.  `stop_after` is that of
    train_conv().

    If several processes train it together, all call this with their `ranks`.  The first rank's
    checkpoint counts, and it alone writes the checkpoint.

    Calls tell((seed, row)): after each step with {"step": n}, and after each epoch with its row
    and the "seconds" so far.

    Raises InputError for a file that is not a checkpoint of this run, and if the checkpoint cannot
    be written."""
    images = fingerprint(data)
    if resume and checkpoint and checkpoint.exists():
        training = load_same_run(checkpoint, settings, images)
    else:
        training = Training(settings, images)

    def tell_step():
        tell((settings.seed, {"step": training.steps}))

    def tell_epoch(row):
        tell((settings.seed, row | {"seconds": training.seconds}))

    training.after_step = tell_step
    if ranks.count > 1:
        training.join(ranks)
    train_conv(training, data, checkpoint, tell_epoch, stop_after)
    return run_record(training, data)


def file_record(
    data: hn.Dataset,
    settings: ConvSettings,
    seeds,
    runs: list[dict],
) -> dict:
    """The JSON of a command, whose runs differ in their seeds alone.

    `seeds` are those of --seeds, or empty.  Where there are several, "seed" is null."""
    record = settings.for_json()
    if seeds:
        record["seeds"] = seeds
    if len(seeds) > 1:
        record["seed"] = None
    record["batch_size"] = BATCH
    record["n_classes"] = data.n_classes
    record["data_set"] = data.name
    record["data_sha256"] = data.sha256
    record["data_sha256_as_read"] = sha256_as_read(data)
    record["env"] = full_environment()
    record["runs"] = runs
    return record


def keep_nets(runs: list[dict], checkpoints: list[Path], net_files: list[Path]) -> None:
    """Renames the checkpoints of finished runs to the files of nets beside the JSON.

    Where a run leaves no net, the net of an older run of its seed is removed: the JSON no longer
    tells of it."""
    for run, checkpoint, file in zip(runs, checkpoints, net_files, strict=True):
        if run["diverged"]:
            checkpoint.unlink(missing_ok=True)  # resumed, the run would diverge again
            file.unlink(missing_ok=True)
        elif "stopped_after" not in run:
            checkpoint.replace(file)
        elif checkpoint != file:  # the checkpoint stays, for --resume
            file.unlink(missing_ok=True)


ABOUT_NETS = {  # {net: its table in the paper, how sure we are of its layers}
    "mnist-16": ("Table 1", "released, for width 32"),
    "mnist-32": ("Table 1", "released"),
    "highway-a": ("Table 2", "near certain; 250 is a fit"),
    "highway-b": ("Table 2", "near certain; 100 is a fit"),
    "highway-c": ("Table 2", "depth and kernels; maps a guess"),
    "nineteen-layers": ("Table 3", "released"),
    "eight-layers": ("", "our own"),
}


def net_sizes() -> str:
    """A table of the nets: their numbers of parameters, here and as published; how sure we are of
    their layers; and how their convolutions are computed."""
    row = "{:17}{:9}{:>11} {:>10}  {:33}{}"
    lines = [row.format("net", "", "ours", "published", "the layers are", "convolutions")]
    for name, named in NETS.items():
        net = ConvNet(named.shape, named.layers, np.random.default_rng(0))
        convolutions = [layer for layer in net.layers if hasattr(layer, "method")]
        methods = Counter(layer.method for layer in convolutions)
        computed = ", ".join(f"{n} {method}" for method, n in methods.items())
        ours = f"{len(net.parameters):,}"
        published = f"{named.parameters:,.0f}" if named.parameters else "-"
        title, source = ABOUT_NETS[name]
        lines.append(row.format(name, title, ours, published, source, computed))
    return "\n".join(lines)


def what_is_kept(checkpoints: list) -> str:
    """How an interrupted command goes on from its checkpoints; empty if there are none."""
    kept = [str(file) for file in checkpoints if file and file.exists()]
    return f"the same command with --resume goes on from {' and '.join(kept)}" if kept else ""


def main(argv=None) -> int:
    let_the_first_rank_speak()
    try:
        parser, args = parse_arguments(argv)
    except SystemExit:
        leave()
        raise
    if args.nets:
        leave()
        return run_command(parser.prog, lambda save: print(net_sizes()))
    checkpoints = []
    work = partial(train_seeds, args, checkpoints)
    return run_command(parser.prog, work, partial(what_is_kept, checkpoints))


if __name__ == "__main__":
    import conv_highway_networks  # under its own name, by which workers find its functions

    run_program(conv_highway_networks.main)
