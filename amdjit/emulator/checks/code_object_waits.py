"""Missing waits of a whole code object, whoever compiled it; nothing is run."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.code_object import CodeObject, Kernel
from amdjit.emulator.checks.waits import MissingWait, missing_waits
from amdjit.emulator.translate.control_flow import Text, build_graph

Line = tuple[str, int]


@dataclass(frozen=True, slots=True)
class LocatedWait:
    """A missing wait with its places: file and line of the use and of the instruction in flight, where known."""

    kernel: str
    wait: MissingWait
    line: Line | None
    load_line: Line | None

    def __str__(self) -> str:
        where = f"\n  at {self.line[0]}:{self.line[1]}" if self.line else ""
        came = f"\n  loaded at {self.load_line[0]}:{self.load_line[1]}" if self.load_line else ""
        instruction = f"\n  instruction: {self.wait.text} at pc {self.wait.pc:#x}"
        return f"{self.kernel}: {self.wait.message}{where}{came}{instruction}"


def find_missing_waits(code_object: bytes) -> tuple[LocatedWait, ...]:
    """Return every use of a register that comes before a needed `s_wait_*`, for all kernels of a code object.

    MalformedCodeObject if it is none; UndecodableInstruction or WildBranch if a kernel's code cannot be read.
    """
    whole = CodeObject.read(code_object)
    return tuple(found for kernel in whole.kernels.values() for found in kernel_waits(whole, kernel))


def kernel_waits(whole: CodeObject, kernel: Kernel) -> tuple[LocatedWait, ...]:
    """Return the missing waits of one kernel."""
    graph = build_graph(kernel_text(whole, kernel), kernel.entry_address)
    entries = frozenset(other.entry_address for other in whole.kernels.values())
    waits = missing_waits(graph, entries)
    return tuple(LocatedWait(kernel.name, wait, whole.line_of(wait.pc), whole.line_of(wait.load_pc)) for wait in waits)


def kernel_text(whole: CodeObject, kernel: Kernel) -> Text:
    """Return the segment that holds a kernel's code."""
    for segment in whole.segments:
        if segment.address <= kernel.entry_address < segment.end:
            inside = [s.address for s in whole.symbols if s.is_function and segment.address <= s.address < segment.end]
            return Text(segment.data, segment.address, tuple(inside), kernel.descriptor.wavefront_size)
    return Text(b"", kernel.entry_address)
