"""`amdjit.DeviceArray`: views, fills and copies of device memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from amdjit.arrays.copying import converted, copy_array, spread_first
from amdjit.arrays.layouts import viewed_as
from amdjit.diagnostics.errors import LaunchError
from amdjit.launching.foreign_arguments import borrowed
from amdjit.runtime import arrays
from amdjit.runtime.dlpack import CPU
from amdjit.runtime.elements import element_bytes, element_type, refuse_masked
from amdjit.runtime.foreign_arrays import host_array, is_foreign, located
from amdjit.runtime.memory import Memory
from amdjit.runtime.place import keep_for_graph
from amdjit.runtime.streams import Stream, handle_of

if TYPE_CHECKING:
    from typing_extensions import Self


# What NumPy's arrays can do and device arrays cannot: each error says what to do instead.

_KERNEL = "write a kernel, or copy to the host first"


class NoNumber:
    """Refuses comparison, arithmetic, truth, iteration and conversion to numbers.

    An operator on device arrays would be a hidden kernel launch.
    """

    __slots__ = ()
    # `==` raises; so hashing by identity is safe, and arrays can be in sets and dicts.
    __hash__ = object.__hash__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> NoReturn:
        raise TypeError(
            f"numpy.{ufunc.__name__} works on the host, and a DeviceArray is on the device: "
            f"{_KERNEL}, numpy.{ufunc.__name__}(a.copy_to_host(), ...)"
        )

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a DeviceArray is neither true nor false: copy_to_host() first, or ask `array is not "
            "None` or `array.size > 0`"
        )

    def __iter__(self) -> NoReturn:
        raise TypeError(
            "a DeviceArray is not iterated: each step would be a copy. Take copy_to_host() for its "
            "values, or views: `for i in range(len(array)): array[i]`"
        )

    def __contains__(self, value: object) -> NoReturn:
        raise TypeError(f"`in` does not look into a DeviceArray: {_KERNEL}")


def _refuse_operator(symbol: str, name: str) -> Any:
    def refuse(self: object, *others: object) -> NoReturn:
        example = f"a.copy_to_host() {symbol} ..." if others else f"{symbol}a.copy_to_host()"
        raise TypeError(
            f"`{symbol}` does not work on a DeviceArray, whose elements are on the device: "
            f"{_KERNEL}, `{example}`"
            + (" (`is` compares the arrays themselves)" if symbol in ("==", "!=") else "")
        )

    refuse.__name__ = name
    return refuse


def _refuse_conversion(type: str) -> Any:
    def refuse(self: object) -> NoReturn:
        raise TypeError(
            f"{type}(a) of a DeviceArray would be a hidden copy: write {type}(a.copy_to_host())"
        )

    return refuse


_BINARY = {
    "add": "+", "sub": "-", "mul": "*", "matmul": "@", "truediv": "/", "floordiv": "//",
    "mod": "%", "divmod": "divmod", "pow": "**", "lshift": "<<", "rshift": ">>", "and": "&",
    "xor": "^", "or": "|",
}  # fmt: skip
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_UNARY = {"neg": "-", "pos": "+", "abs": "abs", "invert": "~"}
_NUMBERS = ("int", "float", "complex")

for _name, _symbol in _BINARY.items():
    for _prefix in ("", "r", "i"):
        _method = f"__{_prefix}{_name}__"
        setattr(NoNumber, _method, _refuse_operator(_symbol, _method))
for _name, _symbol in {**_COMPARISONS, **_UNARY}.items():
    setattr(NoNumber, f"__{_name}__", _refuse_operator(_symbol, f"__{_name}__"))
for _name in _NUMBERS:
    setattr(NoNumber, f"__{_name}__", _refuse_conversion(_name))


class DeviceArray(NoNumber, arrays.DeviceArray):
    """An n-dimensional array in a device's memory, shaped like a NumPy array.

    Indexing with integers, slices, None and ... returns views of the same memory; an integer for
    every axis returns a view without axes. `array[...] = value` writes to it with NumPy's rules for
    shapes and types. `strides` are in bytes. `address` is the device address of the first element.

    Memory is freed with the last array over it, by `free()`, or at the end of a block `with
    amdjit.zeros(n) as array:`.
    """

    __slots__ = ()

    def __setitem__(self, key: object, value: Any) -> None:
        self[key].assign(value)

    def assign(self, value: Any, stream: Stream | None = None) -> None:
        """Write a number or an array of any library to all elements: `array[...] = value`.

        As NumPy's assignment does, this broadcasts the value to the array's shape and converts it
        to the array's type, floats to integers too; overlapping arrays are copied as if the source
        had been copied first. The result for a float that the integer type cannot hold is
        arbitrary, and may differ from NumPy's. ValueError if the shapes do not fit, and for a
        read-only array.
        """
        self._check_writable()
        if isinstance(value, arrays.DeviceArray):
            copy_array(self, value, stream)
            return
        if is_foreign(value):
            self._assign_foreign(value, stream)
            return
        refuse_masked(value, "the value")
        is_element = self.dtype.names is not None and isinstance(value, tuple)
        if is_element or np.ndim(value) == 0:
            self.fill(value, stream)
            return
        self._assign_host(value, stream)

    def _assign_foreign(self, value: object, stream: Stream | None) -> None:
        try:
            with borrowed(value, self.device, stream) as source:
                copy_array(self, source, stream)
        except BufferError as error:
            raise BufferError(f"the value {error}") from None

    def _on_host(self, source: object) -> ArrayLike:
        if located(source, self.device) != (CPU, 0):
            raise TypeError(
                "copy_from_host takes arrays of the host, and the source is on a GPU: write "
                "`array[...] = source`"
            )
        return host_array(source)

    def _assign_host(self, value: ArrayLike, stream: Stream | None) -> None:
        shape = np.shape(value)
        if isinstance(value, np.ndarray) and (value.dtype, value.shape) == (self.dtype, self.shape):
            self.copy_from_host(value, stream)
            return
        # NumPy knows the rules for each pair of types.
        host = np.empty(shape, self.dtype)
        host[...] = value
        if shape == self.shape and self.is_contiguous:
            self.copy_from_host(host, stream)
        else:
            copy_array(self, arrays.to_device(self.device, host, stream), stream)

    def fill(self, value: Any, stream: Stream | None = None) -> None:
        """Write one value to all elements, on the device and in the order of the stream.

        The value is converted as NumPy does in `array[...] = value`."""
        self._check_writable()
        pattern = element_bytes(value, self.dtype)
        handle = handle_of(stream, self.device)
        keep_for_graph(handle, self)
        if self.size == 0:  # An empty view may lie outside the memory.
            return
        if self.is_contiguous or self.is_in_fortran_order:
            self.device.fill(self.address, pattern, self.size, handle)
            return
        self.device.fill(self.address, pattern, 1, handle)
        spread_first(self, stream)

    def copy_from_host(self, source: ArrayLike, stream: Stream | None = None) -> None:
        """Copy a host array of the same shape and type into this one.

        Returns when the source may change. With a stream and a source in pinned memory
        (`amdjit.pinned_empty`), both contiguous, it returns at once, and the source must stay as it
        is until the stream has done its work.
        """
        if is_foreign(source):
            source = self._on_host(source)
        if self.is_contiguous or self.is_in_fortran_order or self.size == 0:
            super().copy_from_host(source, stream)
            return
        copy = arrays.empty(self.device, self.shape, self.dtype)
        copy.copy_from_host(source, stream)
        copy_array(self, copy, stream)

    def copy(self, stream: Stream | None = None) -> DeviceArray:
        """Return a new C-contiguous array of the same elements."""
        result = over(arrays.empty(self.device, self.shape, self.dtype))
        copy_array(result, self, stream)
        return result

    def astype(
        self, dtype: DTypeLike, copy: bool = True, stream: Stream | None = None
    ) -> DeviceArray:
        """Return a new C-contiguous array of another type, converted as NumPy does.

        copy=False: this array itself if it has the type. Floats outside of an integer type's range
        become arbitrary numbers. Types that kernels cannot convert as NumPy does (fp8, complex,
        records) go through the host.
        """
        kind = element_type(dtype)
        if kind == self.dtype:
            return self.copy(stream) if copy else self
        result = over(arrays.empty(self.device, self.shape, kind))
        copy_array(result, converted(self, kind, stream), stream)
        return result

    def view(self, dtype: DTypeLike) -> DeviceArray:
        """Return a view of the same bytes as another type.

        If the item sizes differ, the last axis must be contiguous and is made longer or shorter, as
        in NumPy; ValueError if that is not possible."""
        kind, shape, strides = viewed_as(self, element_type(dtype))
        return type(self)(self.device, self.address, shape, kind, strides, self._owner)

    def ravel(self) -> DeviceArray:
        """Return the elements in C order along one axis: a view if they are contiguous, else a
        copy."""
        return (self if self.is_contiguous else self.copy()).reshape(-1)

    def free(self) -> None:
        """Free the memory of this array and of all views of it now, after the work that uses it.

        Any later use of one of them is a LaunchError. LaunchError if the memory is freed already,
        is another library's, or another library uses it.
        """
        if not isinstance(self._owner, Memory):
            raise LaunchError(
                "this array's memory is another library's: drop the array, and let that library "
                "free it"
            )
        self._owner.free()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        if isinstance(self._owner, Memory) and not self._owner.is_freed:
            self.free()

    def __copy__(self) -> DeviceArray:
        return self.copy()

    def __deepcopy__(self, memo: object) -> DeviceArray:
        return self.copy()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a DeviceArray does not leave its process: pickle array.copy_to_host(), and call "
            "amdjit.to_device there"
        )


def over(array: arrays.DeviceArray) -> DeviceArray:
    """Return a user's array over the memory of a `runtime.arrays.DeviceArray`."""
    if isinstance(array, DeviceArray):
        return array
    return DeviceArray(
        array.device, array.address, array.shape, array.dtype, array.strides, array._owner
    )
