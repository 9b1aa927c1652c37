"""What pyproject.toml cannot say: only an editable installation works, because results, data and pictures are files of
the clone."""

import sys

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel


class EditableOnly(bdist_wheel):
    def run(self):  # of a wheel that is a copy: an editable one does not come here
        sys.exit("error: this project works in its clone only: python -m pip install -e .")


setup(cmdclass={"bdist_wheel": EditableOnly})
