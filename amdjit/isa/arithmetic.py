"""What the expressions of instructions are written in: typed values, and the arithmetic on them.

An expression is a function of an `Arithmetic` and its operands, and knows neither what a value is
nor what becomes of it. Each reader is an `Arithmetic` of its own: the emulator's makes host code
(`emulator/host/builder.py`), inspection's follows what lanes have in common
(`inspection/lanes/operations.py`), that of the check for undefined values which bits depend on
which (`emulator/checks/init/rules/dependence.py`); `floats/arrays.py` computes with NumPy.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from operator import add, and_, eq, gt, lshift, lt, mul, ne, or_, rshift, sub, xor

from amdjit.late_methods import dataclass, field

__all__ = [
    "ELEMENTS",
    "LANES",
    "Arithmetic",
    "Value",
    "bits_of",
    "element_of",
    "element_type",
    "is_float",
    "is_packed",
    "lanes_of",
    "like",
    "number_of",
    "vector",
]

LANES = 32  # of a wave32, of a half of a wave64

# Operand types as the ISA names them, with the LLVM type of an element.
ELEMENTS: Mapping[str, str] = {
    "mask": "i1",
    "f16": "half",
    "f32": "float",
    "f64": "double",
    **dict.fromkeys(("bf16", "b16", "i16", "u16"), "i16"),
    **dict.fromkeys(("b32", "i32", "u32"), "i32"),
    **dict.fromkeys(("b64", "i64", "u64"), "i64"),
}
_FLOAT_BITS = {"half": 16, "float": 32, "double": 64}
_NUMBERS: Mapping[str, Callable[[int, int], int]] = {
    "add": add, "sub": sub, "mul": mul, "and": and_, "or": or_, "xor": xor, "shl": lshift,
    "lshr": rshift, "umin": min, "umax": max, "eq": eq, "ne": ne, "ult": lt, "ugt": gt,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Value:
    """A value: its type as LLVM spells it, and its text in host code (`%12`, `7`, `splat (i32 7)`),
    which is empty for readers that make none.

    known: the bits of an integer constant whose lanes are all the same, None for other values.
    """

    type: str
    text: str
    known: int | None = field(default=None, compare=False, repr=False)


def vector(element: str, lanes: int = LANES) -> str:
    """Return the type of a vector of `lanes` elements."""
    return f"<{lanes} x {element}>"


def lanes_of(type_name: str) -> int | None:
    """Return how many lanes a vector type has, None for a scalar."""
    return int(type_name[1 : type_name.index(" ")]) if type_name[0] == "<" else None


def element_of(type_name: str) -> str:
    """Return the element type of a vector type, a scalar type itself."""
    return type_name[type_name.index("x ") + 2 : -1] if type_name[0] == "<" else type_name


def like(type_name: str, element: str) -> str:
    """Return `element` with the shape (scalar or vector) of `type_name`."""
    lanes = lanes_of(type_name)
    return element if lanes is None else vector(element, lanes)


def bits_of(type_name: str) -> int:
    """Return the width of one element in bits."""
    element = element_of(type_name)
    return _FLOAT_BITS[element] if element in _FLOAT_BITS else int(element[1:])


def is_float(type_name: str) -> bool:
    """Return whether the elements are floats."""
    return element_of(type_name) in _FLOAT_BITS


def element_type(code: str) -> str:
    """Return the LLVM type of one lane's operand; packed operands (`v2f16`, `v4u8`) are dwords."""
    return "i32" if is_packed(code) else ELEMENTS[code]


def is_packed(code: str) -> bool:
    """Whether an operand of type `code` holds several elements in a dword."""
    return code[0] == "v"


def number_of(operation: str, left: Value, right: Value) -> int | None:
    """Return the bits of what an operation or a comparison makes of two constants; None of other
    values, and of operations of which readers need none."""
    compute = _NUMBERS.get(operation)
    if compute is None or left.known is None or right.known is None:
        return None
    return int(compute(left.known, right.known)) & (1 << bits_of(left.type)) - 1


class Arithmetic(ABC):
    """Operations on values. A reader defines the abstract ones; the others are written in terms of
    them.

    rounding: LLVM's number of the mode in which floats are rounded, None for the nearest.
    """

    rounding: Value | None = None

    @abstractmethod
    def const(self, shape: Value, value: float) -> Value:
        """Return a constant of the type of `shape`."""

    @abstractmethod
    def binary(self, operation: str, left: Value, right: Value) -> Value:
        """Compute a binary operation of LLVM's (`add`, `fmul`, `lshr`, ...)."""

    @abstractmethod
    def compare(self, predicate: str, left: Value, right: Value) -> Value:
        """Compare: an integer predicate (`eq`, `ult`, `sge`) or a float one (`oeq`, `une`,
        `uno`)."""

    @abstractmethod
    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        """Choose by a condition of the same shape, or a scalar one."""

    @abstractmethod
    def cast(self, operation: str, value: Value, type_name: str) -> Value:
        """Convert to a full type by a named cast; nothing happens if the type stays. `fptosi.sat`
        and `fptoui.sat` saturate, and make 0 of NaN."""

    @abstractmethod
    def intrinsic(self, name: str, *arguments: Value, flags: Sequence[Value] = ()) -> Value:
        """Compute an LLVM intrinsic overloaded on its first argument's type, which is also its
        result's."""

    def known(self, value: Value) -> int | None:
        """Return the bits of an integer constant whose lanes are all the same, None for other
        values."""
        return value.known

    def corrected(
        self, result: Value, correct: Callable[[], Value], carriers: Sequence[Value]
    ) -> Value:
        """Return a float with other bits where it is a NaN; `correct` computes those of all lanes.

        carriers: floats that make the result a NaN if they are one themselves.
        """
        return self.bitcast(correct(), element_of(result.type))

    def rarely(self, condition: Value, value: Value, other: Callable[[], Value]) -> Value:
        """Choose the other value where a condition holds, which is seldom."""
        return self.select(condition, other(), value)

    def add(self, left: Value, right: Value) -> Value:
        """Add integers."""
        if right.text == "0":
            return left
        return self.binary("add", left, right)

    def sub(self, left: Value, right: Value) -> Value:
        """Subtract integers."""
        return self.binary("sub", left, right)

    def mul(self, left: Value, right: Value) -> Value:
        """Multiply integers."""
        return self.binary("mul", left, right)

    def and_(self, left: Value, right: Value) -> Value:
        """Bitwise and."""
        return self.binary("and", left, right)

    def or_(self, left: Value, right: Value) -> Value:
        """Bitwise or."""
        return self.binary("or", left, right)

    def xor(self, left: Value, right: Value) -> Value:
        """Bitwise exclusive or."""
        return self.binary("xor", left, right)

    def not_(self, value: Value) -> Value:
        """Bitwise complement."""
        return self.xor(value, self.const(value, -1))

    def negate(self, value: Value) -> Value:
        """Change the sign of a float, a NaN's, too."""
        bits = self.bitcast(value, f"i{bits_of(value.type)}")
        sign = self.const(bits, 1 << bits_of(value.type) - 1)
        return self.bitcast(self.xor(bits, sign), element_of(value.type))

    def mask(self, value: Value, bits: int) -> Value:
        """Keep the low `bits` bits."""
        return self.and_(value, self.const(value, (1 << bits) - 1))

    def shift(self, operation: str, value: Value, amount: Value | int) -> Value:
        """Shift by an amount of the same type; it is taken modulo the width, as all AMD shifts
        do."""
        if isinstance(amount, int):
            return self.binary(operation, value, self.const(value, amount))
        width = bits_of(value.type)
        return self.binary(operation, value, self.and_(amount, self.const(amount, width - 1)))

    def convert(self, operation: str, value: Value, element: str) -> Value:
        """Convert the elements by a named cast (`zext`, `sitofp`, ...), keeping the shape."""
        return self.cast(operation, value, like(value.type, element))

    def bitcast(self, value: Value, element: str) -> Value:
        """Reinterpret elements of the same width."""
        return self.cast("bitcast", value, like(value.type, element))

    def resize(self, value: Value, bits: int, signed: bool = False) -> Value:
        """Extend or truncate integers to `bits`."""
        width = bits_of(value.type)
        if width == bits:
            return value
        operation = "trunc" if bits < width else "sext" if signed else "zext"
        return self.convert(operation, value, f"i{bits}")

    def concat_bits(self, low: Value, high: Value) -> Value:
        """Join two i32 (or vectors of them) to i64."""
        shifted = self.shift("shl", self.resize(high, 64), 32)
        return self.or_(self.resize(low, 64), shifted)

    def split_bits(self, value: Value) -> tuple[Value, Value]:
        """Split i64 (or a vector of them) into two i32, the low one first."""
        return self.resize(value, 32), self.resize(self.shift("lshr", value, 32), 32)
