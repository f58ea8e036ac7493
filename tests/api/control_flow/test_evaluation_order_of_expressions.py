# ruff: noqa: B007, B015, B905, E731, F841, RUF005, UP034
"""Expressions are evaluated once and in Python's order: the emulator against Python, form by
form."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from amdjit import f32x4
from tests.api.acting_functions import Deferring, Pair, Reflected, bump, part, triple, weigh
from tests.api.lanes import same_as_python

LANES = 4


def packing(i, a):
    v = a[i, 0]
    t = (v, v + 1, (v * 2, a[i, 1]))
    v = 5
    a[i, 1] = 99
    a[i, 2] = t[0] + t[1] * 3 + t[2][0] * 5 + t[2][1] * 7 + v


def packing_with_calls(i, a):
    row = a[i]
    t = (row[0], bump(row, 0), row[0], triple(row, 0), row[0])
    a[i, 1] = t[0] + t[1] * 3 + t[2] * 5 + t[3] * 7 + t[4] * 11


def packing_by_addition(i, a):
    row = a[i]
    t = (row[0],) + (bump(row, 0), row[0]) + (triple(row, 0),)
    a[i, 1] = t[0] + t[1] * 3 + t[2] * 5 + t[3] * 7


def swaps(i, a):
    x, y, z = a[i, 0], a[i, 1], a[i, 2]
    x, y, z = z, x + y, x
    x, y = y, x
    a[i, 0], a[i, 1] = a[i, 1], a[i, 0]
    a[i, 2] = x * 3 + y * 5 + z * 7


def swap_with_index(i, a):
    k = a[i, 0] % 2
    k, a[i, k] = a[i, k] % 4, k
    a[i, 3] = k


def chained_targets(i, a):
    k = 0
    k = a[i, k] = k + 2
    a[i, 0] = k


def augmented_with_call(i, a):
    row = a[i]
    row[0] += bump(row, 0)
    row[0] *= triple(row, 1) - row[1]
    a[i, 2] -= bump(row, 2) * 2
    row[bump(row, 3) % 3] += bump(row, 3)


def augmented_name(i, a):
    row = a[i]
    v = row[0]
    v += (v := v * 2) + bump(row, 0)
    row[1] = v


def augmented_rebinding(i, a):
    row, other = a[i, :3], a[i, 1:]
    row[1] += (row := other)[2]
    row[2] += 1
    a[i, 0] = other[1]


def arguments_before_call(i, a):
    row = a[i]
    a[i, 1] = weigh(row[0], bump(row, 0), row[0])
    a[i, 2] = weigh(bump(row, 0), row[0])
    v = 3
    a[i, 3] = weigh(v, (v := v + 1), v)


def keyword_order(i, a):
    row = a[i]
    row[1] = weigh(y=bump(row, 0), x=row[0])
    row[2] = weigh(z=row[0], y=triple(row, 0), x=bump(row, 0))
    v = 3
    row[3] = weigh(z=v, x=(v := v + 4), y=v)


def keyword_order_of_record(i, a):
    row = a[i]
    p = Pair(y=bump(row, 0), x=row[0])
    row[1] = p.x * 100 + p.y
    q = replace(p, y=bump(row, 0), x=row[0])
    row[2] = q.x * 100 + q.y


def partials(i, a):
    row = a[i]
    f = functools.partial(weigh, row[0], z=bump(row, 0))
    row[1] = f(triple(row, 0)) + row[0]
    row[0] = 1
    row[2] = f(0)


def subject_of_match(i, a):
    row = a[i]
    match row[0]:
        case 0:
            row[0] = 1
        case 1:
            row[0] = 2
        case _ if bump(row, 1) > 100:
            row[2] = 3
        case 2 | 3:
            row[0] = 0
    k = row[1] % 2
    match (k, row[1]):
        case (0, _):
            k = 1
            row[1] += 1
        case (1, _):
            k = 0
    row[3] = k


def chained_comparison(i, a):
    row = a[i]
    row[2] = 1 if row[0] < bump(row, 0) <= row[0] < triple(row, 0) else 2
    v = 3
    row[3] = 5 if v < (v := v + row[1] % 2) < v + 1 else 6


def boolean_operators(i, a):
    row = a[i]
    row[1] = row[0] or bump(row, 0)
    row[2] = (row[0] > 1 and bump(row, 0)) + row[0]
    v = row[0]
    row[3] = v + ((v > 2 and (v := 7)) or v) + v


def conditional_expressions(i, a):
    row = a[i]
    v = row[0]
    row[1] = v + (1 if v > 1 else (v := 5)) + v
    row[2] = row[0] + (bump(row, 0) if v > 1 else triple(row, 0)) + row[0]
    row[3] = v * 2 + ((v := v + 1) if row[0] > 1 else (v := v - 1)) * v


def walrus_in_index(i, a):
    row = a[i]
    k = 0
    row[(k := k + 1)] = k + row[k]
    row[2] = row[(k := k + 1)] + row[k - 1] * k
    a[(k := i), (k := 3)] = k


def store_order(i, a):
    row = a[i]
    row[bump(row, 0) % 2 + 1] = row[0]
    row[3] = triple(row, 0)
    row[bump(row, 0) % 3] = bump(row, 0)


def store_to_part(i, a):
    row = a[i]
    row[1:3] = bump(row, 0)
    row[:] = row[0]
    row[2:] += bump(row, 3)


def views_and_indices(i, a):
    k = 0
    w = a[i][k:]
    u = a[i][k + 1 : k + 3]
    k += 1
    w[0] += u[0]
    u[1] = k
    m = a[k % 4 : k % 4 + 1]
    row = a[i]
    i = 0
    k = 0
    row[3] += w[0]


def view_of_view_with_walrus(i, a):
    k = 0
    a[i][k:][(k := 1)] += a[i][k:][(k := 2)]
    a[i, 0] = k


def attributes_of_calls(i, a):
    row = a[i]
    row[1] = part(row, 0).shape[0] + part(row, 0).size + len(part(row, 0)) + part(row, 0).ndim
    shape = part(row, 0).shape
    row[2] = row[0]
    row[3] = part(row, 0)[-1] + part(row, 0)[0]
    part(row, 0)[1] += 10
    part(row, 0)[-1] = 3


def choice_of_arrays(i, a):
    row, other = a[i], a[i]
    (row if bump(row, 0) > 2 else other[1:])[-1] += 5
    (row[:3] if bump(row, 0) > 3 else other[1:])[1] *= 2


def indices_with_calls(i, a):
    m, row = a[i : i + 1], a[i]
    row[1] = m[bump(row, 0) * 0][-1] + m[bump(row, 0) * 0].shape[0]
    row[2] = m[bump(row, 0) * 0, 1:][-1]
    m[bump(row, 0) * 0][-1] += 1
    m[bump(row, 0) * 0][1:] += 1
    v = f32x4(1.0, 2.0, 3.0, 4.0)
    v[bump(row, 0) % 4] = row[0] + bump(row, 0)
    row[3] = int(v[0] + v[1] * 2 + v[2] * 4 + v[3] * 8)


def items_of_vectors(i, a):
    v = f32x4(1.0, 2.0, 3.0, 4.0)
    for e in (v[0], v[1], v[0]):
        v[0] = v[0] * 2 + e
        v[1] += v[0]
    a[i, 1] = int(v[1])


def range_bounds(i, a):
    n = a[i, 0] % 5
    step = 1
    for k in range(n, n + 6, step):
        n += 2
        step = 3
        a[i, 1] += k * n
    for k in range(a[i, 2] % 4):
        a[i, 2] += 1
    m = 2
    for k, e in zip(range(m), range((m := 5))):
        a[i, 3] += m + k * e


def loop_variable_changes(i, a):
    for k in range(3):
        a[i, 1] += k
        k = k * 2
        a[i, 2] += k


def while_condition(i, a):
    row = a[i]
    while (v := bump(row, 0)) < 6 and v + row[0] < triple(row, 1) + 5:
        row[2] += v


def closures(i, a):
    v = a[i, 0]
    f = lambda x: x + v
    g = lambda x, v=v: x * v
    first = f(1)
    v = 10
    a[i, 1] = f(1) + g(2) * 3 + first
    a[i, 2] = f(v) + (v := 3) + f(v)


def closure_in_tuple(i, a):
    v = a[i, 0]
    fs = (lambda x: x + v, lambda x: x * v)
    v = v + 2
    for f in fs:
        v = f(v)
    a[i, 1] = v


def record_fields(i, a):
    v = a[i, 0]
    p = Pair(v, a[i, 1])
    v += 5
    a[i, 1] = 77
    a[i, 2] = p.x * 3 + p.y + p.sum(v)
    q = replace(p, x=v)
    v = 0
    a[i, 3] = q.x + q.y * 3


def effects_of_dropped_parts(i, a):
    row = a[i]
    row[1] = Pair(bump(row, 0), row[0]).y
    Pair(bump(row, 0), 1)
    row[2] = (bump(row, 0), row[0])[1]
    row[3] = (row[0], bump(row, 0))[0]
    (bump(row, 0), 1) == (1, 2)
    bump(row, 0), triple(row, 1)


def receivers(i, a):
    row = a[i]
    v = row[0]
    row[1] = Pair(v, row[0]).sum((v := 50) + bump(row, 0))
    row[2] = Pair(v, row[0])((v := 60) + bump(row, 0))
    row[3] = Pair(v, row[0])[(v := 2)] + v


def reflected_operators(i, a):
    row = a[i]
    row[1] = bump(row, 0) - Pair(triple(row, 0), 1)
    row[2] = 5 if bump(row, 0) in Pair(triple(row, 0) - 99, 1) else 6
    row[3] = Deferring(bump(row, 0)) + Reflected(triple(row, 0))


def sums(i, a):
    row = a[i]
    row[1] = sum((row[0], row[0] * 2), bump(row, 0))
    row[2] = sum((bump(row, 0), row[0]), row[0])
    row[3] = min(row[0], bump(row, 0)) + max(row[0], triple(row, 0), row[0])


def unpacking(i, a):
    row = a[i]
    v, *rest = row[0], bump(row, 0), row[0]
    row[1] = v + rest[0] * 3 + rest[1] * 5
    (v, k), u = (rest[0], v), v + 1
    row[2] = v + k * 2 + u * 3


def returned_tuple(i, a):
    def both(row):
        v = row[0]
        t = (v, row[0], bump(row, 0))
        v = 9
        return t

    x, y, z = both(a[i])
    a[i, 1] = x + y * 3 + z * 5


def default_arguments(i, a):
    v = a[i, 0]

    def f(x=v, y=v + 1):
        return x * 10 + y

    v = 50
    a[i, 1] = f() + f(v) + f(y=v)


def generators_in_loops(i, a):
    row = a[i]
    v = row[0]
    for e in (v + row[k] for k in (0, v, 1) if row[0] is not None or True):
        v = (v + e) % 3
        row[0] += 1
    row[2] = v
    for k in (k + row[0] for j in (1, 2) for k in (j, v, bump(row, 0))):
        row[3] += k
        v += 1
        if row[3] > 60:
            break
    row[1] = v


def all_and_any(i, a):
    row = a[i]
    row[1] = any(bump(row, 0) > 3 for k in range(4))
    row[2] = all(bump(row, 0) < 3 for k in range(4)) + any((bump(row, 0) > 3, bump(row, 0) > 4))
    row[3] = all(k < 3 and row[k + 1] >= 0 for k in (row[1] % 3, 5, 2000))


def absolute_and_powers(i, a):
    row = a[i]
    row[1] = bump(row, 0) ** 3 + abs(bump(row, 0)) + -bump(row, 0)
    row[2] = divmod(bump(row, 0) + 7, bump(row, 0) + 1)[0]
    row[3] = int(bool(bump(row, 0))) + (not bump(row, 0))


FUNCTIONS: list[Callable[..., Any]] = [
    value for value in list(globals().values())
    if getattr(value, "__code__", None) is not None and value.__code__.co_varnames[:2] == ("i", "a")
]  # fmt: skip


@pytest.mark.sample(16)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_expressions_are_evaluated_in_pythons_order(function: Callable[..., Any]) -> None:
    a = np.array([[2, 3, 5, 7], [1, 4, 2, 9], [0, 1, 6, 3], [3, 2, 1, 8]], np.int32)
    same_as_python(function, a, lanes=LANES)
