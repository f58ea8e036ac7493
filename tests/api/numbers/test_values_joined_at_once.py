"""Several values of different types get the type that all have in common, at once: on the way
through the type of two of them, 2049 would become the f16 2048."""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import numpy as np
import pytest

import amdjit

COUNTER = itertools.count()
JOINS = {
    "tuple": "o[t] = (n[t], h[t], f[t])[k[t]]",
    "tuple_in_another_order": "o[t] = (f[t], h[t], n[t])[2 - k[t]]",
    "nested_tuples": "o[t] = ((n[t], 1), (h[t], n[t]), (f[t], h[t]))[k[t]][0]",
    "tuple_with_literals": "o[t] = (n[t], h[t], f[t], True, 2.5)[k[t]]",
    "choices": "o[t] = n[t] if k[t] == 0 else h[t] if k[t] == 1 else f[t]",
    "choices_on_the_left": "o[t] = (n[t] if k[t] == 0 else h[t]) if k[t] < 2 else f[t]",
    "elif": """
if k[t] == 2: v = f[t]
elif k[t] == 0: v = n[t]
else: v = h[t]
o[t] = v""",
    "else_if": """
if k[t] == 2:
    v = f[t]
else:
    if k[t] == 0: v = n[t]
    else: v = h[t]
o[t] = v""",
    "if_in_if": """
if k[t] != 2:
    if k[t] == 0: v = n[t]
    else: v = h[t]
else: v = f[t]
o[t] = v""",
    "match": """
match k[t]:
    case 2: v = f[t]
    case 0: v = n[t]
    case _: v = h[t]
o[t] = v""",
    "tuples_in_branches": """
if k[t] == 2: v = (f[t], 1)
elif k[t] == 0: v = (n[t], 1)
else: v = (h[t], 1)
o[t] = v[0]""",
    "returns": """
def g(i):
    if i == 2: return f[t]
    if i == 0: return n[t]
    return h[t]
o[t] = g(k[t])""",
    "breaks": """
while True:
    if k[t] == 0:
        v = n[t]
        break
    elif k[t] == 1:
        v = h[t]
        break
    v = f[t]
    break
o[t] = v""",
    "array": "a = np.array([n[t], h[t], f[t]])\no[t] = a[k[t]]",
    "extremes": """
some = max(n[t], h[t], f[t]), min(h[t], n[t], f[t] + 9), min(f[t], h[t], n[t])
o[t] = some[k[t]]""",
}


def results(text: str, **names: Any) -> list[float]:
    source = "def k(n, h, f, u, l, k, o):\n    t = amdjit.threadIdx.x\n"
    source += "".join(f"    {line}\n" for line in text.splitlines())
    name = f"<joins {next(COUNTER)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope: dict[str, Any] = {"amdjit": amdjit, "np": np, **names}
    exec(compile(source, name, "exec"), scope)
    values = np.int32(2049), np.float16(1.5), np.float32(0.25), np.uint64(2**64 - 1), np.int64(-5)
    o = np.zeros(3)
    arrays = [np.full(3, value) for value in values]
    amdjit.kernel(scope["k"], warnings=False)[1, 3](*arrays, np.arange(3), o)
    return o.tolist()


@pytest.mark.sample(8)
@pytest.mark.parametrize("join", JOINS)
def test_no_value_passes_through_the_type_of_two(join: str) -> None:
    assert results(JOINS[join]) == [2049, 1.5, 0.25]


@pytest.mark.parametrize("items", ["u[t], l[t], f[t]", "l[t], u[t], f[t]", "f[t], u[t], l[t]"])
def test_a_float_holds_integers_without_an_integer_type_in_common(items: str) -> None:
    values = {"u[t]": 2.0**64, "l[t]": -5, "f[t]": 0.25}
    assert results(f"o[t] = ({items})[k[t]]") == [values[each] for each in items.split(", ")]
