"""Which checkpoint a run goes on from: its own, or as a branch another one's; and where a command keeps them."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from plumbing import files
from plumbing.files import InputError, check_writable, real_path
from training.convolutional import Training
from training.protocols import Protocol, Settings


def branch(path: Path, settings: Settings, protocol: Protocol, images: dict) -> Training:
    """The run whose checkpoint lies in `path`, to be continued at another rate: that of `protocol`.

    Its `parent` records the epoch, the rate and the SHA-256 of the checkpoint that it started from.
    Raises InputError for the checkpoint of a run with other settings or images, of a finished run, and of a branch."""
    run = Training.load(path)
    asked = Training(settings, protocol, images)
    other = differences(run, asked).keys() - {"lr", "commits"}
    if other:
        raise InputError(f"{path} cannot be branched from: only the rate may differ, not {', '.join(sorted(other))}")
    if run.parent:
        raise InputError(f"{path} cannot be branched from: it is a branch itself")
    if run.epochs == settings.epochs:
        raise InputError(f"{path} cannot be branched from: its {run.epochs} epochs are finished")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    run.parent = {"epoch": run.epochs, "lr": run.protocol.lr, "sha256": sha256}
    run.protocol = asked.protocol
    return run


def differences(saved: Training, run: Training) -> dict:
    """What makes a checkpoint one of another run, by name: settings, protocol and images that are not the run's, and
    `commits` unless this very program wrote it.  Without a clean commit, programs count as different."""
    now, program_is_known = run.task(), not str(files.commit()).endswith(("dirty", "None"))
    other = {name: value for name, value in saved.task().items() if value != now[name]}
    same_program = program_is_known and saved.commits == [files.commit()]
    return other if same_program else other | {"commits": saved.commits}


def say_of_other_program(path: Path, saved: Training) -> None:
    """Says that a checkpoint was written by a program that may be another than this one."""
    print(f"{path}: trained by {saved.commits}, from now on by {files.commit()}: compare with care", file=sys.stderr)


def unfinished(file: Path) -> Path:
    """Where a net is kept until those of all seeds are finished: an earlier run's stands in `file` until then."""
    return file.with_name(f"{file.stem}_unfinished.npz")


def net_file(path: Path, seed: int) -> Path:
    """Where the net of this seed is kept, beside the JSON: run_0.npz of run.json, but run.txt.0.npz of run.txt, since
    the nets of two JSON files must not have one name."""
    name = f"{path.stem}_{seed}" if path.suffix == ".json" else f"{path.name}.{seed}"
    return real_path(path.with_name(f"{name}.npz"))


def check_unsaved(file: Path) -> None:
    """Raises InputError where to train from the first epoch would lose what a run that was stopped has left."""
    for path in (unfinished(file), file):
        check_writable(path)
        saved = Training.load(path) if path.exists() else None
        if saved and (path != file or saved.epochs < saved.settings.epochs):  # of several seeds one may be finished
            ready = f"{saved.epochs} of {saved.settings.epochs} epochs"
            raise InputError(f"{path} holds {ready}: --resume goes on from there, or remove it")


def checkpoint_to_resume(run: Training, file: Path, stopped: bool, branch_of: Path | None) -> Path:
    """From where a net goes on, and where it is kept.  Raises InputError for a net of another run, unless that is an
    earlier one's: then some seed of this run was `stopped`, and this one is not begun.  Says what is worth knowing."""
    path = unfinished(file) if unfinished(file).exists() else file
    check_writable(unfinished(file))
    saved = Training.load(path) if path.exists() else None
    other, now = differences(saved, run) if saved else {}, run.task()
    commits = other.pop("commits", None)
    if not saved or (other and stopped and path == file):
        start = branch_of or "its first epoch"
        print(f"{run.settings.label}: there is no {unfinished(file)}, it starts from {start}", file=sys.stderr)
        return unfinished(file)
    if other:
        was = ", ".join(f"{name} {value}, not {now[name]}" for name, value in other.items())
        raise InputError(f"{path} is of another run ({was}): give that run's flags, or choose another --out")
    if branch_of and not saved.parent:
        raise InputError(f"{path} is not a branch: leave out --branch, or choose another --out")
    if commits is not None:
        say_of_other_program(path, saved)
    return path
