"""Single instructions as host functions that many kernels share: `i64 operation(context, state,
frame, record)`.

A record is what a threaded program has for each instruction: the operation's address, then a dword
for each of its parameters: where a register lies in the wave's state, a site's number, a distance.
The result is the distance to the next record, or `LEAVE` plus what the wave function returns.

    v_add_f32_e32 v5, v1, v5   ->   address of aj_op_3c..., 2112, 1600

    define i64 @aj_op_3c...(ptr %context, ptr %state, ptr %frame, ptr %record) {
      %p0 = <v5's address>  %p1 = <v1's address>
      %t1 = load <32 x i32>, ptr %p1 ...
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from amdjit.emulator.host.builder import LANES, Builder, Value, constant
from amdjit.emulator.layout import DWORD_BYTES, FIELD_BYTES, SCALAR_BYTES, VGPR_BYTES, Context
from amdjit.emulator.wave.frame import STAGING, STAGING_VECTORS, UPPER_CONTEXT
from amdjit.emulator.wave.registers import Registers
from amdjit.emulator.wave.sites import Sites
from amdjit.late_methods import dataclass

OPERATION_PREFIX = "aj_op_"
# The stack frame of a wave function that runs a threaded program: staging vectors, the upper half's
# context, and the count of rounds before it yields.
UPPER_CONTEXT_OFFSET = STAGING_VECTORS * LANES * 4
PATIENCE_OFFSET = UPPER_CONTEXT_OFFSET + Context.FIELDS * FIELD_BYTES
FRAME_BYTES = PATIENCE_OFFSET + 64
FRAME, RECORD = Value("ptr", "%frame"), Value("ptr", "%record")
# Programs are shorter than this many bytes.
LEAVE = 1 << 40
RECORD_HEADER = 8

# What emitters take from the frame by name, whether an operation needs it or not.
_HEAD = (
    f"  {STAGING.text} = getelementptr i8, ptr {FRAME.text}, i64 0",
    f"  {UPPER_CONTEXT.text} = getelementptr i8, ptr {FRAME.text}, i64 {UPPER_CONTEXT_OFFSET}",
)


@dataclass(frozen=True, slots=True)
class RegisterAt:
    """A parameter: where a register lies in the wave's state."""

    file: str
    index: int

    @property
    def offset(self) -> int:
        """The distance from the state's start in bytes."""
        if self.file == "s":
            return self.index * DWORD_BYTES
        return SCALAR_BYTES + self.index * VGPR_BYTES


@dataclass(frozen=True, slots=True)
class Number:
    """A parameter: a number that differs from record to record."""

    value: int


@dataclass(frozen=True, slots=True)
class Distance:
    """A parameter: the distance to a label, in bytes."""

    label: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A parameter: the id under which a wave that leaves the program enters it at a label."""

    label: str


@dataclass(frozen=True, slots=True)
class TableEntry:
    """A parameter that stands in a table: a pc, or the distance to the label of that pc."""

    pc: int
    label: str | None = None


Parameter = RegisterAt | Number | Distance | Entry | TableEntry


@dataclass(frozen=True, slots=True)
class Operation:
    """A host function without its attributes. declarations: of what it calls."""

    symbol: str
    body: str
    declarations: tuple[str, ...]

    def text(self, attributes: str) -> str:
        """Return the definition."""
        head = (
            f"define i64 @{self.symbol}(ptr %context, ptr %state, ptr {FRAME.text}, ptr %record) "
            f"{attributes} {{"
        )
        return f"{head}\nentry:\n{self.body}\n}}\n"


class Parameters:
    """The parameters of the operation under construction, in the order of their first use."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._values: dict[Parameter, Value] = {}

    def value(self, parameter: Parameter) -> Value:
        """Return what a parameter is in the operation: an address, or an i32."""
        known = self._values.get(parameter)
        if known is None:
            kind = "ptr" if isinstance(parameter, RegisterAt) else "i32"
            known = self._values[parameter] = Value(kind, f"%p{len(self._values)}")
        return known

    def number(self, value: int) -> Value:
        """Return a parameter for a number."""
        return self.value(Number(value))

    def table(self, labels: Mapping[int, str]) -> Value:
        """Return the address of a table in the record: a pc, and the distance to its label, two
        dwords each, in the order of the pcs."""
        at = RECORD_HEADER + DWORD_BYTES * len(self._values)
        for pc, label in sorted(labels.items()):
            self.value(TableEntry(pc))
            self.value(TableEntry(pc, label))
        return self.builder.offset(RECORD, at)

    @property
    def record_size(self) -> Value:
        """The size of the operation's record, which has no more parameters after that."""
        return constant("i64", record_bytes(len(self._values)))

    def take(self) -> tuple[Parameter, ...]:
        """Return the parameters; the next operation has none yet."""
        taken = tuple(self._values)
        self._values.clear()
        return taken


class StateRegisters(Registers):
    """Registers that all live in the wave's state; a slot's address is a parameter of the
    operation."""

    def __init__(self, builder: Builder, parameters: Parameters, wave_size: int) -> None:
        super().__init__(builder, frozenset(), wave_size)
        self._parameters = parameters

    def slot(self, file: str, index: int) -> Value:
        """Return a register's address."""
        self.used.add((file, index))
        return self._parameters.value(RegisterAt(file, index))

    def in_memory(self, index: int) -> bool:
        """Return True: all vector registers live in the state."""
        return True

    def forget(self) -> None:
        """Drop all cached values, which the next operation cannot use."""
        self._views.clear()


@dataclass
class NumberedSites(Sites):
    """Sites whose numbers are parameters."""

    parameters: Parameters

    def value(self, number: int) -> Value:
        """Return the parameter for a site's number."""
        return self.parameters.number(number)

    def address(self, pc: int) -> Value:
        """Return the parameter for a pc as i64: it differs from call to call of one function."""
        return self.parameters.builder.resize(self.parameters.number(pc), 64)


def make_operation(
    builder: Builder, parameters: Parameters
) -> tuple[Operation, tuple[Parameter, ...]]:
    """Turn the lines of a builder into an operation and its parameters, and restart both."""
    taken = parameters.take()
    body = "\n".join([*_HEAD, *_loads(taken), *builder.lines])
    symbol = OPERATION_PREFIX + hashlib.sha256(body.encode()).hexdigest()[:24]
    declarations = tuple(line for _, line in sorted(builder.declarations.items()))
    operation = Operation(symbol, body, declarations)
    builder.restart()
    return operation, taken


def record_bytes(parameters: int) -> int:
    """Return the size of a record."""
    return RECORD_HEADER + (parameters * 4 + 7 & ~7)


def _loads(parameters: Iterable[Parameter]) -> Iterable[str]:
    """Yield the lines that load parameters from the record."""
    for place, parameter in enumerate(parameters):
        if isinstance(parameter, TableEntry):
            continue
        name = f"%p{place}"
        at = RECORD_HEADER + DWORD_BYTES * place
        yield f"  {name}.in = getelementptr i8, ptr %record, i64 {at}"
        if isinstance(parameter, RegisterAt):
            yield f"  {name}.far = load i32, ptr {name}.in, align 4"
            yield f"  {name} = getelementptr i8, ptr %state, i32 {name}.far"
        else:
            yield f"  {name} = load i32, ptr {name}.in, align 4"
