"""WMMA of gfx11 as native functions: on registers in memory, against captures of a W7900 and the
scalar model."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from amdjit.emulator.host.jit import HostCompiler
from amdjit.emulator.instructions.matrix.layouts import Matrix
from amdjit.emulator.instructions.matrix.repeated import repeated_matrices, repeated_text
from tests import complement_model
from tests.captures import bits, capture
from tests.emulator.host_processors import HOSTS
from tests.emulator.silicon_samples import CASES, factor_pair, registers

Registers = NDArray[np.uint32]
MATRICES = list(repeated_matrices())
FLOATS = [each for each in MATRICES if not each.is_integer]
INTEGERS = [each for each in MATRICES if each.is_integer]
MODES = {"clamps": "overflows", "half": "takes_halves"}


@cache
def compiled(matrix: Matrix, host: str = "") -> tuple[Any, Any]:
    """Return a product's function, and what keeps it alive."""
    compiler = HostCompiler(host, HOSTS[host]) if host else HostCompiler()
    made = compiler.compile(repeated_text(matrix, compiler.function_attributes))
    code = compiler.link([made.image], {}, [matrix.symbol])
    halves = matrix.wave_size // 32
    flags = sum(getattr(matrix, has) for has in MODES.values())
    types = [ctypes.c_void_p] * 4 * halves + [ctypes.c_int32] * flags
    return ctypes.CFUNCTYPE(None, *types)(code.addresses[matrix.symbol]), code


def product(matrix: Matrix, a: Registers, b: Registers, c: Registers, d: Registers | None = None,
            host: str = "", **modes: int) -> Registers:  # fmt: skip
    """Return the registers of D, [registers, lanes], for those of A, B and C; `d`: D before."""
    function, _ = compiled(matrix, host)
    parts = []
    for given in (np.zeros_like(c) if d is None else d, a, b, c):
        for half in range(matrix.wave_size // 32):
            raw = np.zeros(given.shape[0] * 32 + 16, np.uint32)
            start = -raw.ctypes.data % 64 // 4
            held = raw[start : start + given.shape[0] * 32].reshape(-1, 32)
            held[...] = given[:, 32 * half : 32 * half + 32]
            parts.append(held)
    flags = [modes.get(name, 0) for name, has in MODES.items() if getattr(matrix, has)]
    function(*(part.ctypes.data for part in parts), *flags)
    return np.concatenate(parts[: matrix.wave_size // 32], axis=1)


def element(words: Registers, lane: int, index: int, width: int) -> int:
    dword, part = divmod(index, 32 // width)
    return int(words[dword, lane]) >> part * width & (1 << width) - 1


def factors(matrix: Matrix, words: Registers, lane: int, width: int) -> list[int]:
    return [element(words, lane, k, width) for k in range(16)]


def expected(matrix: Matrix, a: Registers, b: Registers, c: Registers, d: Registers,
             clamps: int = 0, half: int = 0) -> Registers:  # fmt: skip
    """Return what the scalar model makes of registers of floats."""
    groups, found = matrix.wave_size // 16, d.copy()
    for row, column in np.ndindex(16, 16):
        group, place = row % groups, row // groups
        lane = 16 * group + column
        left = factors(matrix, a, 16 * group + row, 16)
        right = factors(matrix, b, lane, 16)
        word = int(c[place, lane])
        added = word >> 16 * half & 0xFFFF if matrix.takes_halves else word
        value = complement_model.chain(left, right, added, matrix.a, matrix.result, bool(clamps))
        if matrix.takes_halves:
            value = int(d[place, lane]) & ~(0xFFFF << 16 * half) | value << 16 * half
        found[place, lane] = value
    return found


def name_of(matrix: Matrix) -> str:
    return matrix.symbol


@pytest.mark.sample(3)
@pytest.mark.parametrize("matrix", FLOATS, ids=name_of)
def test_random_products_are_the_models(matrix: Matrix) -> None:
    """The copies of A and B differ between the rows of lanes; the other halves of D stay."""
    random = np.random.default_rng(5)
    lanes, results = matrix.wave_size, matrix.result_dwords
    for number, case in enumerate(CASES[::2] if matrix.wave_size == 32 else CASES[::6]):
        a, b = factor_pair(random, matrix.a, matrix.a, case[0], (8, 8), lanes)
        c = registers(random, matrix.result, case[1], results, lanes)
        d = random.integers(0, 1 << 32, c.shape, np.uint32)
        modes = {"clamps": number % 2, "half": number // 2 % 2}
        found = product(matrix, a, b, c, d, **modes)
        wanted = expected(matrix, a, b, c, d, **modes)
        np.testing.assert_array_equal(found, wanted, err_msg=str(case))


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("matrix", FLOATS, ids=name_of)
def test_many_random_products_are_the_models(matrix: Matrix, seed: int) -> None:
    random = np.random.default_rng(100 + seed)
    for number, case in enumerate(CASES):
        a, b = factor_pair(random, matrix.a, matrix.a, case[0], (8, 8), matrix.wave_size)
        c = registers(random, matrix.result, case[1], matrix.result_dwords, matrix.wave_size)
        d = random.integers(0, 1 << 32, c.shape, np.uint32)
        modes = {"clamps": number % 2, "half": number // 2 % 2}
        wanted = expected(matrix, a, b, c, d, **modes)
        np.testing.assert_array_equal(product(matrix, a, b, c, d, **modes), wanted)


@pytest.mark.exhaustive
@pytest.mark.parametrize("host", ["haswell", "ivybridge"])
@pytest.mark.parametrize("matrix", FLOATS[:4], ids=name_of)
def test_other_hosts_compute_the_same(matrix: Matrix, host: str) -> None:
    random = np.random.default_rng(6)
    for case in (("normal", "normal"), ("specials", "specials"), ("tiny", "subnormal")):
        a, b = factor_pair(random, matrix.a, matrix.a, case[0], (8, 8), 32)
        c = registers(random, matrix.result, case[1], 8, 32)
        np.testing.assert_array_equal(product(matrix, a, b, c, host=host), product(matrix, a, b, c))


def repeated(rows: NDArray[Any], lanes: int) -> Registers:
    """Return the registers of 16-bit rows, in every row of lanes."""
    words = np.ascontiguousarray(rows.astype(np.uint16)).view(np.uint32)
    return np.ascontiguousarray(np.tile(words, (lanes // 16, 1)).T)


@pytest.mark.parametrize("number", range(5))
def test_captured_matrices_with_packed_results(number: int) -> None:
    given = capture("packed_wmma")["matrices"][number]
    (taken,) = [each for each in given["captures"] if each["arch"] == "gfx11"]
    a, b, c, d = (
        bits(values, 16)
        for values in (given["a_rows"], given["b"], given["c_rows"], taken["d_rows"])
    )
    kind = given["format"]
    for wave_size in (32, 64):
        matrix = Matrix(kind, kind, kind, 16, wave_size=wave_size, is_repeated=True)
        groups = wave_size // 16
        left = np.pad(a, ((0, 12), (0, 0)))
        added = np.zeros((16 // groups, wave_size), np.uint32)
        for row, column in np.ndindex(4, 16):
            added[row // groups, 16 * (row % groups) + column] = c[row, column]
        found = product(matrix, repeated(left, wave_size), repeated(b.T, wave_size), added)
        for row, column in np.ndindex(4, 16):
            value = found[row // groups, 16 * (row % groups) + column] & 0xFFFF
            assert value == d[row, column], (wave_size, row, column)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_the_captured_matrix_of_integers(kind: str) -> None:
    place = np.add.outer(16 * np.arange(16), np.arange(16))
    a, b, c = place * 7 % 17 - 8, place * 11 % 17 - 8, place * 13 % 129 - 64
    matrix = Matrix(kind, kind, "f32", 16, is_repeated=True)

    def halves(values: NDArray[Any]) -> NDArray[Any]:
        single = values.astype(np.float32)
        if kind == "f16":
            return single.astype(np.float16).view(np.uint16)
        return (single.view(np.uint32) >> 16).astype(np.uint16)

    added = c.astype(np.float32).view(np.uint32).reshape(8, 32)
    found = product(matrix, repeated(halves(a), 32), repeated(halves(b.T), 32), added)
    for row, column, wanted in capture("float_dot_gfx1100")["matrix"]:
        assert f"{found.reshape(16, 16)[row, column]:#010x}" == wanted, (row, column)


@pytest.mark.sample(12)
@pytest.mark.parametrize("matrix", INTEGERS, ids=name_of)
def test_integers_are_exact_and_saturate_once(matrix: Matrix) -> None:
    random = np.random.default_rng(7)
    lanes, width, groups = matrix.wave_size, int(matrix.a[1:]), matrix.wave_size // 16
    a, b = (random.integers(0, 1 << 32, (width // 2, lanes), np.uint32) for _ in range(2))
    c = random.choice(
        np.array([0, 0x7FFFFFFF, 0x80000000, 0xFFFFFF00, 0x7FFFFF00], np.uint32),
        (matrix.result_dwords, lanes),
    )
    found = product(matrix, a, b, c)
    for row, column in np.ndindex(16, 16):
        group = row % groups
        lane = 16 * group + column
        x, y = factors(matrix, a, 16 * group + row, width), factors(matrix, b, lane, width)
        if matrix.a[0] == "i":
            x = [signed(value, width) for value in x]
        if matrix.b[0] == "i":
            y = [signed(value, width) for value in y]
        total = signed(int(c[row // groups, lane]), 32)
        total += sum(p * q for p, q in zip(x, y, strict=True))
        if matrix.clamp:
            total = min(max(total, -(1 << 31)), (1 << 31) - 1)
        assert int(found[row // groups, lane]) == total & 0xFFFFFFFF


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> width - 1 else value
