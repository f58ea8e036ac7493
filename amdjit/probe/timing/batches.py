"""The batches of measurements, which say which experiments run in one process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import amdjit
from amdjit.code_object import CodeObject
from amdjit.cycles import model
from amdjit.cycles.chip import Chip, chip_of
from amdjit.cycles.errors import NoEstimate
from amdjit.cycles.parameter_file import values_of
from amdjit.devices import use
from amdjit.isa.instruction_set import instruction_set_of
from amdjit.probe.case import Batch, Group, Measurement
from amdjit.probe.timing.arithmetic import arithmetic, branches, reference, turnarounds
from amdjit.probe.timing.experiment import Effort, Experiment, Laboratory, median_of
from amdjit.probe.timing.launches import launch_measurements
from amdjit.probe.timing.loops import loops
from amdjit.probe.timing.matrix_loops import matrix_products, products
from amdjit.probe.timing.memory_curves import bandwidths, chases, lds, strides
from amdjit.profiling.profile import profile
from amdjit.target import Target

__all__ = ["Prediction", "batches", "experiments", "measurements", "predict"]


@dataclass(frozen=True)
class _Kind:
    """The experiments of one batch."""

    experiments: Callable[[Target, Chip | None], Iterable[Experiment]]
    seconds: float
    """The seconds that they take on a GPU; about half of these compute what the cycle model
    expects."""
    is_quick: bool = False


_KINDS = {
    "arithmetic": _Kind(lambda target, chip: loops(arithmetic(), target), 12, is_quick=True),
    "scalar paths": _Kind(
        lambda target, chip: (*loops(turnarounds(), target), *loops(branches(), target)), 6
    ),
    "matrix loops": _Kind(lambda target, chip: loops(products(), target), 14),
    "LDS": _Kind(lambda target, chip: loops(lds(), target), 5),
    "LDS strides": _Kind(lambda target, chip: loops(strides(), target), 12),
    "memory latency": _Kind(lambda target, chip: chases(chip), 15),
    "memory bandwidth": _Kind(lambda target, chip: bandwidths(chip), 10),
    "products": _Kind(lambda target, chip: matrix_products(target), 15),
}
_LAUNCHES_SECONDS = 5
_TIME_OUT = 120


def batches(target: Target) -> Iterator[Batch]:
    """Yield the batches of a processor. Without a table of its instructions there is no code for
    loops, and no experiment of known length, so only launches and copies are measured."""
    if instruction_set_of(target.name) is not None:
        for name, kind in _KINDS.items():
            yield Batch(
                f"timing/{name}",
                Group.TIMING,
                seconds=_TIME_OUT,
                is_quick=kind.is_quick,
                measurements=partial(_of_kind, name),
                expected=kind.seconds,
            )
    yield Batch(
        "timing/launches",
        Group.TIMING,
        seconds=_TIME_OUT,
        measurements=_of_launches,
        expected=_LAUNCHES_SECONDS,
    )


def experiments(target: Target, chip: Chip | None = None) -> Iterator[Experiment]:
    """Yield all experiments of a processor. chip: the chip whose caches are measured; None for that
    of the cycle model."""
    found = _chip(target) if chip is None else chip
    for kind in _KINDS.values():
        yield from kind.experiments(target, found)


def _chip(target: Target) -> Chip | None:
    """Return the chip of the cycle model; None if it does not know the processor."""
    try:
        return chip_of(target)
    except NoEstimate:
        return None


def _of_kind(name: str, target: Target) -> Iterator[Measurement]:
    if not _is_emulated():
        yield from measurements(name, _KINDS[name].experiments(target, _chip(target)), target)


def _of_launches(target: Target) -> Iterator[Measurement]:
    if not _is_emulated():
        yield from launch_measurements(amdjit.current_device(), Effort())


def _is_emulated() -> bool:
    """Return whether the current device is an emulator, whose times mean nothing."""
    return amdjit.current_device().name.startswith("emulator:")


def measurements(
    name: str,
    chosen: Iterable[Experiment],
    target: Target,
    effort: Effort = Effort(),  # noqa: B008 - it is frozen
) -> Iterator[Measurement]:
    """Make experiments on the current device, and ask the cycle model what it expects.

    The last measurement is the shader clock, in Hz, while they ran. name: what that measurement's
    name calls these experiments.
    """
    laboratory = Laboratory(amdjit.current_device(), effort, reference(target))
    chip = _chip(target)
    values = {} if chip is None else values_of(target)[0]
    for experiment in chosen:
        samples = laboratory.samples(experiment)
        prediction = predict(experiment, target)
        expected = None if prediction is None else prediction.value(values)
        yield median_of(experiment.name, experiment.unit, samples, experiment.parameter, expected)
    clock = None if chip is None else chip.with_values(values).clock
    yield median_of(f"shader clock, {name}", "Hz", laboratory.clocks, "clock", clock)


# The cycle model's predictions of experiments: the very same launches are recorded on the emulator.


_Cycles = Callable[[Mapping[str, float]], int]


@dataclass(frozen=True, eq=False)
class Prediction:
    """What the cycle model predicts for an experiment, with any values of its parameters."""

    experiment: Experiment
    target: Target
    launches: tuple[_Cycles, ...]

    def value(self, values: Mapping[str, float]) -> float:
        """Return the figure. values: the values of all parameters, by name."""
        clock = chip_of(self.target).with_values(values).clock
        seconds = [cycles(values) / clock for cycles in self.launches]
        return self.experiment.figure(self.experiment.repetitions, seconds, 1 / clock)


def predict(experiment: Experiment, target: Target) -> Prediction | None:
    """Record an experiment on the emulator. None if the cycle model is not asked, or does not know
    the processor."""
    if not experiment.is_predicted:
        return None
    try:
        chip_of(target)
    except NoEstimate:
        return None
    with use(f"emulator:{target.id}"), profile() as counted:
        part = experiment.part
        for launch in experiment.launches(experiment.repetitions) if part is None else (part(),):
            launch()
    found = []
    for each in counted.launches:
        assert each.recording is not None
        x, y, z = each.block
        lines = each.distinct_lines if experiment.lines is None else experiment.lines
        workgroups = experiment.workgroups or each.workgroups
        size = model.Launch(workgroups, x * y * z, each.dynamic_lds, lines)
        whole = CodeObject.read(each.code_object)
        found.append(model.cycles_by_values(whole, each.kernel, size, each.recording))
    return Prediction(experiment, target, tuple(found))
