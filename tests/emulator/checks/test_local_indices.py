"""Indices outside of local arrays and vectors are reported at their line, on every family, although
the arrays are in registers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import amdjit
from amdjit import f32, i64, local, u8
from tests.emulator.checks.seeded_kernels.seeded import reports_of, text_of

FAMILIES = ("gfx1201", "gfx1100", "gfx942", "gfx908")
X = np.arange(1, 9, dtype=np.float32)


@amdjit.kernel
def read(x, out, j):
    a = local.array(4, f32)
    for k in range(4):
        a[k] = x[k]
    out[amdjit.threadIdx.x] = a[j]  # BUG


@amdjit.kernel
def write(x, out, j):
    a = local.array(4, f32)
    for k in range(4):
        a[k] = x[k]
    a[j] = 9  # BUG
    out[amdjit.threadIdx.x] = a[1]


@amdjit.kernel
def of_two_axes(x, out, j):
    a = local.array((2, 4), u8)
    for k in range(8):
        a[k // 4, k % 4] = u8(x[k])
    out[amdjit.threadIdx.x] = f32(a[0, j])  # BUG


@amdjit.kernel
def of_a_slice(x, out, j):
    a = local.array(6, f32)
    for k in range(6):
        a[k] = x[k]
    part = a[1:5]
    out[amdjit.threadIdx.x] = part[j]  # BUG


@amdjit.kernel
def by_a_wide_index(x, out, j):
    a = local.array(4, f32)
    for k in range(4):
        a[k] = x[k]
    out[amdjit.threadIdx.x] = a[i64(j)]  # BUG


@amdjit.kernel
def of_a_vector(x, out, j):
    v = x.load(0, 4)
    out[amdjit.threadIdx.x] = v[j]  # BUG


@amdjit.kernel(opt_level=0)
def without_optimisation(x, out, j):
    a = local.array(4, f32)
    for k in range(4):
        a[k] = x[k]
    out[amdjit.threadIdx.x] = a[j]  # BUG


@amdjit.kernel
def of_each_lane(x, out, j):
    a = local.array(4, f32)
    for k in range(4):
        a[k] = x[k]
    out[amdjit.threadIdx.x] = a[amdjit.threadIdx.x % 4 + (j & ~3)]  # BUG


@amdjit.device_function
def item(a, j):
    return a[j]  # BUG


@amdjit.kernel
def in_a_function(x, out, j):
    a = local.array(4, f32)
    for k in range(4):
        a[k] = x[k]
    out[amdjit.threadIdx.x] = item(a, j)


KERNELS = {
    kernel.__name__: kernel
    for kernel in (
        read,
        write,
        of_two_axes,
        of_a_slice,
        by_a_wide_index,
        of_a_vector,
        without_optimisation,
        of_each_lane,
        in_a_function,
    )
}


@pytest.mark.sample(5)
@pytest.mark.covering(1)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("family", FAMILIES)
def test_an_index_outside_is_reported_at_its_line(family: str, name: str) -> None:
    kernel, device = KERNELS[name], f"emulator:{family}"
    lines = Path(__file__).read_text().splitlines()
    for index in (4, 7, -1, 1000):
        found = reports_of(
            lambda index=index: kernel[1, 32](X, np.zeros(32, np.float32), index),
            "memory",
            device=device,
        )
        (report,) = found
        shown = index & ~3 if name == "of_each_lane" else index
        assert report.kind == "scratch-overflow"
        assert report.message == f"index {shown} is outside of the local array, or of the vector"
        assert report.line is not None
        assert lines[report.line - 1].endswith("# BUG"), text_of(found)


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("family", FAMILIES)
def test_an_index_inside_gives_what_it_gives_without_checks(family: str, name: str) -> None:
    kernel, device = KERNELS[name], f"emulator:{family}"
    for index in range(4):
        plain, checked = np.zeros(32, np.float32), np.zeros(32, np.float32)
        with amdjit.use(device):
            kernel[1, 32](X, plain, index)
        found = reports_of(
            lambda index=index, out=checked: kernel[1, 32](X, out, index), "memory", device=device
        )
        assert not found, text_of(found)
        np.testing.assert_array_equal(checked, plain)
