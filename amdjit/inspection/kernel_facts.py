"""The facts of one kernel as a value; `Inspection` adds what can be done with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from amdjit.inspection.facts import (
    AccessFacts,
    BlockFacts,
    InstructionFacts,
    LineFacts,
    LoopFacts,
    Occupancy,
    Peak,
    RegisterBanks,
    SourcePlace,
)

__all__ = ["Companion", "KernelFacts"]


@dataclass(frozen=True, slots=True)
class Companion:
    """What is known of a kernel beside its code object, if amdjit has compiled it: shown, never
    needed. sources: the text of each file. Empty strings are unknown."""

    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    typed_tree: str = field(default="", repr=False)
    llvm: str = field(default="", repr=False)
    optimized_llvm: str = field(default="", repr=False)


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
