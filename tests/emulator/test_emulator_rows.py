"""The rows of ALU instructions agree with the opcode table, from which they take their types."""

from __future__ import annotations

from functools import cache

import pytest

from amdjit.emulator.host.builder import bits_of, is_float, vector
from amdjit.emulator.host.function import NativeFunction
from amdjit.emulator.instructions.operation import ScalarOp, VectorOp
from amdjit.emulator.instructions.tables import EMITTERS
from amdjit.isa.arithmetic import element_type
from amdjit.isa.gfx12_tables import ROWS
from amdjit.isa.instruction import Opcode
from amdjit.isa.instruction_set import (
    GFX12,
    GFX90A,
    GFX115,
    GFX906,
    GFX908,
    GFX942,
    GFX950,
)
from amdjit.isa.integer_expressions import Expression
from amdjit.isa.rows import opcode_named, opcodes, row_of

VECTOR_OPS = sorted(name for name, row in EMITTERS.items() if isinstance(row, VectorOp))
SCALAR_OPS = sorted(name for name, row in EMITTERS.items() if isinstance(row, ScalarOp))

FAMILIES = (GFX906, GFX908, GFX90A, GFX942, GFX950, GFX115, GFX12)


@cache
def opcodes_by_operation() -> dict[str, Opcode]:
    """Return an opcode of each operation: the last family's, where several have it."""
    return {opcode.traits.operation: opcode for family in FAMILIES for opcode in opcodes(family)}


def result_type(opcode: Opcode, expression: Expression, lanes: bool) -> str:
    """Return the type of an expression on sources of the table's types."""
    codes = [opcode.operands[place].type for place in opcode.source_places]
    elements = list(map(element_type, codes))
    types = [vector(element) if lanes else element for element in elements]
    function = NativeFunction("f", "void", [(name, f"x{n}") for n, name in enumerate(types)])
    return expression(
        function, *(function.parameter(f"x{number}") for number in range(len(types)))
    ).type


def variants(operation: VectorOp) -> list[Expression]:
    chosen = operation.expression, operation.clamped, operation.scaled, operation.unquieted
    return [expression for expression in chosen if expression is not None]


@pytest.mark.parametrize("name", VECTOR_OPS)
def test_vector_expressions_take_and_return_the_types_of_the_table(name: str) -> None:
    operation = EMITTERS[name]
    assert isinstance(operation, VectorOp)
    opcode = opcodes_by_operation()[name]
    expected = vector(element_type(opcode.operands[0].type))
    for expression in variants(operation):
        found = result_type(opcode, expression, lanes=True)
        assert (bits_of(found), is_float(found)) == (bits_of(expected), is_float(expected))


@pytest.mark.parametrize("name", SCALAR_OPS)
def test_scalar_expressions_take_and_return_the_types_of_the_table(name: str) -> None:
    operation = EMITTERS[name]
    assert isinstance(operation, ScalarOp)
    opcode = opcodes_by_operation()[name]
    expected = element_type(opcode.operands[0].type)
    found = result_type(opcode, operation.expression, lanes=False)
    assert (bits_of(found), is_float(found)) == (bits_of(expected), is_float(expected))


def test_operand_types_do_not_depend_on_the_encoding() -> None:
    for encoding, codes in ROWS.items():
        for code, (name, _, _) in codes.items():
            row = row_of(encoding, code)
            assert row is not None
            if isinstance(EMITTERS.get(name), VectorOp | ScalarOp):
                own = [operand.type for operand in row.opcode.operands]
                assert own == [operand.type for operand in opcode_named(name).operands], name


def test_emitters_are_only_for_instructions_of_the_opcode_tables() -> None:
    assert EMITTERS.keys() <= opcodes_by_operation().keys()
