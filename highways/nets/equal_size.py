"""Nets of different blocks with equally many parameters."""

from __future__ import annotations

import highway_networks as hn

WIDEST = 1000  # only narrower nets are found


def size_of_net(d_in: int, d_out: int, width: int, depth: int, block: str) -> int:
    """How many parameters a net has, without drawing them."""
    return hn.size_of(hn.shapes_of_net(d_in, d_out, width, depth, hn.Block.find(block)))


def width_of_equal_size(size: int, d_in: int, d_out: int, depth: int, block: str) -> int:
    """The width that brings a net of such blocks nearest to `size` parameters.

    Raises ValueError where that is WIDEST or more."""

    def distance(width: int) -> int:
        return abs(size_of_net(d_in, d_out, width, depth, block) - size)

    width = min(range(1, WIDEST + 1), key=distance)
    if width == WIDEST:
        raise ValueError(f"{size} parameters need {block} blocks of {WIDEST} units or more, which are not tried")
    return width
