"""What a code object does not tell, and why, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from amdjit.code_object import CodeObject, Kernel, MalformedCodeObject
from amdjit.inspection.debug_names import DebugNames
from amdjit.inspection.facts import AccessFacts
from amdjit.inspection.machine_code import MachineCode
from amdjit.isa.instruction_set import instruction_set_of
from amdjit.isa.register_numbers import HALF_LANES
from amdjit.target import Target

__all__ = [
    "HIDDEN_BRANCHES",
    "NO_CODE_SIZE",
    "NO_NAMES",
    "NO_SCRATCH_SIZE",
    "missing_facts",
    "missing_shape",
]

NO_NAMES = (
    "Names of the values in registers: the debug information has no variables. "
    "debug_variables=True asks amdjit for them, -g other compilers; code generators lose many."
)
HIDDEN_BRANCHES = (
    "Where branches through registers go: the symbol table is stripped. All values "
    "count as live there, and functions that are only reached so are not listed."
)
NO_CODE_SIZE = "The size of the machine code: no symbol says it."
NO_SCRATCH_SIZE = "The size of scratch memory: the stack grows at run time."


def missing_facts(
    whole: CodeObject, kernel: Kernel, target: Target, code: MachineCode | None, names: DebugNames
) -> tuple[str, ...]:
    """Return what could not be found out of a kernel, and why."""
    return (
        *_missing_code(target, code),
        *_missing_lines(whole, names),
        *_missing_sizes(kernel),
    )


def _missing_code(target: Target, code: MachineCode | None) -> list[str]:
    if instruction_set_of(target.name) is None:
        return [
            f"Instructions and all that follows from them: amdjit does not decode the machine code "
            f"of {target.name}."
        ]
    if code is None:
        return [
            "Instructions and all that follows from them: too much of what the kernel reaches is "
            "no instruction that amdjit knows."
        ]
    found = [
        f"What happens at {address:#x} and after it: {reason}. All values count as live there."
        for address, reason in sorted(code.unknown.items())
    ]
    is_gfx9 = target.isa[0] == 9
    if is_gfx9:
        found += _missing_times(target, code)
    elif target.isa[0] != 12:
        found.append(
            f"Register banks of {target.name}: those that are shown were measured on gfx12, issue "
            "cycles on gfx1100 and gfx1151."
        )
    if code.wave_size > HALF_LANES and not is_gfx9:
        found.append("Issue cycles of a wave of 64 lanes: those that are shown are of 32 lanes.")
    if code.hides_functions:
        found.append(HIDDEN_BRANCHES)
    return found


def _missing_times(target: Target, code: MachineCode) -> Iterator[str]:
    if target.name != "gfx950":
        yield (
            f"Issue cycles of {target.name}: those that are shown were measured on gfx950, or are "
            "those of LLVM's scheduling model."
        )
    if any(item.traits.block_product is not None for _, item in code.instructions()):
        yield (
            "Issue cycles of MFMA: those that are shown are a rule (AMD's matrix instruction "
            "calculator, LLVM's scheduling model), not measured."
        )


def _missing_lines(whole: CodeObject, names: DebugNames) -> list[str]:
    found = []
    try:
        if not whole.line_table.rows:
            found = ["Source lines: the code object has no line table (compile with -g)."]
    except MalformedCodeObject as error:
        found = [f"Source lines: the line table is broken ({error})."]
    if names.problem:
        found.append(f"Inlined calls and variables: .debug_info is broken ({names.problem}).")
    elif whole.elf.section(".debug_info") is None and not found:
        found = ["Inlined calls and variables: the code object has no .debug_info."]
    elif not names.info.has_variables and not found:
        found = [NO_NAMES]
    return found


def _missing_sizes(kernel: Kernel) -> list[str]:
    found = []
    if not kernel.code_size:
        found.append(NO_CODE_SIZE)
    if kernel.metadata.uses_dynamic_stack:
        found.append(NO_SCRATCH_SIZE)
    return found


def missing_shape(
    kernel: Kernel, shape: tuple[int, int, int] | None, accesses: tuple[AccessFacts, ...]
) -> tuple[str, ...]:
    """Return what the accesses do not tell because the kernel fixes no shape of workgroups. shape:
    the one that was taken for granted."""
    if kernel.metadata.required_workgroup_size is not None:
        return ()
    if shape is not None:
        if all(access.uniform is not False for access in accesses):
            return ()
        return (
            "Whether workgroups have one dimension: the kernel only asks for work-item ids along "
            "x, and for numbers of waves. Lane strides and bank conflicts are those of workgroups "
            "with one.",
        )
    if all(access.uniform is not None for access in accesses):
        return ()
    return (
        "Lane strides and bank conflicts of addresses that depend on work-item ids: the kernel "
        "asks for ids along several dimensions and fixes no size of workgroups. An exact one makes "
        "them known: block=(64, 4, 1) in amdjit, reqd_work_group_size in OpenCL.",
    )
