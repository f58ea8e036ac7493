"""Inline assembly with names and types: what it computes, and what is refused where it is
declared."""

from __future__ import annotations

import re
from typing import Annotated, Any

import numpy as np
import pytest

import amdjit
from amdjit import f32, i32, u32
from amdjit.intrinsics import wave
from amdjit.intrinsics.asm import SCALAR, instruction
from amdjit.types import VOID, Immediate, boolean, u8


@instruction("v_mad_u32_u24 {result}, {x}, {y}, {z}")
def multiply_add(x: u32, y: u32, z: u32) -> u32:
    """Return the lower 32 bits of x * y + z of 24-bit integers."""
    return x * y + z


@instruction("v_lshl_add_u32 {result}, {x}, {count}, {base}")
def scaled(x: u32, count: Annotated[int, Immediate(0, 31)], base: Annotated[u32, SCALAR]) -> u32:
    """Return base + (x << count); base is the same in all lanes."""
    return base + (x << count)


@instruction("v_pk_add_f32_not_there {result}, {x}, {x}")
def unknown(x: f32) -> f32:
    """Do nothing that there is."""


@instruction(
    "v_cmp_gt_u32 vcc_lo, {x}, {y}\nv_cndmask_b32 {result}, 7, 9, vcc_lo",
    clobbers=("vcc",),
    early_clobber=True,
)
def nine_if_greater(x: u32, y: u32) -> u32:
    """Return 9 where x > y, else 7."""
    return 9 if x > y else 7


@instruction("v_dual_nop_is_not_needed {x}", targets=("gfx1100",), alternative="nothing")
def elsewhere(x: u32) -> VOID:
    """Do what this processor lacks."""


@instruction("s_nop {count}", side_effects=True)
def idle(count: Annotated[int, Immediate(0, 15)]) -> VOID:
    """Do nothing for some cycles."""


@amdjit.kernel
def compute(x, y, out):
    i = amdjit.grid(1)
    idle(3)
    out[0, i] = multiply_add(x[i], y[i], u32(5))
    out[1, i] = scaled(x[i], 3, wave.readfirstlane(y[i]))
    out[2, i] = nine_if_greater(x[i], y[i])


def test_assembly_computes_what_its_model_says() -> None:
    random = np.random.default_rng(17)
    x, y = (random.integers(0, 2**12, 32).astype(np.uint32) for _ in range(2))
    out = np.zeros((3, 32), np.uint32)
    compute[1, 32](x, y, out)
    np.testing.assert_array_equal(out[0], multiply_add(x, y, 5))
    np.testing.assert_array_equal(out[1], scaled(x, 3, y[0]))
    np.testing.assert_array_equal(
        out[2], [nine_if_greater(*pair) for pair in zip(x, y, strict=True)]
    )
    assembly = compute.compile(u32[:], u32[:], u32[:, :]).asm_full
    assert (
        assembly.count("v_mad_u32_u24")
        == len(re.findall(r"v_lshl_add_u32 v\d+, v\d+, 3, s\d+", assembly))
        == 1
    )
    assert "s_nop 3" in assembly


def undeclared(x: u32, y: u32) -> u32: ...


def of_a_flag(x: boolean) -> u32: ...


def of_a_byte(x: u8) -> u32: ...


def nothing(x: u32) -> VOID: ...


@pytest.mark.parametrize(
    ("template", "function", "options", "message"),
    [
        ("v_add_u32 {result}, {x}, {z}", undeclared, {}, r"\{z\}.*signature lacks"),
        ("v_mov_b32 {result}, {x}", undeclared, {}, r"does not use \{y\}"),
        ("v_nop {x} {y}", undeclared, {}, r"does not use \{result\}"),
        ("v_mov_b32 {result}, {x}", of_a_flag, {}, "no register holds boolean"),
        ("v_mov_b32 {result}, {x}", of_a_byte, {}, "no register holds u8"),
        ("v_mov_b32 {result}, {x}", nothing, {}, "returns nothing"),
        ("v_nop {x}", nothing, {"clobbers": ("flags",)}, "clobber 'flags'"),
    ],
)
def test_a_text_that_does_not_fit_its_signature_is_refused_where_it_stands(
    template: str, function: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        instruction(template, **options)(function)


def test_an_unknown_instruction_is_reported_in_the_assemblers_words() -> None:
    @amdjit.kernel
    def kernel(x):
        x[0] = unknown(x[0])

    with pytest.raises(amdjit.BackendError, match="invalid instruction"):
        kernel.compile(f32[:])


def test_the_target_is_checked() -> None:
    @amdjit.kernel
    def kernel(x):
        elsewhere(x[0])

    with pytest.raises(amdjit.TargetError, match="use nothing"):
        kernel.compile(u32[:])


def test_constants_and_types_are_checked_at_the_call() -> None:
    @amdjit.kernel
    def kernel(x):
        idle(16)

    with pytest.raises(amdjit.CompileError, match=r"0\.\.15"):
        kernel.compile(i32[:])
