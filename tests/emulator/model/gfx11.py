"""What gfx11 has and gfx12 has not, or does otherwise (RDNA 3 ISA, chapter 16)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tests import complement_model
from tests.emulator.model.comparisons import COMPARISONS
from tests.emulator.model.families import RENAMED
from tests.emulator.model.floats import FLOAT_OPS, products_of_zero
from tests.emulator.model.ieee import FORMATS, Format
from tests.emulator.model.integers import INTEGERS
from tests.emulator.model.memory import MEMORY, Access, Atomic
from tests.emulator.model.operation import Op, op
from tests.emulator.model.packed import HALVES
from tests.emulator.model.scalars import SCALARS, ScalarOp, scalar
from tests.emulator.model.values import Numbers, fma, numbers, patterns

# Extremes as functions of bits: MODE's IEEE bit is 1 unless a kernel's descriptor says otherwise.
Bits = int


def _is_signalling(form: Format, bits: Bits) -> bool:
    return form.is_nan(bits) and form.quieted(bits) != bits


def _order(form: Format, bits: Bits) -> int:
    """Order numbers, -0 before +0."""
    return -form.size(bits) - 1 if bits & form.sign else bits


def _extreme(form: Format, greater: bool) -> Callable[[Bits, Bits], Bits]:
    """V_MIN_F32, V_MAX_F32 and the like in IEEE mode."""

    def choice(x: Bits, y: Bits) -> Bits:
        for value in (x, y):
            if _is_signalling(form, value):
                return form.quieted(value)
        if form.is_nan(y):
            return x
        if form.is_nan(x):
            return y
        first = _order(form, x) > _order(form, y) if greater else _order(form, x) < _order(form, y)
        return x if first else y

    return choice


def _median(form: Format) -> Callable[[Bits, Bits, Bits], Bits]:
    low, high = _extreme(form, False), _extreme(form, True)

    def choice(x: Bits, y: Bits, z: Bits) -> Bits:
        if any(map(form.is_nan, (x, y, z))):
            return low(low(x, y), z)
        return high(low(x, y), low(high(x, y), z))

    return choice


def _on_bits(code: str, compute: Callable[..., Bits], count: int) -> Op:
    def on_numbers(*operands: Numbers) -> Numbers:
        rows = zip(*(patterns(operand, code) for operand in operands), strict=True)
        return numbers(np.array([compute(*map(int, row)) for row in rows], np.uint64), code)

    return op(code, " ".join([code] * count), on_numbers, nans=True)


def extremes() -> dict[str, Op]:
    """Return minima and maxima as IEEE mode has them."""
    table: dict[str, Op] = {}
    for code in ("f16", "f32", "f64"):
        form = FORMATS[code]
        low, high = _extreme(form, False), _extreme(form, True)
        table[f"v_min_{code}"] = _on_bits(code, low, 2)
        table[f"v_max_{code}"] = _on_bits(code, high, 2)
        if code == "f64":
            continue
        three: dict[str, Callable[..., Bits]] = {
            "min3": lambda x, y, z, low=low: low(low(x, y), z),
            "max3": lambda x, y, z, high=high: high(high(x, y), z),
            "minmax": lambda x, y, z, low=low, high=high: high(low(x, y), z),
            "maxmin": lambda x, y, z, low=low, high=high: low(high(x, y), z),
            "med3": _median(form),
        }
        for name, compute in three.items():
            table[f"v_{name}_{code}"] = _on_bits(code, compute, 3)
    return table


def dot_of_words(kind: str, result: str) -> Callable[..., Numbers]:
    """Two products and an addend, rounded as a Radeon Pro W7900 rounds them."""

    def compute(x: Numbers, y: Numbers, z: Numbers) -> Numbers:
        rows = zip(x, y, patterns(z, result), strict=True)
        steps = [
            complement_model.step(*(_halves(int(word)) for word in (a, b)), int(c), kind, result)
            for a, b, c in rows
        ]
        return numbers(np.array(steps, np.uint64), result)

    return compute


def _halves(word: int) -> list[int]:
    return [word & 0xFFFF, word >> 16 & 0xFFFF]


def _constant(value: bool) -> Callable[..., Any]:
    return lambda x, y: np.full(len(x), value)


_EXTREMES = extremes()
_CONSTANTS: dict[str, Op] = {
    f"v_{verb}_{name}_{code}": op("mask", f"{code} {code}", _constant(name == "t"))
    for verb in ("cmp", "cmpx")
    for name in "ft"
    for code in ("f16", "f32", "f64", "i32", "u32", "i64", "u64")
}
_OWN_VECTOR: dict[str, Op] = {
    **_EXTREMES,
    "v_fmac_dx9_zero_f32": op(
        "f32",
        "f32 f32",
        lambda x, y, z: products_of_zero(x, y, fma(x, y, z), z + 0),
        old=True,
    ),
    "v_dot2acc_f32_f16": op("f32", "b32 b32", dot_of_words("f16", "f32"), old=True),
}
COMPARED: dict[str, Op] = {**COMPARISONS, **_CONSTANTS}
WHOLE: dict[str, Op] = {RENAMED.get(name, name): entry for name, entry in INTEGERS.items()}
VECTOR: dict[str, Op] = {**WHOLE, **FLOAT_OPS, **COMPARED, **_OWN_VECTOR}
PACKED_HALVES: dict[str, Op] = {
    **HALVES,
    "v_pk_min_f16": _EXTREMES["v_min_f16"],
    "v_pk_max_f16": _EXTREMES["v_max_f16"],
}
_TESTS = {
    "eq": operator.eq, "lg": operator.ne, "gt": operator.gt,
    "ge": operator.ge, "lt": operator.lt, "le": operator.le,
}  # fmt: skip


def _immediate(code: str, test: Callable[[Any, Any], Any]) -> ScalarOp:
    """S_CMPK: the immediate is sign-extended for i32, zero-extended for u32."""
    return scalar("scc", f"{code} simm", lambda x, k: test(x, k if code == "i32" else k & 0xFFFF))


SCALAR: dict[str, ScalarOp] = {
    **{RENAMED.get(name, name): entry for name, entry in SCALARS.items()},
    **{
        f"s_cmpk_{name}_{code}": _immediate(code, test)
        for code in ("i32", "u32")
        for name, test in _TESTS.items()
    },
}


def _compared_atomic(code: str, test: Callable[[Any, Any], Any]) -> Callable[[int, int], int]:
    """The operand if it compares so with what is in memory."""

    def compute(m: int, d: int) -> int:
        x, y = (numbers(np.array([value], np.uint64), code) for value in (d, m))
        return d if test(x, y)[0] else m

    return compute


def _swap_atomic(code: str) -> Callable[[int, int, int], int]:
    def compute(m: int, d: int, c: int) -> int:
        x, y = (numbers(np.array([value], np.uint64), code) for value in (m, c))
        return d if (x == y)[0] else m

    return compute


def _own_memory() -> dict[str, Access]:
    table: dict[str, Access] = {}
    for code in ("f32", "f64"):
        size = int(code[1:]) // 8
        least, most = (
            Atomic(size, _compared_atomic(code, test), code=code)
            for test in (operator.lt, operator.gt)
        )
        swap = Atomic(size, _swap_atomic(code), 2, code)
        for middle in ("", "rtn_"):
            table[f"ds_min_{middle}{code}"] = least
            table[f"ds_max_{middle}{code}"] = most
            table[f"ds_cmpstore_{middle}{code}"] = swap
        for space in ("global", "flat", "buffer") if code == "f32" else ():
            table[f"{space}_atomic_min_f32"] = least
            table[f"{space}_atomic_max_f32"] = most
            table[f"{space}_atomic_cmpswap_f32"] = swap
    for space in ("global", "buffer"):
        table[f"{space}_atomic_csub_u32"] = MEMORY[f"{space}_atomic_sub_clamp_u32"]
    return table


ACCESSES: dict[str, Access] = {**MEMORY, **_own_memory()}
# gfx11's alone, and nothing but waits and caches.
NO_EFFECT: dict[str, str] = {
    "s_waitcnt": "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)",
    "s_waitcnt_vscnt": "s_waitcnt_vscnt null, 0x0",
    "s_waitcnt_vmcnt": "s_waitcnt_vmcnt null, 0x0",
    "s_waitcnt_expcnt": "s_waitcnt_expcnt null, 0x0",
    "s_waitcnt_lgkmcnt": "s_waitcnt_lgkmcnt null, 0x0",
    "s_waitcnt_depctr": "s_waitcnt_depctr 0xfff",
    "s_set_inst_prefetch_distance": "s_set_inst_prefetch_distance 0x1",
    "s_gl1_inv": "s_gl1_inv",
    "s_barrier": "s_barrier",
    "buffer_gl0_inv": "buffer_gl0_inv",
    "buffer_gl1_inv": "buffer_gl1_inv",
}
