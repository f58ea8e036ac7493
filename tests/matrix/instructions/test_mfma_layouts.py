"""Layouts, packing and modifiers of MFMA and SMFMAC, all on the host."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

from amdjit.intrinsics import matrix
from amdjit.intrinsics.builtins.table import rows
from amdjit.intrinsics.models.mfma_arithmetic import Modifiers, wave_product
from amdjit.intrinsics.models.mfma_instructions import CDNA, MfmaInstruction
from amdjit.intrinsics.models.mfma_layouts import FORMATS, Array, MfmaLayout

COUNTS = {"gfx908": 20, "gfx90a": 27, "gfx942": 46, "gfx950": 66}


def layouts(target: str) -> list[MfmaLayout]:
    return [
        instruction.layout(operand, format)
        for instruction in matrix.mfma_instructions(target).values()
        for operand in instruction.operands
        for format in (FORMATS if instruction.is_scaled and operand in "ab" else FORMATS[:1])
    ]


@pytest.mark.parametrize("target", CDNA)
def test_the_instructions_are_clangs_builtins(target: str) -> None:
    known = matrix.mfma_instructions(target)
    there = [
        row for row in rows().values() if row.group in ("mfma", "smfmac") and target in row.targets
    ]
    assert len(known) == COUNTS[target]
    assert {row.name for row in there} == set(known)
    for row in there:
        (assembled,) = row.mnemonics(target)
        found = matrix.matrix_instruction(assembled.removeprefix("v_"), target)
        assert found.name == row.name


@pytest.mark.parametrize("target", CDNA)
def test_operands_fill_the_registers_of_the_builtins_arguments(target: str) -> None:
    sizes = {"f64": 2, "i64": 2, "f32": 1, "i32": 1, "f16": 0.5, "bf16": 0.5, "i16": 0.5}
    for name, instruction in matrix.mfma_instructions(target).items():
        *words, result = rows()[name].signature.replace("->", "").split()
        types = [word for word in words if re.match(r"[bfi]+\d", word)]
        for operand, word in zip(("a", "b", "c", "d"), [*types[:3], result], strict=True):
            element, _, count = word.partition("x")
            registers = sizes[element] * int(count or 1)
            found = instruction.layout(operand).registers
            assert found == registers, (name, operand)


@pytest.mark.parametrize("target", CDNA)
def test_a_layout_covers_its_blocks_once(target: str) -> None:
    for layout in layouts(target):
        places = np.stack([part.ravel() for part in layout.positions()], axis=1)
        everything = itertools.product(
            range(layout.rows), range(layout.columns), range(layout.blocks)
        )
        np.testing.assert_array_equal(places[np.lexsort(places.T[::-1])], list(everything))
        last = layout.element(63, layout.elements - 1)
        assert layout.place(*last) == (63, layout.elements - 1)
        used = {layout.bit(i, s) for i in range(layout.elements) for s in range(layout.sets)}
        assert len(used) == layout.elements * layout.sets
        assert max(32 * word + bit for word, bit in used) + layout.bits == 32 * layout.registers


# By hand: from AMD's matrix instruction calculator for gfx90a and gfx942, and from Composable
# Kernel's test/mx_mfma_op for gfx950: (target, instruction, operand, format, lane, element, place).
@pytest.mark.parametrize(
    ("target", "name", "operand", "format", "lane", "i", "place"),
    [
        ("gfx90a", "mfma_f32_16x16x16f16", "a", None, 17, 3, (1, 7, 0)),
        ("gfx90a", "mfma_f32_32x32x8f16", "b", None, 33, 2, (6, 1, 0)),
        ("gfx90a", "mfma_f32_32x32x8f16", "d", None, 40, 5, (13, 8, 0)),
        ("gfx90a", "mfma_f32_16x16x16f16", "d", None, 37, 1, (9, 5, 0)),
        ("gfx908", "mfma_f32_32x32x1f32", "a", None, 35, 0, (3, 0, 1)),
        ("gfx908", "mfma_f32_32x32x1f32", "d", None, 2, 17, (1, 2, 1)),
        ("gfx908", "mfma_f32_16x16x1f32", "d", None, 20, 6, (6, 4, 1)),
        ("gfx908", "mfma_f32_4x4x1f32", "d", None, 6, 3, (3, 2, 1)),
        ("gfx908", "mfma_f32_4x4x4f16", "a", None, 63, 2, (3, 2, 15)),
        ("gfx90a", "mfma_f64_16x16x4f64", "d", None, 18, 2, (9, 2, 0)),
        ("gfx90a", "mfma_f64_4x4x4f64", "a", None, 21, 0, (1, 1, 1)),
        ("gfx90a", "mfma_f64_4x4x4f64", "d", None, 21, 0, (1, 1, 1)),
        ("gfx942", "mfma_i32_16x16x32_i8", "a", None, 16, 7, (0, 15, 0)),
        ("gfx942", "mfma_f32_16x16x32_fp8_bf8", "b", None, 33, 1, (17, 1, 0)),
        ("gfx942", "smfmac_f32_16x16x32_f16", "a", None, 17, 3, (1, 7, 0)),
        ("gfx942", "smfmac_f32_16x16x32_f16", "b", None, 17, 3, (11, 1, 0)),
        ("gfx950", "mfma_scale_f32_16x16x128_f8f6f4", "a", "fp8", 16, 1, (0, 17, 0)),
        ("gfx950", "mfma_scale_f32_16x16x128_f8f6f4", "a", "fp8", 48, 16, (0, 112, 0)),
        ("gfx950", "mfma_scale_f32_32x32x64_f8f6f4", "b", "bf8", 32, 31, (63, 0, 0)),
        ("gfx950", "mfma_scale_f32_16x16x128_f8f6f4", "b", "fp4", 17, 5, (37, 1, 0)),
        ("gfx950", "mfma_scale_f32_32x32x64_f8f6f4", "scale_a", None, 33, 0, (1, 1, 0)),
    ],
)
def test_elements_lie_where_the_sources_say(
    target: str, name: str, operand: str, format: str | None, lane: int, i: int, place: Any
) -> None:
    layout = matrix.layout(name, operand, target, format)
    assert layout.element(lane, i) == place
    assert layout.place(*place) == (lane, i)


def test_types_are_those_of_the_processor() -> None:
    name = "mfma_f32_16x16x32_fp8_bf8"
    assert [matrix.layout(name, each, "gfx942").kind for each in "ab"] == ["fp8_fnuz", "bf8_fnuz"]
    assert [matrix.layout(name, each, "gfx950").kind for each in "ab"] == ["fp8", "bf8"]
    scaled = "mfma_scale_f32_16x16x128_f8f6f4"
    registers = [matrix.layout(scaled, "a", "gfx950", each).registers for each in FORMATS]
    assert registers == [8, 8, 6, 6, 4]
    index = matrix.layout("smfmac_f32_16x16x64_f16", "index", "gfx950")
    assert (index.sets, index.set_bits) == (2, 16)
    assert matrix.layout("smfmac_f32_16x16x32_f16", "index", "gfx942").sets == 4


@pytest.mark.parametrize("target", CDNA)
def test_packing_and_unpacking_are_inverse(target: str) -> None:
    random = np.random.default_rng(1)
    for layout in layouts(target):
        values = (
            2.0 ** random.integers(-3, 4, layout.shape)
            if layout.kind == "e8m0"
            else random.integers(0, 4, layout.shape)
        )
        for selected in range(layout.sets):
            words = matrix.pack(layout, values, selected)
            assert words.shape == (64, layout.registers)
            found = matrix.unpack(layout, words, selected=selected)
            np.testing.assert_array_equal(found.astype(np.float64), values)
        register, bit = layout.bit(1 % layout.elements, layout.sets - 1)
        assert words[:, register].any() or bit >= 0


def test_packed_words_hold_elements_in_the_lowest_bits_first() -> None:
    layout = matrix.layout("mfma_scale_f32_16x16x128_f8f6f4", "a", "gfx950", "fp6")
    values = np.zeros((16, 128))
    values[3, 5] = 7.5  # e2m3: all bits but the sign
    words = matrix.pack(layout, values)
    assert words[3, 0] == 0b11 << 30
    assert words[3, 1] == 0b111
    assert np.count_nonzero(words) == 2


def test_maps_show_every_block() -> None:
    text = matrix.layout_map(matrix.layout("mfma_f32_4x4x1f32", "d", "gfx908"))
    assert "4 by 4 f32 in 16 blocks: `lane.element`; 4 elements a lane in 4 registers" in text
    assert text.count("block ") == 16
    assert "63.3" in text
    scale = matrix.layout("mfma_scale_f32_32x32x64_f8f6f4", "scale_b", "gfx950")
    assert "2 by 32 e8m0: `lane.element`; 1 element a lane in 1 register, 4 sets" in (
        matrix.layout_map(scale)
    )


@pytest.mark.parametrize(
    ("name", "target", "format", "text"),
    [
        ("mfma_f32_16x16x16f16", None, None, "give target=, one of gfx908, gfx90a, gfx942, gfx950"),
        ("mfma_f32_16x16x16", "gfx942", None, "did you mean mfma_f32_16x16x4f16, mfma"),
        ("mfma_f32_16x16x8_xf32", "gfx950", None, "no MFMA or SMFMAC instruction of gfx950"),
        ("mfma_f32_16x16x16f16", "gfx942", "fp8", "only scaled products of gfx950 take it"),
        ("mfma_scale_f32_16x16x128_f8f6f4", "gfx950", "fp5", "give one of fp8, bf8, fp6, bf6, fp4"),
        ("mfma_f32_16x16x16f16", "gfx906", None, "no WMMA instructions of 'gfx906'"),
    ],
)
def test_other_names_are_refused(
    name: str, target: str | None, format: str | None, text: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        matrix.layout(name, "a", target, format)


def test_places_outside_are_refused() -> None:
    layout = matrix.layout("mfma_f32_4x4x1f32", "a", "gfx908")
    for call in (lambda: layout.element(64, 0), lambda: layout.element(0, 1),
                 lambda: layout.place(0, 0, 16)):  # fmt: skip
        with pytest.raises(IndexError):
            call()
    with pytest.raises(ValueError, match="has no operand 'index'"):
        matrix.layout("mfma_f32_4x4x1f32", "index", "gfx908")
    with pytest.raises(ValueError, match="is 16 by 4 by 1, not 4 by 1"):
        matrix.pack(layout, np.zeros((4, 1)))


def multiplied(instruction: MfmaInstruction, a: Array, b: Array, **modifiers: int) -> Array:
    """Return the blocks of A B, by way of registers."""
    words = [
        matrix.pack(instruction.layout("a"), a.reshape(instruction.layout("a").shape)),
        matrix.pack(instruction.layout("b"), b.reshape(instruction.layout("b").shape)),
        matrix.pack(instruction.layout("c"), np.zeros(instruction.layout("c").shape)),
    ]
    d = wave_product(instruction, *words, modifiers=Modifiers(**modifiers))
    found = matrix.unpack(instruction.layout("d"), d)
    return found.reshape(instruction.blocks, instruction.m, instruction.n)


@pytest.mark.parametrize("name", ["mfma_f32_4x4x4f16", "mfma_f32_16x16x4f16", "mfma_i32_32x32x4i8"])
def test_blocks_of_a_are_broadcast(name: str) -> None:
    instruction = matrix.mfma_instructions("gfx90a")[name]
    random = np.random.default_rng(2)
    blocks, m, n, k = instruction.blocks, instruction.m, instruction.n, instruction.k
    a, b = random.integers(-3, 4, (blocks, m, k)), random.integers(-3, 4, (blocks, k, n))
    for cbsz in range(instruction.highest_cbsz + 1):
        for abid in {0, (1 << cbsz) - 1}:
            found = multiplied(instruction, a, b, cbsz=cbsz, abid=abid)
            group = 1 << cbsz
            taken = [block - block % group + abid if cbsz else block for block in range(blocks)]
            np.testing.assert_array_equal(found, a[taken] @ b)
    with pytest.raises(ValueError, match=f"takes 0 to {instruction.highest_cbsz}"):
        multiplied(instruction, a, b, cbsz=instruction.highest_cbsz + 1)
    with pytest.raises(ValueError, match="with cbsz=1 it is 0 to 1"):
        multiplied(instruction, a, b, cbsz=1, abid=2)


def test_lanes_of_b_are_moved() -> None:
    """16x16x1: a block of B is a group of 16 lanes, so that `blgp` chooses blocks."""
    instruction = matrix.mfma_instructions("gfx90a")["mfma_f32_16x16x1f32"]
    random = np.random.default_rng(3)
    a, b = random.integers(-3, 4, (4, 16, 1)), random.integers(-3, 4, (4, 1, 16))
    moved = [[0, 1, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3], [1, 2, 3, 0], [0] * 4, [1] * 4, [2] * 4]
    for blgp, taken in enumerate([*moved, [3] * 4]):
        np.testing.assert_array_equal(multiplied(instruction, a, b, blgp=blgp), a @ b[taken])
    with pytest.raises(ValueError, match="blgp=8"):
        multiplied(instruction, a, b, blgp=8)


def test_the_bits_of_blgp_negate_in_products_of_f64() -> None:
    name = "mfma_f64_16x16x4f64"
    a, b = np.full((16, 4), 2.0), np.full((4, 16), 3.0)
    instruction = matrix.mfma_instructions("gfx942")[name]
    signs = [multiplied(instruction, a, b, blgp=blgp)[0, 0, 0] for blgp in range(8)]
    assert signs == [24, -24, -24, 24] * 2
    with pytest.raises(ValueError, match="blgp=1: mfma_f64_16x16x4f64 takes 0 to 0"):
        multiplied(matrix.mfma_instructions("gfx90a")[name], a, b, blgp=1)


@pytest.mark.parametrize(
    ("target", "name"),
    [("gfx942", "smfmac_f32_16x16x32_f16"), ("gfx942", "smfmac_i32_32x32x32_i8"),
     ("gfx950", "smfmac_f32_32x32x32_bf16"), ("gfx950", "smfmac_f32_16x16x128_fp8_bf8")],
)  # fmt: skip
def test_sparse_products_take_the_set_that_abid_names(target: str, name: str) -> None:
    instruction = matrix.mfma_instructions(target)[name]
    random = np.random.default_rng(4)
    kept = random.integers(0, 2, (instruction.m, instruction.k))
    kept[:, 2:] *= np.arange(2, instruction.k) % 4 > 1
    whole = random.integers(-3, 4, kept.shape) * (np.arange(instruction.k) % 4 != 1) * kept
    whole[:, 3::4] = 0
    values, places = matrix.compress_2to4(whole)
    b = random.integers(-3, 4, (instruction.k, instruction.n))
    words = [
        matrix.pack(instruction.layout("a"), values),
        matrix.pack(instruction.layout("b"), b),
        matrix.pack(instruction.layout("c"), np.zeros(instruction.layout("c").shape)),
    ]
    for abid in range(instruction.layout("index").sets):
        index = matrix.pack(instruction.layout("index"), places, abid)
        d = wave_product(instruction, *words, index, modifiers=Modifiers(abid=abid))
        found = matrix.unpack(instruction.layout("d"), d)
        np.testing.assert_array_equal(found, whole @ b)


def test_scales_are_taken_from_the_byte_that_is_named() -> None:
    instruction = matrix.mfma_instructions("gfx950")["mfma_scale_f32_32x32x64_f8f6f4"]
    random = np.random.default_rng(5)
    a, b = random.integers(-2, 3, (32, 64)), random.integers(-2, 3, (64, 32))
    scales = 2.0 ** random.integers(-3, 4, (32, 2)), 2.0 ** random.integers(-3, 4, (2, 32))
    layouts = [instruction.layout("scale_a"), instruction.layout("scale_b")]
    d = wave_product(
        instruction,
        matrix.pack(instruction.layout("a", "fp4"), a),
        matrix.pack(instruction.layout("b", "bf6"), b),
        matrix.pack(instruction.layout("c"), np.ones((32, 32))),
        matrix.pack(layouts[0], scales[0], 3),
        matrix.pack(layouts[1], scales[1], 1),
        modifiers=Modifiers(cbsz=4, blgp=3),
        scale_bytes=(3, 1),
    )
    wanted = (a * np.repeat(scales[0], 32, 1)) @ (b * np.repeat(scales[1], 32, 0)) + 1
    np.testing.assert_array_equal(matrix.unpack(instruction.layout("d"), d), wanted)
