"""What was built, compiled by a C compiler and run on the stand-in for HIP, against NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from amdjit import bf16, f16, f32, f64, fp8, i8, i32, i64, u8
from amdjit.ahead_of_time import build
from amdjit.command_line import parse_signature
from tests.ahead_of_time import built_kernels as kernels
from tests.ahead_of_time.standin_programs import compile_c, needs_standin, run_programs

pytestmark = needs_standin


def pattern(*shape: int) -> NDArray[Any]:
    """What the example fills arrays with."""
    return np.array((np.arange(np.prod(shape)) % 7 - 3).reshape(shape))


@dataclass(frozen=True)
class Case:
    """A kernel that is built and whose example is run. settings: macros of the example."""

    kernel: Any
    types: tuple[Any, ...]
    settings: Mapping[str, object]
    options: Mapping[str, Any] = field(default_factory=dict)


A = {"SHOWN": 1000000}
CASES: dict[str, Case] = {
    "saxpy": Case(kernels.saxpy, (f32, *3 * (f32[:],)), {**A, "A_VALUE": 2.5, "OUT_EXTENT0": 700}),
    "saxpy_embedded": Case(kernels.saxpy, (f64, *3 * (f64[:],)), A, {"embed": True}),
    "transposed": Case(
        kernels.transposed,
        (f32[:, :].with_facts(contiguous=False), f32[:, :]),
        {**A, "X_EXTENT0": 33, "X_EXTENT1": 20, "OUT_EXTENT0": 20, "OUT_EXTENT1": 33},
    ),
    "small_floats": Case(
        kernels.small_floats,
        (f16[:], bf16[:], fp8[:], fp8, f16, f32[:]),
        {**A, "C_VALUE": 1.75, "HS_VALUE": 0.3},
    ),
    "records": Case(
        kernels.records,
        tuple(parse_signature("Line,(u16, i16[:]),3,VERTEX[:],f32x3,f64[:]", vars(kernels))),
        {
            **A,
            "LINE_COUNT_VALUE": 5,
            "LINE_SLOPE_VALUE": 0.5,
            "LINE_START_VALUE": 1.0 / 3,
            "VERTICES_EXTENT0": 6,
        },
    ),
    "reversed_rows": Case(
        kernels.reversed_rows,
        (i32[:, :], i32[:, :]),
        {**A, "GRID_X": 4, "GRID_Y": 1, "X_EXTENT0": 8, "OUT_EXTENT0": 8},
    ),
    "block_sums": Case(
        kernels.block_sums,
        (i8[:], i64[:]),
        {**A, "GRID_X": 3, "BLOCK_X": 128, "DYNAMIC_LDS": 1024, "OUT_EXTENT0": 3},
    ),
    "numbers": Case(
        kernels.numbers, (int, float, f16[:]), {**A, "N_VALUE": 50, "SCALE_VALUE": 0.25}
    ),
    "conversions": Case(
        kernels.conversions,
        (int, float, int, u8[:], i64[:], f16[:], f64[:]),
        {
            **A,
            "N_VALUE": 200,
            "S_VALUE": 2.7,
            **{f"{name}_EXTENT0": 3 for name in ("BYTES_", "LONGS", "HALVES", "DOUBLES")},
        },
    ),
    "product": Case(
        kernels.product,
        (f16[:, :], f16[:, :], f32[:, :]),
        {
            **A,
            "GRID_X": 1,
            "GRID_Y": 1,
            "BLOCK_X": 32,
            "BLOCK_Y": 1,
            **{f"{name}_EXTENT{axis}": 16 for name in "ABC" for axis in (0, 1)},
        },
    ),
    "nothing": Case(kernels.nothing, (), A),
    "words_of_c": Case(kernels.default, (i32, i32, i32, i32[:], i32[:]), A, {"name": "words_of_c"}),
    "bundle": Case(
        kernels.saxpy,
        (f32, *3 * (f32[:],)),
        A,
        {"target": ["gfx1100", "gfx1201", "gfx90a"], "name": "bundle"},
    ),
    "generic": Case(
        kernels.saxpy,
        (f32, *3 * (f32[:],)),
        A,
        {"target": ["gfx11-generic", "gfx12-generic"], "name": "generic"},
    ),
}


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the examples print, each built in a folder of its own."""
    folder = tmp_path_factory.mktemp("built")
    programs = {}
    for name, case in CASES.items():
        place = folder / name
        built = build(case.kernel, *case.types, **case.options)
        built.write(place)
        binary = next(iter(built.files))
        settings = {**case.settings, "CODE_OBJECT": f'"{place / binary}"'}
        if case.options.get("embed"):
            del settings["CODE_OBJECT"]
        flags = [f"-D{key}={value}" for key, value in settings.items()]
        programs[name] = compile_c(folder / f"{name}.so", sorted(place.glob("*.c")), *flags)
    return run_programs(programs, folder)


def arrays_of(text: str) -> dict[str, list[str]]:
    """Return the arrays that a program has printed, by name; it must have ended well."""
    lines = text.splitlines()
    assert lines[-1] == "exit 0", text
    return {
        name: values.split() for name, _, values in (line.partition(":") for line in lines[:-1])
    }


def assert_equal(found: list[str], expected: NDArray[Any]) -> None:
    """Compare printed numbers with an array, exactly."""
    kind = np.float32 if expected.dtype.itemsize < 4 else expected.dtype
    np.testing.assert_array_equal(np.array(found, kind), expected.astype(kind).ravel())


def test_saxpy(printed: dict[str, str]) -> None:
    x = pattern(1024).astype(np.float32)
    assert_equal(arrays_of(printed["saxpy"])["out"], (np.float32(2.5) * x + x)[:700])


def test_the_code_in_the_program_itself(printed: dict[str, str]) -> None:
    x = pattern(1024).astype(np.float64)
    assert_equal(arrays_of(printed["saxpy_embedded"])["out"], 3 * x)


def test_a_strided_array_of_two_axes(printed: dict[str, str]) -> None:
    x = pattern(33, 20).astype(np.float32)
    i, j = np.indices(x.shape)
    assert_equal(arrays_of(printed["transposed"])["out"], (x + 100 * i + j).T)


def test_floats_of_8_and_16_bits(printed: dict[str, str]) -> None:
    found = arrays_of(printed["small_floats"])
    x = pattern(1024).astype(np.float32)
    c, half = np.float32(ml_dtypes.float8_e4m3fn(1.75)), np.float32(np.float16(0.3))
    assert_equal(found["out"], 7 * x + c + half)
    assert_equal(found["h"], x / 2)
    assert_equal(found["b"], x * 3)
    assert_equal(found["e"], x * 2)


def test_records_tuples_vectors_and_constants(printed: dict[str, str]) -> None:
    found = arrays_of(printed["records"])
    i, pair = np.arange(5), pattern(1024)[:5]
    out = pattern(1024).astype(np.float64)
    out[:5] = 0.5 * i + 1.0 / 3 + 2 + pair * 3 + 2
    np.testing.assert_allclose(np.array(found["out"], np.float64), out, rtol=1e-15)
    vertices = np.zeros(6, kernels.VERTEX)
    vertices["x"][:5], vertices["id"][:5], vertices["weight"][:5] = i, i, i / 2
    assert bytes.fromhex("".join(found["vertices"])) == vertices.tobytes()


def test_static_lds_and_an_exact_block(printed: dict[str, str]) -> None:
    x = pattern(8, 64)
    assert_equal(arrays_of(printed["reversed_rows"])["out"], x[:, ::-1])


def test_dynamic_lds(printed: dict[str, str]) -> None:
    x = pattern(1024)[: 3 * 128].reshape(3, 128)
    assert_equal(arrays_of(printed["block_sums"])["out"], x.sum(axis=1))


def test_python_numbers(printed: dict[str, str]) -> None:
    out = pattern(1024).astype(np.float16)
    out[:50] = out[:50] * np.float16(0.25) + np.arange(50, dtype=np.float32)
    assert_equal(arrays_of(printed["numbers"])["out"], out)


def test_python_numbers_as_several_types(printed: dict[str, str]) -> None:
    found = arrays_of(printed["conversions"])
    assert_equal(found["bytes_"], np.array([201, 1, 2], np.uint8))
    assert_equal(found["longs"], np.array([198, -2, 2]))
    halves = np.array([198, -2, np.float16(-2) * np.float16(2.7)], np.float16)
    assert_equal(found["halves"], halves)
    assert_equal(found["doubles"], np.array([198, -2, -2 * 2.7]))


def test_a_product_on_the_matrix_cores(printed: dict[str, str]) -> None:
    x = pattern(16, 16)
    assert_equal(arrays_of(printed["product"])["c"], x @ x)


def test_a_kernel_without_arguments(printed: dict[str, str]) -> None:
    assert arrays_of(printed["nothing"]) == {}


def test_parameters_that_are_words_of_c(printed: dict[str, str]) -> None:
    x = pattern(1024)
    assert_equal(arrays_of(printed["words_of_c"])["x"], 2 + 20 + 200 + 1000 * x)


def test_a_bundle_gives_each_device_its_code(printed: dict[str, str]) -> None:
    x = pattern(1024).astype(np.float32)
    assert_equal(arrays_of(printed["bundle"])["out"], 3 * x)
    assert_equal(arrays_of(printed["generic"])["out"], 3 * x)
