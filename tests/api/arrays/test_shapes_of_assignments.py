"""Assigning to a part of an array, updating one and ufuncs broadcast as NumPy does; shapes that do
not fit are a ValueError that names both."""

from __future__ import annotations

import itertools
import linecache
import re
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32, local, shared

COUNTER = itertools.count()
ROWS = """
o[:] = x[:3]; o[:] = x[:n]; o[:n] = x[:n]; o[:n] = x[:n + 1]; o[:] = x[:1]; o[:] = x[n:n + 1]
o[:] = x[3:3]; o[:0] = x[:0]; o[:0] = x[:1]; o[::2] = x[:4]; o[::2] = x[:5]; o[::-1] = x
o[1:] = x[:-1]; o[:] += x[:3]; o[:] += x; o[:] += x[:1]; o[:n] *= x[:n]; o[:n] *= x[:n + 2]
np.add(o, x[:3], o); np.add(o[:n], x[:n], o[:n]); np.add(x[:1], x, o); np.sin(x[:3], o)
o[0:2], o[4:6] = x[:2], x[2:4]; o[0:2], o[4:6] = x[:2], x[2:5]; o[-n:] = x[-n:]; o[-n:] = x[:-n]
o[...] = x[:n]; o[...] = x; o[n:n] = x[:1]; o[::n] = x[:n]; o[::n] = x[:n + 1]
np.add(o, x[:n], out=o)
"""
MATRICES = """
o[0] = m[1]; o[:] = m; o[:] = m[0]; o[:] = c; o[:] = x[:4]; o[:] = x[:3]; o[:, 1] = x[:3]
o[:, 1] = x[:4]; o[:, 1] = m[:, 2]; o[1] = m[:, 2]; o[:, 0:2] = m[:, 2:4]; o[0:2] = m[1:3]
o[0:2] = m; o[:] = m[n]; o[:] = m[n:n + 1]; o[:] = m[n:]; o[:] += m[0]; o[:] += c; o[0] += m
o[0] = m[0:1]; o[0] = m[n:n + 1]; o[0] = m[n:n + 2]; o[0] += m[n:n + 1]; o[0] = o[1]
np.add(m, c, o); np.add(m, x[:4], o); np.add(m, x[:3], o); o[:] = m[::-1]; o[:, ::-1] = m
np.add(m[0:1], c, o); o[:] = m[:, :1]; o[:] = m[:, :2]; o[:] = m.T
"""
OWN = {
    "a = local.array(4, f32); a[:] = x[:n]": None,
    "a = local.array(4, f32); a[:] = x[:n + 1]; o[:4] = a": [1, 2, 3, 4, -1, -1, -1, -1],
    "a = shared.array(4, f32); a[:] = x[:4]; o[:4] = a": [1, 2, 3, 4, -1, -1, -1, -1],
    "a = shared.array((2, 4), f32); a[:] = x[:4]; o[4:] = a[1]": [-1, -1, -1, -1, 1, 2, 3, 4],
    "a = shared.array((2, 4), f32); a[:] = x[:n]": None,
    "a = local.array(1, f32); a[0] = 4; o[:] = a": [4] * 8,
    "g(o[:3], x[:n])": [1, 2, 3, -1, -1, -1, -1, -1],
    "g(o[:4], x[:n])": None,
    "v = o[2:6]; v[:] = x[:n]": None,
    "v = o[2:6]; v += x[:4]": [-1, -1, 0, 1, 2, 3, -1, -1],
    "a = np.zeros(3); a[:] = x": None,
    "o.fill(n)": [3] * 8,
}


def define(text: str, names: dict[str, Any]) -> Any:
    source = "def k(x, m, c, n, o):\n" + "".join(
        f"    {each.strip()}\n" for each in text.split("; ")
    )
    name = f"<shapes {next(COUNTER)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope: dict[str, Any] = {"np": np, **names}
    exec(compile(source, name, "exec"), scope)
    return scope["k"]


def run(text: str, shape: tuple[int, ...], as_kernel: bool, **options: Any) -> Any:
    """Return what o is afterwards, or the message of the error."""
    x, m = np.arange(1, 9, dtype=np.float32), np.arange(12, dtype=np.float32).reshape(3, 4)
    c, o = np.arange(3, dtype=np.float32).reshape(3, 1), np.full(shape, -1, np.float32)

    def g(d, s):  # type: ignore[no-untyped-def]
        d[:] = s

    kernel = define(text, {"local": local, "shared": shared, "f32": f32, "g": g})
    if as_kernel:
        kernel = amdjit.kernel(kernel, warnings=False, **options)[1, 1]
    try:
        kernel(x, m, c, 1 if len(shape) == 2 else 3, o)
    except (ValueError, amdjit.CompileError) as failure:
        return str(failure)
    return o.tolist()


def statements(text: str) -> list[str]:
    return re.split(r"; |\n", text.strip())


@pytest.mark.sample(18)
@pytest.mark.parametrize("text", [*statements(ROWS), *statements(MATRICES)])
def test_shapes_meet_as_in_numpy(text: str) -> None:
    shape = (8,) if text in statements(ROWS) else (3, 4)
    expected, found = run(text, shape, False), run(text, shape, True)
    if not isinstance(expected, str):
        assert found == expected
        return
    assert isinstance(found, str)
    if "input array" in expected and "error[" not in found:
        assert re.search(r"could not .*\)", expected)[0] in found  # type: ignore[index]


@pytest.mark.sample(6)
@pytest.mark.covering(1)
@pytest.mark.parametrize("typing", ["amdjit", "numba"])
@pytest.mark.parametrize("text", OWN)
def test_shapes_meet_in_memory_of_kernels(text: str, typing: str) -> None:
    found, expected = run(text, (8,), True, typing=typing), OWN[text]
    assert isinstance(found, str) if expected is None else found == expected


def test_the_error_names_both_shapes_and_the_line() -> None:
    found = run("o[:] = x[:n]", (8,), True)
    assert "could not broadcast input array from shape (3,) into shape (8,)" in found
    found = run("o[1:, :3] = m[n:, :2]", (3, 4), True)
    assert "from shape (2,2) into shape (2,3)" in found
    assert re.search(r"<shapes \d+>:2", found)


def test_rows_of_one_array_need_no_test() -> None:
    kernel = amdjit.kernel(define("o[0] = o[1]", {}), warnings=False)
    array = f32[:, :]
    compiled = kernel.compile(f32[:], array, array, int, array)
    assert compiled.reports is None
