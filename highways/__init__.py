"""What the project's programs share, and, for experiments of one's own, `sweep` and `check_layer`:

from highways import check_layer, draw_sweep, sweep
"""


def __getattr__(name: str):
    """check_layer, sweep and draw_sweep, imported only where they are used."""
    if name == "check_layer":
        from highways import layer_check

        return layer_check.check_layer
    if name in ("draw_sweep", "sweep"):
        from highways.lab import sweeps

        return getattr(sweeps, name)
    raise AttributeError(f"module 'highways' has no {name!r}")
