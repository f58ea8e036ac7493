"""A program to the text of an LLVM module."""

from __future__ import annotations

from llvmlite import ir

from amdjit.lowering.debug_info import DebugInfo
from amdjit.lowering.function import declare_device_function, declare_kernel, lower_function
from amdjit.lowering.state import ModuleState
from amdjit.options import CompileOptions
from amdjit.tree.nodes import Program

__all__ = ["lower"]

TRIPLE = "amdgcn-amd-amdhsa"

# The code object version that clang 22 writes by default, times 100 (LLVM AMDGPU guide, "Code Object").
_CODE_OBJECT_VERSION = 600
_ERROR = 1


def lower(program: Program, options: CompileOptions) -> str:
    """Return the LLVM IR of a verified program for the target and options; InternalError for what has no lowering."""
    module = ir.Module(program.kernel.name, context=ir.Context())
    module.triple = TRIPLE
    i32 = ir.IntType(32)
    flag = [i32(_ERROR), "amdhsa_code_object_version", i32(_CODE_OBJECT_VERSION)]
    module.add_named_metadata("llvm.module.flags", flag)
    debug_info = DebugInfo(module, program.kernel.span.file) if options.debug_info else None
    state = ModuleState(module, options, debug_info)
    kernel = declare_kernel(state, program.kernel, program.written)
    for function in program.functions:
        state.functions[function] = declare_device_function(state, function)
    for function, declared in state.functions.items():
        lower_function(state, function, declared)
    lower_function(state, program.kernel, kernel)
    return str(module)
