"""SALU instructions (RDNA 4 ISA, 16.1 to 16.5). `carry` says what SCC becomes; else see `scc`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tests.emulator.model.comparisons import float_predicates
from tests.emulator.model.conversions import to_integer, towards_zero
from tests.emulator.model.floats import (
    in_double,
    larger,
    maximum,
    minimum,
    smaller,
    without_subnormals,
)
from tests.emulator.model.integers import (
    ONES,
    by_element,
    counted,
    field,
    leading,
    packed,
    reversed_bits,
    sign_run,
    trailing,
)
from tests.emulator.model.nans import with_nans
from tests.emulator.model.operation import Op, op
from tests.emulator.model.values import Numbers, choose, fma, integers


@dataclass(frozen=True)
class ScalarOp:
    """op: see there; sources may be `scc`, `simm` (16 bits, signed) and `k...` (a literal).

    scc: nonzero (of the result), keep, or carry (the operation says).
    """

    op: Op
    scc: str = "keep"


def scalar(
    result: str, sources: str, compute: Callable[..., object], scc: str = "keep", old: bool = False
) -> ScalarOp:
    return ScalarOp(op(result, sources, compute, old=old, carry=scc == "carry"), scc)


def overflows(total: Numbers, size: int = 32) -> Numbers:
    """Signed sums outside of the range."""
    return (total < -(1 << size - 1)) | (total >= 1 << size - 1)


def bit_field(size: int, signed: bool) -> Callable[..., Numbers]:
    def one(x: int, spec: int) -> int:
        first, count = spec & size - 1, spec >> 16 & 127
        # A field of all bits or more is the shifted number itself.
        return x >> first if count >= size else field(size, signed)(x, first, count)

    return by_element(one)


def spread(x: int) -> int:
    return sum((x >> place & 1) * 3 << 2 * place for place in range(32))


def quads(size: int, whole: bool) -> Callable[..., Numbers]:
    def one(x: int) -> int:
        found = [place for place in range(size // 4) if x >> 4 * place & 15]
        return sum(15 << 4 * place if whole else 1 << place for place in found)

    return by_element(one)


def put_bit(value: int) -> Callable[..., Numbers]:
    def one(place: int, old: int, size: int) -> int:
        mask = 1 << place % size
        return old | mask if value else old & ~mask

    return lambda place, old, size=32: integers(
        [one(int(p), int(o), size) for p, o in zip(place, old, strict=True)]
    )


def count_zeros(size: int) -> Callable[..., Numbers]:
    return lambda x: counted(~x & (1 << size) - 1)


MOVES = {
    "s_mov_b32": scalar("b32", "b32", lambda x: x),
    "s_mov_b64": scalar("b64", "b64", lambda x: x),
    "s_cmov_b32": scalar("b32", "b32 scc", lambda x, c, old: choose(c, x, old), old=True),
    "s_cmov_b64": scalar("b64", "b64 scc", lambda x, c, old: choose(c, x, old), old=True),
    "s_cselect_b32": scalar("b32", "b32 b32 scc", lambda x, y, c: choose(c, x, y)),
    "s_cselect_b64": scalar("b64", "b64 b64 scc", lambda x, y, c: choose(c, x, y)),
    "s_brev_b32": scalar("b32", "b32", by_element(reversed_bits(32))),
    "s_brev_b64": scalar("b64", "b64", by_element(reversed_bits(64))),
    "s_ctz_i32_b32": scalar("i32", "b32", by_element(trailing)),
    "s_ctz_i32_b64": scalar("i32", "b64", by_element(trailing)),
    "s_clz_i32_u32": scalar("i32", "u32", by_element(leading(32))),
    "s_clz_i32_u64": scalar("i32", "u64", by_element(leading(64))),
    "s_cls_i32": scalar("i32", "i32", by_element(sign_run(32))),
    "s_cls_i32_i64": scalar("i32", "i64", by_element(sign_run(64))),
    "s_sext_i32_i8": scalar("i32", "i8", lambda x: x),
    "s_sext_i32_i16": scalar("i32", "i16", lambda x: x),
    "s_bitset0_b32": scalar("b32", "u32", put_bit(0), old=True),
    "s_bitset1_b32": scalar("b32", "u32", put_bit(1), old=True),
    "s_bitset0_b64": scalar("b64", "u32", lambda x, old: put_bit(0)(x, old, 64), old=True),
    "s_bitset1_b64": scalar("b64", "u32", lambda x, old: put_bit(1)(x, old, 64), old=True),
    "s_bitreplicate_b64_b32": scalar("b64", "b32", by_element(spread)),
    "s_abs_i32": scalar("i32", "i32", abs, "nonzero"),
    "s_bcnt0_i32_b32": scalar("i32", "b32", count_zeros(32), "nonzero"),
    "s_bcnt0_i32_b64": scalar("i32", "b64", count_zeros(64), "nonzero"),
    "s_bcnt1_i32_b32": scalar("i32", "b32", counted, "nonzero"),
    "s_bcnt1_i32_b64": scalar("i32", "b64", counted, "nonzero"),
    "s_quadmask_b32": scalar("b32", "b32", quads(32, False), "nonzero"),
    "s_quadmask_b64": scalar("b64", "b64", quads(64, False), "nonzero"),
    "s_wqm_b32": scalar("b32", "b32", quads(32, True), "nonzero"),
    "s_wqm_b64": scalar("b64", "b64", quads(64, True), "nonzero"),
    "s_movk_i32": scalar("i32", "simm", lambda k: k),
    "s_cmovk_i32": scalar("i32", "simm scc", lambda k, c, old: choose(c, k, old), old=True),
    "s_pack_ll_b32_b16": scalar("b32", "b32 b32", packed),
    "s_pack_lh_b32_b16": scalar("b32", "b32 b32", lambda x, y: packed(x, y >> 16)),
    "s_pack_hh_b32_b16": scalar("b32", "b32 b32", lambda x, y: packed(x >> 16, y >> 16)),
    "s_pack_hl_b32_b16": scalar("b32", "b32 b32", lambda x, y: packed(x >> 16, y)),
}

ARITHMETIC = {
    "s_add_co_u32": scalar("u32", "u32 u32", lambda x, y: (x + y, x + y > ONES), "carry"),
    "s_sub_co_u32": scalar("u32", "u32 u32", lambda x, y: (x - y, x < y), "carry"),
    "s_add_co_i32": scalar("i32", "i32 i32", lambda x, y: (x + y, overflows(x + y)), "carry"),
    "s_sub_co_i32": scalar("i32", "i32 i32", lambda x, y: (x - y, overflows(x - y)), "carry"),
    "s_add_co_ci_u32": scalar(
        "u32", "u32 u32 scc", lambda x, y, c: (x + y + c, x + y + c > ONES), "carry"
    ),
    "s_sub_co_ci_u32": scalar(
        "u32", "u32 u32 scc", lambda x, y, c: (x - y - c, x < y + c), "carry"
    ),
    "s_addk_co_i32": scalar(
        "i32", "simm", lambda k, old: (old + k, overflows(old + k)), "carry", old=True
    ),
    "s_mulk_i32": scalar("i32", "simm", lambda k, old: old * k, old=True),
    "s_absdiff_i32": scalar("i32", "i32 i32", lambda x, y: abs(_wrapped(x - y)), "nonzero"),
    "s_mul_i32": scalar("i32", "i32 i32", lambda x, y: x * y),
    "s_mul_hi_u32": scalar("u32", "u32 u32", lambda x, y: x * y >> 32),
    "s_mul_hi_i32": scalar("i32", "i32 i32", lambda x, y: x * y >> 32),
    "s_add_nc_u64": scalar("u64", "u64 u64", lambda x, y: x + y),
    "s_sub_nc_u64": scalar("u64", "u64 u64", lambda x, y: x - y),
    "s_mul_u64": scalar("u64", "u64 u64", lambda x, y: x * y),
    **{
        f"s_lshl{n}_add_u32": scalar(
            "u32", "u32 u32", lambda x, y, n=n: ((x << n) + y, (x << n) + y > ONES), "carry"
        )
        for n in range(1, 5)
    },
    "s_min_i32": scalar("i32", "i32 i32", lambda x, y: (np.minimum(x, y), x < y), "carry"),
    "s_min_u32": scalar("u32", "u32 u32", lambda x, y: (np.minimum(x, y), x < y), "carry"),
    "s_max_i32": scalar("i32", "i32 i32", lambda x, y: (np.maximum(x, y), x >= y), "carry"),
    "s_max_u32": scalar("u32", "u32 u32", lambda x, y: (np.maximum(x, y), x >= y), "carry"),
    "s_bfe_u32": scalar("u32", "u32 u32", bit_field(32, False), "nonzero"),
    "s_bfe_i32": scalar("i32", "i32 u32", bit_field(32, True), "nonzero"),
    "s_bfe_u64": scalar("u64", "u64 u32", bit_field(64, False), "nonzero"),
    "s_bfe_i64": scalar("i64", "i64 u32", bit_field(64, True), "nonzero"),
    "s_bfm_b32": scalar("b32", "u32 u32", lambda x, y: ((1 << (x & 31)) - 1) << (y & 31)),
    "s_bfm_b64": scalar("b64", "u32 u32", lambda x, y: ((1 << (x & 63)) - 1) << (y & 63)),
}


def _wrapped(total: Numbers) -> Numbers:
    return ((total & ONES) ^ 1 << 31) - (1 << 31)


def _logic() -> dict[str, ScalarOp]:
    two: dict[str, Callable[..., Numbers]] = {
        "and": lambda x, y: x & y,
        "or": lambda x, y: x | y,
        "xor": lambda x, y: x ^ y,
        "nand": lambda x, y: ~(x & y),
        "nor": lambda x, y: ~(x | y),
        "xnor": lambda x, y: ~(x ^ y),
        "and_not1": lambda x, y: x & ~y,
        "or_not1": lambda x, y: x | ~y,
    }
    table = {}
    for size in (32, 64):
        code, low = f"b{size}", size - 1
        for name, compute in two.items():
            table[f"s_{name}_b{size}"] = scalar(code, f"{code} {code}", compute, "nonzero")
        table[f"s_not_b{size}"] = scalar(code, code, lambda x: ~x, "nonzero")
        table[f"s_lshl_b{size}"] = scalar(
            code, f"{code} u32", lambda x, n, low=low: x << (n & low), "nonzero"
        )
        table[f"s_lshr_b{size}"] = scalar(
            code, f"{code} u32", lambda x, n, low=low: x >> (n & low), "nonzero"
        )
        table[f"s_ashr_i{size}"] = scalar(
            f"i{size}", f"i{size} u32", lambda x, n, low=low: x >> (n & low), "nonzero"
        )
    return table


def _floats() -> dict[str, ScalarOp]:
    table = {}
    for code in ("f16", "f32"):
        two = f"{code} {code}"
        for name, compute in {
            "add": lambda x, y: x + y,
            "sub": lambda x, y: x - y,
            "mul": lambda x, y: x * y,
            "min_num": smaller,
            "max_num": larger,
            "minimum": minimum,
            "maximum": maximum,
        }.items():
            table[f"s_{name}_{code}"] = scalar(code, two, compute)
        table[f"s_fmac_{code}"] = scalar(code, two, fma, old=True)
        for name, compute in {
            "ceil": np.ceil,
            "floor": np.floor,
            "trunc": np.trunc,
            "rndne": np.rint,
        }.items():
            table[f"s_{name}_{code}"] = scalar(code, code, compute)
    return table


CONVERSIONS = {
    "s_cvt_f32_i32": scalar("f32", "i32", lambda x: x.astype(np.float64).astype(np.float32)),
    "s_cvt_f32_u32": scalar("f32", "u32", lambda x: x.astype(np.float64).astype(np.float32)),
    "s_cvt_i32_f32": scalar("i32", "f32", to_integer(32, True)),
    "s_cvt_u32_f32": scalar("u32", "f32", to_integer(32, False)),
    "s_cvt_f16_f32": scalar("f16", "f32", lambda x: x.astype(np.float16)),
    "s_cvt_f32_f16": scalar("f32", "f16", lambda x: x.astype(np.float32)),
    "s_cvt_hi_f32_f16": scalar("f32", "hf16", lambda x: x.astype(np.float32)),
    "s_cvt_pk_rtz_f16_f32": scalar(
        "2xf16", "f32 f32", lambda x, y: packed(towards_zero(x), towards_zero(y))
    ),
    "s_fmaak_f32": scalar("f32", "f32 f32 kf32", fma),
    "s_fmamk_f32": scalar("f32", "f32 kf32 f32", fma),
}


def _transcendental() -> dict[str, ScalarOp]:
    """The pseudo-scalar forms of VALU instructions."""
    functions = {
        "exp": np.exp2,
        "log": np.log2,
        "rcp": lambda x: 1 / x,
        "rsq": lambda x: 1 / np.sqrt(x),
        "sqrt": np.sqrt,
    }
    return {
        f"v_s_{name}_{code}": ScalarOp(
            op(code, code, without_subnormals(in_double(function)), ulps=1)
        )
        for code in ("f16", "f32")
        for name, function in functions.items()
    }


def _comparisons() -> dict[str, ScalarOp]:
    tests = {
        "eq": operator.eq, "lg": operator.ne, "gt": operator.gt,
        "ge": operator.ge, "lt": operator.lt, "le": operator.le,
    }  # fmt: skip
    table = {}
    for code in ("i32", "u32", "u64"):
        for name, test in tests.items():
            if code != "u64" or name in ("eq", "lg"):
                table[f"s_cmp_{name}_{code}"] = scalar("scc", f"{code} {code}", test)
    for code in ("f16", "f32"):
        for name, test in float_predicates().items():
            table[f"s_cmp_{name}_{code}"] = scalar("scc", f"{code} {code}", test)
    for size in (32, 64):
        for value in (0, 1):
            table[f"s_bitcmp{value}_b{size}"] = scalar(
                "scc",
                f"b{size} u32",
                lambda x, n, size=size, value=value: (x >> (n & size - 1) & 1) == value,
            )
    return table


_TABLE: dict[str, ScalarOp] = {
    **MOVES,
    **ARITHMETIC,
    **_logic(),
    **_floats(),
    **CONVERSIONS,
    **_transcendental(),
    **_comparisons(),
}
_NANS = with_nans({name: entry.op for name, entry in _TABLE.items()})
SCALARS = {name: replace(entry, op=_NANS[name]) for name, entry in _TABLE.items()}

# D = EXEC, then EXEC = S0 op EXEC (saveexec); EXEC = S0 op EXEC, then D = EXEC (wrexec).
EXEC_OPS: dict[str, Callable[[Numbers, int], Numbers]] = {
    "and": lambda x, e: x & e,
    "or": lambda x, e: x | e,
    "xor": lambda x, e: x ^ e,
    "nand": lambda x, e: ~(x & e),
    "nor": lambda x, e: ~(x | e),
    "xnor": lambda x, e: ~(x ^ e),
    "and_not0": lambda x, e: ~x & e,
    "or_not0": lambda x, e: ~x | e,
    "and_not1": lambda x, e: x & ~e,
    "or_not1": lambda x, e: x | ~e,
}
