"""Expressions of instructions read with NumPy: a value is an array, which has the type's dtype."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import copysign, inf, isfinite, nextafter
from operator import add, and_, eq, ge, gt, le, lshift, lt, mul, ne, or_, rshift, sub, truediv, xor
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from amdjit.isa.analysis.mode import DENORMAL_BITS
from amdjit.isa.arithmetic import (
    Arithmetic,
    Value,
    bits_of,
    element_type,
    is_float,
)
from amdjit.isa.floats.modes import FloatState, llvm_mode, modify_input, rounding_shift
from amdjit.isa.instruction import Instruction, Opcode
from amdjit.isa.integer_rows import Pair, Row
from amdjit.late_methods import dataclass

__all__ = ["dtype_of", "of_arrays", "of_bits", "read_places"]

_FLOATS = {"half": np.float16, "float": np.float32, "double": np.float64}


@dataclass(frozen=True, slots=True)
class _Array(Value):
    """array: the numbers; integers are unsigned, as LLVM's have no sign."""

    array: Any = None


def dtype_of(code: str) -> np.dtype[Any]:
    """Return the dtype of an operand by the ISA's name of its type."""
    return _dtype(element_type(code))


def of_arrays(
    row: Row | Pair, instruction: Instruction, operands: Sequence[NDArray[Any]], mode: int
) -> tuple[NDArray[Any], ...]:
    """Return what an instruction makes of arrays, which are its operands in their order. Of the
    instruction, only the modifiers count. mode: the bits of MODE. Raises ValueError for modifiers
    whose effect is not known."""
    state = _ArrayState(mode)
    with np.errstate(all="ignore"):
        values = [
            state.source(instruction, place, array, isinstance(row, Row) and row.is_raw)
            for place, array in zip(read_places(instruction.opcode), operands, strict=True)
        ]
        found = state.results(row, values, instruction)
    return tuple(map(_array, found))


def read_places(opcode: Opcode) -> list[int]:
    """Return which operands an instruction reads, but for the old value of its result."""
    return [place for place, spec in enumerate(opcode.operands) if place and spec.read]


@dataclass(frozen=True, slots=True)
class _Approximate(Row):
    """An approximate instruction."""


def of_bits(compute: Callable[[NDArray[Any]], NDArray[Any]]) -> Row:
    """Return the row of an approximate instruction. compute: from bits to bits."""

    def expression(b: Arithmetic, x: Value) -> Value:
        raw = _array(x)
        return _value(x.type, compute(raw.view(f"u{raw.itemsize}")).view(raw.dtype))

    return _Approximate(expression)


class _ArrayState(FloatState):
    """MODE's bits, which are all known."""

    def __init__(self, mode: int) -> None:
        self.builder = self._arrays = _Arrays()
        self.mode = mode
        self.keeps_denormals = mode & DENORMAL_BITS == DENORMAL_BITS

    def mode_bit(self, bit: int) -> bool:
        """Return a bit of MODE."""
        return bool(self.mode >> bit & 1)

    def round_as(self, shift: int | None) -> None:
        """Set what floats are rounded by."""
        field = 0 if shift is None else self.mode >> shift & 3
        self._arrays.rounding = llvm_mode(field) if field else None

    def refuse(self, instruction: Instruction, reason: str) -> NoReturn:
        """Raise ValueError."""
        raise ValueError(f"{instruction.mnemonic}: {reason}")

    def source(
        self, instruction: Instruction, place: int, array: NDArray[Any], is_raw: bool
    ) -> Value:
        """Return an operand with its modifiers. is_raw: denormals are never flushed."""
        spec, modifiers = instruction.opcode.operands[place], instruction.modifiers
        value: Value = _value(element_type(spec.type), array)
        if spec.role[:3] != "src":
            return value
        number = int(spec.role[3])
        negate, absolute = bool(modifiers.neg >> number & 1), bool(modifiers.abs >> number & 1)
        value = modify_input(self.builder, value, negate, absolute)
        return value if is_raw else self.flushed_source(value)

    def results(
        self, row: Row | Pair, operands: list[Value], instruction: Instruction
    ) -> list[Value]:
        """Return an instruction's result, or both."""
        self.round_as(rounding_shift(instruction.traits.rounding))
        if not isinstance(row, Row):
            return [self.finished(each, instruction) for each in row(self.builder, *operands)]
        value = self.computed(row, operands, instruction)
        if isinstance(row, _Approximate):
            value = self.with_operand_nan(value, operands[0], instruction)
        if instruction.modifiers.clamp and row.clamped is None and not is_float(value.type):
            self.refuse(instruction, "what clamp does is not known")
        return [self.finished(value, instruction)]


def _dtype(kind: str) -> np.dtype[Any]:
    if kind == "i1":
        return np.dtype(bool)
    return np.dtype(_FLOATS.get(kind) or f"u{bits_of(kind) // 8}")


def _value(kind: str, array: Any) -> _Array:
    return _Array(kind, "", None, np.asarray(array, _dtype(kind)))


def _array(value: Value) -> NDArray[Any]:
    assert isinstance(value, _Array)
    return np.asarray(value.array)


def _signed(x: NDArray[Any]) -> NDArray[Any]:
    signed: NDArray[Any] = x.view(f"i{x.itemsize}")
    return signed


class _Arrays(Arithmetic):
    def const(self, shape: Value, value: float) -> _Array:
        if is_float(shape.type) or shape.type == "i1":
            return _value(shape.type, value)
        return _value(shape.type, int(value) & (1 << bits_of(shape.type)) - 1)

    def binary(self, operation: str, left: Value, right: Value) -> _Array:
        x, y = _array(left), _array(right)
        if self.rounding is not None and operation in ("fadd", "fsub", "fmul"):
            return _value(left.type, _directed_binary(operation, x, y, self._mode()))
        if operation == "ashr":
            return _value(left.type, (_signed(x) >> _signed(y)).astype(x.dtype))
        return _value(left.type, _BINARY[operation](x, y))

    def compare(self, predicate: str, left: Value, right: Value) -> _Array:
        x, y = _array(left), _array(right)
        if predicate[0] == "s":
            x, y = _signed(x), _signed(y)
        if not is_float(left.type):
            return _value("i1", _RELATIONS[predicate[-2:]](x, y))
        unordered = np.isnan(x) | np.isnan(y)
        if predicate in ("ord", "uno"):
            return _value("i1", unordered == (predicate == "uno"))
        holds = _RELATIONS[predicate[-2:]](x, y)
        return _value("i1", holds & ~unordered if predicate[0] == "o" else holds | unordered)

    def select(self, condition: Value, yes: Value, no: Value) -> _Array:
        # As bits, so that NaNs stay what they are.
        x, y = (_array(value) for value in (yes, no))
        bits = f"u{x.itemsize}"
        chosen = np.where(_array(condition), x.view(bits), y.view(bits))
        return _value(yes.type, chosen.view(x.dtype))

    def cast(self, operation: str, value: Value, type_name: str) -> _Array:
        x, to = _array(value), _dtype(type_name)
        if operation == "bitcast":
            return _value(type_name, x.view(to))
        if operation == "sext":
            return _value(type_name, _signed(x).astype(f"i{to.itemsize}").view(to))
        if operation in ("sitofp", "uitofp") and (self.rounding is None or to == np.float64):
            return _value(type_name, (_signed(x) if operation[0] == "s" else x).astype(to))
        if operation in ("sitofp", "uitofp", "fptrunc") and self.rounding is not None:
            # Integers of 32 bits are exact as f64.
            wide = (_signed(x) if operation[0] == "s" else x).astype(np.float64)
            return _value(type_name, _narrowed(wide, to, self._mode()))
        if operation.startswith("fpto"):
            return _value(type_name, _whole(x, to, operation[4] == "s"))
        return _value(type_name, x.astype(to))

    def intrinsic(self, name: str, *arguments: Value, flags: Sequence[Value] = ()) -> _Array:
        kind = arguments[0].type
        if name == "fma" and self.rounding is not None:
            x, y, z = map(_array, arguments)
            return _value(kind, _fused(x, y, z, self._mode()))
        return _value(kind, _INTRINSICS[name](*map(_array, arguments)).astype(_dtype(kind)))

    def _mode(self) -> int:
        assert self.rounding is not None
        assert self.rounding.known is not None
        return self.rounding.known


def _whole(x: NDArray[Any], to: np.dtype[Any], signed: bool) -> NDArray[Any]:
    """Truncate, saturate, and make 0 of NaN."""
    kind = np.dtype(f"{'i' if signed else 'u'}{to.itemsize}")
    limits = np.iinfo(kind)
    wide = np.trunc(x.astype(np.float64))
    inside = np.where((wide >= limits.min) & (wide <= limits.max), wide, 0).astype(kind)
    found = np.where(wide > limits.max, limits.max, np.where(wide < limits.min, limits.min, inside))
    return np.asarray(found, kind).view(to)


def _number(
    extreme: Callable[[Any, Any], Any], join: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], Any]:
    """Return minimumnum or maximumnum: a number wins over a NaN, and zeros are ordered by their
    signs."""

    def found(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        bits = f"u{x.itemsize}"
        both = join(x.view(bits), y.view(bits)).view(x.dtype)
        # Some hosts' own functions return a signalling NaN's quiet form, not the number.
        number = np.where(np.isnan(x), y, np.where(np.isnan(y), x, extreme(x, y)))
        return np.asarray(np.where(x == y, both, number))

    return found


# LLVM's numbers of rounding modes.
_TO_ZERO, _NEAREST, _UP, _DOWN = range(4)


def _fused(x: NDArray[Any], y: NDArray[Any], z: NDArray[Any], mode: int = _NEAREST) -> NDArray[Any]:
    """Multiply and add f32: the product is exact in f64; the sum is rounded to odd there, so that
    rounding it again changes nothing. f64 are fractions, one by one."""
    if x.dtype == np.float64:
        found = _FUSED_DOUBLES(x, y, z, mode)
        return np.asarray(found, np.float64)
    product, addend = x.astype(np.float64) * y, z.astype(np.float64)
    total = np.asarray(product + addend)
    back = total - product
    error = (product - (total - back)) + (addend - back)
    raw = total.view(np.int64)
    step = np.where((error > 0) == (total > 0), 1, -1)
    odd = np.where((raw & 1 == 0) & (error != 0) & np.isfinite(total), raw + step, raw)
    exact = odd.view(np.float64)
    if mode == _DOWN:
        exact = np.where((exact == 0) & (np.signbit(product) | np.signbit(addend)), -0.0, exact)
    return _narrowed(exact, np.dtype(np.float32), mode)


def _narrowed(x: NDArray[Any], to: np.dtype[Any], mode: int) -> NDArray[Any]:
    """Round floats to a narrower format: the nearest one, or its neighbour towards the side that
    the mode wants."""
    nearest = x.astype(to)
    back, negative = nearest.astype(x.dtype), np.signbit(x)
    inward, outward = np.abs(back) > np.abs(x), np.abs(back) < np.abs(x)
    smaller = inward & ((mode == _TO_ZERO) | (mode == np.where(negative, _UP, _DOWN)))
    larger = outward & (mode == np.where(negative, _DOWN, _UP))
    raw = nearest.view(f"u{to.itemsize}")
    return np.asarray(raw + larger.astype(raw.dtype) - smaller.astype(raw.dtype)).view(to)


def _directed_binary(operation: str, x: NDArray[Any], y: NDArray[Any], mode: int) -> NDArray[Any]:
    """Add, subtract or multiply in a mode: all three are multiply-adds."""
    kind = x.dtype
    if kind == np.float16:
        # Rounding to 24 bits first, in the same mode, does not change the result.
        wide = _directed_binary(operation, x.astype(np.float32), y.astype(np.float32), mode)
        return _narrowed(wide, kind, mode)
    if operation == "fmul":
        # Adding -0 changes nothing, not even a zero's sign, but to the product +0 of this mode.
        return _fused(x, y, np.full_like(x, 0.0 if mode == _DOWN else -0.0), mode)
    return _fused(x, np.ones_like(x), -y if operation == "fsub" else y, mode)


def _fused_double(x: float, y: float, z: float, mode: int) -> float:
    if not (isfinite(x) and isfinite(y) and isfinite(z)):
        return x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if not exact:
        return -0.0 if mode == _DOWN and -1 in (copysign(1, x * y), copysign(1, z)) else x * y + z
    try:
        # Of a sum that is exactly 0, and of one that becomes 0, the signs differ.
        nearest = copysign(float(exact), exact)
    except OverflowError:
        nearest = inf if exact > 0 else -inf
    # Compared with a fraction, a float is exact.
    if nearest > exact and mode in (_DOWN, _TO_ZERO if exact > 0 else _DOWN):
        return nextafter(nearest, -inf)
    if nearest < exact and mode in (_UP, _TO_ZERO if exact < 0 else _UP):
        return nextafter(nearest, inf)
    return nearest


_FUSED_DOUBLES = np.frompyfunc(_fused_double, 4, 1)

_BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": add, "sub": sub, "mul": mul, "and": and_, "or": or_, "xor": xor, "shl": lshift,
    "lshr": rshift, "fadd": add, "fsub": sub, "fmul": mul, "fdiv": truediv,
}  # fmt: skip
_RELATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "eq": eq, "ne": ne, "lt": lt, "le": le, "gt": gt, "ge": ge,
}  # fmt: skip
_INTRINSICS: Mapping[str, Callable[..., Any]] = {
    "fabs": np.abs, "copysign": np.copysign, "fma": _fused, "floor": np.floor, "ceil": np.ceil,
    "trunc": np.trunc, "roundeven": np.rint, "sqrt": np.sqrt, "minimum": np.minimum,
    "maximum": np.maximum, "minnum": _number(np.minimum, or_),
    "minimumnum": _number(np.minimum, or_), "maximumnum": _number(np.maximum, and_),
    "umin": np.minimum, "umax": np.maximum,
    "smin": lambda x, y: np.minimum(_signed(x), _signed(y)),
    "smax": lambda x, y: np.maximum(_signed(x), _signed(y)),
}  # fmt: skip
