"""assert, raise, print and index checks: what they tell the host, and that they leave everything else as it was."""

from __future__ import annotations

import inspect
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amdjit
from amdjit.reports import Field, format_value
from amdjit.types import bf16, boolean, f16, f32, f64, i8, i32, i64, u32, u64


def line_of(function: Any, text: str) -> int:
    """The number of the line of a function that holds a text."""
    lines, first = inspect.getsourcelines(getattr(function, "function", function))
    return first + next(number for number, line in enumerate(lines) if text in line)


def fault_of(launch: Any, *arguments: Any) -> amdjit.KernelFault:
    with pytest.raises(amdjit.KernelFault) as caught:
        launch(*arguments)
    return caught.value


@amdjit.kernel
def positive(x, out):
    i = amdjit.grid(1)
    assert x[i] > 0.0, f"x[{i}] is {x[i]:.2f}"
    out[i] = x[i] + 1.0


def test_an_assertion_reaches_the_host_with_its_place() -> None:
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
    x[37] = -2.5
    fault = fault_of(positive[2, 32], x, out)
    assert (fault.kind, fault.detail) == ("assert", "x[37] is -2.50")
    assert (fault.block, fault.thread, fault.lane) == ((1, 0, 0), (5, 0, 0), 5)
    assert fault.source_file == __file__
    assert fault.source_line == line_of(positive, "assert")
    assert str(fault).startswith("positive: AssertionError: x[37] is -2.50 (block (1, 0, 0), thread (5, 0, 0))\n")


def test_host_arrays_are_as_before_and_the_next_launch_works() -> None:
    x, out = np.ones(32, np.float32), np.full(32, 7, np.float32)
    x[3] = 0
    fault_of(positive[1, 32], x, out)
    assert out.tolist() == [7] * 32
    x[3] = 1
    positive[1, 32](x, out)
    assert out.tolist() == [2] * 32


def test_other_waves_finish_and_the_first_failing_lane_is_named() -> None:
    x = amdjit.to_device(np.repeat(np.array([1, -1, 1, 1], np.float32), 32))
    out = amdjit.to_device(np.zeros(128, np.float32))
    assert fault_of(positive[1, 128], x, out).thread == (32, 0, 0)
    assert out.copy_to_host().tolist() == [2] * 32 + [0] * 32 + [2] * 64


@amdjit.kernel
def barrier_behind(x):
    i = amdjit.threadIdx.x
    if i == 40:
        raise ValueError("no forty")
    amdjit.syncthreads()
    x[i] = i


def test_raise_with_waves_at_a_barrier() -> None:
    x = amdjit.to_device(np.full(96, -1, np.int32))
    fault = fault_of(barrier_behind[1, 96], x)
    assert (fault.kind, fault.detail, fault.thread) == ("raise", "ValueError: no forty", (40, 0, 0))
    assert fault.source_line == line_of(barrier_behind, "raise")
    assert x.copy_to_host().tolist() == [*range(32), *[-1] * 32, *range(64, 96)]


@amdjit.device_function
def root(value, what):
    assert value >= 0, what
    return value * 0.5


@amdjit.device_function
def both(a, b):
    return root(a, "first") + root(b, "second")


@amdjit.kernel
def through_calls(x, out):
    i = amdjit.grid(1)
    out[i] = both(x[i], 1.0)
    out[i] += both(
        1.0,
        x[i + 1],
    )


@pytest.mark.parametrize("inline", [True, False])
def test_an_assertion_in_a_helper_shows_the_calls(inline: bool) -> None:
    kernel = amdjit.kernel(inline=inline)(through_calls.function)
    x, out = np.ones(33, np.float32), np.zeros(32, np.float32)
    x[32] = -1
    fault = fault_of(kernel[1, 32], x, out)
    assert (fault.source_line, fault.detail) == (line_of(root.function, "assert"), "second")
    calls = [line.rpartition(": ")[2] for line in str(fault).splitlines() if "called from" in line]
    assert calls == ["return root(a, 'first') + root(b, 'second')".replace("'", '"'), "out[i] += both("]
    x[:] = -1
    fault = fault_of(kernel[1, 32], x, out)
    assert fault.detail == "first"
    assert f"called from through_calls at {__file__}:{line_of(through_calls, 'both(x[i]')}" in str(fault)


@amdjit.device_function
def checked_root(x):
    if x < 0:
        raise ArithmeticError
    return x * 0.5


@amdjit.kernel
def raising_helper(x):
    i = amdjit.grid(1)
    x[i] = checked_root(x[i])


def test_raise_at_the_end_of_a_way_needs_no_value() -> None:
    x = np.array([1, 4, -1, 2], np.float32)
    assert fault_of(raising_helper[1, 4], x).detail == "ArithmeticError"
    x[2] = 0
    raising_helper[1, 4](x)
    assert x.tolist() == [0.5, 2, 0, 1]


@amdjit.kernel
def in_a_loop(x, n):
    i = amdjit.grid(1)
    for k in range(n):
        if x[i] > 100:
            raise OverflowError(f"round {k}")
        x[i] = x[i] * 2
    assert n < 20


def test_a_fault_in_a_loop_ends_it_at_once() -> None:
    x = np.ones(32, np.int64)
    in_a_loop[1, 32](x, 7)
    assert x.tolist() == [128] * 32
    assert fault_of(in_a_loop[1, 32], np.ones(32, np.int64), 2**31 - 1).detail == "OverflowError: round 7"
    assert fault_of(in_a_loop[1, 32], np.zeros(32, np.int64), 20).detail == ""


def with_statements(x):
    i = amdjit.grid(1)
    assert x[i] == x[i], f"NaN at {i}"
    if x[i] < 0:
        raise ValueError("negative")
    x[i] = x[i] + 1.0


def machine_code(function: Any, **options: Any) -> bytes:
    compiled = amdjit.kernel(**options)(function).compile(amdjit.f32[:])
    return compiled.linked.code(compiled.linked.kernels[compiled.name])


def test_asserts_false_is_the_code_without_them() -> None:
    with_code = with_statements

    def without_statements(x):
        i = amdjit.grid(1)
        if x[i] < 0:
            pass
        x[i] = x[i] + 1.0

    plain = machine_code(without_statements)
    assert machine_code(with_code, asserts=False) == plain
    assert len(machine_code(with_code)) > len(plain)
    kernel = amdjit.kernel(asserts=False)(with_code)
    assert kernel.compile(amdjit.f32[:]).reports is None
    x = np.array([np.nan, -1, 2], np.float32)
    kernel[1, 3](x)
    assert np.isnan(x[0])
    assert x[1:].tolist() == [0, 3]


def test_index_checks_off_cost_nothing() -> None:
    def plain(x):
        x[amdjit.grid(1)] = 1.0

    assert machine_code(plain, bounds_check=False) == machine_code(plain)
    assert len(machine_code(plain, bounds_check=True)) > len(machine_code(plain))


def test_a_helper_that_raises_ends_its_wave_in_silence_without_asserts() -> None:
    kernel = amdjit.kernel(asserts=False)(raising_helper.function)
    x = amdjit.to_device(np.array([1] * 32 + [-1] * 32, np.float32))
    kernel[2, 32](x)
    assert x.copy_to_host().tolist() == [0.5] * 32 + [-1] * 32


@amdjit.kernel(bounds_check=True)
def matrix_access(a, row, column, out):
    out[0] = a[row, column]


def test_a_bad_index_names_array_index_and_shape() -> None:
    a, out = np.arange(12, dtype=np.float32).reshape(3, 4), np.zeros(1, np.float32)
    for row in range(-1, 4):
        for column in range(-1, 5):
            if 0 <= row < 3 and 0 <= column < 4:
                matrix_access[1, 1](a, row, column, out)
                assert out[0] == a[row, column]
                continue
            fault = fault_of(matrix_access[1, 1], a, row, column, out)
            assert (fault.kind, fault.array, fault.index, fault.shape) == ("index", "a", (row, column), (3, 4))
            assert fault.detail == f"index ({row}, {column}) is outside of `a`, whose shape is (3, 4)"
    strided = fault_of(matrix_access[1, 1], a.T[::2], 2, 0, out)
    assert strided.shape == (2, 3)


@amdjit.kernel(bounds_check=True)
def all_accesses(a, i, which):
    tile = amdjit.shared.array(8, amdjit.f32)
    mine = amdjit.local.array((2, 2), amdjit.f32)
    if which == 0:
        a[i] += 1.0
    elif which == 1:
        a.store(i, a.load(0, 4))
    elif which == 2:
        a[0] = a.load(i, 4)[0]
    elif which == 3:
        amdjit.atomic.add(a, i, amdjit.f32(1.0))
    elif which == 4:
        tile[i] = 1.0
    elif which == 5:
        mine[1, i] = 1.0
    a[i] = tile[0] + mine[1, 1]


@pytest.mark.parametrize(
    ("which", "array", "limit"),
    [(0, "a", 16), (1, "a", 13), (2, "a", 13), (3, "array", 16), (4, "tile", 8), (5, "mine", 2)],
)
def test_every_kind_of_access_is_checked(which: int, array: str, limit: int) -> None:
    a = np.zeros(16, np.float32)
    all_accesses[1, 1](a, 0, which)
    fault = fault_of(all_accesses[1, 1], a, limit, which)
    assert fault.array == array
    assert fault.source_file == __file__
    assert fault.index is not None
    assert fault.index[-1] == limit
    assert fault_of(all_accesses[1, 1], a, -1, which).index[-1] == -1  # type: ignore[index]


def test_debug_mode_checks_indices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMDJIT_DEBUG", "1")

    def outside(x):
        x[amdjit.grid(1)] = 1.0

    assert fault_of(amdjit.kernel(outside)[1, 32], np.zeros(31, np.float32)).kind == "index"
    assert fault_of(amdjit.kernel(bounds_check=False)(outside)[1, 32], np.zeros(31, np.float32)).kind == "out-of-bounds"


@amdjit.kernel
def printing(x, v: amdjit.f32x2):
    i = amdjit.grid(1)
    print("lane", i, x[i])
    if i % 2 == 1:
        print(f"{i:3d}|{x[i]:8.3f}|{x[i]:e}|{i:#x}", x.shape, sep=" - ", end=";\n")
    print(v, (i, x[i] > 1.0), 3, 0.1, "text", None)


def test_print_is_pythons_by_block_wave_and_lane(capsys: pytest.CaptureFixture[str]) -> None:
    x = np.arange(96, dtype=np.float32) * np.float32(0.1)
    printing[(3, 1), 32](x, np.array([1.5, -2], np.float32))
    expected = []
    for block in range(3):
        lanes = range(32 * block, 32 * block + 32)
        expected += [f"lane {i} {x[i]!s}" for i in lanes]
        expected += [f"{i:3d}|{float(x[i]):8.3f}|{float(x[i]):e}|{i:#x} - (96,);" for i in lanes if i % 2]
        expected += [f"(1.5, -2.0) ({i}, {x[i] > 1}) 3 0.1 text None" for i in lanes]
    assert capsys.readouterr().out.splitlines() == expected


def test_prints_in_a_loop_keep_the_order_of_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    @amdjit.kernel
    def count(n):
        i = amdjit.threadIdx.x
        for k in range(n):
            if i < 2:
                print(i, k)

    count[1, 64](3)
    assert capsys.readouterr().out == "0 0\n1 0\n0 1\n1 1\n0 2\n1 2\n"


def test_what_does_not_fit_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    @amdjit.kernel(print_buffer=24 * 64)
    def much(n):
        for k in range(n):
            print(k)

    much[1, 32](5)
    *lines, last = capsys.readouterr().out.splitlines()
    assert lines == ["0"] * 32 + ["1"] * 32
    assert last.startswith("... and 96 more from much, for which 1536 bytes had no room: @amdjit.kernel(print_buffer=")


def test_what_was_printed_before_a_fault_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    @amdjit.kernel
    def fails(x):
        print("before")
        x[amdjit.threadIdx.x + 2**20] = 1.0

    assert fault_of(fails[1, 1], np.zeros(4, np.float32)).kind == "out-of-bounds"
    assert capsys.readouterr().out == "before\n"

    @amdjit.kernel
    def asserts(x):
        print("before")
        assert x[0] > 0
        print("behind")

    assert fault_of(asserts[1, 1], np.zeros(4, np.float32)).kind == "assert"
    assert capsys.readouterr().out == "before\n"


TYPES = (boolean, i8, u32, i32, i64, u64, f16, bf16, f32, f64)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(TYPES), st.data())
def test_values_come_back_as_they_were(kind: amdjit.types.Scalar, data: st.DataObject) -> None:
    if kind.is_float:
        value = data.draw(st.floats(width=16))
        assert str(np.dtype(kind.dtype).type(value)) == Field(kind).text(words_of(kind, value))
        spec = data.draw(st.sampled_from([".3f", "e", "10.4g", "+.1%", ""]))
        given_value = np.dtype(kind.dtype).type(value)
        assert Field(kind, spec).text(words_of(kind, value)) == format_value(given_value, spec, "")
        assert not spec or Field(kind, spec).text(words_of(kind, value)) == format(float(given_value), spec)
        return
    integer = data.draw(st.booleans() if kind is boolean else st.integers(kind.minimum, kind.maximum))
    assert Field(kind).value(words_of(kind, integer)) == integer
    spec = data.draw(st.sampled_from(["", "d", "5", "x", "#b", ",", ">12"]))
    assert Field(kind, spec).text(words_of(kind, integer)) == format(integer, spec)


def words_of(kind: amdjit.types.Scalar, value: Any) -> list[int]:
    raw = np.array([value], kind.dtype).tobytes().ljust(8, b"\0")
    return np.frombuffer(raw, np.uint32)[: Field(kind).words].tolist()


def test_every_type_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    @amdjit.kernel
    def show(a, b, c, d, e, f, g, h):
        print(a[0], b[0], c[0], d[0], e[0], f[0], g[0], h[0])

    types = [np.bool_, np.int8, np.uint32, np.int64, np.uint64, np.float16, np.float32, np.float64]
    values = [True, -128, 2**32 - 1, -(2**63), 2**64 - 1, 0.1, 0.1, 0.1]
    show[1, 1](*(np.array([value], kind) for kind, value in zip(types, values, strict=True)))
    expected = " ".join(str(kind(value)) for kind, value in zip(types, values, strict=True))
    assert capsys.readouterr().out == expected + "\n"


def saxpy(a: amdjit.f32, x: amdjit.f32[:], y: amdjit.f32[:]):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        y[i] = a * x[i] + y[i]


def saxpy_with_assert(a: amdjit.f32, x: amdjit.f32[:], y: amdjit.f32[:]):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        assert x[i] == x[i], f"NaN at {i}"
        y[i] = a * x[i] + y[i]


def saxpy_with_print(a: amdjit.f32, x: amdjit.f32[:], y: amdjit.f32[:]):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        print(i, x[i])
        y[i] = a * x[i] + y[i]


def test_the_documented_costs_are_measured() -> None:
    page = (Path(__file__).parents[2] / "docs/language.md").read_text()
    plain = amdjit.kernel(saxpy).compile().resources
    for what, function, options in (
        ('`assert x[i] == x[i], f"NaN at {i}"`', saxpy_with_assert, {}),
        ("`print(i, x[i])`", saxpy_with_print, {}),
        ("`bounds_check=True`, for its three accesses", saxpy, {"bounds_check": True}),
        ('`assert x[i] == x[i], f"NaN at {i}"` with `asserts=False`', saxpy_with_assert, {"asserts": False}),
    ):
        found = amdjit.kernel(**options)(function).compile().resources
        row = f"| {what} | {found.vgprs - plain.vgprs} | {found.instructions - plain.instructions} |"
        assert row in page, row


@pytest.mark.parametrize("denormals", ["preserve", "flush"])
def test_denormals(denormals: str) -> None:
    @amdjit.kernel(denormals=denormals)
    def halve(x):
        i = amdjit.grid(1)
        x[i] = x[i] * 0.5

    x = np.array([1.5e-38, 1.0, -2e-38], np.float32)
    halve[1, 3](x)
    expected = np.array([1.5e-38, 1.0, -2e-38], np.float32) * np.float32(0.5)
    assert x.tolist() == ([0, 0.5, 0] if denormals == "flush" else expected.tolist())


def test_inline_unroll_and_max_block() -> None:
    @amdjit.kernel
    def loop(x, n):
        for k in range(n):
            x[k] = through(x[k])

    def asm(**options: Any) -> str:
        return loop.compile(amdjit.f32[:], amdjit.i32, **options).asm

    assert "s_swappc_b64" in asm(inline=False)
    assert "s_swappc_b64" not in asm(inline=True)
    assert asm(unroll=8).count("_sqrt_f32") > asm(unroll=1).count("_sqrt_f32") > 0
    compiled = loop.compile(amdjit.f32[:], amdjit.i32, max_block=96)
    assert compiled.linked.kernels["loop"].metadata.max_flat_workgroup_size == 96
    with pytest.raises(amdjit.AmdjitError, match="max_block"):
        amdjit.kernel(max_block=(8, 8))(loop.function)
    x = np.array([4, 9, 16], np.float32)
    amdjit.kernel(inline=False, unroll=4, max_block=32)(loop.function)[1, 1](x, 3)
    assert x.tolist() == [2, 3, 4]


@amdjit.device_function
def through(x):
    return math.sqrt(x)
