"""Libraries of bitcode: where ROCm's OCML is, and how its functions and those of users' files become part of a kernel.

OCML reads what it must know of the target from constants that its user defines. Source: ROCm-Device-Libs, README,
"Using BitCode Libraries", and doc/OCLC.md.
"""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm

from amdjit.diagnostics.errors import BackendError
from amdjit.options import Environment
from amdjit.target import Target

__all__ = ["find_ocml", "read_library", "with_libraries"]

_FILE = "ocml.bc"
_BITCODE_MAGIC = b"BC\xc0\xde"
_CONSTANT_PREFIX = "__oclc_"
_PROCESSOR = re.compile(r'"target-cpu"="(\w+)"')
_DEFAULT_ROCM = Path("/opt/rocm")
_DEBIAN = Path("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")
# Python packages that carry it, and where.
_PACKAGES = (
    ("triton", "backends/amd/lib"),
    ("iree", "compiler/_mlir_libs/iree_platform_libs/rocm"),
)


@cache
def find_ocml(environment: Environment) -> Path | None:
    """Return the file of OCML's bitcode, None if there is none.

    In this order: AMDJIT_DEVICE_LIBS, ROCm (ROCM_PATH, then /opt/rocm), Debian's rocm-device-libs, a Python package
    that carries it (triton, iree-base-compiler).
    """
    if environment.device_libraries is not None:
        file = environment.device_libraries / _FILE
        return file if file.is_file() else None
    roots = [root for root in (environment.rocm_path, _DEFAULT_ROCM) if root is not None]
    folders = [root / "amdgcn" / "bitcode" for root in roots]
    found = next((folder / _FILE for folder in (*folders, _DEBIAN) if (folder / _FILE).is_file()), None)
    return found or _in_packages()


def _in_packages() -> Path | None:
    for package, folder in _PACKAGES:
        specification = importlib.util.find_spec(package)
        for location in (specification.submodule_search_locations or ()) if specification else ():
            file = Path(location, folder, _FILE)
            if file.is_file():
                return file
    return None


def read_library(file: Path) -> bytes:
    """Return a library's bytes; BackendError if it cannot be read."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise BackendError(f"the library {file} cannot be read: {error.strerror}") from error


def with_libraries(llvm_text: str, libraries: tuple[bytes, ...], layout: str, target: Target, wave_size: int) -> str:
    """Return IR with what it calls out of libraries of bitcode or IR; nothing of them is visible outside it.

    layout: the target's data layout. BackendError in LLVM's words, or if a library is of another processor.
    """
    try:
        with llvm.create_context() as context, llvm.parse_assembly(llvm_text, context) as module:
            module.data_layout = layout
            declared = {f.name: str(f.global_value_type) for f in module.functions if f.is_declaration}
            own = {function.name for function in module.functions if not function.is_declaration}
            for content in (*libraries, _constants(target, wave_size).encode()):
                _link(module, content, context, target)
            _check_types(module, declared)
            _hide(module, own)
            return str(module)
    except RuntimeError as error:
        raise BackendError(f"LLVM cannot link a library: {error}") from error


def _link(module: llvm.ModuleRef, content: bytes, context: llvm.ContextRef, target: Target) -> None:
    # Leaving the block closes what has not become part of the module; it has to go before its context.
    with _parsed(content, context) as library:
        _check_platform(library, target)
        library.data_layout, library.triple = module.data_layout, module.triple
        module.link_in(library)


def _check_types(module: llvm.ModuleRef, declared: dict[str, str]) -> None:
    """A call by another type than the function's is undefined, and LLVM accepts it."""
    for function in module.functions:
        found = str(function.global_value_type)
        if declared.get(function.name, found) != found:
            raise BackendError(f"a library's {function.name} is {found}, and is declared as {declared[function.name]}")


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
        raise BackendError(f"a library is for {', '.join(sorted(processors))}, and the kernel for {target}")


def _hide(module: llvm.ModuleRef, own: set[str]) -> None:
    for function in module.functions:
        if function.name not in own and not function.is_declaration:
            function.linkage = "internal"
    for variable in module.global_variables:
        if variable.name.startswith(_CONSTANT_PREFIX):
            variable.linkage = "internal"


def _constants(target: Target, wave_size: int) -> str:
    """Return the definitions of what OCML asks: IEEE arithmetic with denormals, and the processor."""
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
        f"@{_CONSTANT_PREFIX}{name} = addrspace(4) constant {type} {value}\n" for name, (type, value) in values.items()
    )
