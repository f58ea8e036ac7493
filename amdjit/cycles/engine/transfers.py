"""Memory instructions as host code: operands on their way to LDS and to memory, and when that is
done."""

from __future__ import annotations

from amdjit.cycles.engine.current import Current
from amdjit.cycles.engine.layout import (
    COUNTERS,
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
from amdjit.cycles.engine.order import greater
from amdjit.cycles.program import COUNTERS as COUNTER_NAMES
from amdjit.cycles.program import Kind
from amdjit.emulator.host.builder import NULL, Value
from amdjit.emulator.host.function import i64
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import FIELD_BYTES

__all__ = ["transfer"]


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
    start = _accepted(current, greater(f, begin, shared.get(Shared.MEMORY_PATH)))
    end = f.add(start, current.row.get(Row.TRANSFER))
    shared.set(Shared.MEMORY_PATH, end)
    _note(current, start, end, Unit.MEMORY_COUNT, Unit.MEMORY_ENDS)
    _count(current, _complete(current, end))


def _lds(current: Current, begin: Value) -> None:
    """Take operands to LDS, from `begin` on; it serves one instruction after the other."""
    f, row, shared = current.f, current.row, current.shared()
    cycles = _lds_cycles(current)
    free = shared.get(Shared.LDS_FREE)
    backlog = f.sub(f.add(free, cycles), current.parameter(Parameter.LDS_BACKLOG))
    start = greater(f, begin, shared.get(Shared.LDS_PATH), backlog)
    end = f.add(start, row.get(Row.TRANSFER))
    served = f.add(greater(f, f.add(end, row.get(Row.LDS_LATENCY)), free), cycles)
    shared.set(Shared.LDS_FREE, served)
    shared.set(Shared.LDS_PATH, end)
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
                result = f.invoke(
                    ACCESS,
                    current.simulation.get(Simulation.MEMORY),
                    current.row.get(Row.ACCESS),
                    f.shift("lshr", wave.get(Wave.SIMD), 1),
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
