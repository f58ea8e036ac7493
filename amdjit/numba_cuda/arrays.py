"""Arrays on the device under Numba's names."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from amdjit import frontend
from amdjit.arrays import creation
from amdjit.arrays.device_array import DeviceArray
from amdjit.devices import current_device
from amdjit.numba_cuda import config
from amdjit.numba_cuda.absent import refused
from amdjit.numba_cuda.streams import external_stream, number_of, stream_of
from amdjit.runtime import arrays as runtime_arrays
from amdjit.runtime.dlpack import CPU
from amdjit.runtime.elements import extents_of
from amdjit.runtime.foreign_arrays import Borrowed, EmulatorMark, marked_array
from amdjit.runtime.host_memory import block_of, place_on
from amdjit.runtime.strides import contiguous_strides

# The longest span whose offsets fit 32 bits.
_MOST_BYTES = 2**31 - 1
_PARTS = 6


@dataclass(frozen=True)
class ArrayType:
    """Numba's type of a device array: the type of the elements, how many axes there are, and the
    layout, "C", "F" or "A"."""

    dtype: Any
    ndim: int
    layout: str


class DeviceNDArray(DeviceArray):
    """A device array with the methods that Numba's arrays have. stream: the stream of its copies to
    which none is given, and of its CUDA array interface; 0 for the default stream."""

    __slots__ = ("stream",)

    def __init__(self, *parts: Any, stream: Any = 0, **named: Any) -> None:
        """Make an array of arbitrary contents, `DeviceNDArray(shape, strides, dtype)`, or of the
        six parts of a device array."""
        if len(parts) != _PARTS:
            parts = _parts_of_new(*parts, **named)
        super().__init__(*parts)
        self.stream = stream

    @property
    def _numba_type_(self) -> ArrayType:
        layout = "C" if self.is_c_contiguous() else "F" if self.is_f_contiguous() else "A"
        return ArrayType(frontend.element_of_dtype(self.dtype), self.ndim, layout)

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> Any:
        """Copy to a NumPy array, a new one or `ary`, and return it."""
        if ary is None:
            ary = np.empty(
                self.shape,
                self.dtype,
                order="F" if self.is_f_contiguous() and not self.is_c_contiguous() else "C",
            )
        elif ary.shape != self.shape:
            raise ValueError(f"incompatible shape: {ary.shape} vs. {self.shape}")
        return super().copy_to_host(ary, self._stream_for(stream))

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Copy an array of the host or the device into this one."""
        if isinstance(ary, runtime_arrays.DeviceArray):
            self.assign(ary, self._stream_for(stream))
        else:
            self.copy_from_host(np.asarray(ary, self.dtype), self._stream_for(stream))

    def _stream_for(self, stream: Any) -> Any:
        return stream_of(self.stream if isinstance(stream, int) and stream == 0 else stream)

    def _view(self, *where: Any) -> Any:
        view = super()._view(*where)
        view.stream = self.stream
        return view

    def view(self, dtype: Any) -> Any:
        """Return a view of the same bytes as another type, as `DeviceArray.view` does."""
        made: Any = super().view(dtype)
        made.stream = self.stream
        return made

    @property
    def gpu_data(self) -> MemoryPointer:
        """The array's memory, as an array that is compared by its address."""
        parts = self.address, self.shape, self.dtype, self.strides, self._owner
        return MemoryPointer(self.device, *parts)

    @property
    def device_ctypes_pointer(self) -> ctypes.c_void_p:
        """The address."""
        return ctypes.c_void_p(self.address)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The CUDA array interface, version 3, with the array's stream.

        Memory of the emulator is host memory, which no library may use as GPU memory. Its `mask` is
        therefore an `EmulatorMark`: consumers of the interface have to refuse a mask that they
        cannot read.
        """
        if self.device.dlpack_device[0] != CPU:
            return {**super().__cuda_array_interface__, "stream": number_of(self.stream)}
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address if self.size else 0, self.is_read_only),
            "strides": None if self.is_contiguous else self.strides,
            "stream": number_of(self.stream),
            "mask": EmulatorMark(self),
            "version": 3,
        }

    def get_ipc_handle(self) -> NoReturn:
        """Raise AbsentError: memory is not shared between processes."""
        refused("get_ipc_handle")

    def squeeze(self, axis: Any = None, stream: Any = 0) -> Any:
        """Return a view without the axes of one element, or without those in `axis`; ValueError if
        one of these has more elements."""
        chosen = range(self.ndim) if axis is None else np.atleast_1d(axis) % max(self.ndim, 1)
        dropped = {int(a) for a in chosen if axis is not None or self.shape[a] == 1}
        if any(self.shape[a] != 1 for a in dropped):
            raise ValueError("an axis to leave out has more than one element")
        kept = [a for a in range(self.ndim) if a not in dropped]
        return self._view(
            0, tuple(self.shape[a] for a in kept), tuple(self.strides[a] for a in kept)
        )

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        """Iterate over the first axis: yield numbers on the host, views of the other axes, or
        records."""
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        if self.ndim == 1 and self.dtype.names is None:
            return iter(self.copy_to_host())
        return (self[i] for i in range(self.shape[0]))

    def is_c_contiguous(self) -> bool:
        """Whether the elements lie one after another in C order."""
        return self.is_contiguous

    def is_f_contiguous(self) -> bool:
        """Whether the elements lie one after another in Fortran order."""
        return bool(self.T.is_contiguous)

    @property
    def flags(self) -> dict[str, bool]:
        """NumPy's flags of the layout."""
        return {"C_CONTIGUOUS": self.is_c_contiguous(), "F_CONTIGUOUS": self.is_f_contiguous()}

    @property
    def alloc_size(self) -> int:
        """Bytes of the memory."""
        return self.nbytes

    def transpose(self, axes: Any = None) -> Any:
        """Return a view with the axes in another order; ValueError if some axes are missing."""
        axes = tuple(range(self.ndim))[::-1] if axes is None else tuple(axes)
        if sorted(axes) != list(range(self.ndim)):
            raise ValueError(f"invalid axes list {axes}")
        return self._view(
            0, tuple(self.shape[a] for a in axes), tuple(self.strides[a] for a in axes)
        )

    def ravel(self, order: str = "C", stream: Any = 0) -> Any:
        """Return the elements along one axis, in C or Fortran order, or with "A" in their order in
        memory. The result is a view if the elements are adjacent in that order, else a copy."""
        return super(DeviceNDArray, self.T if self._reads_as(order) == "F" else self).ravel()

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        """Return a view of another shape; ValueError if the elements are not in this order in
        memory."""
        if self._reads_as(order) == "C":
            return super().reshape(*shape)
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        return super(DeviceNDArray, self.T).reshape(tuple(wanted[::-1])).T

    def _reads_as(self, order: str) -> str:
        """Return C or F for an order in NumPy's letters."""
        if order not in ("C", "F", "A"):
            raise ValueError(f'order={order!r}: give "C", "F" or "A"')
        if order == "A":
            return "F" if self.is_f_contiguous() and not self.is_c_contiguous() else "C"
        return order

    def split(self, section: int, stream: Any = 0) -> Any:
        """Yield views of at most `section` elements, one after the other."""
        for first in range(0, self.size, section):
            yield self[first : min(first + section, self.size)]

    def bind(self, stream: Any = 0) -> DeviceNDArray:
        """Return an array over the same memory with another stream."""
        made = self[...] if self.ndim else numba_array(self)
        made.stream = stream
        return made

    def getitem(self, key: Any, stream: Any = 0) -> Any:
        """Return `array[key]`."""
        return self[key]

    def setitem(self, key: Any, value: Any, stream: Any = 0) -> None:
        """Do `array[key] = value`."""
        super().__getitem__(key).assign(value, self._stream_for(stream))

    def __getitem__(self, key: object) -> Any:
        view = super().__getitem__(key)
        return view._as_value() if view.ndim == 0 else view

    def __setitem__(self, key: object, value: Any) -> None:
        place, shape = super().__getitem__(key), np.shape(value)
        if len(shape) > place.ndim:
            raise ValueError(f"Can't assign {len(shape)}-D array to {place.ndim}-D self")
        for axis, (extent, given) in enumerate(zip(place.shape[::-1], shape[::-1], strict=False)):
            if given not in (1, extent):
                raise ValueError(
                    f"Can't copy sequence with size {given} to array axis "
                    f"{place.ndim - 1 - axis} with dimension {extent}"
                )
        place.assign(value)

    def _as_value(self) -> Any:
        """Return the only element: a number as a value on the host, a record by reference."""
        if self.dtype.names is None:
            return self.copy_to_host()[()]
        parts = self.shape, self.dtype, self.strides, self._owner
        return DeviceRecord(self.device, self.address, *parts)


class MemoryPointer(DeviceNDArray):
    """An array's memory: two are equal if they begin at one address of one device."""

    __slots__ = ()

    @property
    def device_pointer(self) -> int:
        """The address."""
        return self.address

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemoryPointer):
            return NotImplemented
        return (self.device, self.address) == (other.device, other.address)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.address)


class DeviceRecord(DeviceNDArray):
    """A record on the device: `record["x"]` reads a field, `record["x"] = 1` writes to it.

    A field that is an array or a record is also one on the device.
    """

    __slots__ = ()

    def __init__(self, *parts: Any) -> None:
        """Make a record of a NumPy type with arbitrary contents, `DeviceRecord(dtype)`, or of the
        parts of a device array."""
        super().__init__(*(((), (), *parts) if len(parts) == 1 else parts))

    @property
    def _numba_type_(self) -> Any:
        return frontend.element_of_dtype(self.dtype)

    def __getitem__(self, key: object) -> Any:
        if key == ():
            return self
        field = self._field(key)
        return field._as_value() if field.ndim == 0 else field

    def __setitem__(self, key: object, value: Any) -> None:
        if key in ((), ...):
            self.assign(value)
        else:
            self._field(key).assign(value)

    def getitem(self, key: Any, stream: Any = 0) -> Any:
        """Return a field."""
        return self[key]

    def _field(self, name: object) -> DeviceNDArray:
        fields: Any = self.dtype.fields or {}
        if not isinstance(name, str) or name not in fields:
            raise KeyError(f"a record has the fields {', '.join(fields)}, not {name!r}")
        kind, offset = fields[name][:2]
        base, shape = kind.subdtype or (kind, ())
        strides = contiguous_strides(shape, base.itemsize)
        return DeviceNDArray(self.device, self.address + offset, shape, base, strides, self._owner)


def _parts_of_new(
    shape: Any, strides: Any = None, dtype: Any = np.float64, stream: Any = 0
) -> tuple[Any, ...]:
    made = device_array(shape, dtype, strides or None)
    return made.device, made.address, made.shape, made.dtype, made.strides, made._owner


def array_at(address: int, dtype: Any) -> DeviceNDArray:
    """Return an array at an address of the current device, with as many elements as fit into 2 GiB:
    nobody says how many there are."""
    element = np.dtype(dtype)
    count, owner = _MOST_BYTES // element.itemsize, Borrowed(None, False, has_end=False)
    return DeviceNDArray(current_device(), address, (count,), element, (element.itemsize,), owner)


def from_record_like(rec: Any, stream: Any = 0) -> DeviceRecord:
    """Return a new record on the device, of arbitrary contents, of the type of another one."""
    return DeviceRecord(rec.dtype)


def auto_device(
    obj: Any, stream: Any = 0, copy: bool = True, user_explicit: bool = False
) -> tuple[Any, bool]:
    """Return an array or a record on the device, and whether it is a new one. ValueError if the
    elements of an array are not adjacent in C or Fortran order."""
    if is_cuda_array(obj):
        return as_cuda_array(obj), False
    if isinstance(obj, np.void):
        made: Any = from_record_like(obj)
        if copy:
            made.copy_to_device(obj, stream)
        return made, True
    host = np.asarray(obj)
    if not (array_core(host).flags.c_contiguous or array_core(host).flags.f_contiguous):
        raise ValueError("the elements of the array are not adjacent: np.ascontiguousarray(array)")
    return to_device(host, stream) if copy else device_array_like(host), True


def array_core(ary: Any) -> Any:
    """Return an array without the axes along which it repeats the same elements (of stride 0)."""
    if not ary.strides or not ary.size:
        return ary
    return ary[tuple(slice(None) if stride else 0 for stride in ary.strides)]


def numba_array(array: Any, stream: Any = 0) -> DeviceNDArray:
    """Return an array with Numba's methods over the memory of an amdjit array."""
    parts = array.address, array.shape, array.dtype, array.strides, array._owner
    return DeviceNDArray(array.device, *parts, stream=stream)


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> Any:
    """Return a copy on the device, or copy to the array `to`."""
    if to is not None:
        if copy:
            to.copy_to_device(obj, stream)
        return to
    if isinstance(obj, runtime_arrays.DeviceArray):
        return numba_array(obj)
    host = np.asanyarray(obj)
    order = "F" if host.flags.f_contiguous and not host.flags.c_contiguous else "C"
    made = device_array(host.shape, host.dtype, order=order, stream=stream)
    if copy:
        made.copy_from_host(host, stream_of(stream))
    return made


def device_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0
) -> Any:
    """Return a new array of arbitrary contents, in C or Fortran order."""
    extents, kind = extents_of(shape), element_dtype(dtype)
    if strides is not None:
        made = _with_strides(extents, np.dtype(kind), tuple(np.atleast_1d(strides)))
        return made.bind(stream)
    if order == "F":
        return numba_array(creation.empty(extents[::-1], kind), stream).T
    return numba_array(creation.empty(extents, kind), stream)


def element_dtype(dtype: Any) -> Any:
    return getattr(dtype, "dtype", dtype) if not isinstance(dtype, type) else dtype


def _with_strides(shape: Any, dtype: np.dtype[Any], strides: tuple[int, ...]) -> Any:
    """Return an array with these strides: a view of an array whose axes are in the order of the
    strides, the smallest one last."""
    order = sorted(range(len(shape)), key=lambda axis: -strides[axis])
    whole = device_array(tuple(shape[axis] for axis in order), dtype)
    made = whole.transpose(tuple(np.argsort(order))) if order else whole
    if any(n > 1 and a != b for n, a, b in zip(shape, made.strides, strides, strict=True)):
        raise ValueError(f"strides={strides}: elements of {shape} lie without gaps and overlap")
    return made


def like_strides(ary: Any) -> tuple[int, ...] | None:
    """Return the strides of a new array like another one: its axes are in the same order, without
    gaps. None for C and Fortran order, as in Numba's `_contiguous_strides_like_array`."""
    if ary.ndim <= 1 or ary.flags["C_CONTIGUOUS"] or ary.flags["F_CONTIGUOUS"]:
        return None
    strides, step = [0] * ary.ndim, np.dtype(ary.dtype).itemsize
    for axis in sorted(range(ary.ndim), key=lambda axis: ary.strides[axis]):
        strides[axis] = step
        step *= ary.shape[axis]
    return tuple(strides)


def device_array_like(ary: Any, stream: Any = 0) -> Any:
    """Return a new array of the same shape, type and order of the axes."""
    return device_array(ary.shape, ary.dtype, like_strides(ary), order_of(ary), stream)


def order_of(ary: Any) -> str:
    """Return F for an array in Fortran order alone, else C."""
    return "F" if ary.flags["F_CONTIGUOUS"] and not ary.flags["C_CONTIGUOUS"] else "C"


def is_cuda_array(obj: Any) -> bool:
    """Whether an object offers device memory."""
    return isinstance(obj, runtime_arrays.DeviceArray) or hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj: Any, sync: bool = True) -> Any:
    """Return an array over another library's memory, with the stream of that.

    sync: wait for this stream, unless the setting CUDA_ARRAY_INTERFACE_SYNC of Numba is 0.
    """
    if isinstance(obj, runtime_arrays.DeviceArray):
        return numba_array(obj, getattr(obj, "stream", 0))
    interface = getattr(obj, "__cuda_array_interface__", None)
    if interface is None:
        raise TypeError("*obj* doesn't implement the cuda array interface.")
    if isinstance(obj, np.ndarray):
        return over_host(obj, getattr(obj, "stream", 0))
    return from_cuda_array_interface(interface, obj, sync)


def over_host(array: Any, stream: Any = 0) -> DeviceNDArray:
    """Return an array on the device over host memory that kernels use in place; AttributeError for
    other memory."""
    block = block_of(array)
    address = None if block is None else place_on(block.device, array)
    if block is None or address is None:
        raise AttributeError("kernels use mapped and managed memory in place, not the array's")
    parts = address, array.shape, array.dtype, array.strides, Borrowed(array, False)
    return DeviceNDArray(block.device, *parts, stream=stream)


def is_marked(obj: Any) -> bool:
    """Whether an object is not an array itself, but describes memory of the emulator."""
    return marked_array(obj) is not None


def from_cuda_array_interface(desc: Any, owner: Any = None, sync: bool = True) -> Any:
    """Return an array over memory that a CUDA array interface describes, with its stream;
    NotImplementedError if it has a mask. owner: the owner of the memory. sync: as in
    `as_cuda_array`."""
    mark = desc.get("mask")
    if mark is not None and not isinstance(mark, EmulatorMark):
        raise NotImplementedError("Masked arrays are not supported")
    described = _Described(desc, owner)
    stream: Any = 0
    if desc.get("stream") is not None:
        stream = external_stream(desc["stream"])
        if sync and config.CUDA_ARRAY_INTERFACE_SYNC:
            stream.synchronize()
    marked = marked_array(described)
    return numba_array(creation.asarray(described) if marked is None else marked, stream)


class _Described:
    """An object with a CUDA array interface over the memory of an owner."""

    def __init__(self, interface: Any, owner: Any) -> None:
        self.__cuda_array_interface__, self._owner = interface, owner


is_cuda_ndarray = is_cuda_array
