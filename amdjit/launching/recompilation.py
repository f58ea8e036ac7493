"""Why a kernel was compiled again: what changed since an earlier compilation."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import partial

from amdjit.compiled_kernel import Argument, CompiledKernel, describe_argument
from amdjit.frontend import Dependency
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
    arguments: Sequence[Argument],
    names: Sequence[str],
) -> tuple[Change, ...]:
    """Return how a new compilation differs from the nearest earlier one; nothing for the first."""
    nearest: tuple[Callable[[], Change], ...] = ()
    for kernel in reversed(earlier):
        found = tuple(_differences(kernel, options, arguments, names))
        if not nearest or len(found) < len(nearest):
            nearest = found
        if len(nearest) == 1:  # no earlier compilation is the same
            break
    return tuple(describe() for describe in nearest)


def _differences(
    earlier: CompiledKernel,
    options: CompileOptions,
    arguments: Sequence[Argument],
    names: Sequence[str],
) -> Iterator[Callable[[], Change]]:
    """Yield what makes each change: texts are only needed of the nearest compilation."""
    for name, old, new in zip(names, earlier.arguments, arguments, strict=True):
        if old != new:
            yield partial(_changed_argument, name, old, new)
    if earlier.options != options:
        for field in fields(options):
            before, now = getattr(earlier.options, field.name), getattr(options, field.name)
            if before != now:
                yield partial(Change, f"option `{field.name}`", str(before), str(now))
    for read in earlier.reads:
        if not read.is_current():
            yield partial(_changed_read, read)


def _changed_argument(name: str, old: Argument, new: Argument) -> Change:
    texts = describe_argument(old), describe_argument(new)
    return Change(f"argument `{name}`", *_distinct(texts, old, new))


def _changed_read(read: Dependency) -> Change:
    texts = read.texts(reprlib.repr)
    return Change(read.description, *_distinct(texts, read.value, read.current()))


def _distinct(texts: tuple[str, str], old: object, new: object) -> tuple[str, str]:
    """Return two texts, with their types where they are the same."""
    if texts[0] != texts[1]:
        return texts
    return f"{texts[0]} ({type(old).__name__})", f"another {texts[1]} ({type(new).__name__})"
