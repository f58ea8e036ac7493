"""The emulator gives the same results on hosts with fewer features: narrower vectors, no half
precision, no FMA."""

from __future__ import annotations

import os
import platform
from dataclasses import replace

import numpy as np
import pytest

from amdjit.emulator import EmulatorDevice, run
from amdjit.emulator.host.jit import HostCompiler
from amdjit.options import read_environment
from amdjit.target import find_target
from tests.emulator.building import compile_kernel, compile_source, using
from tests.emulator.host_processors import HOSTS
from tests.emulator.required_tools import needs_tools
from tests.emulator.silicon_samples import CASES, DOTS, INSTRUCTIONS, Instruction, Registers

pytestmark = [
    needs_tools,
    pytest.mark.skipif(
        platform.machine() not in ("x86_64", "AMD64"),
        reason="needs an x86-64 host",
    ),
]


PARAMETERS = [*((name, "full") for name in HOSTS), ("x86-64-v2", "quick")]


@pytest.fixture(
    scope="module",
    params=PARAMETERS,
    ids=" ".join,
)
def host(request: pytest.FixtureRequest) -> EmulatorDevice:
    target = find_target("gfx1201")
    assert target is not None
    name, tier = request.param
    return EmulatorDevice(
        target,
        1,
        60.0,
        replace(read_environment(os.environ), emulator_tier=tier),
        HostCompiler(name, HOSTS[name]),
    )


@pytest.mark.sample(1)
def test_a_matrix_product_is_the_same_on_every_host(host: EmulatorDevice) -> None:
    a, b = np.random.default_rng(1).integers(-8, 9, (2, 4, 32, 8)).astype(np.float16)
    c = np.zeros((32, 8), np.float32)
    run(compile_kernel("matrix"), "matrix_f16", 1, 32, [a, b, c, np.uint32(4)], device=host)
    expected = np.zeros((16, 16))
    for step in range(4):
        left, right = (
            m[step].reshape(2, 16, 8).transpose(1, 0, 2).reshape(16, 16).astype(float)
            for m in (a, b)
        )
        expected += left @ right.T
    np.testing.assert_array_equal(c.reshape(2, 16, 8).transpose(0, 2, 1).reshape(16, 16), expected)


@pytest.mark.sample(2)
def test_half_precision_is_the_same_on_every_host(host: EmulatorDevice) -> None:
    source = """#include "common.h"
KERNEL halves(GLOBAL f16 *x, GLOBAL float *y) {
  u32 i = INDEX;
  y[i] = x[i];
  x[i] = (f16)(y[i] * 1.001f + 0.5f) + x[i];
}
"""
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    y = np.zeros(x.size, np.float32)
    with np.errstate(all="ignore"):
        wide = x.astype(np.float32)
        expected = (wide * np.float32(1.001) + np.float32(0.5)).astype(np.float16) + x
    run(compile_source(source, "-O3", "-ffp-contract=off"), "halves", 256, 256, [x, y], device=host)
    number = ~np.isnan(wide)
    np.testing.assert_array_equal(y[number].view(np.uint32), wide[number].view(np.uint32))
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(x[number].view(np.uint16), expected[number].view(np.uint16))
    assert np.isnan(x[~number]).all()


@pytest.mark.sample(1)
def test_barriers_and_loads_of_all_widths(host: EmulatorDevice) -> None:
    a, b = np.random.default_rng(1).integers(-5, 6, (2, 32, 32)).astype(np.float32)
    c = np.zeros((32, 32), np.float32)
    run(
        compile_kernel("matrix_shared"),
        "matrix_shared",
        (2, 2),
        256,
        [a, b, c, np.uint32(32)],
        device=host,
    )
    np.testing.assert_array_equal(c, a @ b)
    x = np.random.default_rng(1).standard_normal(1000).astype(np.float32)
    y = np.ones(1000, np.float32)
    run(
        compile_kernel("saxpy"),
        "saxpy",
        4,
        256,
        [np.uint32(1000), np.float32(2), x, y],
        device=host,
    )
    np.testing.assert_allclose(y, 2 * x + 1, rtol=1e-6, atol=1e-6)


@pytest.mark.sample(1)
def test_calls_of_long_expressions(host: EmulatorDevice) -> None:
    """Conditions, halves and structures are passed to native functions and returned."""
    source = """#include "common.h"
typedef f16 f16x2 __attribute__((ext_vector_type(2)));
KERNEL longs(GLOBAL float *x, GLOBAL double *d, GLOBAL f16x2 *h, GLOBAL u32 *p) {
  u32 i = INDEX;
  float a = x[i], b = x[i + 256];
  u32 left = __builtin_bit_cast(u32, a), right = __builtin_bit_cast(u32, b);
  p[i] = __builtin_amdgcn_perm(left, right, 0x01010101u * (i & 3) + 0x03000204u);
  h[i] = __builtin_elementwise_fma(h[i], h[i + 256], h[i + 512]);
  d[i] = (double)a / (double)b;
  x[i] = a / b;
}
"""
    random = np.random.default_rng(9)
    x = (random.standard_normal(512) * 10.0 ** random.integers(-30, 30, 512)).astype(np.float32)
    d, p = np.zeros(256), np.zeros(256, np.uint32)
    h = random.standard_normal((768, 2)).astype(np.float16)
    a, b = x[:256].copy(), x[256:].copy()
    # Exact in double precision but for the last rounding to half, which single precision would do
    # twice.
    exact = h[:256].astype(np.float64) * h[256:512] + h[512:]
    run(compile_source(source), "longs", 1, 256, [x, d, h, p], device=host)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(x[:256], a / b)
    np.testing.assert_array_equal(d, a.astype(np.float64) / b)
    np.testing.assert_array_equal(h[:256], exact.astype(np.float16))
    data = np.stack([b, a], axis=1).view(np.uint8)
    choices = np.array([[4 + n, 2 + n, 0 + n, 3 + n] for n in range(4)])[np.arange(256) & 3]
    np.testing.assert_array_equal(
        p.view(np.uint8).reshape(256, 4), np.take_along_axis(data, choices, 1)
    )


def products(part: int) -> list[tuple[Instruction, list[Registers], Registers]]:
    """Return an eighth of the instructions with operands and what the model has for them."""
    random, found = np.random.default_rng(5), []
    cases = [*CASES[part::8], ("integers", "integers")]
    for instruction in [each for each in INSTRUCTIONS if each.shape.wave.size == 32][part::8]:
        samples = [instruction.sample(random, case) for case in cases]
        inputs = [np.concatenate(parts, axis=1) for parts in zip(*samples, strict=True)]
        found.append((instruction, inputs, instruction.expected(inputs)))
    return found


@pytest.mark.sample(2)
@pytest.mark.parametrize("half", [0, 4])
def test_matrix_products_round_alike(
    host: EmulatorDevice, request: pytest.FixtureRequest, half: int
) -> None:
    """The quick form of a step, the form for any operands and the chain for whole numbers, of each
    kind of result on some host: on x86-64-v2, where halves are converted by functions, f16."""
    random = np.random.default_rng(5)
    with using(device=host):
        for instruction, inputs, expected in products(
            PARAMETERS.index(request.node.callspec.params["host"]) + half
        ):
            np.testing.assert_array_equal(instruction.run(inputs), expected, str(instruction))
        for dot in DOTS:
            inputs = dot.sample(random, ("specials", "specials"), 64)
            assert dot.run(inputs) == dot.expected(inputs)
