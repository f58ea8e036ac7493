"""Operations that reductions and scans combine values with: the well-known ones, and the user's."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from amdjit.algorithms.elements import Kind, kind_of
from amdjit.algorithms.outputs import holds
from amdjit.algorithms.result_types import ResultTypes
from amdjit.target import Target
from amdjit.types import Scalar, f32

__all__ = ["Operation", "addition", "initial_argument", "initial_value", "operation_of"]

_RESULT_TYPES = ResultTypes({"warnings": False})


@dataclass(frozen=True, slots=True)
class _Known:
    """A well-known operation. identity: what it leaves other values as they are with, if that is
    one value for all types. accumulates: whether narrow floats are combined as f32."""

    identity: int | None = None
    accumulates: bool = False


_ADD, _MULTIPLY, _LEAST, _BITS = _Known(0, True), _Known(1, True), _Known(), _Known(0)
_ALL = _Known(-1)
_KNOWN: dict[Any, _Known] = {
    operator.add: _ADD,
    np.add: _ADD,
    operator.mul: _MULTIPLY,
    np.multiply: _MULTIPLY,
    min: _LEAST,
    max: _LEAST,
    np.minimum: _LEAST,
    np.maximum: _LEAST,
    operator.or_: _BITS,
    np.bitwise_or: _BITS,
    operator.xor: _BITS,
    np.bitwise_xor: _BITS,
    operator.and_: _ALL,
    np.bitwise_and: _ALL,
}


@dataclass(frozen=True, slots=True)
class Operation:
    """An associative function of two values and the values that it combines."""

    function: Callable[..., Any]
    name: str
    commutes: bool
    """Whether the values may be taken in another order."""
    kind: Kind
    """What is combined."""
    result: Kind
    """The type of the result's elements."""
    identity: Any
    """The neutral element, of this kind; None if there is none or it is not known."""

    @property
    def unrounded(self) -> Operation:
        """This operation with results as they are combined, of `kind`."""
        return replace(self, result=self.kind)

    @property
    def is_exact(self) -> bool:
        """Whether the result does not depend on the grouping of the values."""
        return self.kind.is_exact or _KNOWN.get(self.function) is _LEAST


def operation_of(
    function: Callable[..., Any], dtype: np.dtype[Any], wanted: Any, target: Target
) -> Operation:
    """Return the operation for an array's elements. wanted: the type to combine in, or None.

    TypeError if the function's result cannot be combined further, CompileError for what is wrong in
    the function.
    """
    known = _known(function)
    name = getattr(function, "__name__", None) or repr(function)
    if wanted is not None:
        result = kind_of(np.dtype(wanted))
        _check_conversion(dtype, result)
    else:
        result = _closed(function, name, kind_of(dtype), known, target)
    kind = result
    if known is not None and _is_narrow(result) and (known.accumulates or _is_storage(result)):
        kind = kind_of(np.dtype(np.float32))
    identity = None
    if known is not None and known.identity is not None and not result.is_record:
        identity = _identity(kind, known.identity)
    return Operation(
        function, name, commutes=known is not None, kind=kind, result=result, identity=identity
    )


def _known(function: Any) -> _Known | None:
    try:
        return _KNOWN.get(function)
    except TypeError:
        raise TypeError(f"{function!r} cannot be hashed, so kernels cannot name it") from None


def _closed(
    function: Callable[..., Any], name: str, kind: Kind, known: _Known | None, target: Target
) -> Kind:
    """Return the kind that the function makes of two values of itself, from the elements' on."""
    if kind.is_record or (known is not None and _is_storage(kind)):
        return kind
    for _ in range(3):
        found = _RESULT_TYPES.of(function, (kind.type, kind.type), target)
        dtypes = found.dtypes(name)
        if len(dtypes) != 1:
            raise TypeError(f"{name} returns {len(dtypes)} values for numbers of {kind.dtype}")
        if dtypes[0] == kind.dtype:
            return kind
        if not holds(dtypes[0], kind.dtype):
            break
        kind = kind_of(dtypes[0])
    raise TypeError(
        f"{name} makes {dtypes[0]} of two {kind.dtype}, which it cannot combine further: return "
        "what it takes, or give dtype="
    )


def _is_narrow(kind: Kind) -> bool:
    scalar = kind.constructor
    return isinstance(scalar, Scalar) and scalar.is_float and scalar.bits < f32.bits


def _is_storage(kind: Kind) -> bool:
    return isinstance(kind.constructor, Scalar) and kind.constructor.storage_only


def _identity(kind: Kind, value: int) -> Any:
    if value == -1 and kind.dtype == np.bool_:
        return np.True_
    return np.array(value).astype(kind.dtype)[()]


def _check_conversion(dtype: np.dtype[Any], result: Kind) -> None:
    if dtype != result.dtype and (dtype.names is not None or result.is_record):
        raise TypeError(f"elements of {dtype} are not combined as {result.dtype}")
    if dtype.kind == "c" and result.dtype.kind != "c":
        raise TypeError(f"complex numbers are not combined as {result.dtype}: take their parts")


def initial_value(init: Any, operation: Operation, length: int, what: str) -> Any:
    """Return the value to combine first, of the operation's kind; None if there is none.

    ValueError if a segment is empty and no such value is known.
    """
    if init is not None:
        dtype = operation.kind.dtype
        first = np.array(init if dtype.names is None else tuple(init), dtype)
        if first.ndim:
            raise ValueError(f"init={init!r}: give one value, not an array")
        return first[()]
    if length == 0 and operation.identity is None:
        raise ValueError(
            f"{what} with {operation.name} needs init=: there is no known value to begin with"
        )
    return operation.identity if length == 0 else None


def initial_argument(init: Any) -> tuple[Any, bool]:
    """Return an initial value as kernels take it, and whether there is one."""
    return (np.int32(0), False) if init is None else (init, True)


def addition(dtype: np.dtype[Any]) -> Operation:
    """Return the addition of integers of a type."""
    kind = kind_of(dtype)
    return Operation(
        operator.add, "add", commutes=True, kind=kind, result=kind, identity=dtype.type(0)
    )
