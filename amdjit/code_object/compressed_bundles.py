"""Compressed offload bundles: what `--offload-compress` makes.

Layout: Clang documentation, "Clang Offload Bundler", "Compressed Offload Bundle".
"""

from __future__ import annotations

import ctypes
import hashlib
import struct
import sys
import zlib

from amdjit.code_object.errors import MalformedCodeObject

__all__ = ["COMPRESSED", "decompressed"]

COMPRESSED = b"CCOB"
"""The first bytes of a compressed bundle."""

# After the magic: version, method, then by version the file's size (2 and 3), the size of what is
# compressed, and the first half of its MD5 sum.
_HEAD = struct.Struct("<4sHH")
_SIZES = {1: struct.Struct("<I8s"), 2: struct.Struct("<II8s"), 3: struct.Struct("<QQ8s")}
_ZLIB, _ZSTD = 0, 1
_LARGEST = 1 << 30
_LIBRARIES = {"win32": ("libzstd.dll", "zstd.dll"), "darwin": ("libzstd.1.dylib",)}


def decompressed(data: bytes) -> bytes:
    """Return the bundle within; MalformedCodeObject if it is damaged, or if its compression cannot
    be read here."""
    try:
        _, version, method = _HEAD.unpack_from(data)
        if version not in _SIZES:
            raise MalformedCodeObject(
                f"the compressed offload bundle has version {version}; amdjit reads 1 to 3: "
                f"{_REMEDY}"
            )
        *_, size, digest = _SIZES[version].unpack_from(data, _HEAD.size)
    except struct.error:
        raise MalformedCodeObject("the compressed offload bundle ends within its header") from None
    if size > _LARGEST:
        raise MalformedCodeObject(f"the compressed offload bundle claims {size} bytes")
    content = data[_HEAD.size + _SIZES[version].size :]
    if method == _ZLIB:
        found = _inflated(content, size)
    elif method == _ZSTD:
        found = _of_zstd(content, size)
    else:
        raise MalformedCodeObject(
            f"the offload bundle is compressed by an unknown method, {method}: {_REMEDY}"
        )
    # Not for safety: the compiler wrote it down against damage.
    if len(found) != size or hashlib.md5(found, usedforsecurity=False).digest()[:8] != digest:
        raise MalformedCodeObject("the compressed offload bundle is damaged: its sum differs")
    return found


_REMEDY = (
    "make it with --no-offload-compress, or take it apart with clang-offload-bundler --unbundle"
)


def _inflated(content: bytes, size: int) -> bytes:
    try:
        return zlib.decompressobj().decompress(content, size + 1)
    except zlib.error as error:
        raise MalformedCodeObject(f"the compressed offload bundle is damaged: {error}") from None


def _of_zstd(content: bytes, size: int) -> bytes:
    """Return what Zstandard compressed, by the system's library: Python has had one of its own
    since 3.14 only."""
    library = _zstd_library()
    if library is None:
        raise MalformedCodeObject(
            "the offload bundle is compressed by Zstandard, and there is no libzstd to read it: "
            f"install it, {_REMEDY}"
        )
    place = ctypes.create_string_buffer(max(size, 1))
    count = library.ZSTD_decompress(place, size, content, len(content))
    if library.ZSTD_isError(count):
        raise MalformedCodeObject("the compressed offload bundle is damaged: Zstandard refuses it")
    return place.raw[:count]


def _zstd_library() -> ctypes.CDLL | None:
    for name in _LIBRARIES.get(sys.platform, ("libzstd.so.1",)):
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        # size_t ZSTD_decompress(void *to, size_t capacity, const void *from, size_t size)
        library.ZSTD_decompress.restype = ctypes.c_size_t
        library.ZSTD_decompress.argtypes = (
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_char_p,
            ctypes.c_size_t,
        )
        library.ZSTD_isError.argtypes = (ctypes.c_size_t,)
        return library
    return None
