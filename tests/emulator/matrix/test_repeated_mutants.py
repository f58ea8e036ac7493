"""Each part of gfx11's step matters, in the emulator's native code and in the host's model: with
another one in its place, samples of the property tests find the difference."""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from amdjit.emulator.instructions.matrix import grid_step, repeated
from amdjit.emulator.instructions.matrix.layouts import Matrix
from amdjit.intrinsics.models import sums_of_products
from amdjit.isa.matrix_rounding import rdna_rule
from tests import complement_model
from tests.emulator.matrix import test_repeated_products as products
from tests.emulator.silicon_samples import CASES, factor_pair, registers

KINDS = ("f32_f16", "f32_bf16", "f16_f16", "bf16_bf16")
# What is replaced, by what, and the product in which that is found.
NATIVE: dict[str, tuple[str, str, str]] = {
    "two's complement": (
        "b.xor(units, is_opposite))",
        "b.sub(b.xor(units, is_opposite), is_opposite))",
        "f32_f16",
    ),
    "C's sign is no frame": ("b.xor(b.xor(x.sign, y.sign), addend)", "b.xor(x.sign, y.sign)",
                             "f32_f16"),
    "f16 has no lowest grid": ('if self.result == "f16" else []', "if False else []", "f16_f16"),
    "subnormal factors count": ("if self.rule.flushes_factors:", "if False:", "f32_bf16"),
    "bf16 results round": ('if self.result == "bf16" else bits', 'if self.result == "no" else bits',
                           "bf16_bf16"),
    "results below the smallest stay": ('b.compare("sle", exponent, zero)',
                                        'b.compare("slt", exponent, b.const(exponent, -400))',
                                        "f32_bf16"),
    "overflow is never looked at": ("b.const(exponent, 255)", "b.const(exponent, 4000)",
                                    "f32_bf16"),
    "special factors are numbers": ("SPECIAL_EXPONENT // 2)", "30000)", "f32_f16"),
    "infinite accumulators are numbers": ('b.compare("eq", magnitude, infinity)',
                                          'b.compare("ult", magnitude, b.const(magnitude, 0))',
                                          "f32_f16"),
    "NaNs of accumulators signal": ("b.or_(addend, b.const(addend, _QUIET))", "addend", "f32_f16"),
    "the grid has a bit less": ("return b.shift(\"shl\", significand, self.c_bits - "
                                "FORMATS[\"f32\"].fraction_bits)",
                                "return b.and_(b.shift(\"shl\", significand, 3), "
                                "b.const(significand, -2))", ""),
    "the sum's grid has a bit more": ("BIAS + self.rule.c_sum_bits", "BIAS + 27", "f32_f16"),
}  # fmt: skip
# Changes nothing: the last three bits of C are 0 on its own grid. Kept as a check of the method.
EQUIVALENT = "the grid has a bit less"
# Of the host: another row of data, or a part of the rule's source that is replaced, and by what.
HOST_DATA: dict[str, tuple[dict[str, Any], str]] = {
    "subnormal factors count": ({"flushes_factors": False}, "f32_bf16"),
    "bf16 results round": ({"narrowing": "nearest"}, "bf16_bf16"),
    "the accumulator's grid has a bit less": ({"c_sum_bits": 25}, "f32_f16"),
    "products' grids have a bit less": ({"sum_bits": 23}, "f32_f16"),
    "terms meet with their signs": ({"relative": False}, "f32_f16"),
}
HOST_SOURCE: dict[str, tuple[str, str, str]] = {
    "two's complement": ("~sizes", "-sizes", "f32_f16"),
    "C's sign is no frame": ("np.where(is_negative, -units, units)", "units", "f32_f16"),
    "f16 never clamps": ('if kind == "f16" and fp16_ovfl:', "if False:", "f16_f16"),
}


def mutated(module: ModuleType, old: str, new: str) -> dict[str, Any]:
    """Return the names of a module in whose source a part is replaced."""
    source = inspect.getsource(module)
    assert source.count(old) >= 1, old
    names: dict[str, Any] = {"__name__": module.__name__}
    exec(compile(source.replace(old, new), module.__name__, "exec"), names)
    return names


def matrix_of(kind: str) -> Matrix:
    result, factor = kind.split("_")
    return next(
        each
        for each in products.FLOATS
        if (each.result, each.a, each.wave_size) == (result, factor, 32)
    )


@cache
def samples(kind: str) -> list[tuple[Any, ...]]:
    """Return A, B, C, D, modes, and what the scalar model makes of them."""
    matrix, random, found = matrix_of(kind), np.random.default_rng(6), []
    for number, case in enumerate((*CASES, ("normal", "specials"), ("nothing", "specials"))):
        a, b = factor_pair(random, matrix.a, matrix.a, case[0], (8, 8), 32)
        c = registers(random, matrix.result, case[1], matrix.result_dwords, 32)
        if case == ("nothing", "specials") and matrix.result == "f32":
            c[0] = 0x7F812345  # a signalling NaN
        d, modes = np.zeros_like(c), {"clamps": number % 2, "half": 0}
        found.append((a, b, c, d, modes, products.expected(matrix, a, b, c, d, **modes)))
    return found


def native_difference(kind: str) -> bool:
    """Whether the native product differs from the scalar model somewhere."""
    matrix = matrix_of(kind)
    products.compiled.cache_clear()
    try:
        return any(
            (products.product(matrix, a, b, c, d, **modes) != wanted).any()
            for a, b, c, d, modes, wanted in samples(kind)
        )
    finally:
        products.compiled.cache_clear()


def check_native(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new, kind = NATIVE[name]
    names = mutated(grid_step, old, new)
    monkeypatch.setattr(repeated, "GridStep", names["GridStep"])
    assert native_difference(kind or "f32_f16") is (name != EQUIVALENT)


QUICK = ("two's complement", "f16 has no lowest grid", EQUIVALENT)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", QUICK)
def test_a_mutant_of_the_native_step_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check_native(name, monkeypatch)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name in NATIVE if name not in QUICK])
def test_each_mutant_of_the_native_step_is_found(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_native(name, monkeypatch)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_differs_natively_without_a_mutation(kind: str) -> None:
    assert not native_difference(kind)


DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}


@cache
def rows(kind: str) -> tuple[Any, ...]:
    """Return many sums of four products as bits: a, b, c, and what the scalar model makes of
    them."""
    result, factor = kind.split("_")
    random = np.random.default_rng(7)
    count, bits = 1000, 32 if result == "f32" else 16
    spread = {"f16": 0x7BFF, "bf16": 0x7F7F, "f32": 0x7F7FFFFF}
    a, b = (random.integers(0, spread[factor], (count, 4)) for _ in range(2))
    c = random.integers(0, spread[result], count)
    # Of like size, so that they meet on one grid; some are subnormal.
    for values, kind_of in ((a, factor), (b, factor), (c, result)):
        one = {"f16": 0x3C00, "bf16": 0x3F80, "f32": 0x3F800000}[kind_of]
        near = random.random(values.shape) < 0.7
        values[near] = one + values[near] % (one >> 4)
        values[random.random(values.shape) < 0.15] &= {"f16": 0x3FF, "bf16": 0x7F}.get(
            kind_of, 0x7FFFFF
        )
    a, b = (values | random.integers(0, 2, values.shape) << 15 for values in (a, b))
    c = c | random.integers(0, 2, count) << bits - 1
    wanted = [
        complement_model.chain(*map(list, (x, y)), int(z), factor, result, True)
        for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    ]
    return a, b, c, np.array(wanted)


def host_difference(
    kind: str, model: Any = sums_of_products.multiply_accumulate, **change: Any
) -> bool:
    result, factor = kind.split("_")
    a, b, c, wanted = rows(kind)
    left, right = (values.astype(np.uint16).view(DTYPES[factor]) for values in (a, b))
    size = np.uint32 if result == "f32" else np.uint16
    added = c.astype(size).view(DTYPES[result])
    kinds = (factor, factor, result)
    found = model(
        replace(rdna_rule(kinds, is_gfx11=True), **change),
        left[:, None, :], right[:, :, None], added[:, None, None], kinds, fp16_ovfl=True,
    )[:, 0, 0]  # fmt: skip
    return bool((found.view(size) != wanted).any())


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_differs_on_the_host_without_a_mutation(kind: str) -> None:
    assert not host_difference(kind)


@pytest.mark.parametrize("name", HOST_DATA)
def test_another_row_of_data_is_found_on_the_host(name: str) -> None:
    change, kind = HOST_DATA[name]
    assert host_difference(kind, **change)


@pytest.mark.parametrize("name", HOST_SOURCE)
def test_a_mutant_of_the_hosts_rule_is_found(name: str) -> None:
    old, new, kind = HOST_SOURCE[name]
    assert host_difference(kind, mutated(sums_of_products, old, new)["multiply_accumulate"])
