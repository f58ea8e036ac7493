"""What keeps a wave from issuing its next instruction, as host code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from amdjit.cycles.engine.current import Current
from amdjit.cycles.engine.layout import (
    COUNTERS,
    NEVER,
    PLACES,
    Parameter,
    Row,
    Unit,
    Wave,
)
from amdjit.cycles.engine.order import cause_of, cycle_of, greater, ready, ready_at
from amdjit.cycles.engine.vector_unit import VectorUnit
from amdjit.cycles.program import COUNTERS as COUNTER_NAMES
from amdjit.cycles.program import SCC, Kind
from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import NativeFunction, Variable, i64
from amdjit.emulator.layout import FIELD_BYTES, Field

OWN = declare("aj_cycles_own", "i64", simulation="ptr", wave="ptr")
PORT = declare("aj_cycles_port", "i64", simulation="ptr", wave="ptr")


class _Latest:
    """The latest of some cycles, with its cause."""

    def __init__(self, current: Current, first: Value) -> None:
        self.current = current
        self._value: Variable = current.f.variable(first)

    def note(self, value: Value) -> None:
        """Note a cycle with its cause."""
        self._value.set(greater(self.current.f, self._value.get(), value))

    def after(self, event: Wave, parameter: Parameter, cause: str) -> None:
        """Note what comes so long after an event of the wave."""
        self.note(ready(self.current.f, self.current.after(event, parameter), cause))

    def cycle(self, cycle: Value, cause: str) -> None:
        """Note a cycle."""
        self.note(ready(self.current.f, cycle, cause))

    def get(self) -> Value:
        """Return the latest."""
        return self._value.get()


def own() -> NativeFunction:
    """Return `aj_cycles_own(simulation, wave)`: when the wave itself can issue its next
    instruction."""
    f = NativeFunction.of(OWN, "internal")
    current = Current.of(f)
    wave = current.wave
    latest = _Latest(current, greater(f, wave.get(Wave.NEXT), wave.get(Wave.HIDDEN_UNTIL)))
    _front(current, latest)
    _delays(current, latest)
    for kinds, build in (
        ((Kind.VALU,), _valu),
        ((Kind.SALU,), _salu),
        ((Kind.WAIT,), _wait),
        ((Kind.LDS, Kind.VECTOR_MEMORY), _memory),
        ((Kind.BRANCH,), _branch),
        ((Kind.SCALAR_MEMORY,), _scalar_memory),
    ):
        with f.if_(current.kind(*kinds)):
            build(current, latest)
            f.give(_fetched(current, latest.get()))
    f.give(_fetched(current, latest.get()))
    return f


def _fetched(current: Current, value: Value) -> Value:
    """Return when the instruction is there as well, if that is given."""
    f, given = current.f, current.wave.get(Wave.FETCHED)
    result = f.variable(value)
    with f.if_(f.compare("ne", given, _null())):
        place = f.offset(given, f.mul(current.wave.get(Wave.STEP), i64(FIELD_BYTES)))
        cycle = greater(f, current.load(place), cycle_of(f, value))
        packed = f.or_(f.shift("shl", cycle, 5), cause_of(f, value))
        result.set(packed)
    return result.get()


def _null() -> Value:
    return Value("ptr", "null")


def _front(current: Current, latest: _Latest) -> None:
    f, wave = current.f, current.wave
    with f.if_else(current.flag(Row.IS_FRONT)) as (front, other):
        with front:
            previous = wave.follow(Wave.PREVIOUS)
            with f.if_(f.compare("eq", previous.get(Row.IS_FRONT), i64(0))):
                latest.after(Wave.ISSUED, Parameter.IMMEDIATE_AFTER_ISSUE, "issue")
        with other, f.if_(current.is_set(Wave.PAYS_HIDDEN)):
            latest.cycle(f.add(cycle_of(f, wave.get(Wave.NEXT)), i64(1)), "issue")
    with f.if_(current.flag(Row.NEEDS_SOURCES)):
        latest.cycle(wave.get(Wave.SOURCES_READ), "memory queue full")


def _delays(current: Current, latest: _Latest) -> None:
    """s_delay_alu's conditions (RDNA 4 ISA, S_DELAY_ALU)."""
    for place, condition in ((Wave.PLACE, Wave.DELAY), (Wave.NEXT_PLACE, Wave.NEXT_DELAY)):
        with current.f.if_(current.f.compare("eq", current.wave.get(place), i64(0))):
            _delayed(current, latest, current.wave.get(condition))


def _delayed(current: Current, latest: _Latest, condition: Value) -> None:
    f = current.f
    with _between(current, condition, 1, 4):
        issued = current.load(_counted(current, Wave.FIRST_VALU, condition, 1))
        cycle = f.add(issued, current.parameter(Parameter.DELAY_DEPENDENCY))
        latest.cycle(cycle, "VALU dependency")
    with _between(current, condition, 5, 7):
        issued = current.load(_counted(current, Wave.FIRST_SLOW, condition, 5))
        cycle = f.add(issued, current.parameter(Parameter.TRANSCENDENTAL_DEPENDENCY))
        latest.cycle(cycle, "transcendental dependency")
    with _between(current, condition, 9, 11):
        cycle = f.add(current.wave.get(Wave.ISSUED), f.sub(condition, i64(7)))
        latest.cycle(cycle, "SALU dependency")


@contextmanager
def _between(current: Current, value: Value, first: int, last: int) -> Iterator[None]:
    f = current.f
    with f.if_(f.compare("ule", f.sub(value, i64(first)), i64(last - first))):
        yield


def _counted(current: Current, column: Field, number: Value, first: int) -> Value:
    return current.element(current.wave, column, current.f.sub(number, i64(first)))


def _wait(current: Current, latest: _Latest) -> None:
    f = current.f
    for counter, name in enumerate(COUNTER_NAMES):
        limit = current.load(current.element(current.row, Row.WAITS, i64(counter)))
        with f.if_(f.compare("sge", limit, i64(0))):
            count = current.load(current.element(current.wave, Wave.COUNTS, i64(counter)))
            number = f.sub(f.sub(count, i64(1)), limit)
            ring = current.in_ring(current.wave, Wave.FLYING, number)
            place = f.offset(ring, counter * PLACES * FIELD_BYTES)
            latest.cycle(current.load(place), f"wait {name}")
    assert len(COUNTER_NAMES) == COUNTERS


def _valu(current: Current, latest: _Latest) -> None:
    f = current.f
    latest.cycle(current.wave.get(Wave.SOURCES_READ), "memory queue full")
    with f.if_(current.flag(Row.USES_SGPR)):
        waited = f.select(
            current.is_set(Wave.SALU_WAITED),
            current.parameter(Parameter.SALU_TO_VALU),
            current.parameter(Parameter.SALU_DONE),
        )
        latest.cycle(f.add(current.wave.get(Wave.SALU_WROTE), waited), "SALU dependency")

    with f.if_(current.flag(Row.READS_SCALARS)):
        waited = current.parameter(Parameter.SALU_TO_VALU)
        with f.loop(place=current.row.get(Row.READS)) as each:
            each.leave_unless(f.compare("slt", each.place, current.row.get(Row.READS_END)))
            element = current.element(current.wave, Wave.SCALARS, current.register(each.place))
            latest.cycle(f.add(current.load(element), waited), "SALU dependency")
            each.again(place=f.add(each.place, i64(1)))
    with f.if_(current.flag(Row.AT_ISSUE)):
        latest.cycle(sources_of(current), "VALU dependency")
    with f.if_(current.flag(Row.IS_SCALAR_RESULT)):
        most = current.parameter(Parameter.VALU_SCALAR_RESULTS)
        number = f.sub(current.wave.get(Wave.SCALAR_COUNT), most)
        executed = current.load(current.in_ring(current.wave, Wave.SCALAR_RESULTS, number))
        latest.cycle(f.add(executed, current.parameter(Parameter.VALU_DONE)), "VALU dependency")


def registers_of(current: Current, first: Row, end: Row) -> tuple[Value, Value]:
    return current.row.get(first), current.row.get(end)


def sources_of(current: Current) -> Value:
    """Return when the execution of a VALU instruction may begin, as far as VALU results go."""
    f, row = current.f, current.row
    latest = f.variable(i64(NEVER))
    fast = current.parameter(Parameter.VALU_DEPENDENCY)
    slow = current.parameter(Parameter.TRANSCENDENTAL_DEPENDENCY)
    matrix = current.parameter(Parameter.MATRIX_AFTER_TRANSCENDENTAL_RESULT)
    slow = f.add(slow, f.mul(row.get(Row.IS_MATRIX), matrix))
    place, end = registers_of(current, Row.READS, Row.READS_END)
    with f.loop(place=place) as each:
        each.leave_unless(f.compare("slt", each.place, end))
        packed = _packed_result(current, each.place)
        is_slow = f.compare("ne", f.mask(packed, 1), i64(0))
        cycle = f.add(f.shift("ashr", packed, 1), f.select(is_slow, slow, fast))
        latest.set(greater(f, latest.get(), cycle))
        each.again(place=f.add(each.place, i64(1)))
    overwrite = current.parameter(Parameter.WRITE_AFTER_TRANSCENDENTAL)
    with f.if_(f.compare("eq", row.get(Row.IS_TRANSCENDENTAL), i64(0))):
        place, end = registers_of(current, Row.WRITES, Row.WRITES_END)
        with f.loop(place=place) as each:
            each.leave_unless(f.compare("slt", each.place, end))
            packed = _packed_result(current, each.place)
            is_slow = f.compare("ne", f.mask(packed, 1), i64(0))
            cycle = f.add(f.shift("ashr", packed, 1), overwrite)
            cycle = f.select(is_slow, cycle, i64(NEVER))
            latest.set(greater(f, latest.get(), cycle))
            each.again(place=f.add(each.place, i64(1)))
    return latest.get()


def _packed_result(current: Current, place: Value) -> Value:
    register = current.register(place)
    return current.load(current.element(current.wave, Wave.RESULTS, register))


def _salu(current: Current, latest: _Latest) -> None:
    f = current.f
    with f.if_(current.is_set(Wave.SALU_WAITED)):
        latest.after(Wave.SALU_WROTE, Parameter.SALU_DONE, "SALU dependency")
    with f.if_(current.flag(Row.WRITES_SGPR)):
        latest.after(Wave.READ_SGPR, Parameter.SALU_AFTER_VALU_READ, "VALU dependency")
        latest.after(Wave.WROTE_CARRY, Parameter.VALU_DONE, "VALU dependency")
    done = current.parameter(Parameter.VALU_DONE)
    with f.loop(place=current.row.get(Row.READS)) as each:
        each.leave_unless(f.compare("slt", each.place, current.row.get(Row.READS_END)))
        latest.cycle(f.add(_result(current, current.register(each.place)), done), "VALU dependency")
        each.again(place=f.add(each.place, i64(1)))


def _result(current: Current, register: Value) -> Value:
    """Return when a VALU instruction that wrote a register was executed."""
    packed = current.load(current.element(current.wave, Wave.RESULTS, register))
    return current.f.shift("ashr", packed, 1)


def _branch(current: Current, latest: _Latest) -> None:
    f, register = current.f, current.row.get(Row.CONDITION)
    with f.section() as conditions:
        conditions.leave_if(f.compare("slt", register, i64(0)))
        with f.if_(f.compare("eq", register, i64(SCC))):
            latest.after(Wave.SCC, Parameter.SCC_TO_BRANCH, "SALU dependency")
            conditions.leave()
        written = _result(current, register)
        with f.if_(f.compare("eq", written, i64(NEVER))):
            latest.after(Wave.SALU_WROTE, Parameter.SCC_TO_BRANCH, "SALU dependency")
            conditions.leave()
        done = current.parameter(Parameter.VALU_DONE)
        latest.cycle(f.add(written, done), "VALU dependency")


def _memory(current: Current, latest: _Latest) -> None:
    latest.after(Wave.EXECUTED, Parameter.VALU_DONE, "VALU dependency")
    latest.after(Wave.SALU_WROTE, Parameter.SALU_TO_MEMORY, "SALU dependency")


def _scalar_memory(current: Current, latest: _Latest) -> None:
    latest.after(Wave.SALU_WROTE, Parameter.SALU_DONE, "SALU dependency")


def port() -> NativeFunction:
    """Return `aj_cycles_port(simulation, wave)`: when the SIMD can take the wave's next
    instruction."""
    f = NativeFunction.of(PORT, "internal")
    current = Current.of(f)
    unit = current.unit
    with f.if_(current.kind(Kind.VALU)):
        vector = VectorUnit(f, unit, current.parameters)
        f.give(ready(f, vector.accepts(current.row, current.wave.get(Wave.NUMBER)), "unit busy"))
    with f.if_(current.flag(Row.IS_FRONT)):
        f.give(i64(ready_at(NEVER, "issue")))
    last = current.load(current.element(unit, Unit.PORTS, current.row.get(Row.KIND)))
    latest = _Latest(current, ready(f, f.add(last, i64(1)), "other wave issues"))
    with f.if_(current.kind(Kind.SALU)):
        before = f.sub(unit.get(Unit.SALU_COUNT), current.parameter(Parameter.SALU_QUEUE))
        start = current.load(current.in_ring(unit, Unit.SALU, before))
        latest.cycle(f.add(start, i64(1)), "unit busy")
    for kind, count, ends in (
        (Kind.LDS, Unit.LDS_COUNT, Unit.LDS_ENDS),
        (Kind.VECTOR_MEMORY, Unit.MEMORY_COUNT, Unit.MEMORY_ENDS),
    ):
        with f.if_(current.kind(kind)):
            depth = current.parameter(Parameter.TRANSFER_QUEUE)
            place = current.in_ring(unit, ends, f.sub(unit.get(count), depth))
            latest.cycle(current.load(place), "memory queue full")
    f.give(latest.get())
    return f
