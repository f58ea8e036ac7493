"""From a program to the text of an LLVM module.

before: a `tree.Program`, as `tree.printer` shows it
after:  the module's IR: metadata, the kernel's definition, and those of its device functions
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from llvmlite import ir

from amdjit.lowering.debug_info import DebugInfo, DebugTypes
from amdjit.lowering.function import (
    declare_device_function,
    declare_kernel,
    lower_function,
    promise_arguments,
)
from amdjit.lowering.global_memory import ordered_at_barriers
from amdjit.lowering.state import ModuleState
from amdjit.lowering.types import I32
from amdjit.options import CompileOptions
from amdjit.target import TRIPLE
from amdjit.tree.lds_arrays import lds_arrays
from amdjit.tree.nodes import Program
from amdjit.types import Array

__all__ = ["lower"]

# LLVM 22's own layout for this triple; LLVM refuses any other.
_DATA_LAYOUT = (
    "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48"
    "-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048"
    "-n32:64-S32-A5-G1-ni:7:8:9"
)

# The code object version that clang 22 writes by default, times 100 (LLVM AMDGPU guide, "Code
# Object").
_CODE_OBJECT_VERSION = 600
_ERROR = 1
_NOTHING: Mapping[str, Array] = MappingProxyType({})


def lower(
    program: Program, options: CompileOptions, promises: Mapping[str, Array] = _NOTHING
) -> str:
    """Return the LLVM IR of a verified program; raise InternalError for a node that has no
    lowering.

    promises: the types of array parameters with what every launch promises about them.
    """
    module = ir.Module(program.kernel.name, context=ir.Context())
    module.triple = TRIPLE
    module.data_layout = _DATA_LAYOUT
    i32 = ir.IntType(32)
    flag = [i32(_ERROR), "amdhsa_code_object_version", i32(_CODE_OBJECT_VERSION)]
    module.add_named_metadata("llvm.module.flags", flag)
    debug_info = debug_types = None
    if options.debug_info:
        debug_info = DebugInfo(module, program.kernel.span.file, options.debug_variables)
        debug_types = DebugTypes(module) if options.debug_variables else None
    ordered = ordered_at_barriers(program, options, promises)
    state = ModuleState(
        module,
        options,
        debug_info=debug_info,
        debug_types=debug_types,
        reports=program.reports,
        ordered=ordered,
    )
    kernel = declare_kernel(state, program.kernel)
    for function in program.functions:
        state.functions[function] = declare_device_function(state, function)
    for function, declared in state.functions.items():
        lower_function(state, function, declared)
    lower_function(state, program.kernel, kernel)
    promise_arguments(state, program, kernel, promises)
    if state.lds:
        list_lds_arrays(state, program)
    return str(module)


# The list of the kernel's static LDS arrays in its IR. `amdjit.backend.lds` fixes their addresses
# after the optimiser.


def list_lds_arrays(state: ModuleState, program: Program) -> None:
    """Add the metadata `!amdjit.lds`: for each array the variable's name, its offset and its size
    in bytes."""
    names = {variable.get_reference(): name for name, variable in state.module.globals.items()}
    for array in lds_arrays(program):
        if id(array.allocation) in state.lds:
            name = names[state.lds[id(array.allocation)][1].pointer.text]
            row = [name, ir.Constant(I32, array.offset), ir.Constant(I32, array.nbytes)]
            state.module.add_named_metadata("amdjit.lds", row)
