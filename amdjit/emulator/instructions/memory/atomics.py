"""Atomic instructions of global, flat and LDS memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from amdjit.emulator.host.builder import Builder, Value
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.instructions.memory.access import (
    Address,
    Width,
    flat_address,
    global_address,
    register_of,
    write_loaded,
)
from amdjit.emulator.instructions.memory.lds import lds_address
from amdjit.emulator.instructions.memory.spaces import ADDRESS_PARAMETERS
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.layout import SHARED_APERTURE_HIGH, VGPR_BYTES, Context, FaultKind
from amdjit.emulator.wave.frame import AccessKind, Frame
from amdjit.emulator.wave.registers import V32
from amdjit.isa.floats.elements import brain_to_single, single_to_brain
from amdjit.isa.floats.expressions import flush_denormals, through_float
from amdjit.isa.floats.extremes import MAXIMUM_NUMBER, MINIMUM_NUMBER
from amdjit.isa.floats.nans import with_nans
from amdjit.isa.instruction import Instruction, Register
from amdjit.isa.integer_expressions import Expression, binary
from amdjit.isa.register_numbers import vector_number
from amdjit.late_methods import dataclass

# Atomic operations, lane by lane in order. LDS belongs to one host thread, so its operations need
# no lock.


# LLVM's `atomicrmw` for each operation; all others are compare-and-swap loops.
_PLAIN: Mapping[str, str] = {
    "swap": "xchg",
    "add": "add",
    "sub": "sub",
    "min_i": "min",
    "max_i": "max",
    "min_u": "umin",
    "max_u": "umax",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "inc": "uinc_wrap",
    "dec": "udec_wrap",
    "cond_sub": "usub_cond",
    "sub_clamp": "usub_sat",
}
_COMPUTED = (
    *("rsub", "mskor", "add_f", "add_flushed_f", "pk_add_f16", "pk_add_bf16", "min_f", "max_f"),
    *("less_f", "greater_f", "cmpswap_f", "wrap"),
)
# Those with two operands.
_BINARY = ("mskor", "cmpswap_f", "wrap")
# Those that only LDS has, of 32 bits.
_ONLY_LDS = ("wrap",)
# Those that only global memory has, of 32 bits.
_ONLY_GLOBAL = ("add_flushed_f",)
_SPACES = ("s", "v", "f", "l")


@dataclass(frozen=True, slots=True)
class Atomic:
    """An operation on `bits` bits in an address space: global (s, v), flat (f) or LDS (l)."""

    space: str
    operation: str
    bits: int

    @property
    def symbol(self) -> str:
        """The name of its native function."""
        return f"aj_atomic_{self.space}_{self.operation}_{self.bits}"


def atomics() -> Iterator[Atomic]:
    """Yield every atomic that has a native function."""
    for space in _SPACES:
        for bits in (32, 64):
            for operation in (*_PLAIN, *_COMPUTED, "cmpswap"):
                is_there = bits == 32 or not operation.startswith("pk_")
                if operation in _ONLY_LDS:
                    is_there = (space, bits) == ("l", 32)
                if operation in _ONLY_GLOBAL:
                    is_there = (space, bits) in (("s", 32), ("v", 32), ("f", 32))
                if is_there:
                    yield Atomic(space, operation, bits)


def atomic_text(atomic: Atomic, attributes: str) -> str:
    """Return the definition.

    Parameters: context, site, the address parameters of its space, exec, data, result. `data`:
    vectors of the operand's dwords, then of the comparand's (or second operand's). `result`:
    receives vectors of the old values; inactive and refused lanes get 0.
    """
    parameters = [
        ("ptr", "context"),
        ("i32", "site"),
        *ADDRESS_PARAMETERS[atomic.space],
        ("i32", "exec"),
    ]
    function = NativeFunction(
        atomic.symbol, "void", [*parameters, ("ptr", "data"), ("ptr", "result")]
    )
    addresses = function.allocate("[32 x i64]")
    valid = _checked(function, atomic, addresses)
    _clear(function, atomic)
    with function.each_lane(valid) as each:
        place = function.offset(addresses, function.shift("shl", each.lane, 3))
        pointer = function.load("ptr", place, 8)
        operand = _lane_value(function, atomic, each.lane, 0)
        old = _apply(function, atomic, pointer, operand, each.lane)
        _put_lane(function, atomic, each.lane, old)
    function.give()
    return function.text(attributes)


def _clear(function: NativeFunction, atomic: Atomic) -> None:
    for part in range(atomic.bits // 32):
        place = function.offset(function.parameter("result"), part * VGPR_BYTES)
        function.store(Value(V32, "zeroinitializer"), place, 64)


def _addresses(function: NativeFunction, atomic: Atomic) -> Value:
    if atomic.space == "l":
        offsets = function.add(
            function.parameter("offset"), function.splat(function.parameter("base"))
        )
        return function.resize(offsets, 64)
    base = function.splat(function.parameter("base"))
    if atomic.space == "s":
        return function.add(base, function.resize(function.parameter("offset"), 64))
    return function.add(
        base, function.concat_bits(function.parameter("low"), function.parameter("high"))
    )


def _checked(function: NativeFunction, atomic: Atomic, addresses: Value) -> Value:
    """Store the host addresses of all lanes; return the lanes whose access is allowed."""
    wide = _addresses(function, atomic)
    execution = function.parameter("exec")
    size = atomic.bits // 8
    misaligned = function.compare(
        "ne", function.mask(wide, 2 if size == 4 else 3), function.splat(i64(0))
    )
    bad = function.and_(execution, function.mask_bits(misaligned))
    kept = _refuse(function, FaultKind.MISALIGNED, bad=bad, lanes=execution, wide=wide, size=size)
    if atomic.space == "l":
        return _lds(function, kept, wide, addresses, size)
    function.store(wide, addresses, 64)
    if atomic.space == "f":
        kept, local = _flat(function, kept, wide, addresses, size)
        return function.or_(_resolve(function, atomic, kept, addresses, size), local)
    return _resolve(function, atomic, kept, addresses, size)


def _resolve(
    function: NativeFunction, atomic: Atomic, lanes: Value, addresses: Value, size: int
) -> Value:
    base = function.parameter("base") if atomic.space == "s" else i64(0)
    function.store(base, function.context_field(Context.OFFSET_BASE), 8)
    arguments = [
        function.parameter("context"),
        function.parameter("site"),
        addresses,
        lanes,
        i32(size),
    ]
    return function.call("aj_resolve", "i32", [*arguments, i32(FaultKind.GLOBAL_STORE)])


def _refuse(
    function: NativeFunction, kind: FaultKind, bad: Value, lanes: Value, wide: Value, size: int
) -> Value:
    """Record a fault of the first bad lane, if any; return the other lanes."""
    refuse, go_on = function.block("refuse"), function.block("go")
    function.branch_if(function.compare("eq", bad, i32(0)), go_on, refuse)
    function.label(refuse)
    lane = function.resize(function.intrinsic("cttz", bad, flags=[Value("i1", "true")]), 64)
    arguments = [function.parameter("context"), i32(kind), function.parameter("site"), lane]
    function.call_void("aj_fault", [*arguments, function.extract(wide, lane), i32(size)])
    function.branch(go_on)
    function.label(go_on)
    return function.and_(lanes, function.not_(bad))


def _lds(function: NativeFunction, lanes: Value, wide: Value, addresses: Value, size: int) -> Value:
    room = function.sub(function.context(Context.LDS_SIZE), i64(size))
    outside = function.compare("sgt", wide, function.splat(room))
    bad = function.and_(lanes, function.mask_bits(outside))
    kept = _refuse(function, FaultKind.LDS, bad=bad, lanes=lanes, wide=wide, size=size)
    base = function.splat(function.context(Context.LDS))
    function.store(function.add(base, wide), addresses, 64)
    return kept


def _flat(
    function: NativeFunction, lanes: Value, wide: Value, addresses: Value, size: int
) -> tuple[Value, Value]:
    """Return the lanes in global memory, and those in LDS, whose host addresses are stored."""
    high = function.shift("lshr", wide, 32)
    shared = function.compare("eq", high, function.splat(i64(SHARED_APERTURE_HIGH)))
    local = function.and_(lanes, function.mask_bits(shared))
    offsets = function.mask(wide, 32)
    room = function.sub(function.context(Context.LDS_SIZE), i64(size))
    outside = function.compare("sgt", offsets, function.splat(room))
    bad = function.and_(local, function.mask_bits(outside))
    kept = _refuse(function, FaultKind.LDS, bad=bad, lanes=local, wide=offsets, size=size)
    base = function.splat(function.context(Context.LDS))
    function.store(function.select(shared, function.add(base, offsets), wide), addresses, 64)
    return function.and_(lanes, function.not_(local)), kept


def _lane_value(function: NativeFunction, atomic: Atomic, lane: Value, which: int) -> Value:
    """Return operand `which` (0 the first, 1 the second) of a lane."""
    dwords = atomic.bits // 32
    data = function.parameter("data")
    parts = []
    for part in range(dwords):
        place = function.offset(data, (which * dwords + part) * VGPR_BYTES)
        parts.append(
            function.load("i32", function.offset(place, function.shift("shl", lane, 2)), 4)
        )
    return parts[0] if dwords == 1 else function.concat_bits(parts[0], parts[1])


def _put_lane(function: NativeFunction, atomic: Atomic, lane: Value, value: Value) -> None:
    parts = [value] if atomic.bits == 32 else list(function.split_bits(value))
    for part, item in enumerate(parts):
        place = function.offset(function.parameter("result"), part * VGPR_BYTES)
        function.store(item, function.offset(place, function.shift("shl", lane, 2)), 4)


def _apply(
    function: NativeFunction, atomic: Atomic, pointer: Value, operand: Value, lane: Value
) -> Value:
    if atomic.operation == "cmpswap":
        return _swap_if(function, atomic, pointer, _lane_value(function, atomic, lane, 1), operand)
    if atomic.operation in _COMPUTED:
        second = _lane_value(function, atomic, lane, 1) if atomic.operation in _BINARY else operand
        return _loop(function, atomic, pointer, operand, second)
    kind = f"i{atomic.bits}"
    text = (
        f"atomicrmw {_PLAIN[atomic.operation]} ptr {pointer.text}, {kind} {operand.text} monotonic"
    )
    return function.emit(kind, f"{text}, align {atomic.bits // 8}")


def _swap_if(
    function: NativeFunction, atomic: Atomic, pointer: Value, expected: Value, new: Value
) -> Value:
    kind = f"i{atomic.bits}"
    values = f"ptr {pointer.text}, {kind} {expected.text}, {kind} {new.text}"
    pair = function.emit(
        f"{{ {kind}, i1 }}", f"cmpxchg {values} seq_cst seq_cst, align {atomic.bits // 8}"
    )
    return function.emit(kind, f"extractvalue {pair.type} {pair.text}, 0")


def _loop(
    function: NativeFunction, atomic: Atomic, pointer: Value, first: Value, second: Value
) -> Value:
    """Compute the new value from the old one until no other thread has changed it in between."""
    retry, done = function.block("retry"), function.block("swapped")
    before = function.current
    kind = f"i{atomic.bits}"
    start = function.load(kind, pointer, atomic.bits // 8)
    seen = function.name()
    function.branch(retry)
    function.label(retry)
    old = function.emit(kind, f"phi {kind} [ {start.text}, %{before} ], [ {seen}, %{retry} ]")
    new = _NEW[atomic.operation](function, old, first, second)
    values = f"ptr {pointer.text}, {kind} {old.text}, {kind} {new.text}"
    pair = function.emit(
        f"{{ {kind}, i1 }}", f"cmpxchg {values} seq_cst seq_cst, align {atomic.bits // 8}"
    )
    function.line(f"{seen} = extractvalue {pair.type} {pair.text}, 0")
    success = function.emit("i1", f"extractvalue {pair.type} {pair.text}, 1")
    function.branch_if(success, done, retry)
    function.label(done)
    return old


def _reverse_subtract(f: NativeFunction, old: Value, first: Value, second: Value) -> Value:
    return f.sub(first, old)


def _masked_or(f: NativeFunction, old: Value, first: Value, second: Value) -> Value:
    return f.or_(f.and_(old, f.not_(first)), second)


def _wrap(f: NativeFunction, old: Value, first: Value, second: Value) -> Value:
    """RDNA 3 ISA, DS_WRAP_RTN_B32."""
    reaches = f.compare("uge", old, first)
    return f.select(reaches, f.sub(old, first), f.add(old, second))


def _on_floats(expression: Expression) -> Callable[[NativeFunction, Value, Value, Value], Value]:
    def compute(f: NativeFunction, old: Value, first: Value, second: Value) -> Value:
        element = "float" if old.type == "i32" else "double"
        return f.bitcast(
            expression(f, f.bitcast(old, element), f.bitcast(first, element)), old.type
        )

    return compute


_add = with_nans(binary("fadd"))


def _add_flushed(b: Builder, old: Value, new: Value) -> Value:
    """The sum on processors whose memory knows no denormals (LLVM:
    FeatureMemoryAtomicFAddF32DenormalSupport)."""
    total = _add(b, *(flush_denormals(b, value) for value in (old, new)))
    return flush_denormals(b, total)


_add_half = with_nans(through_float(binary("fadd")))


def _half_pairs(f: NativeFunction, old: Value, first: Value, second: Value) -> Value:
    halves = []
    for start in (0, 16):
        x, y = (
            f.bitcast(f.resize(f.shift("lshr", value, start), 16), "half") for value in (old, first)
        )
        halves.append(f.resize(f.bitcast(_add_half(f, x, y), "i16"), 32))
    return f.or_(halves[0], f.shift("shl", halves[1], 16))


def _brain_pairs(f: NativeFunction, old: Value, first: Value, second: Value) -> Value:
    halves = []
    for start in (0, 16):
        x, y = (brain_to_single(f, f.shift("lshr", value, start)) for value in (old, first))
        halves.append(single_to_brain(f, f.binary("fadd", x, y)))
    return f.or_(halves[0], f.shift("shl", halves[1], 16))


def _chosen(predicate: str) -> Expression:
    """gfx11's minimum or maximum: the operand if it compares so, else what is there (RDNA 3 ISA,
    GLOBAL_ATOMIC_MIN_F32)."""
    return lambda b, old, new: b.select(b.compare(predicate, new, old), new, old)


def _swap_if_equal(f: NativeFunction, old: Value, first: Value, second: Value) -> Value:
    element = "float" if old.type == "i32" else "double"
    equal = f.compare("oeq", f.bitcast(old, element), f.bitcast(second, element))
    return f.select(equal, first, old)


_NEW: Mapping[str, Callable[[NativeFunction, Value, Value, Value], Value]] = {
    "rsub": _reverse_subtract,
    "mskor": _masked_or,
    "add_f": _on_floats(_add),
    "add_flushed_f": _on_floats(_add_flushed),
    "pk_add_f16": _half_pairs,
    "min_f": _on_floats(MINIMUM_NUMBER),
    "max_f": _on_floats(MAXIMUM_NUMBER),
    "pk_add_bf16": _brain_pairs,
    "less_f": _on_floats(_chosen("olt")),
    "greater_f": _on_floats(_chosen("ogt")),
    "cmpswap_f": _swap_if_equal,
    "wrap": _wrap,
}


# Where the old values go in the staging area: after the operands.
_RESULT = 8


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation by the name in native code, its width, and how many operands of that width it
    takes."""

    name: str
    bits: int
    operands: int = 1


def emit_atomic(
    frame: Frame,
    instruction: Instruction,
    operation: Operation,
    address: Address,
    data: list[Value],
    result: Register | None,
) -> None:
    """Emit an atomic. `data` holds the dwords of the operands; `result`, if any, receives the old
    value."""
    for index, value in enumerate(data):
        frame.builder.store(value, frame.staging(index), 64)
    atomic = Atomic(address[0], operation.name, operation.bits)
    arguments = [
        frame.lane_context,
        frame.sites.add(instruction.pc),
        *address[1],
        frame.access_bits(),
    ]
    frame.native_void(atomic.symbol, [*arguments, frame.staging(0), frame.staging(_RESULT)])
    frame.accessed(instruction, AccessKind.ATOMIC, address, operation.bits // 8)
    if result is None:
        return
    write_loaded(frame, result, Width(operation.bits // 8), old_values(frame, operation.bits // 32))


def old_values(frame: Frame, dwords: int) -> list[Value]:
    """Return the values that the last atomic found in memory, in the lanes that executed it."""
    return [frame.builder.load(V32, frame.staging(_RESULT + index), 64) for index in range(dwords)]


def _result(instruction: Instruction) -> Register | None:
    if not any(spec.role == "vdst" for spec in instruction.opcode.operands):
        return None
    return register_of(instruction, "vdst")


def _dwords(frame: Frame, register: Register | None, count: int) -> list[Value]:
    assert register is not None
    return [frame.registers.vector(vector_number(register) + index) for index in range(count)]


def in_memory(flat: bool, operation: Operation) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        address = (flat_address if flat else global_address)(frame, instruction)
        count = operation.bits // 32 * operation.operands
        data = _dwords(frame, register_of(instruction, "vdata"), count)
        emit_atomic(
            frame,
            instruction,
            operation=operation,
            address=address,
            data=data,
            result=_result(instruction),
        )

    return emit


def in_lds(operation: Operation) -> Emitter:
    """DS_CMPSTORE takes the new value in data0 and the comparand in data1, as the native function
    does; DS_CMPST of gfx9 takes them the other way around (CDNA 3 ISA, DS_CMPST_B32)."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        address = lds_address(frame, instruction, instruction.immediates["offset"])
        numbers = range(operation.operands)
        data = []
        for number in reversed(numbers) if instruction.access.expects_first else numbers:
            register = register_of(instruction, f"data{number}")
            data += _dwords(frame, register, operation.bits // 32)
        emit_atomic(
            frame,
            instruction,
            operation=operation,
            address=address,
            data=data,
            result=_result(instruction),
        )

    return emit


_INTEGERS = {
    "add_u": "add",
    "sub_u": "sub",
    "min_i": "min_i",
    "min_u": "min_u",
    "max_i": "max_i",
    "max_u": "max_u",
    "and_b": "and",
    "or_b": "or",
    "xor_b": "xor",
    "inc_u": "inc",
    "dec_u": "dec",
}
_FLOATS = {
    "add_f32": "add_f",
    "min_num_f32": "min_f",
    "max_num_f32": "max_f",
    "min_f32": "less_f",
    "max_f32": "greater_f",
}
_DOUBLES = {"add": "add_f", "min": "less_f", "max": "greater_f"}
_NARROW = {
    "cond_sub_u32": "cond_sub",
    "sub_clamp_u32": "sub_clamp",
    "pk_add_f16": "pk_add_f16",
    "pk_add_bf16": "pk_add_bf16",
    **_FLOATS,
}


def memory_operations() -> dict[str, Operation]:
    """Return the operations of global, flat and buffer atomics by the name after `atomic_`."""
    table = {name: Operation(native, 32) for name, native in _NARROW.items()}
    table["cmpswap_f32"] = Operation("cmpswap_f", 32, 2)
    for bits in (32, 64):
        table[f"swap_b{bits}"] = Operation("swap", bits)
        table[f"cmpswap_b{bits}"] = Operation("cmpswap", bits, 2)
        for name, native in _INTEGERS.items():
            table[f"{name}{bits}"] = Operation(native, bits)
    for name, native in _DOUBLES.items():
        table[f"{name}_f64"] = Operation(native, 64)
    return table


def _lds_operations() -> dict[tuple[str, str], Operation]:
    """Return the operations of LDS by name and type, between which the returning forms have
    `_rtn`."""
    table: dict[tuple[str, str], Operation] = {}
    for name, native in _NARROW.items():
        verb, _, code = name.rpartition("_")
        table[verb, code] = Operation(native, 32)
    for bits in (32, 64):
        table["cmpstore", f"b{bits}"] = Operation("cmpswap", bits, 2)
        table["cmpstore", f"f{bits}"] = Operation("cmpswap_f", bits, 2)
        table["cmpst", f"b{bits}"] = Operation("cmpswap", bits, 2)
        table["cmpst", f"f{bits}"] = Operation("cmpswap_f", bits, 2)
        table["mskor", f"b{bits}"] = Operation("mskor", bits, 2)
        table["rsub", f"u{bits}"] = Operation("rsub", bits)
        for name, native in _INTEGERS.items():
            verb, _, sign = name.partition("_")
            table[verb, f"{sign}{bits}"] = Operation(native, bits)
    table["min_num", "f64"] = Operation("min_f", 64)
    table["max_num", "f64"] = Operation("max_f", 64)
    for name, native in _DOUBLES.items():
        table[name, "f64"] = Operation(native, 64)
    return table


def _lds_table() -> dict[str, Emitter]:
    # These always return.
    table: dict[str, Emitter] = {
        "ds_storexchg_rtn_b32": in_lds(Operation("swap", 32)),
        "ds_storexchg_rtn_b64": in_lds(Operation("swap", 64)),
        "ds_wrap_rtn_b32": in_lds(Operation("wrap", 32, 2)),
    }
    for (verb, code), operation in _lds_operations().items():
        table[f"ds_{verb}_{code}"] = in_lds(operation)
        table[f"ds_{verb}_rtn_{code}"] = in_lds(operation)
    return table


ATOMIC_ACCESS: Mapping[str, Emitter] = {
    **{
        f"global_atomic_{name}": in_memory(False, operation)
        for name, operation in memory_operations().items()
    },
    **{
        f"flat_atomic_{name}": in_memory(True, operation)
        for name, operation in memory_operations().items()
    },
    **_lds_table(),
}
