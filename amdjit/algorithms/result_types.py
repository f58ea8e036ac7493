"""The types of a function's results for given types of its arguments, from the front end alone."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from amdjit import backend
from amdjit.algorithms.elements import dtype_of
from amdjit.algorithms.kernels.elementwise import result_probe
from amdjit.compiled_kernel import Argument
from amdjit.forking import Lock
from amdjit.frontend import CompileTime, Dependency, type_kernel
from amdjit.intrinsics.python_builtins import PYTHON_FUNCTIONS
from amdjit.language.compile_time import Compilation
from amdjit.launching.kernel_options import KernelOptions, checked_options
from amdjit.options import read_environment
from amdjit.target import Target
from amdjit.types import Array, Known, Tuple, Type

__all__ = ["ResultTypes", "Results"]

_MOST_REMEMBERED = 256


class Results:
    """The NumPy types of a function's results. several: whether it returns a tuple."""

    def __init__(self) -> None:
        self._found: dict[int | None, tuple[Any, bool]] = {}

    def take(self, place: int | None, is_complex: bool, value: Any) -> None:
        """Learn the type of a result, or its value; the front end may type a function again."""
        self._found[place] = value, is_complex

    @property
    def several(self) -> bool:
        """Whether the function returns a tuple."""
        return None not in self._found

    def dtypes(self, name: str) -> tuple[np.dtype[Any], ...]:
        """Return the types in order. TypeError if a result is nothing that an array can hold."""
        if not self._found:
            raise TypeError(f"{name} returns an empty tuple: return a number for each output")
        types = []
        for value, is_complex in self._found.values():
            dtype = dtype_of(value, is_complex)
            if dtype is None:
                what = "nothing" if value is None else f"{value}, which no array can hold"
                raise TypeError(f"{name} returns {what}: return a number, or a tuple of numbers")
            types.append(dtype)
        return tuple(types)


class ResultTypes:
    """The results of functions, as kernels with these options compute them."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._lock = Lock()
        self._known: OrderedDict[Any, tuple[Results, tuple[Dependency, ...]]] = OrderedDict()

    def of(
        self, function: Callable[..., Any], arguments: tuple[Argument, ...], target: Target
    ) -> Results:
        """Return the results of a function; an array stands for one of its elements.

        CompileError for what is wrong in the function.
        """
        key = function, arguments, target
        with self._lock:
            known = self._known.get(key)
            if known is None or not all(read.is_current() for read in known[1]):
                known = self._typed(function, arguments, target)
                self._known[key] = known
                while len(self._known) > _MOST_REMEMBERED:
                    self._known.popitem(last=False)
            return known[0]

    def _typed(
        self, function: Callable[..., Any], arguments: tuple[Argument, ...], target: Target
    ) -> tuple[Results, tuple[Dependency, ...]]:
        environment = read_environment(os.environ)
        options = KernelOptions(checked_options(self._options), environment).complete(target)
        compilation = Compilation(options, backend.find_ocml(environment))
        results = Results()
        are_arrays = tuple(isinstance(kind, Array) for kind in arguments)
        typed = type_kernel(
            result_probe,
            (
                CompileTime(function),
                CompileTime(results),
                CompileTime(are_arrays),
                Tuple(tuple(map(_item, arguments)), None),
            ),
            compilation,
            PYTHON_FUNCTIONS,
        )
        return results, typed.reads


def _item(argument: Argument) -> Type:
    """Return an argument as an item of the tuple of all arguments."""
    return Known(argument.value) if isinstance(argument, CompileTime) else argument
