"""`sync.grid()`: all work-items of the grid meet, and see what any of them wrote before."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amdjit
from amdjit import BackendError, KernelFault, LaunchError, device_function
from amdjit.emulator.device import EmulatorDevice
from amdjit.intrinsics import sync
from amdjit.options import read_environment
from amdjit.target import find_target

pytestmark = pytest.mark.usefixtures("emulator")
WAVE_SIZES = (32, 64)


@functools.cache
def device(threads: int, tier: str = "") -> EmulatorDevice:
    target = find_target("gfx1201")
    assert target is not None
    environment = read_environment({"AMDJIT_EMULATOR_TIER": tier} if tier else {})
    return EmulatorDevice(target, threads, 20.0, environment)


def stencil(x, scratch, rounds):
    """A step of a stencil: each element becomes the sum of its neighbours, in place."""
    n = x.shape[0]
    for _ in range(rounds):
        for i in range(amdjit.grid(1), n, amdjit.gridsize(1)):
            scratch[i] = x[i] + x[(i + 1) % n] - x[(i + n - 1) % n]
        sync.grid()
        for i in range(amdjit.grid(1), n, amdjit.gridsize(1)):
            x[i] = scratch[n - 1 - i]
        sync.grid()


STENCILS = {size: amdjit.kernel(wave_size=size)(stencil) for size in WAVE_SIZES}


def stencil_in_numpy(x: np.ndarray, rounds: int) -> np.ndarray:
    for _ in range(rounds):
        x = (x + np.roll(x, -1) - np.roll(x, 1))[::-1]
    return x


@settings(max_examples=8)
@given(
    grid=st.integers(1, 40),
    block=st.integers(1, 200),
    rounds=st.integers(0, 3),
    per_item=st.integers(1, 3),
    wave_size=st.sampled_from(WAVE_SIZES),
    threads=st.sampled_from((1, 2, 3)),
    tier=st.sampled_from(("quick", "full")),
)
def test_an_iterated_stencil_is_numpys(
    grid: int, block: int, rounds: int, per_item: int, wave_size: int, threads: int, tier: str
) -> None:
    n = max(1, grid * block * per_item - block // 2)
    x = np.arange(n, dtype=np.int32) * 7919 % 1009
    expected = stencil_in_numpy(x, rounds)
    with amdjit.use(device(threads, tier)):
        STENCILS[wave_size][grid, block](x, np.zeros_like(x), rounds)
    np.testing.assert_array_equal(x, expected)


@amdjit.kernel
def prefix_sums(x, sums, out):
    """Sums of blocks, their prefix sums in the first block, and those of all elements."""
    kept = amdjit.shared.array(1024, amdjit.i32)
    i, item = amdjit.grid(1), amdjit.threadIdx.x
    kept[item] = x[i]
    amdjit.syncthreads()
    if item == 0:
        total = 0
        for other in range(amdjit.blockDim.x):
            total += kept[other]
        sums[amdjit.blockIdx.x] = total
    sync.grid()
    if i == 0:
        total = 0
        for block in range(amdjit.gridDim.x):
            total += sums[block]
            sums[block] = total - sums[block]
    sync.grid()
    total = sums[amdjit.blockIdx.x]
    for other in range(item + 1):
        total += kept[other]
    out[i] = total


@settings(max_examples=8)
@given(st.integers(1, 64), st.integers(1, 128), st.integers(1, 2))
def test_prefix_sums_are_numpys(grid: int, block: int, threads: int) -> None:
    x = np.arange(grid * block, dtype=np.int32) % 17 - 5
    out = np.zeros_like(x)
    with amdjit.use(device(threads)):
        prefix_sums[grid, block](x, np.zeros(grid, np.int32), out)
    np.testing.assert_array_equal(out, np.cumsum(x, dtype=np.int32))


@amdjit.kernel
def transpose_twice(x, y):
    """Grids and blocks of three dimensions."""
    i = amdjit.threadIdx.x + amdjit.blockDim.x * (
        amdjit.threadIdx.y + amdjit.blockDim.y * amdjit.threadIdx.z
    )
    group = amdjit.blockIdx.x + amdjit.gridDim.x * (
        amdjit.blockIdx.y + amdjit.gridDim.y * amdjit.blockIdx.z
    )
    size = amdjit.blockDim.x * amdjit.blockDim.y * amdjit.blockDim.z
    n = x.shape[0]
    place = group * size + i
    y[n - 1 - place] = x[place]
    sync.grid()
    x[place] = 2 * y[place] + x[place] * 0


def test_grids_and_blocks_of_three_dimensions() -> None:
    grid, block = (3, 2, 4), (5, 3, 2)
    n = 24 * 30
    x, y = np.arange(n), np.zeros(n, np.int64)
    transpose_twice[grid, block](x, y)
    np.testing.assert_array_equal(x, 2 * np.arange(n)[::-1])


@pytest.mark.sample(1)
@pytest.mark.parametrize("wave_size", WAVE_SIZES)
def test_as_many_workgroups_as_fit(wave_size: int) -> None:
    kernel = STENCILS[wave_size]
    x = np.arange(5000, dtype=np.int32)
    expected = stencil_in_numpy(x, 2)
    signature = (amdjit.i32[:], amdjit.i32[:], amdjit.i32)
    most = kernel.max_cooperative_grid(1024, signature=signature)
    assert most == 32 * 64 // (1024 // wave_size)  # a workgroup processor holds 64 waves
    kernel[most, 1024](x, np.zeros_like(x), 2)
    np.testing.assert_array_equal(x, expected)
    with pytest.raises(LaunchError, match=f"holds {most} of 1024 work-items: {most // 32} on"):
        kernel[most + 1, 1024](x, np.zeros_like(x), 2)
    with pytest.raises(LaunchError, match=r"it calls sync\.grid"):
        kernel.forall(10**6)(x, np.zeros_like(x), 2)
    kernel.forall(10**6, grid_stride=True)(x, np.zeros_like(x), 2)
    np.testing.assert_array_equal(x, stencil_in_numpy(expected, 2))


@device_function(inline=False)
def meet_and_add(x, i, amount):
    x[i] += amount
    sync.grid()
    return x[(i + 1) % x.shape[0]]


@device_function
def twice(x, i):
    return meet_and_add(x, i, 1) + meet_and_add(x, i, 2)


@amdjit.kernel
def in_functions(x, out):
    i = amdjit.grid(1)
    if x.shape[0] > 1:  # the same for all
        out[i] = twice(x, i)


def test_barriers_in_functions_of_their_own_and_in_uniform_branches() -> None:
    x, out = np.arange(8 * 48), np.zeros(8 * 48, np.int64)
    in_functions[8, 48](x, out)
    np.testing.assert_array_equal(x, np.arange(8 * 48) + 3)
    # The first sum is read between the barriers, where neighbours may have added 2 already.
    first = np.roll(np.arange(8 * 48), -1) + 1
    assert np.isin(out - first - first - 2, [0, 2]).all()


@amdjit.kernel
def one_writes_for_all(y, x):
    """Workgroups that meet at different calls: here LLVM could keep what this one has stored."""
    i = amdjit.grid(1)
    if amdjit.blockIdx.x != 0:
        y[i] = 1
        sync.grid()
        sync.grid()
        x[i] = y[i]
    else:
        sync.grid()
        for j in range(i, y.shape[0], amdjit.blockDim.x):
            y[j] = 2
        sync.grid()


def test_what_other_workgroups_write_between_two_barriers_is_read() -> None:
    x, y = np.zeros(256), np.zeros(256)
    one_writes_for_all[4, 64](y, x)
    assert (x[64:] == 2).all()
    assert not x[:64].any()


@amdjit.kernel
def prints(x):
    x[amdjit.blockIdx.x] = amdjit.blockIdx.x
    sync.grid()
    if amdjit.threadIdx.x == 0:
        print("block", amdjit.blockIdx.x, "reads", x[amdjit.gridDim.x - 1 - amdjit.blockIdx.x])


def test_output_and_barriers_share_the_record(capsys: pytest.CaptureFixture[str]) -> None:
    prints[3, 64](np.zeros(3, np.int32))
    lines = [f"block {block} reads {2 - block}" for block in range(3)]
    assert capsys.readouterr().out.splitlines() == lines


@amdjit.kernel
def asserts_and_meets(x, bad):
    i = amdjit.grid(1)
    assert i != bad, "this one"
    sync.grid()
    x[i] = 1


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bad", [0, 70, 64 * 6 - 1])
def test_a_failed_assertion_ends_all_workgroups(bad: int, threads: int) -> None:
    x = np.zeros(64 * 6)
    with amdjit.use(device(threads)), pytest.raises(KernelFault, match="this one") as caught:
        asserts_and_meets[6, 64](x, bad)
    assert caught.value.kind == "assert"
    with amdjit.use(device(threads)):
        asserts_and_meets[6, 64](x, -1)
    assert (x == 1).all()


@amdjit.kernel
def returns_early(x, early):
    if amdjit.blockIdx.x == early:
        return
    sync.grid()
    x[amdjit.grid(1)] = 1


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("tier", ["quick", "full"])
def test_a_workgroup_that_returns_early_is_reported(threads: int, tier: str) -> None:
    x = np.zeros(7 * 64)
    with amdjit.use(device(threads, tier)), pytest.raises(KernelFault) as caught:
        returns_early[7, 64](x, 3)
    fault = caught.value
    first = returns_early.function.__code__.co_firstlineno
    assert (fault.kind, fault.source_line) == ("barrier", first + 4)
    text = str(fault)
    assert f"1 of 7 workgroups ended at {__file__}:{first + 2}: block (3, 0, 0)" in text
    assert f"6 of 7 workgroups wait at {__file__}:{first + 4}: block (0, 0, 0) and others" in text
    assert not x.any()


@amdjit.kernel
def sleeps_long(x, rounds):
    if amdjit.blockIdx.x == 0:
        for _ in range(rounds):
            sync.sleep(1)
    sync.grid()
    x[amdjit.grid(1)] = 1


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("tier", ["quick", "full"])
def test_a_workgroup_that_comes_late_is_waited_for(threads: int, tier: str) -> None:
    x = np.zeros(5 * 64)
    with amdjit.use(device(threads, tier)):
        sleeps_long[5, 64](x, 20_000)
    assert (x == 1).all()


@amdjit.kernel
def in_one_wave(x):
    if amdjit.threadIdx.x >= 32:
        sync.grid()
    x[amdjit.grid(1)] = 1


@amdjit.kernel
def in_some_lanes(x):
    if amdjit.threadIdx.x % 3 == 0:
        sync.grid()
    x[amdjit.grid(1)] = 1


@pytest.mark.parametrize("kernel", [in_one_wave, in_some_lanes])
def test_a_barrier_that_not_all_work_items_reach_is_reported(kernel: amdjit.Kernel) -> None:
    with amdjit.sanitize("sync"), pytest.raises(amdjit.SanitizerError) as caught:
        kernel[2, 64](np.zeros(128))
    assert {report.check for report in caught.value.reports} == {"sync"}


@pytest.mark.sample(1)
@pytest.mark.parametrize("wave_size", WAVE_SIZES)
def test_the_race_check_knows_the_barrier(wave_size: int) -> None:
    x = np.arange(500, dtype=np.int32)
    expected = stencil_in_numpy(x, 2)
    with amdjit.sanitize("race", "init", "sync"):
        STENCILS[wave_size][7, 64](x, np.zeros_like(x), 2)
    np.testing.assert_array_equal(x, expected)


@amdjit.kernel
def forgets_one(x, scratch):
    i = amdjit.grid(1)
    n = x.shape[0]
    scratch[i] = x[i] + x[(i + 64) % n]
    sync.grid()
    x[i] = scratch[(i + 64) % n]
    scratch[i] = 0


def test_the_race_check_finds_what_the_barrier_does_not_order() -> None:
    x = np.arange(256, dtype=np.int32)
    with amdjit.sanitize("race"), pytest.raises(amdjit.SanitizerError) as caught:
        forgets_one[4, 64](x, np.zeros_like(x))
    assert {report.check for report in caught.value.reports} == {"race"}


def test_counts_of_a_cooperative_launch_repeat() -> None:
    def counted() -> list[tuple[int, int]]:
        x = np.arange(1000, dtype=np.int32)
        with amdjit.profile() as profile, amdjit.use(device(3)):
            STENCILS[32][8, 64](x, np.zeros_like(x), 2)
        return [(each.address, each.executions) for each in profile.launches[0].instructions]

    assert counted() == counted()


def test_a_time_limit_ends_a_cooperative_launch() -> None:
    target = find_target("gfx1201")
    assert target is not None
    with (
        amdjit.use(EmulatorDevice(target, 2, time_limit=0.2)),
        pytest.raises(KernelFault, match="time limit"),
    ):
        sleeps_long[5, 64](np.zeros(5 * 64), 2**31 - 1)


@amdjit.kernel
def hand_made(x, count):
    """A barrier of the user's own, which needs `cooperative=True`."""
    i = amdjit.grid(1)
    x[i] = i
    sync.fence("release", "agent")
    amdjit.syncthreads()
    if amdjit.threadIdx.x == 0:
        amdjit.atomic.add(count, 0, 1)
        while amdjit.atomic.load(count, 0, "acquire", "agent") < amdjit.gridDim.x:
            sync.sleep(1)
    amdjit.syncthreads()
    sync.fence("acquire", "agent")
    x[i] += x[(i + 64) % x.shape[0]] * 0


def test_cooperative_launches_by_keyword() -> None:
    most = hand_made.max_cooperative_grid(64, signature=(amdjit.i64[:], amdjit.i32[:]))
    assert most == 32 * 32
    x = np.zeros(300 * 64, np.int64)
    hand_made.launch(grid=300, block=64, cooperative=True)(x, np.zeros(1, np.int32))
    np.testing.assert_array_equal(x, np.arange(300 * 64))
    with pytest.raises(LaunchError, match=r"\(cooperative=True\)"):
        hand_made.launch(grid=most + 1, block=64, cooperative=True)(x, np.zeros(1, np.int32))


def test_cooperative_launches_are_no_part_of_graphs() -> None:
    stream, x = amdjit.Stream(), amdjit.to_device(np.zeros(64))
    count = amdjit.to_device(np.zeros(1, np.int32))
    with (
        pytest.raises(BackendError, match=r"launch .* cooperatively: hipErrorStreamCapture"),
        stream.capture(),
    ):
        hand_made.launch(grid=1, block=64, stream=stream, cooperative=True)(x, count)
    with pytest.raises(LaunchError, match=r"calls sync\.grid\(\)"), stream.capture():
        asserts_and_meets[1, 64, stream](x, -1)
    asserts_and_meets[1, 64, stream](x, -1)
    np.testing.assert_array_equal(x.copy_to_host(stream=stream), np.ones(64))
