"""Why a kernel was compiled again: what changed since an earlier compilation."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Sequence
from dataclasses import fields

from amdjit.compiled_kernel import CompiledKernel, describe_argument
from amdjit.late_methods import dataclass
from amdjit.options import CompileOptions


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: what has changed, with its old and new value as text."""

    what: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.what}: {self.old} -> {self.new}"


def changes(
    earlier: Sequence[CompiledKernel],
    options: CompileOptions,
    arguments: Sequence[object],
    names: Sequence[str],
) -> tuple[Change, ...]:
    """Return how a new compilation differs from the nearest earlier one; nothing for the first."""
    candidates = [
        tuple(_differences(kernel, options, arguments, names)) for kernel in reversed(earlier)
    ]
    return min(candidates, key=len, default=())


def _differences(
    earlier: CompiledKernel,
    options: CompileOptions,
    arguments: Sequence[object],
    names: Sequence[str],
) -> Iterator[Change]:
    for name, old, new in zip(names, earlier.arguments, arguments, strict=True):
        if old != new:
            texts = describe_argument(old), describe_argument(new)  # type: ignore[arg-type]
            yield Change(f"argument `{name}`", *_distinct(texts, old, new))
    for field in fields(options):
        before, now = getattr(earlier.options, field.name), getattr(options, field.name)
        if before != now:
            yield Change(f"option `{field.name}`", str(before), str(now))
    for read in earlier.reads:
        if not read.is_current():
            yield Change(
                read.description, *_distinct(read.texts(reprlib.repr), read.value, read.current())
            )


def _distinct(texts: tuple[str, str], old: object, new: object) -> tuple[str, str]:
    """Return two texts, with their types where they are the same."""
    if texts[0] != texts[1]:
        return texts
    return f"{texts[0]} ({type(old).__name__})", f"another {texts[1]} ({type(new).__name__})"
