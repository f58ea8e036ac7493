"""The native functions of long expressions, on 32 lanes (`long_expressions.py`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from amdjit.emulator.host.builder import vector
from amdjit.emulator.host.function import NativeFunction
from amdjit.emulator.instructions.long_expressions import LONG, long_result, long_symbol
from amdjit.emulator.instructions.operation import VectorOp
from amdjit.emulator.instructions.tables import EMITTERS
from amdjit.emulator.instructions.vector.division import scale_symbol, scaled_type
from amdjit.emulator.instructions.vector.packed import PackedOp
from amdjit.isa.arithmetic import element_type
from amdjit.isa.floats.division import SCALES, scale_expression
from amdjit.isa.rows import opcode_named


def long_text(mnemonic: str, attributes: str) -> str:
    """Return `aj_long_<mnemonic>(x, y, ...)`: the instruction's expression."""
    opcode = opcode_named(mnemonic)
    parameters = [
        (_type(opcode.operands[place].type), f"x{number}")
        for number, place in enumerate(opcode.source_places)
    ]
    function = NativeFunction(long_symbol(mnemonic), long_result(mnemonic), parameters)
    sources = [function.parameter(name) for _, name in parameters]
    operation = EMITTERS[mnemonic]
    if isinstance(operation, PackedOp):
        result = operation.both_halves(function, "half", *sources)
    else:
        assert isinstance(operation, VectorOp)
        result = operation.expression(function, *sources)
    function.give(result)
    return function.text(attributes)


def _type(code: str) -> str:
    return vector(element_type(code))


def scale_text(code: str, attributes: str) -> str:
    """Return `aj_long_v_div_scale_*(s0, s1, s2)`: the scaled operand, and the lanes whose quotient
    is to be scaled back as an i32."""
    form = SCALES[code]
    names = ("s0", "s1", "s2")
    result = scaled_type(form)
    function = NativeFunction(scale_symbol(form), result, [(_type(code), name) for name in names])
    scaled, back = scale_expression(
        function, *(function.parameter(name) for name in names), form=form
    )
    pair = function.emit(result, f"insertvalue {result} poison, {scaled.type} {scaled.text}, 0")
    bits = function.mask_bits(back)
    function.give(function.emit(result, f"insertvalue {result} {pair.text}, i32 {bits.text}, 1"))
    return function.text(attributes)


def long_sources() -> Mapping[str, Callable[[str], str]]:
    """Return the function that makes each native function's text."""
    scales = {scale_symbol(form): partial(scale_text, code) for code, form in SCALES.items()}
    return {**{long_symbol(name): partial(long_text, name) for name in LONG}, **scales}
