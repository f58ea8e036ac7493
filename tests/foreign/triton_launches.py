"""Compile Triton's kernels and launch them on the emulator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.foreign.foreign_compilers import ForeignObject, compile_triton
from tests.foreign.foreign_data import (
    DTYPES,
    Array,
    product_bound,
    rounding,
    wide,
)
from tests.foreign.foreign_launches import Expected, Launch, record_launch
from tests.foreign.foreign_table import Record

_NAMES = {
    "f32": "fp32",
    "f16": "fp16",
    "bf16": "bf16",
    "fp8": "fp8e4nv",
    "bf8": "fp8e5",
    "i8": "i8",
    "i32": "i32",
}


# Triton appends two pointers of its own to the arguments (scratch for all programs, and for
# profiling), null here.
SCRATCH = [None, None]


# What Triton knows of arguments: multiples of 16 make wide accesses, small arrays buffer
# instructions.
PLAIN: tuple[Any, ...] = ()
WIDE = (("tt.divisibility", 16),)
BUFFER = (("tt.divisibility", 16), ("tt.pointer_range", 32))


def build(
    kernel: str,
    types: Sequence[tuple[str, str]],
    constants: dict[str, Any],
    facts: Any = (),
    **options: int,
) -> ForeignObject:
    """Compile a kernel. types: its run-time parameters; a type that ends in * is a pointer; facts:
    of pointers."""
    signature = {
        name: "*" + _NAMES[kind[:-1]] if kind[-1] == "*" else _NAMES[kind] for name, kind in types
    }
    known = [facts if kind[-1] == "*" else () for _, kind in types]
    request = {
        "kernel": kernel,
        "signature": signature,
        "constants": constants,
        "facts": known,
        "options": options,
    }
    return compile_triton(request)


def programs(size: int, block: int) -> int:
    return -(-size // block)


def _operand(matrix: Array, transposed: bool) -> tuple[Array, tuple[np.int32, np.int32]]:
    """Return a matrix as it lies in memory, and its strides in elements."""
    if transposed:
        return np.ascontiguousarray(matrix.T), (np.int32(1), np.int32(matrix.shape[0]))
    return matrix, (np.int32(matrix.shape[1]), np.int32(1))


_SIZES = ["M", "N", "K", "a_row", "a_column", "b_row", "b_column", "c_row"]


def matmul(
    record: Record,
    a: Array,
    b: Array,
    kinds: tuple[str, str, str],
    layout: str,
    blocks: tuple[int, int, int],
    facts: Any,
    options: dict[str, int],
) -> None:
    """Multiply. kinds: of A, B and C. layout: T for an operand that lies transposed, else N."""
    (m, k), n = a.shape, b.shape[1]
    left, left_strides = _operand(a, layout[0] == "T")
    right, right_strides = _operand(b, layout[1] == "T")
    out = np.zeros((m, n), DTYPES[kinds[2]])
    integral = kinds[2] == "i32"
    constants = dict(zip(("BM", "BN", "BK"), blocks, strict=True)) | {"GROUP": 2}
    constants |= {"SUM": "tl.int32" if integral else "tl.float32"}  # type: ignore[dict-item]
    types = [(name, kind + "*") for name, kind in zip("abc", kinds, strict=True)] + [
        (size, "i32") for size in _SIZES
    ]
    code = build("matmul", types, constants, facts, **options)
    sizes = [np.int32(m), np.int32(n), np.int32(k), *left_strides, *right_strides, np.int32(n)]
    reference = wide(a) @ wide(b)
    whole = bool((wide(a) == np.rint(wide(a))).all())
    bound: Any = 0 if whole else product_bound(a, b) + rounding(reference, kinds[2])
    grid = programs(m, blocks[0]) * programs(n, blocks[1])
    launch = Launch(grid, [left, right, out, *sizes, *SCRATCH], [Expected(out, reference, bound)])
    variant = f"{layout} {m}x{n}x{k} in {'x'.join(map(str, blocks))}, {code.work_items // 32} waves"
    record_launch(record, code, launch, f"matmul {kinds[0]} x {kinds[1]} to {kinds[2]}", variant)
