"""Operations on 32-bit words, applied to values of any type that lanes exchange."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from amdjit.declarations import EmitContext
from amdjit.types import Scalar, Vector, boolean, i16, i32, u8

__all__ = ["by_words", "by_words_of_two"]

_NARROW_INTEGERS: Mapping[int, Scalar] = MappingProxyType({1: boolean, 8: u8, 16: i16})


def by_words(context: EmitContext, value: Any, operation: Callable[[Any], Any]) -> Any:
    """Apply an operation on 32-bit words to a value of any lane type, register by register."""
    return _from_words(context, [operation(word) for word in _words(context, value)])


def by_words_of_two(
    context: EmitContext, one: Any, other: Any, operation: Callable[[Any, Any], Any]
) -> Any:
    """Apply an operation on pairs of 32-bit words to two values of the same lane type."""
    pairs = zip(_words(context, one), _words(context, other), strict=True)
    return _from_words(context, [operation(left, right) for left, right in pairs])


def _type(context: EmitContext) -> Scalar | Vector:
    type = context.types[0]
    if not isinstance(type, (Scalar, Vector)):
        raise TypeError(f"{type} does not live in registers")
    return type


def _words(context: EmitContext, value: Any) -> list[Any]:
    type, word = _type(context), context.llvm_type(i32)
    if type.bits < 32:
        narrow = context.llvm_type(_NARROW_INTEGERS[type.bits])
        return [context.builder.zext(context.bitcast(value, narrow), word)]
    if type.bits == 32:
        return [context.bitcast(value, word)]
    words = context.bitcast(value, context.llvm_type(Vector(i32, type.bits // 32)))
    numbers = range(type.bits // 32)
    return [
        context.builder.extract_element(words, context.constant(i32, number)) for number in numbers
    ]


def _from_words(context: EmitContext, words: list[Any]) -> Any:
    type = _type(context)
    result = context.llvm_type(type)
    if type.bits < 32:
        narrow = context.llvm_type(_NARROW_INTEGERS[type.bits])
        return context.bitcast(context.builder.trunc(words[0], narrow), result)
    if type.bits == 32:
        return context.bitcast(words[0], result)
    whole = Vector(i32, type.bits // 32)
    joined = context.undefined(whole)
    for number, word in enumerate(words):
        joined = context.builder.insert_element(joined, word, context.constant(i32, number))
    return context.bitcast(joined, result)
