"""Numba's `vectorize` and `reduce`."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from amdjit.algorithms.reduction import reduce as reduced
from amdjit.algorithms.vectorize import Vectorized
from amdjit.language.call_signatures import CallSignature
from amdjit.language.pickling import PickledByName
from amdjit.launching import explicit_signatures
from amdjit.numba_cuda.arrays import numba_array
from amdjit.numba_cuda.signatures import (
    UnrecognizedOptionError,
    chosen,
    dtype_of,
    has_records,
    kernel_options,
    listed,
    on_device,
    python_function,
    unknown_options,
)
from amdjit.numba_cuda.streams import stream_of
from amdjit.runtime.arrays import DeviceArray
from amdjit.types import Type

__all__ = ["Reduce", "VectorizedFunction", "reduce", "vectorize"]


class VectorizedFunction(PickledByName):
    """A function of numbers that takes arrays, computed in the types of its signatures.

    Without signatures it is computed in the types of the arguments.
    """

    def __init__(self, function: Any, signatures: Sequence[CallSignature], options: Any) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.max_blocksize = 1024
        self._given = signatures, options
        self._signatures = [each.args for each in signatures]
        made = [_typed(function, each) for each in signatures]
        self._vectorized = [_vectorized(each, options) for each in made or [function]]

    def __call__(self, *inputs: Any, out: Any = None, stream: Any = 0) -> Any:
        """Compute the function for all elements. `out` may also be the last positional argument."""
        names = self._signatures[0] if self._signatures else None
        if names is not None and out is None and len(inputs) == len(names) + 1:
            *inputs, out = inputs  # type: ignore[assignment]
        number = 0
        inputs, out = tuple(map(on_device, inputs)), on_device(out)
        if self._signatures:
            number = chosen(self.__name__, self._signatures, [dtype_of(x) for x in inputs])
        result = self._vectorized[number](*inputs, out=out, stream=stream_of(stream))
        return numba_array(result) if isinstance(result, DeviceArray) else result

    @property
    def function(self) -> Any:
        """The Python function."""
        return self.py_func

    def pickled_parts(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return what makes this function in a process that does not find it by its name."""
        return VectorizedFunction, (self.py_func, *self._given)

    def reduce(self, array: Any, stream: Any = 0) -> Any:
        """Combine all elements with the function of two numbers."""
        return reduced(self.py_func, array, stream=stream_of(stream))

    __name__: str


def _typed(function: Any, signature: CallSignature) -> Any:
    """Return a function that converts its arguments as a signature says. Records and dates are not
    converted."""
    if has_records(signature):
        return function
    return explicit_signatures.device_function_of(function, {}, [signature])


def _vectorized(function: Any, options: Any) -> Vectorized:
    return Vectorized(function, {"typing": "numba", **options})


def vectorize(
    signatures: Any = None, identity: Any = None, target: str = "cuda", **options: Any
) -> Any:
    """Turn a function of numbers into one of arrays: `@vectorize(["float32(float32,
    float32)"])`."""
    if options.get("nopython"):
        redundant = "nopython kwarg for cuda target is redundant"
        warnings.warn(redundant, RuntimeWarning, stacklevel=2)
    options = kernel_options(options)
    if unknown := unknown_options(options):
        raise UnrecognizedOptionError(f"Unrecognized options. Got: {unknown}")
    if callable(signatures) and not isinstance(signatures, (Type, CallSignature)):
        return VectorizedFunction(python_function(signatures), [], options)
    given = [] if signatures is None else listed(signatures)
    return lambda function: VectorizedFunction(python_function(function), given, options)


class Reduce:
    """A reduction with a function of two numbers: `Reduce(f)(array, size, res, init, stream)`."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        functools.update_wrapper(self, function)
        self._function: Any = python_function(function)

    def __call__(
        self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: Any = 0
    ) -> Any:
        """Combine the elements of an array of one axis, beginning with `init`.

        size: how many elements. res: a device array whose first element gets the result; without
        it, the result is returned.
        """
        if arr.ndim != 1:
            raise TypeError("only support 1D array")
        if size is not None and size > arr.size:
            raise ValueError(f"size={size}: the array has {arr.size} elements")
        source = arr if size is None else arr[:size]
        if source.size == 0:
            value: Any = init
        else:
            first = np.asarray(init).astype(source.dtype)[()]
            value = reduced(self._function, source, init=first, stream=stream_of(stream))
            value = value.copy_to_host()[()] if isinstance(value, DeviceArray) else value
        if res is None:
            return value
        res[:1] = np.asarray(value, res.dtype)
        return None


reduce = Reduce
