"""Pictures and tables of the results; registry.py says how they are kept."""
