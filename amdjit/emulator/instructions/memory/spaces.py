"""The address spaces of loads and stores, and the native function for each kind of access.

Spaces: `s` global, scalar base + unsigned 32-bit offsets; `v` global, 64-bit addresses as two
dwords + offset; `l` LDS; `p` private (scratch), lane-major; `f` flat.
"""

from __future__ import annotations

from amdjit.emulator.host.function import V32
from amdjit.emulator.layout import (
    FaultKind,
)
from amdjit.late_methods import dataclass

SIZES = (1, 2, 4, 8, 12, 16)
ADDRESS_PARAMETERS = {
    "s": (("i64", "base"), (V32, "offset")),
    "v": ((V32, "low"), (V32, "high"), ("i64", "base")),
    "l": ((V32, "offset"), ("i32", "base")),
    "p": ((V32, "offset"), ("i32", "base")),
    "f": ((V32, "low"), (V32, "high"), ("i64", "base")),
}
SPACES = tuple(ADDRESS_PARAMETERS)


@dataclass(frozen=True, slots=True)
class Access:
    """A kind of access: the space, the bytes of a lane, and the direction."""

    space: str
    size: int
    store: bool

    @property
    def symbol(self) -> str:
        """The name of its native function."""
        return f"aj_{'store' if self.store else 'load'}_{self.space}{self.size}"

    @property
    def by_pointer(self) -> bool:
        """Whether the data are passed in memory, one vector for each dword."""
        return self.size > 4

    @property
    def fault(self) -> FaultKind:
        """The kind of fault that a refused lane causes."""
        if self.space in ("l", "p"):
            return FaultKind.LDS if self.space == "l" else FaultKind.SCRATCH
        return FaultKind.GLOBAL_STORE if self.store else FaultKind.GLOBAL_LOAD
