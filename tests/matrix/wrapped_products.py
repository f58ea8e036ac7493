"""Products of whole matrices by the wrapped instructions that kernels call."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np

import amdjit
from amdjit import threadIdx
from amdjit.intrinsics import matrix
from amdjit.intrinsics.matrix.multiply.instructions import operand_types
from amdjit.intrinsics.models.matrix_layouts import MatrixInstruction
from amdjit.types import i32


def wrapper_of(product: MatrixInstruction) -> Any:
    return getattr(matrix, re.sub(r"_w\d\d(_gfx12)?$", "", product.name))


def held(words, size, type):
    """Return the lane's registers as a value of a type."""
    if size == 1:
        return amdjit.bitcast(words[threadIdx.x], type)
    return amdjit.bitcast(words.load(size * threadIdx.x, size), type)


def nothing(type):
    return type(0) if type is i32 else type()


@cache
def kernel_of(
    product: MatrixInstruction,
    types: tuple[Any, ...],
    key: int,
    clamp: bool,
    signs: tuple[Any, Any],
) -> Any:
    wrapper, lanes, sparse, integers = (
        wrapper_of(product),
        product.wave_size,
        product.is_sparse,
        product.is_integer,
    )
    a_type, b_type, c_type = types
    a_size, b_size, c_size = (product.layout(operand).registers for operand in "abc")
    a_signed, b_signed = signs

    @amdjit.kernel(block=lanes, wave_size=lanes)
    def kernel(a, b, c, index, d):
        left, right, added = (
            held(a, a_size, a_type),
            held(b, b_size, b_type),
            held(c, c_size, c_type),
        )
        at = index[threadIdx.x]
        if sparse and integers:
            total = wrapper(
                left, right, added, at, key, clamp=clamp, a_signed=a_signed, b_signed=b_signed
            )
        elif sparse:
            total = wrapper(left, right, added, at, key=key)
        elif integers:
            total = wrapper(left, right, added, clamp, a_signed, b_signed)
        else:
            total = wrapper(left, right, added)
        d.store(c_size * threadIdx.x, amdjit.bitcast(total, amdjit.vector(i32, c_size)))

    return kernel


def compute(
    product: MatrixInstruction, operands: Any, index: Any = None, key: int = 0, clamp: bool = False,
    types: tuple[Any, ...] | None = None, signs: tuple[Any, Any] = (None, None),
) -> Any:  # fmt: skip
    """Return D of whole matrices; the parts of `index` that are not meant hold other positions."""
    layouts = [product.layout(operand) for operand in "abc"]
    types = types or tuple(operand_types(layout)[0] for layout in layouts)
    words = [
        matrix.pack(layout, operand).reshape(-1).view(np.int32)
        for layout, operand in zip(layouts, operands, strict=True)
    ]
    places = np.zeros(product.wave_size, np.uint32)
    if index is not None:
        layout = product.layout("index")
        for other in range(layout.sets):
            places |= matrix.pack(
                layout, index if other == key else (index + 1 + other) % 4, other
            )[:, 0]
    d = np.zeros_like(words[2])
    kernel = kernel_of(product, types, key, clamp, signs)
    with amdjit.use("emulator:gfx1201"):
        kernel[1, product.wave_size](*words, places.view(np.int32), d)
    return matrix.unpack(product.layout("d"), d)
