"""MODE's FP16_OVFL, which clamps halves and 8-bit floats that overflow, and the registers of
exceptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from amdjit.diagnostics.errors import KernelFault
from tests.emulator.building import assemble, emulate
from tests.emulator.float_checks import F16, F32, same
from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import run_registers, samples16, samples32

pytestmark = needs_tools

Floats = NDArray[Any]
LARGEST = F16(65504)
SET = "  s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 23, 1), 1\n"


def clamped(result: Floats, *sources: Floats) -> Floats:
    """FP16_OVFL: infinite results of finite sources become the largest numbers."""
    finite = np.logical_and.reduce([~np.isinf(source) for source in sources])
    return np.where(np.isinf(result) & finite, np.copysign(LARGEST, result), result).astype(F16)


def halves(rows: int) -> list[Floats]:
    """Patterns of all kinds, many of them near the largest numbers."""
    made = [np.ascontiguousarray(row).view(F16).copy() for row in samples16(rows)[:, :1024]]
    random = np.random.default_rng(8)
    for row in made:
        row[::2] = (random.choice([-1, 1], 512) * np.exp2(random.uniform(5, 16, 512))).astype(F16)
    return made


ARITHMETIC: dict[str, tuple[int, Callable[..., Floats]]] = {
    "v_add_f16": (2, lambda x, y: x + y),
    "v_sub_f16": (2, lambda x, y: x - y),
    "v_mul_f16": (2, lambda x, y: x * y),
    "v_fma_f16": (
        3,
        lambda x, y, z: (x.astype(float) * y.astype(float) + z.astype(float)).astype(F16),
    ),
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("way", ["descriptor", "instruction", "value"])
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_on_halves_does_not_overflow(name: str, way: str) -> None:
    count, model = ARITHMETIC[name]
    rows = halves(count)
    register = "  s_mov_b32 s20, 1\n  s_setreg_b32 hwreg(HW_REG_WAVE_MODE, 23, 1), s20\n"
    head = {"descriptor": "", "instruction": SET, "value": register}[way]
    form = "_e64" if count == 2 else ""
    operands = ", ".join(f"v{n + 1}.l" for n in range(count))
    body = f"{head}  v_mov_b32 v100, 0\n  {name}{form} v100.l, {operands}\n"
    inputs = np.stack([row.view(np.uint16).astype(np.uint32) for row in rows])
    found = run_registers(
        body, inputs, [100], overflow=int(way == "descriptor"), attributes="+real-true16"
    )[0]
    with np.errstate(all="ignore"):
        expected = clamped(model(*rows), *rows)
    assert np.isinf(found.astype(np.uint16).view(F16)).any(), "infinities stay"
    same(found.astype(np.uint16).view(F16), expected)


@pytest.mark.parametrize("name", ["v_pk_add_f16", "v_pk_mul_f16", "v_pk_fma_f16"])
def test_packed_halves_do_not_overflow(name: str) -> None:
    count, model = ARITHMETIC[name.replace("pk_", "")]
    rows = halves(2 * count)
    inputs = np.stack([
        rows[2 * n].view(np.uint16).astype(np.uint32)
        | rows[2 * n + 1].view(np.uint16).astype(np.uint32) << 16
        for n in range(count)
    ])  # fmt: skip
    operands = ", ".join(f"v{n + 1}" for n in range(count))
    found = run_registers(f"{SET}  {name} v100, {operands}\n", inputs, [100])[0]
    for half in (0, 1):
        mine = (found >> 16 * half & 0xFFFF).astype(np.uint16).view(F16)
        with np.errstate(all="ignore"):
            same(mine, clamped(model(*rows[half::2]), *rows[half::2]))


@pytest.mark.parametrize("rounding", range(4))
def test_conversions_to_halves_do_not_overflow_however_they_round(rounding: int) -> None:
    x = samples32(1)[0].view(F32).copy()
    x[::2] = np.linspace(-70000, 70000, len(x[::2]), dtype=F32)
    body = f"{SET}  v_mov_b32 v100, 0\n  v_cvt_f16_f32 v100, v1\n"
    found = (
        run_registers(body, x.view(np.uint32)[None], [100], wide_rounding=rounding)[0]
        .astype(np.uint16)
        .view(F16)
    )
    over = (np.abs(x) >= 65520) & np.isfinite(x)
    np.testing.assert_array_equal(found[over], np.copysign(LARGEST, x[over]))
    np.testing.assert_array_equal(found[np.isinf(x)], x[np.isinf(x)])
    assert not np.isinf(found[np.isfinite(x)]).any()


def test_mixed_precision_integers_scaling_and_output_modifiers_do_not_overflow() -> None:
    x, n = halves(1)[0], np.random.default_rng(2).integers(0, 1 << 16, 1024).astype(np.uint16)
    inputs = np.stack([x.view(np.uint16).astype(np.uint32), n.astype(np.uint32)])
    body = f"""{SET}
  s_denorm_mode 3
  v_mov_b32 v100, 0
  v_cvt_f16_u16 v100, v2
  v_mov_b32 v101, 0
  v_ldexp_f16 v101, v1, 6
  v_mov_b32 v102, 0
  v_fma_mixlo_f16 v102, v1, 4.0, 1.0 op_sel_hi:[1,0,0]
  v_mov_b32 v103, 0
  v_add_f16_e64 v103, v1, 0 mul:4
  v_mov_b32 v104, 0
  v_exp_f16 v104, v1
"""
    found = run_registers(body, inputs, [100, 101, 102, 103, 104]).astype(np.uint16).view(F16)
    with np.errstate(all="ignore"):
        same(found[0], clamped(n.astype(F32).astype(F16)))
        # The output modifier needs denormal results off; sources are then flushed, too.
        quiet = np.where(np.abs(x) < 2.0**-14, np.copysign(F16(0), x), x).astype(F16)
        same(found[1], clamped(np.ldexp(quiet, 6), x))
        same(found[2], clamped((quiet.astype(F32) * 4 + 1).astype(F16), x))
        scaled = clamped((quiet.astype(F32) * 4).astype(F16), x)
    plain = ~np.isnan(x) & (quiet != 0)
    np.testing.assert_array_equal(found[3][plain], scaled[plain])
    assert (found[4][np.isfinite(x) & (x > 16)] == LARGEST).all()
    assert np.isposinf(found[4][np.isposinf(x)]).all()


def test_a_quotient_is_clamped_and_a_division_by_zero_is_not() -> None:
    numerator, denominator = (
        np.array([1, 6e4, -6e4, np.inf, 5], F16),
        np.array([0, 0.001, 0.001, 2, -0.0], F16),
    )
    inputs = np.stack(
        [np.resize(row, 32).view(np.uint16).astype(np.uint32) for row in (numerator, denominator)]
    )
    body = """
  v_mov_b32 v100, 0
  v_cvt_f32_f16 v3, v1
  v_cvt_f32_f16 v4, v2
  v_rcp_f32 v4, v4
  v_mul_f32 v3, v3, v4
  v_mov_b32 v5, 0
  v_cvt_f16_f32 v5, v3
  v_div_fixup_f16 v100, v5, v2, v1
"""
    found = run_registers(SET + body, inputs, [100])[0][:5].astype(np.uint16).view(F16)
    np.testing.assert_array_equal(
        found, np.array([np.inf, LARGEST, -LARGEST, np.inf, -np.inf], F16)
    )


@pytest.mark.parametrize("way", ["immediate", "value"])
@pytest.mark.parametrize(
    ("kind", "dtype"), [("fp8", ml_dtypes.float8_e4m3fn), ("bf8", ml_dtypes.float8_e5m2)]
)
def test_eighth_floats_do_not_overflow(kind: str, dtype: Any, way: str) -> None:
    x = samples32(1)[0].view(F32).copy()
    x[::2] = np.linspace(-70000, 70000, len(x[::2]), dtype=F32)
    value = "  s_mov_b32 s20, 1\n  s_setreg_b32 hwreg(HW_REG_WAVE_MODE, 23, 1), s20\n"
    body = f"""{SET if way == "immediate" else value}
  v_mov_b32 v100, 0
  v_mov_b32 v101, 0
  v_mov_b32 v3, 0
  v_cvt_pk_{kind}_f32 v100, v1, v1
  v_cvt_sr_{kind}_f32 v101, v1, v3
"""
    found = run_registers(body, x.view(np.uint32)[None], [100, 101])
    limit = float(ml_dtypes.finfo(dtype).max)
    finite = np.isfinite(x)
    expected = np.clip(x[finite], -limit, limit).astype(dtype)
    np.testing.assert_array_equal(found[0][finite] & 0xFF, expected.view(np.uint8))
    np.testing.assert_array_equal(found[0][finite] >> 8, expected.view(np.uint8))
    over = finite & (np.abs(x) > limit)
    np.testing.assert_array_equal(
        (found[1][over] & 0xFF).astype(np.uint8).view(dtype), np.copysign(limit, x[over])
    )
    # What is no finite number stays so: fp8 has only NaN for it.
    assert not np.isfinite(
        (found[0][~finite] & 0xFF).astype(np.uint8).view(dtype).astype(F32)
    ).any()


@pytest.mark.parametrize(
    ("instruction", "result"),
    [
        ("s_add_f16 s8, 0x7bff, s6", 0x7BFF),
        ("s_sub_f16 s8, 0xfbff, s6", 0xFBFF),
        ("s_mul_f16 s8, 0x7c00, s6", 0x7C00),
        ("s_fmac_f16 s8, 0x7bff, s6", 0x7BFF),
        ("s_cvt_f16_f32 s8, 0x477ff000", 0x7BFF),
        ("s_cvt_f16_f32 s8, 0x7f800000", 0x7C00),
        ("s_max_num_f16 s8, 0x7c00, s6", 0x7C00),
    ],
)
def test_scalars_overflow_as_vectors_do(instruction: str, result: int) -> None:
    body = f"{SET}  s_movk_i32 s6, 0x7bff\n  s_mov_b32 s8, 0\n  {instruction}\n  s_nop 4\n"
    assert read_back(body) == result


@pytest.mark.parametrize(
    ("source", "result"), [(0x387FE000, 0), (0x387FF000, 0x0400), (0x38800000, 0x0400)]
)
def test_a_scalar_half_is_tiny_if_it_is_with_an_unbounded_exponent(
    source: int, result: int
) -> None:
    mode = "  s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 8), 0x30\n"
    assert read_back(f"{mode}  s_cvt_f16_f32 s8, {source:#x}\n  s_nop 4\n") == result


@pytest.mark.parametrize(("instruction", "flushed"), [("mul", 0), ("fmac", 0), ("add", 0x800000)])
def test_scalar_products_are_tiny_as_vectors_are(instruction: str, flushed: int) -> None:
    # 2**-126 * (1 - 2**-24), which is rounded up; of the sum the first operand is 0.
    factors = "s_mov_b32 s6, 0x1fffffff\n  s_mov_b32 s7, 0x20000000\n  s_mov_b32 s8, 0"
    if instruction == "add":
        factors = "s_mov_b32 s6, 0\n  s_mov_b32 s7, 0x800000"
    for mode, expected in ((0xF0, 0x800000), (0xD0, flushed)):
        body = f"  s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 8), {mode:#x}\n  {factors}\n"
        assert read_back(f"{body}  s_{instruction}_f32 s8, s6, s7\n  s_nop 4\n") == expected


def read_back(body: str) -> int:
    output = np.zeros(64, np.uint32)
    text = f"""  s_load_b128 s[0:3], s[0:1], 0x0
  s_wait_kmcnt 0x0
  v_mov_b32 v0, 0
{body}
  v_mov_b32 v1, s8
  global_store_b32 v0, v1, s[2:3]
"""
    emulate(assemble(text), "kernel", 1, 1, [np.zeros(4, np.uint8), output])
    return int(output[0])


def test_the_mode_is_read_as_it_was_written() -> None:
    assert read_back("  s_getreg_b32 s8, hwreg(HW_REG_WAVE_MODE)") == 0xF0
    assert read_back(SET + "  s_getreg_b32 s8, hwreg(HW_REG_WAVE_MODE)") == 0x8000F0
    # Saving and restoring all of it, as llvm.set.fpenv does, needs no more than that reserved bits
    # stay 0.
    save = """  s_getreg_b32 s8, hwreg(HW_REG_WAVE_MODE)
  s_or_b32 s8, s8, 0x800003
  s_setreg_b32 hwreg(HW_REG_WAVE_MODE), s8
  s_getreg_b32 s8, hwreg(HW_REG_WAVE_MODE)"""
    assert read_back(save) == 0x8000F3


def test_exceptions_can_be_cleared_and_traps_switched_off() -> None:
    assert read_back("""  s_setreg_imm32_b32 hwreg(HW_REG_WAVE_EXCP_FLAG_USER), 0
  s_setreg_imm32_b32 hwreg(HW_REG_WAVE_TRAP_CTRL), 0
  s_getreg_b32 s8, hwreg(HW_REG_WAVE_TRAP_CTRL)""") == 0  # fmt: skip


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("s_setreg_imm32_b32 hwreg(HW_REG_WAVE_TRAP_CTRL), 1", "traps on float exceptions"),
        ("s_setreg_imm32_b32 hwreg(HW_REG_WAVE_EXCP_FLAG_USER), 1", "does not record"),
        ("s_getreg_b32 s8, hwreg(HW_REG_WAVE_EXCP_FLAG_USER)", "does not record"),
        ("s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 12, 1), 1", "reserved"),
        ("s_movk_i32 s8, 0x1000\n  s_setreg_b32 hwreg(HW_REG_WAVE_MODE), s8", "MODE or TRAP_CTRL"),
        ("s_movk_i32 s8, 1\n  s_setreg_b32 hwreg(HW_REG_WAVE_TRAP_CTRL), s8", "MODE or TRAP_CTRL"),
    ],
)
def test_traps_and_exceptions_are_refused_with_the_reason(body: str, message: str) -> None:
    with pytest.raises(KernelFault, match=message):
        read_back("  " + body)
