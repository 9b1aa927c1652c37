"""The safetensors format, read and written with NumPy alone.

A file is the length of the header (8 bytes, little-endian), the header (JSON), and the numbers of all arrays, one
after another.  The header says of each array its dtype, its shape and where its numbers begin and end.  Nothing in a
file is run.
"""

from __future__ import annotations

import json
import math

import numpy as np

from highways.files import from_json

DTYPES = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2")}
TEXTS = "__metadata__"  # the header's entry for texts


def to_bytes(arrays: dict[str, np.ndarray], texts: dict[str, str]) -> bytes:
    """A file that holds these arrays, float32 or float16, and texts."""
    names = {dtype: name for name, dtype in DTYPES.items()}
    header = {TEXTS: texts}
    parts = []
    begin = 0
    for name, array in arrays.items():
        numbers = np.ascontiguousarray(array)
        end = begin + numbers.nbytes
        header[name] = {"dtype": names[numbers.dtype], "shape": [*array.shape], "data_offsets": [begin, end]}
        parts.append(numbers.tobytes())
        begin = end
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)  # so that the numbers begin at a multiple of 8
    return b"".join([len(head).to_bytes(8, "little"), head, *parts])


def from_bytes(data: bytes) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The arrays and the texts of a file.  Raises ValueError unless it is whole, with float32 or float16 alone."""
    begin = 8 + int.from_bytes(data[:8], "little")
    if len(data) < begin or len(data) < 8:
        raise ValueError(f"the header would end at byte {begin} of {len(data)}")
    header = from_json(data[8:begin])
    if not isinstance(header, dict):
        raise ValueError(f"the header is not a JSON object: {header!r:.60}")
    texts = header.pop(TEXTS, {})
    try:
        return _arrays_in(header, memoryview(data)[begin:]), texts
    except (LookupError, TypeError) as error:
        raise ValueError(f"the header does not describe arrays: {error!r}") from error


def _arrays_in(header: dict, numbers: memoryview) -> dict[str, np.ndarray]:
    """The arrays that the header describes; they follow one another without a gap."""
    arrays = {}
    end_before = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        shape = tuple(entry["shape"])
        if entry["dtype"] not in DTYPES:
            raise ValueError(f"{name} is of {entry['dtype']}; only {' and '.join(DTYPES)} are read")
        dtype = DTYPES[entry["dtype"]]
        if any(size < 0 for size in shape) or end - begin != math.prod(shape) * dtype.itemsize:
            raise ValueError(f"{name} of shape {shape} has {end - begin} bytes")
        if begin != end_before or end > len(numbers):
            raise ValueError(f"{name} is at {begin} to {end}; the array before it ends at {end_before}")
        arrays[name] = np.frombuffer(numbers[begin:end], dtype).reshape(shape)
        end_before = end
    if end_before != len(numbers):
        raise ValueError(f"the arrays end at byte {end_before} of {len(numbers)}")
    return arrays
