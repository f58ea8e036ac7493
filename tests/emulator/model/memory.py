"""Loads, stores and atomics of all memories (RDNA 4 ISA, 16.13 to 16.17): what one lane does to
bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.emulator.model.floats import larger, smaller
from tests.emulator.model.values import numbers, patterns


@dataclass(frozen=True)
class Load:
    """size: bytes; signed: extended by the sign; half: the half of the register that is filled,
    else all of it."""

    size: int
    signed: bool = False
    half: int | None = None


@dataclass(frozen=True)
class Store:
    """size: bytes; shift: the first bit of the register that counts."""

    size: int
    shift: int = 0


@dataclass(frozen=True)
class Atomic:
    """compute: old value and operands to the new value, as patterns; code: how results are
    compared."""

    size: int
    compute: Callable[..., int]
    operands: int = 1
    code: str = ""


Access = Load | Store | Atomic
_WIDE = {"b32": 4, "b64": 8, "b96": 12, "b128": 16}
_SMALL = {"u8": (1, False), "i8": (1, True), "u16": (2, False), "i16": (2, True)}


def signed(value: int, size: int) -> int:
    top = 1 << 8 * size - 1
    return (value ^ top) - top


def _integer_atomics(size: int) -> dict[str, Callable[..., int]]:
    return {
        f"add_u{8 * size}": lambda m, d: m + d,
        f"sub_u{8 * size}": lambda m, d: m - d,
        f"min_u{8 * size}": min,
        f"max_u{8 * size}": max,
        f"min_i{8 * size}": lambda m, d: min(m, d, key=lambda v: signed(v, size)),
        f"max_i{8 * size}": lambda m, d: max(m, d, key=lambda v: signed(v, size)),
        f"and_b{8 * size}": lambda m, d: m & d,
        f"or_b{8 * size}": lambda m, d: m | d,
        f"xor_b{8 * size}": lambda m, d: m ^ d,
        f"inc_u{8 * size}": lambda m, d: 0 if m >= d else m + 1,
        f"dec_u{8 * size}": lambda m, d: d if m == 0 or m > d else m - 1,
    }


def _on_floats(code: str, compute: Callable[..., np.ndarray]) -> Callable[..., int]:
    def one(m: int, d: int) -> int:
        x, y = (numbers(np.array([value], np.uint64), code) for value in (m, d))
        with np.errstate(all="ignore"):
            return int(patterns(compute(x, y), code)[0])

    return one


def _on_halves(compute: Callable[..., int]) -> Callable[..., int]:
    return lambda m, d: compute(m & 0xFFFF, d & 0xFFFF) | compute(m >> 16, d >> 16) << 16


def _brain_sum(m: int, d: int) -> int:
    """bfloat16: the upper half of single precision, rounded to nearest even; any NaN will do."""
    x, y = (np.array([value << 16], np.uint32).view(np.float32) for value in (m, d))
    with np.errstate(all="ignore"):
        total = x + y
    if np.isnan(total[0]):
        return 0x7FC0
    bits = int(total.view(np.uint32)[0])
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF


_FLOATS = {
    "add_f32": Atomic(4, _on_floats("f32", lambda x, y: x + y), code="f32"),
    "min_num_f32": Atomic(4, _on_floats("f32", smaller), code="f32"),
    "max_num_f32": Atomic(4, _on_floats("f32", larger), code="f32"),
    "pk_add_f16": Atomic(4, _on_halves(_on_floats("f16", lambda x, y: x + y)), code="2xf16"),
    "pk_add_bf16": Atomic(4, _on_halves(_brain_sum), code="2xbf16"),
}
_COMMON = {
    **_FLOATS,
    "sub_clamp_u32": Atomic(4, lambda m, d: max(m - d, 0)),
    "cond_sub_u32": Atomic(4, lambda m, d: m - d if m >= d else m),
    **{name: Atomic(4, compute) for name, compute in _integer_atomics(4).items()},
    **{name: Atomic(8, compute) for name, compute in _integer_atomics(8).items()},
}


def _memory_table(prefix: str) -> dict[str, Access]:
    """Global, flat, private and buffer accesses are named alike."""
    loads = {
        **{name: Load(size) for name, size in _WIDE.items()},
        **{name: Load(*shape) for name, shape in _SMALL.items()},
        **{
            f"d16{'_hi' * half}_{name}": Load(size, sign, half)
            for half in (0, 1)
            for name, (size, sign) in {"u8": (1, False), "i8": (1, True), "b16": (2, False)}.items()
        },
    }
    stores = {
        **{name: Store(size) for name, size in _WIDE.items()},
        "b8": Store(1),
        "b16": Store(2),
        "d16_hi_b8": Store(1, 16),
        "d16_hi_b16": Store(2, 16),
    }
    table: dict[str, Access] = {f"{prefix}_load_{name}": access for name, access in loads.items()}
    table.update({f"{prefix}_store_{name}": access for name, access in stores.items()})
    if prefix == "scratch":
        return table
    table.update({f"{prefix}_atomic_{name}": access for name, access in _COMMON.items()})
    for size in (4, 8):
        table[f"{prefix}_atomic_swap_b{8 * size}"] = Atomic(size, lambda m, d: d)
        table[f"{prefix}_atomic_cmpswap_b{8 * size}"] = Atomic(
            size, lambda m, d, c: d if m == c else m, 2
        )
    return table


def _lds_table() -> dict[str, Access]:
    table: dict[str, Access] = {
        **{f"ds_load_{name}": Load(size) for name, size in _WIDE.items()},
        **{f"ds_load_{name}": Load(*shape) for name, shape in _SMALL.items()},
        **{f"ds_store_{name}": Store(size) for name, size in _WIDE.items()},
        "ds_store_b8": Store(1),
        "ds_store_b16": Store(2),
        "ds_store_b8_d16_hi": Store(1, 16),
        "ds_store_b16_d16_hi": Store(2, 16),
    }
    for half in (0, 1):
        for name in ("u8", "i8", "u16"):
            table[f"ds_load_{name}_d16{'_hi' * half}"] = Load(*_SMALL[name], half)
    atomics = {name: access for name, access in _COMMON.items()}
    for size in (4, 8):
        atomics[f"storexchg_b{8 * size}"] = Atomic(size, lambda m, d: d)
        atomics[f"cmpstore_b{8 * size}"] = Atomic(size, lambda m, d, c: d if m == c else m, 2)
        atomics[f"mskor_b{8 * size}"] = Atomic(size, lambda m, d, e: m & ~d | e, 2)
        atomics[f"rsub_u{8 * size}"] = Atomic(size, lambda m, d: d - m)
    atomics["min_num_f64"] = Atomic(8, _on_floats("f64", smaller), code="f64")
    atomics["max_num_f64"] = Atomic(8, _on_floats("f64", larger), code="f64")
    for name, access in atomics.items():
        verb, _, code = name.rpartition("_")
        table[f"ds_{verb}_rtn_{code}"] = access
        if verb != "storexchg":
            table[f"ds_{name}"] = access
    return table


MEMORY: dict[str, Access] = {
    **_memory_table("global"),
    **_memory_table("flat"),
    **_memory_table("buffer"),
    **_memory_table("scratch"),
    **_lds_table(),
}
# Dwords of scalar loads; the narrow ones give one.
SCALAR_LOADS: dict[str, Load] = {
    f"{prefix}_{name}": Load(size, sign)
    for prefix in ("s_load", "s_buffer_load")
    for name, (size, sign) in {
        **{f"b{32 * count}": (4 * count, False) for count in (1, 2, 3, 4, 8, 16)},
        **_SMALL,
    }.items()
}
