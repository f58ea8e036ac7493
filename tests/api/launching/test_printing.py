"""print in kernels: Python's text, in the order of blocks, waves and lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amdjit
from amdjit.abi.reports import Field, format_value
from amdjit.types import bf16, boolean, f16, f32, f64, i8, i32, i64, u32, u64


def fault_of(launch: Any, *arguments: Any) -> amdjit.KernelFault:
    with pytest.raises(amdjit.KernelFault) as caught:
        launch(*arguments)
    return caught.value


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
        expected += [
            f"{i:3d}|{float(x[i]):8.3f}|{float(x[i]):e}|{i:#x} - (96,);" for i in lanes if i % 2
        ]
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
    assert last.startswith(
        "... and 96 more from much, for which 1536 bytes had no room: @amdjit.kernel(print_buffer="
    )


def test_what_was_printed_before_a_fault_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    @amdjit.kernel
    def fails(x):
        print("before")
        x[amdjit.threadIdx.x + 8] = 1.0  # in the gap after the array, where no allocation can be

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
        assert not spec or Field(kind, spec).text(words_of(kind, value)) == format(
            float(given_value), spec
        )
        return
    integer = data.draw(
        st.booleans() if kind is boolean else st.integers(kind.minimum, kind.maximum)
    )
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


def test_later_launches_use_the_records_of_earlier_ones(capsys: pytest.CaptureFixture[str]) -> None:
    @amdjit.kernel
    def maybe(n):
        if n > 3:
            print("n is", n)
        assert n < 6

    device = amdjit.current_device()
    maybe[1, 1](1)
    used = device.memory_used
    for n in (2, 4, 1, 5, 3):
        maybe[1, 1](n)
        assert device.memory_used == used
    assert capsys.readouterr().out == "n is 4\nn is 5\n"
    for _ in range(2):
        with pytest.raises(amdjit.KernelFault, match="AssertionError"):
            maybe[1, 1](7)
        assert capsys.readouterr().out == "n is 7\n"
        maybe[1, 1](1)
        assert (device.memory_used, capsys.readouterr().out) == (used, "")


@pytest.mark.parametrize("axes", ["threadIdx", "blockIdx", "blockDim", "gridDim"])
def test_indices_and_sizes_print_as_three_numbers(
    axes: str, capsys: pytest.CaptureFixture[str]
) -> None:
    coordinates = getattr(amdjit, axes)

    @amdjit.kernel
    def shows():
        print(coordinates, f"{coordinates}")

    grid, block = (2, 1, 2), (2, 3, 1)
    shows[grid, block]()
    expected = []
    for z, y, x in np.ndindex(*grid[::-1]):
        for c, b, a in np.ndindex(*block[::-1]):
            values = {"threadIdx": (a, b, c), "blockIdx": (x, y, z)}
            values |= {"blockDim": block, "gridDim": grid}
            expected.append(f"{values[axes]} {values[axes]}")
    assert capsys.readouterr().out.splitlines() == expected
