"""LDS atomics of more than one access: exchanges at two addresses, conditional exchanges, append
and consume."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.instructions.memory.access import (
    Address,
    Width,
    load_register,
    load_vectors,
    store_vectors,
)
from amdjit.emulator.instructions.memory.atomics import Operation, emit_atomic, old_values
from amdjit.emulator.instructions.memory.lds import lds_address
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.instructions.whole_waves import in_each_half, write_halves
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.registers import V32
from amdjit.isa.instruction import Instruction, Register
from amdjit.isa.register_numbers import M0, numbers_of, vector_number


def _part(register: Register, first: int, dwords: int) -> Register:
    return Register(register.file, register.index + first, dwords)


def _dwords(frame: Frame, register: Register) -> list[Value]:
    return [frame.registers.vector(number) for number in numbers_of(register)]


def _exchange_two(bits: int, stride: int) -> Emitter:
    """DS_STOREXCHG_2ADDR: both old values are returned."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        target = vector_register(instruction, "vdst")
        dwords = bits // 32
        swap = Operation("swap", bits)
        addr = frame.registers.vector(vector_number(vector_register(instruction, "addr")))
        data = [_dwords(frame, vector_register(instruction, f"data{number}")) for number in (0, 1)]
        for number, values in enumerate(data):
            offset = constant("i32", instruction.immediates[f"offset{number}"] * stride)
            result = _part(target, number * dwords, dwords)
            emit_atomic(
                frame,
                instruction,
                operation=swap,
                address=("l", [addr, offset]),
                data=values,
                result=result,
            )

    return emit


def _conditional_exchange(frame: Frame, instruction: Instruction) -> None:
    """DS_CONDXCHG32: store those of two dwords whose top bit is set, without that bit; return the
    old ones."""
    b = frame.builder
    target, source = vector_register(instruction, "vdst"), vector_register(instruction, "data0")
    data = _dwords(frame, source)
    offset = instruction.immediates["offset"]
    space, (addr, _) = lds_address(frame, instruction, offset)
    # The low three bits of the whole address are ignored.
    start = b.and_(b.add(addr, constant(V32, offset)), constant(V32, -8))
    places: list[Address] = [(space, [start, constant("i32", 4 * part)]) for part in (0, 1)]
    for part in range(len(data)):
        load_register(frame, instruction, places[part], Width(4), _part(target, part, 1))
    for place, value in zip(places, data, strict=True):
        chosen = b.mask_bits(b.compare("slt", value, constant(V32, 0)))
        frame.access_mask = b.and_(frame.registers.exec_bits(), chosen)
        store_vectors(frame, instruction, place, 4, [b.mask(value, 31)])
        frame.access_mask = None


def _count(name: str) -> Emitter:
    """DS_APPEND and DS_CONSUME: add or subtract the number of active lanes; all of them receive the
    old value."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        zero = constant("i32", 0)
        active = in_each_half(frame, frame.registers.exec_bits)
        counts = [b.intrinsic("ctpop", execution) for execution in active]
        total = counts[0] if len(counts) == 1 else b.add(*counts)
        base = b.add(
            b.mask(frame.registers.scalar(M0), 16),
            constant("i32", instruction.immediates["offset"]),
        )
        # The lowest active lane does it: one in the upper half only if the lower half has none.
        done, old = constant("i1", 0), zero
        for half, execution in enumerate(active):
            frame.registers.select_half(half)
            lowest = b.and_(execution, b.sub(zero, execution))
            frame.access_mask = b.select(done, zero, lowest)
            address = ("l", [constant(V32, 0), base])
            emit_atomic(
                frame,
                instruction,
                operation=Operation(name, 32),
                address=address,
                data=[b.splat(total)],
                result=None,
            )
            frame.access_mask = None
            first = b.mask(b.intrinsic("cttz", execution, flags=[Value("i1", "false")]), 5)
            old = b.select(done, old, b.extract(old_values(frame, 1)[0], first))
            done = b.or_(done, b.compare("ne", execution, zero))
        write_halves(frame, vector_register(instruction, "vdst"), [b.splat(old)] * len(active))

    return emit


LDS_ATOMICS: Mapping[str, Emitter] = {
    "ds_storexchg_2addr_rtn_b32": _exchange_two(32, 4),
    "ds_storexchg_2addr_rtn_b64": _exchange_two(64, 8),
    "ds_storexchg_2addr_stride64_rtn_b32": _exchange_two(32, 256),
    "ds_storexchg_2addr_stride64_rtn_b64": _exchange_two(64, 512),
    "ds_condxchg32_rtn_b64": _conditional_exchange,
    "ds_append": _count("add"),
    "ds_consume": _count("sub"),
}


# DS_*_SRC2 of gfx908: atomics whose operand is in LDS, too.


def _distance(instruction: Instruction) -> int:
    """Return the bytes from the result to the operand: 4 times a signed number of 15 bits (MI100
    ISA, DS_ADD_SRC2_U32)."""
    offset = instruction.immediates["offset"]
    if offset & 0x8000:
        # The number would be the upper half of the address.
        raise Untranslatable(
            instruction, "no document says which bits of an address with a distance are an address"
        )
    return 4 * (offset - 0x8000 if offset & 0x4000 else offset)


def _combine(operation: Operation) -> Emitter:
    """Change one place in LDS by what is in another."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        size = operation.bits // 8
        operand = lds_address(frame, instruction, _distance(instruction))
        data = load_vectors(frame, instruction, operand, size)
        result = lds_address(frame, instruction, 0)
        if operation.name == "write":
            store_vectors(frame, instruction, result, size, data)
        else:
            emit_atomic(
                frame, instruction, operation=operation, address=result, data=data, result=None
            )

    return emit


_FLOATS = {"min": "less_f", "max": "greater_f"}
_INTEGERS = {
    **{f"{name}_u": name for name in ("add", "sub", "rsub", "inc", "dec")},
    **{f"{name}_{sign}": f"{name}_{sign}" for name in ("min", "max") for sign in "iu"},
    **{f"{name}_b": name for name in ("and", "or", "xor", "write")},
}


def _table() -> dict[str, Emitter]:
    table: dict[str, Emitter] = {"ds_add_src2_f32": _combine(Operation("add_f", 32))}
    for bits in (32, 64):
        for name, native in _INTEGERS.items():
            verb, _, sign = name.partition("_")
            table[f"ds_{verb}_src2_{sign}{bits}"] = _combine(Operation(native, bits))
        for verb, native in _FLOATS.items():
            table[f"ds_{verb}_src2_f{bits}"] = _combine(Operation(native, bits))
    return table


LDS_OPERANDS: Mapping[str, Emitter] = _table()
