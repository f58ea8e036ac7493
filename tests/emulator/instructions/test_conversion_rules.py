"""Conversions, V_LDEXP, products and sums of products in every rounding and denormal mode, with
output modifiers, against rules in exact numbers: what a gfx1201 was measured to do."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.emulator.model.ieee import FORMATS, Format
from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import run_registers

pytestmark = needs_tools

NEAREST, UP, DOWN, ZERO = range(4)
F16, F32, F64 = FORMATS["f16"], FORMATS["f32"], FORMATS["f64"]
OMOD = ("", " mul:2", " mul:4", " div:2")


def whole(value: Fraction, mode: int) -> int:
    """A positive or negative number without its fraction."""
    if mode == NEAREST:
        return round(value)
    below = value.numerator // value.denominator
    up = mode == UP or (mode == ZERO and value < 0)
    return below + (up and below != value)


def rounded(form: Format, value: Fraction, mode: int, lowest: int) -> Fraction:
    """To the precision of a format; lowest: the exponent below which its steps stay the same."""
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    step = Fraction(2) ** (max(exponent, lowest) - form.mantissa)
    return whole(value / step, mode) * step


def to_infinity(mode: int, negative: bool) -> bool:
    return mode == NEAREST or mode == (DOWN if negative else UP)


def limited(form: Format, value: Fraction, negative: bool, mode: int, overflow: bool) -> int:
    """The pattern of a rounded number."""
    sign = form.sign if negative else 0
    if abs(value) >= Fraction(2) ** (form.bias + 1):
        infinite = to_infinity(mode, negative) and not overflow
        return sign | form.infinity - (0 if infinite else 1)
    return sign | form.rounded(abs(value))


def result(form: Format, value: Fraction, negative: bool, mode: int, flushes: bool, omod: int,
           overflow: bool, size: Fraction | None = None) -> int:  # fmt: skip
    """Round once, flush what is tiny after rounding, scale. size: what is compared with the normal
    numbers; by default the value as it would be with an unbounded exponent."""
    smallest = Fraction(2) ** (1 - form.bias)
    sign = form.sign if negative else 0
    if not value:
        return 0 if omod else sign
    size = rounded(form, value, mode, -5000) if size is None else size
    if abs(size) < smallest and (flushes or omod):
        return 0 if omod else sign
    found = limited(form, rounded(form, value, mode, 1 - form.bias), negative, mode, overflow)
    if not omod or form.size(found) == form.infinity:
        return found
    scaled = form.value(found) * (Fraction(1, 2) if omod == 3 else omod * 2)
    return sign if abs(scaled) < smallest else limited(form, scaled, negative, mode, overflow)


def edges(source: Format, target: Format) -> NDArray[np.uint64]:
    """Numbers of the source around those at which the target's results change."""
    cut = source.mantissa - target.mantissa
    found = {0, 1, 1 << source.mantissa, source.infinity - 1, source.infinity}
    for exponent in (-target.bias - target.mantissa - 1, -target.bias - target.mantissa,
                     -target.bias - 1, -target.bias, 1 - target.bias, 2 - target.bias, 0,
                     target.bias - 1, target.bias, target.bias + 1):  # fmt: skip
        if 0 < exponent + source.bias < 2 * source.bias:
            start = exponent + source.bias << source.mantissa
            top = (1 << source.mantissa) - 1
            for near in (0, top, top ^ (1 << cut) - 1, 1 << cut, 1 << cut - 1, 3 << cut - 1,
                         top ^ (1 << cut - 1), top ^ (1 << cut - 1) - 1):  # fmt: skip
                found |= {start + near + step for step in (-1, 0, 1)}
    signed = [bits | sign for bits in sorted(found) for sign in (0, source.sign)]
    return np.array(signed, np.uint64)


Setting = tuple[int, int, int]


def settings() -> Iterator[Setting]:
    """Rounding, FP_DENORM and FP16_OVFL."""
    yield from itertools.product(range(4), (3, 1), (0, 1))


def run(
    name: str, inputs: NDArray[np.uint32], operands: str, setting: Setting, scales: bool = True
) -> NDArray[np.uint32]:
    """Return results by output modifier."""
    mode, denormals, overflow = setting
    lanes = -(-inputs.shape[1] // 32) * 32
    padded = np.pad(inputs, ((0, 0), (0, lanes - inputs.shape[1])))
    value = mode * 5 | denormals * 0x50
    body = (
        f"  s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 8), {value:#x}\n"
        f"  s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 23, 1), {overflow}\n"
    )
    for place, omod in enumerate(OMOD if scales else [""]):
        body += f"  v_mov_b32 v{100 + place}, 0\n  {name} v{100 + place}, {operands}{omod}\n"
    found = run_registers(body, padded, [100, 101, 102, 103])
    return found[:, : inputs.shape[1]]


def by_omod(found: NDArray[np.uint32]) -> Iterator[tuple[int, int]]:
    for omod, values in enumerate(found.tolist()):
        yield from ((omod, value) for value in values)


def dwords(source: Format, row: NDArray[np.uint64]) -> list[NDArray[np.uint32]]:
    count = source.width // 32
    return [(row >> np.uint64(32 * part)).astype(np.uint32) for part in range(count)]


@pytest.mark.sample(8)
@pytest.mark.parametrize("setting", settings(), ids=str)
@pytest.mark.parametrize(
    ("name", "source", "target"),
    [("v_cvt_f16_f32", F32, F16), ("v_cvt_f32_f64", F64, F32)],
)
def test_narrowing(name: str, source: Format, target: Format, setting: Setting) -> None:
    mode, denormals, overflow = setting
    row = edges(source, target)
    operand = "v1" if source is F32 else "v[1:2]"
    found = run(f"{name}_e64", np.array(dwords(source, row)), operand, setting)
    for (omod, got), bits in zip(by_omod(found), row.tolist() * 4, strict=True):
        negative = bool(bits & source.sign)
        if source.size(bits) == source.infinity:
            expected = (target.sign if negative else 0) | target.infinity
        else:
            expected = result(
                target, source.value(bits), negative, mode, denormals == 1, omod,
                bool(overflow) and target is F16,
            )  # fmt: skip
        assert got == expected, (hex(bits), omod, hex(got), hex(expected))


@pytest.mark.sample(8)
@pytest.mark.parametrize("setting", settings(), ids=str)
@pytest.mark.parametrize(("name", "form"), [("v_ldexp_f16", F16), ("v_ldexp_f32", F32)])
def test_scaling(name: str, form: Format, setting: Setting) -> None:
    mode, denormals, overflow = setting
    numbers = [1, 3, form.infinity - 1, form.bias << form.mantissa]
    numbers += [1 << form.mantissa, (2 << form.mantissa) - 1, (form.bias << form.mantissa) - 1]
    near = (-form.bias - form.mantissa, -form.bias, 1 - form.bias, -1, 0, 1, form.bias)
    powers = [power + step for power in near for step in (-1, 0, 1)] + [-32768, 32767]
    cases = [
        (bits | sign, power) for bits in numbers for sign in (0, form.sign) for power in powers
    ]
    row = np.array([[bits, power & 0xFFFFFFFF] for bits, power in cases], np.uint32).T
    found = run(f"{name}_e64", row, "v1, v2", setting)
    for (omod, got), (bits, power) in zip(by_omod(found), cases * 4, strict=True):
        scaled = form.value(bits) * Fraction(2) ** power
        expected = result(
            form, scaled, bool(bits & form.sign), mode, denormals == 1, omod,
            bool(overflow) and form is F16,
        )  # fmt: skip
        assert got == expected, (hex(bits), power, omod, hex(got), hex(expected))


def _near_the_smallest_normal(form: Format, count: int) -> list[tuple[int, ...]]:
    """Factors whose product is the smallest normal number or a little less, and an addend that is
    0, or a bit of the product's."""
    half, one = 1 << form.mantissa, form.bias << form.mantissa
    lowest = 1 - form.bias
    left, right = lowest // 2, lowest - lowest // 2
    found = []
    for low, high in itertools.product(range(1, 5), range(4)):
        x = (one + (left - 1 << form.mantissa)) + half - low
        y = one + (right << form.mantissa) + high
        addends = (0, 1, 2) if count == 3 else (0,)
        for addend, sign in itertools.product(addends, (0, form.sign)):
            found += [(x ^ sign, y, addend ^ other)[:count] for other in (0, form.sign)]
    return found


@pytest.mark.parametrize("setting", settings(), ids=str)
@pytest.mark.parametrize(
    ("name", "form", "count", "is_early"),
    [
        ("v_mul_f32", F32, 2, True),
        ("v_fma_f32", F32, 3, True),
        ("v_fma_f16", F16, 3, True),
        ("v_fma_mix_f32", F32, 3, True),
        ("v_pk_fma_f16", F16, 3, True),
        ("v_mul_f16", F16, 2, False),
    ],
)
def test_products_are_tiny_before_their_exponent_is_limited(
    name: str, form: Format, count: int, is_early: bool, setting: Setting
) -> None:
    mode, denormals, _ = setting
    cases = _near_the_smallest_normal(form, count)
    row = np.array(cases, np.uint32).T
    operands = ", ".join(f"v{1 + number}" for number in range(count))
    scales = "_mix_" not in name and "_pk_" not in name
    suffix = "_e64" if scales else ""
    found = run(name + suffix, row, operands, setting, scales)
    differences = 0
    for (omod, got), patterns in zip(by_omod(found), cases * len(found), strict=True):
        if omod and not scales:
            break
        x, y, *rest = map(form.value, patterns)
        total = x * y + sum(rest)
        flushes = denormals == 1
        late = rounded(form, total, mode, 1 - form.bias)
        size = None if is_early else late
        expected = result(form, total, total < 0, mode, flushes, omod, False, size)
        differences += expected != result(form, total, total < 0, mode, flushes, omod, False, late)
        assert got & (1 << form.width) - 1 == expected, (patterns, omod, hex(got), hex(expected))
    assert (differences > 0) == (is_early and (scales or denormals == 1) and mode != ZERO)


@pytest.mark.parametrize("denormals", [3, 1])
def test_pairs_rounded_towards_zero_are_flushed_as_the_mode_says(denormals: int) -> None:
    row = edges(F32, F16)
    row = row[[F32.size(int(bits)) < F32.infinity for bits in row]].astype(np.uint32)
    found = run("v_cvt_pk_rtz_f16_f32_e64", row[None], "v1, 1.0", (UP, denormals, 1), scales=False)
    for bits, got in zip(row.tolist(), found[0].tolist(), strict=True):
        size = min(_cut(abs(F32.value(bits))), F16.infinity - 1)
        if denormals == 1 and size < 1 << F16.mantissa:
            size = 0
        assert got == 0x3C000000 | (bits & F32.sign) >> 16 | size, hex(bits)


def _cut(value: Fraction) -> int:
    """The bits of a half towards zero, as if it had any exponent above."""
    number = rounded(F16, value, ZERO, 1 - F16.bias)
    return F16.infinity if number >= Fraction(2) ** (F16.bias + 1) else F16.rounded(number)


@pytest.mark.parametrize("mode", range(4))
def test_bytes_are_rounded_as_the_mode_says(mode: int) -> None:
    values = [0.0, 0.49, 0.5, 0.51, 1.5, 2.5, 254.5, 254.51, 255.0, 255.5, 256.0, 1e9, -0.5, -3.0]
    row = np.array([values, [0] * len(values)], np.float32).view(np.uint32)
    found = run("v_cvt_pk_u8_f32_e64", row, "v1, 2, v2", (mode, 3, 0), scales=False)[0]
    expected = [min(max(whole(Fraction(value), mode), 0), 255) << 16 for value in values]
    np.testing.assert_array_equal(found, expected)


# Instructions that return their operand X.
_OF_OPERAND = (
    "v_add_{} R, X, 0",
    "v_mul_{} R, X, 1.0",
    "v_fma_{} R, X, 1.0, 0",
    "v_max_num_{} R, X, X",
    "v_trunc_{} R, X",
    "v_ldexp_{} R, X, 0",
)
_LARGEST = {"f16": 0x7BFF, "f32": 0x7F7FFFFF, "f64": 0x7FEFFFFFFFFFFFFF}


@pytest.mark.sample(12)
@pytest.mark.usefixtures("each_tier")
@pytest.mark.parametrize("mode", range(4))
@pytest.mark.parametrize("code", _LARGEST)
def test_output_modifiers_overflow_as_the_mode_says(code: str, mode: int) -> None:
    form, step = FORMATS[code], FORMATS[code].width // 32 or 1
    column = [_LARGEST[code], _LARGEST[code] | form.sign] * 16
    rows = [[bits >> 32 * part & 0xFFFFFFFF for bits in column] for part in range(step)]
    body = f"  s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 4), {mode * 5}\n"
    for place, text in enumerate(_OF_OPERAND):
        first = 100 + step * place
        target = f"v[{first}:{first + 1}]" if step == 2 else f"v{first}"
        operand = "v[1:2]" if step == 2 else "v1"
        line = text.format(f"{code}_e64").replace("R", target).replace("X", operand)
        body += f"  v_mov_b32 v{first}, 0\n  {line} mul:2\n"
    outputs = [*range(100, 100 + step * len(_OF_OPERAND))]
    found = run_registers(body, np.array(rows, np.uint32), outputs)[:, :2].astype(object)
    for first in range(0, len(outputs), step):
        both = sum(found[first + part] << 32 * part for part in range(step))
        for negative, bits in enumerate(both):
            infinite = to_infinity(mode, bool(negative))
            assert bits == (form.sign if negative else 0) | form.infinity - (not infinite)


@pytest.mark.parametrize("mode", range(4))
def test_approximate_instructions_overflow_to_infinity_in_every_mode(mode: int) -> None:
    row = np.array([[127.0] * 32, [15.0] * 32], np.float32)
    body = f"""  s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 4), {mode * 5}
  v_cvt_f16_f32 v2, v2
  v_mov_b32 v101, 0
  v_exp_f32_e64 v100, v1 mul:2
  v_exp_f16_e64 v101, v2 mul:2"""
    found = run_registers(body, row.view(np.uint32), [100, 101])
    np.testing.assert_array_equal(found[:, 0], [0x7F800000, 0x7C00])
