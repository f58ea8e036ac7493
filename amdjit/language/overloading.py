"""Functions whose implementation is chosen by the types of a call's arguments, as Numba's
`@overload` declares them.

They are kept with the function that they implement.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

__all__ = ["add_overload", "overloads_of"]

_ATTRIBUTE = "__amdjit_overloads__"


def add_overload(
    function: types.FunctionType, choose: Callable[..., Any], is_first: bool = False
) -> None:
    """Let `choose` implement a function: it gets the types of the arguments, and returns a
    function; None for types that it does not implement.

    is_first: whether it is asked before those that are not.
    """
    setattr(function, _ATTRIBUTE, (*getattr(function, _ATTRIBUTE, ()), (is_first, choose)))


def overloads_of(function: object) -> tuple[Callable[..., Any], ...]:
    """Return what implements a function, in the order in which it is asked."""
    added: tuple[tuple[bool, Callable[..., Any]], ...] = getattr(function, _ATTRIBUTE, ())
    return tuple(choose for _, choose in sorted(added, key=lambda each: not each[0]))
