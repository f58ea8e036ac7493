"""Functions of numbers as functions of arrays: `@amdjit.vectorize`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from amdjit.algorithms.elements import array_type
from amdjit.algorithms.kernels.elementwise import BLOCK, elementwise
from amdjit.algorithms.outputs import check_output, copy_elements, shares_memory
from amdjit.algorithms.placement import Placement, placement
from amdjit.algorithms.result_types import ResultTypes
from amdjit.algorithms.views import (
    broadcast_strides,
    broadcasts_to,
    index_type,
    merged_axes,
    strided,
)
from amdjit.api import Kernel
from amdjit.compiled_kernel import Argument
from amdjit.declarations import DeviceFunction, Intrinsic
from amdjit.language.pickling import PickledByName
from amdjit.launching.argument_types import argument_types
from amdjit.launching.record_arguments import assembled, leaves_of
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.streams import Stream
from amdjit.runtime.strides import Shape

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from amdjit.launching.kernel_options import GivenOptions

__all__ = ["Vectorized", "vectorize"]


class Vectorized(PickledByName):
    """A function of numbers that takes arrays: `f(x, y, out=None, stream=None)`.

    The arguments are NumPy arrays, DeviceArrays and numbers, broadcast by NumPy's rules. The result
    is a new array of the type that the function returns, or a tuple of arrays if it returns a
    tuple: NumPy arrays, or DeviceArrays if an argument is one. `out` is an array to write to, or a
    tuple of one for each result.
    """

    __name__: str

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        python = function.function if isinstance(function, DeviceFunction) else function
        self.__name__ = type(python).__name__  # of an object that is called, such as a partial
        functools.update_wrapper(self, python)
        self.function = function
        self._options = {"block": BLOCK, **options}
        self._kernel = Kernel(elementwise, self._options)
        self._result_types = ResultTypes(self._options)
        self._arity = _arity(function)

    def __call__(self, *inputs: Any, out: Any = None, stream: Stream | None = None) -> Any:
        """Compute the function for all elements.

        ValueError for shapes that do not broadcast, TypeError for types that the function or `out`
        does not take, CompileError for what is wrong in the function.
        """
        self._check_count(inputs)
        outs = _as_tuple(out)
        with placement((*inputs, *outs), stream) as place:
            arguments = _arguments(inputs, place)
            kinds = tuple(_type(self.__name__, x) for x in arguments)
            found = self._result_types.of(self.function, kinds, place.device.target)
            dtypes = found.dtypes(self.__name__)
            shape = np.broadcast_shapes(*(x.shape for x in arguments if isinstance(x, DeviceArray)))
            if out is None:
                results = tuple(place.empty(shape, dtype) for dtype in dtypes)
                self._run(arguments, results, place)
                values = tuple(map(place.returned, results))
            else:
                self._check_outputs(outs, shape, dtypes)
                self._run_into(arguments, outs, dtypes, place)
                values = outs
        return values if found.several else values[0]

    def _check_count(self, inputs: Sequence[Any]) -> None:
        least, most = self._arity
        if not least <= len(inputs) <= most or not inputs:
            expected = f"{most}" if least == most else f"{least} to {most}"
            raise TypeError(f"{self.__name__} takes {expected} arrays, {len(inputs)} were given")

    def _check_outputs(
        self, outs: Sequence[Any], shape: Shape, dtypes: Sequence[np.dtype[Any]]
    ) -> None:
        if len(outs) != len(dtypes):
            raise TypeError(
                f"out: {self.__name__} has {len(dtypes)} results, {len(outs)} arrays were given"
            )
        for out, dtype in zip(outs, dtypes, strict=True):
            check_output(out, dtype)
            if out.shape != outs[0].shape or not broadcasts_to(shape, out.shape):
                raise ValueError(f"out has shape {out.shape}, the arguments broadcast to {shape}")

    def _run_into(
        self,
        arguments: Sequence[Any],
        outs: Sequence[Any],
        dtypes: Sequence[np.dtype[Any]],
        place: Placement,
    ) -> None:
        """Compute into the user's arrays, through others where that would change an argument."""
        inputs = [x for x in arguments if isinstance(x, DeviceArray)]
        results = []
        for out, dtype in zip(outs, dtypes, strict=True):
            others = [*inputs, *(each for each in outs if each is not out)]
            direct = isinstance(out, DeviceArray) and not any(
                shares_memory(out, other) for other in others
            )
            results.append(out if direct else place.empty(out.shape, dtype))
        self._run(arguments, results, place)
        for out, result in zip(outs, results, strict=True):
            if result is not out:
                copy_elements(result, out, place)

    def _run(
        self, arguments: Sequence[Any], results: Sequence[DeviceArray], place: Placement
    ) -> None:
        if results[0].size == 0:
            return
        arrays = [x for x in arguments if isinstance(x, DeviceArray)]
        spread = [*results, *arrays]
        strides = [broadcast_strides(x, results[0].shape) for x in spread]
        shape, strides = merged_axes(results[0].shape, strides)
        views = [strided(x, shape, s) for x, s in zip(spread, strides, strict=True)]
        outputs, rest = tuple(views[: len(results)]), iter(views[len(results) :])
        inputs = tuple(next(rest) if isinstance(x, DeviceArray) else x for x in arguments)
        are_arrays = tuple(isinstance(x, DeviceArray) for x in arguments)
        block = self._options["block"]
        groups = -(-outputs[0].size // block)
        index = index_type(views, groups * block)
        launch = self._kernel[groups, block, place.stream]
        launch(self.function, are_arrays, index, inputs, outputs)

    def pickled_parts(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return what makes this object in a process that does not find it by its name."""
        return Vectorized, (self.function, self._options)

    def __repr__(self) -> str:
        return f"<amdjit vectorized {self.__name__}>"


def _arity(function: Any) -> tuple[int, int]:
    """Return the least and the greatest number of arguments."""
    if isinstance(function, np.ufunc):
        return function.nin, function.nin
    if isinstance(function, Intrinsic):
        required = [p for p in function.parameters if not p.has_default]
        return len(required), len(function.parameters)
    python = function.function if isinstance(function, DeviceFunction) else function
    try:
        parameters = inspect.signature(python).parameters.values()
    except ValueError:
        raise TypeError(
            f"{function!r} does not say what it takes: call it in a function of your own, "
            "`lambda x: ...`"
        ) from None
    if any(p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters):
        raise TypeError("a vectorized function takes positional arguments only")
    least = sum(p.default is inspect.Parameter.empty for p in parameters)
    return least, len(parameters)


def _as_tuple(out: Any) -> tuple[Any, ...]:
    if out is None:
        return ()
    return out if isinstance(out, tuple) else (out,)


def _arguments(inputs: Sequence[Any], place: Placement) -> list[Any]:
    """Return arrays on the device and numbers as they are, except if there are numbers only."""
    numbers = [isinstance(x, (bool, int, float, complex, np.generic)) for x in inputs]
    if all(numbers):
        return [place.place(x, f"argument {i}") for i, x in enumerate(inputs)]
    return [
        x if is_number else place.place(x, f"argument {i}")
        for i, (x, is_number) in enumerate(zip(inputs, numbers, strict=True))
    ]


def _type(name: str, argument: Any) -> Argument:
    """Return the type of an argument for the front end: an array stands for its elements."""
    if isinstance(argument, DeviceArray):
        return array_type(argument.dtype)
    leaves = leaves_of(name, ["number"], [None], [argument])
    return assembled(leaves.shapes, argument_types(name, leaves, leaves.values))[0]


@overload
def vectorize(function: Callable[..., Any], /) -> Vectorized: ...
@overload
def vectorize(
    **options: Unpack[GivenOptions],
) -> Callable[[Callable[..., Any]], Vectorized]: ...
def vectorize(function: Any = None, /, **options: Any) -> Any:
    """Make a function of numbers one of arrays: `@vectorize`, or `@vectorize(fastmath=True, ...)`.

    It is compiled for the types of the arguments at the first call with them. The options are those
    of kernels; `block` is the number of work-items of a workgroup::

        @amdjit.vectorize
        def clipped(x, low, high):
            return min(max(x, low), high)

        clipped(np.arange(6.0), 1, [[3], [4]])
    """
    if function is None:
        return functools.partial(_vectorized, options=options)
    return _vectorized(function, options)


def _vectorized(function: Any, options: dict[str, Any]) -> Vectorized:
    if isinstance(function, (str, list, tuple)):
        raise TypeError(
            "vectorize takes no signatures: write @amdjit.vectorize, and annotate parameters and "
            "result, `def f(x: amdjit.f32) -> amdjit.f32`, to fix their types"
        )
    if not callable(function):
        raise TypeError(f"@amdjit.vectorize decorates a function, not {function!r}")
    if not isinstance(options.get("block", BLOCK), int):
        raise TypeError(f"block={options['block']!r}: give the number of work-items, such as 256")
    return Vectorized(function, options)
