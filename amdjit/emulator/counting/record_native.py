"""Which waves are recorded, and where: native code of the sample."""

from __future__ import annotations

from amdjit.emulator.counting.layout import (
    CURSOR_ROW,
    POOL_ROW,
    STREAM_ROW,
    UNRECORDED_AT,
    Cursor,
    Header,
    Pool,
    Stream,
)
from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import FIELD_BYTES, Context, Launch

__all__ = ["ENTER", "MORE", "enter_text", "more_text", "stream_of"]

ENTER = declare("aj_count_enter", "ptr", context="ptr")
MORE = declare("aj_count_more", "i32", cursor="ptr", stream="i64")

_FOREVER = Value("ptr", "inttoptr (i64 -1 to ptr)")


def enter_text(attributes: str) -> str:
    """Return `aj_count_enter`: the cursor of the wave that starts or resumes."""
    f = NativeFunction.of(ENTER)
    context = f.thread
    area = context.follow(Context.COUNTERS)
    launch = context.follow(Context.LAUNCH)
    rows = f.add(
        context.get(Context.GROUP_Y), f.mul(launch.get(Launch.GRID_Y), context.get(Context.GROUP_Z))
    )
    number = f.add(context.get(Context.GROUP_X), f.mul(launch.get(Launch.GRID_X), rows))
    stride = area.get(Header.STRIDE)
    place = f.binary("udiv", number, stride)
    is_whole = f.compare("eq", f.mul(place, stride), number)
    is_early = f.compare("ult", place, area.get(Header.SAMPLED))
    with f.if_(f.and_(is_whole, is_early)):
        wave = f.add(f.mul(place, launch.get(Launch.WAVES)), context.get(Context.WAVE))
        f.give(area.follow(Header.CURSORS).row(wave, CURSOR_ROW).address)
    f.give(f.offset(area.address, UNRECORDED_AT * FIELD_BYTES))
    return f.text(attributes)


def stream_of(f: NativeFunction, cursor: Record, stream: int | Value) -> Record:
    """Return the row of a stream of a cursor."""
    number = i64(stream) if isinstance(stream, int) else stream
    return Record(f, cursor.at(Cursor.STREAMS)).row(number, STREAM_ROW)


def more_text(attributes: str) -> str:
    """Return `aj_count_more`: take another chunk of a stream for a wave.

    It returns 0 if there is none; the wave is not recorded any more then.
    """
    f = NativeFunction.of(MORE)
    cursor = Record(f, f.parameter("cursor"))
    stream = stream_of(f, cursor, f.parameter("stream"))
    pool = cursor.follow(Cursor.POOLS).row(f.parameter("stream"), POOL_ROW)
    start, size, chunk = pool.get(Pool.START), pool.get(Pool.SIZE), stream.get(Stream.CHUNK)
    with f.unless(f.compare("slt", chunk, i64(0))):
        begin = f.offset(start, f.mul(chunk, size))
        filled = f.sub(_address(f, stream.get(Stream.NEXT)), _address(f, begin))
        f.store(filled, _entry(f, pool, Pool.FILLED, chunk), FIELD_BYTES)
        stream.set(Stream.CHUNK, i64(-1))
    taken = f.atomic("add", pool.at(Pool.TAKEN), i64(1), "monotonic")
    with f.unless(f.compare("ult", taken, pool.get(Pool.CHUNKS))):
        _stop(f, cursor)
        f.give(i32(0))
    f.store(cursor.get(Cursor.OWNER), _entry(f, pool, Pool.OWNERS, taken), FIELD_BYTES)
    begin = f.offset(start, f.mul(taken, size))
    stream.set(Stream.NEXT, begin)
    stream.set(Stream.END, f.offset(begin, f.sub(size, pool.get(Pool.SLACK))))
    stream.set(Stream.CHUNK, taken)
    f.give(i32(1))
    return f.text(attributes)


def _stop(f: NativeFunction, cursor: Record) -> None:
    """Record nothing more of a wave."""
    cursor.set(Cursor.STEP, i64(0))
    blocks = stream_of(f, cursor, 0)
    blocks.set(Stream.NEXT, cursor.at(Cursor.NOTHING))
    blocks.set(Stream.END, _FOREVER)


def _entry(f: NativeFunction, pool: Record, field: Pool, chunk: Value) -> Value:
    return f.offset(pool.get(field), f.shift("shl", chunk, 3))


def _address(f: NativeFunction, pointer: Value) -> Value:
    return f.cast("ptrtoint", pointer, "i64")
