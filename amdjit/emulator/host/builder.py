"""A small writer of LLVM IR text. Textual IR plus `parse_assembly` is cheaper than building
objects."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LANES = 32  # of a wave32, of a half of a wave64

_INTEGER = re.compile(r"(?:splat \(i\d+ )?(-?\d+)\)?")
_FLOAT_BITS = {"half": 16, "float": 32, "double": 64}


@dataclass(frozen=True, slots=True)
class Value:
    """An SSA value or a constant: its LLVM type and its text (`%12`, `7`, `splat (i32 7)`)."""

    type: str
    text: str


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
    """Tell whether the elements are floats."""
    return element_of(type_name) in _FLOAT_BITS


def _scalar_text(element: str, value: float) -> str:
    if element == "half":
        return f"0xH{int.from_bytes(struct.pack('<e', value), 'little'):04X}"
    if element == "float":
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    if element in ("float", "double"):
        return f"0x{int.from_bytes(struct.pack('<d', value), 'little'):016X}"
    bits = int(element[1:])
    number = int(value) & ((1 << bits) - 1)
    if bits == 1:
        return "true" if number else "false"
    return str(number - (1 << bits) if number >> (bits - 1) else number)


def constant(type_name: str, value: float) -> Value:
    """Return a constant; for a vector type, all lanes hold it."""
    element = element_of(type_name)
    text = _scalar_text(element, value)
    return Value(type_name, text if type_name == element else f"splat ({element} {text})")


def sequence(element: str, values: Iterable[int]) -> Value:
    """Return a vector constant of integers."""
    items = [_scalar_text(element, value) for value in values]
    return Value(
        vector(element, len(items)), "<" + ", ".join(f"{element} {item}" for item in items) + ">"
    )


class Builder:
    """Collects the lines of one function and the names of the functions that it calls."""

    def __init__(self, prefix: str = "t") -> None:
        self.lines: list[str] = []
        self.declarations: dict[str, str] = {}
        self._prefix = prefix
        self._next = 0
        # The label of the block that lines are added to.
        self.current = "entry"
        # Float results that nobody has looked for NaNs in yet, by their text; None: each is checked
        # at once.
        self.unchecked: dict[str, Value] | None = None
        # Whether NaNs are met so often here that each result is made exact without a branch.
        self.is_exact = False

    def name(self) -> str:
        """Return a fresh local name, with its `%`."""
        self._next += 1
        return f"%{self._prefix}{self._next}"

    def restart(self) -> None:
        """Begin another function; declarations stay known."""
        self.lines = []
        self.current = "entry"
        self._next = 0

    def line(self, text: str) -> None:
        """Append one line as it is."""
        self.lines.append("  " + text)

    def label(self, name: str) -> None:
        """Start a block."""
        self.current = name
        self.lines.append(f"{name}:")

    def emit(self, type_name: str, text: str) -> Value:
        """Append an instruction and return its result."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return Value(type_name, name)

    def binary(self, operation: str, left: Value, right: Value) -> Value:
        """Append a binary operation (`add`, `fmul`, `lshr`, ...)."""
        return self.emit(left.type, f"{operation} {left.type} {left.text}, {right.text}")

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

    def const(self, shape: Value, value: float) -> Value:
        """Return a constant of the type of `shape`."""
        return constant(shape.type, value)

    def known(self, value: Value) -> int | None:
        """Return the bits of an integer constant whose lanes are all the same, None for other
        values."""
        match = _INTEGER.fullmatch(value.text)
        return int(match[1]) & (1 << bits_of(value.type)) - 1 if match else None

    def not_(self, value: Value) -> Value:
        """Bitwise complement."""
        return self.xor(value, self.const(value, -1))

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

    def compare(self, predicate: str, left: Value, right: Value) -> Value:
        """Compare: an integer predicate (`eq`, `ult`, `sge`) or a float one (`oeq`, `une`,
        `uno`)."""
        operation = "fcmp" if is_float(left.type) else "icmp"
        return self.emit(
            like(left.type, "i1"), f"{operation} {predicate} {left.type} {left.text}, {right.text}"
        )

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        """Choose by a condition of the same shape, or a scalar one."""
        return self.emit(
            yes.type,
            f"select {condition.type} {condition.text}, {yes.type} {yes.text}, {no.type} {no.text}",
        )

    def cast(self, operation: str, value: Value, type_name: str) -> Value:
        """Convert to a full type by a named cast; no instruction if the type stays."""
        if value.type == type_name:
            return value
        return self.emit(type_name, f"{operation} {value.type} {value.text} to {type_name}")

    def convert(self, operation: str, value: Value, element: str) -> Value:
        """Convert the elements by a named cast (`zext`, `sitofp`, ...), keeping the shape."""
        return self.cast(operation, value, like(value.type, element))

    def bitcast(self, value: Value, element: str) -> Value:
        """Reinterpret elements of the same width."""
        return self.cast("bitcast", value, like(value.type, element))

    def opaque(self, value: Value) -> Value:
        """Return an i32 of which LLVM does not know where it comes from: an empty piece of assembly
        gives it."""
        return self.emit(value.type, f'call {value.type} asm "", "=r,0"({value.type} {value.text})')

    def resize(self, value: Value, bits: int, signed: bool = False) -> Value:
        """Extend or truncate integers to `bits`."""
        width = bits_of(value.type)
        if width == bits:
            return value
        operation = "trunc" if bits < width else "sext" if signed else "zext"
        return self.convert(operation, value, f"i{bits}")

    def call(self, name: str, result: str, arguments: Sequence[Value]) -> Value:
        """Call a function and declare it."""
        self._declare(name, result, arguments)
        return self.emit(result, f"call {result} @{name}({_arguments(arguments)})")

    def call_void(self, name: str, arguments: Sequence[Value]) -> None:
        """Call a function without result and declare it."""
        self._declare(name, "void", arguments)
        self.line(f"call void @{name}({_arguments(arguments)})")

    def _declare(self, name: str, result: str, arguments: Sequence[Value]) -> None:
        types = ", ".join(argument.type for argument in arguments)
        self.declarations[name] = f"declare {result} @{name}({types})"

    def intrinsic(self, name: str, *arguments: Value, flags: Sequence[Value] = ()) -> Value:
        """Call an LLVM intrinsic overloaded on its first argument's type, which is also its
        result's."""
        shape = arguments[0].type
        return self.call(f"llvm.{name}.{mangle(shape)}", shape, [*arguments, *flags])

    def splat(self, value: Value, lanes: int = LANES) -> Value:
        """Copy a scalar to all lanes."""
        if not value.text.startswith("%"):
            return Value(vector(value.type, lanes), f"splat ({value.type} {value.text})")
        type_name = vector(value.type, lanes)
        one = self.emit(
            type_name, f"insertelement {type_name} poison, {value.type} {value.text}, i64 0"
        )
        lane_0 = f"<{lanes} x i32> zeroinitializer"
        return self.emit(
            type_name, f"shufflevector {type_name} {one.text}, {type_name} poison, {lane_0}"
        )

    def shuffle(self, left: Value, right: Value, indices: Sequence[int]) -> Value:
        """Permute the lanes of two vectors; a negative index gives an undefined lane."""
        parts = ", ".join("i32 poison" if index < 0 else f"i32 {index}" for index in indices)
        result = vector(element_of(left.type), len(indices))
        text = (
            f"shufflevector {left.type} {left.text}, {right.type} {right.text}, "
            f"<{len(indices)} x i32> <{parts}>"
        )
        return self.emit(result, text)

    def extract(self, value: Value, index: int | Value) -> Value:
        """Read one lane."""
        position = f"i64 {index}" if isinstance(index, int) else f"{index.type} {index.text}"
        return self.emit(
            element_of(value.type), f"extractelement {value.type} {value.text}, {position}"
        )

    def insert(self, value: Value, element: Value, index: int | Value) -> Value:
        """Replace one lane."""
        position = f"i64 {index}" if isinstance(index, int) else f"{index.type} {index.text}"
        text = f"insertelement {value.type} {value.text}, {element.type} {element.text}, {position}"
        return self.emit(value.type, text)

    def offset(self, pointer: Value, distance: int | Value) -> Value:
        """Add bytes to a pointer."""
        amount = (
            f"i64 {distance}" if isinstance(distance, int) else f"{distance.type} {distance.text}"
        )
        if amount == "i64 0":
            return pointer
        return self.emit("ptr", f"getelementptr i8, ptr {pointer.text}, {amount}")

    def load(self, type_name: str, pointer: Value, alignment: int = 1) -> Value:
        """Load a value."""
        return self.emit(type_name, f"load {type_name}, ptr {pointer.text}, align {alignment}")

    def store(self, value: Value, pointer: Value, alignment: int = 1) -> None:
        """Store a value."""
        self.line(f"store {value.type} {value.text}, ptr {pointer.text}, align {alignment}")

    def pointer(self, address: Value) -> Value:
        """Turn an i64 into a pointer."""
        return self.cast("inttoptr", address, like(address.type, "ptr"))

    def branch(self, target: str) -> None:
        """Jump to a block."""
        self.line(f"br label %{target}")

    def branch_if(self, condition: Value, yes: str, no: str) -> None:
        """Jump by an i1."""
        self.line(f"br i1 {condition.text}, label %{yes}, label %{no}")

    def concat_bits(self, low: Value, high: Value) -> Value:
        """Join two i32 (or vectors of them) to i64."""
        shifted = self.shift("shl", self.resize(high, 64), 32)
        return self.or_(self.resize(low, 64), shifted)

    def split_bits(self, value: Value) -> tuple[Value, Value]:
        """Split i64 (or a vector of them) into two i32, the low one first."""
        return self.resize(value, 32), self.resize(self.shift("lshr", value, 32), 32)

    def lane_mask(self, bits: Value) -> Value:
        """Turn an i32 into a vector of 32 conditions."""
        return self.cast("bitcast", bits, vector("i1"))

    def mask_bits(self, conditions: Value) -> Value:
        """Turn a vector of 32 conditions into an i32."""
        return self.cast("bitcast", conditions, "i32")


def _arguments(arguments: Sequence[Value]) -> str:
    return ", ".join(f"{argument.type} {argument.text}" for argument in arguments)


def mangle(type_name: str) -> str:
    """Return a type's suffix in the name of an overloaded intrinsic."""
    names = {"half": "f16", "float": "f32", "double": "f64", "ptr": "p0"}
    element = element_of(type_name)
    lanes = lanes_of(type_name)
    short = names.get(element, element)
    return short if lanes is None else f"v{lanes}{short}"
