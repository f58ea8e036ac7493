"""The lines that assembly and faults name are the user's own."""

from __future__ import annotations

import inspect
from pathlib import Path

import amdjit
from amdjit import f32


@amdjit.kernel
def copy(x, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = x[i]


def test_code_of_amdjits_own_functions_carries_the_line_of_the_call() -> None:
    compiled = copy.compile(f32[:], f32[:])
    files = {Path(row.file).name for row in compiled.linked.line_table.rows}
    assert files == {Path(__file__).name}
    _, first = inspect.getsourcelines(copy.function)
    lines = {row.line for row in compiled.linked.line_table.rows if row.line}
    assert first + 2 in lines  # `i = amdjit.grid(1)`, all of whose code is amdjit's
