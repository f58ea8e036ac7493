"""Every atomic operation, on every type, in every order and scope, in global memory, LDS and
buffers, against NumPy."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit import atomic, bf16, f16, shared, threadIdx, vector
from amdjit.intrinsics import memory, sync
from amdjit.language.compile_time import Compilation, compile_time
from tests.intrinsics.atomic_contention import contended

ORDERS = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")
SCOPES = ("wavefront", "workgroup", "agent", "system")
PLACES = ("global", "lds", "buffer", "records")
TYPES = ("i4", "u4", "i8", "u8", "f4", "f8")
LANES = 32
RANDOM = np.random.default_rng(7)

# The operations of each type; buffers have those of one instruction only.
INTEGERS = ("add", "sub", "min", "max", "and_", "or_", "xor", "exch", "cas")
UNSIGNED = (*INTEGERS, "inc", "dec")
OPERATIONS = {
    "i4": INTEGERS,
    "i8": INTEGERS,
    "u4": (*UNSIGNED, "sub_clamp", "cond_sub"),
    "u8": UNSIGNED,
    "f4": ("add", "sub", "min", "max", "exch"),
    "f8": ("add", "sub", "min", "max", "exch"),
}
NO_BUFFER = {("sub", "f4"), *((name, "f8") for name in OPERATIONS["f8"])}

Update = Callable[[Any, Any], Any]
MODELS: dict[str, Update] = {
    "add": lambda old, x: old + x,
    "sub": lambda old, x: old - x,
    "min": min,
    "max": max,
    "and_": lambda old, x: old & x,
    "or_": lambda old, x: old | x,
    "xor": lambda old, x: old ^ x,
    "exch": lambda old, x: x,
    "inc": lambda old, x: type(old)(0) if old >= x else old + type(old)(1),
    "dec": lambda old, x: x if old == 0 or old > x else old - type(old)(1),
    "sub_clamp": lambda old, x: old - x if old >= x else type(old)(0),
    "cond_sub": lambda old, x: old - x if old >= x else old,
    "cas": lambda old, x: x if old % type(old)(2) == 0 else old,
}


@compile_time
def operation(compilation: Compilation, name: str) -> Any:
    return getattr(atomic, name)


@amdjit.device_function
def update(name, array, index, value, expected, order, scope):
    if name == "cas":
        return atomic.cas(array, index, expected, value, order, scope)
    return operation(name)(array, index, value, order, scope)


@amdjit.kernel
def every_operation(
    x,
    values,
    old,
    names: amdjit.Const,
    place: amdjit.Const,
    order: amdjit.Const,
    scope: amdjit.Const,
):
    """Operation k on x[k, lane]; what was there goes to old[k, lane]. `cas` expects what is there
    if it is even."""
    lane = threadIdx.x
    for k in amdjit.static_range(len(names)):
        value, expected = values[k, lane], x[k, lane] // 2 * 2
        if place == "global":
            old[k, lane] = update(names[k], x, (k, lane), value, expected, order, scope)
        elif place == "lds":
            tile = shared.array((2, 32), x.dtype)
            tile[1, lane] = x[k, lane]
            sync.syncthreads()
            old[k, lane] = update(names[k], tile, (1, lane), value, expected, order, scope)
            sync.syncthreads()
            x[k, lane] = tile[1, lane]
        elif place == "buffer":
            old[k, lane] = update(
                names[k], memory.buffer(x), 32 * k + lane, value, expected, order, scope
            )
        else:
            old[k, lane] = update(
                names[k], memory.records(x, 32), (k, lane), value, expected, order, scope
            )


def samples(kind: str, names: tuple[str, ...]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    if kind[0] == "f":
        pair = [RANDOM.normal(size=(len(names), LANES)).astype(kind) for _ in range(2)]
        return pair[0], pair[1]
    info = np.iinfo(kind)
    small = RANDOM.integers(0, 9, (2, len(names), LANES)).astype(kind)
    wide = RANDOM.integers(info.min, info.max, (2, len(names), LANES), kind)
    both = np.where(RANDOM.integers(0, 2, (1, len(names), LANES)), small, wide)
    return both[0], both[1]


def check(kind: str, place: str, order: str, scope: str) -> None:
    names = OPERATIONS[kind]
    if place in ("buffer", "records"):
        names = tuple(name for name in names if (name, kind) not in NO_BUFFER)
    x, values = samples(kind, names)
    old, before = np.zeros_like(x), x.copy()
    every_operation[1, LANES](x, values, old, names, place, order, scope)
    np.testing.assert_array_equal(old, before)
    for row, name in enumerate(names):
        with np.errstate(over="ignore"):
            expected = [MODELS[name](a, b) for a, b in zip(before[row], values[row], strict=True)]
        np.testing.assert_array_equal(
            x[row], np.array(expected, kind), err_msg=f"{name} {kind} {place}"
        )


def usual() -> list[tuple[str, str, str, str]]:
    """Every type in every place, and each order with each scope in turn."""
    ways = itertools.cycle(itertools.product(ORDERS, SCOPES))
    cells = [
        (kind, place)
        for place in PLACES
        for kind in TYPES
        if place in ("global", "lds") or kind != "f8"
    ]
    return [(kind, place, *next(ways)) for kind, place in cells]


@pytest.mark.sample(7)
@pytest.mark.parametrize(("kind", "place", "order", "scope"), usual())
def test_operations_do_what_numpy_does(kind: str, place: str, order: str, scope: str) -> None:
    check(kind, place, order, scope)


@pytest.mark.exhaustive
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("place", PLACES)
def test_operations_of_all_orders_and_scopes(place: str, order: str, scope: str) -> None:
    for kind in TYPES:
        if place in ("global", "lds") or kind != "f8":
            check(kind, place, order, scope)


@pytest.mark.parametrize("place", ["global", "buffer"])
@pytest.mark.parametrize("kind", ["i4", "u8", "f4"])
def test_no_update_of_many_workgroups_is_lost(kind: str, place: str) -> None:
    x, sums = RANDOM.integers(0, 100, 2048).astype(kind), np.zeros(4, kind)
    contended[32, 64](x, sums, place)
    np.testing.assert_array_equal(sums, [*(x[k::3].sum() for k in range(3)), x.max()])


@amdjit.kernel
def pairs(
    x,
    values,
    old,
    kind: amdjit.Const,
    place: amdjit.Const,
    order: amdjit.Const,
    scope: amdjit.Const,
):
    lane = threadIdx.x
    value = vector(kind, 2)(values[2 * lane], values[2 * lane + 1])
    if place == "global":
        found = atomic.add_pair(x, 2 * lane, value, order, scope)
    elif place == "lds":
        tile = shared.array(64, kind)
        tile[2 * lane] = x[2 * lane]
        tile[2 * lane + 1] = x[2 * lane + 1]
        found = atomic.add_pair(tile, 2 * lane, value, order, scope)
        x[2 * lane] = tile[2 * lane]
        x[2 * lane + 1] = tile[2 * lane + 1]
    elif place == "buffer":
        found = atomic.add_pair(memory.buffer(x), lane, value, order, scope)
    else:
        found = atomic.add_pair(memory.records(x, 16), (lane // 8, lane % 8), value, order, scope)
    old[2 * lane] = found[0]
    old[2 * lane + 1] = found[1]


@pytest.mark.sample(4)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("kind", "dtype"), [(f16, np.float16), (bf16, ml_dtypes.bfloat16)])
def test_atomics_on_pairs_of_halves_add_both(kind: Any, dtype: Any, place: str) -> None:
    x, values = (RANDOM.normal(size=64).astype(dtype) for _ in range(2))
    old, before = np.zeros_like(x), x.copy()
    pairs[1, 32](x, values, old, kind, place, "acq_rel", "agent")
    np.testing.assert_array_equal(old, before)
    np.testing.assert_array_equal(x, (before.astype("f4") + values.astype("f4")).astype(dtype))


INSTRUCTIONS = {
    "add": {"i4": "add_u32", "u4": "add_u32", "i8": "add_u64", "u8": "add_u64", "f4": "add_f32"},
    "sub": {"i4": "sub_u32", "u4": "sub_u32", "i8": "sub_u64", "u8": "sub_u64"},
    "min": {
        "i4": "min_i32",
        "u4": "min_u32",
        "i8": "min_i64",
        "u8": "min_u64",
        "f4": "min_num_f32",
    },
    "max": {
        "i4": "max_i32",
        "u4": "max_u32",
        "i8": "max_i64",
        "u8": "max_u64",
        "f4": "max_num_f32",
    },
    "and_": {"i4": "and_b32", "u4": "and_b32", "i8": "and_b64", "u8": "and_b64"},
    "or_": {"i4": "or_b32", "u4": "or_b32", "i8": "or_b64", "u8": "or_b64"},
    "xor": {"i4": "xor_b32", "u4": "xor_b32", "i8": "xor_b64", "u8": "xor_b64"},
    "exch": {
        "i4": "swap_b32",
        "u4": "swap_b32",
        "i8": "swap_b64",
        "u8": "swap_b64",
        "f4": "swap_b32",
    },
    "cas": {"i4": "cmpswap_b32", "u4": "cmpswap_b32", "i8": "cmpswap_b64", "u8": "cmpswap_b64"},
    "inc": {"u4": "inc_u32", "u8": "inc_u64"},
    "dec": {"u4": "dec_u32", "u8": "dec_u64"},
    "sub_clamp": {"u4": "sub_clamp_u32"},
    "cond_sub": {"u4": "cond_sub_u32"},
}
LATE = ("sub_clamp", "cond_sub")
# LDS has other names for a few.
_LDS = {"swap": "storexchg", "cmpswap": "cmpstore"}


@amdjit.kernel
def alone(x, out, name: amdjit.Const, place: amdjit.Const, keeps: amdjit.Const):
    lane = threadIdx.x
    value = out[lane]
    if place == "lds":
        tile = shared.array(32, x.dtype)
        tile[31 - lane] = value
        sync.syncthreads()
        found = update(name, tile, lane, value, value, "relaxed", "workgroup")
        sync.syncthreads()
        out[lane + 64] = tile[31 - lane]
    elif place == "buffer":
        found = update(name, memory.buffer(x), lane, value, value, "relaxed", "agent")
    else:
        found = update(name, x, lane, value, value, "relaxed", "agent")
    if keeps:
        out[lane] = found


def _pattern(name: str, kind: str, place: str, keeps: bool) -> str:
    text = INSTRUCTIONS[name][kind]
    if place == "lds":
        for usual_name, lds_name in _LDS.items():
            text = re.sub(f"^{usual_name}_", f"{lds_name}_", text)
        verb, _, code = text.rpartition("_")
        return rf"ds_{verb}_rtn_{code}\b" if keeps or name == "exch" else rf"ds_{text}\b"
    prefix = "global" if place == "global" else "buffer"
    return (
        rf"{prefix}_atomic_{text}\b.*TH_ATOMIC_RETURN"
        if keeps
        else rf"{prefix}_atomic_{text}\b(?!.*TH_ATOMIC_RETURN)"
    )


def single_cases(kinds: tuple[str, ...]) -> list[tuple[str, str, str]]:
    return [
        (name, kind, place)
        for name, row in INSTRUCTIONS.items()
        for kind in row
        for place in ("global", "lds", "buffer")
        if kind in kinds
    ]


def check_single(name: str, kind: str, place: str) -> None:
    element = amdjit.types.from_dtype(np.dtype(kind))
    for keeps in (False, True):
        assembly = alone.compile(element[:], element[:], name, place, keeps).asm_full
        # LLVM asks for the old values of some that leave them unused.
        patterns = {
            _pattern(name, kind, place, returns) for returns in {keeps, keeps or name in LATE}
        }
        count = sum(len(re.findall(pattern, assembly)) for pattern in patterns)
        assert count == 1, f"{name} {kind} {place} {keeps}"
        assert (
            len(re.findall(r"(?:global|buffer)_atomic|ds_\w*(?:rtn|add|min|max|cmp)", assembly))
            <= 1
        )


@pytest.mark.sample(12)
@pytest.mark.parametrize(("name", "kind", "place"), single_cases(("u4",)))
def test_each_is_one_instruction(name: str, kind: str, place: str) -> None:
    check_single(name, kind, place)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "kind", "place"), single_cases(("i4", "i8", "u8", "f4")))
def test_each_is_one_instruction_on_all_types(name: str, kind: str, place: str) -> None:
    check_single(name, kind, place)
