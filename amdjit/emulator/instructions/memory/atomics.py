"""Atomic instructions of global, flat and LDS memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.emulator.host.builder import Value
from amdjit.emulator.instructions.memory.access import (
    Address,
    Width,
    flat_address,
    global_address,
    register_of,
    write_loaded,
)
from amdjit.emulator.instructions.memory.atomics_native import Atomic
from amdjit.emulator.instructions.memory.lds import lds_address
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.wave.frame import AccessKind, Frame
from amdjit.emulator.wave.registers import V32
from amdjit.isa.instruction import Instruction, Register
from amdjit.isa.register_numbers import vector_number

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
