"""Loads and stores of global, flat and private memory, and the parts that LDS accesses share."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.emulator.host.builder import LANES, Value, constant, sequence
from amdjit.emulator.instructions.memory.spaces import Access
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.wave.frame import AccessKind, Frame
from amdjit.emulator.wave.registers import V32
from amdjit.isa.instruction import Instruction, Register
from amdjit.isa.register_numbers import M0, vector_number
from amdjit.late_methods import dataclass

# An address space and the address arguments that the native function of an `Access` takes.
Address = tuple[str, list[Value]]
Addressing = Callable[[Frame, Instruction], Address]


@dataclass(frozen=True, slots=True)
class Width:
    """What one lane transfers: the bytes, whether the loaded value is sign-extended, and the half
    of the register if it uses only one."""

    size: int
    signed: bool = False
    half: int | None = None


def register_of(instruction: Instruction, role: str) -> Register | None:
    """Return a register operand, None if it is `off`."""
    operand = instruction.operand(role)
    assert operand is None or isinstance(operand, Register)
    return operand


def global_address(frame: Frame, instruction: Instruction) -> Address:
    """SGPR pair + unsigned VGPR + offset, or VGPR pair + offset (RDNA 4 ISA, 10.3)."""
    vaddr, saddr = register_of(instruction, "vaddr"), register_of(instruction, "saddr")
    offset = constant("i64", instruction.immediates["offset"])
    assert vaddr is not None
    if saddr is None:
        low, high = (frame.registers.vector(vector_number(vaddr) + part) for part in (0, 1))
        return "v", [low, high, offset]
    base = frame.scalar_operand(saddr, "b64", instruction)
    return "s", [frame.builder.add(base, offset), frame.registers.vector(vector_number(vaddr))]


def flat_address(frame: Frame, instruction: Instruction) -> Address:
    """VGPR pair + offset; LDS and private memory are inside their apertures."""
    vaddr = vector_register(instruction, "vaddr")
    low, high = (frame.registers.vector(vector_number(vaddr) + part) for part in (0, 1))
    return "f", [low, high, constant("i64", instruction.immediates["offset"])]


def private_address(frame: Frame, instruction: Instruction) -> Address:
    """VGPR + SGPR + offset in the lane's private memory; both registers are optional."""
    vaddr, saddr = register_of(instruction, "vaddr"), register_of(instruction, "saddr")
    base = constant("i32", instruction.immediates["offset"])
    if saddr is not None:
        base = frame.builder.add(frame.scalar_operand(saddr, "b32", instruction), base)
    zero = constant(V32, 0)
    return "p", [frame.registers.vector(vector_number(vaddr)) if vaddr else zero, base]


def load_vectors(
    frame: Frame, instruction: Instruction, address: Address, size: int, element: int = 0
) -> list[Value]:
    """Load `size` bytes for each lane; return a vector for each dword (zero-extended below a
    dword)."""
    values = _load_vectors(frame, instruction, address, size)
    frame.accessed(instruction, AccessKind.LOAD, address, size, values, element)
    return values


def _load_vectors(
    frame: Frame, instruction: Instruction, address: Address, size: int
) -> list[Value]:
    access = Access(address[0], size, False)
    arguments = [
        frame.lane_context,
        frame.sites.add(instruction.pc),
        *address[1],
        frame.access_bits(),
    ]
    if not access.by_pointer:
        return [frame.native(access.symbol, V32, arguments)]
    frame.native_void(access.symbol, [*arguments, frame.staging(0)])
    return [frame.builder.load(V32, frame.staging(index), 64) for index in range(size // 4)]


def load_register(
    frame: Frame,
    instruction: Instruction,
    address: Address,
    width: Width,
    register: Register,
    element: int = 0,
) -> None:
    """Load into consecutive registers: directly into the state memory if all of them live there."""
    numbers = range(vector_number(register), vector_number(register) + width.size // 4)
    registers = frame.registers
    direct = (
        width.size > 4
        and registers.exec_is_full
        and all(registers.in_memory(number) for number in numbers)
    )
    if not direct or frame.access_mask is not None:
        write_loaded(
            frame, register, width, load_vectors(frame, instruction, address, width.size, element)
        )
        return
    access = Access(address[0], width.size, False)
    place = registers.vector_slot(vector_number(register))
    arguments = [
        frame.lane_context,
        frame.sites.add(instruction.pc),
        *address[1],
        frame.access_bits(),
        place,
    ]
    frame.native_void(access.symbol, arguments)
    registers.forget_vectors(vector_number(register), len(numbers))
    frame.accessed(instruction, AccessKind.LOAD, address, width.size, (), element)


def store_vectors(
    frame: Frame,
    instruction: Instruction,
    address: Address,
    size: int,
    values: list[Value],
    element: int = 0,
) -> None:
    """Store `size` bytes for each lane from a vector for each dword."""
    frame.accessed(instruction, AccessKind.STORE, address, size, values, element)
    _store_vectors(frame, instruction, address, size, values)


def _store_vectors(
    frame: Frame, instruction: Instruction, address: Address, size: int, values: list[Value]
) -> None:
    access = Access(address[0], size, True)
    arguments = [
        frame.lane_context,
        frame.sites.add(instruction.pc),
        *address[1],
        frame.access_bits(),
    ]
    if not access.by_pointer:
        frame.native_void(access.symbol, [*arguments, values[0]])
        return
    for index, value in enumerate(values):
        frame.builder.store(value, frame.staging(index), 64)
    frame.native_void(access.symbol, [*arguments, frame.staging(0)])


def write_loaded(frame: Frame, register: Register, width: Width, values: list[Value]) -> None:
    """Write loaded dwords to consecutive registers; d16 forms fill one half and keep the other."""
    b = frame.builder
    if width.half is not None:
        narrow = b.resize(b.resize(values[0], width.size * 8), 16, width.signed)
        frame.registers.write_half(vector_number(register), width.half, narrow, frame.mask())
        return
    if width.signed:
        values = [b.resize(b.resize(values[0], width.size * 8), 32, True)]
    for index, value in enumerate(values):
        frame.registers.write_vector(vector_number(register) + index, value, frame.mask())


def stored_values(frame: Frame, register: Register, width: Width) -> list[Value]:
    """Return the dwords that a store reads from consecutive registers."""
    registers = frame.registers
    if width.half == 1:
        return [frame.builder.shift("lshr", registers.vector(vector_number(register)), 16)]
    first = vector_number(register)
    return [registers.vector(first + index) for index in range(max(1, width.size // 4))]


def load(addressing: Addressing, width: Width) -> Emitter:
    """Return the emitter of a load."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        register = vector_register(instruction, "vdst")
        load_register(frame, instruction, addressing(frame, instruction), width, register)

    return emit


def store(addressing: Addressing, width: Width) -> Emitter:
    """Return the emitter of a store."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        register = vector_register(instruction, "vdata")
        values = stored_values(frame, register, width)
        store_vectors(frame, instruction, addressing(frame, instruction), width.size, values)

    return emit


DWORDS: Mapping[str, Width] = {f"b{32 * count}": Width(4 * count) for count in (1, 2, 3, 4)}
LOAD_WIDTHS: Mapping[str, Width] = {
    "u8": Width(1),
    "i8": Width(1, signed=True),
    "u16": Width(2),
    "i16": Width(2, signed=True),
    **DWORDS,
    "d16_u8": Width(1, half=0),
    "d16_i8": Width(1, signed=True, half=0),
    "d16_b16": Width(2, half=0),
    "d16_hi_u8": Width(1, half=1),
    "d16_hi_i8": Width(1, signed=True, half=1),
    "d16_hi_b16": Width(2, half=1),
}
STORE_WIDTHS: Mapping[str, Width] = {
    "b8": Width(1),
    "b16": Width(2),
    **DWORDS,
    "d16_hi_b8": Width(1, half=1),
    "d16_hi_b16": Width(2, half=1),
}
_PREFIXES: Mapping[str, Addressing] = {
    "global": global_address,
    "flat": flat_address,
    "scratch": private_address,
}

MEMORY_ACCESS: Mapping[str, Emitter] = {
    f"{prefix}_{verb}_{name}": make(addressing, width)
    for prefix, addressing in _PREFIXES.items()
    for verb, make, widths in (("load", load, LOAD_WIDTHS), ("store", store, STORE_WIDTHS))
    for name, width in widths.items()
}


# LOAD_BLOCK and STORE_BLOCK: blocks of 32 registers, of which M0 selects some.


def _block(addressing: Addressing, store: bool) -> Emitter:
    """Transfer register i and dword i of memory for each bit i that is set in M0."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        register = vector_register(instruction, "vdata" if store else "vdst")
        space, (*parts, base) = addressing(frame, instruction)
        chosen = frame.registers.scalar(M0)
        # Read everything first: a load may overwrite its own address.
        for number in range(register.dwords):
            bit = b.resize(b.resize(b.shift("lshr", chosen, number), 1), 32, True)
            frame.access_mask = b.and_(frame.registers.exec_bits(), bit)
            address = _moved(frame, (space, [*parts, base]), 4 * number)
            one = type(register)(register.file, register.index + number, 1)
            if store:
                store_vectors(frame, instruction, address, 4, stored_values(frame, one, Width(4)))
            else:
                loaded = load_vectors(frame, instruction, address, 4)[0]
                written = b.lane_mask(frame.access_mask)
                frame.registers.write_vector(vector_number(one), loaded, written)
            frame.access_mask = None

    return emit


def _moved(frame: Frame, address: Address, distance: int) -> Address:
    """Add bytes to an address. The base is the first value of a scalar address, and the last one of
    all others."""
    space, values = address
    place = 0 if space == "s" else len(values) - 1
    moved = list(values)
    moved[place] = frame.builder.add(values[place], constant(values[place].type, distance))
    return space, moved


REGISTER_BLOCKS: Mapping[str, Emitter] = {
    "global_load_block": _block(global_address, store=False),
    "global_store_block": _block(global_address, store=True),
    "scratch_load_block": _block(private_address, store=False),
    "scratch_store_block": _block(private_address, store=True),
}


# Loads of global and private memory that put their data into LDS, without registers in between.
#
# Each lane has a place of its own there: M0 + the instruction's offset + the lane's number times
# the bytes of its data, of which less than a dword is extended to one (CDNA 3 ISA, "Memory Buffer
# Load to LDS"; LLVM: IntrinsicsAMDGPU.td, `int_amdgcn_global_load_lds`).


def store_in_lds(frame: Frame, instruction: Instruction, width: Width, values: list[Value]) -> None:
    """Store what each lane has loaded at its place in LDS."""
    b = frame.builder
    if width.signed:
        values = [b.resize(b.resize(values[0], 8 * width.size), 32, True)]
    size = max(width.size, 4)
    first = size * LANES * frame.registers.wave_half
    places = sequence("i32", range(first, first + size * LANES, size))
    offset = constant("i32", instruction.immediates["offset"])
    # Only gfx950 has more LDS than 16 bits can address; its addresses are checked as they are.
    base = b.add(frame.registers.scalar(M0), offset)
    store_vectors(frame, instruction, ("l", [places, base]), size, values)


def _to_lds(addressing: Addressing, width: Width) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        address = addressing(frame, instruction)
        values = load_vectors(frame, instruction, address, width.size)
        store_in_lds(frame, instruction, width, values)

    return emit


def either(to_registers: Emitter, to_lds: Emitter) -> Emitter:
    """Return the emitter of a load whose LDS bit says where the data go."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        chosen = to_lds if instruction.immediates.get("lds") else to_registers
        chosen(frame, instruction)

    return emit


_SPACES: Mapping[str, Addressing] = {"global": global_address, "scratch": private_address}
DIRECT_WIDTHS = ("u8", "i8", "u16", "i16", "b32")

DIRECT_LOADS: Mapping[str, Emitter] = {
    f"{space}_load_lds_{name}": _to_lds(addressing, LOAD_WIDTHS[name])
    for space, addressing in _SPACES.items()
    for name in DIRECT_WIDTHS
} | {
    f"global_load_lds_{name}": _to_lds(global_address, LOAD_WIDTHS[name])
    for name in ("b96", "b128")
}
# Loads of gfx908 and gfx90a, which have a bit for it.
LOADS_WITH_LDS_BIT: Mapping[str, Emitter] = {
    f"{space}_load_{name}": either(
        load(addressing, LOAD_WIDTHS[name]), _to_lds(addressing, LOAD_WIDTHS[name])
    )
    for space, addressing in _SPACES.items()
    for name in DIRECT_WIDTHS
}
