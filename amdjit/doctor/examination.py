"""Asks all questions of the doctor, in the order of the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from amdjit.doctor import cache_findings, driver, hip_findings, software
from amdjit.doctor.child import Child, Ended
from amdjit.doctor.finding import Finding, State
from amdjit.doctor.hip_findings import smoke_findings
from amdjit.doctor.machine import Machine
from amdjit.options import OptionError, default_target, read_environment
from amdjit.target import EMULATED

__all__ = ["QUESTIONS", "SECONDS", "Examination", "Question", "exit_code"]

SECONDS = 120.0
"""How long HIP, and the kernels of a device, may take, in seconds."""

Question = Callable[["Examination"], Iterable[Finding]]


class Examination:
    """Asks all questions of a machine. seconds: what a process may take before it counts as hung.
    all_emulators: whether kernels run on every emulator, not only on the one that is the default.
    """

    def __init__(
        self, machine: Machine, seconds: float = SECONDS, all_emulators: bool = False
    ) -> None:
        self.machine = machine
        self.seconds = seconds
        self.all_emulators = all_emulators
        self._children: dict[str, Child] = {}

    def findings(self) -> Iterator[Finding]:
        """Yield each answer as soon as it is there."""
        try:
            if self.can_start:
                # They run while the questions about files are being answered.
                if self.machine.has_hip_python:
                    self._start("survey")
                self._start(self.emulators()[0])
            for question in QUESTIONS:
                yield from question(self)
        finally:
            for child in self._children.values():
                child.abandon()

    @cached_property
    def can_start(self) -> bool:
        """Whether amdjit can read its settings. If it cannot, none of its processes can start."""
        try:
            read_environment(self.machine.variables)
        except OptionError:
            return False
        return True

    @cached_property
    def survey(self) -> Ended:
        """What HIP reports; nothing if it cannot be asked."""
        if not self.can_start or not self.machine.has_hip_python:
            return Ended((), "", "")
        return self._start("survey").finish(self.seconds)

    def emulators(self) -> list[str]:
        """Return the names of the emulators that kernels are to run on, the default one first."""
        default = default_target(self.machine.environment())
        chosen = self.machine.environment().device or ""
        first = chosen if chosen.startswith("emulator:") else f"emulator:{default}"
        others = [f"emulator:{target}" for target in EMULATED] if self.all_emulators else []
        return list(dict.fromkeys([first, *others]))

    def smoke(self) -> Iterator[Finding]:
        """Run kernels on each device, in a process of its own."""
        if not self.can_start:
            found = "not run: amdjit does not start with these settings"
            yield Finding("kernels", State.NOTE, found)
            return
        for name in (*hip_findings.usable(self.survey), *self.emulators()):
            run = self._start(name).finish(self.seconds)
            yield from smoke_findings(self.machine, name, run)

    def _start(self, name: str) -> Child:
        """Return the process that surveys HIP or runs kernels on a device. It is started if it does
        not run yet."""
        if name not in self._children:
            what = ("amdjit.doctor.survey",) if name == "survey" else ("amdjit.doctor.smoke", name)
            self._children[name] = Child(*what, variables=self.machine.variables)
        return self._children[name]


QUESTIONS: tuple[Question, ...] = (
    lambda asked: software.python(asked.machine),
    lambda asked: software.packages(asked.machine),
    lambda asked: software.llvm(asked.machine),
    lambda asked: software.settings(asked.machine),
    lambda asked: cache_findings.cache(asked.machine),
    lambda asked: driver.driver(asked.machine),
    lambda asked: driver.device_files(asked.machine),
    lambda asked: hip_findings.hip_library(asked.machine, asked.survey),
    lambda asked: hip_findings.gpus(asked.machine, asked.survey),
    lambda asked: hip_findings.pytorch(asked.machine, asked.survey),
    lambda asked: hip_findings.default_device(asked.machine, asked.survey),
    lambda asked: asked.smoke(),
)
"""One for each thing that may be wrong."""


def exit_code(findings: Iterable[Finding]) -> int:
    """Return 1 if something does not work that should, else 0."""
    return int(any(finding.state is State.PROBLEM for finding in findings))
