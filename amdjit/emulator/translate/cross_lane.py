"""Instructions that move data between lanes, DPP excepted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.emulator.decoder.instruction import Instruction, Register, RegisterFile
from amdjit.emulator.ir import LANES, Value, constant, sequence
from amdjit.emulator.layout import EXEC_LO
from amdjit.emulator.translate.errors import Untranslatable
from amdjit.emulator.translate.frame import Frame
from amdjit.emulator.translate.operation import Emitter, vector_register
from amdjit.emulator.translate.registers import FULL_MASK, V32

_LANE_NUMBERS = sequence("i32", range(LANES))


def gather_lanes(frame: Frame, values: Value, indices: Value) -> Value:
    """Return `values[indices & 31]` for each lane."""
    return frame.native("aj_gather_lanes", V32, [values, indices])


def _read_lane(frame: Frame, instruction: Instruction) -> None:
    b = frame.builder
    values = frame.registers.vector(vector_register(instruction, "src0").index)
    lane = b.mask(frame.scalar_source(instruction, 2, "b32"), 5)
    frame.write_scalar(instruction.operands[0], b.extract(values, lane))


def _read_first_lane(frame: Frame, instruction: Instruction) -> None:
    b = frame.builder
    source = instruction.operands[1]
    if not isinstance(source, Register) or source.file is not RegisterFile.VGPR:
        frame.write_scalar(instruction.operands[0], frame.scalar_source(instruction, 1, "b32"))
        return
    values = frame.registers.vector(source.index)
    if frame.registers.exec_is_full:
        frame.write_scalar(instruction.operands[0], b.extract(values, 0))
        return
    # With no active lane, lane 0 is read (RDNA 4 ISA, V_READFIRSTLANE_B32): cttz(0) is 32, taken modulo 32.
    first = b.intrinsic("cttz", frame.registers.exec_bits(), flags=[Value("i1", "false")])
    frame.write_scalar(instruction.operands[0], b.extract(values, b.mask(first, 5)))


def _write_lane(frame: Frame, instruction: Instruction) -> None:
    """EXEC is ignored."""
    b = frame.builder
    target = vector_register(instruction, "vdst")
    item = frame.scalar_source(instruction, 1, "b32")
    lane = b.mask(frame.scalar_source(instruction, 2, "b32"), 5)
    changed = b.insert(frame.registers.vector(target.index), item, lane)
    frame.registers.write_vector(target.index, changed, FULL_MASK)


def _fetch(
    frame: Frame, target: Register, values: Value, indices: Value, fetch_inactive: bool, bound_control: bool
) -> None:
    """Write `values[indices]`; an inactive source gives 0 (bound_control) or leaves the lane as it is."""
    b = frame.builder
    moved = gather_lanes(frame, values, indices)
    mask = frame.mask()
    if not fetch_inactive and frame.registers.mask(EXEC_LO) is not FULL_MASK:
        ones = b.resize(frame.registers.mask(EXEC_LO), 32)
        active = b.compare("ne", gather_lanes(frame, ones, indices), constant(V32, 0))
        if bound_control:
            moved = b.select(active, moved, constant(V32, 0))
        else:
            mask = b.and_(mask, active)
    frame.registers.write_vector(target.index, moved, mask)


def _permute_row(other_row: bool, variable: bool) -> Emitter:
    """V_PERMLANE(X)16: a lane of the own row of 16 lanes, or of the other one; op_sel is (fi, bound_ctrl)."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        select = _variable_select(frame, instruction) if variable else _scalar_select(frame, instruction)
        row = b.and_(_LANE_NUMBERS, constant(V32, 16))
        if other_row:
            row = b.xor(row, constant(V32, 16))
        values = frame.registers.vector(vector_register(instruction, "src0").index)
        op_sel = instruction.modifiers.op_sel
        target = vector_register(instruction, "vdst")
        _fetch(frame, target, values, b.or_(row, select), bool(op_sel & 1), bool(op_sel & 2))

    return emit


def _scalar_select(frame: Frame, instruction: Instruction) -> Value:
    b = frame.builder
    low, high = (b.splat(frame.scalar_source(instruction, index, "b32")) for index in (2, 3))
    amounts = sequence("i32", [4 * (lane % 8) for lane in range(LANES)])
    upper = sequence("i1", [lane % 16 >= 8 for lane in range(LANES)])
    chosen = b.select(upper, high, low)
    return b.mask(b.binary("lshr", chosen, amounts), 4)


def _variable_select(frame: Frame, instruction: Instruction) -> Value:
    return frame.builder.mask(frame.source(instruction, 2, "b32"), 4)


def _swap(frame: Frame, instruction: Instruction) -> None:
    first, second = vector_register(instruction, "vdst"), vector_register(instruction, "src0")
    left, right = frame.registers.vector(first.index), frame.registers.vector(second.index)
    frame.registers.write_vector(first.index, right, frame.mask())
    frame.registers.write_vector(second.index, left, frame.mask())


def _backward_permute(fetch_inactive: bool) -> Emitter:
    """DS_BPERMUTE: lane i reads lane (addr + offset) / 4 of data; an inactive source gives 0."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        indices = _lds_lane(frame, instruction)
        values = frame.registers.vector(vector_register(instruction, "data0").index)
        _fetch(frame, vector_register(instruction, "vdst"), values, indices, fetch_inactive, True)

    return emit


def _lds_lane(frame: Frame, instruction: Instruction) -> Value:
    b = frame.builder
    address = frame.registers.vector(vector_register(instruction, "addr").index)
    moved = b.add(address, constant(V32, instruction.immediates["offset"]))
    return b.mask(b.shift("lshr", moved, 2), 5)


def _forward_permute(frame: Frame, instruction: Instruction) -> None:
    values = frame.registers.vector(vector_register(instruction, "data0").index)
    indices = _lds_lane(frame, instruction)
    result = frame.native("aj_scatter_lanes", V32, [values, indices, frame.registers.exec_bits()])
    frame.registers.write_vector(vector_register(instruction, "vdst").index, result, frame.mask())


def swizzle_lanes(offset: int) -> list[int]:
    """Return the source lane of each lane for DS_SWIZZLE_B32's offset (RDNA 4 ISA, DS_SWIZZLE_B32)."""
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
    """FFT order: reverse the lane's 5 bits, with `mask` 0x10, 0x18, ... for smaller transforms, 0x1f for none."""
    sizes: Mapping[int, Callable[[int], int]] = {0x1F: lambda x: x, 0x00: lambda x: int(f"{x:05b}"[::-1], 2)}
    reorder = sizes.get(mask)
    return -1 if reorder is None else reorder(lane)


def _swizzle(frame: Frame, instruction: Instruction) -> None:
    b = frame.builder
    sources = swizzle_lanes(instruction.immediates["offset"])
    if min(sources) < 0:
        raise Untranslatable(instruction, "this FFT swizzle is not emulated")
    values = frame.registers.vector(vector_register(instruction, "addr").index)
    moved = b.shuffle(values, values, sources)
    execution = frame.registers.mask(EXEC_LO)
    if execution is not FULL_MASK:
        active = b.shuffle(execution, execution, sources)
        moved = b.select(active, moved, constant(V32, 0))
    frame.registers.write_vector(vector_register(instruction, "vdst").index, moved, frame.mask())


def _stay(frame: Frame, instruction: Instruction) -> None:
    """V_PERMLANE64 does nothing in wave32 (RDNA 4 ISA, V_PERMLANE64_B32)."""


CROSS_LANE: Mapping[str, Emitter] = {
    "v_readlane_b32": _read_lane,
    "v_readfirstlane_b32": _read_first_lane,
    "v_writelane_b32": _write_lane,
    "v_permlane16_b32": _permute_row(False, False),
    "v_permlanex16_b32": _permute_row(True, False),
    "v_permlane16_var_b32": _permute_row(False, True),
    "v_permlanex16_var_b32": _permute_row(True, True),
    "v_permlane64_b32": _stay,
    "v_swap_b32": _swap,
    "ds_bpermute_b32": _backward_permute(False),
    "ds_bpermute_fi_b32": _backward_permute(True),
    "ds_permute_b32": _forward_permute,
    "ds_swizzle_b32": _swizzle,
}
