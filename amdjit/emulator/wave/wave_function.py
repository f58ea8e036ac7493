"""The result of translating a kernel."""

from __future__ import annotations

from dataclasses import dataclass


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
