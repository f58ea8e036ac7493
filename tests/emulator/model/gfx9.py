"""What gfx9 has and gfx12 has not, or does otherwise (CDNA 3 ISA and MI200 ISA documents, chapter
12)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from tests.emulator.model import gfx11
from tests.emulator.model.comparisons import COMPARISONS
from tests.emulator.model.conversions import to_integer
from tests.emulator.model.eighth import decoded, encoded
from tests.emulator.model.floats import FLOAT_OPS, products_of_zero
from tests.emulator.model.gfx9_names import gfx9_name
from tests.emulator.model.integers import INTEGERS, ONES, by_element, counted, trailing
from tests.emulator.model.memory import MEMORY, SCALAR_LOADS, Access, Atomic, Load
from tests.emulator.model.operation import Op, op
from tests.emulator.model.packed import HALVES, integer_dot
from tests.emulator.model.scalars import SCALARS, ScalarOp, scalar
from tests.emulator.model.values import Numbers, each, fma, integers, numbers, patterns

_Entry = TypeVar("_Entry")


def _renamed(table: Mapping[str, _Entry]) -> dict[str, _Entry]:
    return {gfx9_name(name): entry for name, entry in table.items()}


# Integers


def _below(high: bool) -> Callable[[Numbers], Numbers]:
    """The bits of lanes below one's own, in waves of 64."""

    def compute(x: Numbers) -> Numbers:
        masks = [((1 << lane % 64) - 1) >> 32 * high & ONES for lane in range(len(x))]
        return integers([int(value) & mask for value, mask in zip(x, masks, strict=True)])

    return compute


def _signed_fields(bits: int) -> Callable[..., Numbers]:
    dot = integer_dot(bits)
    return lambda x, y, z: dot(x, y, z, True, True)


def _accumulated(code: str, compute: Callable[[int, float, int], int]) -> Callable[..., Numbers]:
    """V_CVT_PKACCUM_U8_F32: one byte of the old result is replaced."""

    def one(byte: int, place: int, old: int) -> int:
        shift = 8 * (place & 3)
        return old & ~(255 << shift) | byte << shift

    return lambda x, y, old: each(one, to_integer(8, False, np.rint)(x), y, old)


_MULTIPLY_ADD = {
    f"v_mad_legacy_{code}": op(
        code, f"{code} {code} {code}", lambda x, y, z: x * y + z, clamps=True
    )
    for code in ("u16", "i16")
}
_INTEGERS: dict[str, Op] = {
    # The amount is the lowest bits of a dword here: no half of it is chosen.
    "v_alignbit_b32": op("b32", "b32 b32 u32", lambda x, y, z: (x << 32 | y) >> (z & 31)),
    "v_alignbyte_b32": op("b32", "b32 b32 u32", lambda x, y, z: (x << 32 | y) >> 8 * (z & 3)),
    **_MULTIPLY_ADD,
    "v_subrev_u16": op("u16", "u16 u16", lambda x, y: y - x, clamps=True),
    "v_mbcnt_lo_u32_b32": op("u32", "b32 u32", lambda x, y: counted(_below(False)(x)) + y),
    "v_mbcnt_hi_u32_b32": op("u32", "b32 u32", lambda x, y: counted(_below(True)(x)) + y),
    "v_mov_b64": op("b64", "b64", lambda x: x),
    "v_lshl_add_u64": op("u64", "u64 u32 u64", lambda x, n, z: (x << (n & 7)) + z),
    "v_cvt_pkaccum_u8_f32": op("b32", "f32 u32", _accumulated("u8", min), old=True),
    "v_dot2c_i32_i16": op("i32", "b32 b32", _signed_fields(16), old=True),
    "v_dot4c_i32_i8": op("i32", "b32 b32", _signed_fields(8), old=True),
    "v_dot8c_i32_i4": op("i32", "b32 b32", _signed_fields(4), old=True),
}
WHOLE: dict[str, Op] = {**_renamed(INTEGERS), **_INTEGERS}


# Floats


def _tiny(x: Numbers) -> Numbers:
    """Denormal numbers."""
    x = np.asarray(x)
    return (x != 0) & (np.abs(x) < np.finfo(x.dtype).smallest_normal)


def without_denormals(*operands: Numbers) -> Numbers:
    """Where V_MAD and V_MAC meet no denormal number: they flush those (LLVM, `isFMADLegal`), and no
    document says when and with which sign."""
    x, y, z = operands
    with np.errstate(all="ignore"):
        product = x * y
        found = [_tiny(value) for value in (x, y, z, product, product + z)]
    return ~np.logical_or.reduce(found)


def _unfused(x: Numbers, y: Numbers, z: Numbers) -> Numbers:
    """Two roundings."""
    return x * y + z


def _unfused_ops() -> dict[str, Op]:
    table: dict[str, Op] = {}
    for code in ("f16", "f32"):
        three = f"{code} {code} {code}"
        for name in ("mad", "mad_legacy") if code == "f16" else ("mad",):
            table[f"v_{name}_{code}"] = op(code, three, _unfused, known=without_denormals)
        table[f"v_mac_{code}"] = op(
            code, f"{code} {code}", _unfused, old=True, known=without_denormals
        )
        table[f"v_madak_{code}"] = op(
            code, f"{code} {code} k{code}", _unfused, known=without_denormals
        )
        table[f"v_madmk_{code}"] = op(
            code,
            f"{code} k{code} {code}",
            _unfused,
            known=without_denormals,
        )
    table["v_mad_legacy_f32"] = op(
        "f32",
        "f32 f32 f32",
        lambda x, y, z: products_of_zero(x, y, x * y + z, np.float32(0) + z),
        known=without_denormals,
    )
    return table


def dot_of_pairs(x: list[Numbers], y: list[Numbers], z: Numbers, code: str = "f16") -> Numbers:
    """One product after the other is added, as the document writes it; of bfloat16 to the addend
    last (V_DOT2_F32_BF16)."""
    if code == "bf16":
        first, second = (a * b for a, b in zip(x, y, strict=True))
        return (first + second) + z
    total = z
    for a, b in zip(x, y, strict=True):
        total = total + a.astype(np.float32) * b.astype(np.float32)
    return total


def dot_is_known(x: list[Numbers], y: list[Numbers], z: Numbers, code: str = "f16") -> Numbers:
    """LLVM counts on V_DOT2_F32_F16's flushing (`performFMACombine`): no denormal number is
    judged."""
    products = [a.astype(np.float32) * b.astype(np.float32) for a, b in zip(x, y, strict=True)]
    # Nor is one that leaves the range on the way, where a fused addition would come back.
    inside = np.logical_and.reduce([np.isfinite(product) for product in products])
    between = [*products, products[0] + products[1], z + products[0], dot_of_pairs(x, y, z, code)]
    return inside & ~np.logical_or.reduce([_tiny(part) for part in (*x, *y, z, *between)])


def _halves(words: Numbers, code: str = "f16") -> list[Numbers]:
    parts = [np.array([int(v) >> shift & 0xFFFF for v in words], np.uint64) for shift in (0, 16)]
    return [numbers(part, code) for part in parts]


def _accumulating(code: str) -> Op:
    """V_DOT2C: the addend comes first, whatever the factors are."""
    return op(
        "f32",
        "b32 b32",
        lambda x, y, z: dot_of_pairs(_halves(x, code), _halves(y, code), z),
        old=True,
        known=lambda x, y, z: dot_is_known(_halves(x, code), _halves(y, code), z),
    )


_FLOATS: dict[str, Op] = {
    **gfx11.extremes(),
    **_unfused_ops(),
    "v_fma_legacy_f16": FLOAT_OPS["v_fma_f16"],
    "v_div_fixup_legacy_f16": FLOAT_OPS["v_div_fixup_f16"],
    "v_fmac_f64": op("f64", "f64 f64", fma, old=True),
    "v_dot2c_f32_f16": _accumulating("f16"),
    "v_dot2c_f32_bf16": _accumulating("bf16"),
}


# Bytes


def _byte(value: float, kind: str) -> int:
    byte = encoded(value, kind)
    return byte if byte is not None else 0x80 if kind.endswith("fnuz") else 0x7F


def _to_bytes(kind: str) -> Callable[..., Numbers]:
    return lambda x, y: each(lambda a, b: _byte(float(a), kind) | _byte(float(b), kind) << 8, x, y)


def _from_bytes(kind: str, count: int) -> Callable[[Numbers], Numbers]:
    def compute(x: Numbers) -> Numbers:
        found = [
            np.array([decoded(int(v) >> 8 * byte & 255, kind) for v in x], np.float32)
            for byte in range(count)
        ]
        if count == 1:
            return found[0]
        low, high = (patterns(part, "f32").astype(object) for part in found)
        return low | high << 32

    return compute


def _bytes_of(fp8: str, bf8: str) -> dict[str, Op]:
    table = {}
    for name, kind in (("fp8", fp8), ("bf8", bf8)):
        result = "b16" if kind.endswith("fnuz") else f"2x{name}"
        table[f"v_cvt_pk_{name}_f32"] = op(result, "f32 f32", _to_bytes(kind))
        table[f"v_cvt_f32_{name}"] = op("f32", "b32", _from_bytes(kind, 1))
        table[f"v_cvt_pk_f32_{name}"] = op("2xf32", "b32", _from_bytes(kind, 2))
    return table


def bytes_of(family: str) -> dict[str, Op]:
    """Return the conversions of 8-bit floats: gfx942 has a kind of its own."""
    return _bytes_of("fp8", "bf8") if family == "gfx950" else _bytes_of("fp8_fnuz", "bf8_fnuz")


# Comparisons


def _constant(value: bool) -> Callable[..., Any]:
    return lambda x, y: np.full(len(x), value)


_CONSTANTS: dict[str, Op] = {
    f"v_{verb}_{name}_{code}": op("mask", f"{code} {code}", _constant(name != "f"))
    for verb in ("cmp", "cmpx")
    for names, codes in (
        (("f", "tru"), ("f16", "f32", "f64")),
        (("f", "t"), ("i16", "u16", "i32", "u32", "i64", "u64")),
    )
    for name in names
    for code in codes
}
COMPARED: dict[str, Op] = {**COMPARISONS, **_CONSTANTS}


VECTOR: dict[str, Op] = {**WHOLE, **_renamed(FLOAT_OPS), **COMPARED, **_FLOATS}

# Packed

PACKED_HALVES: dict[str, Op] = {
    **_renamed(HALVES),
    "v_pk_min_f16": _FLOATS["v_min_f16"],
    "v_pk_max_f16": _FLOATS["v_max_f16"],
}
DOTS: dict[str, Op] = {
    "v_dot2_i32_i16": op("i32", "b32 b32 i32", _signed_fields(16), clamps=True),
    "v_dot2_u32_u16": op("u32", "b32 b32 u32", integer_dot(16), clamps=True),
    "v_dot4_i32_i8": op("i32", "b32 b32 i32", _signed_fields(8), clamps=True),
    "v_dot4_u32_u8": op("u32", "b32 b32 u32", integer_dot(8), clamps=True),
    "v_dot8_i32_i4": op("i32", "b32 b32 i32", _signed_fields(4), clamps=True),
    "v_dot8_u32_u4": op("u32", "b32 b32 u32", integer_dot(4), clamps=True),
}
# Two elements of 32 bits: what makes each of them.
WIDE: dict[str, Op] = {
    "v_pk_fma_f32": FLOAT_OPS["v_fma_f32"],
    "v_pk_mul_f32": FLOAT_OPS["v_mul_f32"],
    "v_pk_add_f32": FLOAT_OPS["v_add_f32"],
}


# Scalars

SCALAR: dict[str, ScalarOp] = {
    **_renamed(SCALARS),
    **{name: entry for name, entry in gfx11.SCALAR.items() if name.startswith("s_cmpk_")},
    **{
        f"s_ff0_i32_b{size}": scalar(
            "i32",
            f"b{size}",
            lambda x, size=size: by_element(trailing)(~x & (1 << size) - 1),
        )
        for size in (32, 64)
    },
}


# Memory


def _chosen(code: str, test: Callable[[Any, Any], Any]) -> Callable[[int, int], int]:
    """The operand if it compares so with what is in memory."""

    def compute(m: int, d: int) -> int:
        x, y = (numbers(np.array([value], np.uint64), code) for value in (d, m))
        return d if test(x, y)[0] else m

    return compute


def _added(code: str) -> Callable[[int, int], int]:
    def compute(m: int, d: int) -> int:
        x, y = (numbers(np.array([value], np.uint64), code) for value in (m, d))
        with np.errstate(all="ignore"):
            return int(patterns(x + y, code)[0])

    return compute


def _same_float(code: str) -> Callable[[int, int, int], int]:
    def compute(m: int, c: int, d: int) -> int:
        x, y = (numbers(np.array([value], np.uint64), code) for value in (m, c))
        return d if (x == y)[0] else m

    return compute


def _own_memory() -> dict[str, Access]:
    """DS_CMPST has what is compared first, unlike what came after it."""
    table: dict[str, Access] = {}
    for size in (4, 8):
        swap = Atomic(size, lambda m, c, d: d if m == c else m, 2)
        code = f"f{8 * size}"
        least, most = (
            Atomic(size, _chosen(code, test), code=code) for test in (operator.lt, operator.gt)
        )
        for middle in ("", "rtn_"):
            table[f"ds_cmpst_{middle}b{8 * size}"] = swap
            table[f"ds_cmpst_{middle}{code}"] = Atomic(size, _same_float(code), 2, code)
            table[f"ds_min_{middle}{code}"] = least
            table[f"ds_max_{middle}{code}"] = most
    for middle in ("", "rtn_"):
        table[f"ds_add_{middle}f64"] = Atomic(8, _added("f64"), code="f64")
    for space in ("global", "flat", "buffer"):
        table[f"{space}_atomic_add_f64"] = Atomic(8, _added("f64"), code="f64")
        table[f"{space}_atomic_min_f64"] = Atomic(8, _chosen("f64", operator.lt), code="f64")
        table[f"{space}_atomic_max_f64"] = Atomic(8, _chosen("f64", operator.gt), code="f64")
    table["ds_wrap_rtn_b32"] = Atomic(4, lambda m, d, e: m - d if m >= d else m + e, 2)
    return table


ACCESSES: dict[str, Access] = {**_renamed(MEMORY), **_own_memory()}
LOADS: dict[str, Load] = _renamed(SCALAR_LOADS)
# Nothing but waits, hints and caches.
NO_EFFECT: dict[str, str] = {
    "s_waitcnt": "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)",
    "s_barrier": "s_barrier",
    "v_clrexcp": "v_clrexcp",
    "s_atc_probe": "s_atc_probe 0x7, s[0:1], 0x10",
    "s_atc_probe_buffer": "s_atc_probe_buffer 0x7, s[40:43], 0x10",
    **{
        f"s_cbranch_cdbg{name}": f"s_cbranch_cdbg{name} 0"
        for name in ("sys", "user", "sys_or_user", "sys_and_user")
    },
    "s_dcache_wb": "s_dcache_wb",
    "s_dcache_inv_vol": "s_dcache_inv_vol",
    "s_dcache_wb_vol": "s_dcache_wb_vol",
    "buffer_wbinvl1": "buffer_wbinvl1",
    "buffer_wbinvl1_vol": "buffer_wbinvl1_vol",
    "buffer_wbl2": "buffer_wbl2",
    "buffer_invl2": "buffer_invl2",
    "buffer_inv": "buffer_inv sc1",
}
