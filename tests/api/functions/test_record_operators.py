"""Operators, class methods and other special methods of records, with Python as the oracle; `type`
and `isinstance`."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest

import amdjit
from amdjit import f32, f64, i32
from amdjit.diagnostics import CompileError
from tests.api.lanes import DEVICE, same_as_python


@dataclasses.dataclass(frozen=True)
class Vec:
    x: Any
    y: Any

    def __add__(self, other):
        if not isinstance(other, Vec):
            return NotImplemented
        return Vec(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Vec(self.x * factor, self.y * factor)

    def __rmul__(self, factor):
        return self * factor

    def __rsub__(self, other):
        return Vec(other - self.x, other - self.y)

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __neg__(self):
        return Vec(-self.x, -self.y)

    def __invert__(self):
        return Vec(self.y, self.x)

    def __abs__(self):
        return max(abs(self.x), abs(self.y))

    def __getitem__(self, index):
        return self.x if index == 0 else self.y

    def __len__(self):
        return 2

    def __eq__(self, other):
        return self.x == other.x

    def __lt__(self, other):
        return self.x < other.x

    def __bool__(self):
        return bool(self.x != 0)

    def __contains__(self, item):
        return (item == self.x) | (item == self.y)

    def __call__(self, a, b=1):
        return self.x * a + self.y * b

    @classmethod
    def of(cls, value):
        return cls(value, value + value)

    @staticmethod
    def zero():
        return Vec(0, 0)

    @property
    def length(self):
        return abs(self)


@dataclasses.dataclass(frozen=True)
class Farther(Vec):
    def __radd__(self, other):
        return Vec(other.x, self.y)

    def __gt__(self, other):
        return self.y > other.y


class Pair(NamedTuple):
    a: Any
    b: Any

    def __add__(self, other):
        return Pair(self.a + other.a, self.b - other.b)


def every_operator(i, a, b):
    u, v = Vec(a[i], a[i] - 3), Vec(i, a[(i + 1) % 8])
    total = u + v
    b[0, i] = total.x * 100 + total.y
    b[1, i] = (u * 3)[0] + (3 * v)[1]
    b[2, i] = (10 - v).y
    b[3, i] = u @ v
    b[4, i] = (-u).x - (~u).x
    b[5, i] = abs(u) + u.length
    b[6, i] = v[i % 2]
    b[7, i] = len(u)
    b[8, i] = u == v
    b[9, i] = u != v
    b[10, i] = u < v
    b[11, i] = u > v
    b[12, i] = 5 if u else 6
    b[13, i] = a[2] in v
    b[14, i] = 3 not in v
    b[15, i] = v(2) + v(2, b=5)
    b[16, i] = Vec.of(a[i]).y + u.of(i).x + Vec.zero().x
    u += v
    b[17, i] = u.y


def test_operators_of_records_call_the_methods_that_python_calls() -> None:
    same_as_python(
        every_operator, np.arange(8, dtype=np.int32) - 2, np.zeros((18, 8), np.int32), lanes=8
    )


def reflected(i, a, b):
    u, far = Vec(a[i], 1), Farther(a[i] * 2, 7)
    b[0, i] = (u + far).y
    b[1, i] = u < far
    b[2, i] = far < u
    b[3, i] = (Pair(i, 2) + Pair(3, 4)).b
    b[4, i] = len(Pair(i, 2) + Pair(3, 4))


def test_subclasses_and_named_tuples() -> None:
    same_as_python(reflected, np.arange(8, dtype=np.int32) - 2, np.zeros((5, 8), np.int32), lanes=8)


@dataclasses.dataclass(frozen=True)
class Sum:
    total: Any
    count: Any

    def __add__(self, other):
        return Sum(self.total + other, self.count + 100)

    def __iadd__(self, other):
        return Sum(self.total + other, self.count + 1)

    def __isub__(self, other):
        return NotImplemented

    def __sub__(self, other):
        return Sum(self.total - other, self.count + 10)


def in_place(i, a, b):
    s = Sum(a[i], 0)
    s += 5
    s += a[i]
    s -= 2
    s = s + 1
    b[0, i], b[1, i] = s.total, s.count


def test_augmented_assignment_asks_the_class_first() -> None:
    same_as_python(in_place, np.arange(8, dtype=np.int32) - 2, np.zeros((2, 8), np.int32), lanes=8)


def carried(i, a, b):
    total, best = Vec(a[0] * 0, a[0] * 0), Vec(a[0], a[1])
    for k in range(8):
        item = Vec(a[k], a[(k + i) % 8])
        if item < best:
            best = item
        total = total + item * 2
        if total[0] > 20:
            break
    while total:
        total = Vec(total.x // 2, total.y)
    b[0, i] = total.y * 100 + best.y
    nested = Vec(best, total)
    for _k in range(i):
        nested = Vec(nested.x + nested.y, nested.x)
    b[1, i] = nested.x.x + nested.y.y


def test_records_with_operators_go_round_loops() -> None:
    same_as_python(
        carried, np.array([5, 3, -2, 7, 9, 1, 4, 4], np.int32), np.zeros((2, 8), np.int32), lanes=8
    )


@dataclasses.dataclass(frozen=True)
class Plain:
    x: Any
    y: Any = None


def adds(out):
    p = Plain(out[0], 1)
    out[0] = (p + p)[0]


def indexes(out):
    p = Plain(out[0], 1)
    out[0] = p[0]


def adds_wrong(out):
    v = Vec(out[0], 1)
    out[0] = (v + 1).x


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (adds, "define `__add__` in Plain"),
        (adds_wrong, "define `__add__` in Vec"),
        (indexes, "Plain"),
    ],
)
def test_what_a_class_does_not_define_is_refused(function: Any, text: str) -> None:
    """A dataclass is no tuple: it has neither items nor `+`."""
    with pytest.raises(CompileError, match=text):
        amdjit.kernel(function).compile(i32[:])


def zero_of(x):
    if isinstance(x, float):
        return type(x)(0.5)
    if isinstance(x, Vec):
        return x.x.nowhere if isinstance(x.x, tuple) else x.x
    return x.dtype(7)


@amdjit.kernel
def by_type(a, b, c, out):
    i = amdjit.grid(1)
    out[0, i] = zero_of(a[i])
    out[1, i] = zero_of(b[i])
    out[2, i] = zero_of(Vec(c[i], 1))
    out[3, i] = 1 if type(a[i]) is f32 else 2
    out[4, i] = (
        isinstance(b[i], int) + 2 * isinstance(b[i], (float, bool)) + 4 * isinstance(c[i], f64)
    )
    out[5, i] = 1 if type(Vec(1, 2)) is Vec else 2


def test_code_is_chosen_by_type() -> None:
    out = np.zeros((6, 4))
    with amdjit.use(DEVICE):
        by_type[1, 4](np.ones(4, np.float32), np.arange(4), np.arange(4.0), out)
    assert out[:, 3].tolist() == [0.5, 7, 3, 1, 5, 1]


@amdjit.kernel
def in_a_type(a, out, kind: amdjit.Const):
    i = amdjit.grid(1)
    total: kind = a[i]
    total = total * 3
    out[i] = total


def test_a_type_among_the_arguments_is_an_annotation() -> None:
    out = np.zeros(4, np.int64)
    with amdjit.use(DEVICE):
        in_a_type[1, 4](np.arange(100, 104, dtype=np.uint8), out, amdjit.i64)
        assert out.tolist() == [300, 303, 306, 309]
        in_a_type[1, 4](np.arange(100, 104, dtype=np.uint8), out, amdjit.u8)
        assert out.tolist() == [44, 47, 50, 53]


@dataclasses.dataclass(frozen=True)
class Moded:
    value: Any
    mode: Any = None


def mode_changes_in_a_loop(out):
    record = Moded(out[0], "first")
    for k in range(4):
        record = Moded(record.value + k, "later")
    out[0] = record.value


def none_becomes_a_number(out):
    record = Moded(out[0])
    for k in range(4):
        record = Moded(record.value + k, out[k])
    out[0] = record.value


def none_at_first(out):
    best = None
    for k in range(4):
        if best is None or out[k] > best:
            best = out[k]
    out[0] = best


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (
            mode_changes_in_a_loop,
            "mode: 'first'\\) on one path here and Moded\\(value: i32, mode: 'later'",
        ),
        (none_becomes_a_number, "mode: None\\) on one path here and Moded\\(value: i32, mode: i32"),
        (
            none_at_first,
            "`best` has no single value in the loop that assigns it: before the loop it is None",
        ),
    ],
)
def test_what_is_known_when_compiling_cannot_change_in_a_loop(function: Any, text: str) -> None:
    with pytest.raises(CompileError, match=text) as caught:
        amdjit.kernel(function).compile(i32[:])
    assert "use a number" in str(caught.value)


def none_goes_round(i, a, b):
    record = Moded(a[i])
    for k in range(3):
        record = Moded(record.value * 2 + k)
        if record.mode is not None:
            record = Moded(record.mode.nowhere)
    b[i] = record.value


def test_a_none_that_stays_none_goes_round_a_loop() -> None:
    same_as_python(none_goes_round, np.arange(8, dtype=np.int32), np.zeros(8, np.int32), lanes=8)
