"""Offload bundles: files of several code objects, one for each target (hipcc's fat binaries).

Layout, entry ids and target ids: Clang documentation, "Clang Offload Bundler".
"""

from __future__ import annotations

import ctypes
import hashlib
import struct
import sys
import zlib
from collections.abc import Sequence

from amdjit.code_object.bytes_reader import MalformedCodeObject
from amdjit.code_object.code_object import CodeObject
from amdjit.code_object.elf import read_elf
from amdjit.late_methods import dataclass
from amdjit.target import TRIPLE, Target, read_target

__all__ = [
    "Bundle",
    "Member",
    "bundle_size",
    "entries_of",
    "fat_binaries",
    "is_bundle",
    "read_bundle",
    "unbundled",
    "write_bundle",
]

_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
_COUNT = struct.Struct("<Q")
_ENTRY = struct.Struct("<3Q")
# Limits on what is read from a bundle, so that a damaged one cannot ask for endless work.
_MOST = 256
_LONGEST_NAME = 4096
# HIP wants a host's entry, whose code is elsewhere, and pages (clang's driver: -bundle-align=4096).
# clang gives the entry this name on every host, whatever its processor ("dummy host binary entry",
# HIPUtility.cpp).
_HOST = "host-x86_64-unknown-linux-gnu-"
_KIND = "hipv4"
_ALIGNMENT = 4096


@dataclass(frozen=True)
class Member:
    """A code object of a bundle. entry: the entry's id, such as
    "hipv4-amdgcn-amd-amdhsa--gfx1201"."""

    entry: str
    code_object: CodeObject

    @property
    def target(self) -> Target:
        """What the code is for."""
        return self.code_object.target


@dataclass(frozen=True)
class Bundle:
    """The code objects of a bundle, or one that stands alone.

    unknown: target ids of entries whose processor amdjit does not know.
    """

    members: tuple[Member, ...]
    unknown: tuple[str, ...] = ()


def is_bundle(data: bytes) -> bool:
    """Whether bytes begin as a bundle does, compressed or not."""
    return data.startswith((_MAGIC, COMPRESSED))


def bundle_size(head: bytes) -> int:
    """Return how many bytes a bundle has that begins with `head`; MalformedCodeObject if its table
    of entries is damaged, or if it is compressed by a version that does not say it."""
    if not head.startswith(COMPRESSED):
        return max((start + size for _, start, size in _table(head)), default=0)
    size = {2: struct.Struct("<I"), 3: struct.Struct("<Q")}.get(int.from_bytes(head[4:6], "little"))
    if size is None or len(head) < _HEAD.size + size.size:
        raise MalformedCodeObject("the compressed offload bundle does not say how long it is")
    length: int = size.unpack_from(head, _HEAD.size)[0]
    return length


# Where hipcc puts the bundles of a program or shared object: those of its source files, one after
# the other, with zeros between them.
_FAT_BINARIES = ".hip_fatbin"


def fat_binaries(data: bytes) -> tuple[bytes, ...]:
    """Return the bundles in an ELF file for the host, none if it has no section of them.

    MalformedCodeObject for a damaged file, and for a section with anything else in it.
    """
    elf = read_elf(data)
    section = elf.section(_FAT_BINARIES)
    if section is None:
        return ()
    left, found = elf.section_data(section).lstrip(b"\0"), []
    while left:
        if not is_bundle(left):
            raise MalformedCodeObject(f"{_FAT_BINARIES} has something that is no offload bundle")
        size = bundle_size(left)
        if not 0 < size <= len(left):
            raise MalformedCodeObject(f"{_FAT_BINARIES} ends within an offload bundle")
        found.append(left[:size])
        left = left[size:].lstrip(b"\0")
    return tuple(found)


def write_bundle(members: Sequence[tuple[Target, bytes]]) -> bytes:
    """Return the bundle of code objects, each for its target, as clang makes it for HIP."""
    entries = [(_HOST, b"")]
    entries += [(f"{_KIND}-{TRIPLE}--{target.id}", data) for target, data in members]
    end = len(_MAGIC) + _COUNT.size + sum(_ENTRY.size + len(name) for name, _ in entries)
    table, content = [_MAGIC, _COUNT.pack(len(entries))], bytearray()
    first = _aligned(end)
    for name, data in entries:
        content += bytes(_aligned(len(content)) - len(content))
        table += [_ENTRY.pack(first + len(content), len(data), len(name)), name.encode()]
        content += data
    return b"".join(table).ljust(first, b"\0") + content


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def read_bundle(data: bytes) -> Bundle:
    """Read the code objects for AMD GPUs of a bundle, or the one that `data` are.

    MalformedCodeObject for a bundle that is damaged, or has none; and for one of processors that
    amdjit does not know alone.
    """
    if not is_bundle(data):
        return Bundle((Member("", CodeObject.read(data)),))
    members, unknown = [], []
    for name, content in entries_of(data):
        text = name.split("-", 5)[-1]
        target = _known(text)
        if target is None:
            unknown.append(text)
            continue
        code_object = CodeObject.read(content)
        if code_object.target != target:
            raise MalformedCodeObject(
                f"the offload bundle's entry {name} has code for {code_object.target}"
            )
        members.append(Member(name, code_object))
    if not members:
        raise MalformedCodeObject(
            f"the offload bundle is for {', '.join(unknown)}, which amdjit does not know"
        )
    ids = [member.target.id for member in members]
    for twice in (each for each in ids if ids.count(each) > 1):
        raise MalformedCodeObject(f"the offload bundle has two code objects for {twice}")
    return Bundle(tuple(members), tuple(unknown))


def unbundled(data: bytes, target: str | None = None) -> bytes:
    """Return the code object for a target id, or for the only one; `data` themselves if they are no
    bundle. ValueError with the targets that there are, or if `data` are no bytes;
    MalformedCodeObject as `read_bundle`."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise ValueError(
            f"a code object is bytes, not {type(data).__name__}: Path(FILE).read_bytes() reads them"
        )
    data = bytes(data)
    if not is_bundle(data) and target is None:
        return data
    members = read_bundle(data).members
    there = ", ".join(member.target.id for member in members)
    if target is None:
        if len(members) > 1:
            raise ValueError(f"say which target: the bundle has code for {there}")
        return members[0].code_object.data
    wanted = read_target(target)
    found = [member for member in members if member.target == wanted]
    # A processor's name stands for its only member, whatever the settings of that.
    found = found or [member for member in members if member.target.name == target]
    if len(found) != 1:
        raise ValueError(f"there is no code for {wanted}, but for {there}")
    return found[0].code_object.data


def _known(text: str) -> Target | None:
    try:
        return read_target(text)
    except ValueError:
        return None


def entries_of(data: bytes) -> list[tuple[str, bytes]]:
    """Return the ids of a bundle's entries for AMD GPUs, with what they hold, unread;
    MalformedCodeObject for a damaged bundle, and for one without such entries."""
    if data.startswith(COMPRESSED):
        data = decompressed(data)
        if not data.startswith(_MAGIC):
            raise MalformedCodeObject("the compressed offload bundle holds no bundle")
    entries = [(name, start, size) for name, start, size in _table(data) if size and _is_gpu(name)]
    if not entries:
        raise MalformedCodeObject("the offload bundle has no code for AMD GPUs")
    for name, start, size in entries:
        if start + size > len(data):
            raise MalformedCodeObject(f"the offload bundle ends within {name}")
    if sum(size for *_, size in entries) > len(data):
        raise MalformedCodeObject("the offload bundle's entries overlap")
    return [(name, data[start : start + size]) for name, start, size in entries]


def _is_gpu(entry: str) -> bool:
    """Whether an entry id is `KIND-amdgcn-amd-amdhsa-ENVIRONMENT-TARGET`; the environment is mostly
    empty, and compilers to come have `amdgpu` with a version as the architecture."""
    parts = entry.split("-", 5)
    is_amdhsa = len(parts) == 6 and parts[2:4] == ["amd", "amdhsa"]
    return is_amdhsa and parts[1].startswith(("amdgcn", "amdgpu"))


def _table(data: bytes) -> list[tuple[str, int, int]]:
    """Return name, offset and size of all entries."""
    at, found = len(_MAGIC) + _COUNT.size, []
    try:
        (count,) = _COUNT.unpack_from(data, len(_MAGIC))
        if count > _MOST:
            raise MalformedCodeObject(f"the offload bundle claims {count} entries")
        for _ in range(count):
            offset, size, length = _ENTRY.unpack_from(data, at)
            at += _ENTRY.size
            if length > _LONGEST_NAME:
                raise MalformedCodeObject(f"the offload bundle has an id of {length} bytes")
            if at + length > len(data):
                raise MalformedCodeObject("the offload bundle ends within its table of entries")
            found.append((data[at : at + length].decode("ascii", "replace"), offset, size))
            at += length
    except struct.error:
        raise MalformedCodeObject("the offload bundle ends within its table of entries") from None
    return found


# Compressed offload bundles: what `--offload-compress` makes.
#
# Layout: Clang documentation, "Clang Offload Bundler", "Compressed Offload Bundle".

COMPRESSED = b"CCOB"
"""The first bytes of a compressed bundle."""

# After the magic: version, method, then by version the file's size (2 and 3), the size of what is
# compressed, and the first half of its MD5 sum.
_HEAD = struct.Struct("<4sHH")
_SIZES = {1: struct.Struct("<I8s"), 2: struct.Struct("<II8s"), 3: struct.Struct("<QQ8s")}
_ZLIB, _ZSTD = 0, 1
_LARGEST = 1 << 30
# The loader does not look where Homebrew installs on Apple silicon.
_ZSTD_OF_MACOS = ("libzstd.1.dylib", "/opt/homebrew/lib/libzstd.1.dylib")
_LIBRARIES = {"win32": ("libzstd.dll", "zstd.dll"), "darwin": _ZSTD_OF_MACOS}


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
