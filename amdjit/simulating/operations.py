"""What a simulated kernel's calls of intrinsics do.

Most declarations have a reference model, which computes the result of one work-item, or those of a
whole wave. The tables here say what the others do, which stand in no model: they ask where a
work-item is, wait, or access memory.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from amdjit.declarations import Intrinsic, Parameter
from amdjit.frontend.values.promotion import common_scalar, widens_exactly
from amdjit.intrinsics import amdgcn, cooperative_groups, memory, sync, wave, workitem
from amdjit.intrinsics.atomics import on_arrays
from amdjit.intrinsics.builtins import wave as builtins_of_waves
from amdjit.intrinsics.builtins import wmma
from amdjit.intrinsics.lanes import reduce
from amdjit.intrinsics.models import builtins as models
from amdjit.intrinsics.models.vector_arithmetic import reference
from amdjit.simulating.arrays import ElementPointer
from amdjit.simulating.not_simulated import NotSimulatedError
from amdjit.simulating.numbers import Conversion, Number, convert, number_of
from amdjit.simulating.places import Places
from amdjit.simulating.vectors import VectorValue, made_vector
from amdjit.simulating.work_items import Meeting, Simulation, WaveCall, WorkItem
from amdjit.target import Target
from amdjit.types import VOID, Scalar, TypeVariable, Vector, boolean, i32

__all__ = ["Operations"]

_OF_WAVES = (
    wave.__name__,
    "amdjit.intrinsics.lanes.",
    builtins_of_waves.__name__,
    wmma.__name__,
)
"""Modules whose reference models take the values of all lanes, one row for each."""
_APPROXIMATE = ("v_rcp", "v_rsq", "v_exp", "v_log", "v_sqrt", "v_sin", "v_cos")
"""Instructions of one operand whose results are not the nearest ones."""
_PRODUCTS = ("wmma_", "swmmac_", "mfma_", "smfmac_")
_OF_ACTIVE = (reduce.__name__,)
"""Modules whose models take the rows of the active lanes alone."""


class Operations:
    """The intrinsics of a launch."""

    def __init__(self, simulation: Simulation, target: Target, places: Places) -> None:
        self.simulation, self._target, self.places = simulation, target, places
        self._handlers = {**_PLACES, **_EFFECTS, **_MEMORY, **_ATOMICS}
        for coordinates, ask in _COORDINATES:
            for axis, name in enumerate("xyz"):
                getter = getattr(coordinates, name).getter
                self._handlers[getter] = _coordinate(ask, axis)

    @property
    def item(self) -> WorkItem:
        """The work-item that runs."""
        item = self.simulation.current
        assert item is not None, "kernels run in work-items"
        return item

    def call(self, intrinsic: Intrinsic, *given: Any, **keywords: Any) -> Any:
        """Do what a call of an intrinsic does in the current work-item."""
        values = _bound(intrinsic, given, keywords)
        handler = self._handlers.get(intrinsic)
        if handler is not None:
            return handler(self, *values)
        self._check_target(intrinsic)
        variables = _variables(intrinsic, values)
        parts = zip(intrinsic.parameters, values, strict=True)
        typed = [_typed(parameter, value, variables) for parameter, value in parts]
        if crosses_lanes(intrinsic):
            return self._call_of_wave(intrinsic, typed, variables)
        if any(isinstance(value, ElementPointer) for value in typed):
            raise NotSimulatedError(f"the access to memory by {intrinsic.name}")
        found = self._computed(intrinsic, [_numpy(value) for value in typed])
        return _result(intrinsic, found, variables)

    def _computed(self, intrinsic: Intrinsic, values: list[Any]) -> Any:
        """Compute an intrinsic of one work-item: by the model of its instruction, where that rounds
        in a way of its own."""
        number = np.asarray(values[0]) if len(values) == 1 else None
        is_unary = number is not None and number.dtype.kind == "f" and number.ndim == 0
        is_single = getattr(intrinsic.lowering, "name", "").startswith("llvm.amdgcn.")
        is_approximate = is_single and (intrinsic.isa or "").startswith(_APPROXIMATE)
        if is_unary and number is not None and is_approximate:
            bits = 8 * number.dtype.itemsize
            name = "_".join((*str(intrinsic.isa).split("_")[:2], f"f{bits}"))
            with contextlib.suppress(ValueError):  # the processor lacks it
                return reference(name, number, target=self._target.name)
        return _model(intrinsic, values)

    def _check_target(self, intrinsic: Intrinsic) -> None:
        name = self._target.name
        is_elsewhere = intrinsic.targets is not None and name not in intrinsic.targets
        sizes = intrinsic.wave_sizes_on(name)
        if is_elsewhere or intrinsic.features - self._target.features:
            raise NotSimulatedError(f"{intrinsic.name}, which {name} does not have,")
        if self.simulation.wave_size not in sizes:
            raise NotSimulatedError(f"{intrinsic.name}, which waves of this size do not have,")

    def _call_of_wave(
        self, intrinsic: Intrinsic, typed: list[Any], variables: Mapping[TypeVariable, Any]
    ) -> Any:
        def compute(items: Sequence[WorkItem], rows: Sequence[Any]) -> Sequence[Any]:
            return _wave_results(intrinsic, items, rows, self.simulation.wave_size)

        request = WaveCall((*self.places.position(), (0, intrinsic.name)), compute, typed)
        row = self.simulation.wait(request, self.places.line())
        return _result(intrinsic, row, variables)

    def wait(self, meeting: Meeting) -> None:
        """Let the current work-item wait for others."""
        self.simulation.wait(meeting, self.places.line())


def crosses_lanes(intrinsic: Intrinsic) -> bool:
    """Whether the lanes of a wave compute the intrinsic together."""
    module = intrinsic.reference.__module__
    return module.startswith(_OF_WAVES) or (
        module == models.__name__ and intrinsic.name.startswith(_PRODUCTS)
    )


def _bound(intrinsic: Intrinsic, given: Sequence[Any], keywords: Mapping[str, Any]) -> list[Any]:
    names = [parameter.name for parameter in intrinsic.parameters]
    if len(given) > len(names) or not set(keywords) <= set(names[len(given) :]):
        raise TypeError(f"{intrinsic.name} takes ({', '.join(names)})")
    values = dict(zip(names, given, strict=False)) | dict(keywords)
    for parameter in intrinsic.parameters:
        if parameter.name not in values:
            if parameter.default is inspect.Parameter.empty:
                raise TypeError(f"{intrinsic.name} lacks its argument {parameter.name}")
            values[parameter.name] = parameter.default
    return [values[name] for name in names]


def _variables(intrinsic: Intrinsic, values: Sequence[Any]) -> dict[TypeVariable, Any]:
    """Return the types that the type variables of a call stand for."""
    found: dict[TypeVariable, Any] = {}
    variables: dict[TypeVariable, list[Any]] = {}
    for parameter, value in zip(intrinsic.parameters, values, strict=True):
        if isinstance(parameter.type, TypeVariable):
            variables.setdefault(parameter.type, []).append(value)
    for variable, given in variables.items():
        types = [each.type for each in given if isinstance(each, (Number, VectorValue))]
        chosen = _common(types) if types else _alone(given[0], variable)
        if chosen not in variable.constraints:
            chosen = _constraint(variable, chosen)
        if chosen is None:
            raise TypeError(f"{intrinsic.name} takes {variable}, not {given[0]!r}")
        found[variable] = chosen
    return found


def _constraint(variable: TypeVariable, type: Any) -> Any:
    """Return the type in which a variable takes numbers of a type that is none of its own: the
    narrowest integer that holds them, or a float for an integer."""
    if not isinstance(type, Scalar):
        return None
    holding = [each for each in variable.constraints if widens_exactly(type, each)]
    whole = [each for each in holding if isinstance(each, Scalar) and each.is_integer]
    floating = Number.rules.float_for(type) if type.is_integer else None
    if floating in variable.constraints and not whole:
        return floating
    return next(iter(holding), None)


def _common(types: Sequence[Any]) -> Any:
    chosen = types[0]
    for other in types[1:]:
        if isinstance(chosen, Scalar) and isinstance(other, Scalar):
            chosen = common_scalar(chosen, other)
    return chosen


def _alone(value: Any, variable: TypeVariable) -> Any:
    """Return the type of a literal alone, or the first type that takes it."""
    own: Any = boolean if isinstance(value, bool) else Number.rules.default_type(value)
    if own in variable.constraints:
        return own
    return next(
        (each for each in variable.constraints
         if isinstance(each, Scalar) and (each.is_float or not isinstance(value, float))),
        own,
    )  # fmt: skip


def _typed(parameter: Parameter, value: Any, variables: Mapping[TypeVariable, Any]) -> Any:
    if parameter.immediate is not None:
        return int(value) if isinstance(value, Number) else value
    kind = parameter.type
    target: Any = variables.get(kind, kind) if isinstance(kind, TypeVariable) else kind
    if isinstance(target, Scalar):
        return convert(Number, target, value)
    if isinstance(target, Vector):
        same = isinstance(value, VectorValue) and value.type == target
        return value if same else made_vector(Number, target, (value,))
    return value


def _numpy(value: Any) -> Any:
    return value.numpy if isinstance(value, (Number, VectorValue)) else value


def _model(intrinsic: Intrinsic, values: Sequence[Any]) -> Any:
    if intrinsic.result == VOID:
        return intrinsic.reference(*values)
    try:
        found = intrinsic.reference(*values)
    except KeyError:  # of a table of models that lacks this one
        found = None
    if found is None:
        raise NotSimulatedError(f"{intrinsic.name}, which has no reference model,")
    return found


def _result(intrinsic: Intrinsic, found: Any, variables: Mapping[TypeVariable, Any]) -> Any:
    result: Any = intrinsic.result
    target: Any = variables.get(result, result) if isinstance(result, TypeVariable) else result
    return _value(target, found)


def _value(target: Any, found: Any) -> Any:
    if target == VOID:
        return None
    if isinstance(target, Scalar):
        item = np.asarray(found)[()]
        return number_of(Number, target, item if target.is_float else int(item))
    if isinstance(target, Vector):
        return VectorValue(
            target, [number_of(Number, target.element, each) for each in np.asarray(found)]
        )
    return tuple(_value(part, each) for part, each in zip(target.elements, found, strict=True))


def _wave_results(
    intrinsic: Intrinsic, items: Sequence[WorkItem], rows: Sequence[Any], wave_size: int
) -> Sequence[Any]:
    """Compute for the active lanes of a wave what they call together."""
    lanes = [item.lane for item in items]
    is_whole = len(lanes) == wave_size
    module = intrinsic.reference.__module__
    of_active = module.startswith(_OF_ACTIVE) or intrinsic.name == wave.readfirstlane.name
    if not is_whole and not of_active and _needs_all(intrinsic):
        raise NotSimulatedError(f"{intrinsic.name} while some lanes of the wave are not active")
    columns = []
    for place, parameter in enumerate(intrinsic.parameters):
        column = [_numpy(row[place]) for row in rows]
        if parameter.immediate is not None:
            columns.append(column[0])
            continue
        # A lane that is off supplies 0; numbers of lanes are the same in all lanes.
        is_value = isinstance(parameter.type, TypeVariable) or parameter.type is boolean
        is_value &= not (intrinsic is wave.writelane and parameter.name == "value")
        filler = np.zeros_like(column[0]) if is_value else column[0]
        if intrinsic is wave.permute:
            # Sent once more by a lane that is off, what the last lane sends arrives all the same.
            filler = column[-1]
        whole = [filler] * (len(lanes) if of_active else wave_size)
        for index, each in enumerate(column):
            whole[index if of_active else lanes[index]] = each
        columns.append(np.stack(whole))
    found = _model(intrinsic, columns)
    if intrinsic is wave.dpp and not is_whole and not columns[5]:
        found = _kept_where_off(found, columns, lanes)
    return [found[index if of_active else lane] for index, lane in enumerate(lanes)]


def _kept_where_off(found: Any, columns: list[Any], lanes: Sequence[int]) -> Any:
    """Return what DPP gives without `zero`: the old value where the source is off. The model says
    which lanes those are, from numbers that say which lanes are on."""
    is_on = np.zeros(len(columns[0]), np.int32)
    is_on[list(lanes)] = 1
    taken = wave.dpp.reference(np.full_like(is_on, 2), is_on, *columns[2:])
    return np.where((taken == 0).reshape(-1, *[1] * (np.ndim(found) - 1)), columns[0], found)


def _needs_all(intrinsic: Intrinsic) -> bool:
    """Whether the model is of waves whose lanes are all active."""
    return intrinsic.name.startswith(_PRODUCTS)


Handler = Callable[..., Any]


def _int(value: int) -> Number:
    return Number(i32, value)


def _coordinate(ask: Callable[[Operations], Sequence[int]], axis: int) -> Handler:
    return lambda operations: _int(ask(operations)[axis])


_COORDINATES: tuple[tuple[Any, Callable[[Operations], Sequence[int]]], ...] = (
    (workitem.threadIdx, lambda operations: operations.item.thread),
    (workitem.blockIdx, lambda operations: operations.item.block),
    (workitem.blockDim, lambda operations: operations.simulation.shape.block),
    (workitem.gridDim, lambda operations: operations.simulation.shape.grid),
)


def _global_id(operations: Operations, axis: int) -> Number:
    item, block = operations.item, operations.simulation.shape.block
    return _int(item.block[axis] * block[axis] + item.thread[axis])


def _global_size(operations: Operations, axis: int) -> Number:
    shape = operations.simulation.shape
    return _int(shape.grid[axis] * shape.block[axis])


def _nothing(operations: Operations, *values: Any) -> None:
    """Waits for memory, priorities and hints change no value."""


_PLACES: Mapping[Intrinsic, Handler] = {
    workitem.global_id: _global_id,
    workitem.global_size: _global_size,
    workitem.flat_work_item_id: lambda operations: _int(operations.item.flat),
    workitem.lane_id: lambda operations: _int(operations.item.lane),
    workitem.wave_id: lambda operations: _int(operations.item.wave),
    workitem.wavefront_size.getter: lambda operations: _int(operations.simulation.wave_size),
    workitem._check_dimensions: _nothing,
}

_NO_EFFECT: tuple[Any, ...] = (
    sync.fence, sync._keep_wave_together, sync._signal, sync.setprio, sync.sched_barrier,
    sync.sched_group_barrier, sync.wait_loads, sync.wait_stores, sync.wait_scalars, sync.wait_lds,
    memory._prefetch, cooperative_groups._belong_to_grid,
    amdgcn.s_setprio, amdgcn.sched_barrier, amdgcn.sched_group_barrier, amdgcn.wave_barrier,
    amdgcn.s_barrier_signal,
)  # fmt: skip


def _barrier(operations: Operations, *values: Any) -> None:
    operations.wait(Meeting.BARRIER)


def _turn(operations: Operations, *values: Any) -> None:
    operations.wait(Meeting.TURN)


_BARRIERS: tuple[Any, ...] = (
    sync.workgroup_barrier, sync._wait, amdgcn.s_barrier, amdgcn.s_barrier_wait,
)  # fmt: skip
_TURNS: tuple[Any, ...] = (sync.sleep, amdgcn.s_sleep)

_EFFECTS: Mapping[Intrinsic, Handler] = {
    **dict.fromkeys(_NO_EFFECT, _nothing),
    **dict.fromkeys(_BARRIERS, _barrier),
    **dict.fromkeys(_TURNS, _turn),
    # Waves arrive in the order of their numbers.
    sync._signal_isfirst: lambda operations: operations.item.wave == 0,
    sync._of_first_lane: lambda operations, value: operations.call(wave.readfirstlane, value),
}


def _read(operations: Operations, pointer: ElementPointer, *how: Any) -> Any:
    return pointer.read()


def _write(operations: Operations, pointer: ElementPointer, value: Any, *how: Any) -> None:
    pointer.write(value)


def _load_wide(operations: Operations, pointer: ElementPointer, like: Any, policy: Any) -> Any:
    return pointer.array.load(pointer.key, like.type.length)


def _store_wide(operations: Operations, pointer: ElementPointer, value: Any, policy: Any) -> None:
    pointer.array.store(pointer.key, value)


_MEMORY: Mapping[Intrinsic, Handler] = {
    memory._load: _read,
    memory._store: _write,
    memory._load_wide: _load_wide,
    memory._store_wide: _store_wide,
    on_arrays.load: _read,
    on_arrays.store: _write,
    sync._counted: _read,
}

Combine = Callable[[Any, Any], Any]


def _updating(combine: Combine) -> Handler:
    def update(operations: Operations, pointer: ElementPointer, value: Any, *how: Any) -> Any:
        old = pointer.read()
        pointer.write(combine(old, convert(type(old), old.type, value)))
        return old

    return update


def _compare_and_swap(
    operations: Operations, pointer: ElementPointer, expected: Any, desired: Any, *how: Any
) -> Any:
    old = pointer.read()
    given = convert(type(old), old.type, expected)
    if old.numpy.tobytes() == given.numpy.tobytes():
        pointer.write(convert(type(old), old.type, desired))
    return old


def _add_pair(operations: Operations, pointer: ElementPointer, value: Any, *how: Any) -> Any:
    old = pointer.array.load(pointer.key, 2)
    pointer.array.store(pointer.key, old + value)
    return old


def _lesser(a: Any, b: Any) -> Any:
    """Return the lesser number, of which a NaN counts as missing and -0.0 is less than 0.0."""
    if a != a or b != b:
        return b if a != a else a
    if a == b and a.type.is_float:
        return a if np.signbit(a.value) else b
    return a if a <= b else b


def _greater(a: Any, b: Any) -> Any:
    if a != a or b != b:
        return b if a != a else a
    if a == b and a.type.is_float:
        return b if np.signbit(a.value) else a
    return a if a >= b else b


_UPDATES: Mapping[str, Combine] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "sub_clamp": lambda a, b: a - b if a >= b else a - a,
    "cond_sub": lambda a, b: a - b if a >= b else a,
    "min": _lesser,
    "max": _greater,
    "and_": lambda a, b: a & b,
    "or_": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "exch": lambda a, b: b,
    "inc": lambda a, b: a - a if a >= b else a + 1,
    "dec": lambda a, b: b if a == 0 or a > b else a - 1,
}
_ATOMICS: Mapping[Intrinsic, Handler] = MappingProxyType(
    {
        **{on_arrays.UPDATES[name]: _updating(combine) for name, combine in _UPDATES.items()},
        on_arrays.cas: _compare_and_swap,
        on_arrays.add_f16_pair: _add_pair,
        on_arrays.add_bf16_pair: _add_pair,
        sync._count: _updating(_UPDATES["add"]),
    }
)


def unwrapped(value: Any) -> Any:
    """Return a value as compile-time functions take it: types in place of what has one."""
    if isinstance(value, Conversion):
        return value.type
    if isinstance(value, tuple):
        return tuple(map(unwrapped, value))
    if hasattr(type(value), "host_value"):
        return value.host_value
    return getattr(value, "kernel_type", None) or getattr(value, "type", value)
