"""Launches the remaining candidates on the GPU: checks them, then measures them in turn.

The user's arrays are not changed: candidates work on copies of those that the kernel may write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from amdjit.api import Kernel
from amdjit.diagnostics import AmdjitError
from amdjit.options import OptionError
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.device import Device
from amdjit.tuning.bench import Contestant, measure
from amdjit.tuning.calls import Call
from amdjit.tuning.candidates import Candidate, State
from amdjit.tuning.checking import reference_results
from amdjit.tuning.comparing import Tolerance, difference
from amdjit.tuning.configurations import Configuration
from amdjit.tuning.sending import on_device, sent
from amdjit.tuning.settings import Settings
from amdjit.tuning.tasks import array_contents, reset
from amdjit.tuning.timing import median_interval

__all__ = ["measured"]

Results = Mapping[str, NDArray[Any]]


@dataclass
class _Finals:
    """The launches of a search's last candidates, which share their arrays."""

    call: Call
    settings: Settings
    device: Device
    expected: Results | None

    def __post_init__(self) -> None:
        self.sent = sent(self.call.arguments)
        self.arrays = on_device(self.sent, self.device)
        self.kernels: dict[Configuration, Kernel] = {}

    def restore(self, names: Sequence[str]) -> None:
        """Restore the original contents of arrays."""
        fresh = on_device({name: self.sent[name] for name in names}, self.device)
        for name in names:
            mine, theirs = self.arrays[name], fresh[name]
            if not isinstance(mine, DeviceArray):
                raise OptionError(f"restore=: {name!r} is not an array of the call")
            mine.copy_from_host(theirs.copy_to_host())

    def before(self) -> None:
        """Restore and fill arrays before a launch."""
        s = self.settings
        self.restore(s.restore)
        reset(self.arrays, s.reset_to_zero)
        if s.pre_hook is not None:
            s.pre_hook(self.arrays)

    def contestant(self, candidate: Candidate) -> Contestant:
        """Return a candidate's launch."""
        s, configuration = self.settings, candidate.configuration
        kernel = self.call.kernel.with_options(**self.call.options(configuration))
        self.kernels[configuration] = kernel
        shape = self.call.shape(configuration)
        call = replace(self.call, arguments=self.arrays)
        launcher = kernel.launch(shape.grid, shape.block, None, shape.dynamic_lds)
        launch = launcher.bind(*call.values(configuration))
        prepares = bool(s.restore or s.reset_to_zero or s.pre_hook or s.post_hook)
        return Contestant(str(configuration), launch, self.before if prepares else None)

    def check(self, candidate: Candidate, contestant: Contestant) -> str:
        """Launch once on arrays with their original contents; return what is wrong with the
        results."""
        call = replace(self.call, arguments=self.arrays)
        names = [name for name, each in self.arrays.items() if isinstance(each, DeviceArray)]
        self.restore(names)
        self.before()
        contestant.launch()
        self.device.synchronize()
        if self.settings.post_hook is not None:
            self.settings.post_hook(self.arrays)
        kernel = self.kernels[candidate.configuration]
        results = array_contents(kernel.prepare(*call.values(candidate.configuration)))
        if self.expected is None:
            self.expected = results
            return ""
        s = self.settings
        return difference(results, self.expected, Tolerance(s.rtol, s.atol))


def measured(
    candidates: Sequence[Candidate],
    call: Call,
    settings: Settings,
    device: Device,
    stops: Callable[[], bool],
    count: Callable[[float | None], object],
) -> Iterator[Candidate]:
    """Yield candidates with their measurements, or with the reason why they are out."""
    if not candidates:
        return
    finals = _Finals(call, settings, device, None)
    if settings.check:
        finals.expected = reference_results(settings.reference, finals.sent)
    running: list[tuple[Candidate, Contestant]] = []
    for candidate in candidates:
        if stops() and running:
            break
        try:
            contestant = finals.contestant(candidate)
            wrong = finals.check(candidate, contestant) if settings.check else ""
        except AmdjitError as problem:
            yield replace(candidate, state=State.REFUSED, reason=str(problem), seconds=None)
            continue
        if wrong:
            yield replace(candidate, state=State.WRONG, reason=wrong, seconds=None)
        else:
            running.append((candidate, contestant))
    yield from _timed(running, settings, device, stops, count)


def _timed(
    running: Sequence[tuple[Candidate, Contestant]],
    settings: Settings,
    device: Device,
    stops: Callable[[], bool],
    count: Callable[[float | None], object],
) -> Iterator[Candidate]:
    if not running:
        return
    s = settings
    contestants = [contestant for _, contestant in running]
    measure(
        contestants,
        device,
        warm_up=s.warm_up,
        samples=s.samples,
        cold=s.cold,
        stops=stops,
        seed=s.seed,
    )
    for candidate, contestant in running:
        median, low, _ = median_interval(contestant.samples)
        count(median)
        yield replace(
            candidate,
            state=State.SLOWER if contestant.is_out else State.FINE,
            reason=f"at least {low:.3g} s, measured {len(contestant.samples)} times"
            if contestant.is_out
            else "",
            seconds=median,
            samples=tuple(float(f"{each:.6g}") for each in contestant.samples),
            by="events",
        )
