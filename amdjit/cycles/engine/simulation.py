"""The simulation as host code: the wave that can issue earliest does, and so on."""

from __future__ import annotations

from amdjit.cycles.engine.barriers import PASS, arrive, hide, pass_hidden, signal
from amdjit.cycles.engine.constraints import PORT, own, port
from amdjit.cycles.engine.issue import ISSUE, issue
from amdjit.cycles.engine.layout import (
    LATER,
    NUMBER_BITS,
    SLOT_BITS,
    SLOTS_AT_ONCE,
    Group,
    Parameter,
    Simulation,
    Wave,
)
from amdjit.cycles.engine.order import cycle_of, greater, key, ready
from amdjit.emulator.host.builder import Value, vector
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import NativeFunction, i64, module_text
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import FIELD_BYTES

RUN = declare("aj_cycles_run", "i64", simulation="ptr")
START = declare("aj_cycles_start", simulation="ptr", group="ptr", cycle="i64")

_KEYS = vector("i64", SLOTS_AT_ONCE)
_START_CAUSE = "idle"


def run_text(attributes: str) -> str:
    """Return `aj_cycles_run(simulation)`: issue the instructions of all waves; return how many."""
    functions = (
        _run(),
        _start(),
        issue(),
        pass_hidden(),
        hide(),
        arrive(),
        signal(),
        own(),
        port(),
    )
    return module_text(functions, attributes)


def _run() -> NativeFunction:
    f = NativeFunction.of(RUN)
    simulation = Record(f, f.parameter("simulation"))
    _start_first(f, simulation)
    resident = simulation.follow(Simulation.RESIDENT)
    issued = f.variable(i64(0))
    with f.loop() as each:
        first = _first(f, simulation)
        with f.unless(f.compare("slt", first, i64(LATER))):
            f.give(issued.get())
        slot = f.mask(first, SLOT_BITS)
        wave = resident.row(slot, Wave.FIELDS)
        when = _ready(f, simulation, wave)
        cycle = cycle_of(f, when)
        is_now = f.compare("eq", cycle, f.shift("ashr", first, SLOT_BITS + NUMBER_BITS))
        with f.unless(is_now):
            later = key(f, cycle, wave.get(Wave.NUMBER), slot)
            f.store(later, _next_of(f, simulation, slot), FIELD_BYTES)
            each.again()
        f.invoke(ISSUE, simulation.address, wave.address, when)
        issued.set(f.add(issued.get(), i64(1)))
        _end(f, simulation, wave, cycle)
    return f


def _ready(f: NativeFunction, simulation: Record, wave: Record) -> Value:
    """Return when a wave can issue its next instruction, and why not earlier."""
    port_free = f.invoke(PORT, simulation.address, wave.address)
    return f.add(greater(f, wave.get(Wave.OWN), port_free), wave.get(Wave.IDLE))


def _next_of(f: NativeFunction, simulation: Record, slot: Value) -> Value:
    return f.offset(simulation.get(Simulation.NEXT), f.mul(slot, i64(FIELD_BYTES)))


def _first(f: NativeFunction, simulation: Record) -> Value:
    """Return the least key of all slots."""
    keys, slots = simulation.get(Simulation.NEXT), simulation.get(Simulation.SLOTS)
    shape = f.load(_KEYS, keys, 64)
    with f.loop(slot=i64(SLOTS_AT_ONCE), least=shape) as each:
        each.leave_unless(f.compare("ult", each.slot, slots))
        place = f.offset(keys, f.mul(each.slot, i64(FIELD_BYTES)))
        some = f.load(_KEYS, place, 64)
        least = f.select(f.compare("slt", some, each.least), some, each.least)
        each.again(slot=f.add(each.slot, i64(SLOTS_AT_ONCE)), least=least)
    return f.call(f"llvm.vector.reduce.smin.v{SLOTS_AT_ONCE}i64", "i64", [each.least])


def _start_first(f: NativeFunction, simulation: Record) -> None:
    """Start the workgroups that have places of their own."""
    groups, count = simulation.follow(Simulation.GROUPS), simulation.get(Simulation.GROUP_COUNT)
    with f.loop(number=i64(0)) as each:
        each.leave_unless(f.compare("slt", each.number, count))
        group = groups.row(each.number, Group.FIELDS)
        each.leave_if(f.compare("slt", group.get(Group.PLACE), i64(0)))
        f.invoke(START, simulation.address, group.address, i64(0))
        following = f.add(each.number, i64(1))
        simulation.set(Simulation.NEXT_GROUP, following)
        each.again(number=following)


def _end(f: NativeFunction, simulation: Record, wave: Record, cycle: Value) -> None:
    """Start the next workgroup when a wave was the last one of its own."""
    group = wave.follow(Wave.GROUP)
    with f.if_(f.compare("eq", group.get(Group.LEFT), i64(0))), f.section() as ending:
        number = simulation.get(Simulation.NEXT_GROUP)
        ending.leave_unless(f.compare("slt", number, simulation.get(Simulation.GROUP_COUNT)))
        simulation.set(Simulation.NEXT_GROUP, f.add(number, i64(1)))
        following = simulation.follow(Simulation.GROUPS).row(number, Group.FIELDS)
        following.set(Group.PLACE, group.get(Group.PLACE))
        parameters = simulation.follow(Simulation.PARAMETERS)
        start = f.add(cycle, parameters.get(Parameter.WAVE_START))
        f.invoke(START, simulation.address, following.address, start)


def _start() -> NativeFunction:
    """Return `aj_cycles_start(simulation, group, cycle)`: put a workgroup's waves into its slots.

    A wave's first instruction may be hidden, so that all waves are there before one goes on.
    """
    f = NativeFunction.of(START, "internal")
    simulation, group = Record(f, f.parameter("simulation")), Record(f, f.parameter("group"))
    first = f.mul(group.get(Group.PLACE), i64(FIELD_BYTES))
    slots = f.offset(simulation.get(Simulation.PLACES), first)
    resident, count = simulation.follow(Simulation.RESIDENT), group.get(Group.WAVES)
    with f.count_to(count) as index:
        slot = f.load("i64", f.offset(slots, f.mul(index, i64(FIELD_BYTES))), FIELD_BYTES)
        wave = resident.row(slot, Wave.FIELDS)
        number = f.add(group.get(Group.FIRST), index)
        given = simulation.follow(Simulation.WAVES).row(number, Wave.SLOT)
        f.copy(wave.address, given.address, Wave.SLOT * FIELD_BYTES)
        template = simulation.get(Simulation.TEMPLATE)
        f.copy(wave.at(Wave.KEPT), template, (Wave.FIELDS - Wave.KEPT) * FIELD_BYTES)
        start = f.add(f.parameter("cycle"), wave.get(Wave.START))
        wave.set(Wave.NEXT, ready(f, start, _START_CAUSE))
        issued_at = wave.get(Wave.ISSUED_AT)
        f.store(start, f.offset(issued_at, -FIELD_BYTES), FIELD_BYTES)
        f.store(slot, f.offset(issued_at, -2 * FIELD_BYTES), FIELD_BYTES)
        wave.set(Wave.GROUP, group.address)
    with f.count_to(count) as index:
        slot = f.load("i64", f.offset(slots, f.mul(index, i64(FIELD_BYTES))), FIELD_BYTES)
        f.invoke(PASS, simulation.address, resident.row(slot, Wave.FIELDS).address)
    f.give()
    return f


__all__ = ["RUN", "run_text"]
