"""The denormal and rounding modes of the descriptor and of the instructions that change them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from amdjit.diagnostics.errors import KernelFault
from tests.emulator.building import assemble, compile_source, emulate
from tests.emulator.exact_rounding import fused, rounded
from tests.emulator.float_checks import F16, F32, F64, same
from tests.emulator.float_modes import (
    ARITHMETIC,
    MODES,
    SAMPLES,
    added,
    dwords,
    each,
    flushed,
    fused_model,
    modes_of,
    multiplied,
    names,
    run,
    samples,
)
from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import join64, run_registers

pytestmark = needs_tools


@pytest.mark.sample(8)
@pytest.mark.covering(2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [F16, F32, F64])
@pytest.mark.parametrize("name", ARITHMETIC)
def test_the_descriptors_rounding_mode(name: str, kind: Any, mode: int) -> None:
    model, count = ARITHMETIC[name]
    rows = samples(kind, count)
    if name == "sub" and kind == F64:
        body = f"  v_add_f64 {names(kind, count)} neg:[0,1]".replace("neg:[0,1]", "").replace(
            ", v[3:4]", ", -v[3:4]"
        )
    else:
        body = f"  v_{name}_f{8 * np.dtype(kind).itemsize} {names(kind, count)}"
    found = run(body, rows, kind, **modes_of(kind, mode))
    same(found, each(model(kind, mode), rows, kind))


@pytest.mark.parametrize("mode", MODES)
def test_other_formats_keep_their_rounding(mode: int) -> None:
    rows = samples(F32, 2)
    found = run("  v_add_f32 v100, v1, v2", rows, F32, wide_rounding=mode)
    same(found, each(added(F32, 0), rows, F32))
    rows = samples(F64, 2)
    same(
        run(f"  v_mul_f64 {names(F64, 2)}", rows, F64, rounding=mode),
        each(multiplied(F64, 0), rows, F64),
    )


@pytest.mark.covering(1)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "body",
    [
        "s_round_mode {both}\n v_add_f32 v100, v1, v2",
        "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 2), {mode}\n v_add_f32 v100, v1, v2",
        "s_mov_b32 s10, {mode}\n s_setreg_b32 hwreg(HW_REG_WAVE_MODE, 0, 2), s10\n v_add_f32 "
        "v100, v1, v2",
        "s_round_mode {both}\n s_branch .Lx\n s_nop 0\n.Lx:\n v_add_f32 v100, v1, v2",
        "v_dual_add_f32 v100, v1, v2 :: v_dual_add_f32 v101, v2, v1\n s_round_mode {both}\n"
        " v_dual_add_f32 v100, v1, v2 :: v_dual_mov_b32 v101, v2",
        "s_round_mode {both}\n v_readfirstlane_b32 s10, v1\n v_mov_b32 v100, 0\n v_fmac_f32 v100, "
        "1.0, v1\n"
        " v_fma_mix_f32 v100, v1, 1.0, v2",
    ],
)
def test_the_rounding_mode_is_set_by_instructions(body: str, mode: int) -> None:
    rows = samples(F32, 2)
    found = run(body.format(mode=mode, both=mode | mode << 2), rows, F32)
    same(found, each(added(F32, mode), rows, F32))


def test_the_mode_depends_on_the_way_that_a_wave_came() -> None:
    """Half of the waves set it; after the join it is known at run time only, for floats of all
    formats."""
    rows = samples(F32, 2)
    body = """  s_and_b32 s10, ttmp9, 1
  s_cmp_eq_u32 s10, 0
  s_cbranch_scc1 .Ljoin
  s_round_mode 9
  s_denorm_mode 0
.Ljoin:
  v_add_f32 v100, v1, v2
  s_getreg_b32 s11, hwreg(HW_REG_WAVE_MODE, 0, 8)
  v_readfirstlane_b32 s12, v1"""
    found = run_registers(body, np.stack([dwords(row)[0] for row in rows]), [100], ["s11"])
    odd = np.arange(SAMPLES) // 32 % 2 == 1
    down = flushed(each(added(F32, 1), [flushed(row) for row in rows], F32))
    same(found[0].view(F32), np.where(odd, down, each(added(F32, 0), rows, F32)))
    np.testing.assert_array_equal(found[1], np.where(odd, 0x09, 0xF0))


@pytest.mark.parametrize("mode", MODES)
def test_scalar_instructions_round_too(mode: int) -> None:
    rows = [row[:256:32] for row in samples(F32, 2)]
    wide = [np.repeat(row, 32) for row in rows]
    body = "  v_readfirstlane_b32 s10, v1\n  v_readfirstlane_b32 s11, v2\n"
    found = run(
        body + "  s_add_f32 s12, s10, s11\n  s_nop 4\n  v_mov_b32 v100, s12",
        wide,
        F32,
        rounding=mode,
    )
    same(found, each(added(F32, mode), wide, F32))


CONVERSIONS = {
    "v_cvt_f16_f32": (F32, F16),
    "v_cvt_f32_f64": (F64, F32),
    "v_cvt_f32_i32": (np.int32, F32),
    "v_cvt_f32_u32": (np.uint32, F32),
    "v_cvt_f16_i16": (np.int16, F16),
    "v_cvt_f16_u16": (np.uint16, F16),
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions_round_as_the_mode_says(name: str, mode: int) -> None:
    source, target = CONVERSIONS[name]
    if source in (F32, F64):
        row = samples(source, 1)[0]
        row[1::3] = (row[::3][: len(row[1::3])] * 1e4).astype(source)
        row[2::5] = np.ldexp(np.nan_to_num(row[2::5]) % 1, -16 if target == F16 else -130).astype(
            source
        )
    else:
        info = np.iinfo(source)
        row = np.random.default_rng(1).integers(info.min, info.max, SAMPLES, source, endpoint=True)
    inputs = dwords(row) if source in (F32, F64) else [row.astype(np.int64).astype(np.uint32)]
    wide = target == F16
    operand = "v[1:2]" if source == F64 else "v1"
    option = {"wide_rounding": mode} if wide else {"rounding": mode}
    found = run_registers(f"  {name} v100, {operand}", np.stack(inputs), [100], **option)[0]
    values = found.view(F32) if target == F32 else found.astype(np.uint16).view(F16)

    def model(x: float) -> float:
        return rounded(Fraction(x), target, mode) if math.isfinite(x) and x else x

    same(values, each(model, [row], target))


@pytest.mark.parametrize("mode", MODES)
def test_packed_and_mixed_arithmetic_round_as_halves(mode: int) -> None:
    rows = samples(F16, 6)
    packed = [dwords(rows[n])[0] | dwords(rows[n + 1])[0] << np.uint32(16) for n in (0, 2, 4)]
    body = "  v_pk_fma_f16 v100, v1, v2, v3\n  v_pk_mul_f16 v101, v1, v2\n"
    body += "  v_fma_mixlo_f16 v102, v1, v2, v3 op_sel_hi:[1,1,1]"
    found = run_registers(
        body, np.stack(packed), [100, 101, 102], wide_rounding=mode, rounding=mode
    )
    for half in (0, 1):
        mine = [
            np.ascontiguousarray(found[n] >> np.uint32(16 * half)).astype(np.uint16).view(F16)
            for n in range(3)
        ]
        x, y, z = rows[half], rows[2 + half], rows[4 + half]
        same(mine[0], each(fused_model(F16, mode), [x, y, z], F16))
        same(mine[1], each(multiplied(F16, mode), [x, y], F16))
        if half == 0:
            twice = lambda x, y, z: again(fused(x, y, z, F32, mode), mode)  # noqa: E731
            same(mine[2], each(twice, [x, y, z], F16))


def again(value: float, mode: int) -> float:
    return rounded(Fraction(value), F16, mode) if math.isfinite(value) and value else value


@pytest.mark.covering(1)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [F32, F64])
def test_ldexp_and_the_last_step_of_division_round_once(kind: Any, mode: int) -> None:
    rows = samples(kind, 3)
    bits, scale, bias = (32, 64, 127) if kind == F32 else (64, 128, 1023)
    rows[0][1::4] = np.ldexp(rows[0][::3][: len(rows[0][1::4])], -bias + 10).astype(kind)
    scaling = "s_mov_b32 vcc_lo, 0x55555555\n  v_div_fmas" + f"_f{bits} {names(kind, 3)}"
    found = run("  " + scaling, rows, kind, **modes_of(kind, mode))
    odd = np.arange(len(rows[0])) % 2 == 0

    def model(x: float, y: float, z: float, scaled: float) -> float:
        if not scaled or not all(map(math.isfinite, (x, y, z))):
            return fused(x, y, z, kind, mode)
        power = scale if math.frexp(z)[1] + bias - 1 > bias else -scale
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        return (
            rounded(exact * Fraction(2) ** power, kind, mode)
            if exact
            else fused(x, y, z, kind, mode)
        )

    expected = each(model, [*rows, odd.astype(kind)], kind)
    # The sum is rounded before it is scaled: exact where it is scaled down, unless it has
    # overflowed.
    with np.errstate(all="ignore"):
        sums = np.abs(rows[0].astype(np.longdouble) * rows[1] + rows[2])
    exact = ~odd | ~(np.abs(rows[2]) >= 2) & (sums < np.finfo(kind).max / 2)
    same(found[exact], expected[exact])
    steps = np.random.default_rng(2).integers(-1100, 1100, len(rows[0]), np.int32)
    inputs = np.stack([*dwords(rows[0]), steps.view(np.uint32)])
    text = "v[100:101], v[1:2], v3" if kind == F64 else "v100, v1, v2"
    raw = run_registers(f"  v_ldexp_f{bits} {text}", inputs, [100, 101], **modes_of(kind, mode))
    mine = join64(raw[0], raw[1], F64) if kind == F64 else raw[0].view(F32)

    def scaled_model(x: float, n: float) -> float:
        return (
            rounded(Fraction(x) * Fraction(2) ** int(n), kind, mode)
            if math.isfinite(x) and x
            else x
        )

    values = [scaled_model(float(x), float(n)) for x, n in zip(rows[0], steps, strict=True)]
    same(mine, np.array(values).astype(kind))


@pytest.mark.parametrize(
    "body",
    [
        "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 8, 1), 1",
        "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_STATUS), 1",
    ],
)
def test_what_else_the_mode_has_is_refused(body: str) -> None:
    with pytest.raises(KernelFault, match=r"emulate|emulator|reserved"):
        emulate(assemble(body), "kernel", 1, 32, [np.zeros(4, np.uint8), np.zeros(4, np.uint8)])


@pytest.mark.covering(1)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("mode", MODES)
def test_a_compiled_kernel_that_sets_the_rounding_with_a_value(mode: int, wave_size: int) -> None:
    """Bits 3:0 of MODE, from an argument, in a loop whose other rounds have another mode."""
    source = """#include "common.h"
KERNEL k(GLOBAL const float *x, GLOBAL const double *w, GLOBAL float *y, GLOBAL double *z,
         u32 mode) {
  float sum = 0;
  double wide = 0;
  for (u32 i = 0; i < 8; ++i)
    asm volatile("s_setreg_b32 hwreg(HW_REG_WAVE_MODE, 0, 4), %4\\n"
                 "v_add_f32 %0, %0, %2\\n"
                 "v_fma_f64 %1, %1, 1.0, %3"
                 : "+v"(sum), "+v"(wide)
                 : "v"(x[8 * LANE + i]), "v"(w[8 * LANE + i]), "s"(i & 1 ? mode : 0));
  y[LANE] = sum;
  z[LANE] = wide;
}"""
    random = np.random.default_rng(4)
    x, w = (random.standard_normal((64, 8)) * 100).astype(F32), random.standard_normal((64, 8))
    y, z = np.zeros(64, F32), np.zeros(64, F64)
    code = compile_source(source, "-O1", *(["-mwavefrontsize64"] if wave_size == 64 else []))
    emulate(code, "k", 1, 64, [x, w, y, z, np.uint32(mode | (3 - mode) << 2)])
    for lane in range(64):
        total, wide = 0.0, 0.0
        for i in range(8):
            total = fused(total, 1.0, float(x[lane, i]), F32, mode if i & 1 else 0)
            wide = fused(wide, 1.0, float(w[lane, i]), F64, 3 - mode if i & 1 else 0)
        assert y[lane] == F32(total)
        assert z[lane] == wide
