"""Instructions with an exact result against digests of what an RX 9070 (gfx1201) returned:
conversions, roundings, cube coordinates and medians, under modifiers, DPP and EXEC masks.

`../../hardware/exact_digests.json` holds the digests. A corpus is a list of instructions; each runs
on the same values of 32 lanes under each of 8 EXEC masks.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.emulator.instructions.test_approximate_instructions import byte_hash, word_hash
from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import run_registers

pytestmark = needs_tools

Words = NDArray[np.uint32]

DIGESTS = {
    row["id"]: row["digest"]
    for row in json.loads(
        (Path(__file__).parents[2] / "hardware" / "exact_digests.json").read_text()
    )["digests"]
}
MASKS = (0xFFFFFFFF, 0, 0xAAAAAAAA, 0x55555555, 1, 0x80000000, 0xFFFF, 0xFFFF0000)
# Reversed within 8 lanes, without and with reads of inactive lanes; one lane on, with all four
# treatments of lanes that have no source; exchanged in a row of which few lanes are written.
DPP = (
    " dpp8:[7,6,5,4,3,2,1,0]",
    " dpp8:[7,6,5,4,3,2,1,0] fi:1",
    *(
        f" row_shl:1 row_mask:0xf bank_mask:0xf{bound}{inactive}"
        for inactive in ("", " fi:1")
        for bound in ("", " bound_ctrl:1")
    ),
    " row_xmask:7 row_mask:0x1 bank_mask:0x5 bound_ctrl:1",
)
OMOD = ("", " mul:2", " mul:4", " div:2")
DEAD = np.uint32(0xDEAD0000) + np.arange(32, dtype=np.uint32)
_AT_ONCE = 100


# An instruction from v1, v2, ... to v100, and how DPP moves v1 before.
Line = tuple[str, str]


def corpus(
    lines: Sequence[Line],
    columns: Sequence[Sequence[int]],
    start: Words = DEAD,
    mode: int = 0xF0,
    halves: bool = False,
) -> Words:
    """Return results by EXEC mask, instruction and lane.

    columns: values of v1, v2, ..., repeated over the lanes. start: what v100 holds before. halves:
    instructions name halves of registers, and DPP moves v1 in an instruction of its own, so that
    there are fewer to translate.
    """
    inputs = [np.resize(np.array(column, np.uint32), 32) for column in columns] + [start]
    rows = np.array([np.tile(row, 8) for row in inputs] + [np.repeat(MASKS, 32)], np.uint32)
    head = [
        f"s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 8), {mode & 0xFF:#x}",
        f"s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 23, 1), {mode >> 23}",
        f"v_readfirstlane_b32 s5, v{len(rows)}",
    ]
    parts = []
    for first in range(0, len(lines), _AT_ONCE):
        chunk = lines[first : first + _AT_ONCE]
        body = [*head, *(f"v_mov_b32 v{100 + n}, v{len(rows) - 1}" for n in range(len(chunk)))]
        body += _moves() if halves else ["s_mov_b32 exec_lo, s5"]
        for place, (text, dpp) in enumerate(chunk):
            line = text.replace("v100", f"v{100 + place}")
            number = DPP.index(dpp) if halves else 0
            body += (
                [f"s_mov_b32 exec_lo, s{10 + number}", re.sub(r"\bv1\b", f"v{210 + number}", line)]
                if halves
                else [line + dpp]
            )
        outputs = [*range(100, 100 + len(chunk))]
        attributes = "+real-true16" if halves else ""
        found = run_registers("\n".join(body), rows, outputs, attributes=attributes)
        parts.append(found.reshape(len(chunk), 8, 32))
    return np.concatenate(parts).transpose(1, 0, 2)


def _moves() -> list[str]:
    """For each DPP, v1 as it moves to v210 and up, and the lanes that it writes to s10 and up."""
    lines = ["v_mov_b32 v230, 0"]
    for place, dpp in enumerate(DPP):
        lines += [
            f"v_mov_b32 v{210 + place}, 0",
            f"v_mov_b32 v{220 + place}, -1",
            "s_mov_b32 exec_lo, s5",
            f"v_mov_b32_dpp v{210 + place}, v1{dpp}",
            f"v_mov_b32_dpp v{220 + place}, v230{dpp}",
            "s_mov_b32 exec_lo, -1",
            f"v_cmp_eq_u32 s{10 + place}, 0, v{220 + place}",
            f"s_and_b32 s{10 + place}, s{10 + place}, s5",
        ]
    return lines


def source(text: str, neg: object, absolute: object) -> str:
    text = f"|{text}|" if absolute else text
    return f"-{text}" if neg else text


def half(register: str, upper: object) -> str:
    return register + (".h" if upper else ".l")


def with_canonical_nans(words: Words, high: NDArray[np.bool_]) -> Words:
    """Halves that are NaN as 0x7e00; high: which results are in the upper half."""
    shift = np.where(high, 16, 0).astype(np.uint32)
    nan = (words >> shift & 0x7FFF) > 0x7C00
    return np.where(nan, words & ~(0xFFFF << shift) | 0x7E00 << shift, words).astype(np.uint32)


# Cube coordinates

CUBE = (
    *(0, 0x80000000, 1, 0x80000001, 0x7FFFFF, 0x800000, 0x3F800000, 0xBF800000),
    *(0x40000000, 0xC0000000, 0x7EFFFFFF, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7F812345),
    0xFFC54321,
)


@pytest.mark.parametrize("which", [name for name in DIGESTS if name.startswith("cube")])
def test_cube_coordinates_are_those_of_the_chip(which: str) -> None:
    name, modifiers = which.split(".", 1)
    tail = "" if modifiers == "none" else f" {modifiers}"
    triples = np.array(list(itertools.product(CUBE, repeat=3)), np.uint32).T
    body = (
        "  s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 8), 0xf0\n"
        f"  v_{name} v100, v1, v2, v3{tail}"
    )
    assert byte_hash(run_registers(body, triples, [100])[0]) == DIGESTS[which]


MEDIANS = (
    ("signed_zero", (0, 0x8000, 0x3C00, 0xBC00, 1, 0x8001, 0x7C00, 0xFC00)),
    ("nan", (0, 0x8000, 0x7C01, 0x7E00, 0xFC01, 0xFE00, 0x3C00, 0xBC00)),
)


@pytest.mark.parametrize(("which", "values"), MEDIANS)
def test_medians_are_those_of_the_chip(which: str, values: tuple[int, ...]) -> None:
    triples = np.array(list(itertools.product(values, repeat=3)), np.uint32).T[::-1]
    rows = np.concatenate([triples, np.tile(DEAD, 16)[None]])
    body = "  v_mov_b32 v100, v4\n  v_med3_num_f16 v100, v1, v2, v3"
    found = with_canonical_nans(run_registers(body, rows, [100])[0], np.array(False))
    assert word_hash(found) == DIGESTS[f"med3_num_f16.{which}"]


def test_packed_halves_are_those_of_the_chip() -> None:
    i = np.arange(65536, dtype=np.uint32)
    rows = np.array([i | (65535 - i) << 16, i * np.uint32(0x7395A831) ^ np.uint32(0xA7925163)])
    lines = [f"v_mov_b32 v{n}, 0xcafebeef" for n in (100, 101)]
    lines += ["v_sat_pk_u8_i16_e64 v100.l, v1", "v_sat_pk_u8_i16_e64 v101.h, v1"]
    for variant in range(64):
        low = source(half("v1", variant & 16), variant & 4, variant & 1)
        high = source(half("v2", variant & 32), variant & 8, variant & 2)
        lines.append(f"v_pack_b32_f16 v{102 + variant}, {low}, {high}")
    found = run_registers("\n".join(lines), rows, [*range(100, 166)], attributes="+real-true16")
    names = ["sat_pk_u8_i16.l", "sat_pk_u8_i16.h", *(f"pack_b32_f16.{n}" for n in range(64))]
    assert {name: byte_hash(row) for name, row in zip(names, found, strict=True)} == {
        name: DIGESTS[name] for name in names
    }


# Conversions of 32 bits

_TO_FLOAT = ("cvt_f32_i32", "cvt_f32_u32")
_TO_INTEGER = ("cvt_i32_f32", "cvt_u32_f32", "cvt_nearest_i32_f32", "cvt_floor_i32_f32")


def test_conversions_of_32_bits_are_those_of_the_chip() -> None:
    values = (
        *(0, 1, 0xFFFFFFFF, 0x80000000, 0x01000001, 0x7FFFFFFF, 0x3F000000, 0xBF000000),
        *(0x3FC00000, 0xBFC00000, 0x4EFFFFFF, 0xCF000000, 0x4F800000, 0xFF800000, 0x7F800001),
        0x80000001,
    )
    lines = [
        (f"v_{name}_e64 v100, v1{' clamp' * (variant >> 2)}{OMOD[variant & 3]}", "")
        for name in _TO_FLOAT
        for variant in range(8)
    ] + [
        (
            f"v_{name}_e64 v100, {source('v1', variant & 1, variant & 2)}"
            + " clamp" * (variant >> 2),
            "",
        )
        for name in _TO_INTEGER
        for variant in range(8)
    ]
    assert word_hash(corpus(lines, [values])) == DIGESTS["cvt_32bit_six.ordinary"]


# Conversions to 8-bit floats


def _eighths() -> list[Line]:
    lines = []
    for name in ("pk_fp8", "pk_bf8"):
        for dpp, variant in itertools.product(DPP, range(32)):
            first = source("v1", variant & 2, variant & 1)
            second = source("v2", variant & 8, variant & 4)
            upper = " op_sel:[0,0,1]" * (variant >> 4)
            lines.append((f"v_cvt_{name}_f32_e64_dpp v100, {first}, {second}{upper}", dpp))
    for name in ("sr_fp8", "sr_bf8"):
        for dpp, variant in itertools.product(DPP, range(16)):
            first = source("v1", variant & 2, variant & 1)
            text = f"v_cvt_{name}_f32_e64_dpp v100, {first}, v2 byte_sel:{variant >> 2}"
            lines.append((text, dpp))
    return lines


def test_conversions_to_8_bit_floats_are_those_of_the_chip() -> None:
    values = (
        *(0x3F880000, 0xBF900001, 0x43F00000, 0x47700000),
        *(0x7F800001, 0xFF800000, 0x33800000, 0x3F800001),
    )
    columns = [values, values[3:] + values[:3]]
    found = [corpus(_eighths(), columns, mode=mode) for mode in (0xF0, 0x8000F0)]
    assert word_hash(np.concatenate(found)) == DIGESTS["cvt_pk/sr_fp8/bf8_f32.dpp"]


# Sine and cosine of quarter turns


def _turns(kind: str) -> list[Line]:
    lines = []
    for name, variant, dpp in itertools.product(
        ("sin", "cos"), range(128 if kind == "f16" else 32), DPP
    ):
        of, to, form = "v1", "v100", "e64_dpp"
        if kind == "f16":
            of, to, form = half(of, variant & 32), half(to, variant & 64), "e64"
        text = source(of, variant & 1, variant & 2) + " clamp" * (variant >> 4 & 1)
        lines.append((f"v_{name}_{kind}_{form} {to}, {text}{OMOD[variant >> 2 & 3]}", dpp))
    return lines


_QUARTERS = {
    "f32": (
        *(0, 0x80000000, 0x3E800000, 0xBE800000, 0x3F000000, 0xBF000000, 0x3F400000, 0x4B000000),
    ),
    "f16": (
        *(0x8000, 0x3400B400, 0x3800B800, 0x3A00BA00, 0x3C00BC00, 0x7BFFFBFF, 0x4000C000),
        0x4200C200,
    ),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", _QUARTERS)
def test_sine_and_cosine_of_quarter_turns_are_those_of_the_chip(kind: str) -> None:
    found = corpus(_turns(kind), [_QUARTERS[kind]], halves=kind == "f16")
    assert word_hash(found) == DIGESTS[f"sin/cos_{kind}.dpp"]


# Conversions of 16 bits


# What the bits of a variant choose: two of the output modifier, clamp, |x|, -x, and the upper half
# of the source and of the result. To integers, the output modifier has no effect.
_OUTPUT = ("omod", "omod2", "clamp")
_INPUT = ("absolute", "negated")
_SIXTEEN = {
    "cvt_f16_i16": (*_OUTPUT, "source", "result"),
    "cvt_f16_u16": (*_OUTPUT, "source", "result"),
    "cvt_i16_f16": (*_OUTPUT, *_INPUT, "source", "result"),
    "cvt_u16_f16": (*_OUTPUT, *_INPUT, "source", "result"),
    "cvt_f16_f32": (*_OUTPUT, *_INPUT, "result"),
    "cvt_f32_f16": (*_OUTPUT, *_INPUT, "source"),
}


def _sixteen(name: str) -> tuple[list[Line], list[bool]]:
    """The instructions of a conversion, and which write upper halves."""
    bits = _SIXTEEN[name]
    count = 1 << len(bits)
    lines, highs = [], []
    for dpp, variant in itertools.product(DPP, (0, 1, 2, 3, 4, 7, 8, 16, count // 2, count - 1)):
        on = {bit for place, bit in enumerate(bits) if variant >> place & 1}
        omod = OMOD[("omod" in on) + 2 * ("omod2" in on)] if name.startswith("cvt_f") else ""
        of = half("v1", "source" in on) if name != "cvt_f16_f32" else "v1"
        to = half("v100", "result" in on) if name != "cvt_f32_f16" else "v100"
        text = source(of, "negated" in on, "absolute" in on) + " clamp" * ("clamp" in on) + omod
        lines.append((f"v_{name}_e64 {to}, {text}", dpp))
        highs.append("result" in on)
    return lines, highs


def test_conversions_of_16_bits_are_those_of_the_chip() -> None:
    values = (
        *(0x00018001, 0x03FF83FF, 0x04008400, 0x04018401, 0x7BFFFBFF, 0x7C00FC00, 0x7E007C01),
        *(0x80000000, 0x3F800000, 0xBF000000, 0x387FEFFF, 0x387FF000, 0x387FF001, 0x477FF000),
        *(0x7F800001, 0xFF800001),
    )
    found = []
    for mode in (0xF0, 0x8000F0):
        parts = []
        for name in _SIXTEEN:
            lines, highs = _sixteen(name)
            words = corpus(lines, [values], mode=mode, halves=True)
            if name == "cvt_f32_f16":
                words = np.where((words & 0x7FFFFFFF) > 0x7F800000, 0x7FC00000, words)
            elif name not in ("cvt_i16_f16", "cvt_u16_f16"):
                words = with_canonical_nans(words, np.array(highs)[None, :, None])
            parts.append(words)
        found.append(np.concatenate(parts, axis=1))
    assert word_hash(np.concatenate(found)) == DIGESTS["cvt_16bit_six.dpp"]


# Functions of one operand

_FUNCTIONS = (
    *("trunc", "ceil", "rndne", "floor", "sqrt", "rcp", "rsq", "exp", "log", "fract", "frexp_mant"),
)


def test_functions_of_halves_are_those_of_the_chip() -> None:
    values = (
        *(0x3C00BC00, 0xC0004000, 0x38003400, 0xB800B400, 0x44004200, 0xC400C200, 0x3A003600),
        0xBA00B600,
    )
    variants = [
        # |x|, -x, output modifier, clamp, upper half of the source, and of the result.
        (0, 0, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0), (1, 1, 0, 0, 0, 0),
        (0, 0, 1, 0, 0, 0), (0, 0, 2, 0, 0, 0), (0, 0, 3, 0, 0, 0), (0, 0, 0, 1, 0, 0),
        (0, 0, 0, 0, 1, 0), (0, 0, 0, 0, 0, 1), (0, 0, 0, 0, 1, 1), (1, 1, 3, 1, 1, 1),
    ]  # fmt: skip
    lines, highs = [], []
    for name in _FUNCTIONS:
        for dpp, (absolute, neg, omod, clamp, upper, result) in itertools.product(DPP, variants):
            text = source(half("v1", upper), neg, absolute) + " clamp" * clamp + OMOD[omod]
            lines.append((f"v_{name}_f16_e64 {half('v100', result)}, {text}", dpp))
            highs.append(bool(result))
    found = with_canonical_nans(
        corpus(lines, [values], halves=True), np.array(highs)[None, :, None]
    )
    assert word_hash(found) == DIGESTS["eleven_f16.ordinary.dpp"]


def test_functions_of_singles_are_those_of_the_chip() -> None:
    values = np.array([0, 1, 4, 16, 64, 256, -1, -4], np.float32).view(np.uint32)
    start = np.arange(100, 132).astype(np.float32).view(np.uint32)
    lines = [
        (f"v_{name}_f32_e64_dpp v100, {'-' * modified}v1{' mul:2' * modified}", dpp)
        for name in _FUNCTIONS
        for dpp in DPP
        for modified in (0, 1)
    ]
    found = corpus(lines, [values], start)
    found = np.where((found & 0x7FFFFFFF) > 0x7F800000, 0x7FC00000, found)
    assert word_hash(found) == DIGESTS["eleven_f32.dpp"]
