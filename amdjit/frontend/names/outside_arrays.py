"""NumPy arrays from outside the kernel: their content becomes part of the code."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.values.dependencies import Content, content_of
from amdjit.frontend.values.structures import element_of_dtype
from amdjit.tree import nodes as tree
from amdjit.tree.constant_arrays import ConstantArray
from amdjit.types import AddressSpace, Array, Layout

__all__ = ["MOST_CONSTANT_BYTES", "constant_array"]

# Each launch compares the content with what was compiled in, and the code object holds it. Tables
# that kernels read through scalar loads are far smaller: the scalar cache has 16 KiB (RDNA4 ISA,
# "Scalar Memory Operations").
MOST_CONSTANT_BYTES = 64 * 1024


def constant_array(
    builder: FunctionBuilder, array: NDArray[Any], name: str, node: ast.AST
) -> tree.Expression:
    """Return a NumPy array from outside as an array in constant memory."""
    element = element_of_dtype(array.dtype)
    if element is None or isinstance(array, np.ma.MaskedArray):
        kind = "masked array" if isinstance(array, np.ma.MaskedArray) else "NumPy array"
        what = f"a {kind} of {array.dtype}"
        raise _refused(
            builder, node, name, what, f"convert it outside: `{name}.astype(np.float32)`"
        )
    if array.nbytes > MOST_CONSTANT_BYTES:
        raise _refused(
            builder,
            node,
            name,
            f"a NumPy array of {array.nbytes:,} bytes",
            f"pass it as an argument, or keep it on the device, `{name} = amdjit.to_device({name})`"
            f"; arrays of up to {MOST_CONSTANT_BYTES:,} bytes become constants",
        )
    content = content_of(array)
    builder.session.note_read(array, name, content, Content)
    type = Array(
        element, array.ndim, Layout.CONTIGUOUS, AddressSpace.CONSTANT, tuple(map(int, array.shape))
    )
    return ConstantArray(builder.span(node), type, name, content.elements)


def _refused(
    builder: FunctionBuilder, node: ast.AST, name: str, what: str, remedy: str
) -> CompileError:
    return builder.error(codes.UNSUPPORTED_GLOBAL, node, name=name, what=what, remedy=remedy)
