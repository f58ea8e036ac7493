"""NumPy integers, members of an IntEnum, `i32(-1)` and items of tuples from outside are constants
wherever Python's own integers are."""

from __future__ import annotations

import dataclasses
import enum
import itertools
import linecache
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32, i32, i64, local, shared, u8
from amdjit import numba_cuda as cuda

COUNTER = itertools.count()


class Member(enum.IntEnum):
    LAST = -1
    TWO = 2


class Flag(enum.IntFlag):
    TWO = 2


@dataclasses.dataclass(frozen=True)
class Record:
    last: np.int64
    two: Member


OUTSIDE = {
    "T": (np.int64(-1), np.int32(2), Member.TWO, -1),
    "R": Record(np.int64(-1), Member.TWO),
    "P": np.prod((2, 3)),
    "NEGATIVE": np.int8(-2),
    "YES": np.bool_(True),
}
KINDS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, Member]
# With x = [0, 1, ... 9], LAST = -1 and N = 2 of each kind; the result, and with Numba's typing too.
USES = {
    "x[LAST]": 9, "x[-N]": 8, "x[LAST - 1]": 8, "x[min(N, 5)]": 2, "x[N if N < 4 else 4]": 2,
    "x[int(LAST)]": 9, "x[i32(LAST)]": 9, "x.load(7, N)[1]": 8, "(1, 2, 3)[LAST]": 3,
    "len((1, 2, 3)[:N])": 2, "(1, 2, 3)[::LAST][0]": 3, "x[1:LAST].shape[0]": 8, "x[::N][1]": 2,
    "x[::LAST][0]": 9, "x.load(0, 4)[LAST]": 3, "len((5,) * N)": 2, "x.reshape(N, 5)[1, 0]": 5,
    "x.reshape(N, LAST)[1, 0]": 5, "len(np.zeros(N))": 2, "np.full((N, N), 7)[1, 1]": 7,
    "len(shared.array(N, f32))": 2, "local.array((N, N * 2), f32).shape[1]": 4,
    "cuda.shared.array(shape=(N, N + 1), dtype=f32).shape[1]": 3,
    "cuda.local.array(N, dtype=f32).shape[0]": 2, "len('abc'[:N])": 2, "of(x, LAST)": 9,
    "inner(LAST)": 9, "constant(x, LAST)": 9, "amdjit.atomic.add(x, LAST, 0)": 9,
}  # fmt: skip
OTHERS = {
    "x[i32(-1)]": 9, "x[i64(-2)]": 8, "x[u8(2) - u8(1)]": 1, "x[T[0]]": 9, "x[T[-1]]": 9,
    "x[-T[1]]": 8, "x[T[T[1] - 2]]": 9, "x[R.last] + R.two": 11, "of(x, i32(-1))": 9,
    "shared.array(T[1:3], f32).shape[1]": 2, "shared.array(P, f32).shape[0]": 6,
    "shared.array(np.int32(4) * 2, f32).shape[0]": 8, "x[NEGATIVE * 2]": 6,
    "shared.array((Flag.TWO, len(T)), f32).shape[1]": 4, "(1 if YES else x)": 1,
}  # fmt: skip
STATEMENTS = {
    "for i in amdjit.static_range(N): o[0] += i": 1,
    "for i in amdjit.static_range(4, 0, LAST): o[0] += i": 10,
    "for i in amdjit.unroll(range(4), N): o[0] += i": 6,
    "for i in range(N, N * 3, N): o[0] += i": 6,
    "for i in range(4, 0, LAST): o[0] += i": 10,
    "k = LAST\n    o[0] = x[k]": 9,
    "k = LAST - 1\n    k += 1\n    o[0] = x[k]": 9,
    "x[LAST] = 5\n    o[0] = x[9]": 5,
    "x[LAST] += 5\n    o[0] = x[9]": 14,
    "x.store(N, x.load(4, N))\n    o[0] = x[3]": 5,
    "if N == 2: v = (7, 1)\n    else: v = 3\n    o[0] = v[0]": 7,
    "k = N\n    while k < 5: k += 1\n    o[0] = k": 5,
    "k = N\n    if x[1] > 0: k = N + 1\n    o[0] = k": 3,
}


def result(statement: str, typing: str = "amdjit", **names: Any) -> float:
    def of(y, n):  # type: ignore[no-untyped-def]
        return y[n]

    def constant(y, n: amdjit.Const):  # type: ignore[no-untyped-def]
        return y[n]

    source = f"def k(x, o):\n    inner = lambda n: x[n]\n    {statement}\n"
    name = f"<constants {next(COUNTER)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope: dict[str, Any] = {
        "amdjit": amdjit, "np": np, "shared": shared, "local": local, "cuda": cuda, "f32": f32,
        "i32": i32, "i64": i64, "u8": u8, "of": of, "constant": constant, "Flag": Flag, **OUTSIDE,
        **names,
    }  # fmt: skip
    exec(compile(source, name, "exec"), scope)
    o = np.zeros(1)
    amdjit.kernel(scope["k"], typing=typing, warnings=False)[1, 1](np.arange(10.0), o)
    return float(o[0])


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_integer_is_a_constant(kind: Any) -> None:
    is_signed = kind is Member or np.dtype(kind).kind == "i"
    names = {"N": kind(2), "LAST": kind(-1) if is_signed else np.int64(-1)}
    for use in ("x[LAST]", "x[-N]" if is_signed else "x[N - 1] + 7", "x.load(7, N)[1]"):
        assert result(f"o[0] = {use}", **names) == {"x[LAST]": 9}.get(use, 8), use
    assert result("for i in amdjit.static_range(N): o[0] += i", **names) == 1
    assert result("o[0] = len(shared.array(N, f32)) + len((1, 2, 3)[:N])", **names) == 4


@pytest.mark.sample(22)
@pytest.mark.covering(1)
@pytest.mark.parametrize("typing", ["amdjit", "numba"])
@pytest.mark.parametrize("use", [*USES, *OTHERS])
def test_it_is_a_constant_in_every_place(use: str, typing: str) -> None:
    names = {"N": np.int64(2), "LAST": np.int32(-1)}
    assert result(f"o[0] = {use}", typing, **names) == {**USES, **OTHERS}[use]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_it_is_a_constant_in_statements(statement: str) -> None:
    names = {"N": np.int64(2), "LAST": np.int32(-1)}
    assert result(statement, **names) == STATEMENTS[statement]


@amdjit.kernel(warnings=False)
def indexed_by(x, n: amdjit.Const, o):
    o[0] = x[n]


@pytest.mark.parametrize("last", [-1, np.int64(-1), np.int8(-1), Member.LAST])
def test_arguments_of_constant_parameters_are_constants(last: Any) -> None:
    o = np.zeros(1)
    indexed_by[1, 1](np.arange(10.0), last, o)
    assert o[0] == 9


def test_constants_beyond_an_end_are_refused() -> None:
    with pytest.raises(amdjit.CompileError, match="index"):
        result("o[0] = (1, 2, 3)[N]", N=np.int64(3))
    with pytest.raises(amdjit.CompileError, match="shape"):
        result("o[0] = len(shared.array(N, f32))", N=np.int64(-3))
