"""The interface between the translation and the checks.

A check derives from `Instrument` and overrides the methods that it needs; each may append code to
`frame.builder`. The translator calls them for every instruction and knows no check by name:

    begin_function                         once, before anything is translated
    entry                                  once, for the code where a wave starts or resumes
    begin_block                            at the start of each machine block
      before                               each instruction
        accessed                           each access: before a store, after any other
      after                                each instruction that does not end the block

Without checks nothing is called and nothing is added.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

from amdjit.emulator.host.builder import Value
from amdjit.isa.instruction import Instruction

if TYPE_CHECKING:
    from amdjit.emulator.wave.frame import Frame
    from amdjit.isa.analysis.control_flow import Block, Graph


class AccessKind(IntEnum):
    """What an access does."""

    LOAD = 0
    STORE = 1
    ATOMIC = 2


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """One access of a wave: a load or an atomic that has been made, a store that is about to be.

    space, address: as the native functions of `instructions/memory/access_native.py` take them
    (`s`, `v`, `f`, `l`, `p`), or `k`: a scalar load, whose address is one i64. size: bytes of a
    lane. lanes: the mask of lanes that access, i32. values: the dwords that are loaded or stored,
    one vector each, if they are at hand. element: bytes of each part that the instruction accesses
    separately (the two-address forms of LDS have two).
    """

    kind: AccessKind
    space: str
    address: tuple[Value, ...]
    size: int
    lanes: Value
    values: tuple[Value, ...] = ()
    element: int = 0


class Instrument:
    """A check's part of the translation; one object for each kernel that is translated.

    name: part of the cache's key. every_instruction: it may add code to any instruction, so that
    none may be translated twice (`tiers/stretches.py`); False if it adds none to instructions that
    only compute vector registers. By default the methods do nothing.
    """

    name: ClassVar[str]
    every_instruction: ClassVar[bool] = True

    def begin_function(self, graph: Graph, full_waves: bool, wave_size: int) -> None:
        """Prepare for a kernel. full_waves: all lanes of every wave start active."""

    def entry(self, frame: Frame) -> None:
        """Add code at the function's entry, where a wave starts or resumes; `LAUNCH` is known
        there."""

    def begin_block(self, frame: Frame, block: Block) -> None:
        """Add code at the start of a machine block."""

    def before(self, frame: Frame, instruction: Instruction) -> None:
        """Add code before an instruction, one that ends a block included."""

    def after(self, frame: Frame, instruction: Instruction) -> None:
        """Add code after an instruction that does not end a block."""

    def accessed(self, frame: Frame, instruction: Instruction, access: MemoryAccess) -> None:
        """Add code after a load or an atomic, or before a store: what it overwrites is still
        there."""


Instruments = tuple[type[Instrument], ...]


def begin_function(
    kinds: Instruments, graph: Graph, full_waves: bool, wave_size: int
) -> tuple[Instrument, ...]:
    """Make the instruments for one kernel."""
    made = tuple(kind() for kind in kinds)
    for instrument in made:
        instrument.begin_function(graph, full_waves, wave_size)
    return made
