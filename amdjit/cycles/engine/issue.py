"""What changes when an instruction is issued, as host code."""

from __future__ import annotations

from amdjit.cycles.engine.barriers import ARRIVE, PASS, SIGNAL
from amdjit.cycles.engine.constraints import registers_of, sources_of
from amdjit.cycles.engine.current import Current
from amdjit.cycles.engine.layout import (
    CAUSE_BITS,
    COUNTERS,
    NEVER,
    PLACES,
    Parameter,
    Request,
    Row,
    Shared,
    Simulation,
    Unit,
    Wave,
)
from amdjit.cycles.engine.memory import ACCESS
from amdjit.cycles.engine.order import cause_of, cycle_of, greater, ready, ready_at
from amdjit.cycles.engine.vector_unit import VectorUnit
from amdjit.cycles.program import COUNTERS as COUNTER_NAMES
from amdjit.cycles.program import Kind
from amdjit.emulator.host.builder import NULL, Value
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import NativeFunction, i64
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import FIELD_BYTES

ISSUE = declare("aj_cycles_issue", simulation="ptr", wave="ptr", ready="i64")


def issue() -> NativeFunction:
    """Return `aj_cycles_issue(simulation, wave, ready)`: issue the wave's next instruction."""
    f = NativeFunction.of(ISSUE, "internal")
    current = Current.of(f)
    when = f.parameter("ready")
    cycle = cycle_of(f, when)
    _record(current, when, cycle)
    current.store(cycle, current.element(current.unit, Unit.PORTS, current.row.get(Row.KIND)))
    _note_issue(current, cycle)
    with f.section() as kinds:
        for of_kind, build in (
            ((Kind.VALU,), _valu),
            ((Kind.SALU,), _salu),
            ((Kind.LDS, Kind.VECTOR_MEMORY, Kind.SCALAR_MEMORY), transfer),
            ((Kind.BRANCH,), _branch),
            ((Kind.BARRIER_SIGNAL,), _signal),
            ((Kind.BARRIER,), _barrier),
        ):
            with f.if_(current.kind(*of_kind)):
                build(current, cycle)
                kinds.leave()
    current.wave.set(Wave.STEP, f.add(current.wave.get(Wave.STEP), i64(1)))
    f.invoke(PASS, f.parameter("simulation"), f.parameter("wave"))
    f.give()
    return f


def _record(current: Current, when: Value, cycle: Value) -> None:
    """Write down when and why."""
    f, wave = current.f, current.wave
    step = wave.get(Wave.STEP)
    place = f.offset(wave.get(Wave.ISSUED_AT), f.mul(step, i64(FIELD_BYTES)))
    current.store(cycle, place)
    cause = f.resize(cause_of(f, when), 8)
    f.store(cause, f.offset(wave.get(Wave.CAUSES), step), 1)


def _ended(current: Current, at: Value) -> None:
    """Write down when a unit executes the instruction, if somebody wants to know."""
    f, ends = current.f, current.wave.get(Wave.ENDS)
    with f.if_(f.compare("ne", ends, NULL)):
        step = current.wave.get(Wave.STEP)
        current.store(at, f.offset(ends, f.mul(step, i64(FIELD_BYTES))))


def _note_issue(current: Current, cycle: Value) -> None:
    """Note in the wave that its next instruction is issued."""
    f, wave = current.f, current.wave
    current.count_delays()
    wave.set(Wave.PREVIOUS, current.row.address)
    wave.set(Wave.ISSUED, cycle)
    wave.set(Wave.NEXT, ready(f, f.add(cycle, i64(1)), "issue"))
    wave.set(Wave.PAYS_HIDDEN, i64(0))
    wave.set(Wave.HIDDEN_UNTIL, i64(ready_at(NEVER, "issue")))


def _valu(current: Current, cycle: Value) -> None:
    f, wave, row = current.f, current.wave, current.row
    vector = VectorUnit(f, current.unit, current.parameters)
    sources = sources_of(current)
    at = vector.execute(row, cycle, sources, wave.get(Wave.NUMBER))
    _ended(current, at)
    _shift(current, (Wave.FIRST_VALU, Wave.SECOND_VALU, Wave.THIRD_VALU, Wave.FOURTH_VALU), cycle)
    with f.if_(current.flag(Row.IS_TRANSCENDENTAL)):
        _shift(current, (Wave.FIRST_SLOW, Wave.SECOND_SLOW, Wave.THIRD_SLOW), cycle)
    awaited = f.sub(at, row.get(Row.BESIDE))
    wave.set(Wave.EXECUTED, greater(f, wave.get(Wave.EXECUTED), awaited))
    for column, field in (
        (Row.READS_SGPR, Wave.READ_SGPR),
        (Row.WRITES_VCC, Wave.WROTE_VCC),
        (Row.WRITES_SGPR, Wave.WROTE_SGPR),
        (Row.WRITES_CARRY, Wave.WROTE_CARRY),
    ):
        wave.set(field, f.select(current.flag(column), at, wave.get(field)))
    count = wave.get(Wave.SCALAR_COUNT)
    with f.if_(current.flag(Row.IS_SCALAR_RESULT)):
        current.store(at, current.in_ring(wave, Wave.SCALAR_RESULTS, count))
        wave.set(Wave.SCALAR_COUNT, f.add(count, i64(1)))
    result = f.or_(f.shift("shl", at, 1), row.get(Row.IS_TRANSCENDENTAL))
    place, end = registers_of(current, Row.WRITES, Row.WRITES_END)
    with f.loop(place=place) as each:
        each.leave_unless(f.compare("slt", each.place, end))
        register = current.register(each.place)
        current.store(result, current.element(wave, Wave.RESULTS, register))
        each.again(place=f.add(each.place, i64(1)))
    with f.unless(current.flag(Row.AT_ISSUE)):
        left = ready(f, vector.moved_once(), "issue")
        following = wave.get(Wave.NEXT)
        later = f.compare("sgt", cycle_of(f, left), cycle_of(f, following))
        wave.set(Wave.NEXT, f.select(later, left, following))


def _shift(current: Current, fields: tuple[Wave, ...], cycle: Value) -> None:
    """Put a cycle before those that are kept."""
    newer = cycle
    for field in fields:
        older = current.wave.get(field)
        current.wave.set(field, newer)
        newer = older


def _salu(current: Current, cycle: Value) -> None:
    f, wave, unit, row = current.f, current.wave, current.unit, current.row
    wave.set(Wave.SALU_WAITED, i64(0))
    latency = current.parameter(Parameter.SALU_LATENCY)
    begin = greater(f, f.add(cycle, latency), unit.get(Unit.SALU_FREE))
    dependency = current.parameter(Parameter.SALU_DEPENDENCY)
    start = f.variable(begin)
    place, end = registers_of(current, Row.READS, Row.READS_END)
    with f.loop(place=place) as each:
        each.leave_unless(f.compare("slt", each.place, end))
        written = current.load(_scalar(current, each.place))
        start.set(greater(f, start.get(), f.add(written, dependency)))
        each.again(place=f.add(each.place, i64(1)))
    place, end = registers_of(current, Row.WRITES, Row.WRITES_END)
    with f.loop(place=place) as each:
        each.leave_unless(f.compare("slt", each.place, end))
        current.store(start.get(), _scalar(current, each.place))
        register = current.register(each.place)
        current.store(i64(NEVER * 2), current.element(wave, Wave.RESULTS, register))
        each.again(place=f.add(each.place, i64(1)))
    count = unit.get(Unit.SALU_COUNT)
    current.store(start.get(), current.in_ring(unit, Unit.SALU, count))
    unit.set(Unit.SALU_COUNT, f.add(count, i64(1)))
    unit.set(Unit.SALU_FREE, f.add(start.get(), row.get(Row.SALU_CYCLES)))
    for column, field in ((Row.WRITES_SCC, Wave.SCC), (Row.WRITES_SGPR, Wave.SALU_WROTE)):
        wave.set(field, f.select(current.flag(column), start.get(), wave.get(field)))


def _scalar(current: Current, place: Value) -> Value:
    return current.element(current.wave, Wave.SCALARS, current.register(place))


def _go_on(current: Current, cycle: Value) -> None:
    """Note when the wave may go on, for the reason that it had."""
    f, wave = current.f, current.wave
    packed = f.or_(f.shift("shl", cycle, CAUSE_BITS), cause_of(f, wave.get(Wave.NEXT)))
    wave.set(Wave.NEXT, packed)


def _branch(current: Current, cycle: Value) -> None:
    f, wave = current.f, current.wave
    step, path = wave.get(Wave.STEP), wave.get(Wave.PATH)
    following = f.add(step, i64(1))
    cycles = f.variable(current.parameter(Parameter.BRANCH_NOT_TAKEN))
    with f.if_(f.compare("slt", following, wave.get(Wave.STEPS))):
        to = current.dword(path, following)
        falls = f.compare("eq", to, f.add(current.dword(path, step), i64(1)))
        taken = current.parameter(Parameter.BRANCH_TAKEN)
        cycles.set(f.select(falls, cycles.get(), taken))
    wave.set(Wave.NEXT, ready(f, f.add(cycle, cycles.get()), "branch"))


def _signal(current: Current, cycle: Value) -> None:
    f = current.f
    _go_on(current, f.add(cycle, current.parameter(Parameter.BARRIER_SIGNAL)))
    f.invoke(SIGNAL, f.parameter("simulation"), f.parameter("wave"), cycle)


def _barrier(current: Current, cycle: Value) -> None:
    _signal(current, cycle)
    current.f.invoke(ARRIVE, current.f.parameter("wave"))


# Memory instructions as host code: operands on their way to LDS and to memory, and when that is
# done.


def transfer(current: Current, cycle: Value) -> None:
    """Send a memory instruction that is issued at `cycle` on its way."""
    f = current.f
    with f.section() as kinds:
        with f.if_(current.kind(Kind.SCALAR_MEMORY)):
            _count(current, _complete(current, cycle))
            kinds.leave()
        begin = f.add(cycle, current.parameter(Parameter.TRANSFER_START))
        with f.if_(current.kind(Kind.LDS)):
            _lds(current, begin)
            kinds.leave()
        _memory(current, begin)


def _memory(current: Current, begin: Value) -> None:
    """Take operands to memory, from `begin` on."""
    f, shared = current.f, current.shared()
    start = _accepted(current, greater(f, begin, shared.get(Shared.PATH)))
    end = f.add(start, current.row.get(Row.TRANSFER))
    shared.set(Shared.PATH, end)
    _note(current, start, end, Unit.MEMORY_COUNT, Unit.MEMORY_ENDS)
    _count(current, _complete(current, end))


def _lds(current: Current, begin: Value) -> None:
    """Take operands to LDS, from `begin` on; it serves one instruction after the other."""
    f, row, shared = current.f, current.row, current.shared()
    cycles = _lds_cycles(current)
    free = shared.get(Shared.LDS_FREE)
    backlog = f.sub(f.add(free, cycles), current.parameter(Parameter.LDS_BACKLOG))
    start = greater(f, begin, shared.get(Shared.PATH), backlog)
    end = f.add(start, row.get(Row.TRANSFER))
    served = f.add(greater(f, f.add(end, row.get(Row.LDS_LATENCY)), free), cycles)
    shared.set(Shared.LDS_FREE, served)
    shared.set(Shared.PATH, end)
    _note(current, start, end, Unit.LDS_COUNT, Unit.LDS_ENDS)
    _count(current, f.sub(served, i64(1)))


def _note(current: Current, start: Value, end: Value, count: Unit, ends: Unit) -> None:
    """Note a transfer in its queue and in the wave."""
    f, wave, unit = current.f, current.wave, current.unit
    number = unit.get(count)
    free = f.add(end, current.parameter(Parameter.TRANSFER_QUEUE_PLACE))
    current.store(free, current.in_ring(unit, ends, number))
    unit.set(count, f.add(number, i64(1)))
    read = f.add(end, current.parameter(Parameter.TRANSFER_DONE))
    wave.set(Wave.SOURCES_READ, greater(f, wave.get(Wave.SOURCES_READ), read))
    places = wave.get(Wave.ENDS)
    with f.if_(f.compare("ne", places, NULL)):
        current.store(start, _of_step(current, places))


def _of_step(current: Current, array: Value) -> Value:
    """Return the address of the current step's element of an array of i64."""
    distance = current.f.mul(current.wave.get(Wave.STEP), i64(FIELD_BYTES))
    return current.f.offset(array, distance)


def _accepted(current: Current, start: Value) -> Value:
    """Return when vector memory takes operands, if that is given."""
    f, given = current.f, current.wave.get(Wave.ACCEPTED)
    result = f.variable(start)
    with f.if_(f.compare("ne", given, NULL)):
        result.set(greater(f, start, current.load(_of_step(current, given))))
    return result.get()


def _request(current: Current) -> tuple[Value, Record]:
    """Return whether the step has a request, and its row."""
    f, wave = current.f, current.wave
    number = current.dword(wave.get(Wave.REQUEST), wave.get(Wave.STEP))
    requests = current.simulation.follow(Simulation.REQUESTS)
    return f.compare("sge", number, i64(0)), requests.row(number, Request.FIELDS)


def _lds_cycles(current: Current) -> Value:
    """Return how long LDS is busy with an instruction."""
    f = current.f
    cycles = f.variable(current.row.get(Row.LDS_CYCLES))
    has_request, request = _request(current)
    with f.if_(has_request):
        cycles.set(greater(f, cycles.get(), request.get(Request.LDS_CYCLES)))
    return cycles.get()


def _complete(current: Current, cycle: Value) -> Value:
    """Return when memory is done with a request that it has at `cycle`: as given, or as the memory
    system says."""
    f, wave = current.f, current.wave
    done = f.variable(cycle)
    given = wave.get(Wave.DONE)
    with f.if_else(f.compare("ne", given, NULL)) as (is_given, is_modelled):
        with is_given:
            done.set(f.add(cycle, current.load(_of_step(current, given))))
        with is_modelled:
            has_request, request = _request(current)
            with f.if_(has_request):
                first = request.get(Request.FIRST_LINE)
                count = f.sub(request.get(Request.END_LINE), first)
                keys = current.simulation.get(Simulation.KEYS)
                simds = current.parameter(Parameter.SIMDS_OF_A_VECTOR_CACHE)
                result = f.invoke(
                    ACCESS,
                    current.simulation.get(Simulation.MEMORY),
                    current.row.get(Row.ACCESS),
                    f.binary("udiv", wave.get(Wave.SIMD), simds),
                    f.offset(keys, f.mul(first, i64(FIELD_BYTES))),
                    count,
                    wave.get(Wave.SALT),
                    cycle,
                )
                done.set(result)
    return done.get()


def _count(current: Current, done: Value) -> None:
    """Count an operation that ends at `done` on its wait counters; on each, operations end in
    order."""
    f, wave = current.f, current.wave
    counted = current.row.get(Row.COUNTED)
    end = f.variable(done)
    for counter in range(COUNTERS):
        with f.if_(f.compare("ne", f.and_(counted, i64(1 << counter)), i64(0))):
            place = current.element(wave, Wave.COUNTS, i64(counter))
            count = current.load(place)
            before = _flying(current, counter, f.sub(count, i64(1)))
            end.set(greater(f, end.get(), current.load(before)))
            current.store(end.get(), _flying(current, counter, count))
            current.store(f.add(count, i64(1)), place)


def _flying(current: Current, counter: int, number: Value) -> Value:
    ring = current.in_ring(current.wave, Wave.FLYING, number)
    return current.f.offset(ring, counter * PLACES * FIELD_BYTES)


assert len(COUNTER_NAMES) == COUNTERS
