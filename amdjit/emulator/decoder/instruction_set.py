"""What processor families differ in: formats, opcodes, names of operations, wait counters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from amdjit.emulator.decoder.formats import Formats
from amdjit.emulator.decoder.gfx11_operations import GFX11_OPERATIONS
from amdjit.emulator.decoder.gfx11_tables import ROWS as GFX11_ROWS
from amdjit.emulator.decoder.gfx115_tables import ROWS as GFX115_OWN_ROWS
from amdjit.emulator.decoder.hardware_names import (
    GFX11_MESSAGES,
    GFX11_REGISTERS,
    GFX12_MESSAGES,
    GFX12_REGISTERS,
)
from amdjit.emulator.decoder.memory_formats import GFX11_FORMATS, GFX12_FORMATS
from amdjit.emulator.decoder.opcode_tables import ROWS
from amdjit.emulator.decoder.wait_counters import GFX11_COUNTERS, GFX12_COUNTERS, WaitCounters


@dataclass(frozen=True, slots=True, eq=False)
class InstructionSet:
    """One family's tables and policies; an instruction's `opcode.instruction_set`.

    processor: LLVM's name of one of the family. rows: format -> opcode number -> (mnemonic,
    operands, flags), as `rows.py` reads them. refused: opcodes that are known but not decoded, and
    their class. renamed: operations that have another name in the newest family, which says what
    they do. has_wave_wide_permutes: DS_PERMUTE and DS_BPERMUTE reach all lanes of a wave64, not
    only those of a half. has_nan_modes: MODE has DX10_CLAMP and IEEE. mode_bits: those of MODE that
    may be written. marks_atomic_stores: atomic stores have a scope, unlike others.
    spread_factors: the factors of a matrix product, too, are spread over all lanes of a wave64.
    dpp_takes_scalars: the second source of an instruction with DPP may be a scalar or a constant.
    """

    name: str
    processor: str
    formats: Formats
    rows: Mapping[str, Mapping[int, tuple[str, str, str]]]
    wait_counters: WaitCounters
    hardware_registers: Mapping[int, str]
    messages: Mapping[int, str]
    refused: Mapping[tuple[str, int], str]
    renamed: Mapping[str, str]
    has_wave_wide_permutes: bool
    has_nan_modes: bool
    mode_bits: int
    marks_atomic_stores: bool
    spread_factors: bool
    dpp_takes_scalars: bool


GFX12 = InstructionSet(
    "gfx12",
    "gfx1201",
    GFX12_FORMATS,
    ROWS,
    GFX12_COUNTERS,
    GFX12_REGISTERS,
    GFX12_MESSAGES,
    {("DS", code): "BVH" for code in (0xE0, 0xE1, 0xE2)},
    {},
    has_wave_wide_permutes=True,
    has_nan_modes=False,
    mode_bits=0xFF | 1 << 23 | 1 << 24 | 1 << 27,
    marks_atomic_stores=True,
    spread_factors=True,
    dpp_takes_scalars=True,
)
# DS_GWS_*, DS_ORDERED_COUNT, DS_ADD_GS_REG_RTN and DS_SUB_GS_REG_RTN.
_GLOBAL_SHARE = (0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x1D, 0x3F, 0x7A, 0x7B)
_SHARED = "global data share (GDS)"
GFX11 = InstructionSet(
    "gfx11",
    "gfx1100",
    GFX11_FORMATS,
    GFX11_ROWS,
    GFX11_COUNTERS,
    GFX11_REGISTERS,
    GFX11_MESSAGES,
    {("DS", 0xAD): "BVH", **dict.fromkeys([("DS", code) for code in _GLOBAL_SHARE], _SHARED)},
    GFX11_OPERATIONS,
    has_wave_wide_permutes=False,
    has_nan_modes=True,
    mode_bits=0x3FF | 1 << 23 | 1 << 27,
    marks_atomic_stores=False,
    spread_factors=False,
    dpp_takes_scalars=False,
)
# RDNA 3.5 adds floats to the scalar ALU (its ISA document, 6.6 "SALU Floating Point"), and scalars
# to DPP (LLVM: FeatureISAVersion11_5_Common).
GFX115 = replace(
    GFX11,
    name="gfx11.5",
    processor="gfx1150",
    rows={name: {**rows, **GFX115_OWN_ROWS.get(name, {})} for name, rows in GFX11_ROWS.items()},
    dpp_takes_scalars=True,
)

_PROCESSORS: Mapping[str, InstructionSet] = {
    **dict.fromkeys(("gfx1100", "gfx1101", "gfx1102", "gfx1103"), GFX11),
    **dict.fromkeys(("gfx1150", "gfx1151"), GFX115),
    **dict.fromkeys(("gfx1200", "gfx1201"), GFX12),
}


def instruction_set_of(processor: str) -> InstructionSet | None:
    """Return the instruction set of a processor by LLVM's name, None if it is not decoded."""
    return _PROCESSORS.get(processor)
