"""`inspect_object`: the facts of a kernel from the bytes of a code object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.code_object import CodeObject, Kernel
from amdjit.code_object.bundles import unbundled
from amdjit.code_object.resources import read_demand
from amdjit.cycles.parameters import issue_cycles
from amdjit.diagnostics import AmdjitError
from amdjit.garbage import collector_paused
from amdjit.inspection.accesses import memory_accesses
from amdjit.inspection.blocks import Structure, block_facts, line_facts, peak_of
from amdjit.inspection.debug_names import DebugNames, read_debug_names
from amdjit.inspection.facts import (
    BlockFacts,
    InstructionFacts,
    LoopFacts,
    Peak,
    unit_of,
)
from amdjit.inspection.inspection import Companion, Inspection
from amdjit.inspection.lanes.state import workgroup_shape
from amdjit.inspection.liveness import Live, live_origins, live_registers
from amdjit.inspection.machine_code import MachineCode, read_machine_code
from amdjit.inspection.missing import missing_facts, missing_shape
from amdjit.inspection.occupancy import occupancy_of
from amdjit.inspection.register_banks import register_banks
from amdjit.inspection.waits import Waits, find_waits
from amdjit.isa.instruction import Instruction
from amdjit.isa.instruction_set import instruction_set_of
from amdjit.isa.text import disassemble

__all__ = ["inspect_kernel", "inspect_object"]


def inspect_object(data: bytes, kernel: str | None = None, target: str | None = None) -> Inspection:
    """Read the facts of a kernel from a linked code object, of whichever compiler.

    data: the code object, or an offload bundle. kernel: its name; None for the only one. target:
    which code of a bundle, such as "gfx1201"; None for the only one.

    MalformedCodeObject if the bytes are no code object that amdjit can read. AmdjitError if there
    is no kernel of that name or code for that target, or if several make a name necessary: it
    lists them.
    """
    try:
        whole = CodeObject.read(unbundled(data, target))
    except ValueError as error:
        raise AmdjitError(str(error)) from None
    return inspect_kernel(whole, _chosen(whole, kernel))


def _chosen(whole: CodeObject, name: str | None) -> Kernel:
    kernels = whole.kernels
    listed = ", ".join(sorted(kernels)) or "none"
    if name is not None and name not in kernels:
        raise AmdjitError(f"the code object has no kernel {name}; it has {listed}")
    if name is None and len(kernels) != 1:
        raise AmdjitError(f"name one of the code object's kernels: it has {listed}")
    return kernels[name] if name is not None else next(iter(kernels.values()))


def inspect_kernel(
    whole: CodeObject, kernel: Kernel, companion: Companion | None = None, is_flat: bool = False
) -> Inspection:
    """Return the facts of one kernel of a code object. companion: what else is known of it.
    is_flat: its source asks for no work-item ids along y and z."""
    with collector_paused():
        return _inspection(whole, kernel, companion or Companion(), is_flat)


def _inspection(
    whole: CodeObject, kernel: Kernel, companion: Companion, is_flat: bool
) -> Inspection:
    target = whole.target
    code = read_machine_code(whole, kernel) if instruction_set_of(target.name) else None
    names = read_debug_names(whole)
    found = _found(code, names) if code is not None else _NOTHING
    shape = workgroup_shape(kernel, is_flat)
    accesses = () if code is None else memory_accesses(code, shape)
    metadata = kernel.metadata
    return Inspection(
        kernel=kernel.name,
        target=target.id,
        wave_size=metadata.wave_size,
        wgp_mode=kernel.descriptor.wgp_mode,
        producer=names.info.producer,
        vgprs=metadata.vgpr_count,
        sgprs=metadata.sgpr_count,
        vgpr_spills=metadata.vgpr_spills,
        sgpr_spills=metadata.sgpr_spills,
        lds_bytes=metadata.group_segment_bytes,
        scratch_bytes=metadata.private_segment_bytes,
        code_bytes=kernel.code_size,
        workgroup_size=metadata.max_flat_workgroup_size,
        instructions=found.instructions,
        blocks=found.blocks,
        loops=found.loops,
        lines=line_facts(found.instructions),
        peak=found.peak,
        occupancy=occupancy_of(read_demand(kernel), target),
        accesses=accesses,
        missing=(
            *missing_facts(whole, kernel, target, code, names),
            *missing_shape(kernel, shape, accesses),
        ),
        companion=companion,
        code_object=whole.data,
        register_banks=() if code is None else register_banks(i for _, i in code.instructions()),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """What the machine code shows."""

    instructions: tuple[InstructionFacts, ...]
    blocks: tuple[BlockFacts, ...]
    loops: tuple[LoopFacts, ...]
    peak: Peak


_NOTHING = _Found((), (), (), Peak(0, 0, 0))


def _found(code: MachineCode, names: DebugNames) -> _Found:
    structure = Structure(code)
    instructions = instruction_facts(code, structure, names)
    return _Found(
        instructions,
        block_facts(code, structure, instructions),
        structure.loops,
        _peak(code, instructions, names),
    )


def _peak(code: MachineCode, instructions: tuple[InstructionFacts, ...], names: DebugNames) -> Peak:
    highest = peak_of(instructions)
    assert highest is not None
    vgprs, sgprs = len(highest.live_vgprs), len(highest.live_sgprs)
    origins = live_origins(code, highest, {each.address: each.place for each in instructions})
    return Peak(highest.address, vgprs, sgprs, names.live_values(highest), origins)


# The facts of each instruction.


@dataclass(frozen=True, slots=True)
class _Known:
    """What analyses of the whole kernel say of its instructions."""

    live: Mapping[int, Live]
    waits: Waits
    structure: Structure
    names: DebugNames


def instruction_facts(
    code: MachineCode, structure: Structure, names: DebugNames
) -> tuple[InstructionFacts, ...]:
    """Return the facts of a kernel's instructions, by address."""
    known = _Known(live_registers(code), find_waits(code.graph), structure, names)
    return tuple(
        _facts(code, instruction, block, known) for block, instruction in code.instructions()
    )


def _facts(
    code: MachineCode, instruction: Instruction, block: int, known: _Known
) -> InstructionFacts:
    address, live, waits = instruction.pc, known.live[instruction.pc], known.waits
    is_known = address not in code.unknown
    file, line = code.whole.line_of(address) or (None, None)
    return InstructionFacts(
        address=address,
        size=instruction.size,
        text=disassemble(instruction) if is_known else code.raw_text(address),
        mnemonic=_mnemonic(instruction) if is_known else "unknown",
        unit=unit_of(instruction) if is_known else "other",
        issue_cycles=issue_cycles(instruction) if is_known else None,
        file=file,
        line=line,
        inlined_from=known.names.inlined_from(address),
        block=known.structure.numbers[block],
        loop_depth=known.structure.depth_of(known.structure.numbers[block]),
        live_vgprs=live.vgprs,
        live_sgprs=live.sgprs,
        waits_for=waits.waits_for.get(address, ()),
        waited_by=waits.waited_by.get(address, ()),
        needs=waits.needs.get(address, ()),
    )


def _mnemonic(instruction: Instruction) -> str:
    if instruction.pair is None:
        return instruction.mnemonic
    return f"{instruction.mnemonic} :: {instruction.pair.mnemonic}"
