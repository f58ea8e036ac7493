"""From the typed tree to LLVM IR. The lowering never infers types: it writes down what the tree
says.

`module.lower` declares the functions of a program and lowers their bodies (`function`, `loops`,
`expressions`). An expression becomes an LLVM value, an `abi.ArrayValue` or a
tuple of values. `builder` is llvmlite's IR builder with what the AMDGPU target needs; `types` maps
types and constants. Start at `module`, then `expressions`.

Imports: the tree, types and declarations; neither the front end nor the backend.
"""

from amdjit.lowering.module import lower

__all__ = ["lower"]
