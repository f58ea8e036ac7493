"""The list of the kernel's static LDS arrays in its IR. `amdjit.backend.lds` fixes their addresses
after the optimiser."""

from __future__ import annotations

from llvmlite import ir

from amdjit.lowering.state import ModuleState
from amdjit.lowering.types import I32
from amdjit.tree.lds_arrays import lds_arrays
from amdjit.tree.nodes import Program

__all__ = ["list_lds_arrays"]


def list_lds_arrays(state: ModuleState, program: Program) -> None:
    """Add the metadata `!amdjit.lds`: for each array the variable's name, its offset and its size
    in bytes."""
    names = {variable.get_reference(): name for name, variable in state.module.globals.items()}
    for array in lds_arrays(program):
        if id(array.allocation) in state.lds:
            name = names[state.lds[id(array.allocation)][1].pointer.text]
            row = [name, ir.Constant(I32, array.offset), ir.Constant(I32, array.nbytes)]
            state.module.add_named_metadata("amdjit.lds", row)
