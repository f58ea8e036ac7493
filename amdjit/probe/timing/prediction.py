"""The cycle model's predictions of experiments: the very same launches are recorded on the
emulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from amdjit.code_object import CodeObject
from amdjit.cycles import model
from amdjit.cycles.chip import chip_of
from amdjit.cycles.errors import NoEstimate
from amdjit.devices import use
from amdjit.probe.timing.experiment import Experiment
from amdjit.profiling.profile import profile
from amdjit.target import Target

__all__ = ["Prediction", "predict"]


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
