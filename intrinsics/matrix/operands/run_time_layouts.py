"""Layouts that only the launch knows: rocWMMA's layout_t, an integer among a kernel's arguments."""

from __future__ import annotations

from typing import Any

from amdjit.language.compile_time import Compilation, compile_time
from amdjit.types import Scalar

mem_row_major, mem_col_major = 0, 1


@compile_time
def chosen_when_running(compilation: Compilation, layout: Any) -> bool:
    """Whether a layout is an integer that is known only at run time."""
    return isinstance(layout, Scalar) and layout.is_integer
