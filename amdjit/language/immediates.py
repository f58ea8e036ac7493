"""What declarations write for the compile-time parameters of an intrinsic."""

from __future__ import annotations

from dataclasses import field

from amdjit.late_methods import dataclass


@dataclass(frozen=True, slots=True)
class Immediate:
    """Marks a parameter as a compile-time integer in lo..hi: `Annotated[int, Immediate(0, 7)]`.

    only: the allowed values, if these are not all in lo..hi. elsewhere: processors with other
    values, and these.
    """

    lo: int
    hi: int
    only: tuple[int, ...] | None = None
    elsewhere: tuple[tuple[tuple[str, ...], tuple[int, ...]], ...] = ()

    def on(self, target: str) -> Immediate:
        """Return the values that are allowed on a processor."""
        for processors, values in self.elsewhere:
            if target in processors:
                return Immediate(min(values), max(values), values)
        return self

    def __contains__(self, value: object) -> bool:
        inside = isinstance(value, int) and self.lo <= value <= self.hi
        return inside and (self.only is None or value in self.only)

    def __str__(self) -> str:
        if self.only is not None:
            return "one of the constants " + ", ".join(_runs(self.only))
        return f"a constant in {self.lo}..{self.hi}"


def _runs(values: tuple[int, ...]) -> list[str]:
    """Return ascending numbers as texts, four or more neighbours as `first..last`."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    texts = [
        [f"{run[0]}..{run[-1]}"] if len(run) >= 4 else [str(value) for value in run] for run in runs
    ]
    return [text for run in texts for text in run]


@dataclass(frozen=True, slots=True)
class Choice:
    """Marks a parameter as one of these compile-time strings: `Annotated[str, Choice("a",
    "b")]`."""

    values: tuple[str, ...] = field()

    def __init__(self, *values: str) -> None:
        object.__setattr__(self, "values", values)

    def __str__(self) -> str:
        return "one of " + ", ".join(repr(value) for value in self.values)
