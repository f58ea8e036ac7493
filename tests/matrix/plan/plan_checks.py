"""The checks that the plan's tests run: kernels on data that reveal every misplaced element,
against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import amdjit
from amdjit.intrinsics import matrix
from amdjit.types import Scalar, bf16, f16
from tests.matrix.plan.plan_data import (
    COL,
    ROW,
    Matrix,
    exact_product,
    flat,
    largest,
    numpy_type,
    relative_error,
    signalling,
    tolerance,
)
from tests.matrix.plan.plan_grids import depths_of
from tests.matrix.plan.plan_kernels import (
    copy_kernel,
    lds_product_kernel,
    product_kernel,
    shared_copy_kernel,
)
from tests.matrix.tested_devices import is_cdna, is_gfx11, lanes

Data = Callable[[int, int, Any], Matrix]


def bits(array: Matrix) -> Matrix:
    """Return an array's bits, so that NaN equal themselves."""
    return array.view(f"u{array.dtype.itemsize}")


def random_bits(shape: tuple[int, int], dtype: Scalar) -> Matrix:
    """Return elements of any bits, NaN and infinities among them."""
    random = np.random.default_rng(shape)
    return np.frombuffer(random.bytes(shape[0] * shape[1] * dtype.nbytes), dtype.dtype).reshape(
        shape
    )


def waves_of(waves: tuple[int, int]) -> int:
    return waves[0] * waves[1]


def shared_by(waves: tuple[int, int], sharing: str) -> tuple[int, int, tuple[int, int]]:
    """Return how many waves share a fragment, how many do so in a workgroup, and the shifts of
    `shared_copy_kernel`."""
    down, across = waves
    count = {"row": across, "column": down, "all": down * across}[sharing]
    column = down.bit_length() - 1
    return (
        count,
        down * across // count,
        (column if sharing == "row" else 0, column if sharing == "column" else 0),
    )


def check_fill(
    fragment: tuple[Any, ...], shape: tuple[int, int], waves: tuple[int, int], wave_size: int = 0
) -> None:
    """Fill every fragment of a matrix with a value: all its elements, and nothing else. wave_size:
    0 stands for the device's."""
    wave_size = wave_size or lanes()
    _, rows, columns, dtype, layout = fragment
    value = (
        {1: 101, 2: 599}.get(dtype.nbytes, 599) if not dtype.is_float or dtype.nbytes > 1 else 52
    )
    lying = shape if layout is ROW else shape[::-1]
    target = signalling(lying[0] * (lying[1] + 3), dtype)
    expected = target.copy().reshape(lying[0], -1)
    expected[:, : lying[1]] = np.array(value).astype(dtype.dtype)
    grid = shape[0] // (rows * waves[0]), shape[1] // (columns * waves[1])
    kernel = copy_kernel(*fragment, wave_size)
    source = np.zeros_like(target)
    launch = kernel[grid, wave_size * waves_of(waves)]
    launch(source, target, True, value, lying[1] + 3, lying[1] + 3, waves[0])
    np.testing.assert_array_equal(bits(target), bits(expected.reshape(-1)))


def check_copy(
    fragment: tuple[Any, ...], shape: tuple[int, int], waves: tuple[int, int],
    pads: tuple[int, int, int, int],
    wave_size: int = 0, sharing: str | None = None,
) -> None:  # fmt: skip
    """Copy a matrix of any bits between matrices with borders: pads are rows and columns, of source
    and target.

    The source's border holds the largest number, of which nothing may arrive; the target's must
    stay as it is.
    """
    _, rows, columns, dtype, layout = fragment
    wave_size = wave_size or lanes()
    lying = shape if layout is ROW else shape[::-1]
    inner = random_bits(lying, dtype)
    source = np.full((lying[0] + pads[0], lying[1] + pads[1]), largest(dtype.dtype), dtype.dtype)
    source[: lying[0], : lying[1]] = inner
    ld_out = lying[1] + pads[3]
    target = signalling((lying[0] + pads[2]) * ld_out, dtype)
    expected = target.copy().reshape(-1, ld_out)
    expected[: lying[0], : lying[1]] = inner
    if sharing is None:
        grid = shape[0] // (rows * waves[0]), shape[1] // (columns * waves[1])
        launch = copy_kernel(*fragment, wave_size)[grid, wave_size * waves_of(waves)]
        launch(source.reshape(-1), target, False, 0, source.shape[1], ld_out, waves[0])
    else:
        count, groups, shifts = shared_by(waves, sharing)
        kernel = shared_copy_kernel(*fragment, count, wave_size)
        grid = shape[0] // (rows * groups), shape[1] // columns
        kernel[grid, wave_size * waves_of(waves)](
            source.reshape(-1), target, source.shape[1], ld_out, *shifts, groups
        )
    np.testing.assert_array_equal(bits(target), bits(expected.reshape(-1)))


def product_error(
    types: Any, blocks: tuple[int, int], depth: int, layouts: Any, waves: tuple[int, int],
    shape: tuple[int, int, int],
    data: Data, wave_size: int = 0, fixed: bool = True,
) -> tuple[float, float]:  # fmt: skip
    """Return the error of 2 A B + 2 C and how large it may be; every matrix has a padded leading
    dimension.

    fixed: whether the kernel is compiled for the depth and the layouts, or the launch chooses them.
    """
    a_type, b_type, out_type, sum_type = types
    wave_size = wave_size or lanes()
    m, n, k = shape
    a, b, c = data(m, k, a_type), data(k, n, b_type), data(m, n, out_type)
    (a_flat, ld_a), (b_flat, ld_b) = (
        flat(a, a_type, layouts[0], 16),
        flat(b, b_type, layouts[1], 16),
    )
    c_flat, ld_c = flat(c, out_type, layouts[2], 8)
    lying = (m, n) if layouts[2] is ROW else (n, m)
    d = signalling(lying[0] * (lying[1] + 4), out_type)
    rows, columns = 16 * blocks[0] * waves[0], 16 * blocks[1] * waves[1]
    choices = ((depth,), layouts) if fixed else (depths_of(types, blocks), (None, None, None))
    kernel = product_kernel(types, blocks, *choices, wave_size)
    chosen = [int(each is COL) for each in layouts]
    launch = kernel[(m // rows, n // columns), wave_size * waves_of(waves)]
    launch(
        a_flat,
        b_flat,
        c_flat,
        d,
        k,
        ld_a,
        ld_b,
        ld_c,
        lying[1] + 4,
        waves[0],
        2,
        2,
        *chosen,
        depth,
    )
    found = d.reshape(lying[0], -1)[:, : lying[1]]
    found = found if layouts[2] is ROW else found.T
    allowed = tolerance(a, b, c, out_type, sum_type)
    # On gfx11 no sum of floats is sure to be exact; CDNA rounds sums of 16 bits once a step.
    if a_type in _ROUNDED and ((allowed and not is_cdna()) or is_gfx11()):
        rounded = rounded_reference(types, a, b, c, wave_size)
        return relative_error(found, rounded), 0.0
    return relative_error(found, reference(a, b, c, out_type, sum_type)), allowed


def reference(a: Matrix, b: Matrix, c: Matrix, out_type: Any, sum_type: Any) -> Matrix:
    """Return 2 A B + 2 C: sums of the type that the machine adds in, converted to the result's
    type."""
    total = exact_product(a, b).astype(numpy_type(sum_type))
    old = c.astype(numpy_type(sum_type))
    result: Matrix = (2 * total + 2 * old).astype(numpy_type(out_type))
    return result


_ROUNDED = {f16: "f16", bf16: "bf16"}


def rounded_sums(types: Any, a: Matrix, b: Matrix, wave_size: int) -> Matrix:
    """Return A B as the machine rounds the sums of fragments."""
    name = f"wmma_{types[3]}_16x16x16_{_ROUNDED[types[0]]}_w{wave_size}"
    zeros, target = np.zeros((len(a), b.shape[1])), amdjit.current_device().target.name
    total: Matrix = matrix.reference(name, a, b, zeros, order="fragment", target=target)
    return total


def rounded_reference(types: Any, a: Matrix, b: Matrix, c: Matrix, wave_size: int) -> Matrix:
    """Return 2 A B + 2 C with such sums."""
    _, _, out_type, sum_type = types
    total = rounded_sums(types, a, b, wave_size)
    result: Matrix = (2 * total + 2 * c.astype(numpy_type(sum_type))).astype(numpy_type(out_type))
    return result


def check_product(
    types: Any, blocks: tuple[int, int], depth: int, layouts: Any, waves: tuple[int, int],
    shape: tuple[int, int, int],
    data: Data, wave_size: int = 0, fixed: bool = True,
) -> None:  # fmt: skip
    error, allowed = product_error(
        types, blocks, depth, layouts, waves, shape, data, wave_size, fixed
    )
    assert error <= allowed, f"{error}, allowed {allowed}, with {data.__name__}"


def lds_product_error(
    types: Any, depth: int, layouts: Any, lds_layouts: Any, waves: tuple[int, int],
    shape: tuple[int, int, int],
    data: Data,
) -> float:  # fmt: skip
    """Return the error of A B through LDS."""
    a_type, b_type, _, sum_type = types
    m, n, k = shape
    a, b = data(m, k, a_type), data(k, n, b_type)
    (a_flat, ld_a), (b_flat, ld_b) = (
        flat(a, a_type, layouts[0], 16),
        flat(b, b_type, layouts[1], 16),
    )
    lying = (m, n) if layouts[2] is ROW else (n, m)
    d = signalling(m * n, sum_type)
    kernel = lds_product_kernel(types, depth, layouts, lds_layouts, waves, lanes())
    launch = kernel[(m // (16 * waves[0]), n // (16 * waves[1])), lanes() * waves_of(waves)]
    launch(a_flat, b_flat, d, k, ld_a, ld_b, lying[1])
    found = d.reshape(lying)
    found = found if layouts[2] is ROW else found.T
    if a_type in _ROUNDED and is_gfx11():
        return relative_error(found, rounded_sums(types, a, b, 32))
    return relative_error(found, exact_product(a, b).astype(numpy_type(sum_type)))


__all__ = [
    "COL", "ROW", "check_copy", "check_fill", "check_product", "lds_product_error", "product_error",
    "relative_error",
]  # fmt: skip
