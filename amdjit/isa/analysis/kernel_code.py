"""Where a code object holds the code of a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amdjit.abi.code_marks import PRODUCER, scope_of
from amdjit.code_object import CodeObject, Kernel, MalformedCodeObject, Relocation, Segment
from amdjit.diagnostics.errors import BackendError
from amdjit.isa.analysis.control_flow import Graph, Text
from amdjit.isa.instruction_set import instruction_set_in
from amdjit.isa.traits import Immediate
from amdjit.late import late

if TYPE_CHECKING:
    from amdjit.code_object import debug_info
else:
    debug_info = late("amdjit.code_object.debug_info")


def segment_of(whole: CodeObject, address: int) -> Segment:
    """Return the segment that holds an address; BackendError if none does."""
    for segment in whole.segments:
        if segment.address <= address < segment.end:
            return segment
    raise BackendError(f"no segment of the code object holds {address:#x}")


def kernel_text(whole: CodeObject, kernel: Kernel) -> Text:
    """Return the segment that holds a kernel's code, with the functions that it may call, which do
    not include kernels."""
    segment = segment_of(whole, kernel.entry_address)
    kernels = {other.entry_address for other in whole.kernels.values()}
    named = {symbol.address for symbol in whole.symbols if symbol.is_function}
    functions = tuple(
        address
        for address in sorted((named | _pointed_at(whole)) - kernels)
        if segment.address <= address < segment.end
    )
    return Text(
        segment.data,
        segment.address,
        functions,
        kernel.descriptor.wave_size,
        instruction_set_in(whole),
        repeats_clauses=_may_repeat(whole),
    )


def _may_repeat(whole: CodeObject) -> bool:
    """Code that says nothing about XNACK has to run with it."""
    target = whole.target
    return "xnack" in target.id_features and dict(target.settings).get("xnack", True)


def _pointed_at(whole: CodeObject) -> set[int]:
    """Return the addresses in tables of pointers: a stripped code object names its functions
    nowhere else."""
    return {pointer for _, pointer in _pointers(whole)}


def constant_pointers(whole: CodeObject) -> dict[int, int]:
    """Return the addresses in tables that nothing changes once the code object is loaded, by where
    they stand; without those of what other code objects define."""
    sections = [whole.elf.section(name) for name in _CONSTANT]
    tables = [range(one.address, one.address + one.size) for one in sections if one is not None]
    return {
        each.address: pointer
        for each, pointer in _pointers(whole)
        if pointer and any(each.address in table for table in tables)
    }


# The global offset table, and constants that hold addresses: read-only after relocation.
_CONSTANT = (".got", ".data.rel.ro")


def _pointers(whole: CodeObject) -> Iterator[tuple[Relocation, int]]:
    symbols = whole.dynamic_symbols
    for each in whole.relocations:
        if each.symbol < max(len(symbols), 1):
            yield each, each.addend + (symbols[each.symbol].address if each.symbol else 0)


# The mark of an access that is not atomic.
PLAIN = -1


def access_marks(whole: CodeObject, graph: Graph) -> dict[int, int]:
    """Return the scope of each atomic access by pc, PLAIN for the others; without those of which
    the debug information says nothing, which are all in other compilers' code."""
    try:
        if debug_info.read_debug_info(whole.elf).producer != PRODUCER:
            return {}
        table = whole.line_table
    except MalformedCodeObject:
        return {}
    found = {}
    for pc in _accesses_apart(graph):
        row = table.row_of(pc)
        if row is not None and row.line:
            scope = scope_of(row.discriminator)
            found[pc] = PLAIN if scope is None else scope
    return found


def _accesses_apart(graph: Graph) -> Iterator[int]:
    """Yield the accesses that are in no clause: all of a clause have the line of the first (LLVM:
    SIInsertHardClauses)."""
    for block in graph.blocks.values():
        bundled = 0
        for instruction in block.instructions:
            if instruction.traits.immediate is Immediate.CLAUSE:
                bundled = (instruction.immediates["simm16"] & 63) + 1
            elif bundled:
                bundled -= 1
            elif instruction.traits.unit.is_memory:
                yield instruction.pc
