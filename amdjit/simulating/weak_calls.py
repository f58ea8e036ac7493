"""Calls of numbers without a width: a function of the kernel language is called once more with
their 64-bit values, and its result has both."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from amdjit.declarations import Intrinsic
from amdjit.simulating.numbers import Number, WeakNumber, convert, wide
from amdjit.types import Scalar, TypeVariable, f32, f64, i32, i64

__all__ = ["in_both_widths", "of_floats", "of_library", "rounded_to_integer"]

Call = Callable[..., Any]


def in_both_widths(call: Call, intrinsic: Intrinsic | None = None) -> Call:
    """Return a function whose result has no width if all numbers that decide it have none.

    intrinsic: what is called, of which the parameters of the result's type decide; all arguments of
    other functions do.
    """
    names = _deciding_names(intrinsic)

    def called(*arguments: Any, **keywords: Any) -> Any:
        result = call(*arguments, **keywords)
        if result.__class__ is not Number or result.type not in (f32, i32):
            return result
        given: dict[Any, Any] = {**dict(enumerate(arguments)), **keywords}
        deciding = [
            key
            for key, each in given.items()
            if (names is None or key in names) and _decides(each, result.type)
        ]
        if not deciding or not all(_is_weak(given[key], result.type) for key in deciding):
            return result
        taken = given | {key: wide(given[key]) for key in deciding}
        named = {name: taken.pop(name) for name in keywords}
        try:
            return _with_exact(result, call(*taken.values(), **named))
        except TypeError:  # there is none for 64 bits
            return result

    return called


def of_library(function: types.FunctionType, call: Call) -> Call:
    """Return one of amdjit's own functions, whose parameters without annotations have a width.

    function: as it was written. call: the function as it is simulated.
    """
    if function.__annotations__:
        return in_both_widths(call)

    def called(*arguments: Any, **keywords: Any) -> Any:
        named = {name: _with_width(each) for name, each in keywords.items()}
        return call(*map(_with_width, arguments), **named)

    return in_both_widths(called)


def _with_width(value: Any) -> Any:
    return Number(value.type, value.value) if value.__class__ is WeakNumber else value


def _deciding_names(intrinsic: Intrinsic | None) -> frozenset[int | str] | None:
    if intrinsic is None:
        return None
    result, parameters = intrinsic.result, list(enumerate(intrinsic.parameters))
    if not isinstance(result, TypeVariable) or any(
        getattr(each.type, "element", None) == result for _, each in parameters
    ):
        return frozenset()  # memory has its own type
    chosen = [(place, each.name) for place, each in parameters if each.type == result]
    return frozenset(key for pair in chosen for key in pair)


def _decides(value: Any, result: Scalar) -> bool:
    if isinstance(value, (bool, int, float, str, bytes, type(None))):
        return False
    return not isinstance(value, Number) or value.type.is_float == result.is_float


def _is_weak(value: Any, type: Scalar) -> bool:
    return value.__class__ is WeakNumber and value.type is type


def of_floats(call: Call, fixed: frozenset[int]) -> Call:
    """Return a function of Python's `math`: an f32 that it computes from integers and from numbers
    without a width is without a width, too. fixed: the places of parameters that have one type."""

    def called(*arguments: Any, **keywords: Any) -> Any:
        result = call(*arguments, **keywords)
        if keywords or result.__class__ is not Number or result.type is not f32:
            return result
        if not all(map(_is_without_width, arguments)):
            return result
        taken = [
            each if place in fixed else convert(Number, f64, each)
            for place, each in enumerate(arguments)
        ]
        return _with_exact(result, call(*taken))

    return called


def _is_without_width(value: Any) -> bool:
    if value.__class__ is WeakNumber or not isinstance(value, Number):
        return isinstance(value, (Number, bool, int, float))
    return value.type.is_integer


def rounded_to_integer(call: Call, to_float: Call) -> Call:
    """Return a function that rounds floats to integers without a width. to_float: the function that
    rounds to a float."""

    def called(*arguments: Any, **keywords: Any) -> Any:
        result = call(*arguments, **keywords)
        first = arguments[0]
        is_of_float = len(arguments) == 1 and isinstance(first, Number) and first.type.is_float
        if not is_of_float or result.__class__ is not Number or result.type is not i32:
            return result
        exact = convert(Number, i64, to_float(first))
        return WeakNumber(i32, result.value, exact.value)

    return called


def _with_exact(result: Number, exact: Any) -> Number:
    is_wide = isinstance(exact, Number) and exact.type.bits == 64
    return WeakNumber(result.type, result.value, _plain(exact)) if is_wide else result


def _plain(number: Number) -> int | float:
    return float(number.value) if number.type.is_float else int(number.value)
