"""The machine code of a kernel as the analyses see it: its blocks, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from amdjit.code_object import CodeObject, Kernel
from amdjit.isa.analysis.control_flow import Block, Graph, WildBranch, build_graph
from amdjit.isa.analysis.dataflow import Ones, ones_at_entries
from amdjit.isa.analysis.kernel_code import kernel_text
from amdjit.isa.decode import decode
from amdjit.isa.errors import UndecodableInstruction
from amdjit.isa.instruction import Instruction
from amdjit.isa.instruction_set import instruction_set_in
from amdjit.isa.text import disassemble
from amdjit.isa.traits import Flow

__all__ = ["MachineCode", "read_machine_code"]

# Unknown places end their paths. With more than these, so little is known that facts would mislead.
_MOST_UNKNOWN = 32


@dataclass(frozen=True, slots=True)
class MachineCode:
    """The reachable code of one kernel."""

    whole: CodeObject
    kernel: Kernel
    graph: Graph
    edges: Mapping[int, tuple[int, ...]]
    """For each block, by its first address, where it goes on: a call goes to functions, and not to
    the instruction after it, to which their returns go."""
    returns: frozenset[int]
    """The instructions after calls."""
    hides_functions: bool
    """There are branches through registers, and functions without names to which they may go."""
    ones: Mapping[int, Ones]
    """The scalar registers known to be all ones at each block's start."""
    unknown: Mapping[int, str]
    """Why what stands at an address is no instruction that the decoder knows, or leaves the code;
    what follows it is not known."""

    @property
    def wave_size(self) -> int:
        """Lanes of a wave: 32 or 64."""
        return self.kernel.descriptor.wave_size

    def raw_text(self, address: int) -> str:
        """Return the text of what stands at an address: its first dword if it is no instruction."""
        code = self.whole.text(address, 4)
        try:
            return disassemble(
                decode(code, 0, address, self.wave_size, instruction_set_in(self.whole))
            )
        except UndecodableInstruction:
            return f".long 0x{int.from_bytes(code, 'little'):08x}"

    def instructions(self) -> Iterator[tuple[int, Instruction]]:
        """Yield each instruction with its block's first address, in the order of addresses."""
        for address, block in self.graph.blocks.items():
            for instruction in block.instructions:
                yield address, instruction


def read_machine_code(whole: CodeObject, kernel: Kernel) -> MachineCode | None:
    """Decode a kernel's code, None if too much of it is unknown.

    Bytes that are no instruction end a path: what they do, nobody knows.
    """
    text = kernel_text(whole, kernel)
    # s_endpgm stands where nothing is known of what follows.
    end = text.instruction_set.end_of_program
    unknown: dict[int, str] = {}
    while len(unknown) <= _MOST_UNKNOWN:
        try:
            graph = build_graph(text, kernel.entry_address)
        except UndecodableInstruction as error:
            unknown[error.pc] = error.reason
            text = text.cut([error.pc], end)
        except WildBranch as error:
            unknown[error.instruction.pc] = str(error)
            text = text.cut([error.instruction.pc], end)
        else:
            return _machine_code(whole, kernel, graph, unknown)
    return None


def _machine_code(
    whole: CodeObject, kernel: Kernel, graph: Graph, unknown: Mapping[int, str]
) -> MachineCode:
    returns = frozenset(
        last.pc + last.size
        for last in (block.instructions[-1] for block in graph.blocks.values())
        if last.traits.flow.is_call
    )
    edges = {address: _edges(graph, block, returns) for address, block in graph.blocks.items()}
    ones = ones_at_entries(graph, starts_full(kernel), kernel.descriptor.wave_size)
    hides = bool(_indirect(graph)) and not whole.has_symbol_table
    return MachineCode(
        whole,
        kernel,
        graph=graph,
        edges=edges,
        returns=returns,
        hides_functions=hides,
        ones=ones,
        unknown=unknown,
    )


def _indirect(graph: Graph) -> list[Block]:
    blocks = graph.blocks.values()
    return [block for block in blocks if block.instructions[-1].traits.flow.is_indirect]


def _edges(graph: Graph, block: Block, returns: frozenset[int]) -> tuple[int, ...]:
    reached = (address for address in block.successors if address in graph.blocks)
    if block.instructions[-1].traits.flow is Flow.INDIRECT_CALL:
        return tuple(address for address in reached if address not in returns)
    return tuple(dict.fromkeys(reached))


def starts_full(kernel: Kernel) -> bool:
    """Whether all lanes of every wave are active when it starts, whatever the launch."""
    required = kernel.metadata.required_workgroup_size
    return required is not None and prod(required) % kernel.descriptor.wave_size == 0
