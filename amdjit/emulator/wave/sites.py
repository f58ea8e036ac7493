"""The instructions of a kernel that may fault, and the translated kernel that has them."""

from __future__ import annotations

from amdjit.emulator.host.builder import Value, constant
from amdjit.late_methods import dataclass


@dataclass
class Sites:
    """The instructions that may fault. The number of a site is its index; number 0 is the entry of
    the kernel."""

    pcs: list[int]

    def note(self, pc: int) -> int:
        """Make a site for the instruction at `pc`; return its number."""
        self.pcs.append(pc)
        return len(self.pcs) - 1

    def value(self, number: int) -> Value:
        """Return a site's number as i32."""
        return constant("i32", number)

    def address(self, pc: int) -> Value:
        """Return a pc as i64."""
        return constant("i64", pc)

    def add(self, pc: int) -> Value:
        """Make a site for the instruction at `pc`; return its number as i32."""
        return self.value(self.note(pc))


# The result of translating a kernel.

WAVE_SYMBOL = "aj_wave"
"""What the translated kernel is called."""


@dataclass(frozen=True, slots=True)
class WaveFunction:
    """A translated kernel."""

    text: str
    """LLVM IR."""
    natives: frozenset[str]
    """The native functions that it calls."""
    site_pcs: tuple[int, ...]
    """The pc of each site."""
    resume_pcs: tuple[int, ...]
    """The places where the wave waits, by resume id (0 is the start)."""
    longest: int | None
    """The most instructions that a wave executes, None if it may loop."""
    may_yield: bool
    """Whether it may wait for waves of other workgroups."""
    calls_host: bool
    """Whether it may interrupt the host."""
    keeps_slots: bool = False
    """Whether registers stay in memory, because the kernel is large."""
