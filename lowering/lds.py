"""Where the workgroup's static LDS arrays lie: said to LLVM, so that reports can name the element of an address."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from amdjit.lowering.state import ModuleState
from amdjit.lowering.types import I32
from amdjit.tree.lds_arrays import lds_arrays
from amdjit.tree.nodes import Program
from amdjit.types import AddressSpace

__all__ = ["place_lds_arrays"]


def place_lds_arrays(state: ModuleState, program: Program, kernel: Any) -> None:
    """Fix the addresses of the LDS arrays that `lds_arrays` gives; none, where LLVM has others to place as well.

    LLVM takes either no address or all of them from the IR (its pass AMDGPULowerModuleLDS); it numbers named barriers,
    which are LDS variables too, only where it places all. Libraries that are linked later may have LDS of their own.
    """
    statics = {variable.get_reference(): variable for variable in _static_variables(state.module)}
    if len(statics) != len(state.lds):
        return
    arrays = lds_arrays(program)
    for array in arrays:
        if id(array.allocation) in state.lds:
            variable = statics[state.lds[id(array.allocation)][1].pointer.text]
            bounds = [ir.Constant(I32, array.offset), ir.Constant(I32, array.offset + 1)]
            variable.set_metadata("absolute_symbol", state.module.add_metadata(bounds))
    end = max(array.offset + array.type.size * array.type.element.nbytes for array in arrays)
    kernel.attributes.append(f'"amdgpu-lds-size"="{end}"')


def _static_variables(module: ir.Module) -> list[ir.GlobalVariable]:
    variables = [variable for variable in module.global_values if isinstance(variable, ir.GlobalVariable)]
    in_lds = [variable for variable in variables if variable.addrspace == AddressSpace.LDS.value]
    # The launch's dynamic LDS has no size here; it begins behind all static arrays in any case.
    return [variable for variable in in_lds if variable.linkage != "" or variable.value_type.count != 0]
