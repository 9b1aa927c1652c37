"""Pictures and tables of the results; registry.py says how they are kept."""

import os

os.environ["MPLBACKEND"] = "Agg"  # matplotlib, when it is imported, fails for a backend that it does not know
