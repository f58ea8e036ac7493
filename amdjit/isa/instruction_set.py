"""What processor families differ in: formats, opcodes, names of operations, wait counters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum, auto

from amdjit.code_object.code_object import CodeObject
from amdjit.diagnostics.errors import BackendError
from amdjit.isa.family_formats import (
    GFX11_FORMATS,
    GFX12_FORMATS,
    GFX90A_FORMATS,
    GFX906_FORMATS,
    GFX908_FORMATS,
    GFX942_FORMATS,
    GFX950_FORMATS,
)
from amdjit.isa.formats import Formats
from amdjit.isa.gfx9_tables import (
    GFX906_CHANGES,
    GFX908_CHANGES,
    GFX942_CHANGES,
    GFX950_CHANGES,
)
from amdjit.isa.gfx9_tables import ROWS as GFX9_ROWS
from amdjit.isa.gfx11_tables import ROWS as GFX11_ROWS
from amdjit.isa.gfx12_tables import ROWS as GFX12_ROWS
from amdjit.isa.gfx115_tables import ROWS as GFX115_OWN_ROWS
from amdjit.isa.hardware_names import (
    GFX9_DPP,
    GFX9_MESSAGE_OPERATIONS,
    GFX9_MESSAGES,
    GFX9_REGISTERS,
    GFX11_DPP,
    GFX11_MESSAGES,
    GFX11_REGISTERS,
    GFX12_MESSAGES,
    GFX12_REGISTERS,
    GFX90A_DPP,
    GFX942_REGISTERS,
)
from amdjit.isa.operand_codes import GFX9_CODES, GFX11_CODES, GFX90A_CODES, OperandCodes
from amdjit.isa.renamed_operations import GFX9_OPERATIONS, GFX11_OPERATIONS
from amdjit.isa.wait_counters import (
    GFX9_COUNTERS,
    GFX11_COUNTERS,
    GFX12_COUNTERS,
    WaitCounters,
)
from amdjit.late_methods import dataclass, field
from amdjit.target import EMULATED, nearest_target


class Accumulation(Enum):
    """Which accumulation VGPRs processors have."""

    NONE = auto()  # no accumulation VGPRs
    APART = auto()  # a file of their own, which only matrix instructions and moves reach (gfx908)
    UNIFIED = auto()  # in one file with the other VGPRs; memory instructions reach them (gfx90a)


class ScratchSetup(Enum):
    """How a wave learns where its scratch memory is (LLVM AMDGPU guide, "Flat Scratch")."""

    NONE = auto()  # instructions know it, so that nothing must be set up
    BY_CODE = auto()  # the code computes the address (gfx908, gfx90a)
    ARCHITECTED = auto()  # FLAT_SCRATCH holds it when a wave begins


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class InstructionSet:
    """One family's tables and policies; an instruction's `opcode.instruction_set`."""

    name: str
    """What texts and the tables of emitters call it: a name for each set of processors whose
    opcodes differ."""
    family: str
    """The processors whose programs differ in more than opcodes: gfx9, gfx11 or gfx12."""
    processor: str
    """LLVM's name of one processor of it."""
    formats: Formats
    """The microcode formats."""
    rows: Mapping[str, Mapping[int, tuple[str, str, str]]]
    """Format -> opcode number -> (mnemonic, operands, flags), as `rows.py` reads them; for wave32
    if waves may have 32 lanes."""
    codes: OperandCodes
    """What the numbers in fields of operands stand for."""
    wait_counters: WaitCounters
    """What its instructions count on which wait counter."""
    hardware_registers: Mapping[int, str]
    """The names of the registers of S_GETREG, by number."""
    messages: Mapping[int, str]
    """The names of the messages of S_SENDMSG, by number."""
    message_operations: Mapping[int, Mapping[int, str]] = field(default_factory=dict)
    """The operations of the messages that have some, by number."""
    dpp_controls: Mapping[int, str]
    """The names of DPP16 controls, except permutations of four lanes."""
    refused: Mapping[tuple[str, int], str]
    """Opcodes that are known but not decoded, and their class."""
    renamed: Mapping[str, str]
    """Operations that have another name in the newest family, where their meaning is defined."""
    has_dpp8: bool = True
    """Whether DPP has a form of eight lanes, and may read inactive lanes."""
    has_wave_wide_permutes: bool
    """Whether DS_PERMUTE and DS_BPERMUTE reach all lanes of a wave64, not only those of a half."""
    has_nan_modes: bool
    """Whether MODE has DX10_CLAMP and IEEE."""
    mode_bits: int
    """The bits of MODE that S_SETREG may write."""
    marks_atomic_stores: bool
    """Whether atomic stores have a scope, unlike plain stores."""
    spread_factors: bool
    """Whether the factors of a matrix product, like the result, are spread over all lanes of a
    wave64."""
    dpp_takes_scalars: bool
    """Whether the second source of an instruction with DPP may be a scalar or a constant."""
    has_wave32: bool = True
    """Whether waves may have 32 lanes; they always may have 64."""
    accumulation: Accumulation = Accumulation.NONE
    """Which accumulation VGPRs it has."""
    scratch: ScratchSetup = ScratchSetup.NONE
    """How waves find their scratch memory."""
    packs_item_ids: bool = True
    """Whether a wave begins with all three ids of a work-item in v0, rather than in v0 to v2."""
    keeps_high_halves: bool = True
    """Whether a 16-bit result leaves the rest of its register unchanged; otherwise it does so only
    if op_sel names the half (LLVM: zeroesHigh16BitsOfDest)."""
    splits_formats: bool = False
    """Whether buffer resources have a data format and a number format, and no OOB_SELECT."""
    writes_mask_in_bars: bool = False
    """Whether the disassembler writes V_CNDMASK's implied VCC inside the bars of the second
    source's absolute value."""
    runs: bool = True
    """Whether the emulator executes it."""
    end_of_program: int = 0xBFB00000
    """The code of S_ENDPGM."""
    trap: int = 0xBF900002
    """The code of the S_TRAP that ends a wave."""


GFX12 = InstructionSet(
    name="gfx12",
    family="gfx12",
    processor="gfx1201",
    formats=GFX12_FORMATS,
    rows=GFX12_ROWS,
    codes=GFX11_CODES,
    wait_counters=GFX12_COUNTERS,
    hardware_registers=GFX12_REGISTERS,
    messages=GFX12_MESSAGES,
    dpp_controls=GFX11_DPP,
    refused={("DS", code): "BVH" for code in (0xE0, 0xE1, 0xE2)},
    renamed={},
    has_wave_wide_permutes=True,
    has_nan_modes=False,
    mode_bits=0xFF | 1 << 23 | 1 << 24 | 1 << 27,
    marks_atomic_stores=True,
    spread_factors=True,
    dpp_takes_scalars=True,
    writes_mask_in_bars=True,
)
# DS_GWS_*, DS_ORDERED_COUNT, DS_ADD_GS_REG_RTN and DS_SUB_GS_REG_RTN.
_GLOBAL_SHARE = (0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x1D, 0x3F, 0x7A, 0x7B)
_SHARED = "global data share (GDS)"
GFX11 = InstructionSet(
    name="gfx11",
    family="gfx11",
    processor="gfx1100",
    formats=GFX11_FORMATS,
    rows=GFX11_ROWS,
    codes=GFX11_CODES,
    wait_counters=GFX11_COUNTERS,
    hardware_registers=GFX11_REGISTERS,
    messages=GFX11_MESSAGES,
    dpp_controls=GFX11_DPP,
    refused={
        ("DS", 0xAD): "BVH",
        **dict.fromkeys([("DS", code) for code in _GLOBAL_SHARE], _SHARED),
    },
    renamed=GFX11_OPERATIONS,
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


def _changed(
    changes: Mapping[str, Mapping[int, tuple[str, str, str] | None]], rows: _Rows = GFX9_ROWS
) -> _Rows:
    """Return rows, gfx90a's unless others are given, as another processor has them."""
    found: dict[str, dict[int, tuple[str, str, str]]] = {}
    for name, entries in rows.items():
        merged = {**entries, **changes.get(name, {})}
        found[name] = {code: row for code, row in merged.items() if row is not None}
    return found


_GFX9_INTERPOLATIONS = range(0x270, 0x279)
_LOAD_SCALES = 0x2C
# DS_GWS_* and DS_ORDERED_COUNT.
_GFX9_GLOBAL_SHARE = (*range(0x98, 0x9E), 0xBF)
GFX90A = InstructionSet(
    name="gfx90a",
    family="gfx9",
    processor="gfx90a",
    formats=GFX90A_FORMATS,
    rows=GFX9_ROWS,
    codes=GFX90A_CODES,
    wait_counters=GFX9_COUNTERS,
    hardware_registers=GFX9_REGISTERS,
    messages=GFX9_MESSAGES,
    message_operations=GFX9_MESSAGE_OPERATIONS,
    dpp_controls=GFX90A_DPP,
    refused={
        **dict.fromkeys([("DS", code) for code in _GFX9_GLOBAL_SHARE], _SHARED),
        **dict.fromkeys([("VOP3", code) for code in _GFX9_INTERPOLATIONS], "interpolation"),
        ("VOP3P", _LOAD_SCALES): "lone V_MFMA_LD_SCALE_B32",
    },
    renamed=GFX9_OPERATIONS,
    has_dpp8=False,
    has_wave_wide_permutes=True,
    has_nan_modes=True,
    mode_bits=0x3FF | 1 << 23,
    marks_atomic_stores=False,
    spread_factors=False,
    dpp_takes_scalars=False,
    has_wave32=False,
    accumulation=Accumulation.UNIFIED,
    scratch=ScratchSetup.BY_CODE,
    keeps_high_halves=False,
    splits_formats=True,
    end_of_program=0xBF810000,
    trap=0xBF920002,
)
GFX908 = replace(
    GFX90A,
    name="gfx908",
    processor="gfx908",
    formats=GFX908_FORMATS,
    rows=_changed(GFX908_CHANGES),
    codes=GFX9_CODES,
    dpp_controls=GFX9_DPP,
    accumulation=Accumulation.APART,
    packs_item_ids=False,
)
# gfx906 has what gfx908 has, without accumulation VGPRs and a few dot products and atomics.
GFX906 = replace(
    GFX908,
    name="gfx906",
    processor="gfx906",
    formats=GFX906_FORMATS,
    rows={
        name: rows for name, rows in _changed(GFX906_CHANGES, GFX908.rows).items() if name != "MAI"
    },
    accumulation=Accumulation.NONE,
)
GFX942 = replace(
    GFX90A,
    name="gfx942",
    processor="gfx942",
    formats=GFX942_FORMATS,
    rows=_changed(GFX942_CHANGES),
    hardware_registers=GFX942_REGISTERS,
    scratch=ScratchSetup.ARCHITECTED,
)
GFX950 = replace(
    GFX942,
    name="gfx950",
    processor="gfx950",
    formats=GFX950_FORMATS,
    rows={**_changed(GFX950_CHANGES), "MAIX": _SCALED},
)

_PROCESSORS: Mapping[str, InstructionSet] = {
    **{sets.processor: sets for sets in (GFX906, GFX908, GFX90A, GFX942, GFX950)},
    "gfx9-4-generic": GFX942,
    **dict.fromkeys(("gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx11-generic"), GFX11),
    **dict.fromkeys(("gfx1150", "gfx1151", "gfx1152", "gfx1153"), GFX115),
    **dict.fromkeys(("gfx1200", "gfx1201", "gfx12-generic"), GFX12),
}


def instruction_set_of(processor: str) -> InstructionSet | None:
    """Return the instruction set of a processor by LLVM's name, None if it is not decoded."""
    return _PROCESSORS.get(processor)


def instruction_set_in(whole: CodeObject) -> InstructionSet:
    """Return the instruction set of a code object; BackendError if it is not decoded."""
    found = instruction_set_of(whole.target_name)
    if found is None:
        nearest = nearest_target(whole.target_name, EMULATED)
        raise BackendError(
            f"the machine code of {whole.target_name} is not decoded: compile for a processor that "
            f"is, the nearest is {nearest}"
        )
    return found
