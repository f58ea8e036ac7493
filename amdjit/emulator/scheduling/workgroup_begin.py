"""How a workgroup begins in its slot of a host thread: the first values of its waves' registers and
of its barriers."""

from __future__ import annotations

from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.host.record import WaveState
from amdjit.emulator.layout import (
    BARRIER_ROW,
    DWORD_BYTES,
    FIELD_BYTES,
    NAMED_BARRIERS,
    SCALAR_BYTES,
    VGPR_BYTES,
    Barrier,
    Context,
    Launch,
    SlotField,
)
from amdjit.emulator.scheduling.group import Group
from amdjit.isa.register_numbers import EXEC_LO, HALF_LANES, HALF_VGPRS, TTMP7, TTMP8

BEGIN_GROUP = declare("aj_begin_group", context="ptr", slot="i64", group="i64")

_BARRIER_BYTES = (1 + NAMED_BARRIERS) * BARRIER_ROW * FIELD_BYTES


def begin_group(halves: int) -> NativeFunction:
    """Return `aj_begin_group`: set up all waves of a workgroup. halves: of a wave."""
    f = NativeFunction.of(BEGIN_GROUP, "internal")
    group = Group.of_slot(f)
    x, y, z = _position(f, group)
    for field, value in (
        (SlotField.GROUP_X, x),
        (SlotField.GROUP_Y, y),
        (SlotField.GROUP_Z, z),
    ):
        group.row.set(field, value)
    group.begin_epoch()
    _begin_barriers(f, group)
    # RDNA 4 ISA, 3.5 "Initial wave state": TTMP9 = workgroup x, TTMP7 = y | z << 16, TTMP8[29:25] =
    # wave in group.
    # Elsewhere each has an SGPR of its own, after the user SGPRs; on gfx9 the distance of the
    # wave's scratch memory, too.
    places = [f.resize(value, 32) for value in (x, y, z)]
    fields = (Launch.X_SLOT, Launch.Y_SLOT, Launch.Z_SLOT, Launch.WAVE_OFFSET_SLOT)
    slots = [group.launch.get(field) for field in fields]
    lanes = f.mul(f.thread.get(Context.SCRATCH_LANE_BYTES), i64(halves * HALF_LANES))
    others = f.or_(places[1], f.shift("shl", places[2], 16))
    with f.count_to(group.waves) as wave:
        state = group.state(wave)
        f.copy(state.address, group.launch.get(Launch.SCALARS), SCALAR_BYTES)
        state.set(TTMP8, f.shift("shl", f.resize(wave, 32), 25))
        state.set(TTMP7, others)
        distance = f.resize(f.mul(wave, lanes), 32)
        for slot, place in zip(slots, [*places, distance], strict=True):
            f.store(place, f.offset(state.address, f.shift("shl", slot, 2)), DWORD_BYTES)
        for half in range(halves):
            number = f.add(f.mul(wave, i64(halves)), i64(half))
            _begin_lanes(f, group, state, half, number)
        group.set_resume(wave, i32(0))
    f.give()
    return f


def _position(f: NativeFunction, group: Group) -> tuple[Value, Value, Value]:
    """Return where a workgroup is in the grid."""
    width, height = group.launch.get(Launch.GRID_X), group.launch.get(Launch.GRID_Y)
    number = f.parameter("group")
    row = f.binary("udiv", number, width)
    return (
        f.binary("urem", number, width),
        f.binary("urem", row, height),
        f.binary("udiv", row, height),
    )


def _begin_barriers(f: NativeFunction, group: Group) -> None:
    """Make all barriers new; the workgroup's own waits for all waves."""
    barrier = group.barrier
    f.fill(barrier.address, 0, _BARRIER_BYTES)
    barrier.set(Barrier.MEMBERS, group.waves)
    barrier.set(Barrier.INITIALISED, i64(1))


def _begin_lanes(
    f: NativeFunction, group: Group, state: WaveState, half: int, number: Value
) -> None:
    """Set EXEC of a half of a wave, and the registers with the work-items' ids, from v0 on. number:
    of the half in the workgroup."""
    execs = f.offset(group.launch.get(Launch.EXECS), f.shift("shl", number, 2))
    state.set(EXEC_LO + half, f.load("i32", execs, DWORD_BYTES))
    size = group.launch.get(Launch.ITEM_BYTES)
    ids = f.offset(group.launch.get(Launch.ITEM_IDS), f.mul(number, size))
    first = SCALAR_BYTES + half * HALF_VGPRS * VGPR_BYTES
    f.copy(f.offset(state.address, first), ids, size)
