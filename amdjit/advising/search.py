"""The story of an advice, a stage a function:

subject      the launch repeated as it is, counted
variants     changes for what its counts and its code show
tried        each compiled and launched with the same arguments
compared     results equal, cycles fewer
confirmed    without new reports of the memory and race checks
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from amdjit.advising.advice import Advice, Figures, Proposal, Rejected
from amdjit.advising.calls import Outcome, RecordedCall, TrialError
from amdjit.advising.rewriting import RewriteError, rewrite
from amdjit.advising.subject import Subject, Variant
from amdjit.advising.variants import launches, lds, loops, numbers
from amdjit.api import Kernel
from amdjit.diagnostics import AmdjitError, LaunchError
from amdjit.diagnostics.sanitizer import SanitizerReport
from amdjit.frontend.source.reading import read_source
from amdjit.inspection.causes import Cause
from amdjit.options import OptionError
from amdjit.profiling.launch_profile import LaunchProfile
from amdjit.tuning.comparing import Tolerance, difference

__all__ = ["AdviceError", "advise"]

# A change that saves less is not worth a line of source; the model is not more exact either.
_LEAST_GAIN = 0.05
_CHECKS = ("memory", "race")

# In this order, as the time may be over before the last ones: first what the counts point to.
_VARIANTS: tuple[Callable[[Subject], Iterator[Variant]], ...] = (
    lds.layouts_of_shared_arrays,
    numbers.without_doubles,
    launches.less_restricted,
    launches.launch_bounds,
    loops.static_loops,
    loops.exchanged_axes,
    loops.exchanged_loops,
    lds.without_barriers,
    numbers.narrow_integers,
    numbers.constants,
    loops.more_work_each,
    loops.unrolled,
    launches.more_waves,
    launches.blocks,
)


class AdviceError(LaunchError):
    """Nothing can be tried with a launch: it cannot be repeated, or has no estimate."""


def advise(launch: LaunchProfile, call: RecordedCall | None, seconds: float) -> Advice:
    """Try changes to a launch, and return those that make it faster.

    call: the launch with its arguments, None if they were not kept. seconds: after which no further
    change is tried. AdviceError if the launch was not kept, or gives other results the second time.
    """
    if call is None:
        raise AdviceError(
            f"{launch.kernel}: the arguments of the launch were not kept: profile it in "
            "`with amdjit.profile(calls=True):`"
        )
    if call.only_once:
        raise AdviceError(f"{launch.kernel} cannot be repeated: {call.only_once}")
    begin = time.monotonic()
    subject = Subject(call, read_source(call.kernel.function), _repeated(call))
    trials = _Trials(subject, _figures(subject.before.launch, call), begin + seconds)
    for variants in _VARIANTS:
        for variant in variants(subject):
            trials.take(variant)
    best = sorted(trials.best(), key=lambda each: -each.gain)
    return Advice(
        launch.kernel,
        launch.target,
        trials.figures,
        causes=tuple(_worth_naming(subject.before.launch)),
        proposals=tuple(best),
        rejected=tuple(trials.rejected),
        unfinished=trials.unfinished,
        seconds=time.monotonic() - begin,
    )


def _repeated(call: RecordedCall) -> Outcome:
    """Return the launch as it is; AdviceError if its results depend on the order of its waves."""
    try:
        one, other = call.run(), call.run()
    except TrialError as error:
        raise AdviceError(f"{call.kernel.__name__} cannot be launched again: {error}") from error
    if difference(one.results, other.results, _EQUAL):
        raise AdviceError(f"{call.kernel.__name__} gives other results when it is launched again")
    if one.launch.cycles is None:
        raise AdviceError(f"{call.kernel.__name__}: {one.launch.no_cycles}")
    return one


_EQUAL = Tolerance(0.0, 0.0)


def _figures(launch: LaunchProfile, call: RecordedCall) -> Figures:
    assert launch.cycles is not None
    inspection, totals = launch.inspection, launch.totals
    occupancy = inspection.occupancy_at(call.shape.block, call.shape.dynamic_lds)
    return Figures(
        cycles=launch.cycles.kernel,
        vgprs=inspection.vgprs,
        spills=inspection.vgpr_spills + inspection.sgpr_spills,
        waves=occupancy.waves_per_simd,
        instructions=totals.executions,
        lds_conflicts=totals.lds_conflict_cycles,
        cache_lines=totals.cache_lines,
        barriers=totals.barrier_waits,
    )


@dataclass(frozen=True, slots=True)
class _Trial:
    """A changed launch that is faster, and the proposal that it makes."""

    call: RecordedCall
    proposal: Proposal

    @property
    def order(self) -> tuple[int, int]:
        """Of the same cycles, the one with fewer instructions is better."""
        return self.proposal.after.cycles, self.proposal.after.instructions


class _Trials:
    """The changes that were tried."""

    def __init__(self, subject: Subject, figures: Figures, deadline: float) -> None:
        self._subject, self._deadline = subject, deadline
        self._faster: dict[str, list[_Trial]] = {}
        self._reported: set[str] | None = None
        self.figures = figures
        self.rejected: list[Rejected] = []
        self.unfinished = 0

    def take(self, variant: Variant) -> None:
        """Try a change, unless the time is over."""
        if time.monotonic() > self._deadline:
            self.unfinished += 1
            return
        try:
            self._faster.setdefault(variant.kind, []).append(self._tried(variant))
        except (TrialError, RewriteError) as error:
            self.rejected.append(Rejected(variant.text, str(error)))

    def best(self) -> Iterator[Proposal]:
        """Yield the best change of each kind of which the checks report nothing."""
        for trials in self._faster.values():
            chosen: Proposal | None = None
            for trial in sorted(trials, key=lambda each: each.order):
                reason = f"{chosen.text}: that gains more" if chosen else self._reports(trial.call)
                if reason:
                    self.rejected.append(Rejected(trial.proposal.text, reason))
                else:
                    chosen = trial.proposal
            if chosen is not None:
                yield chosen

    def _tried(self, variant: Variant) -> _Trial:
        """Return the trial of a change; TrialError if it does not make the launch faster."""
        call, diff = _changed(self._subject, variant)
        after = call.run()
        rounding = self._compare(variant, after)
        if after.launch.cycles is None:
            raise TrialError(after.launch.no_cycles or "no estimate")
        figures = _figures(after.launch, call)
        if 1 - figures.cycles / self.figures.cycles < _LEAST_GAIN:
            raise TrialError(f"{figures.cycles:,} cycles in place of {self.figures.cycles:,}")
        proposal = Proposal(
            variant.kind,
            variant.text,
            place=variant.place,
            diff=diff,
            options=variant.options,
            arguments=variant.arguments,
            shape=variant.shape,
            before=self.figures,
            after=figures,
            confidence=_confidence(self.figures, figures),
            difference=rounding,
        )
        return _Trial(call, proposal)

    def _compare(self, variant: Variant, after: Outcome) -> str:
        """Return how results differ by rounding; TrialError if they differ otherwise."""
        expected = self._subject.before.results
        exact = difference(after.results, expected, _EQUAL)
        if not exact:
            return ""
        if not variant.rounds:
            raise TrialError(f"results differ: {exact}")
        wrong = difference(after.results, expected, Tolerance())
        if wrong:
            raise TrialError(f"results differ by more than rounding: {wrong}")
        return exact

    def _reports(self, call: RecordedCall) -> str:
        """Return what the checks report of a launch and not of the one as it is, "" if nothing."""
        found = _kinds(call.check(*_CHECKS))
        if found and self._reported is None:
            self._reported = _kinds(self._subject.call.check(*_CHECKS))
        new = sorted(found - (self._reported or set()))
        return f"the checks report {new[0]}" if new else ""


# What waves spend most launches on (memory, arithmetic) is no mistake; these are what somebody can
# change.
_MENDED = frozenset(
    {
        "bank conflicts", "barrier", "branches", "contended atomics", "few waves", "inactive lanes",
        "instruction fetch", "scratch memory", "spills", "spread accesses",
    }
)  # fmt: skip
_LEAST_SHARE = 0.2


def _worth_naming(launch: LaunchProfile) -> Iterator[Cause]:
    for cause in launch.causes:
        if cause.kind in _MENDED and (cause.share is None or cause.share >= _LEAST_SHARE):
            yield cause


def _kinds(reports: tuple[SanitizerReport, ...]) -> set[str]:
    return {f"{report.check}/{report.kind}" for report in reports if report.kind != "leak"}


def _changed(subject: Subject, variant: Variant) -> tuple[RecordedCall, str]:
    """Return the changed launch, and the change of the source."""
    call = subject.call
    function, diff = call.kernel.function, ""
    if variant.edits:
        rewritten = rewrite(subject.source, variant.edits)
        function, diff = rewritten.function, rewritten.diff
    options = {**call.kernel.options_given, **variant.options, "warnings": False}
    given = {name: each for name, each in options.items() if each is not None}
    try:
        kernel = Kernel(function, given)
    except (AmdjitError, OptionError) as error:
        raise TrialError(str(error).splitlines()[0]) from error
    arguments = {**call.arguments, **variant.arguments}
    return RecordedCall(kernel, arguments, variant.shape or call.shape, call.device), diff


def _confidence(before: Figures, after: Figures) -> str:
    """Return "measured cause" if an exact count of what costs time has fallen by half."""
    counts = ("spills", "lds_conflicts", "cache_lines", "instructions", "barriers")
    fallen = (2 * getattr(after, name) <= getattr(before, name) > 0 for name in counts)
    return "measured cause" if any(fallen) else "model"
