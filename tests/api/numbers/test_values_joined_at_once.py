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
    "tuple_in_another_order": "o[t] = (n[t], f[t], h[t], f[t])[k[t] * 2 - k[t] // 2]\nif k[t] == 1: o[t] = h[t]\nif k[t] == 2: o[t] = f[t]",
    "nested_tuples": "o[t] = ((n[t], 1), (h[t], n[t]), (f[t], h[t]))[k[t]][0]",
    "tuple_with_literals": "o[t] = (n[t], h[t], f[t], True, 2.5)[k[t]]",
    "choices": "o[t] = n[t] if k[t] == 0 else h[t] if k[t] == 1 else f[t]",
    "choices_on_the_left": "o[t] = (n[t] if k[t] == 0 else h[t]) if k[t] < 2 else f[t]",
    "elif": "if k[t] == 2: v = f[t]\nelif k[t] == 0: v = n[t]\nelse: v = h[t]\no[t] = v",
    "else_if": "if k[t] == 2:\n  v = f[t]\nelse:\n  if k[t] == 0: v = n[t]\n  else: v = h[t]\no[t] = v",
    "if_in_if": "if k[t] != 2:\n  if k[t] == 0: v = n[t]\n  else: v = h[t]\nelse: v = f[t]\no[t] = v",
    "match": "match k[t]:\n  case 2: v = f[t]\n  case 0: v = n[t]\n  case _: v = h[t]\no[t] = v",
    "tuples_in_branches": "if k[t] == 2: v = (f[t], 1)\nelif k[t] == 0: v = (n[t], 1)\nelse: v = (h[t], 1)\no[t] = v[0]",
    "returns": "def g(i):\n  if i == 2: return f[t]\n  if i == 0: return n[t]\n  return h[t]\no[t] = g(k[t])",
    "breaks": "while True:\n  if k[t] == 0:\n    v = n[t]\n    break\n  elif k[t] == 1:\n    v = h[t]\n    break\n  v = f[t]\n  break\no[t] = v",
    "array": "a = np.array([n[t], h[t], f[t]])\no[t] = a[k[t]]",
    "extremes": "o[t] = (max(n[t], h[t], f[t]), min(h[t], n[t], f[t] + 9), min(f[t], h[t], n[t]))[k[t]]",
}  # fmt: skip


def results(text: str, **names: Any) -> list[float]:
    source = "def k(n, h, f, u, l, k, o):\n    t = amdjit.threadIdx.x\n"
    source += "".join(f"    {line}\n" for line in text.splitlines())
    name = f"<joins {next(COUNTER)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope: dict[str, Any] = {"amdjit": amdjit, "np": np, **names}
    exec(compile(source, name, "exec"), scope)
    n, h, f = np.full(3, 2049, np.int32), np.full(3, 1.5, np.float16), np.full(3, 0.25, np.float32)
    u, l = np.full(3, 2**64 - 1, np.uint64), np.full(3, -5)
    o = np.zeros(3)
    amdjit.kernel(scope["k"], warnings=False)[1, 3](n, h, f, u, l, np.arange(3), o)
    return o.tolist()


@pytest.mark.parametrize("join", JOINS)
def test_no_value_passes_through_the_type_of_two(join: str) -> None:
    assert results(JOINS[join]) == [2049, 1.5, 0.25]


@pytest.mark.parametrize("items", ["u[t], l[t], f[t]", "l[t], u[t], f[t]", "f[t], u[t], l[t]"])
def test_a_float_holds_integers_without_an_integer_type_in_common(items: str) -> None:
    values = {"u[t]": 2.0**64, "l[t]": -5, "f[t]": 0.25}
    assert results(f"o[t] = ({items})[k[t]]") == [values[each] for each in items.split(", ")]
