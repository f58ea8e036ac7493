"""Numba's `cuda.atomic`.

As with Numba, the value is converted to the array's type, and `max` and `min` leave an element
that is NaN as it is and ignore a value that is NaN.
"""

from __future__ import annotations

from amdjit.declarations import device_function
from amdjit.intrinsics import atomic

__all__ = [
    "add",
    "and_",
    "cas",
    "compare_and_swap",
    "dec",
    "exch",
    "inc",
    "max",
    "min",
    "nanmax",
    "nanmin",
    "or_",
    "sub",
    "xor",
]


@device_function
def add(array, index, value):
    """Add to an element; return the old value."""
    return atomic.add(array, index, array.dtype(value))


@device_function
def sub(array, index, value):
    """Subtract from an element; return the old value."""
    return atomic.sub(array, index, array.dtype(value))


@device_function
def and_(array, index, value):
    """Clear the element's bits that are 0 in the value; return the old value."""
    return atomic.and_(array, index, array.dtype(value))


@device_function
def or_(array, index, value):
    """Set the element's bits that are 1 in the value; return the old value."""
    return atomic.or_(array, index, array.dtype(value))


@device_function
def xor(array, index, value):
    """Flip the element's bits that are 1 in the value; return the old value."""
    return atomic.xor(array, index, array.dtype(value))


@device_function
def inc(array, index, value):
    """Add 1, or write 0 if the element is at or above the value; return the old value."""
    return atomic.inc(array, index, array.dtype(value))


@device_function
def dec(array, index, value):
    """Subtract 1, or write the value if the element is 0 or above it; return the old value."""
    return atomic.dec(array, index, array.dtype(value))


@device_function
def exch(array, index, value):
    """Write the value; return the old one."""
    return atomic.exch(array, index, array.dtype(value))


@device_function
def cas(array, index, old, value):
    """Write the value if the element equals `old`; return the old value."""
    return atomic.cas(array, index, array.dtype(old), array.dtype(value))


@device_function
def compare_and_swap(array, old, value):
    """Write the value to the first element if it equals `old`; return the old value."""
    return cas(array, 0, old, value)


@device_function
def nanmax(array, index, value):
    """Write the greater of the element and the value, or the one that is not NaN; return the old
    value."""
    return atomic.max(array, index, array.dtype(value))


@device_function
def nanmin(array, index, value):
    """Write the lesser of the element and the value, or the one that is not NaN; return the old
    value."""
    return atomic.min(array, index, array.dtype(value))


@device_function
def _replaced(array, index, value, is_greater):
    """Write a float that is beyond the element, in a loop of compare-and-swap; return the old
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


@device_function
def max(array, index, value):
    """Write the greater of the element and the value; return the old value."""
    if isinstance(array.dtype(0), float):
        return _replaced(array, index, array.dtype(value), True)
    return nanmax(array, index, value)


@device_function
def min(array, index, value):
    """Write the lesser of the element and the value; return the old value."""
    if isinstance(array.dtype(0), float):
        return _replaced(array, index, array.dtype(value), False)
    return nanmin(array, index, value)
