"""amdjit's larger examples, built, compiled by gcc, run on the stand-in, against NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from amdjit.command_line import main
from tests.ahead_of_time.standin_programs import compile_c, needs_standin, run_programs

pytestmark = [needs_standin, pytest.mark.exhaustive]

EXAMPLES = Path(__file__).parents[2] / "examples"


def pattern(*shape: int) -> np.ndarray:
    """What the example fills arrays with."""
    return np.array((np.arange(np.prod(shape)) % 7 - 3).reshape(shape))


def run_example(
    folder: Path, name: str, signature: str, output: str, **settings: object
) -> list[str]:
    """Build an example's kernel, run its main.c with these macros, and return the array."""
    kernel = f"{EXAMPLES / name}.py:{name}"
    arguments = ["--signature", signature, "--target", "gfx1201,gfx1100", "--embed"]
    assert main(["build", kernel, *arguments, "-o", str(folder)]) == 0
    flags = [f"-D{key}={value}" for key, value in {**settings, "SHOWN": 10**6}.items()]
    program = compile_c(folder / "program.so", sorted(folder.glob("*.c")), *flags)
    printed = run_programs({name: program}, folder)[name]
    assert printed.endswith("exit 0\n"), printed
    (line,) = (line for line in printed.splitlines() if line.startswith(f"{output}:"))
    return line.split()[1:]


def shapes(**arrays: tuple[int, ...]) -> dict[str, int]:
    """The macros of arrays' extents."""
    return {
        f"{name}_EXTENT{axis}": extent
        for name, shape in arrays.items()
        for axis, extent in enumerate(shape)
    }


def test_perf_hgemm(tmp_path: Path) -> None:
    m, n, k = 256, 128, 160
    extents = shapes(A=(m, k), B=(n, k), C=(m, n), D=(m, n))
    signature = "f16[:,:],f16[:,:],f16[:,:],f16[:,:],f32,f32"
    found = run_example(tmp_path, "perf_hgemm", signature, "d", GRID_X=1, GRID_Y=2, **extents)
    a, b, c = pattern(m, k), pattern(n, k), pattern(m, n)
    expected = (2 * (a @ b.T) + 2 * c).astype(np.float16)
    np.testing.assert_array_equal(np.array(found, np.float32), expected.ravel())


def test_i8_gemm(tmp_path: Path) -> None:
    m, n, k = 128, 256, 64
    extents = shapes(A=(m, k), B=(n, k), C=(m, n), D=(m, n))
    signature = "i8[:,:],i8[:,:],i8[:,:],i8[:,:],relu,(i32,)"
    found = run_example(
        tmp_path, "i8_gemm", signature, "d", GRID_X=2, GRID_Y=1, PARAMETERS_ITEM0_VALUE=4, **extents
    )
    total = pattern(m, k) @ pattern(n, k).T
    expected = np.clip((np.maximum(total, 0) >> 4) + pattern(m, n), -128, 127)
    np.testing.assert_array_equal(np.array(found, int), expected.ravel())


def test_flash_attention(tmp_path: Path) -> None:
    heads, queries, keys, depth = 2, 72, 104, 64
    query_shape, key_shape = (heads, queries, depth), (heads, keys, depth)
    extents = shapes(Q=query_shape, K=key_shape, V=key_shape, OUT=query_shape)
    signature = "f16[:,:,:],f16[:,:,:],f16[:,:,:],f16[:,:,:],f32,False"
    scale = 1 / 64
    found = run_example(
        tmp_path, "flash_attention", signature, "out", GRID_X=2, GRID_Y=heads,
        SCALE_VALUE=scale * np.log2(np.e), **extents,
    )  # fmt: skip
    q, k = pattern(*query_shape).astype(float), pattern(*key_shape).astype(float)
    scores = q @ k.swapaxes(1, 2) * scale
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    expected = weights @ k / weights.sum(axis=2, keepdims=True)
    np.testing.assert_allclose(np.array(found, float), expected.ravel(), rtol=0.01, atol=0.005)
