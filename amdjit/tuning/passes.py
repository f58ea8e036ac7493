"""One pass over candidates in workers: the work on each, and its outcome."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from amdjit.backend.prestart import code_cache
from amdjit.compiler import store_built
from amdjit.diagnostics import AmdjitError
from amdjit.options import OptionError, read_environment
from amdjit.target import Target
from amdjit.tuning.calls import Call
from amdjit.tuning.candidates import State
from amdjit.tuning.checking import Checker, reference_results
from amdjit.tuning.comparing import Tolerance
from amdjit.tuning.configurations import Configuration, Namespace
from amdjit.tuning.errors import TuningError
from amdjit.tuning.keys import source_digest
from amdjit.tuning.running import Workers
from amdjit.tuning.sending import by_name, dumps, sent
from amdjit.tuning.settings import Settings
from amdjit.tuning.tasks import Code, Outcome, Payload, Work, store_of

__all__ = ["Pass", "PassRules", "keep_code"]

Keep = Callable[[bytes, str, bool], bytes | Path]


@dataclass(frozen=True, slots=True)
class PassRules:
    """What a pass does."""

    runs: bool
    """Whether candidates are launched."""
    ranking: str
    """The ranking that needs their scores."""
    target: Target


@dataclass(frozen=True)
class Pass:
    """One pass over candidates."""

    tuned: Any
    call: Call
    settings: Settings
    rules: PassRules
    workers: Workers
    keep: Keep
    """Takes a pickle, its name and whether workers are on this machine; returns the form in which
    they get it."""

    def outcomes(
        self,
        chosen: Mapping[int, Configuration],
        baseline: Mapping[int, Configuration],
        stops: Callable[[], bool],
        tick: Callable[[], None],
    ) -> Iterator[tuple[int, Outcome]]:
        """Yield the outcomes of candidates, by their numbers in the space. baseline: a candidate
        that runs first, because the others are compared with its results."""
        s, checks = self.settings, self.rules.runs and self.settings.check
        expected = reference_results(s.reference, self.arguments) if checks else None
        order = {**baseline, **chosen}
        checker = Checker(
            list(order),
            Tolerance(s.rtol, s.atol),
            expected,
            lambda contents: self.keep(contents, "expected", self.workers.is_own),
        )
        tasks = []
        for number, configuration in order.items():
            try:
                work = self._work(configuration)
            except (AmdjitError, OptionError) as problem:
                if isinstance(problem, TuningError):
                    raise
                yield from checker.offer(number, Outcome(State.REFUSED, str(problem)))
                continue
            tasks.append((number, _maker(work, checker)))
        for number, outcome in self.workers.outcomes(tasks, stops, tick):
            yield from checker.offer(number, outcome)
        yield from checker.finish()

    def _work(self, configuration: Configuration) -> Callable[[bytes | Path | None], Work]:
        """Return a function that makes a candidate's work; LaunchError if it cannot be launched."""
        call, small, s, rules = self.call, self.small, self.settings, self.rules
        shape, whole = small.shape(configuration), call.shape(configuration)
        parameters = {name: configuration[name] for name in call.names.parameters}

        def make(expected: bytes | Path | None) -> Work:
            return Work(
                payload=self.payload,
                values=parameters,
                options=small.options(configuration),
                order=call.kernel.parameter_names,
                shape=shape,
                digest=self._digest,
                device=f"emulator:{rules.target}",
                limits=s.limits,
                runs=rules.runs,
                scores=rules.ranking == "static",
                estimates=rules.ranking == "model",
                returns_results=s.check,
                whole=None if s.small is None else whole,
                growth=self.growth,
                tolerance=Tolerance(s.rtol, s.atol),
                expected=expected,
                sanitize=s.sanitize,
                store=own_store(),
            )

        return make

    @cached_property
    def _digest(self) -> str:
        return source_digest(self.call.kernel)

    @cached_property
    def small(self) -> Call:
        """The call that workers make: with the arguments of `small=`, if that is given."""
        if self.settings.small is None:
            return self.call
        if self.settings.reference is not None and not callable(self.settings.reference):
            raise OptionError(
                "small=: the results of a smaller call are not those of the whole one: give "
                "reference= as a function of the arguments"
            )
        if not callable(self.call.grid):
            raise OptionError(
                "small=: the grid follows from the arguments, so give it as a function, such as "
                "lambda c: (c.n // c.BN, c.m // c.BM)"
            )
        return self.call.with_arguments(self.settings.small(Namespace(self.call.arguments)))

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The arguments that workers get."""
        return sent(self.small.arguments)

    @cached_property
    def payload(self) -> bytes | Path:
        """What all workers get."""
        s = self.settings
        whole = Payload(
            by_name(self.tuned), self.arguments, s.reset_to_zero, s.pre_hook, s.post_hook
        )
        contents = dumps(whole, f"`{self.call.kernel.__name__}` with its arguments")
        return self.keep(contents, "arguments", self.workers.is_own)

    @cached_property
    def growth(self) -> float:
        """The ratio of the bytes of the whole call's arguments to those of the workers'."""

        def total(call: Call) -> int:
            return sum(int(getattr(each, "nbytes", 0)) for each in call.arguments.values())

        return total(self.call) / max(1, total(self.small))


def _maker(make: Callable[[bytes | Path | None], Work], checker: Checker) -> Callable[[], Work]:
    """Return a function that makes the work when it is submitted, with the results to compare with
    if they are known by then."""
    return lambda: make(checker.sent)


# Code that workers compiled is put into this process's cache, so that nothing is compiled twice.


def own_store() -> str:
    """Return the name of this process's cache."""
    cache = code_cache(read_environment(os.environ))
    return store_of(cache.directory, cache.version)


def keep_code(code: Code, call: Call, configuration: Configuration, target: Target) -> None:
    """Put code that another machine has compiled into this process's cache."""
    options = call.kernel.complete_options(target, **call.options(configuration))
    store_built(code.llvm, code.optimized, code.code_object, options, read_environment(os.environ))
