"""Functions typed for the arguments of a call."""

from __future__ import annotations

from amdjit.frontend.values.dependencies import OutsideArray
from amdjit.frontend.values.kinds import Value
from amdjit.language.launch_numbers import LaunchUse
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree

__all__ = ["Instance"]


@dataclass(frozen=True, slots=True)
class Instance:
    """A device function typed for some arguments; only `value` is set if it just returns a
    compile-time value.

    uses: the launch's numbers, and arrays from outside, that it takes after its parameters.
    is_shared: whether all calls with the same arguments use it; a function with LDS arrays is typed
    once for each call, since each call has its own arrays. is_endless: whether a call always goes
    beyond the innermost level of a recursion. rounds: how many iterations were typed one by one in
    it, and in what it inlines.
    """

    function: tree.Function | None
    value: Value | None = None
    uses: tuple[LaunchUse | OutsideArray, ...] = ()
    is_shared: bool = True
    is_endless: bool = False
    rounds: int = 0
