"""Traits of opcodes: each one has them, they fit its operands, and nobody asks its name instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from amdjit.isa.instruction import Opcode
from amdjit.isa.rows import opcodes, row_of
from amdjit.isa.traits import (
    Destination,
    Flow,
    MemoryKind,
    Result,
    SingleLane,
    Traits,
    Unit,
)
from tests.emulator.model.scalars import SCALARS

PACKAGE = Path(__file__).parents[3] / "amdjit"
# The one place that looks at the text of mnemonics.
RULES = PACKAGE / "isa/mnemonics"
# Users name instructions there, with patterns.
ASSERTIONS = PACKAGE / "testing"
# The encoder finds instructions by their names, and the probe names what it writes.
WRITERS = (PACKAGE / "isa/encoding", PACKAGE / "probe")
ALL = list(opcodes())
SEARCHES = {"search", "match", "fullmatch", "finditer", "findall", "sub"}


def name_of(opcode: Opcode) -> str:
    return f"{opcode.encoding} {opcode.mnemonic}"


def test_every_opcode_has_traits_of_both_wave_sizes() -> None:
    assert len(ALL) > 1500
    for opcode in ALL:
        assert isinstance(opcode.traits, Traits)
        form = "VOP3" if opcode.encoding == "VOP3SD" else opcode.encoding
        row = row_of(form, opcode.code, 64)
        assert row is not None
        assert row.opcode.traits == opcode.traits


def test_memory_instructions_say_what_they_do_and_what_counts_them() -> None:
    silent = [
        name_of(opcode)
        for opcode in ALL
        if opcode.traits.unit.is_memory
        and (
            opcode.traits.event is None
            or (opcode.traits.memory, opcode.traits.cache, opcode.traits.moved_role) == (None,) * 3
        )
    ]
    assert silent == ["DS ds_nop"]
    assert not [
        name_of(opcode)
        for opcode in ALL
        if not opcode.traits.unit.is_memory and (opcode.traits.memory or opcode.traits.cache)
    ]


def test_the_size_of_an_access_is_that_of_its_data() -> None:
    """A lane's data is as wide as what is moved; below a dword it fills one."""
    for opcode in ALL:
        access = opcode.traits.memory
        if access is None or not access.size or access.kind is MemoryKind.ATOMIC:
            continue
        roles = ("sdst", "vdst", "vdata", "data0", "data1")
        dwords = sum(spec.dwords for spec in opcode.operands if spec.role in roles)
        moved = access.size * (2 if access.has_two_addresses else 1)
        assert 4 * dwords == max(moved, 4), name_of(opcode)
        assert access.half is None or access.size <= 2, name_of(opcode)


def test_loads_write_registers_and_stores_read_them() -> None:
    for opcode in ALL:
        access = opcode.traits.memory
        if access is not None and access.kind is not MemoryKind.ATOMIC:
            loads = access.kind is MemoryKind.LOAD
            assert loads == (opcode.traits.result is not Result.NONE), name_of(opcode)


def test_moves_between_lanes_name_an_operand() -> None:
    for opcode in ALL:
        role = opcode.traits.moved_role
        assert role is None or role in [spec.role for spec in opcode.operands], name_of(opcode)
        assert role is None or not opcode.traits.lane_by_lane, name_of(opcode)


def test_branches_and_conditions_go_together() -> None:
    for opcode in ALL:
        traits = opcode.traits
        assert (traits.flow is Flow.CONDITIONAL) == (traits.condition is not None)
        assert traits.unit is Unit.SALU or traits.flow is Flow.NEXT


def test_matrices_are_shaped_as_their_operands() -> None:
    """D and C are 16 x 16, A and B 16 x K: K = 32 in a sparse product has half of A."""
    bits = {"f16": 16, "bf16": 16, "fp8": 8, "bf8": 8, "iu8": 8, "iu4": 4, "f32": 32, "i32": 32}
    found = [opcode for opcode in ALL if opcode.traits.matrix is not None]
    assert len(found) == 22
    for opcode in found:
        product = opcode.traits.matrix
        assert product is not None
        widths = [spec.dwords for spec in opcode.operands[:3]]
        a = 16 * product.k * bits[product.a] // (32 * 32) // (2 if product.sparse else 1)
        b = 16 * product.k * bits[product.b] // (32 * 32)
        assert widths == [256 * bits[product.result] // (32 * 32), a, b], name_of(opcode)


def test_scalar_logic_has_the_operands_that_its_destination_says() -> None:
    for opcode in ALL:
        logic = opcode.traits.logic
        if logic is not None:
            into_register = logic.destination is Destination.REGISTER
            assert len(opcode.operands) == (3 if into_register else 2), name_of(opcode)
            assert opcode.traits.writes_exec is not into_register, name_of(opcode)


def test_what_touches_scc_agrees_with_the_model_of_scalar_instructions() -> None:
    traits = {opcode.mnemonic: opcode.traits for opcode in ALL}
    writers = {
        name for name, entry in SCALARS.items() if entry.scc != "keep" or entry.op.result == "scc"
    }
    assert writers == {name for name in SCALARS if traits[name].writes_scc}
    readers = {name for name, entry in SCALARS.items() if "scc" in entry.op.sources}
    assert readers == {name for name in SCALARS if traits[name].reads_scc}


def test_single_lanes_are_those_of_scalar_results_and_scalar_data() -> None:
    reads = {o.mnemonic for o in ALL if o.traits.single_lane is SingleLane.READ}
    writes = {o.mnemonic for o in ALL if o.traits.single_lane is SingleLane.WRITE}
    assert reads == {"v_readlane_b32", "v_readfirstlane_b32"}
    assert writes == {"v_writelane_b32"}
    scalars = {o.mnemonic for o in ALL if o.mnemonic[0] == "v" and o.traits.result is Result.SCALAR}
    assert scalars == reads | {o.mnemonic for o in ALL if o.traits.is_pseudo_scalar}


# Nobody else looks at the text


def asked_texts(source: str) -> Iterator[int]:
    """Yield the lines on which a program asks the text of a mnemonic, rather than looks it up."""
    is_text_asked = "mnemonic" in source or "traits.operation" in source
    for node in ast.walk(ast.parse(source)) if is_text_asked else ():
        for child in ast.iter_child_nodes(node):
            if _is_mnemonic(child) and _asks(node, child):
                yield child.lineno


def _is_mnemonic(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id == "mnemonic" and isinstance(node.ctx, ast.Load)
    if not isinstance(node, ast.Attribute):
        return False
    owner = node.value.attr if isinstance(node.value, ast.Attribute) else ""
    return node.attr == "mnemonic" or (node.attr == "operation" and owner == "traits")


def _asks(parent: ast.AST, child: ast.AST) -> bool:
    """Methods, comparisons, parts, searches, and other names for it; a lookup in a table, a
    message and an argument are none."""
    if isinstance(parent, ast.Subscript):
        return parent.value is child
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Attribute) and parent.func.attr in SEARCHES
    if isinstance(parent, ast.Assign):
        return not all(isinstance(t, ast.Name) and t.id == "mnemonic" for t in parent.targets)
    return isinstance(parent, ast.Attribute | ast.Compare | ast.NamedExpr)


@pytest.mark.parametrize(
    "probe",
    [
        'if instruction.mnemonic.startswith("s_wait"): pass',
        'if "_tr_" in instruction.mnemonic: pass',
        "if instruction.opcode.mnemonic in _BARRIERS: pass",
        'if mnemonic == "s_nop": pass',
        "width = instruction.mnemonic[-2:]",
        "found = _NAME.fullmatch(instruction.mnemonic)",
        "name = instruction.mnemonic",
        'if half.traits.operation != "v_mov_b32": pass',
    ],
)
def test_a_module_that_asks_the_text_would_be_found(probe: str) -> None:
    assert list(asked_texts(probe)) == [1]


def test_lookups_and_messages_are_no_questions() -> None:
    probe = """
emitter = EMITTERS.get(instruction.mnemonic) or DUAL[half.traits.operation]
message = f"{instruction.mnemonic} is refused" + refusal(instruction.mnemonic)
"""
    assert not list(asked_texts(probe))


def test_only_the_rules_ask_the_text_of_mnemonics() -> None:
    found = [
        f"{file.relative_to(PACKAGE)}:{line}"
        for file in sorted(PACKAGE.rglob("*.py"))
        if not any(map(file.is_relative_to, (RULES, ASSERTIONS, *WRITERS)))
        for line in asked_texts(file.read_text())
    ]
    assert not found
