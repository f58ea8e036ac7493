"""The kernel of a generalised function."""

from __future__ import annotations

from typing import no_type_check

from amdjit.intrinsics.workitem import grid
from amdjit.types import Const

__all__ = ["generalised"]


@no_type_check
def generalised(function: Const, are_values: Const, arrays):
    """Call a function for each index of the first axis of the arrays, in one work-item each.

    are_values: for each array, whether the function takes `array[i]` as a value; otherwise it takes
    an array of that element.
    """
    i = grid(1)
    if i < arrays[-1].shape[0]:
        function(
            *tuple(
                a[i] if is_value else a[i : i + 1]
                for a, is_value in zip(arrays, are_values)  # noqa: B905
            )
        )
