"""The denormal modes of the descriptor and of the instructions that change them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.emulator.float_checks import F16, F32, F64, same
from tests.emulator.float_modes import (
    MODES,
    TINY,
    dwords,
    flushed,
    names,
    run,
    samples,
)
from tests.emulator.single_instruction import run_registers, samples32


@pytest.mark.covering(1)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [F16, F32, F64])
def test_the_descriptors_denormal_mode(kind: Any, mode: int) -> None:
    x, y = samples(kind, 2)
    x[1::5] = np.ldexp(x[::3][: len(x[1::5])], int(math.log2(TINY[kind])) + 1).astype(kind)
    y[1::5] = np.ldexp(y[::3][: len(y[1::5])], int(math.log2(TINY[kind])) + 1).astype(kind)
    option = {"denormals": mode} if kind == F32 else {"wide_denormals": mode}
    bits = 8 * np.dtype(kind).itemsize
    given = (x, y) if mode & 1 else (flushed(x), flushed(y))
    with np.errstate(all="ignore"):
        total, product = given[0] + given[1], given[0] * given[1]
    for name, value in (("add", total), ("mul", product)):
        found = run(f"  v_{name}_f{bits} {names(kind, 2)}", [x, y], kind, **option)
        same(found, value if mode & 2 else flushed(value))


@pytest.mark.parametrize("mode", MODES)
def test_conversions_and_packed_halves_flush_each_format_in_its_mode(mode: int) -> None:
    x = samples(F16, 1)[0]
    x[1::4] = np.ldexp(x[::3][: len(x[1::4])], -16).astype(F16)
    given = x if mode & 1 else flushed(x)
    found = run_registers(
        "  v_cvt_f32_f16 v100, v1", np.stack(dwords(x)), [100], wide_denormals=mode
    )
    same(found[0].view(F32), given.astype(F32))
    single = samples(F32, 1)[0]
    single[1::4] = np.ldexp(single[::3][: len(single[1::4])], -16).astype(F32)
    with np.errstate(all="ignore"):
        half = single.astype(F16)
    found = run_registers(
        "  v_cvt_f16_f32 v100, v1", np.stack(dwords(single)), [100], wide_denormals=mode
    )
    same(found[0].astype(np.uint16).view(F16), half if mode & 2 else flushed(half))
    with np.errstate(all="ignore"):
        doubled = given + given
    found = run_registers(
        "  v_pk_add_f16 v100, v1, v1", np.stack(dwords(x)), [100], wide_denormals=mode
    )
    same(
        (found[0] & np.uint32(0xFFFF)).astype(np.uint16).view(F16),
        doubled if mode & 2 else flushed(doubled),
    )


def test_classes_are_those_of_the_bits_in_every_mode() -> None:
    x = np.array([1e-40, -1e-40, 0.0, -0.0] * 8, F32)
    found = run_registers(
        "  v_cmp_class_f32 vcc_lo, v1, 0x90", np.stack(dwords(x)), [], ["vcc_lo"], denormals=0
    )
    assert found[0, 0] == 0x33333333


@pytest.mark.covering(2)
@pytest.mark.parametrize("omod", ["mul:2", "mul:4", "div:2"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [F16, F32, F64])
def test_output_modifiers_count_in_every_denormal_mode(kind: Any, mode: int, omod: str) -> None:
    x, y = samples(kind, 2)
    option = {"denormals": mode} if kind == F32 else {"wide_denormals": mode}
    found = run(
        f"  v_add_f{8 * np.dtype(kind).itemsize}_e64 {names(kind, 2)} {omod}",
        [x, y],
        kind,
        **option,
    )
    given = (x, y) if mode & 1 else (flushed(x), flushed(y))
    with np.errstate(all="ignore"):
        total = given[0] + given[1]
        # What is below the normal numbers is +0 before, and keeps its sign after.
        total = np.where(np.abs(total) < np.finfo(kind).smallest_normal, kind(0), total).astype(
            kind
        )
        scaled = total.astype(np.longdouble) * {"mul:2": 2, "mul:4": 4, "div:2": 0.5}[omod]
        low = np.abs(scaled) < np.finfo(kind).smallest_normal
        total = np.where(low, np.copysign(kind(0), total), scaled.astype(kind)).astype(kind)
    same(found, total)


@pytest.mark.parametrize(
    ("flush", "keep"),
    [
        ("s_denorm_mode 12", "s_denorm_mode 15"),
        (
            "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 4, 2), 0",
            "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 4, 2), 3",
        ),
    ],
)
def test_the_denormal_mode_changes_within_a_block(flush: str, keep: str) -> None:
    inputs = samples32(1)
    x = inputs[0].view(F32)
    body = f"""  v_mul_f32 v100, 1.0, v1
  {flush}
  v_mul_f32 v101, 1.0, v1
  {keep}
  v_mul_f32 v102, 1.0, v1"""
    found = run_registers(body, inputs, [100, 101, 102])
    for index, expected in enumerate((x, flushed(x), x)):
        same(found[index].view(F32), expected)
