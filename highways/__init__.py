"""What the project's programs share, and `sweep`, for experiments of one's own:

from highways import draw_sweep, sweep
"""


def __getattr__(name: str):
    """sweep and draw_sweep, imported only where they are used."""
    if name in ("draw_sweep", "sweep"):
        from highways.lab import sweeps

        return getattr(sweeps, name)
    raise AttributeError(f"module 'highways' has no {name!r}")
