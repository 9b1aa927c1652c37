"""Imported first by every command: says in one line what must be installed, instead of a traceback.

Needs nothing but Python.
"""

import re
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = ROOT / "requirements.txt"  # whose packages are called as their modules are


def check(main: str | None) -> None:
    """For the main program in this file: ends one of ours with status 2, raises ImportError elsewhere."""
    names = re.findall(r"^\w+", REQUIREMENTS.read_text(encoding="utf-8"), re.M)
    missing = [name for name in names if find_spec(name) is None]
    if not missing:
        return
    line = f"not installed: {', '.join(missing)}; python -m pip install -r {shlex.quote(REQUIREMENTS.as_posix())}"
    if main and ROOT in Path(main).resolve().parents[:2]:  # not of a virtual environment in the clone
        print(f"error: {line}", file=sys.stderr)
        sys.exit(2)
    raise ImportError(line)


check(getattr(sys.modules["__main__"], "__file__", None))
