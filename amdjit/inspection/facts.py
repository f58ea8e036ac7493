"""What inspection finds in a code object, as values.

Counts are exact. A fact that the bytes do not show is None, and `Inspection.missing` says why.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from enum import Enum

from amdjit.isa.instruction import Instruction
from amdjit.isa.traits import Flow, Unit

__all__ = [
    "UNITS",
    "AccessFacts",
    "BlockFacts",
    "Call",
    "Companion",
    "InstructionFacts",
    "KernelFacts",
    "LineFacts",
    "LiveOrigin",
    "LiveValue",
    "LoopFacts",
    "Occupancy",
    "OccupancyStep",
    "Peak",
    "RegisterBanks",
    "SourcePlace",
    "json_text",
    "json_value",
    "unit_of",
]


# A file and a line in it, from 1.
SourcePlace = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was inlined: the function that was called, and where the call stands."""

    function: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class InstructionFacts:
    """One machine instruction.

    address: in the code object's virtual addresses; size: in bytes. mnemonic: without encoding
    suffix, `v_dual_… :: v_dual_…` for two that issue together, `unknown` for what the decoder does
    not know. unit: the part of the processor that executes it, as `UNITS` lists them.
    issue_cycles: cycles for which it keeps its unit busy in wave32, on gfx9 in wave64
    (`cycles.parameters`), None if that is not known. file, line: its source. inlined_from: the
    calls through which the line came here, the innermost first. block: the number of its basic
    block. loop_depth: loops around it.
    live_vgprs, live_sgprs: registers whose values before the instruction may still be read, by it
    or later; VCC, M0 and trap registers are not among the SGPRs. waits_for: the memory instructions
    that this wait is for. waited_by: the waits for this memory instruction. needs: the waits by
    which what this instruction reads or overwrites is ready.
    """

    address: int
    size: int
    text: str
    mnemonic: str
    unit: str
    issue_cycles: int | None
    file: str | None
    line: int | None
    inlined_from: tuple[Call, ...]
    block: int
    loop_depth: int
    live_vgprs: Set[int]
    live_sgprs: Set[int]
    waits_for: tuple[int, ...] = ()
    waited_by: tuple[int, ...] = ()
    needs: tuple[int, ...] = ()

    @property
    def place(self) -> SourcePlace | None:
        """The file and line, if they are known."""
        return (self.file, self.line) if self.file is not None and self.line is not None else None


@dataclass(frozen=True, slots=True)
class BlockFacts:
    """A basic block. address, end: of its first byte and after its last. loop: the number of the
    innermost loop around it. successors, predecessors: numbers of blocks. units: instructions by
    unit. peak_vgprs, peak_sgprs: the most registers live at once."""

    number: int
    address: int
    end: int
    loop: int | None
    successors: tuple[int, ...]
    predecessors: tuple[int, ...]
    units: Mapping[str, int]
    peak_vgprs: int
    peak_sgprs: int


@dataclass(frozen=True, slots=True)
class LoopFacts:
    """A natural loop. header: the block at which it is entered; blocks: all of its blocks; parent:
    the loop around it; depth: 1 for an outermost loop."""

    number: int
    header: int
    blocks: tuple[int, ...]
    parent: int | None
    depth: int


@dataclass(frozen=True, slots=True)
class LineFacts:
    """What one source line became. units: instructions by unit."""

    file: str
    line: int
    addresses: tuple[int, ...]
    units: Mapping[str, int]
    peak_vgprs: int
    peak_sgprs: int

    @property
    def instructions(self) -> int:
        """How many instructions the line became."""
        return len(self.addresses)


@dataclass(frozen=True, slots=True)
class LiveValue:
    """A variable that is alive: its name, its type as the debug information calls it, and the
    registers that hold it, such as `v[4:7]`."""

    name: str
    type: str
    registers: str


@dataclass(frozen=True, slots=True)
class LiveOrigin:
    """Registers that are live at a place, and the line whose instructions wrote them. None: the
    line is not known."""

    file: str | None
    line: int | None
    vgprs: Set[int]

    @property
    def place(self) -> SourcePlace | None:
        """The file and line, if they are known."""
        return (self.file, self.line) if self.file is not None and self.line is not None else None


@dataclass(frozen=True, slots=True)
class Peak:
    """Where most VGPRs are live. values: the variables that are alive there, as far as debug
    information has them. origins: the lines that wrote the VGPRs, most registers first."""

    address: int
    vgprs: int
    sgprs: int
    values: tuple[LiveValue, ...] = ()
    origins: tuple[LiveOrigin, ...] = ()


@dataclass(frozen=True, slots=True)
class OccupancyStep:
    """What a higher number of waves on a SIMD needs. vgprs, lds_bytes: the most that a wave or a
    workgroup may take then; None if that is no limit, or met already. text: the same in words."""

    waves: int
    vgprs: int | None
    lds_bytes: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How many waves of the kernel the fullest SIMD holds. Workgroups are there whole or not at
    all; they share the SIMDs and the LDS of a workgroup processor.

    limited_by: "vgprs", "lds", "workgroup size", or "none" if all wave slots are filled. limits:
    the waves that each of these alone would allow. steps: the next higher numbers of waves.
    """

    waves_per_simd: int
    limited_by: str
    limits: Mapping[str, int]
    steps: tuple[OccupancyStep, ...]


@dataclass(frozen=True, slots=True)
class AccessFacts:
    """A memory instruction. space: "global", "LDS", "private", "flat" or "scalar"; kind: "load",
    "store", "atomic", "prefetch" or "probe". width: bytes of a lane. uniform: whether all lanes of
    a wave have one address. lane_stride: bytes from a lane's address to the next lane's, where it
    is the same for all lanes. policy: cache policy, as the assembler writes it. bank_conflicts: for
    LDS, cycles beyond those of an access without conflicts, with all lanes active. None: not known.
    """

    address: int
    space: str
    kind: str
    width: int
    uniform: bool | None
    lane_stride: int | None
    policy: str
    bank_conflicts: int | None
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class RegisterBanks:
    """Instructions of one kind whose operands share a bank of the VGPR file.

    instructions: their kind, "WMMA" or "VOPD". count: of all of that kind. addresses: of those
    whose operands share one. cycles: what that costs each of them, None if it is not known.
    source: of the rule.
    """

    instructions: str
    count: int
    addresses: tuple[int, ...]
    cycles: int | None
    source: str


# The facts of one kernel as a value; `Inspection` adds what can be done with them.


@dataclass(frozen=True, slots=True)
class Companion:
    """What is known of a kernel beside its code object, if amdjit has compiled it: shown, never
    needed. sources: the text of each file. labels: what may tell this compilation from another one,
    by name: arguments and constants, options, the file and its time. Empty strings are unknown."""

    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    typed_tree: str = field(default="", repr=False)
    llvm: str = field(default="", repr=False)
    optimized_llvm: str = field(default="", repr=False)
    labels: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class KernelFacts:
    """The facts of one kernel of a code object.

    kernel, target: names. wave_size: lanes. wgp_mode: whether a workgroup may use both compute
    units. producer: the compiler, by the debug information, "" if it does not say. vgprs, sgprs:
    registers of a wave; lds_bytes, scratch_bytes: of a workgroup and of a work-item, without what
    the launch adds; vgpr_spills, sgpr_spills: registers spilled; code_bytes: machine code.
    workgroup_size: the most work-items of a workgroup. instructions, blocks: by address.
    loops: outer ones first. lines: by file and line. accesses: the memory instructions.
    missing: what could not be found out, and why, in sentences. code_object: the bytes that the
    facts were read from; empty if the facts were made in another way. register_banks: operands in
    one bank of the VGPR file, for kinds of instructions of which a rule is known.
    """

    kernel: str
    target: str
    wave_size: int
    wgp_mode: bool
    producer: str
    vgprs: int
    sgprs: int
    vgpr_spills: int
    sgpr_spills: int
    lds_bytes: int
    scratch_bytes: int
    code_bytes: int
    workgroup_size: int
    instructions: tuple[InstructionFacts, ...] = field(repr=False)
    blocks: tuple[BlockFacts, ...] = field(repr=False)
    loops: tuple[LoopFacts, ...] = field(repr=False)
    lines: Mapping[SourcePlace, LineFacts] = field(repr=False)
    peak: Peak
    occupancy: Occupancy
    accesses: tuple[AccessFacts, ...] = field(repr=False)
    missing: tuple[str, ...]
    companion: Companion = field(default_factory=Companion, repr=False, compare=False)
    code_object: bytes = field(default=b"", repr=False, compare=False)
    register_banks: tuple[RegisterBanks, ...] = ()


# The parts of the processor by which instructions are counted.


UNITS = (
    "VALU",
    "transcendental",
    "WMMA",
    "MFMA",
    "SALU",
    "scalar memory",
    "vector memory",
    "LDS",
    "branch",
    "wait",
    "barrier",
    "other",
)

_BY_UNIT = {
    Unit.SALU: "SALU",
    Unit.VALU: "VALU",
    Unit.TRANSCENDENTAL: "transcendental",
    Unit.SCALAR_MEMORY: "scalar memory",
    Unit.VECTOR_MEMORY: "vector memory",
    Unit.LDS: "LDS",
    Unit.LDS_DIRECT: "LDS",
}


def unit_of(instruction: Instruction) -> str:
    """Return the unit that executes an instruction: one of `UNITS`."""
    traits = instruction.traits
    if traits.matrix is not None:
        return "WMMA"
    if traits.block_product is not None:
        return "MFMA"
    if traits.barrier is not None:
        return "barrier"
    if traits.waits and traits.unit is Unit.SALU:
        return "wait"
    if traits.flow not in (Flow.NEXT, Flow.SLEEP):
        return "branch"
    if traits.idle is not None:
        return "other"
    return _BY_UNIT[traits.unit]


# The JSON form of facts: how the values of this room, of profiles and of estimates are written.
#
# A record is an object with its fields by name; tuples and sets are arrays, sets sorted; members of
# an enumeration their names. A mapping is an object if its keys are texts; else it is an array of
# objects with "key" and "value", or of records if these are about the line that is their key.
# Numbers that JSON does not have (infinities, NaN) are null.


def json_text(schema: str, record: object, without: Set[str] = frozenset()) -> str:
    """Return a record as JSON text, with the name of its form as "schema".

    without: fields to leave out.
    """
    assert dataclasses.is_dataclass(record)
    names = (field.name for field in dataclasses.fields(record) if field.name not in without)
    form = {name: json_value(getattr(record, name)) for name in names}
    return json.dumps({"schema": schema, **form}, ensure_ascii=False)


def json_value(value: object) -> object:
    """Return what stands for a value in JSON: objects as dictionaries, arrays as lists.

    TypeError for values that have no form.
    """
    if value is None or (isinstance(value, (str, bool, int)) and not isinstance(value, Enum)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Enum):
        return value.name
    if dataclasses.is_dataclass(value) and not isinstance(value, (type, Set)):
        fields = dataclasses.fields(value)
        return {field.name: json_value(getattr(value, field.name)) for field in fields}
    return _collection(value)


def _collection(value: object) -> object:
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, Set):
        return sorted(value)
    if isinstance(value, (tuple, list)):
        return [json_value(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _mapping(value: Mapping[object, object]) -> object:
    if all(isinstance(key, str) for key in value):
        return {key: json_value(item) for key, item in value.items()}
    return [_entry(key, item) for key, item in value.items()]


def _entry(key: object, item: object) -> object:
    form = json_value(item)
    if isinstance(form, dict) and "line" in form and key == (form.get("file"), form["line"]):
        return form
    return {"key": json_value(key), "value": form}
