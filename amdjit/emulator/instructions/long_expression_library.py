"""Long expressions of single instructions, as functions of 32 lanes
(`translate/long_expressions.py`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from amdjit.emulator.expressions.integers import Expression
from amdjit.emulator.host.builder import vector
from amdjit.emulator.host.function import NativeFunction
from amdjit.emulator.instructions.long_expressions import LONG, long_symbol
from amdjit.emulator.instructions.operation import VectorOp
from amdjit.emulator.instructions.tables import EMITTERS
from amdjit.emulator.instructions.vector.division import (
    SCALES,
    scale_expression,
    scale_symbol,
    scaled_type,
)
from amdjit.emulator.instructions.vector.packed import PackedOp
from amdjit.emulator.wave.operands import ELEMENTS


def long_text(mnemonic: str, attributes: str) -> str:
    """Return `aj_long_<mnemonic>(x, y, ...)`: the instruction's expression."""
    expression, codes = _expression(mnemonic)
    parameters = [(_type(code), f"x{place}") for place, code in enumerate(codes)]
    function = NativeFunction(long_symbol(mnemonic), vector(LONG[mnemonic]), parameters)
    function.give(expression(function, *(function.parameter(name) for _, name in parameters)))
    return function.text(attributes)


def _expression(mnemonic: str) -> tuple[Expression, Sequence[str]]:
    operation = EMITTERS[mnemonic]
    if isinstance(operation, PackedOp):
        return operation.both_halves, ["v2f16"] * operation.sources
    assert isinstance(operation, VectorOp)
    return operation.expression, operation.sources


def _type(code: str) -> str:
    return (
        vector("i1")
        if code == "mask"
        else vector("i32" if code.startswith("v2") else ELEMENTS[code])
    )


def scale_text(code: str, attributes: str) -> str:
    """Return `aj_long_v_div_scale_*(s0, s1, s2)`: the scaled operand, and the lanes to scale back
    as an i32."""
    form = SCALES[code]
    names = ("s0", "s1", "s2")
    result = scaled_type(form)
    function = NativeFunction(scale_symbol(form), result, [(_type(code), name) for name in names])
    scaled, back = scale_expression(function, form, *(function.parameter(name) for name in names))
    pair = function.emit(result, f"insertvalue {result} poison, {scaled.type} {scaled.text}, 0")
    bits = function.mask_bits(back)
    function.give(function.emit(result, f"insertvalue {result} {pair.text}, i32 {bits.text}, 1"))
    return function.text(attributes)


def long_sources() -> Mapping[str, Callable[[str], str]]:
    """Return the maker of each function's text."""
    scales = {scale_symbol(form): partial(scale_text, code) for code, form in SCALES.items()}
    return {**{long_symbol(name): partial(long_text, name) for name in LONG}, **scales}
