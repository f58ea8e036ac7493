"""What processor families differ in: formats, opcodes, names of operations, wait counters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto

from amdjit.emulator.decoder.formats import Formats
from amdjit.emulator.decoder.gfx9_formats import (
    GFX90A_FORMATS,
    GFX908_FORMATS,
    GFX942_FORMATS,
    GFX950_FORMATS,
)
from amdjit.emulator.decoder.gfx9_hardware_names import (
    GFX9_MESSAGES,
    GFX9_REGISTERS,
    GFX942_REGISTERS,
)
from amdjit.emulator.decoder.gfx9_operations import GFX9_OPERATIONS
from amdjit.emulator.decoder.gfx9_tables import (
    GFX908_CHANGES,
    GFX942_CHANGES,
    GFX950_CHANGES,
)
from amdjit.emulator.decoder.gfx9_tables import ROWS as GFX9_ROWS
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
from amdjit.emulator.decoder.wait_counters import (
    GFX9_COUNTERS,
    GFX11_COUNTERS,
    GFX12_COUNTERS,
    WaitCounters,
)


class Accumulation(Enum):
    """Which accumulation VGPRs there are: none; some apart, for matrix instructions only (gfx908);
    or some that share a file with the others, and that memory instructions reach (gfx90a)."""

    NONE = auto()
    APART = auto()
    UNIFIED = auto()


class ScratchSetup(Enum):
    """How a wave learns where its scratch memory is: it need not, since instructions know; the code
    computes the address (gfx908, gfx90a); or FLAT_SCRATCH begins with it (LLVM AMDGPU guide, "Flat
    Scratch")."""

    NONE = auto()
    BY_CODE = auto()
    ARCHITECTED = auto()


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
    has_wave32: waves have 32 lanes, too; the rows are then for those. accumulation: which
    accumulation VGPRs there are. scratch: how waves find their scratch memory. packs_item_ids: v0
    has all ids of a work-item, otherwise v0 to v2. keeps_high_halves: a result of 16 bits leaves
    the rest of its register alone, otherwise only where op_sel names the half (LLVM:
    zeroesHigh16BitsOfDest). splits_formats: buffers have a data format and a number format, and no
    OOB_SELECT. runs: the emulator executes it. end_of_program: the code of S_ENDPGM. trap: the code
    of the S_TRAP that ends a wave.
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
    has_wave32: bool = True
    accumulation: Accumulation = Accumulation.NONE
    scratch: ScratchSetup = ScratchSetup.NONE
    packs_item_ids: bool = True
    keeps_high_halves: bool = True
    runs: bool = True
    end_of_program: int = 0xBFB00000
    trap: int = 0xBF900002
    splits_formats: bool = False


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

# gfx950's products with scales, which are two instructions in one (LLVM: VOP3PX).
_SCALED_OPERANDS = (
    "vdst:{d}:{n}:w:va:32: src0:b256:8:r:va:32: src1:b256:8:r:va:32: src2:{d}:{n}:r:vai:32: "
    "scale0:b32:1:r:v:32: scale1:b32:1:r:v:32:"
)
_SCALED = {
    0x2D: (
        "v_mfma_scale_f32_16x16x128_f8f6f4",
        _SCALED_OPERANDS.format(d="v4f32", n=4),
        "cbsz=7 blgp=7 formats",
    ),
    0x2E: (
        "v_mfma_scale_f32_32x32x64_f8f6f4",
        _SCALED_OPERANDS.format(d="v16f32", n=16),
        "cbsz=7 blgp=7 formats",
    ),
}
_Rows = Mapping[str, Mapping[int, tuple[str, str, str]]]


def _changed(changes: Mapping[str, Mapping[int, tuple[str, str, str] | None]]) -> _Rows:
    """Return gfx90a's rows as another processor has them."""
    found: dict[str, dict[int, tuple[str, str, str]]] = {}
    for name, entries in GFX9_ROWS.items():
        merged = {**entries, **changes.get(name, {})}
        found[name] = {code: row for code, row in merged.items() if row is not None}
    return found


def _gfx9(
    processor: str,
    formats: Formats,
    rows: _Rows,
    registers: Mapping[int, str],
    scratch: ScratchSetup,
    accumulation: Accumulation = Accumulation.UNIFIED,
) -> InstructionSet:
    return InstructionSet(
        processor,
        processor,
        formats,
        rows,
        GFX9_COUNTERS,
        registers,
        GFX9_MESSAGES,
        {
            **dict.fromkeys([("DS", code) for code in _GFX9_GLOBAL_SHARE], _SHARED),
            **dict.fromkeys([("VOP3", code) for code in _GFX9_INTERPOLATIONS], "interpolation"),
            ("VOP3P", _LOAD_SCALES): "lone V_MFMA_LD_SCALE_B32",
        },
        GFX9_OPERATIONS,
        has_wave_wide_permutes=True,
        has_nan_modes=True,
        mode_bits=0x3FF | 1 << 23,
        marks_atomic_stores=False,
        spread_factors=False,
        dpp_takes_scalars=False,
        has_wave32=False,
        accumulation=accumulation,
        scratch=scratch,
        packs_item_ids=accumulation is Accumulation.UNIFIED,
        keeps_high_halves=False,
        end_of_program=0xBF810000,
        trap=0xBF920002,
        splits_formats=True,
    )


_GFX9_INTERPOLATIONS = range(0x270, 0x279)
_LOAD_SCALES = 0x2C
# DS_GWS_* and DS_ORDERED_COUNT.
_GFX9_GLOBAL_SHARE = (*range(0x98, 0x9E), 0xBF)
GFX908 = _gfx9(
    "gfx908",
    GFX908_FORMATS,
    _changed(GFX908_CHANGES),
    GFX9_REGISTERS,
    ScratchSetup.BY_CODE,
    Accumulation.APART,
)
GFX90A = _gfx9("gfx90a", GFX90A_FORMATS, GFX9_ROWS, GFX9_REGISTERS, ScratchSetup.BY_CODE)
GFX942 = _gfx9(
    "gfx942", GFX942_FORMATS, _changed(GFX942_CHANGES), GFX942_REGISTERS, ScratchSetup.ARCHITECTED
)
GFX950 = _gfx9(
    "gfx950",
    GFX950_FORMATS,
    {**_changed(GFX950_CHANGES), "MAIX": _SCALED},
    GFX942_REGISTERS,
    ScratchSetup.ARCHITECTED,
)

_PROCESSORS: Mapping[str, InstructionSet] = {
    **{sets.processor: sets for sets in (GFX908, GFX90A, GFX942, GFX950)},
    "gfx9-4-generic": GFX942,
    **dict.fromkeys(("gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx11-generic"), GFX11),
    **dict.fromkeys(("gfx1150", "gfx1151", "gfx1152", "gfx1153"), GFX115),
    **dict.fromkeys(("gfx1200", "gfx1201", "gfx12-generic"), GFX12),
}


def instruction_set_of(processor: str) -> InstructionSet | None:
    """Return the instruction set of a processor by LLVM's name, None if it is not decoded."""
    return _PROCESSORS.get(processor)
