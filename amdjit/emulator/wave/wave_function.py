"""The result of translating a kernel."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WaveFunction:
    """A translated kernel.

    text: LLVM IR. natives: the native functions that it calls. site_pcs: the pc of each site.
    resume_pcs: the places where the wave waits, by resume id (0 is the start). longest: the most
    instructions that a wave executes, None if it may loop. gives_way: whether it may wait for waves
    of other workgroups. calls_host: whether it may interrupt the host.
    """

    text: str
    natives: frozenset[str]
    site_pcs: tuple[int, ...]
    resume_pcs: tuple[int, ...]
    longest: int | None
    gives_way: bool
    calls_host: bool
