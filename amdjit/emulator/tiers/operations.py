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
import json
import weakref
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from amdjit.disk_cache import DiskCache
from amdjit.emulator.host.builder import LANES, Builder, Value, constant
from amdjit.emulator.host.jit import HostCompiler, LinkedCode
from amdjit.emulator.host.native_library import NativeLibrary
from amdjit.emulator.layout import DWORD_BYTES, FIELD_BYTES, SCALAR_BYTES, VGPR_BYTES, Context
from amdjit.emulator.wave.frame import STAGING, STAGING_VECTORS, UPPER_CONTEXT
from amdjit.emulator.wave.registers import Registers
from amdjit.emulator.wave.sites import Sites
from amdjit.forking import Lock

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


# The operations of threaded programs as host code: shared by all kernels, and cached on disk in
# packs.
#
# Many operations belong to one kernel, because they contain one of its literals. So code is
# unloaded some time after the last kernel that uses it is gone.


# The most packs that are listed for later processes, because reading the list takes time.
_LISTED = 64
# How many unused packs remain loaded. Each takes two pages, and some memory in LLVM.
_RECENT = 64


class OperationLibrary:
    """Addresses of operations by symbol. Safe to use from several threads."""

    def __init__(self, compiler: HostCompiler, cache: DiskCache, natives: NativeLibrary) -> None:
        self._compiler = compiler
        self._cache = cache
        self._natives = natives
        self._list_key = cache.key("packs of operations", compiler.identity)
        self._listed: dict[str, str] | None = None
        self._code: weakref.WeakValueDictionary[str, LinkedCode] = weakref.WeakValueDictionary()
        self._recent: deque[LinkedCode] = deque(maxlen=_RECENT)
        self._lock = Lock()

    @property
    def is_empty(self) -> bool:
        """Whether no process that shares this cache has made an operation yet."""
        with self._lock:
            return not self._recent and not self._list()

    def missing(self, symbols: Iterable[str]) -> frozenset[str]:
        """Return the operations that have to be made. Loads those that the cache has."""
        with self._lock:
            held = self._held(symbols)
            return frozenset(symbol for symbol, code in held.items() if code is None)

    def made(
        self, symbols: Collection[str], operations: Sequence[Operation]
    ) -> tuple[dict[str, int], tuple[LinkedCode, ...]] | None:
        """Return the addresses of operations, and their code, which the caller keeps alive.
        operations: those that may have to be compiled. None if another one is needed, too: it was
        there when the caller asked, but its last user has released it since."""
        with self._lock:
            held = self._held([*symbols, *(operation.symbol for operation in operations)])
            new = [operation for operation in operations if held[operation.symbol] is None]
            if new:
                made = self._compile(new)
                held.update((operation.symbol, made) for operation in new)
            addresses, code = {}, dict.fromkeys(each for each in held.values() if each is not None)
            for symbol in symbols:
                each = held[symbol]
                if each is None:
                    return None
                addresses[symbol] = each.addresses[symbol]
            return addresses, tuple(code)

    def _held(self, symbols: Iterable[str]) -> dict[str, LinkedCode | None]:
        """Return the code of operations, None for those that neither this process nor the cache
        has. Only a reference keeps code: kernels may be collected at any time."""
        held = {symbol: self._code.get(symbol) for symbol in symbols}
        wanted = [symbol for symbol, code in held.items() if code is None]
        listed = self._list() if wanted else {}
        packs = {key: self._load(key) for key in sorted({listed[s] for s in wanted if s in listed})}
        held.update((symbol, packs[listed[symbol]]) for symbol in wanted if symbol in listed)
        return held

    def _compile(self, operations: Sequence[Operation]) -> LinkedCode:
        attributes = self._compiler.function_attributes
        declarations = {line for operation in operations for line in operation.declarations}
        text = "\n".join(
            [*sorted(declarations), *(operation.text(attributes) for operation in operations)]
        )
        symbols = [operation.symbol for operation in operations]
        made = self._compiler.compile_quickly(text)
        code = self._link(symbols, made.natives, made.image)
        key = self._cache.key("pack of operations", self._compiler.identity, *sorted(symbols))
        self._cache.put(key, json.dumps([symbols, made.natives]).encode() + b"\n" + made.image)
        self._add_to_list(key, symbols)
        return code

    def _link(self, symbols: Sequence[str], needed: Sequence[str], image: bytes) -> LinkedCode:
        imports = {**self._natives.addresses(needed), **self._natives.run_time()}
        code = self._compiler.link([image], imports, symbols)
        self._recent.append(code)
        for symbol in code.addresses:
            self._code.setdefault(symbol, code)
        return code

    # The cache: a list of packs, and the packs

    def _list(self) -> dict[str, str]:
        """Return in which pack each operation is."""
        if self._listed is None:
            self._listed = {symbol: key for key, symbols in self._packs() for symbol in symbols}
        return self._listed

    def _packs(self) -> list[tuple[str, list[str]]]:
        stored = self._cache.get(self._list_key)
        return [(key, symbols) for key, symbols in json.loads(stored)] if stored is not None else []

    def _add_to_list(self, key: str, symbols: Sequence[str]) -> None:
        # Another process may write between these two lines. What it adds is lost, and is compiled
        # again when it is needed.
        packs = [*self._packs(), (key, list(symbols))][-_LISTED:]
        self._cache.put(self._list_key, json.dumps(packs).encode())

    def _load(self, key: str) -> LinkedCode | None:
        stored = self._cache.get(key)
        if stored is None:
            return None
        header, _, image = stored.partition(b"\n")
        symbols, needed = json.loads(header)
        return self._link(symbols, needed, image)
