"""Instructions whose sources depend on each other, or whose result is wider than two registers
(RDNA 4 ISA, 16.12).

The steps of a division, conversions that round by chance, dot products of halves, constants of
range reduction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

import numpy as np

from tests.emulator.model import ieee
from tests.emulator.model.cases.programs import (
    INPUTS,
    PARTIAL,
    RESULT,
    SOURCES,
    VCC,
    Case,
    Registers,
)
from tests.emulator.model.eighth import decoded
from tests.emulator.model.families import family_step, instruction_set, is_gfx9
from tests.emulator.model.ieee import FORMATS
from tests.emulator.model.integers import differences as byte_differences
from tests.emulator.model.values import Bits, Numbers, differences, numbers, patterns
from tests.emulator.model.waves import (
    all_lanes,
    lane_bits,
    lane_mask,
    lanes_of_wave,
    mask_name,
    set_mask,
)

ALL = tuple(
    f"v_{name}"
    for name in (
        "div_scale_f32",
        "div_scale_f64",
        "div_fmas_f32",
        "div_fmas_f64",
        "cvt_sr_fp8_f32",
        "cvt_sr_bf8_f32",
        "dot2_f16_f16",
        "dot2_bf16_bf16",
        "mqsad_u32_u8",
        "trig_preop_f64",
    )
)


# Division


def _exponent(x: float, code: str) -> int:
    """The exponent's field: 0 for denormals and zero, all ones for infinity and NaN."""
    return FORMATS[code].exponent(_bits(x, code))


def _bits(x: float, code: str) -> int:
    return int(patterns(np.array([x]), code)[0])


def _float(bits: int, code: str) -> float:
    return float(numbers(np.array([bits], np.uint64), code)[0])


def div_scale(x: float, below: float, above: float, code: str) -> tuple[float, bool]:
    """V_DIV_SCALE: S0 scaled, and whether the quotient has to be scaled back; S0 is S1, below, or
    S2, above."""
    bits, back = ieee.div_scale(FORMATS[code], *(_bits(value, code) for value in (x, below, above)))
    return _float(bits, code), back


def div_fmas(x: float, y: float, z: float, scales: bool, code: str) -> float:
    """V_DIV_FMAS: a multiply-add, times a power of two in lanes that VCC names, rounded once."""
    return _float(
        ieee.div_fmas(FORMATS[code], *(_bits(value, code) for value in (x, y, z)), scales), code
    )


# Other functions of one lane


_FNUZ_NAN = 0x80
# Bits of the fraction, bias, and what too large numbers become.
_BYTES = {
    "fp8": (3, 7, 0x7F),
    "bf8": (2, 15, 0x7C),
    "fp8_fnuz": (3, 8, _FNUZ_NAN),
    "bf8_fnuz": (2, 16, _FNUZ_NAN),
}


def encoded_by_chance(value: float, random: int, kind: str) -> tuple[int, bool]:
    """A byte: what is cut off and the upper bits of `random` make the next number if they carry.

    Also whether that is certain: for denormal results the document does not say how far the bits
    reach.
    """
    mantissa, bias, infinity = _BYTES[kind]
    sign = 128 if math.copysign(1.0, value) < 0 else 0
    if kind.endswith("fnuz") and not math.isfinite(value):
        return _FNUZ_NAN, True
    if math.isnan(value):
        return 0x7F, True
    if math.isinf(value) or not value:
        return 0 if kind.endswith("fnuz") else sign | (infinity if value else 0), True
    size = Fraction(abs(value))
    exponent = max(math.frexp(abs(value))[1] - 1, 1 - bias)
    steps = size / Fraction(2) ** (exponent - mantissa)
    cut = 23 - mantissa
    chance = Fraction(random >> 32 - cut, 1 << cut)
    whole = math.floor(steps)
    carried = steps - whole + chance
    code = (exponent + bias - 1 << mantissa) + whole + (carried >= 1)
    certain = exponent + bias > 1 or abs(carried - 1) > Fraction(1, 1 << 18)
    if not math.isfinite(decoded(min(code, 127), kind)) or code > 127:
        code = infinity
    if kind.endswith("fnuz"):
        return (code if code in (0, _FNUZ_NAN) else sign | code), certain
    return sign | code, certain


def sum_of_differences(wide: int, pattern: int, addend: int) -> int:
    """V_MQSAD_U32_U8: four masked sums of differences of bytes."""
    result = 0
    for number in range(4):
        total = byte_differences(wide >> 8 * number & 0xFFFFFFFF, pattern, 8, True)
        result |= (total + (addend >> 32 * number) & 0xFFFFFFFF) << 32 * number
    return result


@cache
def _two_over_pi() -> int:
    """2 / pi as 1201 bits after the point, by Machin's formula."""
    one = 1 << 1300

    def arctangent(inverse: int) -> int:
        power = total = one // inverse
        for number in range(3, 2000, 2):
            power //= -inverse * inverse
            total += power // number
        return total

    pi = 4 * (4 * arctangent(5) - arctangent(239))
    return (2 * one * one // pi) >> 99


def trig_preop(x: float, segment: int) -> float:
    """V_TRIG_PREOP_F64: 53 bits of 2 / pi, from where the exponent of x and the segment say."""
    exponent = _exponent(x, "f64")
    shift = 53 * (segment & 31) + max(0, exponent - 1077)
    bits = (_two_over_pi() << shift & (1 << 1201) - 1) >> 1201 - 53
    return math.ldexp(bits, -53 - shift + (128 if exponent >= 1968 else 0))


# Cases


class _Maker:
    """Makes the cases of one size of elements."""

    def __init__(self, inputs: Registers, random: np.random.Generator) -> None:
        self._inputs = inputs
        self._random = random
        self._partial = bool(random.integers(2))

    def wide(self, register: int, dwords: int) -> list[int]:
        rows = self._inputs[register - SOURCES[0] :][:dwords].astype(object)
        return [int(value) for value in sum(row << 32 * part for part, row in enumerate(rows))]

    def floats(self, register: int, code: str) -> list[float]:
        dwords = 2 if code == "f64" else 1
        bits = np.array(self.wide(register, dwords), np.uint64)
        return [float(value) for value in numbers(bits, code)]

    def lane_bits(self, mask: int) -> Numbers:
        return np.tile(lane_bits(lane_mask(mask)), self._inputs.shape[1] // lanes_of_wave())

    def case(
        self,
        text: str,
        dwords: int,
        wrong: Callable[[Bits], Numbers],
        mask: tuple[str, Numbers] | None = None,
    ) -> Case:
        """A case whose result is v100 and on; mask: a register of lane bits that is written,
        too."""
        outputs = [f"v{RESULT + part}" for part in range(dwords)]
        lines = [f"  v_mov_b32 {register}, v{INPUTS}" for register in outputs]
        lines += set_mask("vcc_lo", lane_mask(VCC))
        lines += set_mask("exec_lo", lane_mask(PARTIAL)) if self._partial else []
        lines += [f"  {text}", *all_lanes()]
        written = self.lane_bits(PARTIAL if self._partial else 0xFFFFFFFF)

        def judge(found: Registers) -> Numbers:
            result = sum(row.astype(object) << 32 * part for part, row in enumerate(found[:dwords]))
            bad = np.where(
                written, wrong(result), (found[:dwords] != self._inputs[INPUTS - SOURCES[0]]).any(0)
            )
            if mask is not None:
                lanes = np.arange(found.shape[1]) % 32
                bad |= (found[-1] >> lanes.astype(np.uint32) & 1).astype(bool) != (
                    mask[1] & written
                )
            return np.asarray(bad, bool)

        return Case(text, tuple(lines), (*outputs, *([mask[0]] if mask else [])), judge)

    def numbers_case(
        self, text: str, values: list[float], code: str, mask: Numbers | None = None
    ) -> Case:
        with np.errstate(all="ignore"):
            expected = patterns(np.array(values), code)

        def wrong(found: Bits) -> Numbers:
            return differences(found.astype(np.uint64), expected, code, 0, 0.0)

        return self.case(
            text,
            2 if code == "f64" else 1,
            wrong,
            (mask_name("s50"), mask) if mask is not None else None,
        )

    def scale(self, code: str, places: tuple[int, int, int]) -> Case:
        sources = [self.floats(place, code) for place in places]
        negative = [bool(self._random.integers(2)) for _ in range(2)]
        # The same operand has the same sign, wherever it stands.
        signs = [negative[place == places[2]] for place in places]
        values = [
            [-x if sign else x for x in column] for sign, column in zip(signs, sources, strict=True)
        ]
        results = [div_scale(*items, code) for items in zip(*values, strict=True)]
        texts = [
            ("-" if sign else "") + _register(place, code)
            for sign, place in zip(signs, places, strict=True)
        ]
        text = (
            f"v_div_scale_{code} {_register(RESULT, code)}, {mask_name('s50')}, {', '.join(texts)}"
        )
        return self.numbers_case(
            text, [r[0] for r in results], code, np.array([r[1] for r in results])
        )

    def multiply_add(self, code: str) -> Case:
        sources = [self.floats(place, code) for place in SOURCES]
        scales = self.lane_bits(VCC)
        values = [div_fmas(*items, code) for items in zip(*sources, scales, strict=True)]
        texts = [_register(place, code) for place in (RESULT, *SOURCES)]
        return self.numbers_case(f"v_div_fmas_{code} {', '.join(texts)}", values, code)

    def by_chance(self, kind: str, edge: int | None) -> Case:
        """edge: the random bits just carry (0), or just do not (1), for results that are not
        denormal."""
        byte = int(self._random.integers(4))
        cut = 20 if kind == "fp8" else 21
        form = f"{kind}_fnuz" if instruction_set().name == "gfx942" else kind
        randoms = self.wide(4, 1)
        chance = "v_mov_b32 v20, v4"
        if edge is not None:
            randoms = [(-(bits << 32 - cut) - edge) & 0xFFFFFFFF for bits in self.wide(2, 1)]
            chance = f"v_lshlrev_b32 v20, {32 - cut}, v2\n  v_sub_nc_u32 v20, {-edge}, v20"
        pairs = zip(self.floats(2, "f32"), randoms, strict=True)
        results = [encoded_by_chance(value, random, form) for value, random in pairs]
        expected, certain = (np.array(column) for column in zip(*results, strict=True))
        old = np.array(self.wide(INPUTS, 1), object)

        def wrong(found: Bits) -> Numbers:
            mine = (found.astype(np.uint64) >> np.uint64(8 * byte)) & np.uint64(255)
            same = "b8" if form.endswith("fnuz") else kind
            apart = differences(mine, expected.astype(np.uint64), same, 0, 0.0)
            near = np.abs(mine.astype(int) - expected.astype(int)) <= 1
            kept = (found ^ old) & ~(255 << 8 * byte) & 0xFFFFFFFF
            return (apart & (certain | ~near)) | (kept != 0).astype(bool)

        # gfx9 has the number of the byte in the upper bits of op_sel.
        place = f"op_sel:[0,0,{byte & 1},{byte >> 1}]" if is_gfx9() else f"byte_sel:{byte}"
        return self.case(f"{chance}\n  v_cvt_sr_{kind}_f32 v{RESULT}, v2, v20 {place}", 1, wrong)

    def dot(self, code: str) -> Case:
        """Two products and an addend, rounded as the scalar model of the family rounds."""
        words = zip(self.wide(2, 1), self.wide(4, 1), self.wide(6, 1), strict=True)
        expected = [
            family_step(
                *([int(word) & 0xFFFF, int(word) >> 16] for word in (x, y)),
                int(c) & 0xFFFF,
                (code, code),
                code,
            )
            for x, y, c in words
        ]

        def wrong(found: Bits) -> Numbers:
            return (found.astype(np.uint64) & np.uint64(0xFFFF)) != np.array(expected, np.uint64)

        return self.case(f"v_dot2_{code}_{code} v{RESULT}.l, v2, v4, v6.l", 1, wrong)

    def four_sums(self) -> Case:
        columns = zip(self.wide(2, 2), self.wide(4, 1), self.wide(6, 4), strict=True)
        expected = np.array([sum_of_differences(*items) for items in columns], object)
        return self.case(
            "v_mqsad_u32_u8 v[100:103], v[2:3], v4, v[6:9]", 4, lambda found: found != expected
        )

    def range_reduction(self) -> Case:
        values = [
            trig_preop(*items) for items in zip(self.floats(2, "f64"), self.wide(4, 1), strict=True)
        ]
        return self.numbers_case("v_trig_preop_f64 v[100:101], v[2:3], v4", values, "f64")


def _register(number: int, code: str) -> str:
    return f"v[{number}:{number + 1}]" if code == "f64" else f"v{number}"


def division_cases(
    inputs: dict[int, Registers], random: np.random.Generator
) -> Iterator[tuple[int, Case]]:
    """Yield the size of the elements, and a case."""
    for size, code in ((32, "f32"), (64, "f64")):
        for places in ((4, 4, 6), (6, 4, 6), (2, 4, 6)):
            yield size, _Maker(inputs[size], random).scale(code, places)
        yield size, _Maker(inputs[size], random).multiply_add(code)
    for kind in ("fp8", "bf8"):
        for edge in (None, 0, 1):
            yield 32, _Maker(inputs[32], random).by_chance(kind, edge)
    for code in ("f16", "bf16"):
        yield 16, _Maker(inputs[16], random).dot(code)
    yield 32, _Maker(inputs[32], random).four_sums()
    yield 64, _Maker(inputs[64], random).range_reduction()
