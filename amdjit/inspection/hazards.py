"""`hazards`: what is missing between the instructions of a code object, and what is spare.

Missing is what the hardware needs and does not do itself: a wait for a load before its register is
used (`emulator.checks.waits.search`), and what the rows of hazards ask for
(`emulator.checks.waits.hazard_rows`). If nothing is missing on any path, and all paths and
registers are known, that is a proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from amdjit.code_object import CodeObject, Kernel
from amdjit.code_object.bundles import unbundled
from amdjit.diagnostics import AmdjitError
from amdjit.diagnostics.notebooks import shown_file
from amdjit.emulator.checks.waits.code_object import Line, LocatedWait, kernel_waits
from amdjit.emulator.checks.waits.counters import waits_of
from amdjit.emulator.checks.waits.marks import is_nop, is_pause, states_of
from amdjit.emulator.checks.waits.search import missing_waits
from amdjit.emulator.checks.waits.wait_states import find_wait_states
from amdjit.inspection.facts import json_text
from amdjit.inspection.machine_code import MachineCode, read_machine_code
from amdjit.inspection.missing import HIDDEN_BRANCHES
from amdjit.inspection.waits import Waits, find_waits
from amdjit.isa.analysis.control_flow import Graph
from amdjit.isa.analysis.indexed_registers import indexed_instructions, with_all_registers
from amdjit.isa.analysis.kernel_code import constant_pointers
from amdjit.isa.analysis.register_branches import RegisterBranches, register_branches, unfollowed
from amdjit.isa.instruction import Instruction
from amdjit.isa.instruction_set import instruction_set_in
from amdjit.isa.text import disassemble
from amdjit.isa.traits import Idle, Immediate, MemoryKind, Space, Unit

__all__ = ["SCHEMA", "Hazards", "SpareWait", "hazards", "kernel_hazards"]

SCHEMA = "amdjit.hazards/1"


@dataclass(frozen=True, slots=True)
class SpareWait:
    """A wait, `s_nop` or `v_nop` of which no hazard on any path needs all."""

    kernel: str
    """The first kernel that comes past it."""
    address: int
    """Where it is."""
    text: str
    """The instruction."""
    needed: int
    """How many wait states of an `s_nop` are needed; 0 if nothing needs the instruction."""
    line: Line | None
    """File and line, if they are known."""

    def __str__(self) -> str:
        where = f"\n  at {shown_file(self.line[0])}:{self.line[1]}" if self.line else ""
        use = f"s_nop {self.needed - 1} is enough" if self.needed else "nothing needs it"
        return f"{self.kernel}: {self.text} at pc {self.address:#x} is spare: {use}{where}"


@dataclass(frozen=True, slots=True)
class Hazards:
    """What is missing and spare in kernels of a code object; printing lists it."""

    target: str
    """The processor, or target id."""
    kernels: tuple[str, ...]
    """The kernels that were looked at."""
    missing: tuple[LocatedWait, ...]
    """What is missing on some path, in the order of addresses in each kernel."""
    spare: tuple[SpareWait, ...]
    """What could go: all of it at once."""
    unknown: tuple[str, ...]
    """What is not known, in sentences: paths, and registers that are chosen at run time. In such
    kernels nothing is spare."""

    @property
    def proved(self) -> bool:
        """Whether nothing is missing on any path, and all paths and registers are known."""
        return not self.missing and not self.unknown

    def __str__(self) -> str:
        listed = [str(one) for one in (*self.missing, *self.spare)]
        return "\n".join([*listed, *self.unknown, self._summary()])

    def _summary(self) -> str:
        names = ", ".join(self.kernels) or "no kernel"
        if self.missing:
            result = f"{len(self.missing)} missing"
        elif self.unknown:
            result = "nothing is missing as far as is known"
        else:
            result = "nothing is missing on any path"
        return f"{names} for {self.target}: {result}, {len(self.spare)} spare"

    def to_json(self) -> str:
        """Return the same as JSON: an object with the fields by name, and "schema"."""
        return json_text(SCHEMA, self)


def hazards(code_object: bytes, target: str | None = None) -> Hazards:
    """Return what is missing and what is spare between the instructions of all kernels of a linked
    code object, of whichever compiler: waits for loads, and wait states.

    code_object: its bytes, or those of an offload bundle. target: which code of a bundle, such as
    "gfx1201"; None for the only one. Nothing is run.

    MalformedCodeObject if the bytes are no code object that amdjit can read; BackendError for
    processors whose machine code it does not decode, with the nearest that it does.
    """
    try:
        whole = CodeObject.read(unbundled(code_object, target))
    except ValueError as error:
        raise AmdjitError(str(error)) from None
    return _together(whole, [_part(whole, one) for one in whole.kernels.values()])


def kernel_hazards(data: bytes, name: str) -> Hazards:
    """Return what is missing and spare in one kernel of a code object, whatever others need of
    functions that it shares with them. Errors as of `hazards`."""
    whole = CodeObject.read(data)
    return _together(whole, [_part(whole, whole.kernels[name])])


@dataclass(frozen=True, slots=True)
class _Part:
    """What one kernel says: as `Hazards`, and the addresses of what it needs."""

    kernel: str
    missing: tuple[LocatedWait, ...] = ()
    spare: tuple[SpareWait, ...] = ()
    unknown: tuple[str, ...] = ()
    needed: frozenset[int] = frozenset()
    may_need_all: bool = False
    """Whether it may go into functions of which nothing is known here."""


def _together(whole: CodeObject, parts: Sequence[_Part]) -> Hazards:
    """Kernels may share functions: in them, only what none of them needs is spare."""
    unknown = tuple(one for part in parts for one in part.unknown)
    missing = tuple(one for part in parts for one in part.missing)
    names = tuple(part.kernel for part in parts)
    needed = {pc for part in parts for pc in part.needed}
    spare: dict[int, SpareWait] = {}
    for one in (one for part in parts for one in part.spare):
        known = spare.get(one.address)
        if one.address not in needed and (known is None or known.needed < one.needed):
            spare[one.address] = one
    if any(part.may_need_all for part in parts):
        spare = {}
    return Hazards(whole.target.id, names, missing, tuple(spare.values()), unknown)


def _part(whole: CodeObject, kernel: Kernel) -> _Part:
    instruction_set_in(whole)  # refuses what is not decoded
    name = kernel.name
    code = read_machine_code(whole, kernel)
    if code is None:
        reason = f"{name}: too much of what it reaches is no instruction that amdjit knows."
        return _Part(name, unknown=(reason,), may_need_all=True)
    branches = register_branches(code.graph, constant_pointers(whole))
    missing = kernel_waits(whole, kernel, code.graph)
    unknown = tuple(f"{name}: {sentence}" for sentence in _unknown(code, branches, missing))
    found = {} if unknown else _spare(with_all_registers(code.graph), branches.targets)
    pauses = {item.pc for _, item in code.instructions() if is_pause(item)}
    return _Part(
        name,
        missing,
        tuple(
            SpareWait(name, pc, disassemble(instruction), needed, whole.line_of(pc))
            for pc, (instruction, needed) in found.items()
        ),
        unknown,
        frozenset(pauses - found.keys()),
        may_need_all=bool(code.unknown) or code.hides_functions,
    )


def _unknown(
    code: MachineCode, branches: RegisterBranches, missing: Sequence[LocatedWait]
) -> Iterable[str]:
    """Yield sentences about paths and registers that are not known."""
    for address, reason in sorted(code.unknown.items()):
        yield f"what happens at {address:#x} and after it is not known: {reason}."
    for branch in (*branches.unknown, *unfollowed(item for _, item in code.instructions())):
        yield f"where {_at(branch)} goes is not known."
    known = {(one.wait.pc, one.wait.load_pc) for one in missing}
    yield from _chosen_registers(code.graph, known)
    if code.hides_functions:
        yield HIDDEN_BRANCHES
    if not branches.unknown:
        yield from _across_functions(code.graph, branches, known)


def _at(instruction: Instruction) -> str:
    return f"{disassemble(instruction)} at {instruction.pc:#x}"


def _chosen_registers(graph: Graph, missing: Set[tuple[int, int]]) -> Iterable[str]:
    """Yield the instructions whose registers M0 chooses, if some might come too soon."""
    indexed = list(indexed_instructions(graph))
    whole = with_all_registers(graph)
    found = (*missing_waits(whole), *find_wait_states(whole, targets={}).missing) if indexed else ()
    if any((one.pc, one.load_pc) not in missing for one in found):
        for instruction in indexed:
            yield (
                f"which registers {_at(instruction)} reads and writes is not known: M0 chooses "
                "them, and some are not ready."
            )


def _across_functions(
    graph: Graph, branches: RegisterBranches, missing: Set[tuple[int, int]]
) -> Iterable[str]:
    """Yield what may come too soon where a call or a return is between both instructions. All calls
    of a function are taken together, so that the path may be none that is possible."""
    flows = [block.instructions[-1].traits.flow for block in graph.blocks.values()]
    if not any(flow.is_call or flow.is_indirect for flow in flows):
        return
    whole = with_all_registers(graph)
    for one in find_wait_states(whole, targets=branches.targets).missing:
        if (one.pc, one.load_pc) not in missing:
            use, first = f"{one.text} at {one.pc:#x}", f"{one.load_text} at {one.load_pc:#x}"
            yield (
                f"whether {use} follows {first} too soon, past a call or a return, is not known: "
                f"{one.wait} may be missing."
            )


# What is spare.


_Found = dict[int, tuple[Instruction, int]]


def _spare(graph: Graph, targets: Mapping[int, Sequence[int]]) -> _Found:
    """Return the instructions of which nothing needs all, by address, with what is needed of them.
    targets: where branches through registers go.

    Each alone could go, but two may stand in for each other: then one of them stays.
    """
    states = find_wait_states(graph, targets=targets)
    needs = _Counted(graph, find_waits(graph))
    found: _Found = {}
    for block in graph.blocks.values():
        for instruction in block.instructions:
            needed = states.needed.get(instruction.pc, 0)
            if _is_spare(instruction, needed, needs):
                found[instruction.pc] = instruction, needed
    for pc in _alignment(graph):
        found.pop(pc, None)
    known = {(one.pc, one.load_pc) for one in states.missing}
    while found:
        kept = {pc: needed for pc, (_, needed) in found.items()}
        early = find_wait_states(graph, kept, targets=targets).missing
        uses = {one.pc for one in early if (one.pc, one.load_pc) not in known}
        if not uses:
            break
        for pc in {_nearest(found, use) for use in uses}:
            del found[pc]
    return dict(sorted(found.items()))


def _nearest(found: _Found, use: int) -> int:
    """Return the last of some instructions before a use, or of all if the use begins a loop."""
    return max((pc for pc in found if pc < use), default=max(found))


def _is_spare(instruction: Instruction, needed: int, counted: _Counted) -> bool:
    traits = instruction.traits
    if traits.immediate is Immediate.DEPENDENCIES:
        return not needed and _waits_for_known(instruction.immediates["simm16"])
    if traits.idle is Idle.WAIT:
        return not needed and counted.is_spare(instruction)
    if is_nop(instruction):
        return needed < states_of(instruction)
    return not needed and traits.idle is Idle.DELAY and traits.unit is Unit.VALU


# The fields of S_WAIT_ALU that the rows of hazards know, with the bits that are all ones where
# nothing is waited for, and the others.
_KNOWN_FIELDS = (0xF000, 0x0E00, 0x0002, 0x0001)
_OTHER_FIELDS = 0x019C


def _waits_for_known(value: int) -> bool:
    if value & _OTHER_FIELDS != _OTHER_FIELDS:
        return False
    return all(value & bits in (0, bits) for bits in _KNOWN_FIELDS)


class _Counted:
    """Waits for counters, and whether anything needs them."""

    def __init__(self, graph: Graph, waits: Waits) -> None:
        self._waits = waits
        self._needed = {wait for needs in waits.needs.values() for wait in needs}
        self._orders = any(
            _orders_memory(item) for block in graph.blocks.values() for item in block.instructions
        )

    def is_spare(self, wait: Instruction) -> bool:
        """Whether no register depends on a wait, nor anyone else who sees the memory.

        Where a kernel has barriers, atomics or the like, only a wait before which nothing is in
        flight is spare: what else the others may see is not known here.
        """
        if not waits_of(wait) or wait.pc in self._needed:
            return False
        if not self._orders:
            return True
        return wait.pc not in self._waits.waits_for and _waits_for_all(wait)


def _waits_for_all(wait: Instruction) -> bool:
    """Whether nothing may be in flight after a wait on the counters for which it waits."""
    values = [
        (field.left(wait.immediates.get(field.immediate, 0)), field.left(_ALL_ONES))
        for field in wait.traits.waits
    ]
    return all(left in (0, most) for left, most in values)


_ALL_ONES = 0xFFFF


_SCOPES = ("scope", "sc0", "sc1", "glc", "dlc")


def _orders_memory(instruction: Instruction) -> bool:
    """Whether an instruction may need that others' view of memory has come so far."""
    traits, access = instruction.traits, instruction.traits.memory
    if traits.barrier is not None or traits.cache is not None or traits.idle is Idle.MESSAGE:
        return True
    if access is None:
        return False
    is_scalar_store = traits.unit is Unit.SCALAR_MEMORY and access.kind is not MemoryKind.LOAD
    to_lds = traits.implies_m0 or bool(instruction.immediates.get("lds"))
    is_shared = access.kind is MemoryKind.ATOMIC or access.space is Space.FLAT
    scopes = any(instruction.immediates.get(name) for name in _SCOPES)
    return is_shared or is_scalar_store or to_lds or scopes


_ALIGNMENT = 32


def _alignment(graph: Graph) -> Iterable[int]:
    """Yield the `s_nop` that move the start of a loop to a multiple of 32 bytes."""
    targets: dict[int, int] = {}
    for block in graph.blocks.values():
        for successor in block.successors:
            targets[successor] = targets.get(successor, 0) + 1
    for block in graph.blocks.values():
        last = block.instructions[-1]
        end = last.pc + last.size
        if end % _ALIGNMENT or targets.get(end, 0) < 2:
            continue
        for instruction in reversed(block.instructions):
            if not is_nop(instruction) or instruction.immediates["simm16"]:
                break
            yield instruction.pc
