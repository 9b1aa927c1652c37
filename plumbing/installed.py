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
    """Where the main program is one of ours, in this file: ends it with status 2.  Another program's import of what it
    needs may well succeed, or says itself what is missing."""
    names = re.findall(r"^\w+", REQUIREMENTS.read_text(encoding="utf-8"), re.M)
    missing = [name for name in names if find_spec(name) is None]
    if missing and main and ROOT in Path(main).resolve().parents[:2]:  # not of a virtual environment in the clone
        install = f"python -m pip install -r {shlex.quote(REQUIREMENTS.as_posix())}"
        print(f"error: not installed: {', '.join(missing)}; {install}", file=sys.stderr)
        sys.exit(2)


check(getattr(sys.modules["__main__"], "__file__", None))
