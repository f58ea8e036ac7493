"""Detection of arrays that launch after launch copies to the device and back."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import field

from amdjit.diagnostics.performance import PerformanceWarning
from amdjit.late_methods import dataclass

# So many launches in a row with the same memory are probably a loop, and copying so many bytes
# costs more than a launch: only then is a warning worth it.
_LAUNCHES = 10
_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class HostPlace:
    """The memory of a NumPy argument, with the name of its parameter."""

    name: str
    address: int
    nbytes: int


@dataclass(slots=True)
class HostCopies:
    """Counts for one kernel how many launches in a row copied each array; warns once."""

    kernel: str
    _counts: dict[HostPlace, int] = field(default_factory=dict)
    _has_warned: bool = False

    def note(self, places: Iterable[HostPlace], callers: int) -> None:
        """Count a launch. The warning names the line `callers` calls above this one."""
        if self._has_warned:
            return
        self._counts = {
            place: self._counts.get(place, 0) + 1 for place in places if place.nbytes >= _BYTES
        }
        often = next((place for place, count in self._counts.items() if count >= _LAUNCHES), None)
        if often is None:
            return
        self._has_warned = True
        warnings.warn(
            f"{_LAUNCHES} launches of `{self.kernel}` in a row copied the NumPy array "
            f"`{often.name}` ({often.nbytes} bytes) to the device [host-copies]\n"
            f"  = help: copy it once, before the loop: {often.name} = "
            f"amdjit.to_device({often.name}), and back after it: {often.name}.copy_to_host()",
            PerformanceWarning,
            stacklevel=callers + 1,
        )
