"""Sums, extremes and tests of all elements of an array: `a.sum()`, `np.argmin(a)`, `x in a`.

Each lane that executes the call reads the array from its first element to its last. Types are
NumPy's: sums and products of integers and booleans are i64, or u64 for unsigned integers, and means
of integers f64. Sums of f16, bf16 and fp8 are computed in f32 and rounded once. Positions have the
type of the array's extents.
"""

from __future__ import annotations

import math
from typing import Any

from amdjit.declarations import device_function
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import Array, Layout, Record, Scalar, Vector, boolean, f32, f64, i32, i64, u64

__all__ = [
    "all_true",
    "any_true",
    "argmax",
    "argmin",
    "checked",
    "contains",
    "count_nonzero",
    "folded",
    "greatest",
    "least",
    "mean",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nansum",
    "ordered",
    "peak_to_peak",
    "product",
    "python_all",
    "python_any",
    "python_max",
    "python_min",
    "python_sum",
    "std",
    "total",
    "var",
]


_AXIS = "reduce one row after another: `for row in a: row.sum()`, or write the loop"


@compile_time
def checked(compilation: Compilation, a: Any, name: str, axis: Any = None) -> bool:
    """Refuse what has no elements to reduce; the caller returns nothing then."""
    if not isinstance(a, Array):
        remedy = f"pass an array; for single numbers and tuples use Python's `{name}`"
        raise Refused(f"`np.{name}` of something that is not an array", remedy)
    if isinstance(a.element, Vector):
        raise Refused(f"`{name}` of an array of vectors", "write a loop over the elements")
    if isinstance(a.element, Record) and not a.element.title:
        raise Refused(f"`{name}` of an array of records", 'take one field: `a["x"]`')
    if axis is not None:
        raise Refused(f"a kernel has no `{name}` along an axis", _AXIS)
    return True


@compile_time
def ordered(compilation: Compilation, a: Any, name: str, axis: Any = None) -> bool:
    """Refuse the extremes of complex numbers, and of an array that is known to be empty."""
    checked.function(compilation, a, name, axis)
    if not isinstance(a.element, Scalar) or a.element.storage_only:
        raise Refused(f"`{name}` of {a.element} numbers", "convert them in a loop, and compare f32")
    if a.shape is not None and 0 in a.shape:
        raise Refused(f"`{name}` of an array without elements", "test its size first")
    return True


@compile_time
def _is_one_run(compilation: Compilation, a: Array) -> bool:
    return a.ndim == 1 or a.layout is Layout.CONTIGUOUS


@compile_time
def _zeros(compilation: Compilation, a: Array) -> tuple[int, ...]:
    return (0,) * a.ndim


@compile_time
def _sum_type(compilation: Compilation, a: Array, dtype: Any = None) -> Any:
    """Return the type that a sum is computed in."""
    if dtype is not None:
        return dtype
    element = a.element
    if isinstance(element, Record):
        return element
    assert isinstance(element, Scalar)
    if element is boolean or element.is_integer:
        return u64 if element.is_integer and not element.is_signed else i64
    return f32 if element.bits < f32.bits else element


@compile_time
def _result_type(compilation: Compilation, a: Array, dtype: Any = None) -> Any:
    """Return the type of a sum."""
    element = a.element
    if dtype is None and isinstance(element, Scalar) and element.is_float:
        return element
    return _sum_type.function(compilation, a, dtype)


@compile_time
def _mean_type(compilation: Compilation, a: Array, dtype: Any = None) -> Any:
    """Return the type that a mean is computed in: f64 for integers."""
    element = a.element
    if dtype is None and isinstance(element, Scalar) and not element.is_float:
        return f64
    return _sum_type.function(compilation, a, dtype)


@compile_time
def _mean_result(compilation: Compilation, a: Array, dtype: Any = None) -> Any:
    element = a.element
    if dtype is None and isinstance(element, Scalar) and element.is_float:
        return element
    return _mean_type.function(compilation, a, dtype)


@device_function
def folded(a, step, value):
    """Return the last of `value = step(value, x)` for each element x, in order."""
    if _is_one_run(a):
        for x in a.flat:
            value = step(value, x)
    elif a.ndim == 2:
        for row in a:
            for x in row:
                value = step(value, x)
    elif a.ndim == 3:
        value = _folded_planes(a, step, value)
    else:
        for x in a.flat:
            value = step(value, x)
    return value


@device_function
def _folded_planes(a, step, value):
    for plane in a:
        for row in plane:
            for x in row:
                value = step(value, x)
    return value


@device_function
def _some(a, test):
    """Return whether an element passes a test; where it is quick, read no more than needed."""
    if _is_one_run(a):
        for x in a.flat:  # noqa: SIM110 (kernels have no generators over arrays)
            if test(x):
                return True
        return False
    return folded(a, lambda value, x: value | test(x), False)


@device_function
def total(a, axis=None, dtype=None):
    """Return the sum of all elements; 0 if there are none."""
    if not checked(a, "sum", axis):
        return None
    kind = _sum_type(a, dtype)
    result = folded(a, lambda value, x: value + kind(x), kind(0))
    return _result_type(a, dtype)(result)


@device_function
def product(a, axis=None, dtype=None):
    """Return the product of all elements; 1 if there are none."""
    if not checked(a, "prod", axis):
        return None
    kind = _sum_type(a, dtype)
    result = folded(a, lambda value, x: value * kind(x), kind(1))
    return _result_type(a, dtype)(result)


@device_function
def _sum_of(a, kind):
    return folded(a, lambda value, x: value + kind(x), kind(0))


@device_function
def mean(a, axis=None, dtype=None):
    """Return the sum of all elements divided by their number; NaN if there are none."""
    if not checked(a, "mean", axis):
        return None
    kind = _mean_type(a, dtype)
    return _mean_result(a, dtype)(_sum_of(a, kind) / kind(a.size))


@device_function
def _variance(a, ddof, kind):
    middle = _sum_of(a, kind) / kind(a.size)
    squares = folded(a, lambda value, x: value + (kind(x) - middle) * (kind(x) - middle), kind(0))
    return squares / kind(max(a.size - ddof, 0))


@device_function
def var(a, axis=None, dtype=None, ddof=0):
    """Return the mean of the squared distances from the mean."""
    if not checked(a, "var", axis) or not _real(a, "var"):
        return None
    return _mean_result(a, dtype)(_variance(a, ddof, _mean_type(a, dtype)))


@device_function
def std(a, axis=None, dtype=None, ddof=0):
    """Return the square root of the variance."""
    if not checked(a, "std", axis) or not _real(a, "std"):
        return None
    return _mean_result(a, dtype)(math.sqrt(_variance(a, ddof, _mean_type(a, dtype))))


@compile_time
def _real(compilation: Compilation, a: Array, name: str) -> bool:
    if isinstance(a.element, Record):
        raise Refused(f"`{name}` of complex numbers", "write a loop over the elements")
    return True


@device_function
def least(a, axis=None):
    """Return the least element, NaN if one is NaN."""
    if not ordered(a, "min", axis):
        return None
    if a.size == 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    return folded(a, lambda value, x: min(value, x), a[_zeros(a)])


@device_function
def greatest(a, axis=None):
    """Return the greatest element, NaN if one is NaN."""
    if not ordered(a, "max", axis):
        return None
    if a.size == 0:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    return folded(a, lambda value, x: max(value, x), a[_zeros(a)])


@device_function
def peak_to_peak(a, axis=None):
    """Return the difference of the greatest and the least element."""
    return greatest(a, axis) - least(a, axis)


@device_function
def argmin(a, axis=None):
    """Return the position of the first least element in C order, of the first NaN if there is
    one."""
    if not ordered(a, "argmin", axis):
        return None
    if a.size == 0:
        raise ValueError("attempt to get argmin of an empty sequence")
    return _position(a, lambda x, best: x < best)


@device_function
def argmax(a, axis=None):
    """Return the position of the first greatest element in C order, of the first NaN if there is
    one."""
    if not ordered(a, "argmax", axis):
        return None
    if a.size == 0:
        raise ValueError("attempt to get argmax of an empty sequence")
    return _position(a, lambda x, best: x > best)


@device_function
def _position(a, is_better):
    best, place = a[_zeros(a)], type(a.size)(0) if a.ndim and _unknown(a) else 0
    for i, x in enumerate(a.flat):
        if is_better(x, best) or (x != x and best == best):
            best, place = x, i
    return place


@compile_time
def _unknown(compilation: Compilation, a: Array) -> bool:
    return a.shape is None


@device_function
def all_true(a, axis=None):
    """Return whether no element is 0; True if there are none."""
    if not checked(a, "all", axis):
        return None
    return not _some(a, lambda x: not x)


@device_function
def any_true(a, axis=None):
    """Return whether an element is not 0; NaN is not."""
    if not checked(a, "any", axis):
        return None
    return _some(a, lambda x: bool(x))


@device_function
def count_nonzero(a, axis=None):
    """Return how many elements are not 0."""
    if not checked(a, "count_nonzero", axis):
        return None
    return folded(a, lambda value, x: value + i32(bool(x)), _zero_count(a)(0))


@compile_time
def _zero_count(compilation: Compilation, a: Array) -> Any:
    return a.index_type


@device_function
def contains(a, item):
    """Return whether an element equals the item."""
    if not checked(a, "in"):
        return None
    return _some(a, lambda x: x == item)


@device_function
def nansum(a, axis=None, dtype=None):
    """Return the sum of all elements but NaNs."""
    if not checked(a, "nansum", axis):
        return None
    kind = _sum_type(a, dtype)
    result = folded(a, lambda value, x: value + (kind(x) if x == x else kind(0)), kind(0))
    return _result_type(a, dtype)(result)


@device_function
def nanprod(a, axis=None, dtype=None):
    """Return the product of all elements but NaNs."""
    if not checked(a, "nanprod", axis):
        return None
    kind = _sum_type(a, dtype)
    result = folded(a, lambda value, x: value * (kind(x) if x == x else kind(1)), kind(1))
    return _result_type(a, dtype)(result)


@device_function
def nanmean(a, axis=None, dtype=None):
    """Return the mean of all elements but NaNs; NaN if there are none."""
    if not checked(a, "nanmean", axis):
        return None
    kind = _mean_type(a, dtype)
    sum_of = folded(a, lambda value, x: value + (kind(x) if x == x else kind(0)), kind(0))
    number = folded(a, lambda value, x: value + i32(x == x), _zero_count(a)(0))
    return _mean_result(a, dtype)(sum_of / kind(number))


@device_function
def nanmin(a, axis=None):
    """Return the least element that is not NaN; NaN if all are."""
    if not ordered(a, "nanmin", axis):
        return None
    if a.size == 0:
        raise ValueError("zero-size array to reduction operation fmin which has no identity")
    return folded(a, lambda value, x: x if x < value or value != value else value, a[_zeros(a)])


@device_function
def nanmax(a, axis=None):
    """Return the greatest element that is not NaN; NaN if all are."""
    if not ordered(a, "nanmax", axis):
        return None
    if a.size == 0:
        raise ValueError("zero-size array to reduction operation fmax which has no identity")
    return folded(a, lambda value, x: x if x > value or value != value else value, a[_zeros(a)])


# Python's own `sum`, `min`, `max`, `any` and `all` of an array's elements.


@compile_time
def _one_axis(compilation: Compilation, a: Array, name: str, numpys: str) -> bool:
    """Refuse Python's functions of matrices, whose items are rows."""
    if a.ndim > 1:
        raise Refused(f"Python's `{name}` of a matrix", f"use `a.{numpys}()` for all its elements")
    return True


@compile_time
def _python_zero(compilation: Compilation, a: Array) -> Any:
    """Return the type of `0 + a[0]`."""
    if isinstance(a.element, Record):
        return a.element
    return i32 if a.element is boolean else a.element


@device_function
def python_sum(a, start=0):
    """Return Python's sum of the elements, in their own type."""
    if not checked(a, "sum") or not _one_axis(a, "sum", "sum"):
        return None
    kind = _python_zero(a)
    return folded(a, lambda value, x: value + kind(x), start + kind(0))


@device_function
def python_min(a):
    """Return the least element, NaN if one is NaN."""
    if not ordered(a, "min") or not _one_axis(a, "min", "min"):
        return None
    if a.size == 0:
        raise ValueError("min() arg is an empty sequence")
    return folded(a, lambda value, x: min(value, x), a[0])


@device_function
def python_max(a):
    """Return the greatest element, NaN if one is NaN."""
    if not ordered(a, "max") or not _one_axis(a, "max", "max"):
        return None
    if a.size == 0:
        raise ValueError("max() arg is an empty sequence")
    return folded(a, lambda value, x: max(value, x), a[0])


@device_function
def python_any(a):
    """Return whether an element is not 0."""
    if not checked(a, "any") or not _one_axis(a, "any", "any"):
        return None
    return any_true(a)


@device_function
def python_all(a):
    """Return whether no element is 0."""
    if not checked(a, "all") or not _one_axis(a, "all", "all"):
        return None
    return all_true(a)
