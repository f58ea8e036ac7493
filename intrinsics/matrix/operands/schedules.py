"""Which waves of a workgroup share a fragment: rocWMMA 2.x's schedulers, as a part of the
fragment's kind.

    # a workgroup of 64 by 2 work-items: 2 by 2 waves of 32
    shared_by_all = matrix.coop_row_major_2d(64, 2)
    part = matrix.fragment(matrix.matrix_a, 64, 16, 16, f16, matrix.row_major, shared_by_all)

As in rocWMMA, the waves of a workgroup form a grid: the wave of work-item (x, y) is in row x //
lanes, column y.

Source: rocWMMA's API reference, `fragment_scheduler`; io_scheduler_impl.hpp.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from amdjit.declarations import device_function
from amdjit.intrinsics.wave import wave_id
from amdjit.language.compile_time import Compilation, CompileTimeFunction, Refused


class Order(Enum):
    """Which waves take part, and in which order: all by rows or by columns, those of one row or
    column, or a single one."""

    DEFAULT = "default_schedule"
    ROW_MAJOR = "coop_row_major_2d"
    COL_MAJOR = "coop_col_major_2d"
    ROW_SLICE = "coop_row_slice_2d"
    COL_SLICE = "coop_col_slice_2d"
    SINGLE = "single"


@dataclass(frozen=True)
class Schedule:
    """How waves share a fragment. threads: the sizes (x, y) of the workgroup. wave: for SINGLE, the
    wave's number by rows."""

    order: Order
    threads: tuple[int, int] = (0, 0)
    wave: int = 0

    def __str__(self) -> str:
        numbers = (*self.threads, self.wave) if self.order is Order.SINGLE else self.threads
        return f"{self.order.value}({', '.join(map(str, numbers))})"


default_schedule = Schedule(Order.DEFAULT)


@dataclass(frozen=True)
class Turns:
    """How waves take turns at a fragment's blocks. rows, columns: of the workgroup's grid of waves;
    count: how many waves share."""

    order: Order
    rows: int
    columns: int
    count: int
    wave: int = 0


@dataclass(frozen=True)
class Share:
    """What one wave loads and stores of a fragment.

    turns: how the waves are numbered, None where the call says it. count: how many waves share the
    fragment, None where only the launch knows. blocks: the room of a wave. Wave w has the blocks w,
    w + count, w + 2 * count, ...; the last waves may have one less.
    """

    turns: Turns | None
    count: int | None
    blocks: int


def share_of(blocks: int, turns: Turns | None, count: int) -> Share:
    """Return the share of each wave where `count` waves divide a fragment's blocks."""
    return Share(turns, count, -(-blocks // count))


class Scheduler(CompileTimeFunction):
    """A function that makes a schedule, inside kernels and outside."""

    def __call__(self, *arguments: Any) -> Any:
        """Return the schedule. Raises ValueError for invalid sizes."""
        try:
            return self.function(None, *arguments)
        except Refused as refused:
            raise ValueError(f"{refused.problem}: {refused.remedy}") from None


def _scheduler(order: Order, documentation: str) -> Scheduler:
    def schedule(compilation: Compilation | None, threads_x: Any, threads_y: Any) -> Schedule:
        return Schedule(order, _sizes(order, (threads_x, threads_y)))

    return Scheduler(_named(schedule, order, documentation))


def _single(
    compilation: Compilation | None, threads_x: Any, threads_y: Any, wave: Any = 0
) -> Schedule:
    threads = _sizes(Order.SINGLE, (threads_x, threads_y))
    if not isinstance(wave, int) or isinstance(wave, bool) or wave < 0:
        raise Refused(
            f"the wave of single is {wave}",
            "give its number by rows of waves, known when compiling",
        )
    return Schedule(Order.SINGLE, threads, wave)


def _named(
    function: Callable[..., Schedule], order: Order, documentation: str
) -> Callable[..., Schedule]:
    function.__name__, function.__doc__ = order.value, documentation
    return function


def _sizes(order: Order, threads: tuple[Any, Any]) -> tuple[int, int]:
    for size in threads:
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            remedy = f"write {order.value}(x, y), the sizes of the workgroup, known when compiling"
            raise Refused(f"a workgroup of {threads[0]} by {threads[1]}", remedy)
    return threads


coop_row_major_2d = _scheduler(
    Order.ROW_MAJOR, "All waves share the fragment, in the order of the rows of the grid."
)
coop_col_major_2d = _scheduler(
    Order.COL_MAJOR, "All waves share the fragment, in the order of the columns."
)
coop_row_slice_2d = _scheduler(
    Order.ROW_SLICE, "The waves of a row share a fragment, each row its own."
)
coop_col_slice_2d = _scheduler(
    Order.COL_SLICE, "The waves of a column share a fragment, each column its own."
)
single = Scheduler(
    _named(
        _single, Order.SINGLE, "One wave loads and stores, by its number in the order of the rows."
    )
)


def turns_of(compilation: Compilation, schedule: Any) -> Turns | None:
    """Check a schedule against the kernel. Return None if each wave has a fragment of its own."""
    if schedule is None or schedule == default_schedule:
        return None
    if not isinstance(schedule, Schedule):
        raise Refused(
            f"a fragment's scheduler is {schedule}",
            "write matrix.default_schedule or matrix." + _NAMES,
        )
    x, y = schedule.threads
    if compilation.block != (x, y, 1):
        given = compilation.block
        text = "unknown when compiling" if given is None else " x ".join(map(str, given))
        raise Refused(
            f"{schedule} in a workgroup that is {text}",
            f"write @amdjit.kernel(block=({x}, {y}, 1))",
        )
    rows, columns = grid_of(compilation, (x, y, 1))
    if schedule.wave >= rows * columns:
        raise Refused(
            f"{schedule} in a workgroup of {rows * columns} waves", "give the number of one of them"
        )
    counts = {Order.ROW_SLICE: columns, Order.COL_SLICE: rows, Order.SINGLE: 1}
    return Turns(
        schedule.order, rows, columns, counts.get(schedule.order, rows * columns), schedule.wave
    )


_NAMES = ", matrix.".join(order.value + "(x, y)" for order in Order if order is not Order.DEFAULT)


def grid_of(compilation: Compilation, block: tuple[int, int, int]) -> tuple[int, int]:
    """Return how many waves a workgroup has along x and y. Refused unless a row of work-items is a
    number of whole waves."""
    x, y, z = block
    if x % compilation.wave_size or z != 1:
        lanes = compilation.wave_size
        raise Refused(
            f"a workgroup of {x} x {y} x {z} is not a grid of waves",
            f"give a multiple of {lanes} along x, 1 along z",
        )
    return x // compilation.wave_size, y


@device_function
def number_of_wave(turns):
    """Return a wave's number among those that share a fragment, the same in all lanes; SINGLE:
    among all."""
    row, column = wave_id() % turns.rows, wave_id() // turns.rows
    if turns.order is Order.ROW_SLICE:
        return column
    if turns.order is Order.COL_SLICE:
        return row
    return wave_id() if turns.order is Order.COL_MAJOR else row * turns.columns + column


@device_function
def takes_part(kind):
    """Whether this wave loads and stores the fragment: known when compiling, except for SINGLE."""
    turns = kind.turns
    if turns is None or turns.order is not Order.SINGLE:
        return True
    return number_of_wave(turns) == turns.wave
