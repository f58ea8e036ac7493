"""A small writer of LLVM IR text. Textual IR and `parse_assembly` are cheaper than building
objects."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from amdjit.emulator.host.blocks import Blocks
from amdjit.emulator.host.declaration import Declaration
from amdjit.isa.arithmetic import (
    LANES,
    Arithmetic,
    Value,
    bits_of,
    element_of,
    is_float,
    lanes_of,
    like,
    vector,
)

__all__ = [
    "LANES",
    "NOTHING",
    "NULL",
    "Builder",
    "Value",
    "bits_of",
    "constant",
    "element_of",
    "is_float",
    "lanes_of",
    "like",
    "mangle",
    "sequence",
    "vector",
]


# Names of native functions start so; LLVM's intrinsics have other names.
NATIVE_PREFIX = "aj_"
# The weights of a branch that is taken where there are NaNs.
RARELY = (1, 2000)


class Builder(Blocks, Arithmetic):
    """Arithmetic, memory and calls in one function, and the declarations of what it calls."""

    def __init__(self, prefix: str = "t") -> None:
        super().__init__(prefix)
        self.declarations: dict[str, str] = {}
        # Float results that nobody has searched for NaNs yet, by their text; None: each is checked
        # immediately.
        self.unchecked: dict[str, Value] | None = None
        # Whether NaNs are so frequent here that each result is made exact without a branch.
        self.is_exact = False

    def restart(self) -> None:
        """Begin another function, which calls nothing yet."""
        super().restart()
        self.declarations = {}

    def binary(self, operation: str, left: Value, right: Value) -> Value:
        """Append a binary operation (`add`, `fmul`, `lshr`, ...)."""
        return self.emit(left.type, f"{operation} {left.type} {left.text}, {right.text}")

    def const(self, shape: Value, value: float) -> Value:
        """Return a constant of the type of `shape`."""
        return constant(shape.type, value)

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
        if operation.endswith(".sat"):
            name = f"llvm.{operation}.{mangle(type_name)}.{mangle(value.type)}"
            return self.call(name, type_name, [value])
        return self.emit(type_name, f"{operation} {value.type} {value.text} to {type_name}")

    def corrected(
        self, result: Value, correct: Callable[[], Value], carriers: Sequence[Value]
    ) -> Value:
        """Compute the NaNs only if some lane holds one:

        %r = fadd <32 x float> %x, %y
        br i1 %any, label %nan.1, label %end.2
        """
        if lanes_of(result.type) is not None and self.unchecked is not None:
            for x in carriers:
                self.unchecked.pop(x.text, None)
            self.unchecked[result.text] = result
            return result
        if lanes_of(result.type) is None or self.is_exact:
            return super().corrected(result, correct, carriers)
        raw = self.bitcast(result, f"i{bits_of(result.type)}")
        before = self.current
        with self.if_(self.any_nan([result]), RARELY, "nan"):
            corrected = correct()
            found = self.current
        joined = self.phi(raw.type, (raw, before), (corrected, found))
        return self.bitcast(joined, element_of(result.type))

    def any_nan(self, results: Sequence[Value], active: Value | None = None) -> Value:
        """Return whether any lane of any of the floats is a NaN; `active`: the lanes that count,
        None for all.

        The test is "all are numbers" because hosts with mask registers combine comparisons by
        `and` at no cost.
        """
        numbers: dict[str, Value] = {}
        for x in results:
            lanes = self._numbers(x, whole=active is not None)
            known = numbers.get(lanes.type)
            numbers[lanes.type] = lanes if known is None else self.and_(known, lanes)
        found = None
        for lanes in numbers.values():
            counted = self.or_(lanes, self.not_(active)) if active else lanes
            word = self.cast("bitcast", counted, f"i{lanes_of(lanes.type)}")
            one = self.compare("ne", word, self.const(word, -1))
            found = one if found is None else self.or_(found, one)
        assert found is not None
        return found

    def _numbers(self, x: Value, whole: bool) -> Value:
        """Return where lanes are not NaN; unless `whole`, one comparison covers both halves of a
        vector."""
        if element_of(x.type) == "half":
            magnitude = self.mask(self.bitcast(x, "i16"), 15)
            return self.compare("ule", magnitude, self.const(magnitude, 0x7C00))
        if whole:
            return self.compare("ord", x, x)
        middle = (lanes_of(x.type) or 0) // 2
        low, high = (self.shuffle(x, x, range(start, start + middle)) for start in (0, middle))
        return self.compare("ord", low, high)

    def opaque(self, value: Value) -> Value:
        """Return an i32 whose origin LLVM does not know: it comes out of an empty piece of
        assembly."""
        return self.emit(value.type, f'call {value.type} asm "", "=r,0"({value.type} {value.text})')

    def call(self, name: str, result: str, arguments: Sequence[Value]) -> Value:
        """Call a function and declare it."""
        self._declare(name, result, arguments)
        return self.emit(result, f"call {result} @{name}({_arguments(arguments)})")

    def call_void(self, name: str, arguments: Sequence[Value]) -> None:
        """Call a function without a result and declare it."""
        self._declare(name, "void", arguments)
        self.line(f"call void @{name}({_arguments(arguments)})")

    def invoke(self, function: Declaration, *arguments: Value) -> Value:
        """Call a function by its declaration; `NOTHING` if it has no result."""
        function.check(arguments)
        if function.result == "void":
            self.call_void(function.name, arguments)
            return NOTHING
        return self.call(function.name, function.result, arguments)

    def call_pointer(self, pointer: Value, result: str, arguments: Sequence[Value]) -> Value:
        """Call the function at an address."""
        return self.emit(result, f"call {result} {pointer.text}({_arguments(arguments)})")

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
            text = f"splat ({value.type} {value.text})"
            return Value(vector(value.type, lanes), text, value.known)
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

    def reserve(self, place: Value, type_name: str, alignment: int = 64) -> None:
        """Reserve stack memory under a name that other blocks use already. Only in the entry
        block."""
        self.line(f"{place.text} = alloca {type_name}, align {alignment}")

    def bind(self, name: Value, pointer: Value, distance: int = 0) -> None:
        """Make a pointer known under a name that other blocks use already."""
        self.line(f"{name.text} = getelementptr i8, ptr {pointer.text}, i64 {distance}")

    def load(self, type_name: str, pointer: Value, alignment: int = 1) -> Value:
        """Load a value."""
        return self.emit(type_name, f"load {type_name}, ptr {pointer.text}, align {alignment}")

    def store(self, value: Value, pointer: Value, alignment: int = 1) -> None:
        """Store a value."""
        self.line(f"store {value.type} {value.text}, ptr {pointer.text}, align {alignment}")

    def load_atomic(self, type_name: str, pointer: Value) -> Value:
        """Load what other threads change."""
        alignment = bits_of(type_name) // 8
        return self.emit(
            type_name,
            f"load atomic {type_name}, ptr {pointer.text} monotonic, align {alignment}",
        )

    def atomic(
        self, operation: str, pointer: Value, operand: Value, order: str = "seq_cst"
    ) -> Value:
        """Change memory atomically (`add`, `or`, `and`, ...); the result is what was there."""
        text = f"atomicrmw {operation} ptr {pointer.text}, {operand.type} {operand.text} {order}"
        return self.emit(operand.type, text)

    def compare_exchange(self, pointer: Value, expected: Value, new: Value) -> tuple[Value, Value]:
        """Replace memory if it holds a value; return what was there, and whether it was so."""
        pair = f"{{ {new.type}, i1 }}"
        values = f"{new.type} {expected.text}, {new.type} {new.text}"
        result = self.emit(pair, f"cmpxchg ptr {pointer.text}, {values} seq_cst seq_cst")
        old, replaced = (f"extractvalue {pair} {result.text}, {part}" for part in (0, 1))
        return self.emit(new.type, old), self.emit("i1", replaced)

    def copy(self, target: Value, source: Value, size: int | Value) -> None:
        """Copy bytes between places that do not overlap."""
        count = constant("i64", size) if isinstance(size, int) else size
        self.call_void("llvm.memcpy.p0.p0.i64", [target, source, count, constant("i1", 0)])

    def fill(self, target: Value, byte: int, size: int | Value) -> None:
        """Set bytes."""
        count = constant("i64", size) if isinstance(size, int) else size
        everything = [target, constant("i8", byte), count, constant("i1", 0)]
        self.call_void("llvm.memset.p0.i64", everything)

    def pointer(self, address: Value) -> Value:
        """Turn an i64 into a pointer."""
        return self.cast("inttoptr", address, like(address.type, "ptr"))

    def lane_mask(self, bits: Value) -> Value:
        """Turn an i32 into a vector of 32 conditions."""
        return self.cast("bitcast", bits, vector("i1"))

    def mask_bits(self, conditions: Value) -> Value:
        """Turn a vector of 32 conditions into an i32."""
        return self.cast("bitcast", conditions, "i32")


def _arguments(arguments: Sequence[Value]) -> str:
    return ", ".join(f"{argument.type} {argument.text}" for argument in arguments)


# Values of host code: constants, and their spelling in LLVM IR.


# What a function or a block without a result returns.
NOTHING = Value("void", "")
NULL = Value("ptr", "null")


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
    if is_float(type_name):
        return Value(type_name, _constant_text(type_name, value))
    return _integer(type_name, int(value))


# Kernels use few different ones, and many of each.
@lru_cache(maxsize=1024)
def _integer(type_name: str, value: int) -> Value:
    bits = bits_of(type_name)
    known = value & (1 << bits) - 1 if bits > 1 else None
    return Value(type_name, _constant_text(type_name, value), known)


def _constant_text(type_name: str, value: float) -> str:
    element = element_of(type_name)
    text = _scalar_text(element, value)
    return text if type_name == element else f"splat ({element} {text})"


def sequence(element: str, values: Iterable[int]) -> Value:
    """Return a vector constant of integers."""
    items = [_scalar_text(element, value) for value in values]
    return Value(
        vector(element, len(items)), "<" + ", ".join(f"{element} {item}" for item in items) + ">"
    )


def mangle(type_name: str) -> str:
    """Return a type's suffix in the name of an overloaded intrinsic."""
    names = {"half": "f16", "float": "f32", "double": "f64", "ptr": "p0"}
    element = element_of(type_name)
    lanes = lanes_of(type_name)
    short = names.get(element, element)
    return short if lanes is None else f"v{lanes}{short}"
