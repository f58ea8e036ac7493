"""gfx950's products of 8, 6 and 4 bits with scales: bit for bit what the host reference computes of
the registers."""

from __future__ import annotations

import numpy as np
import pytest

from amdjit.diagnostics.errors import KernelFault
from amdjit.intrinsics.models.mfma_arithmetic import Modifiers, wave_product
from amdjit.intrinsics.models.mfma_instructions import MfmaInstruction, mfma_instruction
from amdjit.intrinsics.models.mfma_layouts import FORMATS
from tests.emulator.gfx950_registers import Registers, run_on_gfx950

SHAPES = ((16, 128), (32, 64))
# By the numbers of formats.
DWORDS = (8, 8, 6, 6, 4)
EVERY = [(m, k, a, b) for m, k in SHAPES for a in range(5) for b in range(5)]
SOME = [
    (16, 128, 0, 1), (16, 128, 2, 2), (16, 128, 3, 4), (16, 128, 4, 0), (32, 64, 1, 3),
    (32, 64, 4, 4), (32, 64, 0, 2),
]  # fmt: skip
# Of the scales: from, to; 255 is NaN.
CASES = ((120, 134), (98, 157), (0, 255), (185, 196), (0, 256), (0, 64))
_A, _B, _C, _D = 2, 10, 18, 100


def _registers(random: np.random.Generator, m: int, scales: tuple[int, int]) -> list[Registers]:
    """A, B, C, and both scales."""
    a, b = random.integers(0, 1 << 32, (2, 8, 64), np.uint32)
    # Without upper exponents, so that there are more numbers than NaNs; or few but subnormal ones.
    masks = random.choice(np.array([0xFFFFFFFF, 0xBFBFBFBF, 0x83838383], np.uint32), 2)
    a, b = a & masks[0], b & masks[1]
    c = random.standard_normal((m * m // 64, 64)).astype(np.float32).view(np.uint32)
    if random.integers(0, 2):
        c = random.integers(0, 1 << 32, c.shape, np.uint32)
    bytes_ = random.integers(*scales, (2, 64, 4)).astype(np.uint8)
    return [a, b, c, *bytes_.view(np.uint32).reshape(2, 1, 64)]


def _product(
    name: str, formats: tuple[int, int], elements: int, more: str = "", addend: str = ""
) -> str:
    a, b = (DWORDS[each] for each in formats)
    last = elements - 1
    return f"""
  v_{name} v[{_D}:{_D + last}], v[{_A}:{_A + a - 1}], v[{_B}:{_B + b - 1}], \
{addend or f"v[{_C}:{_C + last}]"}{more} cbsz:{formats[0]} blgp:{formats[1]}
  s_nop 15
  s_nop 15"""


def _expected(
    instruction: MfmaInstruction, given: list[Registers], formats: tuple[int, int],
    selected: tuple[int, int],
) -> Registers:  # fmt: skip
    a, b, c, *scales = given
    parts = [a[: DWORDS[formats[0]]], b[: DWORDS[formats[1]]], c, *scales]
    return wave_product(
        instruction,
        *(np.ascontiguousarray(each.T) for each in parts),
        modifiers=Modifiers(formats[0], 0, formats[1]),
        scale_bytes=selected,
    ).T


def check(m: int, k: int, formats: tuple[int, int], seeds: range) -> None:
    name = f"mfma_scale_f32_{m}x{m}x{k}_f8f6f4"
    instruction = mfma_instruction(name, "gfx950")
    elements = m * m // 64
    for seed in seeds:
        for case in CASES:
            random = np.random.default_rng([m, *formats, seed])
            given = _registers(random, m, case)
            low, high = (random.integers(0, 2, 2) for _ in range(2))
            first = _C + elements
            more = f", v{first}, v{first + 1} op_sel:[{low[0]},{low[1]},0] "
            more += f"op_sel_hi:[{high[0]},{high[1]},0]"
            found = run_on_gfx950(
                _product(name, formats, elements, more),
                np.concatenate(given),
                range(_D, _D + elements),
                first=_A,
            )
            selected = (int(low[0] | high[0] << 1), int(low[1] | high[1] << 1))
            expected = _expected(instruction, given, formats, selected)
            np.testing.assert_array_equal(found, expected, err_msg=f"{case} {selected}")


@pytest.mark.sample(3)
@pytest.mark.parametrize(("m", "k", "a", "b"), SOME)
def test_scaled_products_are_those_of_the_reference(m: int, k: int, a: int, b: int) -> None:
    check(m, k, (a, b), range(1))


@pytest.mark.exhaustive
@pytest.mark.parametrize(("m", "k", "a", "b"), EVERY)
def test_scaled_products_of_all_formats_are_those_of_the_reference(
    m: int, k: int, a: int, b: int
) -> None:
    check(m, k, (a, b), range(1, 9))


@pytest.mark.sample(1)
@pytest.mark.parametrize(("m", "k"), SHAPES)
def test_products_without_scales_have_scales_of_1(m: int, k: int) -> None:
    formats, elements = (4, 2), m * m // 64
    given = _registers(np.random.default_rng(9), m, (0, 256))
    body = _product(f"mfma_f32_{m}x{m}x{k}_f8f6f4", formats, elements, addend="1.0")
    found = run_on_gfx950(body, np.concatenate(given), range(_D, _D + elements), first=_A)
    given[2] = np.full_like(given[2], 0x3F800000)
    given[3:] = [np.full_like(each, 0x7F7F7F7F) for each in given[3:]]
    instruction = mfma_instruction(f"mfma_scale_f32_{m}x{m}x{k}_f8f6f4", "gfx950")
    np.testing.assert_array_equal(found, _expected(instruction, given, formats, (0, 0)))


@pytest.mark.sample(2)
@pytest.mark.parametrize("formats", [(a, 4 - a) for a in range(len(FORMATS))])
def test_a_product_of_whole_numbers_is_exact(formats: tuple[int, int]) -> None:
    """Small whole numbers and powers of two need no rounding: any order of sums gives the same.
    Scales of 32 rows by blocks of 32 decide."""
    random = np.random.default_rng(formats[0])
    instruction = mfma_instruction("mfma_scale_f32_32x32x64_f8f6f4", "gfx950")
    a, b = random.integers(-2, 3, (32, 64)), random.integers(-2, 3, (64, 32))
    scale_a, scale_b = random.integers(-3, 4, (32, 2)), random.integers(-3, 4, (2, 32))
    parts = []
    for operand, values, format in (("a", a, formats[0]), ("b", b, formats[1])):
        layout = instruction.layout(operand, FORMATS[format])
        parts.append(np.resize(_packed(layout.scatter(values), format), (8, 64)))
    scales = []
    for operand, values in (("scale_a", scale_a), ("scale_b", scale_b)):
        layout = instruction.layout(operand)
        scales.append((layout.scatter(values) + 127).astype(np.uint32).reshape(1, 64))
    given = [*parts, np.zeros((16, 64), np.uint32), *scales]
    body = _product(instruction.name, formats, 16, f", v{_C + 16}, v{_C + 17} op_sel_hi:[0,0,0]")
    found = run_on_gfx950(body, np.concatenate(given), range(_D, _D + 16), first=_A)
    left = a * np.repeat(2.0**scale_a, 32, axis=1)
    right = b * np.repeat(2.0**scale_b, 32, axis=0)
    result = instruction.layout("d").gather(np.ascontiguousarray(found.T).view(np.float32))
    np.testing.assert_array_equal(result, (left @ right).astype(np.float32))


def _packed(values: np.ndarray, format: int) -> Registers:
    """Registers of whole numbers from -2 to 2, [registers, 64]."""
    layout = mfma_instruction("mfma_scale_f32_32x32x64_f8f6f4", "gfx950").layout(
        "a", FORMATS[format]
    )
    codes = {
        each: int(code)
        for code, each in enumerate(_numbers(FORMATS[format]))
        if each in (-2, -1, 0, 1, 2)
    }
    bits = layout.bits
    whole = [sum(codes[each] << bits * i for i, each in enumerate(lane)) for lane in values]
    rows = [[each >> 32 * dword & 0xFFFFFFFF for each in whole] for dword in range(bits)]
    return np.array(rows, np.uint32)


def _numbers(format: str) -> list[float]:
    exponent, mantissa = {
        "fp8": (4, 3), "bf8": (5, 2), "fp6": (2, 3), "bf6": (3, 2), "fp4": (2, 1)
    }[format]  # fmt: skip
    bias = (1 << exponent - 1) - 1
    found = []
    for code in range(1 << 1 + exponent + mantissa):
        field, fraction = code >> mantissa & (1 << exponent) - 1, code & (1 << mantissa) - 1
        lead = (1 << mantissa if field else 0) + fraction
        number = lead * 2.0 ** (max(field, 1) - bias - mantissa)
        found.append(-number if code >> exponent + mantissa else number)
    return found


@pytest.mark.parametrize(("m", "k", "a", "b"), [(16, 128, 2, 4), (32, 64, 4, 3)])
def test_sums_that_overflow_are_the_largest_number_if_the_mode_says_so(
    m: int, k: int, a: int, b: int
) -> None:
    name, elements = f"mfma_scale_f32_{m}x{m}x{k}_f8f6f4", m * m // 64
    given = _registers(np.random.default_rng(4), m, (184, 190))
    given[2][:, ::7] = 0x7F800000
    given[2][:, 1::7] = 0xFF800000
    first = _C + elements
    more = f", v{first}, v{first + 1} op_sel:[0,0,0] op_sel_hi:[0,0,0]"
    for addend in ("", "2.0"):
        body = _product(name, (a, b), elements, more, addend)
        places = range(_D, _D + elements)
        plain, found = (
            run_on_gfx950(body, np.concatenate(given), places, first=_A, overflow=overflow)
            for overflow in (0, 1)
        )
        overflows = (plain & 0x7FFFFFFF) == 0x7F800000
        if not addend:
            overflows &= (given[2] & 0x7FFFFFFF) != 0x7F800000
        assert 20 < overflows.sum() < overflows.size - 20
        expected = np.where(overflows, plain - 1, plain)
        np.testing.assert_array_equal(found, expected)
        # Where the mode is known only at run time.
        for bit, result in ((0, plain), (1, expected)):
            mode = f"  s_mov_b32 s20, {bit}\n  s_setreg_b32 hwreg(HW_REG_MODE, 23, 1), s20\n"
            found = run_on_gfx950(mode + body, np.concatenate(given), places, first=_A)
            np.testing.assert_array_equal(found, result)


def test_overflow_of_factors_that_may_be_infinite_is_refused() -> None:
    given = _registers(np.random.default_rng(1), 16, (120, 130))
    body = _product("mfma_f32_16x16x128_f8f6f4", (4, 1), 4)
    with pytest.raises(KernelFault, match="FP16_OVFL"):
        run_on_gfx950(body, np.concatenate(given), [_D], first=_A, overflow=1)
