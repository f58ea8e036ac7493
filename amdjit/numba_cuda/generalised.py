"""Numba's `guvectorize`: functions of arrays that run over additional axes before their own."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from amdjit.api import Kernel
from amdjit.arrays import creation
from amdjit.arrays.copying import copy_array
from amdjit.language.call_signatures import CallSignature
from amdjit.language.pickling import PickledByName
from amdjit.language.signature_texts import numba_name
from amdjit.launching.kernel_options import UnknownOptionError
from amdjit.numba_cuda.arrays import numba_array
from amdjit.numba_cuda.functions.generalising import generalised
from amdjit.numba_cuda.signatures import (
    chosen,
    dtype_of,
    dtype_of_type,
    kernel_options,
    listed,
    on_device,
    python_function,
    unknown_options,
)
from amdjit.numba_cuda.streams import stream_of
from amdjit.runtime.arrays import DeviceArray
from amdjit.types import VOID, Array

__all__ = ["GeneralisedFunction", "guvectorize"]

_BLOCK = 64

Axes = tuple[str, ...]


class GeneralisedFunction(PickledByName):
    """A function of arrays. One work-item calls it for each index of the axes before its own."""

    __name__: str

    def __init__(
        self, function: Any, signatures: Sequence[CallSignature], layout: str, options: Any
    ) -> None:
        functools.update_wrapper(self, function)
        for signature in signatures:
            if signature.return_type not in (None, VOID):
                raise TypeError(
                    "guvectorized functions cannot return values: signature "
                    f"{signature} specifies {numba_name(signature.return_type)} return type"
                )
        # Not `py_func`: kernels would call that, which knows no axes before its own.
        self.function = function
        self._given = signatures, layout, options
        self.signature = layout
        self.max_blocksize = 1024
        self._signatures = [each.args for each in signatures]
        self._inputs, self._outputs = _axes_of(layout)
        self._kernel = Kernel(generalised, {"typing": "numba", **options})

    def __call__(self, *given: Any, out: Any = None, stream: Any = 0) -> Any:
        """Compute the function; the results are new arrays, or those given after the inputs.

        If there is only one signature, and the arguments do not convert to it safely, NumPy's
        arrays and numbers are converted anyway.
        """
        count = len(self._inputs)
        given = self._all_given(given, out)
        inputs = [
            x if hasattr(x, "dtype") else np.asarray(x) for x in map(on_device, given[:count])
        ]
        dtypes = [dtype_of(x) for x in inputs]
        types = self._signatures[chosen(self.__name__, self._signatures, dtypes, casts=True)]
        extents, outer = self._extents(inputs)
        results = list(map(on_device, given[count:]))
        cores = self._cores(extents, outer, results)
        made = results or self._results(types, outer, cores, inputs)
        self._run(types, inputs, results=made, outer=outer, cores=cores, stream=stream_of(stream))
        if not results:
            made = [x[()] if isinstance(x, np.ndarray) else x for x in made]
        return made[0] if len(made) == 1 else tuple(made)

    def pickled_parts(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return what makes this function in a process that does not find it by its name."""
        return GeneralisedFunction, (self.function, *self._given)

    def _all_given(self, given: tuple[Any, ...], out: Any) -> tuple[Any, ...]:
        """Return the inputs and, if they are given, the arrays for results."""
        count, most = len(self._inputs), len(self._inputs) + len(self._outputs)
        if out is not None:
            if len(given) == most:
                raise ValueError("cannot specify argument 'out' as both positional and keyword")
            given = (*given, *(out if isinstance(out, tuple) else (out,)))
        if len(given) not in (count, most):
            s = "" if len(given) == 1 else "s"
            raise TypeError(
                f"gufunc accepts {count} positional arguments (when providing input only) or "
                f"{most} positional arguments (when providing input and output). "
                f"Got {len(given)} positional argument{s}."
            )
        return given

    def _extents(self, inputs: Sequence[Any]) -> tuple[dict[str, int], tuple[int, ...]]:
        """Return the extents of the function's own axes, and of those before them."""
        extents: dict[str, int] = {}
        outer: list[tuple[int, ...]] = []
        for array, axes in zip(inputs, self._inputs, strict=True):
            own = len(array.shape) - len(axes)
            if own < 0:
                raise ValueError(
                    f"{self.__name__}: an array of shape {array.shape} has fewer axes than "
                    f"({','.join(axes)})"
                )
            for axis, extent in zip(axes, array.shape[own:], strict=True):
                if extents.setdefault(axis, extent) != extent:
                    raise ValueError(
                        f"{self.__name__}: axis {axis} has {extents[axis]} and {extent} elements"
                    )
            outer.append(array.shape[:own])
        return extents, np.broadcast_shapes(*outer)

    def _cores(
        self, extents: dict[str, int], outer: tuple[int, ...], results: Sequence[Any]
    ) -> list[tuple[int, ...]]:
        """Return the shapes of the function's own results. The extents of axes that no input has
        come from the arrays that are given for results."""
        for result, axes in zip(results, self._outputs, strict=False):
            for axis, extent in zip(reversed(axes), reversed(result.shape), strict=False):
                extents.setdefault(axis, extent)
        unknown = sorted({axis for axes in self._outputs for axis in axes} - extents.keys())
        if unknown:
            raise ValueError(
                f"{self.__name__}: no input has the axis {unknown[0]}: give arrays for the results"
            )
        cores = [tuple(extents[axis] for axis in axes) for axes in self._outputs]
        for result, core in zip(results, cores, strict=False):
            if result.size != math.prod(outer) * math.prod(core):
                raise ValueError(
                    f"{self.__name__}: a result has the shape {(*outer, *core)}, and the array for "
                    f"it {tuple(result.shape)}"
                )
        return cores

    def _results(
        self,
        types: Any,
        outer: tuple[int, ...],
        cores: Sequence[tuple[int, ...]],
        inputs: Sequence[Any],
    ) -> list[Any]:
        is_on_device = any(isinstance(x, DeviceArray) for x in inputs)
        made: list[Any] = []
        for type, core in zip(types[len(self._inputs) :], cores, strict=True):
            shape, dtype = (*outer, *core), dtype_of_type(type)
            if is_on_device:
                made.append(numba_array(creation.empty(shape, dtype)))
            else:
                made.append(np.empty(shape, dtype))
        return made

    def _run(
        self,
        types: Any,
        inputs: Sequence[Any],
        results: Sequence[Any],
        outer: tuple[int, ...],
        cores: Sequence[tuple[int, ...]],
        stream: Any,
    ) -> None:
        size = math.prod(outer)
        if size == 0:
            return
        placed = [
            _placed(x, dtype_of_type(type), outer, len(axes), stream)
            for x, type, axes in zip(inputs, types, self._inputs, strict=False)
        ]
        outs = [
            r.reshape((size, *core))
            if isinstance(r, DeviceArray) and r.is_contiguous
            else creation.empty((size, *core), r.dtype)
            for r, core in zip(results, cores, strict=True)
        ]
        all_axes = (*self._inputs, *self._outputs)
        values = tuple(
            len(axes) > 0 or (number < len(inputs) and not isinstance(type, Array))
            for number, (type, axes) in enumerate(zip(types, all_axes, strict=True))
        )
        block = min(_BLOCK, self.max_blocksize)
        launch = self._kernel[-(-size // block), block, stream]
        launch(self.function, values, (*placed, *outs))
        for result, out in zip(results, outs, strict=True):
            if isinstance(result, DeviceArray):
                if not result.is_contiguous:
                    copy_array(result, out.reshape(result.shape), stream)
            else:
                result[...] = out.copy_to_host(stream=stream).reshape(result.shape)


def _placed(
    array: Any, dtype: np.dtype[Any], outer: tuple[int, ...], axes: int, stream: Any
) -> DeviceArray:
    """Return an input on the device with one axis before the function's own."""
    own = array.shape[len(array.shape) - axes :]
    if not isinstance(array, DeviceArray):
        host = np.broadcast_to(np.asarray(array, dtype), (*outer, *own))
        return creation.to_device(host.reshape(-1, *own), stream)
    if not np.can_cast(array.dtype, dtype, "safe"):
        raise TypeError(
            f"an array of {array.dtype} on the device for one of {dtype}, which it does not become "
            "safely, and a device array does not support .astype(): convert it by a kernel, or "
            "pass NumPy's array"
        )
    if array.dtype == dtype and array.is_contiguous and array.shape == (*outer, *own):
        return _flat(array, outer)
    spread = creation.empty((*outer, *own), dtype)
    copy_array(spread, array, stream)
    return _flat(spread, outer)


def _flat(array: DeviceArray, outer: tuple[int, ...]) -> DeviceArray:
    return array.reshape((math.prod(outer), *array.shape[len(outer) :]))


def _axes_of(layout: str) -> tuple[list[Axes], list[Axes]]:
    """Return the names of the axes of each input and output in `(m,n),(n)->(m)`."""
    found = []
    for side in layout.replace(" ", "").split("->"):
        groups = re.findall(r"\(([^()]*)\)", side)
        if ",".join(f"({group})" for group in groups) != side:
            break
        found.append([tuple(filter(None, group.split(","))) for group in groups])
    if len(found) != 2 or not found[1]:
        raise ValueError(f"{layout!r} is not a layout: write '(m,n),(n)->(m)'")
    return found[0], found[1]


def guvectorize(
    signatures: Any, layout: str, identity: Any = None, target: str = "cuda", **options: Any
) -> Any:
    """Turn a function of arrays into one that runs over additional axes before its own."""
    options = kernel_options(options)
    if unknown := unknown_options(options):
        raise UnknownOptionError(f"The following target options are not supported: {unknown}")
    given = listed(signatures)
    return lambda function: GeneralisedFunction(python_function(function), given, layout, options)
