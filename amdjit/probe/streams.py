"""What a child process writes while it works: a file of msgpack values, one after the other.

What a process has written remains if it dies or is killed; an incomplete value at the end is
ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import msgpack
import numpy as np
import xxhash

from amdjit.probe.case import Case, Results
from amdjit.probe.outcome import StoredArray

__all__ = ["Writer", "digest_of", "read_values", "results_of", "stored"]

# Importing ml_dtypes makes its names known to np.dtype.
assert ml_dtypes.bfloat16


class Writer:
    """Appends values to a file, where readers see each of them at once."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab")

    def write(self, **values: Any) -> None:
        """Append a mapping."""
        self._file.write(msgpack.packb(values))
        self._file.flush()

    def begin(self, case: Case) -> None:
        """Note which case runs now."""
        self.write(
            kind="begin",
            name=case.name,
            subject=case.subject,
            rule=case.rule,
            keeps=case.keeps,
        )


def read_values(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the mappings of a file up to the first incomplete one; none if there is no file."""
    if not path.exists():
        return
    with path.open("rb") as file:
        yield from msgpack.Unpacker(file, strict_map_key=False, max_buffer_size=1 << 30)


def stored(results: Results) -> tuple[StoredArray, ...]:
    """Return arrays as plain values."""
    return tuple(
        StoredArray(array.dtype.name, array.shape, np.ascontiguousarray(array).tobytes())
        for array in results
    )


def results_of(rows: Any) -> Results:
    """Return the arrays that plain values describe."""
    return tuple(
        np.frombuffer(data, np.dtype(dtype)).reshape(shape) for dtype, shape, data, *_ in rows
    )


def digest_of(arrays: tuple[StoredArray, ...]) -> str:
    """Return a digest of the types, shapes and bits of arrays."""
    digest = xxhash.xxh3_64()
    for array in arrays:
        digest.update(f"{array.dtype} {array.shape}\n".encode())
        digest.update(array.data)
    return digest.hexdigest()
