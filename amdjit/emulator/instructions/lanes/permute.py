"""Instructions that permute the lanes of vector registers.

Some are emitted once for both halves of a wave64 (`Traits.once_per_wave`) and select the halves
themselves; the others stay within 32 lanes and are emitted once for each half.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeGuard

from amdjit.emulator.host.builder import LANES, Value, constant, sequence
from amdjit.emulator.host.function import V32, NativeFunction, i64
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.instructions.whole_waves import in_each_half, vectors_of, write_halves
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.registers import FULL_MASK
from amdjit.isa.instruction import Instruction, Operand, Register
from amdjit.isa.integer_expressions import bit_count_add
from amdjit.isa.register_numbers import EXEC_LO, is_vector, vector_number

_LANE_NUMBERS = sequence("i32", range(LANES))


def gather_lanes(frame: Frame, values: Value, indices: Value) -> Value:
    """Return `values[indices & 31]` for each lane."""
    return frame.native("aj_gather_lanes", V32, [values, indices])


def _fetch(
    frame: Frame,
    target: Register,
    values: Value,
    move: Callable[[Value], Value],
    fetch_inactive: bool,
    bound_control: bool,
) -> None:
    """Write `move(values)`; where the source lane is inactive, write 0 (bound_control) or leave the
    lane unchanged."""
    b = frame.builder
    moved = move(values)
    mask = frame.mask()
    if not fetch_inactive and frame.registers.exec_mask() is not FULL_MASK:
        ones = b.resize(frame.registers.exec_mask(), 32)
        active = b.compare("ne", move(ones), constant(V32, 0))
        if bound_control:
            moved = b.select(active, moved, constant(V32, 0))
        else:
            mask = b.and_(mask, active)
    frame.registers.write_vector(vector_number(target), moved, mask)


def _permute_row(other_row: bool, variable: bool) -> Emitter:
    """V_PERMLANE(X)16: read a lane of the same row of 16 lanes, or of the other one; op_sel is (fi,
    bound_ctrl)."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        values = frame.registers.vector(vector_number(vector_register(instruction, "src0")))
        op_sel = instruction.modifiers.op_sel
        target = vector_register(instruction, "vdst")
        _fetch(
            frame,
            target,
            values=values,
            move=move(frame, instruction),
            fetch_inactive=bool(op_sel & 1),
            bound_control=bool(op_sel & 2),
        )

    def move(frame: Frame, instruction: Instruction) -> Callable[[Value], Value]:
        b = frame.builder
        known = None if variable else _known_select(frame, instruction)
        if known is not None:
            lanes = [
                (lane ^ 16 if other_row else lane) & 16 | known[lane & 15] for lane in range(LANES)
            ]
            return lambda values: b.shuffle(values, values, lanes)
        select = (
            _variable_select(frame, instruction) if variable else _scalar_select(frame, instruction)
        )
        row = b.and_(_LANE_NUMBERS, constant(V32, 16))
        if other_row:
            row = b.xor(row, constant(V32, 16))
        indices = b.or_(row, select)
        return lambda values: gather_lanes(frame, values, indices)

    return emit


def _known_select(frame: Frame, instruction: Instruction) -> list[int] | None:
    """Return the lane of a row that each lane reads, if it is known at translation."""
    low, high = (frame.builder.known(frame.scalar_source(instruction, index)) for index in (2, 3))
    if low is None or high is None:
        return None
    return [(low | high << 32) >> 4 * lane & 15 for lane in range(16)]


def _scalar_select(frame: Frame, instruction: Instruction) -> Value:
    b = frame.builder
    low, high = (b.splat(frame.scalar_source(instruction, index)) for index in (2, 3))
    amounts = sequence("i32", [4 * (lane % 8) for lane in range(LANES)])
    upper = sequence("i1", [lane % 16 >= 8 for lane in range(LANES)])
    chosen = b.select(upper, high, low)
    return b.mask(b.binary("lshr", chosen, amounts), 4)


def _variable_select(frame: Frame, instruction: Instruction) -> Value:
    return frame.builder.mask(frame.source(instruction, 2), 4)


def _swap(frame: Frame, instruction: Instruction) -> None:
    first, second = vector_register(instruction, "vdst"), vector_register(instruction, "src0")
    left, right = (
        frame.registers.vector(vector_number(first)),
        frame.registers.vector(vector_number(second)),
    )
    frame.registers.write_vector(vector_number(first), right, frame.mask())
    frame.registers.write_vector(vector_number(second), left, frame.mask())


def _swap_halves_of_registers(frame: Frame, instruction: Instruction) -> None:
    """V_SWAP_B16: both halves may belong to one register."""
    first, second = vector_register(instruction, "vdst"), vector_register(instruction, "src0")
    left, right = (
        frame.registers.half(vector_number(register), register.half or 0)
        for register in (first, second)
    )
    for register, value in ((first, right), (second, left)):
        frame.registers.write_half(vector_number(register), register.half or 0, value, frame.mask())


def _backward_permute(fetch_inactive: bool) -> Emitter:
    """DS_BPERMUTE: lane i reads lane (addr + offset) / 4 of data; an inactive source yields 0.

    On gfx12 it reaches all lanes of a wave64 (LLVM, GCNSubtarget.h, `supportsWaveWideBPermute`).
    """

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        data = vectors_of(frame, vector_register(instruction, "data0"))
        if not fetch_inactive:
            zero = constant(V32, 0)
            masks = in_each_half(frame, frame.registers.exec_mask)
            data = [
                v if m is FULL_MASK else b.select(m, v, zero)
                for m, v in zip(masks, data, strict=True)
            ]
        indices = in_each_half(frame, lambda: _lds_lane(frame, instruction))
        results = [_gather_wave(frame, data, index) for index in indices]
        write_halves(frame, vector_register(instruction, "vdst"), results)

    return emit


def _backward_permute_half(frame: Frame, instruction: Instruction) -> None:
    """DS_BPERMUTE of gfx11: each half of a wave64 reads its own lanes."""
    b = frame.builder
    data = frame.registers.vector(vector_number(vector_register(instruction, "data0")))
    active = frame.registers.exec_mask()
    if active is not FULL_MASK:
        data = b.select(active, data, constant(V32, 0))
    target = vector_register(instruction, "vdst")
    result = gather_lanes(frame, data, _lds_lane(frame, instruction))
    frame.registers.write_vector(vector_number(target), result, frame.mask())


def _forward_permute_half(frame: Frame, instruction: Instruction) -> None:
    """DS_PERMUTE of gfx11: each half of a wave64 writes to its own lanes."""
    registers = frame.registers
    data = registers.vector(vector_number(vector_register(instruction, "data0")))
    arguments = [data, _lds_lane(frame, instruction), registers.exec_bits()]
    result = frame.native("aj_scatter_lanes", V32, arguments)
    target = vector_register(instruction, "vdst")
    registers.write_vector(vector_number(target), result, frame.mask())


def _gather_wave(frame: Frame, data: list[Value], indices: Value) -> Value:
    """Return for 32 lanes the item of the wave at each lane's index."""
    b = frame.builder
    items = [gather_lanes(frame, values, indices) for values in data]
    if len(items) == 1:
        return items[0]
    return b.select(_upper_lanes(frame, indices), items[1], items[0])


def _upper_lanes(frame: Frame, indices: Value) -> Value:
    b = frame.builder
    return b.compare("ne", b.and_(indices, constant(V32, 32)), constant(V32, 0))


def _lds_lane(frame: Frame, instruction: Instruction) -> Value:
    b = frame.builder
    address = frame.registers.vector(vector_number(vector_register(instruction, "addr")))
    moved = b.add(address, constant(V32, instruction.immediates["offset"]))
    return b.shift("lshr", moved, 2)


def _forward_permute(frame: Frame, instruction: Instruction) -> None:
    """DS_PERMUTE: lane i writes its data to lane (addr + offset) / 4; if several lanes write to
    one, the highest wins."""
    data = vectors_of(frame, vector_register(instruction, "data0"))
    indices = in_each_half(frame, lambda: _lds_lane(frame, instruction))
    active = in_each_half(frame, frame.registers.exec_bits)
    results = []
    for half in range(len(data)):
        senders = _senders(frame, indices, active, half)
        results.append(_scatter_wave(frame, data, indices, senders))
    write_halves(frame, vector_register(instruction, "vdst"), results)


def _senders(frame: Frame, indices: list[Value], active: list[Value], half: int) -> list[Value]:
    """Return the active lanes that write to a lane of `half`."""
    if len(indices) == 1:
        return active
    b = frame.builder
    upper = [b.mask_bits(_upper_lanes(frame, index)) for index in indices]
    chosen = upper if half else [b.not_(bits) for bits in upper]
    return [b.and_(lanes, bits) for lanes, bits in zip(active, chosen, strict=True)]


def _scatter_wave(
    frame: Frame, data: list[Value], indices: list[Value], senders: list[Value]
) -> Value:
    b = frame.builder
    arguments = list(zip(data, indices, senders, strict=True))
    results = [frame.native("aj_scatter_lanes", V32, list(group)) for group in arguments]
    if len(results) == 1:
        return results[0]
    written = frame.native("aj_scatter_lanes", V32, [constant(V32, 1), *arguments[1][1:]])
    return b.select(b.compare("ne", written, constant(V32, 0)), results[1], results[0])


def swizzle_lanes(offset: int) -> list[int]:
    """Return the source of each lane for an offset of DS_SWIZZLE_B32 (RDNA 4 ISA,
    DS_SWIZZLE_B32)."""
    lanes = range(LANES)
    if offset >= 0xE000:
        return [_butterfly(lane, offset & 0x1F) for lane in lanes]
    if offset >= 0xC000:
        kept, count = offset & 0x1F, offset >> 5 & 0x1F
        step = -count if offset >> 10 & 1 else count
        return [lane & kept | (lane + step) & ~kept & 31 for lane in lanes]
    if offset & 0x8000:
        return [lane & ~3 | offset >> 2 * (lane & 3) & 3 for lane in lanes]
    keep, put, flip = offset & 31, offset >> 5 & 31, offset >> 10 & 31
    return [(lane & keep | put) ^ flip for lane in lanes]


def _butterfly(lane: int, mask: int) -> int:
    """Return a lane's source in FFT order: the bits outside the mask are reversed; the mask is 0,
    0x10, 0x18, ... for smaller and smaller transforms."""
    return int(f"{lane:05b}"[::-1], 2) >> mask.bit_count() | lane & mask


def _swizzle(frame: Frame, instruction: Instruction) -> None:
    b = frame.builder
    sources = swizzle_lanes(instruction.immediates["offset"])
    values = frame.registers.vector(vector_number(vector_register(instruction, "addr")))
    moved = b.shuffle(values, values, sources)
    execution = frame.registers.exec_mask()
    if execution is not FULL_MASK:
        active = b.shuffle(execution, execution, sources)
        moved = b.select(active, moved, constant(V32, 0))
    target = vector_register(instruction, "vdst")
    frame.registers.write_vector(vector_number(target), moved, frame.mask())


def _swap_halves(frame: Frame, instruction: Instruction) -> None:
    """V_PERMLANE64: swap the halves of a wave64, inactive lanes included; in wave32 it does nothing
    (RDNA 4 ISA, V_PERMLANE64_B32)."""
    if frame.registers.halves == 2:
        lower, upper = vectors_of(frame, vector_register(instruction, "src0"))
        write_halves(frame, vector_register(instruction, "vdst"), [upper, lower])


def _masked_bit_count(upper: bool) -> Emitter:
    """V_MBCNT_LO and _HI: count the bits in the mask's dword that belong to lower lanes."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        half = frame.registers.wave_half
        if upper == bool(half):
            below = sequence("i32", [(1 << lane) - 1 for lane in range(LANES)])
        else:
            below = constant(V32, -1 if half else 0)
        bits = frame.builder.and_(frame.source(instruction, 1), below)
        frame.write(
            instruction, 0, bit_count_add(frame.builder, bits, frame.source(instruction, 2))
        )

    return emit


PERMUTE: Mapping[str, Emitter] = {
    "v_permlane16_b32": _permute_row(other_row=False, variable=False),
    "v_permlanex16_b32": _permute_row(other_row=True, variable=False),
    "v_permlane16_var_b32": _permute_row(other_row=False, variable=True),
    "v_permlanex16_var_b32": _permute_row(other_row=True, variable=True),
    "v_permlane64_b32": _swap_halves,
    "v_mbcnt_lo_u32_b32": _masked_bit_count(upper=False),
    "v_mbcnt_hi_u32_b32": _masked_bit_count(upper=True),
    "v_swap_b32": _swap,
    "v_swap_b16": _swap_halves_of_registers,
    "ds_bpermute_b32": _backward_permute(fetch_inactive=False),
    "ds_bpermute_fi_b32": _backward_permute(fetch_inactive=True),
    "ds_permute_b32": _forward_permute,
    "ds_swizzle_b32": _swizzle,
}

# Of families whose LDS permutes stay in a half of a wave64.
HALF_WAVE_PERMUTE: Mapping[str, Emitter] = {
    "ds_bpermute_b32": _backward_permute_half,
    "ds_permute_b32": _forward_permute_half,
}


# Permutations of lanes by indices that are only known at run time.


def gather_lanes_text(attributes: str) -> str:
    """Return `aj_gather_lanes(values, indices)`: lane i gets `values[indices[i] & 31]`."""
    function = NativeFunction("aj_gather_lanes", V32, [(V32, "values"), (V32, "indices")])
    table = function.allocate(V32)
    places = function.allocate(V32)
    function.store(function.parameter("values"), table, 64)
    scaled = function.shift("shl", function.mask(function.parameter("indices"), 5), 2)
    function.store(scaled, places, 64)
    result = Value(V32, "poison")
    for lane in range(32):
        place = function.resize(function.load("i32", function.offset(places, 4 * lane), 4), 64)
        item = function.load("i32", function.offset(table, place), 4)
        result = function.insert(result, item, lane)
    function.give(result)
    return function.text(attributes)


def scatter_lanes_text(attributes: str) -> str:
    """Return `aj_scatter_lanes(values, indices, exec)`: active lane i writes `result[indices[i] &
    31]`.

    Lanes that no lane writes are 0; if several write to one, the highest wins.
    """
    function = NativeFunction(
        "aj_scatter_lanes", V32, [(V32, "values"), (V32, "indices"), ("i32", "exec")]
    )
    table, places, result = (function.allocate(V32) for _ in range(3))
    function.store(function.parameter("values"), table, 64)
    function.store(function.mask(function.parameter("indices"), 5), places, 64)
    function.store(constant(V32, 0), result, 64)
    with function.each_lane(function.parameter("exec")) as each:
        distance = function.mul(each.lane, i64(4))
        item = function.load("i32", function.offset(table, distance), 4)
        place = function.resize(function.load("i32", function.offset(places, distance), 4), 64)
        function.store(item, function.offset(result, function.shift("shl", place, 2)), 4)
    function.give(function.load(V32, result, 64))
    return function.text(attributes)


# V_PERMLANE16_SWAP and V_PERMLANE32_SWAP: rows of two registers change places.
#
# A row is 16 lanes: the first one swaps odd rows of the result's register with even rows of the
# source, the second one the upper half of the wave with the lower half (CDNA 4 ISA). The document's
# pseudocode does not mention EXEC. Like the other V_PERMLANE, an inactive lane keeps what it has,
# and where a lane's partner is inactive, op_sel decides as (fi, bound_ctrl): it is read, or gives
# 0, or the lane stays as it is.


# Lanes of a row.
_ROW = 16
_EVEN = [lane & ~_ROW for lane in range(LANES)]
_ODD = [lane | _ROW for lane in range(LANES)]


def _swap_rows(frame: Frame, instruction: Instruction) -> None:
    b = frame.builder
    first, second = _numbers(instruction)
    left, right = frame.registers.vector(first), frame.registers.vector(second)
    active = frame.registers.exec_mask()
    is_odd = sequence("i1", [bool(lane & _ROW) for lane in range(LANES)])
    for number, values, lanes, written in (
        (first, right, _EVEN, is_odd),
        (second, left, _ODD, b.not_(is_odd)),
    ):
        partner = active if active is FULL_MASK else b.shuffle(active, active, lanes)
        _write(frame, instruction, number, (b.shuffle(values, values, lanes), partner), written)


def _exchange_halves(frame: Frame, instruction: Instruction) -> None:
    first, second = _numbers(instruction)
    upper = vectors_of(frame, vector_register(instruction, "vdst"))[1]
    lower = vectors_of(frame, vector_register(instruction, "src0"))[0]
    active = in_each_half(frame, frame.registers.exec_mask)
    for half, number, values in ((1, first, lower), (0, second, upper)):
        frame.registers.select_half(half)
        _write(frame, instruction, number, (values, active[1 - half]), FULL_MASK)
    frame.registers.select_half(0)


def _numbers(instruction: Instruction) -> tuple[int, int]:
    first, second = (vector_register(instruction, role) for role in ("vdst", "src0"))
    return vector_number(first), vector_number(second)


def _write(
    frame: Frame,
    instruction: Instruction,
    number: int,
    moved: tuple[Value, Value],
    written: Value,
) -> None:
    """Write lanes of a register. moved: the values, and which of them come from active lanes."""
    b = frame.builder
    values, active = moved
    select = instruction.modifiers.op_sel
    mask = frame.mask()
    if mask is FULL_MASK or written is FULL_MASK:
        mask = written if mask is FULL_MASK else mask
    else:
        mask = b.and_(mask, written)
    if active is not FULL_MASK and not select & 1:
        if select & 2:
            values = b.select(active, values, constant(V32, 0))
        else:
            mask = active if mask is FULL_MASK else b.and_(mask, active)
    frame.registers.write_vector(number, values, mask)


ROW_SWAPS: Mapping[str, Emitter] = {
    "v_permlane16_swap_b32": _swap_rows,
    "v_permlane32_swap_b32": _exchange_halves,
}


# Moves between one lane of a vector register and a scalar register.


def _pick(frame: Frame, halves: list[Value], lane: Value) -> Value:
    """Return the item of one lane, an i32 taken modulo the wave size."""
    b = frame.builder
    place = b.mask(lane, 5)
    items = [b.extract(values, place) for values in halves]
    if len(items) == 1:
        return items[0]
    upper = b.resize(b.shift("lshr", lane, 5), 1)
    return b.select(upper, items[1], items[0])


def _read_lane(frame: Frame, instruction: Instruction) -> None:
    halves = vectors_of(frame, vector_register(instruction, "src0"))
    lane = frame.scalar_source(instruction, 2)
    frame.write_scalar(instruction.operands[0], _pick(frame, halves, lane))


def _read_first_lane(frame: Frame, instruction: Instruction) -> None:
    source = instruction.operands[1]
    if not is_vector_register(source):
        frame.write_scalar(instruction.operands[0], frame.scalar_source(instruction, 1))
        return
    frame.write_scalar(instruction.operands[0], first_lane(frame, source))


def is_vector_register(operand: Operand | None) -> TypeGuard[Register]:
    """Whether an operand is a VGPR."""
    return is_vector(operand)


def first_lane(frame: Frame, register: Register) -> Value:
    """Return a vector register's dword in the wave's first active lane."""
    b = frame.builder
    halves = vectors_of(frame, register)
    if frame.registers.exec_is_full:
        return b.extract(halves[0], 0)
    # Without an active lane, lane 0 is read (RDNA 4 ISA, V_READFIRSTLANE_B32): cttz(0) is the
    # width, which is taken modulo itself.
    bits = frame.registers.exec_bits() if len(halves) == 1 else frame.registers.scalar_wide(EXEC_LO)
    first = b.resize(b.intrinsic("cttz", bits, flags=[Value("i1", "false")]), 32)
    return _pick(frame, halves, first)


def _write_lane(frame: Frame, instruction: Instruction) -> None:
    """V_WRITELANE ignores EXEC."""
    b = frame.builder
    target = vector_register(instruction, "vdst")
    item = frame.scalar_source(instruction, 1)
    lane = frame.scalar_source(instruction, 2)
    place = b.mask(lane, 5)
    for half, values in enumerate(vectors_of(frame, target)):
        changed = b.insert(values, item, place)
        if frame.registers.halves == 2:
            upper = b.resize(b.shift("lshr", lane, 5), 1)
            changed = b.select(upper, *((changed, values) if half else (values, changed)))
        frame.registers.select_half(half)
        frame.registers.write_vector(vector_number(target), changed, FULL_MASK)
    frame.registers.select_half(0)


SINGLE_LANES: Mapping[str, Emitter] = {
    "v_readlane_b32": _read_lane,
    "v_readfirstlane_b32": _read_first_lane,
    "v_writelane_b32": _write_lane,
}
