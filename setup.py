"""What pyproject.toml cannot say: only an editable installation works, because results, data and pictures are files of
the clone."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel

sys.path.insert(0, str(Path(__file__).resolve().parent))  # pip's build does not begin in the clone

from plumbing.installed import command_line


class EditableOnly(bdist_wheel):
    def run(self):  # of a wheel that is a copy: an editable one does not come here
        install = command_line(sys.executable, "-m", "pip", "install", "-e", ".")
        sys.exit(f"error: this project works in its clone only: {install}")


setup(cmdclass={"bdist_wheel": EditableOnly})
