"""Barriers, and the instructions that waves pass without issuing them, as host code."""

from __future__ import annotations

from amdjit.cycles.engine.constraints import OWN, PORT
from amdjit.cycles.engine.current import DELAY_OVER, Current
from amdjit.cycles.engine.layout import (
    LATER,
    RELEASES,
    Group,
    Parameter,
    Row,
    Simulation,
    Wave,
)
from amdjit.cycles.engine.order import cycle_of, greater, key, ready
from amdjit.cycles.program import Dependency, Kind
from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import NativeFunction, i64
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import FIELD_BYTES

PASS = declare("aj_cycles_pass", simulation="ptr", wave="ptr")
SIGNAL = declare("aj_cycles_signal", simulation="ptr", wave="ptr", cycle="i64")
ARRIVE = declare("aj_cycles_arrive", wave="ptr")
HIDE = declare("aj_cycles_hide", simulation="ptr", wave="ptr")


def pass_hidden() -> NativeFunction:
    """Return `aj_cycles_pass(simulation, wave)`: pass instructions that have no issue of their own,
    and find out when the wave issues the next one. It may stop at a barrier, or have ended."""
    f = NativeFunction.of(PASS, "internal")
    simulation, wave = Record(f, f.parameter("simulation")), Record(f, f.parameter("wave"))
    next_at = _next_of(f, simulation, wave)
    f.store(i64(LATER), next_at, FIELD_BYTES)
    with f.if_(f.compare("ne", wave.get(Wave.AT_BARRIER), i64(0))):
        f.give()
    both = f.parameter("simulation"), f.parameter("wave")
    with f.loop() as each:
        each.leave_unless(f.compare("slt", wave.get(Wave.STEP), wave.get(Wave.STEPS)))
        current = Current.of(f)
        hidden = current.kind(Kind.DELAY, Kind.WAIT_ALU, Kind.BARRIER_WAIT)
        with f.unless(hidden):
            own = f.invoke(OWN, *both)
            wave.set(Wave.OWN, own)
            wave.set(Wave.IDLE, current.row.get(Row.IDLE))
            when = f.add(greater(f, own, f.invoke(PORT, *both)), wave.get(Wave.IDLE))
            cycle = cycle_of(f, when)
            f.store(_key(f, wave, cycle), next_at, FIELD_BYTES)
            f.give()
        at_barrier = current.kind(Kind.BARRIER_WAIT)
        with f.if_else(at_barrier) as (stops, goes_on):
            with stops:
                f.invoke(ARRIVE, f.parameter("wave"))
            with goes_on:
                f.invoke(HIDE, *both)
        wave.set(Wave.STEP, f.add(wave.get(Wave.STEP), i64(1)))
        with f.if_(f.compare("ne", wave.get(Wave.AT_BARRIER), i64(0))):
            f.give()
    group = wave.follow(Wave.GROUP)
    group.set(Group.LEFT, f.sub(group.get(Group.LEFT), i64(1)))
    f.give()
    return f


def _next_of(f: NativeFunction, simulation: Record, wave: Record) -> Value:
    distance = f.mul(wave.get(Wave.SLOT), i64(FIELD_BYTES))
    return f.offset(simulation.get(Simulation.NEXT), distance)


def _key(f: NativeFunction, wave: Record, cycle: Value) -> Value:
    return key(f, cycle, wave.get(Wave.NUMBER), wave.get(Wave.SLOT))


def hide() -> NativeFunction:
    """Return `aj_cycles_hide(simulation, wave)`: note s_delay_alu or s_wait_alu."""
    f = NativeFunction.of(HIDE, "internal")
    current = Current.of(f)
    wave, row = current.wave, current.row
    current.count_delays()
    previous = wave.follow(Wave.PREVIOUS)
    wave.set(Wave.PAYS_HIDDEN, previous.get(Row.PAYS_HIDDEN))
    with f.if_(current.kind(Kind.DELAY)):
        wave.set(Wave.PLACE, i64(0))
        wave.set(Wave.DELAY, row.get(Row.DELAY))
        following = row.get(Row.NEXT_DELAY)
        has_next = f.compare("ne", following, i64(0))
        wave.set(Wave.NEXT_PLACE, f.select(has_next, row.get(Row.SKIP), i64(DELAY_OVER)))
        wave.set(Wave.NEXT_DELAY, following)
        f.give()
    for dependency, event in (
        (Dependency.VALU_VECTOR, Wave.EXECUTED),
        (Dependency.VALU_SCALAR, Wave.WROTE_SGPR),
        (Dependency.VALU_VCC, Wave.WROTE_VCC),
    ):
        with f.if_(_waits_for(current, dependency)):
            cycle = current.after(event, Parameter.VALU_DONE)
            _hide_until(current, ready(f, cycle, "VALU dependency"))
    with f.if_(_waits_for(current, Dependency.MEMORY_SOURCES)):
        _hide_until(current, ready(f, wave.get(Wave.SOURCES_READ), "memory queue full"))
    with f.if_(_waits_for(current, Dependency.SALU_SCALAR)):
        wave.set(Wave.SALU_WAITED, i64(1))
    f.give()
    return f


def _waits_for(current: Current, dependency: Dependency) -> Value:
    f = current.f
    bits = f.and_(current.row.get(Row.DEPENDENCIES), i64(dependency))
    return f.compare("ne", bits, i64(0))


def _hide_until(current: Current, value: Value) -> None:
    latest = greater(current.f, current.wave.get(Wave.HIDDEN_UNTIL), value)
    current.wave.set(Wave.HIDDEN_UNTIL, latest)


def arrive() -> NativeFunction:
    """Return `aj_cycles_arrive(wave)`: pass a barrier that is complete, or stop at it."""
    f = NativeFunction.of(ARRIVE, "internal")
    wave = Record(f, f.parameter("wave"))
    group = wave.follow(Wave.GROUP)
    passed = wave.get(Wave.BARRIERS)
    with f.unless(f.compare("slt", passed, group.get(Group.COMPLETED))):
        wave.set(Wave.AT_BARRIER, i64(1))
        f.give()
    place = f.add(f.and_(passed, i64(RELEASES - 1)), i64(Group.RELEASED))
    released = f.load("i64", f.offset(group.address, f.mul(place, i64(FIELD_BYTES))), FIELD_BYTES)
    wave.set(Wave.BARRIERS, f.add(passed, i64(1)))
    following = wave.get(Wave.NEXT)
    later = f.compare("sgt", released, cycle_of(f, following))
    wave.set(Wave.NEXT, f.select(later, ready(f, released, "barrier"), following))
    f.give()
    return f


def signal() -> NativeFunction:
    """Return `aj_cycles_signal(simulation, wave, cycle)`: signal the workgroup's barrier, and
    complete it if all waves that are left have."""
    f = NativeFunction.of(SIGNAL, "internal")
    simulation, wave = Record(f, f.parameter("simulation")), Record(f, f.parameter("wave"))
    group, cycle = wave.follow(Wave.GROUP), f.parameter("cycle")
    signals = f.add(group.get(Group.SIGNALS), i64(1))
    group.set(Group.SIGNALS, signals)
    group.set(Group.LAST, greater(f, group.get(Group.LAST), cycle))
    with f.if_(f.compare("slt", signals, group.get(Group.LEFT))):
        f.give()
    parameters = simulation.follow(Simulation.PARAMETERS)
    released = f.add(group.get(Group.LAST), parameters.get(Parameter.BARRIER))
    number = group.get(Group.COMPLETED)
    place = f.add(f.and_(number, i64(RELEASES - 1)), i64(Group.RELEASED))
    f.store(released, f.offset(group.address, f.mul(place, i64(FIELD_BYTES))), FIELD_BYTES)
    group.set(Group.COMPLETED, f.add(number, i64(1)))
    group.set(Group.SIGNALS, i64(0))
    first = f.mul(group.get(Group.PLACE), i64(FIELD_BYTES))
    slots = f.offset(simulation.get(Simulation.PLACES), first)
    resident = simulation.follow(Simulation.RESIDENT)
    with f.count_to(group.get(Group.WAVES)) as index, f.section() as each:
        slot = f.load("i64", f.offset(slots, f.mul(index, i64(FIELD_BYTES))), FIELD_BYTES)
        other = resident.row(slot, Wave.FIELDS)
        each.leave_if(f.compare("eq", other.get(Wave.AT_BARRIER), i64(0)))
        other.set(Wave.AT_BARRIER, i64(0))
        f.invoke(ARRIVE, other.address)
        f.invoke(PASS, f.parameter("simulation"), other.address)
    f.give()
    return f


__all__ = ["ARRIVE", "HIDE", "PASS", "SIGNAL", "arrive", "hide", "pass_hidden", "signal"]
