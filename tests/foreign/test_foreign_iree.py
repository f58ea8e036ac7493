"""Programs that IREE compiled for gfx1201: each dispatch as NumPy computes it, clean under every
check."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.foreign import iree_sources as sources
from tests.foreign.foreign_compilers import compile_iree
from tests.foreign.foreign_data import (
    DTYPES,
    EPSILON,
    Array,
    attention,
    integers,
    layer_norm,
    normal,
    product_bound,
    rounding,
    softmax,
    wide,
)
from tests.foreign.foreign_launches import Expected, checked_findings, largest_error, run_everywhere
from tests.foreign.foreign_table import Record, Row
from tests.foreign.iree_program import Dispatch, HostFunction

pytestmark = pytest.mark.foreign

rng = np.random.default_rng(21)


def check_program(
    record: Record,
    source: str,
    args: list[Array],
    reference: Array,
    kind: str,
    bound: Any,
    row: tuple[str, str],
    flags: tuple[str, ...] = (),
) -> None:
    """Compile a program, carry it out, and compare its only result. row: the kernel and the variant
    for the table."""
    program = compile_iree(source, *flags)
    reports: list[str] = []

    def start(dispatch: Dispatch) -> None:
        kernel = program.kernel(dispatch.executable, dispatch.function)
        for place, binding in enumerate(dispatch.bindings):
            assert not any(np.shares_memory(binding, other) for other in dispatch.bindings[:place])
        words = [np.uint32(value) for value in dispatch.constants]
        arrays, found = run_everywhere(
            kernel, dispatch.workgroups, kernel.work_items, [*dispatch.bindings, *words]
        )
        for binding, array in zip(dispatch.bindings, arrays, strict=True):
            binding[:] = array
        reports.extend(found)

    [(data, shape)] = HostFunction(program.host, start).call(*args)
    result = data.view(DTYPES[kind]).reshape(shape)
    kinds = checked_findings(reports, ())
    error = largest_error([(result, Expected(result, reference, bound))])
    record(Row("IREE", program.version, *row, error, kinds))


@pytest.mark.parametrize(
    ("kinds", "size", "transposed"),
    [
        (("f16", "f32"), (70, 90, 100), False),
        (("f16", "f32"), (128, 128, 128), True),
        (("f16", "f16"), (64, 32, 48), True),
        (("bf16", "f32"), (64, 64, 64), False),
        (("bf16", "f32"), (33, 47, 65), True),
        (("fp8", "f32"), (64, 64, 128), True),
        (("bf8", "f32"), (32, 48, 64), False),
        (("i8", "i32"), (70, 90, 100), True),
        (("i8", "i32"), (128, 64, 256), False),
        (("f32", "f32"), (50, 60, 70), False),
        (("f64", "f64"), (20, 24, 28), False),
        (("f16", "f32"), (1, 256, 512), True),
        (("f16", "f32"), (16, 16, 4096), True),
    ],
)
def test_matmul_of_integers_is_exact(
    record: Record, kinds: tuple[str, str], size: tuple[int, int, int], transposed: bool
) -> None:
    m, n, k = size
    largest = 1 if kinds[1] == "f16" else 3
    a, b = integers(rng, (m, k), kinds[0], largest), integers(rng, (k, n), kinds[0], largest)
    right = np.ascontiguousarray(b.T) if transposed else b
    source = sources.matmul(size, *kinds, transposed)
    row = f"matmul {kinds[0]} to {kinds[1]}", f"{'NT' if transposed else 'NN'} {m}x{n}x{k}"
    check_program(record, source, [a, right], wide(a) @ wide(b), kinds[1], 0, row)


@pytest.mark.parametrize("kinds", [("f16", "f32"), ("bf16", "f32"), ("fp8", "f32"), ("f32", "f32")])
def test_matmul_of_random_numbers(record: Record, kinds: tuple[str, str]) -> None:
    a, b = normal(rng, (64, 96), kinds[0]), normal(rng, (96, 80), kinds[0])
    source = sources.matmul((64, 80, 96), *kinds, False)
    row = f"matmul {kinds[0]} to {kinds[1]}", "random 64x80x96"
    check_program(record, source, [a, b], wide(a) @ wide(b), kinds[1], product_bound(a, b), row)


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_matmul_of_sizes_that_the_launch_gives(record: Record, kind: str) -> None:
    a, b = integers(rng, (37, 83), kind), integers(rng, (83, 51), kind)
    row = f"matmul {kind} to f32", "run-time 37x51x83"
    check_program(record, sources.dynamic_matmul(kind), [a, b], wide(a) @ wide(b), "f32", 0, row)


@pytest.mark.parametrize(
    ("kinds", "image", "window", "stride"),
    [
        (("f16", "f32"), (2, 12, 14, 16), (3, 3, 32), 1),
        (("f16", "f32"), (1, 15, 15, 8), (5, 5, 16), 2),
        (("i8", "i32"), (1, 10, 10, 32), (3, 3, 16), 1),
        (("f32", "f32"), (1, 8, 9, 3), (1, 1, 7), 1),
    ],
)
def test_a_convolution_is_numpys(
    record: Record,
    kinds: tuple[str, str],
    image: tuple[int, ...],
    window: tuple[int, ...],
    stride: int,
) -> None:
    x, w = (
        integers(rng, image, kinds[0], 3),
        integers(rng, (*window[:2], image[3], window[2]), kinds[0], 3),
    )
    border = window[0] // 2
    padded = np.pad(wide(x), ((0, 0), (border, border), (border, border), (0, 0)))
    seen = np.lib.stride_tricks.sliding_window_view(padded, window[:2], (1, 2))[
        :, ::stride, ::stride
    ]
    reference = np.einsum("nhwcij,ijcf->nhwf", seen, wide(w))
    source = sources.convolution(image, window, stride, border, *kinds)
    row = f"convolution {kinds[0]} to {kinds[1]}", f"{image} by {window}, stride {stride}"
    check_program(record, source, [x, w], reference, kinds[1], 0, row)


@pytest.mark.parametrize(
    ("kind", "shape", "static"),
    [
        ("f32", (7, 100), True),
        ("f16", (5, 1000), True),
        ("f32", (9, 333), False),
        ("bf16", (3, 64), True),
    ],
)
def test_softmax_is_numpys(record: Record, kind: str, shape: tuple[int, int], static: bool) -> None:
    x = normal(rng, shape, kind) * DTYPES[kind](2)
    reference = softmax(x)
    # IREE computes the softmax of half types in these types.
    bound = (8 + shape[1] ** 0.5) * EPSILON[kind] * reference + rounding(reference, kind)
    row = f"softmax {kind}", f"{shape}{'' if static else ' at run time'}"
    check_program(record, sources.softmax(shape, kind, static), [x], reference, kind, bound, row)


@pytest.mark.parametrize(
    ("kind", "shape"), [("f16", (2, 64, 64)), ("bf16", (1, 128, 32)), ("f16", (3, 96, 64))]
)
def test_attention_is_numpys(record: Record, kind: str, shape: tuple[int, int, int]) -> None:
    q, k, v = (normal(rng, shape, kind) for _ in range(3))
    scale = float(DTYPES[kind](shape[2] ** -0.5))
    reference, bound = attention(q, k, v, scale, False, kind)
    row = f"attention {kind}", f"{shape}"
    bound = 4 * bound + rounding(reference, kind)
    check_program(
        record, sources.attention(shape, kind, scale), [q, k, v], reference, kind, bound, row
    )


@pytest.mark.parametrize(
    ("operation", "kind", "shape"),
    [
        ("arith.addf", "f32", (9, 300)),
        ("arith.addf", "f32", (1, 70000)),
        ("arith.maximumf", "f16", (33, 65)),
        ("arith.addi", "i32", (5, 1025)),
        ("arith.minsi", "i32", (64, 31)),
        ("arith.xori", "i32", (3, 4096)),
    ],
)
def test_reductions_of_rows_are_numpys(
    record: Record, operation: str, kind: str, shape: tuple[int, int]
) -> None:
    x = integers(rng, shape, kind, 50)
    combine = {
        "arith.addf": np.add,
        "arith.addi": np.add,
        "arith.maximumf": np.maximum,
        "arith.minsi": np.minimum,
    }
    combine["arith.xori"] = np.bitwise_xor
    start = {"arith.maximumf": -1000, "arith.minsi": 1000}.get(operation, 0)
    reference = combine[operation].reduce(x.astype(np.int64), 1)
    source = sources.reduction(shape, kind, operation, start)
    row = "reduction", f"{operation.removeprefix('arith.')} {kind} {shape}"
    check_program(record, source, [x], reference, kind, 0, row)


def test_layer_norm_is_numpys(record: Record) -> None:
    x, weight, bias = (
        normal(rng, (6, 384), "f32"),
        normal(rng, (384,), "f32"),
        normal(rng, (384,), "f32"),
    )
    reference, bound = layer_norm(x, weight, bias, 1e-5)
    row = "layer norm f32", "(6, 384)"
    check_program(
        record, sources.layer_norm((6, 384)), [x, weight, bias], reference, "f32", bound, row
    )


@pytest.mark.parametrize("function", ["exp", "tanh", "erf", "rsqrt", "log", "sin"])
def test_elementwise_functions_are_numpys(record: Record, function: str) -> None:
    x = (np.abs(normal(rng, (1000,), "f32")) + np.float32(0.1)).astype(np.float32)
    reference = sources.reference_of(function)(wide(x))
    bound = 8 * EPSILON["f32"] * np.maximum(np.abs(reference), 0.25)
    source = sources.elementwise(1000, function)
    check_program(record, source, [x], reference, "f32", bound, ("elementwise f32", function))


def test_a_product_with_bias_and_activation_then_another(record: Record) -> None:
    x, first, second = integers(rng, (32, 64), "f16", 2), integers(rng, (64, 96), "f16", 2), None
    second, bias = integers(rng, (96, 48), "f16", 2), integers(rng, (96,), "f32", 9)
    hidden = np.maximum(wide(x) @ wide(first) + bias, 0).astype(np.float16)
    row = "perceptron of two layers f16", "(32, 64) by (64, 96) by (96, 48)"
    args = [x, first, bias, second]
    check_program(
        record, sources.perceptron(32, 64, 96, 48), args, wide(hidden) @ wide(second), "f32", 0, row
    )


def test_sorted_and_transposed_data_are_numpys(record: Record) -> None:
    x = rng.permutation(40 * 24).reshape(40, 24).astype(np.int32)
    check_program(
        record,
        sources.transpose((40, 24), "i32"),
        [x],
        x.T,
        "i32",
        0,
        ("transpose", "i32 (40, 24)"),
    )
    check_program(
        record,
        sources.sort((40, 24), "i32"),
        [x],
        np.sort(x, 1),
        "i32",
        0,
        ("sort", "i32 (40, 24)"),
    )
