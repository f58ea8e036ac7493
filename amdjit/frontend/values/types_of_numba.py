"""Numba's own types, in a process that has Numba, as amdjit's: `numba.float32` is f32."""

from __future__ import annotations

import sys
from typing import Any

from amdjit.frontend.values.structures import element_of_dtype
from amdjit.language.call_signatures import CallSignature
from amdjit.language.complex_types import ComplexElement
from amdjit.types import (
    VOID,
    AddressSpace,
    Array,
    Layout,
    Pointer,
    Record,
    Scalar,
    Tuple,
    dtype_of_element,
)

__all__ = ["as_numbas", "of_numba"]


def of_numba(given: Any) -> Any:
    """Return amdjit's type or signature for one of Numba's; other objects as they are, and types
    for which amdjit has none.

    A tuple becomes a tuple of types, as in signatures. Numba is not imported: its types are known
    by their module and by the names of their classes.
    """
    if not type(given).__module__.startswith("numba."):
        return given
    classes = {each.__name__ for each in type(given).__mro__}
    if "Signature" in classes:
        return CallSignature(of_numba(given.return_type), tuple(map(of_numba, given.args)))
    if "Type" not in classes:
        return given
    if "CPointer" in classes:
        return Pointer(of_numba(given.dtype), AddressSpace.GLOBAL)
    if "BaseTuple" in classes:
        return tuple(map(of_numba, given))
    if "Array" in classes:
        is_contiguous = given.layout == "C" or not given.ndim
        layout = Layout.CONTIGUOUS if is_contiguous else Layout.ANY
        return Array(of_numba(given.dtype), given.ndim, layout)
    return VOID if "NoneType" in classes else _element(given)


def _element(given: Any) -> Any:
    """Return the type of a number, a record or a date."""
    try:
        dtype = sys.modules["numba.np.numpy_support"].as_dtype(given)
    except NotImplementedError:
        return given
    return element_of_dtype(dtype) or given


def as_numbas(given: Any) -> Any:
    """Return Numba's type for one of amdjit's, in a process that has Numba; other objects, and
    types that Numba has not, as they are."""
    numba = sys.modules["numba"]
    if given == VOID:
        return numba.types.none
    if isinstance(given, Tuple):
        return numba.types.Tuple(tuple(map(as_numbas, given.elements)))
    if isinstance(given, Array):
        layout = "C" if given.layout is Layout.CONTIGUOUS else "A"
        return numba.types.Array(as_numbas(given.element), given.ndim, layout)
    if not isinstance(given, (ComplexElement, Record, Scalar)):
        return given
    try:
        return numba.from_dtype(dtype_of_element(given))
    except numba.core.errors.NumbaNotImplementedError:
        return given
