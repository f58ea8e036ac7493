"""VALU instructions on integers and bits (RDNA 4 ISA, 16.7, 16.8 and 16.12)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.emulator.model.operation import Op, op
from tests.emulator.model.values import Numbers, choose, each, integers, saturated

Scalar = Callable[..., int]
ONES = 0xFFFFFFFF


def by_element(function: Scalar) -> Callable[..., Numbers]:
    """Lift a function of Python's integers."""
    return lambda *arrays: each(function, *arrays)


def leading(size: int) -> Scalar:
    return lambda x: size - x.bit_length() if x else -1


def trailing(x: int) -> int:
    return (x & -x).bit_length() - 1 if x else -1


def sign_run(size: int) -> Scalar:
    """Return the number of bits from the top that equal the sign; -1 if all do."""
    return lambda x: leading(size)((x if x >= 0 else ~x) & (1 << size) - 1)


def reversed_bits(size: int) -> Scalar:
    return lambda x: int(f"{x:0{size}b}"[::-1], 2)


def field(size: int, signed: bool) -> Scalar:
    """`count` bits of x from `first` on."""

    def extract(x: int, first: int, count: int) -> int:
        value = x >> first & (1 << count) - 1
        return value - (1 << count) if signed and count and value >> count - 1 else value

    return extract


def differences(x: int, y: int, size: int = 8, masked: bool = False) -> int:
    mask = (1 << size) - 1
    pairs = [(x >> first & mask, y >> first & mask) for first in range(0, 32, size)]
    return sum(abs(a - b) for a, b in pairs if b or not masked)


def four_differences(x: int, y: int, z: int, size: int, masked: bool, limit: bool = False) -> int:
    mask = (1 << size) - 1
    result = 0
    for number in range(4):
        total = differences(x >> 8 * number & ONES, y, 8, masked) + (z >> size * number & mask)
        result |= (min(total, mask) if limit else total & mask) << size * number
    return result


def permuted(x: int, y: int, selector: int) -> int:
    data = [(x << 32 | y) >> 8 * place & 255 for place in range(8)]
    result = 0
    for place in range(4):
        choice = selector >> 8 * place & 255
        if choice >= 13:
            byte = 255
        elif choice == 12:
            byte = 0
        elif choice >= 8:
            byte = 255 * (data[2 * (choice - 8) + 1] >> 7)
        else:
            byte = data[choice]
        result |= byte << 8 * place
    return result


def average(x: int, y: int, z: int) -> int:
    return sum(
        (((x >> n & 255) + (y >> n & 255) + (z >> n & 1)) >> 1) << n for n in range(0, 32, 8)
    )


def below(x: Numbers) -> Numbers:
    """The bits of lanes below one's own, in waves of 32."""
    return integers([int(value) & (1 << index % 32) - 1 for index, value in enumerate(x)])


def counted(x: Numbers) -> Numbers:
    return each(lambda value: int(value).bit_count(), x)


def packed(low: Numbers, high: Numbers) -> Numbers:
    return (low & 0xFFFF) | (high & 0xFFFF) << 16


def unchanged(x: Numbers) -> Numbers:
    return x


def unit_halves(x: Numbers) -> Numbers:
    """Both f16 of a dword limited to [0, 1]; NaN is 0."""

    def unit(bits: int) -> int:
        # Patterns of positive numbers are in their order; 0x3C00 is 1.
        return bits if bits <= 0x3C00 else 0x3C00 if bits <= 0x7C00 else 0

    return each(lambda value: unit(int(value) & 0xFFFF) | unit(int(value) >> 16 & 0xFFFF) << 16, x)


MOVES: dict[str, Op] = {
    "v_mov_b32": op("b32", "b32", lambda x: x),
    "v_mov_b16": op("b16", "b16", lambda x: x),
    "v_not_b32": op("b32", "b32", lambda x: ~x),
    "v_not_b16": op("b16", "b16", lambda x: ~x),
    "v_bfrev_b32": op("b32", "b32", by_element(reversed_bits(32))),
    "v_clz_i32_u32": op("i32", "u32", by_element(leading(32))),
    "v_ctz_i32_b32": op("i32", "b32", by_element(trailing)),
    "v_cls_i32": op("i32", "i32", by_element(sign_run(32))),
    "v_cvt_i32_i16": op("i32", "i16", lambda x: x),
    "v_cvt_u32_u16": op("u32", "u16", lambda x: x),
    "v_cndmask_b32": op("b32", "b32 b32 mask", lambda x, y, c: choose(c, y, x)),
    "v_cndmask_b16": op("b16", "b16 b16 mask", lambda x, y, c: choose(c, y, x)),
}

BITS: dict[str, Op] = {
    "v_and_b32": op("b32", "b32 b32", lambda x, y: x & y),
    "v_or_b32": op("b32", "b32 b32", lambda x, y: x | y),
    "v_xor_b32": op("b32", "b32 b32", lambda x, y: x ^ y),
    "v_xnor_b32": op("b32", "b32 b32", lambda x, y: ~(x ^ y)),
    "v_and_b16": op("b16", "b16 b16", lambda x, y: x & y),
    "v_or_b16": op("b16", "b16 b16", lambda x, y: x | y),
    "v_xor_b16": op("b16", "b16 b16", lambda x, y: x ^ y),
    "v_lshlrev_b16": op("b16", "u16 b16", lambda n, x: x << (n & 15)),
    "v_lshrrev_b16": op("b16", "u16 u16", lambda n, x: x >> (n & 15)),
    "v_ashrrev_i16": op("i16", "u16 i16", lambda n, x: x >> (n & 15)),
    "v_lshlrev_b32": op("b32", "u32 b32", lambda n, x: x << (n & 31)),
    "v_lshrrev_b32": op("b32", "u32 u32", lambda n, x: x >> (n & 31)),
    "v_ashrrev_i32": op("i32", "u32 i32", lambda n, x: x >> (n & 31)),
    "v_lshlrev_b64": op("b64", "u32 b64", lambda n, x: x << (n & 63)),
    "v_lshrrev_b64": op("b64", "u32 u64", lambda n, x: x >> (n & 63)),
    "v_ashrrev_i64": op("i64", "u32 i64", lambda n, x: x >> (n & 63)),
    "v_bfe_u32": op(
        "u32", "u32 u32 u32", lambda x, y, z: by_element(field(32, False))(x, y & 31, z & 31)
    ),
    "v_bfe_i32": op(
        "i32", "i32 u32 u32", lambda x, y, z: by_element(field(32, True))(x, y & 31, z & 31)
    ),
    "v_bfi_b32": op("b32", "b32 b32 b32", lambda x, y, z: (x & y) | (~x & z)),
    "v_bfm_b32": op("b32", "u32 u32", lambda x, y: ((1 << (x & 31)) - 1) << (y & 31)),
    "v_alignbit_b32": op(
        "b32", "b32 b32 u16", lambda x, y, z: (x << 32 | y) >> (z & 31), clamped=unchanged
    ),
    "v_alignbyte_b32": op(
        "b32", "b32 b32 u16", lambda x, y, z: (x << 32 | y) >> 8 * (z & 3), clamped=unchanged
    ),
    "v_perm_b32": op("b32", "b32 b32 b32", by_element(permuted)),
    "v_xor3_b32": op("b32", "b32 b32 b32", lambda x, y, z: x ^ y ^ z),
    "v_or3_b32": op("b32", "b32 b32 b32", lambda x, y, z: x | y | z),
    "v_and_or_b32": op("b32", "b32 b32 b32", lambda x, y, z: (x & y) | z),
    "v_lshl_or_b32": op("b32", "b32 u32 b32", lambda x, y, z: (x << (y & 31)) | z),
    "v_lshl_add_u32": op("u32", "u32 u32 u32", lambda x, y, z: (x << (y & 31)) + z),
    "v_add_lshl_u32": op("u32", "u32 u32 u32", lambda x, y, z: (x + y) << (z & 31)),
    "v_xad_u32": op("u32", "u32 u32 u32", lambda x, y, z: (x ^ y) + z),
    "v_bcnt_u32_b32": op("u32", "b32 u32", lambda x, y: counted(x) + y),
    "v_mbcnt_lo_u32_b32": op("u32", "b32 u32", lambda x, y: counted(below(x)) + y),
    "v_mbcnt_hi_u32_b32": op("u32", "b32 u32", lambda x, y: y),
    "v_pack_b32_f16": op("2xf16", "b16 b16", packed, clamped=unit_halves),
    "v_lerp_u8": op("b32", "b32 b32 b32", by_element(average)),
}

ARITHMETIC: dict[str, Op] = {
    "v_add_nc_u32": op("u32", "u32 u32", lambda x, y: x + y, clamps=True),
    "v_sub_nc_u32": op("u32", "u32 u32", lambda x, y: x - y, clamps=True),
    "v_subrev_nc_u32": op("u32", "u32 u32", lambda x, y: y - x, clamps=True),
    "v_add_nc_i32": op("i32", "i32 i32", lambda x, y: x + y, clamps=True),
    "v_sub_nc_i32": op("i32", "i32 i32", lambda x, y: x - y, clamps=True),
    "v_add_nc_u16": op("u16", "u16 u16", lambda x, y: x + y, clamps=True),
    "v_sub_nc_u16": op("u16", "u16 u16", lambda x, y: x - y, clamps=True),
    "v_add_nc_i16": op("i16", "i16 i16", lambda x, y: x + y, clamps=True),
    "v_sub_nc_i16": op("i16", "i16 i16", lambda x, y: x - y, clamps=True),
    "v_add3_u32": op("u32", "u32 u32 u32", lambda x, y, z: x + y + z),
    "v_mul_lo_u32": op("u32", "u32 u32", lambda x, y: x * y),
    "v_mul_lo_u16": op("u16", "u16 u16", lambda x, y: x * y),
    "v_mul_hi_u32": op("u32", "u32 u32", lambda x, y: x * y >> 32),
    "v_mul_hi_i32": op("i32", "i32 i32", lambda x, y: x * y >> 32),
    "v_mul_u32_u24": op("u32", "u24 u24", lambda x, y: x * y, clamps=True),
    "v_mul_i32_i24": op("i32", "i24 i24", lambda x, y: x * y, clamps=True),
    "v_mul_hi_u32_u24": op("u32", "u24 u24", lambda x, y: x * y >> 32),
    "v_mul_hi_i32_i24": op("i32", "i24 i24", lambda x, y: x * y >> 32),
    "v_mad_u32_u24": op("u32", "u24 u24 u32", lambda x, y, z: x * y + z, clamps=True),
    "v_mad_i32_i24": op("i32", "i24 i24 i32", lambda x, y, z: x * y + z, clamps=True),
    "v_mad_u16": op("u16", "u16 u16 u16", lambda x, y, z: x * y + z, clamps=True),
    "v_mad_i16": op("i16", "i16 i16 i16", lambda x, y, z: x * y + z, clamps=True),
    "v_mad_u32_u16": op("u32", "u16 u16 u32", lambda x, y, z: x * y + z, clamps=True),
    "v_mad_i32_i16": op("i32", "i16 i16 i32", lambda x, y, z: x * y + z, clamps=True),
    "v_sad_u8": op("u32", "b32 b32 u32", lambda x, y, z: each(differences, x, y) + z, clamps=True),
    "v_sad_hi_u8": op("u32", "b32 b32 u32", lambda x, y, z: (each(differences, x, y) << 16) + z,
    clamps=True),
    "v_sad_u16": op("u32", "b32 b32 u32", lambda x, y,
    z: each(lambda a, b: differences(a, b, 16), x, y) + z,
                    clamps=True),
    "v_sad_u32": op("u32", "u32 u32 u32", lambda x, y, z: abs(x - y) + z, clamps=True),
    "v_msad_u8": op("u32", "b32 b32 u32", lambda x, y,
    z: each(lambda a, b: differences(a, b, 8, True), x, y) + z,
                    clamps=True),
    "v_qsad_pk_u16_u8": op("b64", "b64 b32 b64",
    by_element(lambda x, y, z: four_differences(x, y, z, 16, False))),
    "v_mqsad_pk_u16_u8": op("b64", "b64 b32 b64",
    by_element(lambda x, y, z: four_differences(x, y, z, 16, True))),
    "v_cvt_pk_i16_i32": op("b32", "i32 i32", lambda x,
    y: packed(saturated(x, "i16"), saturated(y, "i16"))),
    "v_cvt_pk_u16_u32": op("b32", "u32 u32", lambda x,
    y: packed(saturated(x, "u16"), saturated(y, "u16"))),
    "v_sat_pk_u8_i16": op("b16", "b32", by_element(lambda x: _limited(x) | _limited(x >> 16) << 8)),
}  # fmt: skip


def _limited(x: int) -> int:
    return min(max(((x & 0xFFFF) ^ 0x8000) - 0x8000, 0), 255)


CARRIES: dict[str, Op] = {
    "v_add_co_u32": op("u32", "u32 u32", lambda x, y: (x + y, x + y > ONES), carry=True),
    "v_sub_co_u32": op("u32", "u32 u32", lambda x, y: (x - y, x < y), carry=True),
    "v_subrev_co_u32": op("u32", "u32 u32", lambda x, y: (y - x, y < x), carry=True),
    "v_add_co_ci_u32": op(
        "u32", "u32 u32 mask", lambda x, y, c: (x + y + c, x + y + c > ONES), carry=True
    ),
    "v_sub_co_ci_u32": op(
        "u32", "u32 u32 mask", lambda x, y, c: (x - y - c, x < y + c), carry=True
    ),
    "v_subrev_co_ci_u32": op(
        "u32", "u32 u32 mask", lambda x, y, c: (y - x - c, y < x + c), carry=True
    ),
    "v_mad_co_u64_u32": op(
        "u64", "u32 u32 u64", lambda x, y, z: (x * y + z, x * y + z >> 64 != 0), carry=True
    ),
    "v_mad_co_i64_i32": op(
        "i64", "i32 i32 i64", lambda x, y, z: (x * y + z, _signed_carry(x * y + z)), carry=True
    ),
}


def _signed_carry(total: Numbers) -> Numbers:
    """Bit 64 of the 65-bit sum of sign-extended numbers."""
    return total >> 64 & 1


def _extremes() -> dict[str, Op]:
    table: dict[str, Op] = {}
    for code in ("i16", "u16", "i32", "u32"):
        two, three = f"{code} {code}", f"{code} {code} {code}"
        table[f"v_min_{code}"] = op(code, two, np.minimum)
        table[f"v_max_{code}"] = op(code, two, np.maximum)
        table[f"v_min3_{code}"] = op(code, three, by_element(min), clamps=True)
        table[f"v_max3_{code}"] = op(code, three, by_element(max), clamps=True)
        table[f"v_med3_{code}"] = op(
            code, three, by_element(lambda x, y, z: sorted((x, y, z))[1]), clamps=True
        )
    for code in ("i32", "u32"):
        three = f"{code} {code} {code}"
        table[f"v_maxmin_{code}"] = op(code, three, by_element(lambda x, y, z: min(max(x, y), z)))
        table[f"v_minmax_{code}"] = op(code, three, by_element(lambda x, y, z: max(min(x, y), z)))
    return table


INTEGERS: dict[str, Op] = {**MOVES, **BITS, **ARITHMETIC, **CARRIES, **_extremes()}
