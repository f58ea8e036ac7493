"""Missing waits of a whole code object, whichever compiler made it; nothing is run."""

from __future__ import annotations

from amdjit.code_object import CodeObject, Kernel
from amdjit.diagnostics.notebooks import shown_file
from amdjit.emulator.checks.waits.search import MissingWait, missing_waits
from amdjit.emulator.checks.waits.wait_states import missing_wait_states
from amdjit.isa.analysis.control_flow import Graph, build_graph
from amdjit.isa.analysis.kernel_code import kernel_text
from amdjit.late_methods import dataclass

Line = tuple[str, int]


@dataclass(frozen=True, slots=True)
class LocatedWait:
    """A missing wait with its places."""

    kernel: str
    """The kernel that comes past it."""
    wait: MissingWait
    """What is missing, and where."""
    line: Line | None
    """File and line of the use, if they are known."""
    load_line: Line | None
    """File and line of the instruction in flight, if they are known."""

    def __str__(self) -> str:
        where = f"\n  at {shown_file(self.line[0])}:{self.line[1]}" if self.line else ""
        came = (
            f"\n  loaded at {shown_file(self.load_line[0])}:{self.load_line[1]}"
            if self.load_line
            else ""
        )
        instruction = f"\n  instruction: {self.wait.text} at pc {self.wait.pc:#x}"
        return f"{self.kernel}: {self.wait.message}{where}{came}{instruction}"


def find_missing_waits(code_object: bytes) -> tuple[LocatedWait, ...]:
    """Return every use of a register that lacks an `s_wait_*` before it, and every instruction that
    follows another one too soon, in all kernels of a code object.

    MalformedCodeObject if the bytes are not one; UndecodableInstruction or WildBranch if a kernel's
    code cannot be read.
    """
    whole = CodeObject.read(code_object)
    return tuple(
        found
        for kernel in whole.kernels.values()
        for found in kernel_waits(
            whole, kernel, build_graph(kernel_text(whole, kernel), kernel.entry_address)
        )
    )


def kernel_waits(whole: CodeObject, kernel: Kernel, graph: Graph) -> tuple[LocatedWait, ...]:
    """Return the missing waits of one kernel, whose code is `graph`."""
    return tuple(
        LocatedWait(kernel.name, wait, whole.line_of(wait.pc), whole.line_of(wait.load_pc))
        for wait in early_uses(graph)
    )


def early_uses(graph: Graph) -> tuple[MissingWait, ...]:
    """Return all that comes too early, in the order of addresses: uses of what wait counters count,
    and what the rows of hazards say."""
    found = (*missing_waits(graph), *missing_wait_states(graph))
    return tuple(sorted(found, key=lambda wait: (wait.pc, wait.load_pc)))
