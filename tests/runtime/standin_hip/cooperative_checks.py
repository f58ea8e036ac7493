"""Checks of cooperative launches with the stand-in's launches on the emulator.

HIP's call takes one pointer for each argument, and the stand-in reads from the code object's own
metadata how long each one is and where it goes.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import standin

import amdjit
from amdjit import Const
from amdjit.abi.launch_shape import LaunchShape
from amdjit.emulator.device import EmulatorDevice
from amdjit.intrinsics import sync
from amdjit.runtime.hip_errors import HipError
from amdjit.target import find_target

TARGET = find_target("gfx1201")
assert TARGET is not None
GPU = standin.EmulatedGpu(EmulatorDevice(TARGET))
GPU.install()


@amdjit.kernel
def shift(count, x, scale, out, wide, rounds):
    """Arguments of one, two, four and eight bytes, so that a wrong length or place shows."""
    i = amdjit.grid(1)
    n = x.shape[0]
    for _ in range(rounds):
        out[i] = x[(i + count) % n] * scale + wide
        sync.grid()
        x[i] = out[i]
        sync.grid()


def expected_of(x: np.ndarray, count: int, scale: int, wide: int, rounds: int) -> np.ndarray:
    for _ in range(rounds):
        x = np.roll(x, -count) * scale + wide
    return x


@pytest.mark.parametrize(("grid", "block"), [(1, 32), (5, 64), (32, 256), (7, 48)])
def test_arguments_reach_their_places(grid: int, block: int) -> None:
    n = grid * block
    x, out = np.arange(n, dtype=np.int64), np.zeros(n, np.int64)
    wanted = expected_of(x, 3, 2, 1 << 40, 3)
    before = standin.library().standin_launches()
    shift[grid, block](np.int8(3), x, np.int16(2), out, np.int64(1 << 40), 3)
    assert standin.library().standin_launches() == before + 1
    np.testing.assert_array_equal(x, wanted)


def test_launches_in_a_stream_begin_with_a_fresh_barrier() -> None:
    stream = amdjit.Stream()
    x, out = amdjit.to_device(np.arange(256)), amdjit.to_device(np.zeros(256, np.int64))
    for _ in range(4):
        shift[4, 64, stream](np.int8(1), x, np.int16(1), out, np.int64(5), 2)
    wanted = expected_of(np.arange(256), 1, 1, 5, 8)
    np.testing.assert_array_equal(x.copy_to_host(stream=stream), wanted)


@amdjit.kernel
def double(x):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        x[i] *= 2


@amdjit.kernel
def nothing():
    pass


def test_cooperative_launches_of_kernels_that_wait_for_nobody() -> None:
    x = np.arange(100.0)
    double.launch(grid=2, block=64, cooperative=True)(x)
    np.testing.assert_array_equal(x, 2 * np.arange(100.0))
    nothing.launch(grid=3, block=32, cooperative=True)()
    amdjit.synchronize()


@amdjit.kernel
def in_lds(x, size: Const):
    kept = amdjit.shared.array(size, amdjit.f32)
    kept[amdjit.threadIdx.x] = x[amdjit.grid(1)]
    sync.grid()
    x[amdjit.grid(1)] = kept[amdjit.threadIdx.x] + 1


def test_grids_that_do_not_fit_are_refused_before_hip_is_asked() -> None:
    device = amdjit.current_device()
    assert device.multiprocessor_count == 32
    block = 32
    signature = (amdjit.f32[:], 10000)
    limit = in_lds.max_cooperative_grid(block, signature=signature)
    assert limit == 3 * 32  # 40,960 bytes each, of 131,072
    x = np.zeros((limit + 1) * block, np.float32)
    before = standin.library().standin_launches()
    with pytest.raises(amdjit.LaunchError, match="hip:0 holds 96 of 32 work-items: 3 on each of"):
        in_lds[limit + 1, block](x, 10000)
    assert standin.library().standin_launches() == before
    in_lds[limit, block](x[: limit * block], 10000)
    assert math.isclose(x.sum(), limit * block)


def test_what_hip_itself_refuses_says_so() -> None:
    x = np.zeros(64, np.float32)
    standin.set_failures(hipModuleLaunchCooperativeKernel=720)
    try:
        with pytest.raises(HipError, match="HIP counts fewer workgroups") as caught:
            double.launch(grid=1, block=64, cooperative=True)(x)
        assert caught.value.code == 720
    finally:
        standin.set_failures()


def test_hip_counts_workgroups_itself() -> None:
    gpu = amdjit.current_device()
    compiled = nothing.compile(target="gfx1201")
    function = gpu.load(compiled.code_object).function("nothing")
    shape = LaunchShape((32 * 2 + 1, 1, 1), (1024, 1, 1), cooperative=True)
    with pytest.raises(HipError) as caught:
        gpu.launch(function, shape, bytearray())
    assert caught.value.code == 720


@amdjit.kernel
def early(x):
    if amdjit.blockIdx.x == 1:
        return
    sync.grid()
    x[amdjit.blockIdx.x] = 1


def test_a_workgroup_that_does_not_come_is_found_by_the_emulator() -> None:
    x = np.zeros(4)
    with pytest.raises(HipError):
        early[4, 32](x)
    assert "ended at" in str(GPU.faults.pop())
    assert not x.any()


@amdjit.kernel
def asserting(x, bad):
    assert amdjit.blockIdx.x != bad, "not this one"
    sync.grid()
    x[amdjit.grid(1)] += 1


def test_a_failed_assertion_ends_the_grid_instead_of_letting_it_wait() -> None:
    x = np.zeros(6 * 64)
    with pytest.raises(amdjit.KernelFault, match="not this one"):
        asserting[6, 64](x, 3)
    assert not GPU.faults
    asserting[6, 64](x, -1)
    assert (x == 1).all()


@pytest.mark.parametrize("n", [1, 1000, 100_000])
def test_grid_strides(n: int) -> None:
    @amdjit.kernel
    def fill(x):
        for i in range(amdjit.grid(1), x.shape[0], amdjit.gridsize(1)):
            x[i] = i + amdjit.gridDim.x

    x = np.zeros(n, np.int64)
    fill.forall(n, grid_stride=True)(x)
    groups = min(-(-n // 256), 8 * 32)
    np.testing.assert_array_equal(x, np.arange(n) + groups)
