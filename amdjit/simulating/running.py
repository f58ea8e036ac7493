"""A launch as plain Python: the kernel's function is called for each work-item."""

from __future__ import annotations

import types
from bdb import BdbQuit
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from amdjit.abi.launch_shape import LaunchShape
from amdjit.diagnostics import KernelFault
from amdjit.diagnostics.notebooks import shown_file
from amdjit.frontend import TypedKernel
from amdjit.frontend.values.typing_rules import AMDJIT, NUMBA
from amdjit.language.compile_time import Compilation
from amdjit.options import CompileOptions
from amdjit.simulating.loop_types import LoopTypes
from amdjit.simulating.names import Names
from amdjit.simulating.not_simulated import NotSimulatedError
from amdjit.simulating.numbers import class_of
from amdjit.simulating.operations import Operations
from amdjit.simulating.places import Places
from amdjit.simulating.work_items import AbandonedError, DeadlockError, Simulation, WorkItem

__all__ = ["run"]

_RULES = {"amdjit": AMDJIT, "numba": NUMBA}
_KINDS: tuple[tuple[type[Exception], str], ...] = (
    (NotSimulatedError, "unsupported"),
    (AssertionError, "assert"),
    (IndexError, "index"),
)


def run(
    function: types.FunctionType,
    options: CompileOptions,
    shape: LaunchShape,
    arguments: Sequence[tuple[Any, Any]],
    outside_array: Callable[[Any], np.ndarray[Any, Any] | None],
    type_kernel: Callable[[], TypedKernel],
) -> None:
    """Call a kernel's function for every work-item of a grid.

    arguments: each with the annotation of its parameter, arrays as NumPy's, which the kernel
    writes. outside_array: returns the memory of an array of the device that the kernel reads from
    outside, None for other objects. type_kernel: types the kernel for the arguments. KernelFault
    for what a work-item raises, for work-items that wait for others in vain, and for what cannot be
    simulated.
    """
    places = Places()

    def run_item(item: WorkItem) -> None:
        try:
            kernel(*values)
        except (AbandonedError, BdbQuit, KernelFault):
            raise
        except Exception as problem:
            raise _fault(function.__name__, item, places, problem) from problem

    simulation = Simulation(shape, options.wave_size, run_item)
    operations = Operations(simulation, options.target, places)
    kind = class_of(_RULES[options.typing])
    names = Names(
        operations,
        Compilation(options),
        outside_array,
        dynamic_lds=shape.dynamic_lds,
        kind=kind,
        loop_types=LoopTypes(type_kernel),
    )
    kernel = names.function(function, kind, is_kernel=True)
    values = [names.argument(value, annotation, kind) for value, annotation in arguments]
    try:
        simulation.run()
    except DeadlockError as deadlock:
        raise _barrier_fault(function.__name__, deadlock) from None
    except NotSimulatedError as problem:
        item = simulation.current
        assert item is not None
        raise _fault(function.__name__, item, places, problem) from None


def _fault(kernel: str, item: WorkItem, places: Places, problem: Exception) -> KernelFault:
    """Return what a work-item has raised, as the fault of a launch."""
    where = places.innermost(problem.__traceback__) or _file_and_line(item.place)
    detail = str(problem)
    is_refused = isinstance(problem, NotSimulatedError)
    kind = next((name for each, name in _KINDS if isinstance(problem, each)), "raise")
    headline = detail if is_refused else ": ".join(filter(None, (type(problem).__name__, detail)))
    text = f"{kernel}: {headline} (block {item.block}, thread {item.thread})"
    if where is not None:
        text += f"\n  at {shown_file(where[0])}:{where[1]}"
    fault = KernelFault(
        kind,
        text,
        kernel=kernel,
        source_file=None if where is None else where[0],
        source_line=None if where is None else where[1],
        block=item.block,
        thread=item.thread,
        lane=item.lane,
        detail=detail,
    )
    return fault if is_refused else fault.raised(type(problem), problem.args, {})


def _barrier_fault(kernel: str, deadlock: DeadlockError) -> KernelFault:
    """Return the fault of work-items that wait for others in vain, with the line of each."""
    lines: dict[str, list[WorkItem]] = {}
    for item in deadlock.waiting:
        what = getattr(item.request, "value", "the other lanes of its wave")
        lines.setdefault(f"waiting for {what} at {item.place}", []).append(item)
    if deadlock.ended:
        lines["which have ended without it"] = deadlock.ended
    first = deadlock.waiting[0]
    text = f"{kernel}: a barrier that not all work-items reach (block {first.block})"
    for what, items in lines.items():
        count = len(items)
        text += f"\n  {count} work-item{'s' * (count > 1)} {what}: thread {items[0].thread}"
        text += " and others" * (count > 1)
    where = _file_and_line(first.place)
    return KernelFault(
        "barrier",
        text,
        kernel=kernel,
        source_file=None if where is None else where[0],
        source_line=None if where is None else where[1],
        block=first.block,
        thread=first.thread,
        lane=first.lane,
    )


def _file_and_line(place: str) -> tuple[str, int] | None:
    file, _, line = place.rpartition(":")
    return (file, int(line)) if line.isdecimal() else None
