"""Checks for mistakes in a module at which LLVM would abort, or which would become code that no
device loads."""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from amdjit.diagnostics.errors import BackendError
from amdjit.target import Target

__all__ = [
    "check_calls",
    "check_lds",
    "check_scratch",
    "has_inline_assembly",
    "has_whole_wave_code",
]

_LDS = "addrspace(3)"
_GLOBAL_NAME = re.compile(r'@("(?:[^"\\]|\\.)*"|[-a-zA-Z$._0-9]+)')
_INLINE_ASSEMBLY = re.compile(
    r"^module asm |\b(?:call|callbr|invoke)\b[^\n\"]*\basm\b[^\n\"]*\"[^\"]", re.MULTILINE
)
_WHOLE_WAVE = re.compile(r"@llvm\.amdgcn\.(?:(?:strict\.)?w[wq]m|set\.inactive)\b")

# The scratch of a wave, shared by its lanes: 2**18 - 1 granules of 256 bytes
# (GCNSubtarget::getMaxWaveScratchSize, gfx12). Above it LLVM ends the process with "stack frame
# size exceeds limit".
_WAVE_SCRATCH = ((1 << 18) - 1) * 256
_ALLOCA = re.compile(
    r"= alloca ([^%\n]+?)(?:, align \d+)?(?:, addrspace\(5\))?(?:, ![^\n]*)?$", re.MULTILINE
)


def has_inline_assembly(llvm_text: str) -> bool:
    """Return whether the IR holds machine instructions as text; empty text needs no parser."""
    return _INLINE_ASSEMBLY.search(llvm_text) is not None


def has_whole_wave_code(llvm_text: str) -> bool:
    """Return whether some of the IR runs in all lanes, whichever are active."""
    return _WHOLE_WAVE.search(llvm_text) is not None


def check_calls(module: llvm.ModuleRef) -> None:
    """Raise BackendError if the module declares a function that nothing defines.

    A misspelt intrinsic is one: the verifier accepts it, and the linker would find it missing. LLVM
    marks it when it prints it. An intrinsic whose types do not fit its name lacks the attributes
    that LLVM gives each intrinsic when it parses the declaration.
    """
    for function in module.functions:
        if not function.is_declaration:
            continue
        if not function.name.startswith("llvm."):
            raise BackendError(f"the IR calls {function.name}, which nothing defines")
        printed = str(function).strip()
        if "; Unknown intrinsic" in printed or not any(True for _ in function.attributes):
            signature = printed.splitlines()[-1]
            raise BackendError(
                f"LLVM {llvm.llvm_version_info[0]} has no such intrinsic: {signature}"
            )


def check_lds(module: llvm.ModuleRef, layout: llvm.TargetData, target: Target) -> None:
    """Raise BackendError if a kernel has more static LDS than a workgroup may have.

    LLVM would end the process.
    """
    sizes = _lds_sizes(module, layout)
    if sum(sizes.values()) <= target.lds_per_workgroup:
        return
    references = _references(module)
    for function in module.functions:
        used = _reachable(function.name, references)
        total = sum(size for name, size in sizes.items() if name in used)
        if total > target.lds_per_workgroup:
            raise BackendError(
                f"{function.name} uses {total} bytes of LDS; "
                f"a workgroup of {target} has {target.lds_per_workgroup}: make its shared arrays "
                "smaller"
            )


def check_scratch(llvm_text: str, layout: llvm.TargetData, wave_size: int) -> None:
    """Raise BackendError if a function's local arrays exceed a lane's scratch.

    LLVM would end the process.
    """
    limit = _WAVE_SCRATCH // wave_size
    for text in re.split(r"^define ", llvm_text, flags=re.MULTILINE)[1:]:
        total = sum(_type_size(kind, layout) for kind in _ALLOCA.findall(text) if "[" in kind)
        if total > limit:
            name = _GLOBAL_NAME.search(text)
            raise BackendError(
                f"{name.group(1) if name else 'a function'} has {total} bytes of local arrays for "
                "each work-item; "
                f"there is room for {limit}: make them smaller, or keep them in global memory"
            )


def _type_size(kind: str, layout: llvm.TargetData) -> int:
    """Return the bytes of a type given as text."""
    with (
        llvm.create_context() as context,
        llvm.parse_assembly(f"@g = external global {kind}", context) as module,
    ):
        return int(layout.get_abi_size(module.get_global_variable("g").global_value_type))


def _lds_sizes(module: llvm.ModuleRef, layout: llvm.TargetData) -> dict[str, int]:
    return {
        variable.name: layout.get_abi_size(variable.global_value_type)
        for variable in module.global_variables
        if _LDS in str(variable.type)
    }


def _references(module: llvm.ModuleRef) -> dict[str, frozenset[str]]:
    """Return the global names that the text of each function and variable mentions."""
    symbols = [*module.functions, *module.global_variables]
    return {
        symbol.name: frozenset(name.strip('"') for name in _GLOBAL_NAME.findall(str(symbol)))
        for symbol in symbols
    }


def _reachable(start: str, references: dict[str, frozenset[str]]) -> frozenset[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(references.get(name, ()))
    return frozenset(seen)
