"""Arithmetic in the host's other rounding modes.

Each operation is two functions: a plain one, compiled on its own so that LLVM moves no part of it,
and one that sets the host's mode around a call of the first. Modes are LLVM's: 0 to zero, 1
nearest, 2 up, 3 down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from amdjit.emulator.host.builder import Value, like, mangle, vector
from amdjit.emulator.host.function import NativeFunction, i32

_OPERANDS = {"fadd": 2, "fsub": 2, "fmul": 2, "fma": 3}
_NEAREST = 1
_SHAPES = ("float", "double", vector("float"), vector("double"))


def rounded_symbol(operation: str, type_name: str) -> str:
    """Return the name of an operation's rounding function on values of a type."""
    return f"aj_rounded_{operation}_{mangle(type_name)}"


def _plain_symbol(operation: str, type_name: str) -> str:
    return f"aj_plain_{operation}_{mangle(type_name)}"


def _names(operation: str) -> list[str]:
    return ["x", "y", "z"][: _OPERANDS.get(operation, 1)]


def _result(operation: str, type_name: str) -> str:
    return like(type_name, "float") if operation == "fptrunc" else type_name


def plain_text(operation: str, type_name: str, attributes: str) -> str:
    """Return `aj_plain_*(x, y, ...)`: one instruction, in the host's current mode."""
    result = _result(operation, type_name)
    f = NativeFunction(
        _plain_symbol(operation, type_name),
        result,
        [(type_name, name) for name in _names(operation)],
    )
    values = [f.parameter(name) for name in _names(operation)]
    if operation == "fma":
        f.give(f.intrinsic("fma", *values))
    else:
        f.give(
            f.cast("fptrunc", values[0], result)
            if operation == "fptrunc"
            else f.binary(operation, *values)
        )
    return f.text(attributes)


def rounded_text(operation: str, type_name: str, attributes: str) -> str:
    """Return `aj_rounded_*(x, y, ..., mode)`."""
    result = _result(operation, type_name)
    names = _names(operation)
    parameters = [*((type_name, name) for name in names), ("i32", "mode")]
    f = NativeFunction(rounded_symbol(operation, type_name), result, parameters)
    f.call_void("llvm.set.rounding", [f.parameter("mode")])
    value = f.call(
        _plain_symbol(operation, type_name), result, [f.parameter(name) for name in names]
    )
    f.call_void("llvm.set.rounding", [i32(_NEAREST)])
    f.give(value)
    return f.text(attributes)


def narrow_text(type_name: str, attributes: str) -> str:
    """Return `aj_rounded_half_*(x, mode)`: single to half precision, from the nearest half and the
    side on which it lies.

    The host's mode is no help: some hosts cannot convert, and LLVM's library function knows only
    one mode.
    """
    f = NativeFunction(
        rounded_symbol("half", type_name),
        like(type_name, "half"),
        [(type_name, "x"), ("i32", "mode")],
    )
    x, mode = f.parameter("x"), f.parameter("mode")
    nearest = f.convert("fptrunc", x, "half")
    bits, back = f.bitcast(nearest, "i16"), f.convert("fpext", nearest, "float")
    negative = f.compare("slt", f.bitcast(x, "i32"), f.const(f.bitcast(x, "i32"), 0))
    inward = f.compare("ogt", f.intrinsic("fabs", back), f.intrinsic("fabs", x))
    outward = f.compare("olt", f.intrinsic("fabs", back), f.intrinsic("fabs", x))
    to_zero = _wanted(f, mode, 0, inward)
    up_or_down = [
        f.and_(_same(f, negative, away == 3), _wanted(f, mode, away, outward)) for away in (2, 3)
    ]  # away from 0
    back_again = [
        f.and_(_same(f, negative, away == 2), _wanted(f, mode, away, inward)) for away in (2, 3)
    ]
    smaller = f.or_(to_zero, f.or_(*back_again))
    larger = f.or_(*up_or_down)
    moved = f.select(smaller, f.sub(bits, f.const(bits, 1)), bits)
    f.give(f.bitcast(f.select(larger, f.add(bits, f.const(bits, 1)), moved), "half"))
    return f.text(attributes)


def _wanted(f: NativeFunction, mode: Value, number: int, condition: Value) -> Value:
    chosen = f.compare("eq", mode, i32(number))
    return f.select(chosen, condition, f.const(condition, 0))


def _same(f: NativeFunction, negative: Value, wanted: bool) -> Value:
    return negative if wanted else f.not_(negative)


def rounded_sources() -> Mapping[str, Callable[[str], str]]:
    """Return the makers of all these functions by symbol."""
    sources: dict[str, Callable[[str], str]] = {}
    for shape in _SHAPES:
        operations = [*_OPERANDS, *(["fptrunc"] if "double" in shape else [])]
        for operation in operations:
            sources[_plain_symbol(operation, shape)] = partial(plain_text, operation, shape)
            sources[rounded_symbol(operation, shape)] = partial(rounded_text, operation, shape)
        if "float" in shape:
            sources[rounded_symbol("half", shape)] = partial(narrow_text, shape)
    return sources
