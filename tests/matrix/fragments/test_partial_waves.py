"""A matrix instruction that only some lanes of a wave reach is a fault on the emulator, which names
its line."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.emulator import EmulatorDevice
from amdjit.intrinsics import matrix, memory
from amdjit.options import Environment
from amdjit.target import find_target

SIZE = 16


@functools.cache
def machine(tier: str) -> EmulatorDevice:
    target = find_target("gfx1201")
    assert target is not None
    return EmulatorDevice(target, 1, 60.0, Environment(emulator_tier=tier))


def multiply(a, b, d, width):
    left = matrix.fragment(matrix.matrix_a, 16, 16, 16, amdjit.f16, matrix.row_major)
    right = matrix.fragment(matrix.matrix_b, 16, 16, 16, amdjit.f16, matrix.row_major)
    total = matrix.fragment(matrix.accumulator, 16, 16, 16, amdjit.f32)
    matrix.fill_fragment(total, 0)
    matrix.load_matrix_sync(left, a, (0, 0))
    matrix.load_matrix_sync(right, b, (0, 0))
    matrix.mma_sync(total, left, right, total)
    matrix.store_matrix_sync(d, total, (0, 0))


def in_half_a_wave(a, b, d, width):
    if amdjit.threadIdx.x < width:
        multiply(a, b, d, width)


def after_a_return(a, b, d, width):
    if amdjit.threadIdx.x >= width:
        return
    multiply(a, b, d, width)


def in_a_loop_that_lanes_leave(a, b, d, width):
    k = amdjit.threadIdx.x
    while k < 32 + width % 32:
        multiply(a, b, d, width)
        k += 32


def by_whole_waves(a, b, d, width):
    if amdjit.threadIdx.x // amdjit.wavefront_size == width // 1000:
        multiply(a, b, d, width)


def launch(kernel: Any, tier: str, wave_size: int, block: int, width: int) -> None:
    a, b, d = (
        np.ones((16, 16), np.float16),
        np.ones((16, 16), np.float16),
        np.zeros((16, 16), np.float32),
    )
    with amdjit.use(machine(tier)):
        amdjit.kernel(wave_size=wave_size, warnings=False)(kernel)[1, block](a, b, d, width)
    assert (d == 16).all()


PARTIAL = [
    (multiply, 16),
    (in_half_a_wave, 32),
    (after_a_return, 32),
    (in_a_loop_that_lanes_leave, 32),
    (multiply, 72),
]


@pytest.mark.sample(5)
@pytest.mark.covering(2)
@pytest.mark.parametrize("tier", ["quick", "full"])
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize(("kernel", "block"), PARTIAL, ids=lambda p: getattr(p, "__name__", str(p)))
def test_some_lanes_alone_are_a_fault(kernel: Any, block: int, wave_size: int, tier: str) -> None:
    with pytest.raises(amdjit.KernelFault) as caught:
        launch(kernel, tier, wave_size, block, 16)
    fault = caught.value
    assert fault.kind == "partial-wave"
    assert "needs all lanes of its wave" in str(fault)
    assert fault.instruction is not None
    assert fault.instruction.startswith("v_wmma_f32_16x16x16_f16")
    assert fault.source_line is not None


@pytest.mark.sample(4)
@pytest.mark.covering(2)
@pytest.mark.parametrize("tier", ["quick", "full"])
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize(
    "kernel", [multiply, in_half_a_wave, after_a_return, by_whole_waves], ids=lambda k: k.__name__
)
def test_whole_waves_are_none(kernel: Any, wave_size: int, tier: str) -> None:
    launch(kernel, tier, wave_size, 128, 128)


def transposing(a, d, width):
    if amdjit.threadIdx.x < width:
        d[amdjit.threadIdx.x] = memory.load_transposed(a, 0, 0)[0]


def launch_transposing(tier: str, wave_size: int, width: int) -> None:
    a, d = np.arange(256, dtype=np.float16).reshape(16, 16), np.full(64, -1, np.float16)
    with amdjit.use(machine(tier)):
        amdjit.kernel(wave_size=wave_size, warnings=False)(transposing)[1, 64](a, d, width)
    lanes = np.arange(64)
    read = a[256 // wave_size * (lanes % wave_size // 16), lanes % 16]
    np.testing.assert_array_equal(d, np.where(lanes < width, read, -1))


@pytest.mark.parametrize("tier", ["quick", "full"])
@pytest.mark.parametrize("wave_size", [32, 64])
def test_a_transposing_load_of_some_lanes_alone_is_a_fault(wave_size: int, tier: str) -> None:
    for width in (wave_size, 64, 0):
        launch_transposing(tier, wave_size, width)
    with pytest.raises(
        amdjit.KernelFault, match="transposing load needs all lanes of its wave"
    ) as caught:
        launch_transposing(tier, wave_size, wave_size - 1)
    assert caught.value.kind == "partial-wave"
    assert caught.value.instruction is not None
    assert caught.value.instruction.startswith("global_load_tr_b128")
    assert caught.value.source_line is not None


@pytest.mark.parametrize(("block", "wave_size"), [((16, 1), 32), ((32,), 64), ((24, 2), 32)])
def test_a_workgroup_of_partial_waves_is_refused_where_it_is_compiled_in(
    block: Any, wave_size: int
) -> None:
    with pytest.raises(amdjit.CompileError, match="not all waves are whole"):
        amdjit.kernel(block=block, wave_size=wave_size)(multiply).compile(
            amdjit.f16[:, :], amdjit.f16[:, :], amdjit.f32[:, :], amdjit.i32
        )
