"""`gate`: what holds of the conditions on kernels, and where what does not comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from amdjit.diagnostics import AmdjitError
from amdjit.testing.conditions import Condition, figure_of, parse_conditions
from amdjit.testing.measured import Measurable, Measured, measured, title_of

__all__ = ["Outcome", "gate", "outcomes"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A condition on one kernel, and what was found.

    kernel: its name. target: its processor, or target id. details: what tells it from others of its
    name: arguments, options, the launch. object: the file that it was read from, "" if from none.
    figure, operator, bound: the condition. value: the figure. holds: whether the condition is met.
    file, line: the source of most of the figure, None if the condition is met or no line is known.
    cause: further details of that place; may be empty.
    """

    kernel: str
    target: str
    details: tuple[str, ...]
    object: str
    figure: str
    operator: str
    bound: float
    value: float
    holds: bool
    file: str | None = None
    line: int | None = None
    cause: str = ""

    @property
    def title(self) -> str:
        """The kernel and what tells it from others."""
        return title_of(self.kernel, self.target, self.details)

    def __str__(self) -> str:
        """Figure, value and bound, such as `vgprs 140 <= 128` or `used_bytes 6 % >= 90 %`."""
        unit = " %" if figure_of(self.figure).unit == "%" else ""
        value, bound = number_text(self.value), number_text(self.bound)
        return f"{self.figure} {value}{unit} {self.operator} {bound}{unit}"


def number_text(number: float) -> str:
    """Return a figure as text: whole numbers whole, others with three digits."""
    return f"{int(number):,}" if number == int(number) else f"{number:,.3f}"


def gate(
    subject: Measurable, conditions: str, kernel: str = "*", target: str | None = None
) -> tuple[Outcome, ...]:
    """Return what was found of conditions, such as "vgprs<=128, spills==0", on kernels.

    subject: a kernel with all that it was compiled for; a compiled kernel; an inspection; a profile
    or one of its launches; the bytes of a code object; or the path of a file or folder, as `amdjit
    gate` takes it. kernel: which of the kernels, as a pattern. target: the processor whose code to
    take, None for all. There is one outcome for each kernel and condition on it.

    ConditionError for text that is no condition; NotKnown for a figure that the subject does not
    have; AmdjitError if there is no such kernel, or if a file is damaged.
    """
    return outcomes(measured(subject, target), parse_conditions(conditions), kernel)


def outcomes(
    kernels: Sequence[Measured], conditions: Sequence[Condition], pattern: str = "*"
) -> tuple[Outcome, ...]:
    """Return what was found of conditions on kernels whose names match a pattern."""
    chosen = [one for one in kernels if fnmatchcase(one.kernel, pattern)]
    for wanted in (pattern, *(one.kernel for one in conditions if one.kernel is not None)):
        if not any(fnmatchcase(one.kernel, wanted) for one in chosen):
            there = ", ".join(sorted({one.kernel for one in chosen or kernels}))
            raise AmdjitError(f"there is no kernel {wanted}, but {there}")
    return tuple(
        _outcome(one, condition)
        for one in chosen
        for condition in conditions
        if condition.is_about(one.kernel)
    )


def _outcome(kernel: Measured, condition: Condition) -> Outcome:
    figure = condition.figure
    value = figure.read(kernel)
    holds = condition.holds(value)
    found = Outcome(
        kernel.kernel,
        kernel.target,
        details=kernel.details,
        object=kernel.file,
        figure=figure.name,
        operator=condition.operator,
        bound=condition.bound,
        value=value,
        holds=holds,
    )
    if holds:
        return found
    cause = figure.cause_in(kernel)
    file, line = cause.place or (None, None)
    return replace(found, file=file, line=line, cause=cause.text)
