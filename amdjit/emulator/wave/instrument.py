"""What a check adds to translated code. The translator calls these at each place; without checks it
calls nobody."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

from amdjit.emulator.decoder.instruction import Instruction
from amdjit.emulator.host.builder import Value

if TYPE_CHECKING:
    from amdjit.emulator.analysis.control_flow import Block, Graph
    from amdjit.emulator.wave.frame import Frame


class AccessKind(IntEnum):
    """What an access does."""

    LOAD = 0
    STORE = 1
    ATOMIC = 2


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """One access of a wave: a load or an atomic that was made, a store that comes.

    space, address: as the native functions of `native/memory.py` take them (`s`, `v`, `f`, `l`,
    `p`), or `k`: a scalar load, whose address is one i64. size: bytes a lane. lanes: the mask of
    lanes that access, i32. values: the dwords that were loaded or stored, one vector each, where
    they are at hand. element: bytes of each of the parts that the instruction reads on its own (the
    two-address forms of LDS have two).
    """

    kind: AccessKind
    space: str
    address: tuple[Value, ...]
    size: int
    lanes: Value
    values: tuple[Value, ...] = ()
    element: int = 0


class Instrument:
    """A check's part of the translation; one object for each kernel translated. `name` is part of
    the cache's key."""

    name: ClassVar[str]

    def begin_function(self, graph: Graph, full_waves: bool, wave_size: int) -> None:
        """Called first. full_waves: all lanes of every wave start active."""

    def begin_block(self, frame: Frame, block: Block) -> None:
        """Called at the start of each machine block."""

    def before(self, frame: Frame, instruction: Instruction) -> None:
        """Called in front of each instruction, also of those that end a block."""

    def after(self, frame: Frame, instruction: Instruction) -> None:
        """Called behind each instruction that does not end a block."""

    def accessed(self, frame: Frame, instruction: Instruction, access: MemoryAccess) -> None:
        """Called behind each load and atomic, and in front of each store: what it overwrites is
        still there."""

    def entry(self, frame: Frame) -> list[str]:
        """Return lines for the function's entry block, where a wave starts or resumes; `%launch` is
        known there."""
        return []


Instruments = tuple[type[Instrument], ...]


def begin_function(
    kinds: Instruments, graph: Graph, full_waves: bool, wave_size: int
) -> tuple[Instrument, ...]:
    """Make the instruments for one kernel."""
    made = tuple(kind() for kind in kinds)
    for instrument in made:
        instrument.begin_function(graph, full_waves, wave_size)
    return made
