"""Make functions of ROCm's OCML and of users' bitcode part of a kernel.

    declare double @__ocml_sin_f64(double)
->
    define internal double @__ocml_sin_f64(double %x) { ... }
    @__oclc_wavefrontsize64 = internal addrspace(4) constant i8 0

OCML reads what it must know of the target from constants that its user defines. Source:
ROCm-Device-Libs, README, "Using BitCode Libraries", and doc/OCLC.md.
"""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from amdjit.diagnostics.errors import BackendError
from amdjit.target import Target

__all__ = ["with_libraries"]

_BITCODE_MAGIC = b"BC\xc0\xde"
_CONSTANT_PREFIX = "__oclc_"
_PROCESSOR = re.compile(r'"target-cpu"="([\w-]+)"')


def with_libraries(
    llvm_text: str, libraries: tuple[bytes, ...], layout: str, target: Target, wave_size: int
) -> str:
    """Return IR with the functions that it calls from libraries of bitcode or IR.

    They are visible only inside the module. layout: the target's data layout. BackendError in
    LLVM's words, or if a library is for another processor.
    """
    try:
        with llvm.create_context() as context, llvm.parse_assembly(llvm_text, context) as module:
            module.data_layout = layout
            declared = {
                f.name: str(f.global_value_type) for f in module.functions if f.is_declaration
            }
            own = {function.name for function in module.functions if not function.is_declaration}
            for content in (*libraries, _constants(target, wave_size).encode()):
                _link(module, content, context, target)
            _check_types(module, declared)
            _hide(module, own)
            return str(module)
    except RuntimeError as error:
        raise BackendError(f"LLVM cannot link a library: {error}") from error


def _link(module: llvm.ModuleRef, content: bytes, context: llvm.ContextRef, target: Target) -> None:
    # Leaving the block closes what has not become part of the module, which must happen before
    # the context is closed.
    with _parsed(content, context) as library:
        _check_platform(library, target)
        library.data_layout, library.triple = module.data_layout, module.triple
        module.link_in(library)


def _check_types(module: llvm.ModuleRef, declared: dict[str, str]) -> None:
    """Refuse declarations of another type than the function's: LLVM accepts such a call, whose
    behaviour is undefined."""
    for function in module.functions:
        found = str(function.global_value_type)
        if declared.get(function.name, found) != found:
            raise BackendError(
                f"a library's {function.name} is {found}, and is declared as "
                f"{declared[function.name]}"
            )


def _parsed(content: bytes, context: llvm.ContextRef) -> llvm.ModuleRef:
    if content.startswith(_BITCODE_MAGIC):
        return llvm.parse_bitcode(content, context)
    try:
        return llvm.parse_assembly(content.decode(), context)
    except UnicodeDecodeError:
        raise BackendError("a library is neither LLVM bitcode nor LLVM IR") from None


def _check_platform(library: llvm.ModuleRef, target: Target) -> None:
    if library.triple and not library.triple.startswith("amdgcn"):
        raise BackendError(f"a library is for {library.triple}, not for amdgcn")
    processors = set(_PROCESSOR.findall(str(library))) - {target.name}
    if processors:
        raise BackendError(
            f"a library is for {', '.join(sorted(processors))}, and the kernel for {target}"
        )


def _hide(module: llvm.ModuleRef, own: set[str]) -> None:
    for function in module.functions:
        if function.name not in own and not function.is_declaration:
            function.linkage = "internal"
    for variable in module.global_variables:
        if variable.name.startswith(_CONSTANT_PREFIX):
            variable.linkage = "internal"


def _constants(target: Target, wave_size: int) -> str:
    """Return the constants that OCML reads: IEEE arithmetic with denormals, and the processor."""
    major, minor, stepping = target.isa
    values = {
        "finite_only_opt": ("i8", 0),
        "unsafe_math_opt": ("i8", 0),
        "daz_opt": ("i8", 0),
        "correctly_rounded_sqrt32": ("i8", 1),
        "wavefrontsize64": ("i8", int(wave_size == 64)),
        "wavefrontsize_log2": ("i32", wave_size.bit_length() - 1),
        "ISA_version": ("i32", major * 1000 + minor * 100 + stepping),
        "ABI_version": ("i32", 500),
    }
    return "".join(
        f"@{_CONSTANT_PREFIX}{name} = addrspace(4) constant {type} {value}\n"
        for name, (type, value) in values.items()
    )
