"""Kernels from real programs, with Python's numbers as arguments, lose no digit that NumPy and
Python keep."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import amdjit
from amdjit import f32

DEVICE = "emulator:gfx1201"


def overlap(a, b):
    left, right = max(a[0], b[0]), min(a[2], b[2])
    top, bottom = max(a[1], b[1]), min(a[3], b[3])
    width, height = max(right - left + 1, 0.0), max(bottom - top + 1, 0.0)
    area_a = (a[2] - a[0] + 1) * (a[3] - a[1] + 1)
    area_b = (b[2] - b[0] + 1) * (b[3] - b[1] + 1)
    return width * height / (area_a + area_b - width * height)


@amdjit.kernel
def suppression_masks(n_boxes, threshold, boxes, masks):
    """Set bit i of a word where box i of its block of 64 covers the row's box: one word a row and
    block of columns."""
    row_start, column_start, tx = amdjit.blockIdx.y, amdjit.blockIdx.x, amdjit.threadIdx.x
    row_size = min(n_boxes - row_start * 64, 64)
    column_size = min(n_boxes - column_start * 64, 64)
    block_boxes = amdjit.shared.array((64, 4), f32)
    if tx < column_size:
        for k in range(4):
            block_boxes[tx, k] = boxes[64 * column_start + tx, k]
    amdjit.syncthreads()
    if tx < row_size:
        current = 64 * row_start + tx
        t = 0
        start = 0
        if row_start == column_start:
            start = tx + 1
        for i in range(start, column_size):
            if overlap(boxes[current], block_boxes[i]) > threshold:
                t |= 1 << i
        column_blocks = n_boxes // 64 + (n_boxes % 64 > 0)
        masks[current * column_blocks + column_start] = t


def test_non_maximum_suppression_keeps_the_boxes_beyond_bit_31() -> None:
    n = 150
    random = np.random.default_rng(5)
    corners = random.integers(0, 60, (n, 2))
    boxes = np.hstack([corners, corners + random.integers(15, 40, (n, 2))]).astype(np.float32)
    blocks = -(-n // 64)
    masks = np.zeros(n * blocks, np.uint64)
    with amdjit.use(DEVICE):
        suppression_masks[(blocks, blocks), 64](n, 0.3, boxes, masks)
    expected = np.zeros((n, blocks), np.uint64)
    for row in range(n):
        for column in range(n):
            is_later = column > row or column // 64 != row // 64
            if is_later and overlap(boxes[row], boxes[column]) > np.float32(0.3):
                expected[row, column // 64] |= np.uint64(1 << column % 64)
    np.testing.assert_array_equal(masks.reshape(n, blocks), expected)
    assert (masks >> np.uint64(32)).any()


def cumulative(d):
    k = 1.0 / (1.0 + 0.2316419 * abs(d))
    series = 0.31938153 + k * (
        -0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))
    )
    value = 0.3989422804014327 * math.exp(-0.5 * d * d) * k * series
    if d > 0:
        value = 1.0 - value
    return value


@amdjit.kernel
def black_scholes(call, put, price, strike, years, rate, volatility):
    i = amdjit.grid(1)
    if i >= price.shape[0]:
        return
    root = math.sqrt(years[i])
    d1 = (math.log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / (
        volatility * root
    )
    d2 = d1 - volatility * root
    discount = math.exp(-1.0 * rate * years[i])
    call[i] = price[i] * cumulative(d1) - strike[i] * discount * cumulative(d2)
    put[i] = strike[i] * discount * (1.0 - cumulative(d2)) - price[i] * (1.0 - cumulative(d1))


def test_black_scholes_in_f64_has_the_digits_of_f64() -> None:
    n, rate, volatility = 64, 0.02, 0.3
    random = np.random.default_rng(1)
    price, strike = random.uniform(5, 30, n), random.uniform(1, 100, n)
    years = random.uniform(0.25, 10, n)
    call, put = np.zeros(n), np.zeros(n)
    black_scholes_any(call, put, price, strike, years, rate, volatility)
    for i in range(n):
        root = math.sqrt(years[i])
        drift = (rate + 0.5 * volatility * volatility) * years[i]
        d1 = (math.log(price[i] / strike[i]) + drift) / (volatility * root)
        d2 = d1 - volatility * root
        discount = math.exp(-rate * years[i])
        expected = price[i] * cumulative(d1) - strike[i] * discount * cumulative(d2)
        assert math.isclose(call[i], expected, rel_tol=1e-12, abs_tol=1e-13)
        # An option that ends now has a price without a model.
        assert math.isclose(
            call[i] - put[i], price[i] - strike[i] * discount, rel_tol=1e-12, abs_tol=1e-12
        )


def black_scholes_any(*arguments: Any) -> None:
    with amdjit.use(DEVICE):
        black_scholes[2, 32](*arguments)


def test_black_scholes_in_f32_computes_nothing_in_f64() -> None:
    array = f32[:]
    compiled = black_scholes.compile(
        array, array, array, array, array, float, float, target="gfx1201"
    )
    assert "f64" not in compiled.typed_tree


@amdjit.kernel
def collide(f, out, omega, tau, gravity):
    """One step of a lattice Boltzmann method in two dimensions, with five directions."""
    x = amdjit.grid(1)
    if x < f.shape[1]:
        density = 0.0
        momentum = 0.0
        for k in range(5):
            density += f[k, x]
            if k == 1:
                momentum += f[k, x]
            if k == 3:
                momentum -= f[k, x]
        velocity = momentum / density + tau * gravity
        for k in range(5):
            weight = 1 / 3 if k == 0 else 1 / 6
            direction = 0.0
            if k == 1:
                direction = 1.0
            if k == 3:
                direction = -1.0
            equilibrium = weight * density * (1 + 3 * direction * velocity)
            out[k, x] = f[k, x] * (1 - omega) + omega * equilibrium


def test_a_lattice_boltzmann_step_in_f64_is_numpys_bit_for_bit() -> None:
    f = np.random.default_rng(2).uniform(0.1, 1, (5, 32))
    out, omega, tau, gravity = np.zeros_like(f), 1.7, 1 / 1.7, 1e-5
    with amdjit.use(DEVICE):
        collide[1, 32](f, out, omega, tau, gravity)
    density = ((((0.0 + f[0]) + f[1]) + f[2]) + f[3]) + f[4]
    velocity = (f[1] - f[3]) / density + tau * gravity
    directions = (0.0, 1.0, 0.0, -1.0, 0.0)
    for k, direction in enumerate(directions):
        weight = 1 / 3 if k == 0 else 1 / 6
        expected = f[k] * (1 - omega) + omega * (weight * density * (1 + 3 * direction * velocity))
        np.testing.assert_array_equal(out[k], expected)


@amdjit.kernel
def push(x, p, field, dt, c, q, m):
    """Move particles as particle-in-cell codes do, with the inverse Lorentz factor."""
    i = amdjit.grid(1)
    if i < x.shape[0]:
        p[i] += field[i] * (q / (m * c)) * dt
        inverse_gamma = 1.0 / math.sqrt(1.0 + p[i] ** 2)
        x[i] += c * dt * inverse_gamma * p[i]


def test_a_particle_push_in_f64_is_numpys_bit_for_bit() -> None:
    random = np.random.default_rng(3)
    x, p, field = random.standard_normal((3, 32))
    dt, c, q, m = 1e-16, 299792458.0, -1.602176634e-19, 9.1093837015e-31
    expected_p = p + field * (q / (m * c)) * dt
    expected_x = x + c * dt * (1.0 / np.sqrt(1.0 + expected_p**2)) * expected_p
    with amdjit.use(DEVICE):
        push[1, 32](x, p, field, dt, c, q, m)
    np.testing.assert_array_equal(p, expected_p)
    np.testing.assert_array_equal(x, expected_x)
