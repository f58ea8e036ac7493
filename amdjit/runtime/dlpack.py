"""The C structures of DLPack (dmlc/dlpack, dlpack.h, versions up to 1.1) and the capsules that hold
them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

# dlpack.h, DLDeviceType.
CPU, CUDA, CUDA_HOST, ROCM, ROCM_HOST = 1, 2, 3, 10, 11
# Memory that the host reads and writes like its own. PyTorch calls pinned memory CUDA_HOST, on ROCm
# too.
HOST_MEMORY = frozenset({CPU, CUDA_HOST, ROCM_HOST})

# dlpack.h, DLDataTypeCode.
_KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
# The types that NumPy itself does not have.
_SPECIAL: dict[np.dtype[Any], int] = {
    np.dtype(ml_dtypes.bfloat16): 4,
    np.dtype(ml_dtypes.float8_e4m3): 8,
    np.dtype(ml_dtypes.float8_e4m3b11fnuz): 9,
    np.dtype(ml_dtypes.float8_e4m3fn): 10,
    np.dtype(ml_dtypes.float8_e4m3fnuz): 11,
    np.dtype(ml_dtypes.float8_e5m2): 12,
    np.dtype(ml_dtypes.float8_e5m2fnuz): 13,
}
_SPECIAL_OF_CODE = {(code, dtype.itemsize * 8): dtype for dtype, code in _SPECIAL.items()}
# Larger sizes are a C compiler's long double, which DLPack does not have.
_WIDEST = {"f": 8, "c": 16}
# dlpack.h, DLPACK_FLAG_BITMASK_*.
_READ_ONLY, _IS_COPIED = 1, 2


class _DLDevice(ctypes.Structure):
    _fields_ = (("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32))


class _DLDataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", _DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _DLManagedTensor(ctypes.Structure):
    _fields_ = (("tensor", _DLTensor), ("manager", ctypes.c_void_p), ("deleter", _Deleter))


class _DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", _Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    )


# The names of a capsule before and after its tensor is taken over, and the structure in it.
_UNVERSIONED = b"dltensor", b"used_dltensor", _DLManagedTensor
_VERSIONED = b"dltensor_versioned", b"used_dltensor_versioned", _DLManagedTensorVersioned
_MAJOR = 1

_capsule_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_rename_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_SetName", ctypes.pythonapi)
)


class Tensor(NamedTuple):
    """The tensor that a capsule describes.

    Strides are in bytes, None for C order; `owner` keeps the memory alive.
    """

    address: int
    device: tuple[int, int]
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    owner: object
    read_only: bool = False
    is_copy: bool = False
    """Whether the memory was made for the consumer, who alone has it."""


class _Carrier:
    """Something that NumPy makes an array of; the array keeps it, and so the memory, alive."""

    def __init__(self, tensor: Tensor, shown_as: str) -> None:
        self.owner = tensor.owner
        self.__array_interface__ = {
            "data": (tensor.address, False),
            "shape": tensor.shape,
            "strides": tensor.strides,
            "typestr": shown_as,
            "version": 3,
        }


def address_of(array: np.ndarray[Any, Any]) -> int:
    """Return the address of the first element of a NumPy array."""
    return int(array.__array_interface__["data"][0])


def host_array(tensor: Tensor) -> np.ndarray[Any, Any]:
    """Return a NumPy array over a tensor in host memory."""
    array = np.asarray(_Carrier(tensor, f"|V{tensor.dtype.itemsize}")).view(tensor.dtype)
    array.flags.writeable = not tensor.read_only
    return array


# What NumPy's capsules have for items of these sizes. Only the size matters: the code is replaced.
_SHOWN_AS = {1: "|u1", 2: "<u2", 4: "<u4", 8: "<u8", 16: "<c16"}
_NUMPY_HAS_VERSIONS = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


def export(tensor: Tensor, max_version: tuple[int, int] | None = None) -> object:
    """Return a capsule, a `dltensor_versioned` one if `max_version` allows that.

    BufferError if DLPack has no code for the type, or no such capsule can hold the tensor. NumPy
    before 2.1 makes unversioned capsules only.
    """
    # NumPy makes the capsule, for an array at this address, which it does not read. A destructor in
    # Python would run while the exception of a consumer that failed is pending, and lose it.
    data_type = _data_type(tensor.dtype)
    itemsize = tensor.dtype.itemsize
    if any(stride % itemsize for stride in tensor.strides or ()):
        raise BufferError(
            "DLPack counts strides in elements; this array's strides are not multiples of its item "
            "size"
        )
    array = np.asarray(_Carrier(tensor, _SHOWN_AS[itemsize]))
    if max_version is not None and max_version[0] >= _MAJOR and _NUMPY_HAS_VERSIONS:
        capsule = array.__dlpack__(max_version=(_MAJOR, 0))
        versioned = _DLManagedTensorVersioned.from_address(_capsule_pointer(capsule, _VERSIONED[0]))
        versioned.flags = _READ_ONLY * tensor.read_only | _IS_COPIED * tensor.is_copy
        described = versioned.tensor
    else:
        if tensor.read_only:
            raise BufferError(
                "the array is read-only, which only DLPack 1.0 can say: ask with "
                "max_version=(1, 0), or copy the array"
            )
        capsule = array.__dlpack__()
        described = _DLManagedTensor.from_address(_capsule_pointer(capsule, _UNVERSIONED[0])).tensor
    described.device = _DLDevice(*tensor.device)
    described.dtype = data_type
    return capsule


class _Consumed:
    """Calls the producer's deleter with the last array over its memory."""

    def __init__(self, capsule: object, used: bytes, managed: Any) -> None:
        _rename_capsule(capsule, used)
        self._managed = managed

    # Bound here, because the end of the process empties modules.
    def __del__(self, address: Callable[[Any], int] = ctypes.addressof) -> None:
        # Python keeps a pending exception apart while `__del__` runs.
        if self._managed.deleter:
            self._managed.deleter(address(self._managed))


def consume(capsule: object) -> Tensor:
    """Take over a capsule. BufferError for a type that amdjit does not have, for a version that it
    does not know, and for a capsule that was taken over before: the capsule stays as it was."""
    kind = next((k for k in (_VERSIONED, _UNVERSIONED) if _capsule_is_valid(capsule, k[0])), None)
    if kind is None:
        raise BufferError(
            f"{capsule!r} is not a DLPack capsule that nobody has used: ask the producer for "
            "another one"
        )
    name, used, structure = kind
    managed = structure.from_address(_capsule_pointer(capsule, name))
    flags = 0
    if isinstance(managed, _DLManagedTensorVersioned):
        if managed.major != _MAJOR:
            raise BufferError(
                f"the tensor is one of DLPack {managed.major}.{managed.minor}; amdjit reads 0 and 1"
            )
        flags = managed.flags
    described = managed.tensor
    dtype = _dtype(described.dtype)
    ndim = described.ndim
    strides = None
    if ndim and described.strides:
        strides = tuple(stride * dtype.itemsize for stride in described.strides[:ndim])
    return Tensor(
        address=(described.data or 0) + described.byte_offset,
        device=(described.device.device_type, described.device.device_id),
        dtype=dtype,
        shape=tuple(described.shape[:ndim]) if ndim else (),
        strides=strides,
        owner=_Consumed(capsule, used, managed),
        read_only=bool(flags & _READ_ONLY),
        is_copy=bool(flags & _IS_COPIED),
    )


def _data_type(dtype: np.dtype[Any]) -> _DLDataType:
    code = _SPECIAL.get(dtype)
    if code is None and dtype.isnative and dtype.itemsize <= _WIDEST.get(dtype.kind, 8):
        code = _KINDS.get(dtype.kind)
    if code is None:
        raise BufferError(f"DLPack has no code for {dtype}")
    return _DLDataType(code, dtype.itemsize * 8, 1)


def _dtype(data_type: _DLDataType) -> np.dtype[Any]:
    code, bits = data_type.code, data_type.bits
    if data_type.lanes == 1:
        special = _SPECIAL_OF_CODE.get((code, bits))
        if special is not None:
            return special
        for kind, known in _KINDS.items():
            if code == known and bits in _BITS[kind]:
                return np.dtype(f"{kind}{bits // 8}")
    raise BufferError(
        f"amdjit has no type for DLPack's code {code} of {bits} bits x {data_type.lanes}"
    )


_BITS = {
    "i": (8, 16, 32, 64),
    "u": (8, 16, 32, 64),
    "f": (16, 32, 64),
    "c": (64, 128),
    "b": (8,),
}
