"""The commands that an installation puts on the path: highway-networks runs highway_networks.py,
and so on."""

import runpy
import sys
from pathlib import Path

# nothing else of the project is imported here: the command's own check of what is installed comes first
ROOT = Path(__file__).resolve().parents[1]


def run() -> None:
    """Runs the file of this command's name, as `python FILE` would."""
    name = Path(sys.argv[0]).stem.replace("-", "_")
    runpy.run_path(str(ROOT / f"{name}.py"), run_name="__main__")
