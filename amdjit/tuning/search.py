"""The story of a search, a stage a method:

space           configurations that `where` and `prune` leave, in a fixed order
known           without those that the file of results has
built           compiled in parallel, dropped if they need too much
ranked          by the cycle model, by the static score, or by the user's function
checked         launched on the emulator, results compared
measured        on a GPU only, the remaining ones in turn
best            written to the file
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from amdjit.cycles.chip import chip_of
from amdjit.cycles.errors import NoEstimate
from amdjit.diagnostics import LaunchError
from amdjit.runtime.device import Device
from amdjit.tuning.calls import Call
from amdjit.tuning.candidates import Candidate, State
from amdjit.tuning.configurations import Configuration, value_text
from amdjit.tuning.errors import TuningError
from amdjit.tuning.finalists import measured
from amdjit.tuning.keys import TuningKey
from amdjit.tuning.passes import Pass, PassRules, keep_code
from amdjit.tuning.progress import Progress
from amdjit.tuning.records import Best, Records, own_version
from amdjit.tuning.results import Tuning
from amdjit.tuning.running import Workers
from amdjit.tuning.settings import Settings
from amdjit.tuning.space import Space, refuse_unread
from amdjit.tuning.tasks import Outcome

__all__ = ["Search"]


@dataclass
class Search:
    """A search for the best configuration of one call."""

    tuned: Any
    """The kernel with its space and settings (`TunedKernel`)."""
    space: Space
    """The configurations to search."""
    call: Call
    """The arguments, grid and block."""
    settings: Settings
    device: Device
    key: TuningKey
    """The key under which the results are stored."""
    records: Records
    """The file of results."""
    is_measured: bool
    """Whether candidates are timed on a GPU, rather than estimated."""
    fresh: bool = False
    """Whether to ignore what the file of results has."""
    stopped: str = ""
    """Why the search ended early, "" if it did not."""
    found: dict[str, Candidate] = field(default_factory=dict)
    """What is known about each candidate, by the text of its configuration."""
    _folder: Path | None = None
    _begin: float = field(default_factory=time.monotonic)

    def run(self) -> Tuning:
        """Search, and return what was found; TuningError if no candidate is left."""
        everything = self.configurations
        self._check_names()
        known = self._known()
        self.found.update({text: each for text, each in known.items() if self._is_done(each)})
        progress = Progress(self.settings.progress, self.call.kernel.__name__, len(everything))
        if len(self.found) < len(everything) or not self._was_chosen():
            self.records.begin(self.key, **self._heading())
            try:
                self._search(known, progress)
            except KeyboardInterrupt:
                if not any(each.state is State.FINE for each in self.found.values()):
                    raise
                self.stopped = "interrupted"
            finally:
                progress.end()
                if self._folder is not None:
                    shutil.rmtree(self._folder, ignore_errors=True)
        return self._finished()

    def _check_names(self) -> None:
        """Raise OptionError for a name of the space that nothing reads."""
        call = self.call
        for configuration in self.configurations.values():
            with suppress(LaunchError):
                call.shape(configuration)
        refuse_unread(call.names.free, call.read, call.kernel.parameter_names, call.kernel.__name__)

    @cached_property
    def configurations(self) -> dict[str, Configuration]:
        """The configurations to search, by text."""
        settings, call = self.settings, self.call
        listed = self.space.allowed(
            settings.where, call.arguments, call.read, settings.max_configs, settings.seed
        )
        if settings.prune is not None:
            kept = {str(Configuration(each)) for each in settings.prune(listed, call.arguments)}
            unknown = sorted(kept - set(map(str, listed)))
            if unknown:
                raise TuningError(f"prune= returned {unknown[0]}, which it was not given")
            listed = [each for each in listed if str(each) in kept]
        if not listed:
            raise TuningError(
                f"{call.kernel.__name__}: where= and prune= leave none of {self.space.size} "
                "configurations"
            )
        return {str(each): each for each in listed}

    @cached_property
    def ranking(self) -> str:
        """How candidates are ranked: "model", "static", or the name of a function."""
        given = self.settings.ranking
        if callable(given):
            return getattr(given, "__name__", "function")
        if given == "static":
            return "static"
        try:
            chip_of(self.device.target)
        except NoEstimate as problem:
            if given == "model":
                raise TuningError(f'ranking="model": {problem}') from None
            return "static"
        return "model"

    @property
    def runs(self) -> bool:
        """Whether workers launch candidates on the emulator."""
        if self.is_measured:
            return self.ranking == "model" and self.settings.top is not None
        return self.ranking == "model" or self.settings.check or bool(self.settings.sanitize)

    @property
    def in_one_pass(self) -> bool:
        """Whether a worker may launch a candidate as soon as it is compiled."""
        return self.runs and (self.settings.top is None or self.ranking == "model")

    @cached_property
    def rules(self) -> str:
        """A digest of everything that decides whether the record of a candidate is still valid."""
        s = self.settings
        parts = (
            self.ranking, s.check, s.reference is not None, s.rtol, s.atol, s.sanitize, s.limits,
            s.small is not None, s.reset_to_zero, s.restore, s.top, self.is_measured, s.cold,
            own_version(),
        )  # fmt: skip
        return hashlib.sha256(value_text(tuple(map(str, parts))).encode()).hexdigest()[:12]

    def _known(self) -> dict[str, Candidate]:
        """Return what the file of results has about this search's candidates."""
        known = self.records.find(self.key)
        if self.fresh or known is None:
            return {}
        return known.of_rules(self.rules, self.configurations)

    def _is_done(self, candidate: Candidate) -> bool:
        """Whether a candidate in the file need not be tried again. A lost one is tried once more,
        because its worker may have been ended for another reason."""
        if candidate.state is State.LOST:
            return candidate.tries > 1
        return candidate.state is not State.BUILT

    def _was_chosen(self) -> bool:
        known = self.records.find(self.key)
        best = None if known is None else known.best
        return best is not None and best.rules == self.rules and best.complete

    def _heading(self) -> dict[str, Any]:
        return {
            "space": len(self.configurations),
            "ranking": self.ranking,
            "names": list(self.space.names),
        }

    def _stops(self) -> bool:
        budget = self.settings.budget
        if budget is not None and time.monotonic() - self._begin > budget:
            self.stopped = f"the budget of {budget:g} s is used up"
        return bool(self.stopped)

    def _search(self, known: Mapping[str, Candidate], progress: Progress) -> None:
        s = self.settings
        with Workers(s.executor, s.workers, s.time_limit, s.memory_limit) as workers:
            todo = [text for text in self.configurations if text not in self.found]
            was_built = [text for text, each in known.items() if each.state is State.BUILT]
            built = [text for text in todo if text in was_built and not self.in_one_pass]
            self.found.update({text: known[text] for text in built})
            building = [text for text in todo if text not in built]
            progress.begin("compiling", len(self.configurations), len(self.found))
            self._pass(workers, building, self.in_one_pass, known, progress)
            self._rank()
            if self.runs and not self.in_one_pass and not self._stops():
                running = [t for t, each in self.found.items() if each.state is State.BUILT]
                progress.begin("running", len(running))
                self._pass(workers, running, True, known, progress)
        if self.is_measured and not self._stops():
            self._measure(progress)

    def _pass(
        self,
        workers: Workers,
        texts: list[str],
        runs: bool,
        known: Mapping[str, Candidate],
        progress: Progress,
    ) -> None:
        """Let workers compile candidates, and run them if `runs` says so."""
        if not texts:
            return
        rules = PassRules(runs, self.ranking, self.device.target)
        passed = Pass(
            self.tuned,
            self.call,
            settings=self.settings,
            rules=rules,
            workers=workers,
            keep=self._kept,
        )
        numbers = {text: number for number, text in enumerate(self.configurations)}
        chosen = {numbers[text]: self.configurations[text] for text in texts}
        baseline = self._baseline(runs, numbers)
        for number, outcome in passed.outcomes(chosen, baseline, self._stops, progress.tick):
            if number in baseline:
                continue  # what is known about it remains valid
            configuration = chosen[number]
            candidate = self._candidate(configuration, outcome)
            if candidate.state is State.LOST:
                before = known.get(str(configuration))
                tries = 1 if before is None else before.tries + 1
                candidate = replace(candidate, tries=tries)
            self._settle(str(configuration), candidate)
            if outcome.code is not None:
                keep_code(outcome.code, self.call, configuration, self.device.target)
            progress.add(candidate.seconds if candidate.state is State.FINE else None)

    def _baseline(self, runs: bool, numbers: Mapping[str, int]) -> dict[int, Configuration]:
        """Return the first candidate that an earlier search found to be fine. It is run again,
        because its results are needed and are not in the file."""
        if not (runs and self.settings.check) or self.settings.reference is not None:
            return {}
        ran = (State.FINE, State.DROPPED, State.SLOWER)
        known = [numbers[text] for text, each in self.found.items() if each.state in ran]
        if known:
            number = min(known)
            return {number: list(self.configurations.values())[number]}
        return {}

    def _settle(self, text: str, candidate: Candidate) -> None:
        self.found[text] = candidate
        self.records.add(self.key, self.rules, candidate)

    def _candidate(self, configuration: Configuration, outcome: Outcome) -> Candidate:
        state = outcome.state
        seconds = outcome.seconds if state is State.FINE else None
        if state is State.FINE and self.is_measured:
            state = State.BUILT  # until it is measured
        by = "model" if outcome.cycles is not None else self.ranking
        score = outcome.score if self.ranking != "model" else outcome.seconds
        return Candidate(
            configuration,
            state,
            reason=outcome.reason,
            facts=outcome.facts,
            score=score,
            cycles=outcome.cycles,
            seconds=seconds,
            by=by if state in (State.FINE, State.BUILT) else "",
            compile_seconds=outcome.compile_seconds,
            worker=outcome.worker,
        )

    def _rank(self) -> None:
        """Give scores by the user's function, and drop all but the first ones."""
        given, top = self.settings.ranking, self.settings.top
        open_ones = [t for t, c in self.found.items() if c.state in (State.BUILT, State.FINE)]
        if callable(given):
            for text in open_ones:
                each = self.found[text]
                score = float(given(each.configuration, each.facts))
                self.found[text] = replace(each, score=score)
        if top is None or self.stopped:
            return
        ranked = sorted(open_ones, key=lambda text: self.found[text].order[1:])
        for place, text in enumerate(ranked[top:], top + 1):
            reason = f"rank {place} by {self.ranking}, of which the first {top} continue"
            self._settle(text, replace(self.found[text], state=State.DROPPED, reason=reason))

    def _measure(self, progress: Progress) -> None:
        """Check and measure the remaining candidates on the GPU."""
        left = [each for each in self.found.values() if each.state is State.BUILT]
        progress.begin("measuring", len(left))
        for candidate in measured(
            left,
            self.call,
            settings=self.settings,
            device=self.device,
            stops=self._stops,
            count=progress.add,
        ):
            self._settle(str(candidate.configuration), candidate)

    def _finished(self) -> Tuning:
        """Choose the best candidate and write it to the file."""
        candidates = sorted(self.found.values(), key=lambda each: each.order)
        best = candidates[0] if candidates and candidates[0].state is State.FINE else None
        if best is None and (self.stopped or not (self.is_measured or self.runs)):
            built = [each for each in candidates if each.state is State.BUILT]
            best = min(built, key=lambda each: each.order[1:], default=None)
        tuning = Tuning(
            self.call.kernel.__name__,
            self.key,
            candidates=tuple(candidates),
            best=best,
            space=len(self.configurations),
            stopped=self.stopped,
            seconds=time.monotonic() - self._begin,
        )
        if best is None:
            raise TuningError(f"no candidate is left\n{tuning}")
        if not self._was_chosen() or self.fresh or self._is_new(best):
            complete = not self.stopped and len(candidates) == len(self.configurations)
            seconds = best.seconds
            chosen = Best(
                str(best.configuration), self.rules, by=best.by, seconds=seconds, complete=complete,
                space=len(self.configurations),
            )  # fmt: skip
            self.records.choose(self.key, chosen)
        return tuning

    def _is_new(self, best: Candidate) -> bool:
        known = self.records.find(self.key)
        return known is None or known.best is None or known.best.text != str(best.configuration)

    def _kept(self, contents: bytes, name: str, is_local: bool) -> bytes | Path:
        """Return the form in which workers get a pickle: the name of a file if they are on this
        machine."""
        if not is_local:
            return contents
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="amdjit-tuning-"))
        path = self._folder / f"{name}-{hashlib.sha256(contents).hexdigest()[:16]}"
        path.write_bytes(contents)
        return path
