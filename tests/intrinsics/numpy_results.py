"""Functions of NumPy and Python in kernels: their results for given numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import amdjit

FLOATS = (np.float16, np.float32, np.float64)


def results(
    function: Callable[..., Any], dtype: Any, *arguments: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Return what a function of one or two numbers gives in a kernel."""

    def of_one(x, out):
        i = amdjit.grid(1)
        if i < x.size:
            out[i] = function(x[i])

    def of_two(x, y, out):
        i = amdjit.grid(1)
        if i < x.size:
            out[i] = function(x[i], y[i])

    out = np.zeros(arguments[0].size, dtype)
    amdjit.kernel(of_one if len(arguments) == 1 else of_two)[-(-out.size // 64), 64](
        *arguments, out
    )
    return out


def quiet(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what the host gives, without its warnings."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)
