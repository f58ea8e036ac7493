"""The batches of measurements: which experiments run in one process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import amdjit
from amdjit.cycles.chip import Chip, chip_of
from amdjit.cycles.errors import NoEstimate
from amdjit.cycles.parameter_file import values_of
from amdjit.emulator.decoder.instruction_set import instruction_set_of
from amdjit.probe.case import Batch, Group, Measurement
from amdjit.probe.timing.arithmetic import arithmetic, reference
from amdjit.probe.timing.experiment import Effort, Experiment
from amdjit.probe.timing.launches import launch_measurements
from amdjit.probe.timing.lds_loops import lds, strides
from amdjit.probe.timing.loops import loops
from amdjit.probe.timing.matrix_loops import products
from amdjit.probe.timing.matrix_products import matrix_products
from amdjit.probe.timing.measuring import Laboratory, median_of
from amdjit.probe.timing.memory_curves import bandwidths, chases
from amdjit.probe.timing.prediction import predict
from amdjit.probe.timing.scalar_paths import branches, turnarounds
from amdjit.target import Target

__all__ = ["batches", "experiments", "measurements"]

_Kind = Callable[[Target, "Chip | None"], Iterable[Experiment]]
_KINDS: dict[str, _Kind] = {
    "arithmetic": lambda target, chip: loops(arithmetic(), target),
    "scalar paths": lambda target, chip: (
        *loops(turnarounds(), target),
        *loops(branches(), target),
    ),
    "matrix loops": lambda target, chip: loops(products(), target),
    "LDS": lambda target, chip: loops(lds(), target),
    "LDS strides": lambda target, chip: loops(strides(), target),
    "memory latency": lambda target, chip: chases(chip),
    "memory bandwidth": lambda target, chip: bandwidths(chip),
    "products": lambda target, chip: matrix_products(target),
}
_QUICK = ("arithmetic", "matrix loops")


def batches(target: Target) -> Iterator[Batch]:
    """Yield the batches of a processor. Without a table of its instructions, loops have no code,
    and nothing has a length that is known: what is left is launches and copies."""
    if instruction_set_of(target.name) is not None:
        for kind in _KINDS:
            yield Batch(
                f"timing/{kind}",
                Group.TIMING,
                seconds=120,
                is_quick=kind in _QUICK,
                measurements=partial(_of_kind, kind),
            )
    yield Batch("timing/launches", Group.TIMING, seconds=120, measurements=_of_launches)


def experiments(target: Target, chip: Chip | None = None) -> Iterator[Experiment]:
    """Yield all experiments of a processor. chip: whose caches are measured; None: that of the
    cycle model."""
    found = _chip(target) if chip is None else chip
    for kind in _KINDS.values():
        yield from kind(target, found)


def _chip(target: Target) -> Chip | None:
    """Return the chip of the cycle model, None if it does not know the processor."""
    try:
        return chip_of(target)
    except NoEstimate:
        return None


def _of_kind(kind: str, target: Target) -> Iterator[Measurement]:
    return measurements(kind, _KINDS[kind](target, _chip(target)), target)


def _of_launches(target: Target) -> Iterator[Measurement]:
    return launch_measurements(amdjit.current_device(), Effort())


def measurements(
    name: str,
    chosen: Iterable[Experiment],
    target: Target,
    effort: Effort = Effort(),  # noqa: B008 - it is frozen
) -> Iterator[Measurement]:
    """Make experiments on the current device, and ask the cycle model what it expects.

    The last measurement is of the shader clock, in Hz, while they ran; name: of these experiments
    in that one's name.
    """
    laboratory = Laboratory(amdjit.current_device(), effort, reference())
    values, _ = values_of(target)
    for experiment in chosen:
        samples = laboratory.samples(experiment)
        prediction = predict(experiment, target)
        expected = None if prediction is None else prediction.value(values)
        yield median_of(experiment.name, experiment.unit, samples, experiment.parameter, expected)
    chip = _chip(target)
    clock = None if chip is None else chip.with_values(values).clock
    yield median_of(f"shader clock, {name}", "Hz", laboratory.clocks, "clock", clock)
