"""The C structures of DLPack (dmlc/dlpack, dlpack.h) and the capsules that hold them."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

CPU = 1
ROCM = 10

_KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
# dlpack.h, DLDataTypeCode: the types that NumPy itself does not have.
_SPECIAL: dict[np.dtype[Any], int] = {
    np.dtype(ml_dtypes.bfloat16): 4,
    np.dtype(ml_dtypes.float8_e4m3fn): 10,
    np.dtype(ml_dtypes.float8_e5m2): 12,
}


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


class _DLManagedTensor(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_DLManagedTensor))
_DLManagedTensor._fields_ = (
    ("tensor", _DLTensor),
    ("manager", ctypes.c_void_p),
    ("deleter", _Deleter),
)

_CapsuleDestructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _CapsuleDestructor
)(("PyCapsule_New", ctypes.pythonapi))
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
# The destructor gets a capsule that is being deallocated, as an address: a reference would revive
# it.
_raw_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_raw_capsule_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_rename_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_SetName", ctypes.pythonapi)
)
_NEW, _USED = b"dltensor", b"used_dltensor"


@dataclass(frozen=True, slots=True)
class Tensor:
    """The tensor that a capsule describes. Strides are in bytes; `owner` keeps the memory alive."""

    address: int
    device: tuple[int, int]
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    owner: object


# DLPack frees a tensor through a C callback, perhaps long after Python's last reference. Until then
# the reference in `manager` keeps the memory alive.
_increase_references = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", ctypes.pythonapi))
_decrease_references = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("Py_DecRef", ctypes.pythonapi))


def _release_tensor(managed: Any) -> None:
    _decrease_references(managed.contents.manager)


def _release_capsule(capsule: int) -> None:
    # A consumer renames the capsule and calls the deleter itself; only an unused one is ours to
    # free.
    if _raw_capsule_is_valid(capsule, _NEW):
        managed = _DLManagedTensor.from_address(_raw_capsule_pointer(capsule, _NEW))
        _decrease_references(managed.manager)


_delete = _Deleter(_release_tensor)
_destroy_capsule = _CapsuleDestructor(_release_capsule)


def export(tensor: Tensor) -> object:
    """Return a `dltensor` capsule. BufferError if DLPack has no code for the type."""
    ndim = len(tensor.shape)
    itemsize = tensor.dtype.itemsize
    strides = tensor.strides if tensor.strides is not None else ()
    if any(stride % itemsize for stride in strides):
        raise BufferError(
            "DLPack counts strides in elements; this array's strides are not multiples of its item "
            "size"
        )
    shape_array = (ctypes.c_int64 * max(ndim, 1))(*tensor.shape)
    stride_array = (ctypes.c_int64 * max(ndim, 1))(*(stride // itemsize for stride in strides))
    int64_pointer = ctypes.POINTER(ctypes.c_int64)
    managed = _DLManagedTensor(
        tensor=_DLTensor(
            data=tensor.address,
            device=_DLDevice(*tensor.device),
            ndim=ndim,
            dtype=_data_type(tensor.dtype),
            shape=ctypes.cast(shape_array, int64_pointer),
            strides=ctypes.cast(stride_array, int64_pointer),
            byte_offset=0,
        ),
        deleter=_delete,
    )
    kept = (managed, shape_array, stride_array, tensor.owner)
    _increase_references(kept)
    managed.manager = id(kept)
    return _new_capsule(ctypes.addressof(managed), _NEW, _destroy_capsule)


class _Consumed:
    """Calls the producer's deleter with the last array over its memory."""

    def __init__(self, capsule: object, address: int) -> None:
        self._address = address
        _rename_capsule(capsule, _USED)

    def __del__(self) -> None:
        managed = _DLManagedTensor.from_address(self._address)
        if managed.deleter:
            managed.deleter(ctypes.pointer(managed))


def consume(capsule: object) -> Tensor:
    """Take over a `dltensor` capsule. BufferError for a type that amdjit does not have."""
    address = _capsule_pointer(capsule, _NEW)
    tensor = _DLManagedTensor.from_address(address).tensor
    dtype = _dtype(tensor.dtype)
    axes = range(tensor.ndim)
    return Tensor(
        address=(tensor.data or 0) + tensor.byte_offset,
        device=(tensor.device.device_type, tensor.device.device_id),
        dtype=dtype,
        shape=tuple(tensor.shape[i] for i in axes),
        strides=tuple(tensor.strides[i] * dtype.itemsize for i in axes) if tensor.strides else None,
        owner=_Consumed(capsule, address),
    )


def _data_type(dtype: np.dtype[Any]) -> _DLDataType:
    code = _SPECIAL.get(dtype, _KINDS.get(dtype.kind))
    if code is None:
        raise BufferError(f"DLPack has no code for {dtype}")
    return _DLDataType(code, dtype.itemsize * 8, 1)


def _dtype(data_type: _DLDataType) -> np.dtype[Any]:
    if data_type.lanes == 1:
        for dtype, code in _SPECIAL.items():
            if data_type.code == code and data_type.bits == dtype.itemsize * 8:
                return dtype
        for kind, code in _KINDS.items():
            if data_type.code == code:
                found: np.dtype[Any] = np.dtype(f"{kind}{data_type.bits // 8}")
                return found
    raise BufferError(
        f"amdjit has no type for DLPack's code {data_type.code} of {data_type.bits} bits x "
        f"{data_type.lanes}"
    )
