"""Imported first by the programs that draw: ends them with one line where there is no matplotlib."""

import importlib.util
import sys
from pathlib import Path

if importlib.util.find_spec("matplotlib") is None:
    _said = "matplotlib is not installed: python -m pip install -r requirements.txt"
    print(f"{Path(sys.argv[0]).name}: error: {_said}", file=sys.stderr)
    sys.exit(2)
