"""The classes of time that opcodes have are those that thread traces of silicon name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from amdjit.cycles.parameters import PASSES, issue_cycles
from amdjit.isa.decode import decode
from amdjit.isa.instruction_set import GFX11
from amdjit.isa.rows import opcodes
from amdjit.isa.traits import Timing

TRACES = Path(__file__).parents[1] / "hardware" / "traces"
PACKETS: Mapping[str, Mapping[str, int]] = json.loads(
    (TRACES / "class_by_mnemonic.json").read_text()
)
GFX11_PACKETS: Mapping[str, Mapping[str, int]] = json.loads(
    (TRACES / "class_by_mnemonic_gfx11.json").read_text()
)
BY_NAME = {opcode.mnemonic: opcode for opcode in opcodes()}
# Beginnings of the packet classes of each class of time.
CLASSES = {
    Timing.VALU: ("VALU", "VINTERP"),
    Timing.VALU_HALF: ("VALUB_2",),
    Timing.VALU_QUARTER: ("VALUB_4",),
    Timing.TRANSCENDENTAL: ("VALUT_4",),
    Timing.PSEUDO_SCALAR: ("VALU_SCL_TRANS",),
    Timing.DOUBLE: ("VALU_DPFP",),
    Timing.MATRIX_WIDE: ("WMMA_16",),
    Timing.MATRIX_NARROW: ("WMMA_8",),
    Timing.MATRIX_FOUR_BITS: ("WMMA_8",),
    Timing.SALU: ("SALU",),
    Timing.SALU_MULTIPLY: ("SALU_2",),
    Timing.SALU_MULTIPLY_64: ("SALU_5",),
    Timing.SALU_FLOAT: ("SALU_FLOAT_3",),
    Timing.IMMEDIATE: ("IMMEDIATE",),
    Timing.BRANCH: ("JUMP", "JUMP_NO", "CALL"),
    Timing.MESSAGE: ("MESSAGE",),
    Timing.BARRIER_SIGNAL: ("BARRIER_SIGNAL",),
    Timing.SCALAR_MEMORY: ("SMEM",),
    Timing.VECTOR_MEMORY: tuple(f"VMEM_{way}_{size}" for way in ("RD", "WR") for size in range(9)),
    Timing.LDS: ("LDS_RD", *(f"LDS_WR_{size}" for size in range(6))),
}
# Trace packets that the trace's decoder has no name for.
UNNAMED = {"ds_bvh_stack_push4_pop1_rtn_b32", "ds_bvh_stack_push8_pop1_rtn_b32"} | {
    "ds_bvh_stack_push8_pop2_rtn_b64",
    "global_store_block",
}


def test_an_opcodes_class_is_its_packets_class() -> None:
    wrong = {
        name: timing.name
        for name, packets in PACKETS.items()
        if name not in UNNAMED and not set(packets) & set(CLASSES[timing := timing_of(name)])
    }
    assert wrong == {}


def timing_of(name: str) -> Timing:
    """Return the class of a mnemonic, which may have a suffix for its encoding."""
    opcode = BY_NAME.get(name) or BY_NAME[name[:-4]]
    return opcode.traits.timing


# Packet classes of gfx11, where they differ; WMMA has that of any VALU instruction.
GFX11_CLASSES = {
    **CLASSES,
    **dict.fromkeys(
        (Timing.VALU, Timing.MATRIX_WIDE, Timing.MATRIX_NARROW, Timing.MATRIX_FOUR_BITS),
        ("VALU", "VALU1_WR_EXEC", "VINTERP"),
    ),
    Timing.DOUBLE: ("VALUB_16",),
    Timing.SALU_MULTIPLY: ("SALU",),
    Timing.SCALAR_MEMORY: ("SMEM_RD",),
    Timing.BARRIER_SIGNAL: ("BARRIER",),
    Timing.VECTOR_MEMORY: tuple(f"SGMEM_{way}_{size}" for way in ("RD", "WR") for size in range(9)),
}
# Not decoded; without a name; waits that add a register, which the scalar ALU reads.
GFX11_OTHERS = {"ds_bvh_stack_rtn_b32", "s_unknown", "v_unknown"} | {
    f"s_waitcnt_{counter}" for counter in ("vmcnt", "vscnt", "expcnt", "lgkmcnt")
}


def test_an_opcodes_class_is_its_packets_class_on_gfx11() -> None:
    by_name = {opcode.mnemonic: opcode for opcode in opcodes(GFX11)}
    wrong = {}
    for name in GFX11_PACKETS.keys() - GFX11_OTHERS:
        opcode = by_name.get(name) or by_name[name[:-4]]
        packets = {packet for packet in GFX11_PACKETS[name] if not packet.startswith("OP_")}
        if packets and not packets & set(GFX11_CLASSES[opcode.traits.timing]):
            wrong[name] = opcode.traits.timing.name
    # In wave32 it has nothing to do: both halves of a wave64 would change places.
    assert wrong == {"v_permlane64_b32": "VALU"}


def test_every_class_of_units_is_compared() -> None:
    compared = {
        BY_NAME[name].traits.timing for name in PACKETS if name in BY_NAME and name not in UNNAMED
    }
    assert compared == set(Timing) - {Timing.END, Timing.MATRIX_BLOCKS}


def test_the_units_passes_are_those_of_the_packets() -> None:
    # A number at the end of a packet class is cycles of the unit.
    assert PASSES[Timing.VALU_HALF] == 2
    assert PASSES[Timing.VALU_QUARTER] == PASSES[Timing.TRANSCENDENTAL] == 4
    assert PASSES[Timing.MATRIX_WIDE] == 16
    assert PASSES[Timing.MATRIX_NARROW] == 8


@pytest.mark.parametrize(
    ("code", "cycles"),
    [
        (0xBF800003, 4),  # s_nop 3
        (0xBF870001, 0),  # s_delay_alu instid0(VALU_DEP_1)
        (0xBF88FFFE, 0),  # s_wait_alu 0xfffe
        (0x7E000280, 1),  # v_mov_b32 v0, 0
        (0x7E005501, 4),  # v_rcp_f32 v0, v1
        (0xBF830004, None),  # s_sleep 4
        (0xBFB00000, 1),  # s_endpgm
        (0x0000_0001_D834_0000, 2),  # ds_store_b32 v1, v0
    ],
)
def test_issue_cycles(code: int, cycles: int | None) -> None:
    assert issue_cycles(decode(code.to_bytes(8, "little"), 0, 0)) == cycles
