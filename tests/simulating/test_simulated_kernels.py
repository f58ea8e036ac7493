"""Kernels as plain Python: `amdjit.simulate()`."""

from __future__ import annotations

import importlib
import math
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import Const, KernelFault, LaunchError, f32
from amdjit import numba_cuda as cuda
from amdjit.intrinsics import amdgcn, atomic, cooperative_groups, memory, sync, wave
from amdjit.launching import simulated_launches
from amdjit.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32
from tests.fuzz.running import define
from tests.numba_cuda import test_programs_of_numba

Arrays = tuple[np.ndarray[Any, Any], ...]


def both(kernel: Any, grid: Any, block: Any, *arguments: Any, **configuration: Any) -> Arrays:
    """Run a kernel on the emulator and as plain Python, and compare the bits of all arrays; return
    the arrays."""

    def copies() -> list[Any]:
        return [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]

    compiled, simulated = copies(), copies()
    kernel.launch(grid, block, **configuration)(*compiled)
    with amdjit.simulate():
        kernel.launch(grid, block, **configuration)(*simulated)
    arrays = [each for each in simulated if isinstance(each, np.ndarray)]
    expected = [each for each in compiled if isinstance(each, np.ndarray)]
    for found, other in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(found.view(np.uint8), other.view(np.uint8))
    return tuple(arrays)


RANDOM = np.random.default_rng(5)
TABLE = np.array([3, 1, 4, 1, 5], np.int32)


@amdjit.kernel
def saxpy(a, x, y, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = a * x[i] + y[i] ** 2 + TABLE[i % 5]


def test_arithmetic_has_the_same_bits_and_nothing_is_compiled() -> None:
    x, y = RANDOM.random((2, 50), np.float32)
    out = np.zeros_like(x)
    fresh = amdjit.kernel(saxpy.function)
    with amdjit.simulate():
        fresh[2, 32](0.3, x, y, out)
    assert fresh.specialisations == ()
    (*_, found) = both(saxpy, 2, 32, 0.3, x, y, np.zeros_like(x))
    assert found.tobytes() == out.tobytes()
    assert len(saxpy.specialisations) == 1


@amdjit.kernel
def block_sum(x, out):
    tile = amdjit.shared.array(64, f32)
    t = amdjit.threadIdx.x
    tile[t] = x[amdjit.grid(1)]
    amdjit.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            tile[t] += tile[t + step]
        amdjit.syncthreads()
        step //= 2
    if t == 0:
        out[amdjit.blockIdx.x] = tile[0]
        atomic.add(out, 3, 1)
        atomic.max(out, 4, tile[0])


def test_a_reduction_through_lds_meets_at_its_barriers() -> None:
    out = both(block_sum, 2, 64, RANDOM.random(128, np.float32), np.zeros(5, np.float32))[1]
    assert out[3] == 2


@amdjit.kernel
def narrow_sums(x, halves, out, wide):
    total, mean = 0, 0.1
    for k in range(x.shape[0]):
        total += x[k]
        mean = mean * 0.5 + halves[k]
    out[0] = total
    wide[0] = mean


def test_literals_that_a_loop_carries_have_the_width_of_compiled_code() -> None:
    x = np.full(5, 200, np.uint8)
    halves = np.full(5, 0.1, np.float64)
    found = both(narrow_sums, 1, 1, x, halves, np.zeros(1, np.int32), np.zeros(1))
    assert found[2][0] == 1000


CARRIED = [
    "s += x[k % 4]",
    "s += k",
    "s = s * 31 + k",
    "s = s * k + 7",
    "s = (s << 3) ^ k",
    "s = max(s * 7, 3)",
    "s = abs(s * -7)",
    "s = s * 7 + (1 if s % 7 == 0 else 2)",
    "s = x[k % 4]",
    "s *= 7; s = -s if s < 0 else s",
]


@pytest.mark.parametrize("change", CARRIED)
def test_a_literal_in_a_loop_is_as_wide_as_the_array_that_its_result_goes_to(change: str) -> None:
    kernel = amdjit.kernel(
        define(
            "def wide(x, n, out):\n"
            "    s = 1\n"
            "    for k in range(n):\n"
            f"        {change}\n"
            "        if x[0] < 0:\n"
            "            break\n"
            "    out[0] = s * 5000000\n",
            {},
        )["wide"]
    )
    x, n = np.full(4, 2**30, np.int32), np.int32(40)
    found = both(kernel, 1, 1, x, n, np.zeros(1, np.int64))[-1]
    narrow = both(kernel, 1, 1, x, n, np.zeros(1, np.int32))[-1]
    assert found[0] != narrow[0]


@amdjit.kernel
def wide_floats(x, out):
    s, k, t = 0, 0, 0.1
    while k < x.shape[0]:
        s += x[k]
        t = math.sqrt(k + t)
        k += 1
        if k == 2:
            continue
        s *= 1.1
    out[0] = s
    out[1] = t


def test_a_literal_in_a_loop_sums_in_f64_for_an_array_of_f64() -> None:
    both(wide_floats, 1, 1, np.full(5, 0.1, np.float32), np.zeros(2))


SHOWN: list[str] = []


@amdjit.kernel
def with_a_debugger(x, out):
    import pdb  # noqa: PLC0415

    s = 0
    for k in range(x.shape[0]):
        s += x[k]
        SHOWN.append(repr(s))
        if s < 0:
            pdb.set_trace()
    out[0] = s


def test_what_only_python_runs_does_not_hide_the_width_of_a_variable() -> None:
    SHOWN.clear()
    out = np.zeros(1, np.int64)
    with amdjit.simulate():
        with_a_debugger[1, 1](np.full(3, 2**30, np.int32), out)
    assert SHOWN == ["i64(1073741824)", "i64(2147483648)", "i64(3221225472)"]
    assert out[0] == 3 * 2**30


@amdjit.kernel
def thirds(x, y, out):
    out[0] = x[0] - y[0] / 3
    if x[0] < y[0] / 3:
        out[1] = 1
    out[2] = x[0] * y[0] - y[0] / 3


@pytest.mark.parametrize(
    ("wide", "narrow"), [("int64", "int16"), ("int64", "int32"), ("int32", "uint32"),
                         ("uint64", "int16"), ("uint64", "uint64")],
)  # fmt: skip
def test_a_quotient_of_integers_is_an_f64_beside_64_bits(wide: str, narrow: str) -> None:
    largest = np.iinfo(narrow).max // 2
    x, y = np.array([largest // 3], wide), np.array([largest], narrow)
    both(thirds, 1, 1, x, y, np.zeros(3))


@amdjit.kernel
def without_width(n, out, floats):
    k = int(n[0])
    out[0] = max(k * 7, 3)
    out[1] = abs(k * -7)
    out[2] = k << 3
    out[3] = min(k * 4, k * 8, 5)
    out[4] = n[1] > k * 4
    out[5] = k * 4 < 10**11
    out[6] = round(n[0] * 3)
    out[7] = k * 3 >> n[1]
    for i in range(1, 6):
        floats[i] = math.sqrt(i) + math.exp(float(i)) + math.sin(n[1] / 3)
    v = n[1] / 3
    floats[0] = max(v, 0.1) + abs(v) + v**0.3 + math.copysign(v, -1.0) + math.floor(v)


def test_functions_of_numbers_without_a_width_keep_what_64_bits_need() -> None:
    both(without_width, 1, 1, np.array([2**31 - 1, 7], np.int32), np.zeros(8, np.int64),
         np.zeros(6))  # fmt: skip
    both(without_width, 1, 1, np.array([2**40, 7]), np.zeros(8, np.int64), np.zeros(6))


@amdjit.kernel
def through_a_function_of_amdjit(n, out):
    lane = amdjit.lane_id()
    s = 1
    for k in range(n[0]):
        s = s * 31 + k
    out[lane, 0] = wave.shuffle(s, 0) * 3
    atomic.add(out, (0, 1), s * 7)


def test_functions_of_amdjit_take_numbers_in_the_width_that_they_have_in_compiled_code() -> None:
    both(through_a_function_of_amdjit, 1, 32, np.array([30], np.int32), np.zeros((32, 2), np.int64))


@amdjit.kernel
def rounding(x, out):
    out[0] = math.floor(x[0]) + math.ceil(x[0]) + math.trunc(x[0]) + round(x[0])
    out[1] = math.copysign(x[0], -1.0)
    out[2] = math.copysign(x[0], x[1])
    out[3] = math.copysign(-1.5, x[0])


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "uint64", "float64"])
def test_functions_of_floats_take_integers(dtype: str) -> None:
    both(rounding, 1, 1, np.array([7, 3]).astype(dtype), np.zeros(4))


@amdjit.kernel
def with_a_number(x, n, out):
    out[0] = n + x[0]


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, -(2**63), 2**63])
def test_large_integers_of_python_have_64_bits(number: int) -> None:
    for x in (np.array([5], np.int32), np.array([5], np.int64)):
        both(with_a_number, 1, 1, x, number, np.zeros(1, np.uint64))


@amdjit.kernel
def roots_of_edges(x, out):
    i = amdjit.grid(1)
    out[i] = math.isnan(math.sqrt(x[i]))


def test_roots_of_infinities_are_those_of_compiled_code() -> None:
    x = np.array([-np.inf, np.inf, -0.0, -1, 2], np.float32)
    out = both(roots_of_edges, 1, 5, x, np.zeros(5, np.int32))[1]
    assert list(out) == [1, 0, 0, 1, 0]


@amdjit.device_function
def total(x):
    s = 0
    for k in range(x.shape[0]):
        s += x[k]
    return s


@amdjit.kernel
def totals(x, wide, narrow):
    wide[0] = total(x)
    narrow[0] = total(x)


@amdjit.kernel
def not_compiled(x, out, unused):
    s = 0
    for k in range(x.shape[0]):
        text = repr(s)
        s += x[k] * len(text)
    out[0] = s


@pytest.mark.parametrize("kernel", [totals, not_compiled])
def test_a_literal_in_a_loop_whose_width_is_unknown_is_refused(kernel: Any) -> None:
    arguments = np.ones(3, np.int32), np.zeros(1, np.int64), np.zeros(1, np.int32)
    with amdjit.simulate(), pytest.raises(KernelFault, match="carries `s`, a literal") as caught:
        kernel[1, 1](*arguments)
    assert caught.value.kind == "unsupported"


@amdjit.kernel
def mathematics(x, out):
    i = amdjit.grid(1)
    out[i, 0] = math.sin(x[i])
    out[i, 1] = math.exp(x[i])
    out[i, 2] = math.log(abs(x[i]))
    out[i, 3] = math.atan2(x[i], 0.5)
    out[i, 4] = abs(x[i]) ** 0.3
    out[i, 5] = math.floor(x[i]) / 3
    out[i, 6] = np.tanh(x[i])
    out[i, 7] = min(x[i], 0.5)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_functions_of_math_are_those_of_compiled_code(dtype: type) -> None:
    x = np.linspace(-3, 3, 8).astype(dtype)
    both(mathematics, 1, 8, x, np.zeros((8, 8), dtype))


@amdjit.kernel
def lanes(x, out):
    t = amdjit.lane_id()
    out[t, 0] = wave.shuffle_xor(x[t], 5)
    out[t, 1] = wave.reduce_add(x[t])
    if t % 3 == 1:
        out[t, 2] = wave.reduce_max(x[t])
        out[t, 3] = wave.shuffle(x[t], t + 1)
    else:
        out[t, 2] = wave.readfirstlane(x[t])
    for k in range(t % 4):
        out[t, 4] += wave.ballot64(True) & 0xFFFF
        out[t, 5] += wave.permute(x[t], t // 2) + k


def test_lanes_that_are_active_meet_wherever_the_others_are() -> None:
    both(lanes, 1, 32, RANDOM.integers(0, 99, 32).astype(np.int32), np.zeros((32, 6), np.int32))


@amdjit.kernel
def rotated(x, out):
    i = amdjit.grid(1)
    out[i] = x[i]
    sync.grid()
    x[i] = out[(i + 16) % 32] * 2
    sync.grid()
    out[i] = x[i] + 1


def test_all_workgroups_meet_at_the_barrier_of_the_grid() -> None:
    both(rotated, 2, 16, np.arange(32, dtype=np.float32), np.zeros(32, np.float32))


@dataclass(frozen=True)
class Point:
    a: f32
    b: f32

    def norm(self):
        return math.sqrt(self.a * self.a + self.b * self.b)


@amdjit.device_function
def scaled(point, factor):
    return Point(point.a * factor, point.b)


@amdjit.kernel
def records(point, n: Const, out, rows):
    i = amdjit.grid(1)
    for k in amdjit.static_range(n):
        out[i, k] = scaled(point, i).norm() + k
    rows[i].x = i * 1.5
    rows[i].n[1] += i
    v = amdjit.f32x4(i, 1, 2, 3)
    w = v
    v[1] = 7.5
    out.store((i, 4), v + w)


def test_records_vectors_and_constants_are_values() -> None:
    rows = np.zeros(4, np.dtype([("x", np.float32), ("n", np.int32, (2,))]))
    point = Point(np.float32(2), np.float32(0.3))
    both(records, 1, 4, point, 3, np.zeros((4, 8), np.float32), rows)


@amdjit.kernel
def drawn(states, out):
    i = amdjit.grid(1)
    for k in range(3):
        out[i, k] = xoroshiro128p_uniform_float32(states, i)


def test_random_numbers_are_the_same() -> None:
    states = create_xoroshiro128p_states(8, seed=1).copy_to_host()
    both(drawn, 1, 8, states, np.zeros((8, 3), np.float32))


@amdjit.kernel
def dynamic(x):
    rows = amdjit.shared.dynamic(f32)
    t = amdjit.threadIdx.x
    rows[t] = x[t]
    amdjit.syncthreads()
    x[t] = rows[rows.shape[0] - 1 - t]


def test_dynamic_lds_has_the_bytes_of_the_launch() -> None:
    both(dynamic, 1, 8, np.arange(8, dtype=np.float32), dynamic_lds=32)


@cuda.jit
def numbas(out):
    i = cuda.grid(1)
    out[i] = cuda.laneid + cuda.shfl_xor_sync(0xFFFFFFFF, i, 1) * 100 + (i - 40) // 3


def test_programs_of_numba_follow_its_rules() -> None:
    both(numbas, 2, 32, np.zeros(64, np.int64))
    a, b = RANDOM.random((2, 16, 16), np.float32)
    both(test_programs_of_numba.matmul, (2, 2), (8, 8), a, b, np.zeros((16, 16), np.float32))


@pytest.mark.parametrize("name", ["transpose_shuffle", "transpose_wmma", "wmma_matmul", "mlp"])
def test_an_example_agrees_with_numpy(name: str) -> None:
    with amdjit.simulate():
        outcome = importlib.import_module(f"amdjit.examples.{name}").main()
    for report in outcome if isinstance(outcome, list) else [outcome]:
        assert report.largest_error <= report.tolerance


@amdjit.kernel
def shifted(a, b):
    i = amdjit.threadIdx.x
    a[i] = b[i] + 1


def test_arrays_of_the_device_that_share_memory_are_written() -> None:
    array = amdjit.to_device(np.array([0, 9, 9, 9, 9, 5, 6, 7], np.float32))
    with amdjit.simulate():
        shifted[1, 4](array[1:5], array[:4])
    # In the order of the work-items, each reads what the one before has written.
    np.testing.assert_array_equal(array.copy_to_host(), [0, 1, 2, 3, 4, 5, 6, 7])


@amdjit.kernel
def in_order(x):
    print(amdjit.blockIdx.x, amdjit.threadIdx.x, "before")
    amdjit.syncthreads()
    print(amdjit.blockIdx.x, amdjit.threadIdx.x, "after", repr(x[0]))


def test_work_items_run_one_by_one_in_the_order_of_their_ids(capsys: Any) -> None:
    with amdjit.simulate():
        in_order[2, 2](np.array([0.1], np.float16))
    expected = [
        f"{group} {item} {when}"
        for group in range(2)
        for when in ("before", "after f16(0.1)")
        for item in range(2)
    ]
    assert capsys.readouterr().out.splitlines() == expected


@amdjit.kernel
def diverging(out):
    t = amdjit.threadIdx.x
    if t < 40:
        amdjit.syncthreads()
    out[t] = t


def test_a_barrier_does_not_wait_for_work_items_that_pass_it_by() -> None:
    both(diverging, 1, 64, np.zeros(64, np.int32))


@amdjit.kernel
def meets_nobody(out):
    t = amdjit.threadIdx.x
    if t < 40:
        amdjit.syncthreads()
    else:
        cooperative_groups.this_grid().sync()
    out[t] = t


def test_work_items_that_wait_at_different_barriers_are_a_fault_with_their_lines() -> None:
    with amdjit.simulate(), pytest.raises(KernelFault) as caught:
        meets_nobody.launch(1, 64, cooperative=True)(np.zeros(64, np.int32))
    first = meets_nobody.function.__code__.co_firstlineno
    assert caught.value.kind == "barrier"
    assert caught.value.source_line in (first + 4, first + 6)


@amdjit.kernel
def checked(x, where):
    t = amdjit.threadIdx.x
    amdjit.syncthreads()
    if where == 0:
        assert x[t] < 5, "too large"
    elif where == 1:
        x[t + 3] = 1
    elif where == 2:
        x[t] = amdgcn.update_dpp(1, 2, 3, 15, 15, True)
    elif where == 3:
        memory.buffer(x)
    amdjit.syncthreads()


@pytest.mark.parametrize(
    ("where", "kind", "error", "thread", "line"),
    [
        (0, "assert", AssertionError, 5, 5),
        (1, "index", IndexError, 5, 7),
        (2, "unsupported", KernelFault, 0, 9),
        (3, "unsupported", KernelFault, 0, 11),
    ],
)
def test_what_a_work_item_raises_is_a_fault_with_its_place(
    where: int, kind: str, error: type, thread: int, line: int
) -> None:
    with amdjit.simulate(), pytest.raises(KernelFault) as caught:
        checked[1, 8](np.arange(8, dtype=np.int32), where)
    fault = caught.value
    assert isinstance(fault, error)
    assert (fault.kind, fault.thread) == (kind, (thread, 0, 0))
    assert fault.source_line == checked.function.__code__.co_firstlineno + line
    if kind == "unsupported":
        assert "run the kernel on the emulator" in str(fault)


def test_launches_are_checked_as_others_are() -> None:
    x = np.zeros(4, np.float32)
    with amdjit.simulate():
        with pytest.raises(LaunchError, match="takes 2 arguments"):
            shifted[1, 4](x)
        with pytest.raises(LaunchError, match="2048 work-items"):
            shifted[1, 2048](x, x)
        with pytest.raises(LaunchError, match="argument b of shifted is a object"):
            shifted[1, 4](x, object())


def test_what_only_compiled_launches_have_is_refused() -> None:
    x = amdjit.to_device(np.zeros(4, np.float32))
    with amdjit.simulate():
        with pytest.raises(LaunchError, match="an array of complex64"):
            shifted[1, 4](np.zeros(4, np.complex64), x)
        with pytest.raises(LaunchError, match=r"amdjit\.debug"):
            amdjit.debug(shifted[1, 4], x, x)
        with pytest.raises(LaunchError, match="bind"):
            shifted[1, 4].bind(x, x)
        with amdjit.sanitize("memory"), pytest.raises(LaunchError, match="checks, profiles"):
            shifted[1, 4](x, x)
        with amdjit.Stream().capture(), pytest.raises(LaunchError, match="a graph"):
            shifted[1, 4](x, x)


@amdjit.kernel
def complexes(x, which):
    if which == 0:
        x[0] = (1j * x[0]).real
    elif which == 1:
        x[0] = complex(x[0], 1).real
    elif which == 2:
        x[0] = np.complex64(x[0]).imag
    else:
        x[0] = (x[0] + COMPLEX[0]).real


COMPLEX = np.ones(1, np.complex64)


@pytest.mark.parametrize("which", range(4))
def test_complex_numbers_are_refused_by_name(which: int) -> None:
    with amdjit.simulate(), pytest.raises(KernelFault, match="complex") as caught:
        complexes[1, 1](np.ones(1, np.float32), which)
    assert caught.value.kind == "unsupported"
    assert caught.value.source_line == complexes.function.__code__.co_firstlineno + 3 + 2 * which


def test_amdjits_own_algorithms_run_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulated_launches, "launch", None)
    with amdjit.simulate():
        assert amdjit.reduce(operator.add, np.arange(5000, dtype=np.int32)) == 5000 * 4999 // 2


@amdjit.kernel
def spinning(flag, out):
    t = amdjit.threadIdx.x
    if t == 0:
        while atomic.load(flag, 0) == 0:
            sync.sleep(1)
        out[0] = 7
    if t == 40:
        atomic.store(flag, 0, 1)


def test_a_work_item_that_sleeps_gives_others_their_turn() -> None:
    both(spinning, 1, 64, np.zeros(1, np.int32), np.zeros(1, np.int32))


@amdjit.kernel
def waits_for_a_later_workgroup(flag, out):
    if amdjit.blockIdx.x == 0:
        while atomic.load(flag, 0) == 0:
            sync.sleep(1)
        out[0] = 1
    elif amdjit.blockIdx.x == 2:
        atomic.exch(flag, 0, 1)


def test_a_workgroup_that_sleeps_lets_later_ones_begin() -> None:
    both(waits_for_a_later_workgroup, 3, 1, np.zeros(1, np.int32), np.zeros(1, np.int32))
