"""Numba's `cuda.atomic`.

As in Numba, the value is converted to the array's type, and `max` and `min` do not change an
element that is NaN and ignore a value that is NaN.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from amdjit.declarations import DeviceFunction, device_function
from amdjit.intrinsics import atomic
from amdjit.numba_cuda.functions.halves import made


def _in_type_of_array(operation: DeviceFunction) -> Callable[..., Any]:
    def function(array, index, value):
        return operation(array, index, array.dtype(value))

    return function


_OF_NUMBERS = {
    "nanmax": (atomic.max, "greater"),
    "nanmin": (atomic.min, "lesser"),
}
_MADE = {
    **{
        name: made(__name__, name, _in_type_of_array(same), inspect.getdoc(same.function) or "")
        for name in ("add", "sub", "and_", "or_", "xor", "inc", "dec", "exch")
        for same in (getattr(atomic, name),)
    },
    **{
        name: made(
            __name__,
            name,
            _in_type_of_array(operation),
            f"Write the {word} of the element and the value, or the one that is not NaN; return "
            "the old\nvalue.",
        )
        for name, (operation, word) in _OF_NUMBERS.items()
    },
}


@device_function
def cas(array, index, old, value):
    """Write the value if the element equals `old`; return the old value."""
    return atomic.cas(array, index, array.dtype(old), array.dtype(value))


@device_function
def compare_and_swap(array, old, value):
    """Write the value to the first element if it equals `old`; return the old value."""
    return cas(array, 0, old, value)


@device_function
def _replaced(array, index, value, is_greater):
    """Write a float that is beyond the element, in a compare-and-swap loop; return the old
    value."""
    old = atomic.load(array, index)
    pending = True
    while pending:
        pending = value > old if is_greater else value < old
        if pending:
            found = atomic.cas(array, index, old, value)
            pending = found != old
            old = found if pending else old
    return old


def _beyond(compute: DeviceFunction, is_greater: bool) -> Callable[..., Any]:
    def function(array, index, value):
        if isinstance(array.dtype(0), float):
            return _replaced(array, index, array.dtype(value), is_greater)
        return compute(array, index, value)

    return function


_MADE |= {
    name.removeprefix("nan"): made(
        __name__,
        name.removeprefix("nan"),
        _beyond(_MADE[name], word == "greater"),
        f"Write the {word} of the element and the value; return the old value.",
    )
    for name, (_, word) in _OF_NUMBERS.items()
}
globals().update(_MADE)

__all__ = sorted([*_MADE, "cas", "compare_and_swap"])
