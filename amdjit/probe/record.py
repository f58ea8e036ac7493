"""The files of the probe: what a child process writes while it works, and the record of a run.

A child writes msgpack values, one after the other. What it has written remains if it dies or is
killed; an incomplete value at the end is ignored.
"""

from __future__ import annotations

import lzma
import os
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import msgpack
import numpy as np
import xxhash

from amdjit.diagnostics import AmdjitError
from amdjit.probe.case import Case, Results
from amdjit.probe.outcome import Record, StoredArray, plain, read_record

__all__ = [
    "FORMAT",
    "RecordError",
    "Writer",
    "digest_of",
    "read",
    "read_values",
    "results_of",
    "stored",
    "write",
]


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


# The file of a run: a header with a checksum, and a compressed record.
#
# The header is little-endian: magic bytes (12), the version of the format (u32), the length and the
# xxh3 digest of the rest (u64 each). The rest is msgpack in an xz stream.


FORMAT = 1
_MAGIC = b"amdjit probe"
_HEADER = struct.Struct("<12sIQQ")
# A complete run has a few MiB. Anything that decompresses to more than this is not a run.
_MOST_BYTES = 1 << 30


class RecordError(AmdjitError):
    """A file that is not a record of the probe, or one that this version cannot read."""


def write(record: Record, path: Path) -> int:
    """Write a record, completely or not at all, and return the bytes of the file."""
    content = lzma.compress(msgpack.packb(plain(record)), preset=6)
    header = _HEADER.pack(_MAGIC, FORMAT, len(content), xxhash.xxh3_64_intdigest(content))
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_bytes(header + content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return len(header) + len(content)


def read(path: Path) -> Record:
    """Return the record of a file; RecordError says what is wrong with it."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from None
    return _record_of(_checked(data, str(path)), str(path))


def _checked(data: bytes, name: str) -> bytes:
    """Return the compressed record of a file, after checking the header."""
    if not data.startswith(_MAGIC):
        raise RecordError(
            f"{name} is not a file of `amdjit probe`: give one that `amdjit probe -o FILE` wrote"
        )
    if len(data) < _HEADER.size:
        raise RecordError(f"{name} ends within its header: copy or send it again")
    _, version, length, digest = _HEADER.unpack_from(data)
    if version != FORMAT:
        raise RecordError(
            f"{name} has format {version}, and this amdjit reads format {FORMAT}: "
            + ("use a newer amdjit" if version > FORMAT else "run the probe again")
        )
    content = data[_HEADER.size :]
    if len(content) != length:
        what = "cut off" if len(content) < length else "followed by something else"
        raise RecordError(
            f"{name} is {what}: it has {len(content)} bytes of {length}; copy or send it again"
        )
    if xxhash.xxh3_64_intdigest(content) != digest:
        raise RecordError(f"{name} is damaged: its checksum is wrong; copy or send it again")
    return content


def _record_of(content: bytes, name: str) -> Record:
    try:
        decompressor = lzma.LZMADecompressor()
        packed = decompressor.decompress(content, _MOST_BYTES)
        if not decompressor.eof:
            raise ValueError("it has no end")
        return read_record(msgpack.unpackb(packed, strict_map_key=False))
    except (lzma.LZMAError, ValueError, TypeError, KeyError, msgpack.UnpackException) as error:
        raise RecordError(
            f"{name} has a correct checksum, but no record of a probe ({error}): it was not "
            "written by `amdjit probe`"
        ) from None
