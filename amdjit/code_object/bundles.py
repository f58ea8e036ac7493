"""Offload bundles: files of several code objects, one for each processor (hipcc's fat binaries).

Layout: Clang documentation, "Clang Offload Bundler", "Bundled Binary File Layout".
"""

from __future__ import annotations

import struct

from amdjit.code_object.errors import MalformedCodeObject

__all__ = ["unbundled"]

_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
_COMPRESSED = b"CCOB"
_COUNT = struct.Struct("<Q")
_ENTRY = struct.Struct("<3Q")
_MOST = 256


def unbundled(data: bytes) -> tuple[bytes, ...]:
    """Return the AMDGPU code objects of a bundle, or `data` alone if it is none.

    MalformedCodeObject for a bundle that is damaged, compressed, or has no code for AMD GPUs.
    """
    if data.startswith(_COMPRESSED):
        raise MalformedCodeObject(
            "the offload bundle is compressed: make it with --no-offload-compress, or take it "
            "apart with clang-offload-bundler --unbundle"
        )
    if not data.startswith(_MAGIC):
        return (data,)
    found = []
    try:
        (count,) = _COUNT.unpack_from(data, len(_MAGIC))
        if count > _MOST:
            raise MalformedCodeObject(f"the offload bundle claims {count} entries")
        at = len(_MAGIC) + _COUNT.size
        for _ in range(count):
            offset, size, length = _ENTRY.unpack_from(data, at)
            at += _ENTRY.size
            name = data[at : at + length].decode("ascii", "replace")
            at += length
            if "amdgcn" in name and size:
                if offset + size > len(data):
                    raise MalformedCodeObject(f"the offload bundle ends within {name}")
                found.append(data[offset : offset + size])
    except struct.error:
        raise MalformedCodeObject("the offload bundle ends within its table of entries") from None
    if not found:
        raise MalformedCodeObject("the offload bundle has no code for AMD GPUs")
    return tuple(found)
