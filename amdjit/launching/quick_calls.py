"""What a kernel knows of calls like earlier ones, which need no preparation."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field

from amdjit.forking import Lock
from amdjit.launching.specialisations import Loaded
from amdjit.runtime.device import Device

__all__ = ["QuickCall", "QuickCalls"]

# Kernels have few combinations of argument types. Calls of more than this many go the slow way when
# their turn comes.
_MOST = 8


@dataclass(frozen=True, slots=True)
class QuickCall:
    """The calls of one specialisation on one device, with the same arrays sharing memory.

    pack: `quick_source`'s function; True if the call is one of these, whose arguments it has then
    written to the slot.
    """

    device: weakref.ref[Device]
    loaded: Loaded
    pack: Callable[..., bool]


@dataclass(slots=True)
class QuickCalls:
    """The quick calls of a kernel, the newest first."""

    known: tuple[QuickCall, ...] = ()
    _lock: Lock = field(default_factory=Lock)

    def add(self, call: QuickCall) -> None:
        """Let calls like this one be quick from now on."""
        with self._lock:
            self.known = (call, *self.known[: _MOST - 1])
