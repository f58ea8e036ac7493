"""Arrays whose content is part of the code, in constant memory.

before: `TABLE[i]`, where `TABLE` is a NumPy array of the kernel's module
after:  `@TABLE = internal addrspace(4) constant [16 x i8] c"..."`, and a load from it

The address space is that of memory that never changes (LLVM AMDGPU guide, "Address Spaces"): LLVM
reads it through scalar loads where all lanes read the same element, and folds constant indices.
"""

from __future__ import annotations

import re
from typing import Any

from llvmlite import ir

from amdjit.lowering.abi import unflatten
from amdjit.lowering.state import FunctionState
from amdjit.lowering.types import I8, Literal, pointer_to
from amdjit.tree.constant_arrays import ConstantArray
from amdjit.types import AddressSpace

__all__ = ["constant_array"]

# LLVM may read all 4 bytes around a byte, and 16 is the alignment of the widest load.
_ALIGNMENT = 16
_NO_NAME = re.compile(r"[^\w.]+")


def constant_array(state: FunctionState, node: ConstantArray) -> Any:
    """Return the array; arrays of the same content share their memory."""
    constants = state.module.constants
    if node.content not in constants:
        padded = node.content + bytes(-len(node.content) % _ALIGNMENT or _ALIGNMENT)
        storage = ir.ArrayType(I8, len(padded))
        module = state.module.module
        name = module.get_unique_name(_NO_NAME.sub("_", node.name))
        variable = ir.GlobalVariable(module, storage, name, AddressSpace.CONSTANT.value)
        variable.linkage = "internal"
        variable.global_constant = True
        variable.unnamed_addr = True
        variable.align = _ALIGNMENT
        variable.initializer = ir.Constant(storage, bytearray(padded))
        constants[node.content] = Literal(
            pointer_to(AddressSpace.CONSTANT), variable.get_reference()
        )
    return unflatten(node.type, [constants[node.content]])
