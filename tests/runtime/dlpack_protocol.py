"""The other side of DLPack, which checks that amdjit keeps to it: a consumer and a producer that
know the standard's own words (dlpack.h; the array API standard, "Data interchange mechanisms")."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass, field
from typing import Any, NamedTuple

# dlpack.h. Tensor: data, device type and id, ndim, code, bits, lanes, shape, strides, byte offset.
_TENSOR = struct.Struct("=QiiiBBHQQQ")
_UNVERSIONED = struct.Struct("=48sQQ")  # tensor, manager, deleter
_VERSIONED = struct.Struct("=IIQQQ48s")  # version, manager, deleter, flags, tensor
READ_ONLY, IS_COPIED = 1, 2
ROCM = 10

_python = ctypes.PyDLL(None)
_python.PyCapsule_GetName.restype = ctypes.c_char_p
_python.PyCapsule_GetName.argtypes = [ctypes.py_object]
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
# A capsule keeps the pointer to its name, not the text.
_USED = {b"dltensor": b"used_dltensor", b"dltensor_versioned": b"used_dltensor_versioned"}


class Seen(NamedTuple):
    """What a capsule says."""

    address: int
    device: tuple[int, int]
    dtype: tuple[int, int, int]
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    flags: int
    version: tuple[int, int] | None


def name_of(capsule: object) -> bytes:
    return bytes(_python.PyCapsule_GetName(capsule))


def read(capsule: object) -> tuple[Seen, int, int]:
    """Return what a capsule says, its address and that of its deleter."""
    name = name_of(capsule)
    address = _python.PyCapsule_GetPointer(capsule, name)
    version, flags = None, 0
    if name.endswith(b"versioned"):
        raw = ctypes.string_at(address, _VERSIONED.size)
        major, minor, _, deleter, flags, tensor = _VERSIONED.unpack(raw)
        version = (major, minor)
    else:
        tensor, _, deleter = _UNVERSIONED.unpack(ctypes.string_at(address, _UNVERSIONED.size))
    data, kind, index, ndim, code, bits, lanes, shape, strides, offset = _TENSOR.unpack(tensor)
    seen = Seen(
        data + offset,
        (kind, index),
        (code, bits, lanes),
        _int64s(shape, ndim),
        _int64s(strides, ndim) if strides else None,
        flags,
        version,
    )
    return seen, address, deleter


def _int64s(address: int, count: int) -> tuple[int, ...]:
    return struct.unpack(f"={count}q", ctypes.string_at(address, 8 * count)) if count else ()


class Consumer:
    """Takes a tensor over as a library does: once, with one call of the deleter."""

    def __init__(self, capsule: object) -> None:
        name = name_of(capsule)
        assert name in _USED, f"a capsule that cannot be taken: {name!r}"
        self.seen, self._address, self._deleter = read(capsule)
        _python.PyCapsule_SetName(capsule, _USED[name])

    def release(self) -> None:
        deleter, self._deleter = self._deleter, 0
        assert deleter, "released twice"
        _Deleter(deleter)(self._address)


@dataclass
class Producer:
    """A tensor of another library in a GPU's memory.

    memory: an amdjit array that has it; only its address is used. calls: the keywords of each
    `__dlpack__`. deleted: how often the deleter was called; `unused`: capsules that nobody took.
    The tensors of a producer live until their deleter is called, also where nobody keeps the
    producer: what a capsule points to must not depend on when Python collects garbage.
    """

    memory: Any
    dtype: tuple[int, int, int] = (2, 32, 1)
    place: tuple[int, int] = (ROCM, 0)
    flags: int = 0
    versions: bool = True
    major: int = 1
    calls: list[dict[str, Any]] = field(default_factory=list)
    deleted: int = 0
    capsules: list[object] = field(default_factory=list)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.place

    def __dlpack__(self, **keywords: Any) -> object:
        unknown = set(keywords) - {"stream", "max_version", "dl_device", "copy"}
        if unknown or ("max_version" in keywords and not self.versions):
            raise TypeError(f"unexpected keywords: {sorted(keywords)}")
        stream = keywords.get("stream")
        assert stream is None or type(stream) is int
        assert stream not in (1, 2), "1 and 2 are CUDA's"
        if self.place[0] == 1:
            assert stream is None, "the host has no streams"
        self.calls.append(keywords)
        versioned = self.versions and (keywords.get("max_version") or (0,))[0] >= 1
        capsule = self._capsule(versioned)
        self.capsules.append(capsule)
        return capsule

    def _capsule(self, versioned: bool) -> object:
        array = self.memory
        ndim = len(array.shape)
        shape = (ctypes.c_int64 * max(ndim, 1))(*array.shape)
        strides = (ctypes.c_int64 * max(ndim, 1))(
            *(s // array.dtype.itemsize for s in array.strides)
        )
        # Some of the address as the byte offset: a consumer must add it.
        tensor = _TENSOR.pack(
            array.address - 64,
            *self.place,
            ndim,
            *self.dtype,
            ctypes.addressof(shape),
            ctypes.addressof(strides),
            64,
        )
        function = ctypes.cast(_delete, ctypes.c_void_p).value
        if versioned:
            raw = _VERSIONED.pack(self.major, 0, 0, function, self.flags, tensor)
        else:
            raw = _UNVERSIONED.pack(tensor, 0, function)
        block = ctypes.create_string_buffer(raw, len(raw))
        _alive[ctypes.addressof(block)] = (self, block, shape, strides)
        name = b"dltensor_versioned" if versioned else b"dltensor"
        # Without a destructor: capsules that nobody takes are found by their names.
        return _python.PyCapsule_New(ctypes.addressof(block), _kept_name(name), None)

    @property
    def unused(self) -> int:
        return sum(name_of(capsule) in _USED for capsule in self.capsules)


# The managed tensors whose deleter has not been called, by address: the producer, and what C reads.
_alive: dict[int, tuple[Producer, Any, Any, Any]] = {}


@_Deleter
def _delete(address: int) -> None:
    producer = _alive.pop(address)[0]
    producer.deleted += 1


def _kept_name(name: bytes) -> bytes:
    return next(known for known in _USED if known == name)
