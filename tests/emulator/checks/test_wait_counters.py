"""Processor families differ in the wait counters of their instruction sets, not in the search."""

from __future__ import annotations

from dataclasses import replace

from amdjit.emulator.checks.waits.search import missing_waits
from amdjit.isa.analysis.control_flow import Block, Graph
from amdjit.isa.instruction import Instruction, Register, RegisterFile
from amdjit.isa.instruction_set import GFX12, InstructionSet
from amdjit.isa.rows import opcode_named, row_of
from amdjit.isa.wait_counters import WaitCounter, WaitCounters, WaitEvent, WaitField

# As gfx11 counts: LDS and scalar memory share a counter that lands in any order, and one
# instruction waits for all counters.
VM = WaitCounter("vmcnt")
LGKM = WaitCounter("lgkmcnt", in_order=False)
OLDER = replace(
    GFX12,
    name="older",
    wait_counters=WaitCounters(
        counters=(VM, LGKM),
        counted={
            **dict.fromkeys(WaitEvent, ()),
            WaitEvent.VECTOR_LOAD: (VM,),
            WaitEvent.LDS: (LGKM,),
            WaitEvent.SCALAR_MEMORY: (LGKM,),
        },
        waits={"s_waitcnt": (WaitField(VM, shift=10, mask=63), WaitField(LGKM, shift=4, mask=63))},
        text="s_waitcnt {counter}({left})",
    ),
)


def vector(index: int, dwords: int = 1) -> Register:
    return Register(RegisterFile.VGPR, index, dwords)


def instruction(
    pc: int, mnemonic: str, *operands: Register | None, sets: InstructionSet = OLDER, **fields: int
) -> Instruction:
    known = opcode_named(mnemonic)
    row = row_of(known.encoding, known.code, instruction_set=sets)
    assert row is not None
    return Instruction(pc, 8, row.opcode, operands, {"offset": 0, **fields})


def found(*body: Instruction) -> list[tuple[str, str]]:
    graph = Graph(0, {0: Block(body, ())}, ())
    return [(missing.register, missing.wait) for missing in missing_waits(graph)]


LOADS = (
    instruction(0, "global_load_b32", vector(1), vector(8, 2), None),
    instruction(8, "ds_load_b32", vector(2), vector(10)),
)
USES = (
    instruction(24, "v_mov_b32", vector(4), vector(1)),
    instruction(32, "v_mov_b32", vector(5), vector(2)),
)
NOTHING_IN_FLIGHT = 0


def test_missing_waits_are_those_of_the_instruction_set() -> None:
    assert found(*LOADS, *USES) == [("v1", "s_waitcnt vmcnt(0)"), ("v2", "s_waitcnt lgkmcnt(0)")]


def test_one_wait_may_be_for_several_counters() -> None:
    all_landed = instruction(16, "s_waitcnt", simm16=NOTHING_IN_FLIGHT)
    one_load_may_fly = instruction(16, "s_waitcnt", simm16=1 << 10)
    assert found(*LOADS, all_landed, *USES) == []
    assert found(*LOADS, one_load_may_fly, *USES) == [("v1", "s_waitcnt vmcnt(0)")]


def test_the_same_code_has_other_counters_on_gfx12() -> None:
    own = [replace(item, opcode=opcode_named(item.mnemonic)) for item in (*LOADS, *USES)]
    assert found(*own) == [("v1", "s_wait_loadcnt 0x0"), ("v2", "s_wait_dscnt 0x0")]
