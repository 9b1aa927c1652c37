"""Checkpoints: which one a run resumes, and where a command keeps them."""

from __future__ import annotations

import sys
from pathlib import Path

from highways.conv.protocols import ConvSettings
from highways.conv.training import Training, load_same_run
from highways.files import InputError, check_writable, printable, real_path


def net_file(path: Path, seed: int) -> Path:
    """Where the net of this seed is kept, beside the JSON: run_0.npz for run.json."""
    return real_path(path.with_name(f"{path.stem}_{seed}.npz"))


def unfinished(file: Path) -> Path:
    """The checkpoint that becomes `file` when all seeds are finished.

    Until then `file` holds the net of an earlier run."""
    return file.with_name(f"{file.stem}_unfinished.npz")


def is_begun(file: Path) -> bool:
    """Whether there is a checkpoint, finished or not, from which --resume goes on."""
    return unfinished(file).exists() or file.exists()


def check_unsaved(file: Path) -> None:
    """Raises InputError if training from the first epoch would overwrite the checkpoint of a run
    that was stopped."""
    for path in (unfinished(file), file):
        check_writable(path)
        if not path.exists():
            continue
        saved = Training.load(path)
        # An unfinished file is kept even if its net is finished, since another seed of its run
        # is not.
        if path == unfinished(file) or saved.epochs < saved.settings.epochs:
            ready = f"{saved.epochs} of {saved.settings.epochs} epochs"
            raise InputError(f"{path} holds {ready}: --resume goes on from there, or remove it")


def check_net_replaceable(file: Path) -> None:
    """Raises InputError where there is a file that no convolutional training wrote."""
    if file.exists():
        Training.load(file)


def checkpoint_to_resume(settings: ConvSettings, images: dict, file: Path, was_stopped: bool) -> Path:
    """The checkpoint from which a run goes on or, if it has not begun, the one it will write.

    `was_stopped` says that the command was stopped, at whatever seed.  If `file` then holds
    another run, it is one of an earlier command, and this run has not begun.

    Prints a note if the run starts.  Raises InputError for a checkpoint of another run."""
    for written in (unfinished(file), file):
        check_writable(written)
    if unfinished(file).exists():
        check_net_replaceable(file)
    path = unfinished(file) if unfinished(file).exists() else file
    begun = is_begun(file)
    if begun and was_stopped and path == file:
        begun = not Training.load(path).differences(settings, images)
    if not begun:
        missing = f"there is no {unfinished(file)}, it starts from its first epoch"
        print(f"{settings.label}: {printable(missing)}", file=sys.stderr)
        return unfinished(file)
    load_same_run(path, settings, images)
    return path
