"""How many workgroups fit, and launches in grid strides."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amdjit
from amdjit import Const, LaunchError
from amdjit.intrinsics import sync

pytestmark = pytest.mark.usefixtures("emulator")


@amdjit.kernel
def with_lds(x, size: Const):
    kept = amdjit.shared.array(size, amdjit.f32)
    kept[amdjit.threadIdx.x] = x[amdjit.grid(1)]
    amdjit.syncthreads()
    x[amdjit.grid(1)] = kept[0]


@amdjit.kernel(block=256)
def with_registers(x, count: Const):
    values = amdjit.local.array(count, amdjit.f32)
    i = amdjit.grid(1) * count
    for k in amdjit.static_range(count):
        values[k] = x[i + k]
    for _ in range(x.shape[0]):
        for k in amdjit.static_range(count):
            values[k] = values[k] * 1.5 + values[(k + 1) % count]
    for k in amdjit.static_range(count):
        x[i + k] = values[k]


@functools.cache
def of_lds(size: int, wave_size: int) -> amdjit.Kernel:
    return amdjit.kernel(wave_size=wave_size)(with_lds.function)


def placed(waves: int, lds: int, vgprs: int, wave_size: int) -> int:
    """Return how many workgroups a workgroup processor of gfx1201 holds, put there one by one.

    It has 4 SIMDs of 16 wave slots and 1,536 rows of 32 registers, in units of 24 for a wave32 (a
    wave64 takes two rows for each register, in units of 12), 128 KiB of LDS in units of 1 KiB, and
    32 barriers.
    """
    rows = wave_size // 32
    allocated = -(-max(vgprs, 1) // (24 // rows)) * 24
    slots = [0] * 4
    lds_left, barriers, count = 128 << 10, 32, 0
    while True:
        lds_left -= -(-lds // 1024) * 1024
        barriers -= waves > 1
        if lds_left < 0 or barriers < 0:
            return count
        for _ in range(waves):
            simd = slots.index(min(slots))
            slots[simd] += 1
            if slots[simd] > 16 or slots[simd] * allocated > 1536:
                return count
        count += 1


@settings(max_examples=60)
@given(
    block=st.integers(1, 1024),
    dynamic=st.integers(0, 40_000),
    size=st.sampled_from((256, 1024, 5000)),
    wave_size=st.sampled_from((32, 64)),
)
def test_workgroups_are_those_that_can_be_placed(
    block: int, dynamic: int, size: int, wave_size: int
) -> None:
    kernel = of_lds(size, wave_size)
    signature = (amdjit.f32[:], size)
    vgprs = kernel.compile(*signature, target="gfx1201").resources.vgprs
    waves = -(-block // wave_size)
    expected = placed(waves, 4 * size + dynamic, vgprs, wave_size)
    assert kernel.max_active_blocks(block, dynamic, signature=signature) == expected
    assert kernel.max_cooperative_grid(block, dynamic, signature=signature) == 32 * expected


@pytest.mark.sample(1)
@pytest.mark.covering(1)
@pytest.mark.parametrize("count", [4, 60, 100, 140])
@pytest.mark.parametrize("block", [32, 96, 256])
def test_registers_limit_workgroups(count: int, block: int) -> None:
    signature = (amdjit.f32[:], count)
    vgprs = with_registers.compile(*signature, target="gfx1201").resources.vgprs
    expected = placed(block // 32, 0, vgprs, 32)
    assert with_registers.max_active_blocks((block, 1), signature=signature) == expected
    assert count < 100 or expected < 2048 // block


@pytest.mark.parametrize(("name", "count"), [("emulator:gfx1201", 32), ("emulator:gfx1200", 16)])
def test_devices_say_how_many_multiprocessors_they_have(name: str, count: int) -> None:
    with amdjit.use(name) as device:
        assert device.multiprocessor_count == count
        signature = (amdjit.f32[:], 256)
        per = with_lds.max_active_blocks(64, signature=signature)
        assert with_lds.max_cooperative_grid(64, signature=signature) == count * per


def test_it_must_be_clear_which_specialisation_is_meant() -> None:
    @amdjit.kernel
    def add(x, y):
        i = amdjit.grid(1)
        x[i] += y[i]

    with pytest.raises(LaunchError, match=r"add has 0 specialisations for gfx1201: .* signature="):
        add.max_active_blocks(64)
    add[1, 64](np.zeros(64), np.zeros(64))
    assert add.max_active_blocks(64) == 32
    add[1, 64](np.zeros(64, np.float32), np.zeros(64))
    with pytest.raises(LaunchError, match="add has 2 specialisations"):
        add.max_cooperative_grid(64)
    assert add.max_cooperative_grid(64, signature=(amdjit.f32[:], amdjit.f64[:])) == 32 * 32

    @amdjit.kernel
    def annotated(x: amdjit.f32[:]):
        x[0] = 1

    assert annotated.max_active_blocks(1024) == 2


@pytest.mark.parametrize("block", [0, (1, 2, 3, 4), "64", 0.5, 1025])
def test_wrong_blocks_are_refused(block: object) -> None:
    with pytest.raises(LaunchError, match="the block "):
        with_lds.max_active_blocks(block, signature=(amdjit.f32[:], 256))  # type: ignore[arg-type]


def test_more_lds_than_a_workgroup_can_have_is_refused() -> None:
    with pytest.raises(LaunchError, match="65537 bytes of LDS"):
        with_lds.max_active_blocks(64, 65537 - 1024, signature=(amdjit.f32[:], 256))


@amdjit.kernel
def count_visits(x, n, groups):
    for i in range(amdjit.grid(1), n, amdjit.gridsize(1)):
        amdjit.atomic.add(x, i, 1)
    if amdjit.grid(1) == 0:
        groups[0] = amdjit.gridDim.x


@settings(max_examples=10)
@given(st.integers(0, 400_000))
def test_a_grid_stride_visits_each_element_once(n: int) -> None:
    x, groups = np.zeros(n + 10, np.int32), np.zeros(1, np.int32)
    count_visits.forall(n, grid_stride=True)(x, n, groups)
    assert (x[:n] == 1).all()
    assert not x[n:].any()
    assert groups[0] == min(-(-n // 256), 32 * 8)


@amdjit.kernel
def of_one_element(x):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        x[i] = 1


def test_kernels_that_cannot_stride_are_refused() -> None:
    x = np.zeros(10)
    with pytest.raises(LaunchError, match=r"of_one_element never asks how large the grid is"):
        of_one_element.forall(10, grid_stride=True)(x)
    assert not x.any()


@amdjit.kernel(block=64)
def with_its_own_block(x):
    for i in range(amdjit.grid(1), x.shape[0], amdjit.gridsize(1)):
        x[i] = amdjit.blockDim.x
    sync.grid()


def test_the_kernels_own_block_is_kept() -> None:
    x = np.zeros(100_000, np.int32)
    with_its_own_block.forall(x.size, grid_stride=True)(x)
    assert (x == 64).all()
