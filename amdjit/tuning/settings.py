"""The settings of `amdjit.autotune`, checked."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict

from amdjit.options import SANITIZER_CHECKS, OptionError, checked_sanitize

__all__ = ["GivenSettings", "Limits", "Settings", "made_settings", "with_overrides"]

RANKINGS = ("model", "static")
UNTUNED = ("tune", "first", "refuse")
Key = str | Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a compiled candidate may need; others are pruned."""

    spills: int | None = 0
    """How many registers may be spilled; None for any number."""
    scratch: int | None = None
    """How many bytes of private memory a work-item may have; None for any number."""
    min_waves: int = 1
    """Waves that a SIMD must hold."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a kernel is tuned. docs/tuning.md says what each means."""

    key: tuple[Key, ...] = ()
    """Names of arguments, or functions of the arguments: another result is searched and stored for
    each of their values."""
    where: Callable[[Any], object] | None = None
    """Which configurations of the space are allowed."""
    prune: Callable[[Any, Any], Iterable[Mapping[str, Any]]] | None = None
    """Gets the configurations and the arguments, and returns the configurations to search."""
    limits: Limits = Limits()
    """What a compiled candidate may need; others are pruned."""
    max_configs: int | None = None
    """How many configurations to draw at random; None for all."""
    seed: int = 0
    """The seed of that draw."""
    ranking: str | Callable[[Any, Any], float] | None = None
    """"model", "static", or a function of configuration and facts; lower is better."""
    top: int | None = None
    """How many of the best by the ranking are run; None for all."""
    small: Callable[[Any], Mapping[str, Any]] | None = None
    """Gets the arguments, and returns a smaller call for the emulator."""
    check: bool = True
    """Whether candidates' results are compared."""
    reference: Any = None
    """The right results: arrays by name, or a function of the arguments; None for those of the
    first candidate in the order of the space (`checking`)."""
    rtol: float | None = None
    """Replaces the tolerance of the comparison."""
    atol: float | None = None
    """Replaces the tolerance of the comparison."""
    sanitize: tuple[str, ...] = ()
    """The checks of the emulator under which candidates run."""
    restore: tuple[str, ...] = ()
    """Arrays that get their contents back before each launch."""
    reset_to_zero: tuple[str, ...] = ()
    """Arrays that are filled with zeros before each launch."""
    pre_hook: Callable[[Any], object] | None = None
    """Called with the arguments before each launch."""
    post_hook: Callable[[Any], object] | None = None
    """Called with the arguments after each launch."""
    executor: Any = field(default=None, compare=False)
    """Where candidates are compiled and run; None for processes of amdjit's own."""
    workers: int | None = None
    """How many tasks run at a time; None for as many as the executor has workers."""
    time_limit: float = 300.0
    """Seconds after which the worker of a task is killed."""
    memory_limit: int | None = None
    """Bytes of a worker's address space; None for its share of the machine's memory."""
    budget: float | None = None
    """Seconds after which the search ends with the best candidate so far; None for no limit."""
    progress: bool | None = None
    """Whether to show progress; None for terminals and notebooks only."""
    cache: Path | None = None
    """The file of results; None for the one in the cache folder."""
    untuned: str | None = None
    """What a launch without a result does: "tune", "first" or "refuse"; None: "tune" on a GPU,
    "first" on the emulator."""
    warm_up: int = 3
    """Launches before measuring."""
    samples: int = 30
    """Measured samples of each candidate."""
    cold: bool = False
    """Whether caches are overwritten before each sample."""

    def __post_init__(self) -> None:
        self._check_numbers()
        if isinstance(self.ranking, str) and self.ranking not in RANKINGS:
            raise OptionError(f'ranking={self.ranking!r}: give "model", "static" or a function')
        if self.untuned is not None and self.untuned not in UNTUNED:
            raise OptionError(f'untuned={self.untuned!r}: give "tune", "first" or "refuse"')
        for name in ("where", "prune", "small", "pre_hook", "post_hook"):
            value = getattr(self, name)
            if value is not None and not callable(value):
                raise OptionError(f"{name}={value!r}: give a function")
        wrong = [each for each in self.key if not (isinstance(each, str) or callable(each))]
        if wrong:
            raise OptionError(f"key=: {wrong[0]!r} is neither a name nor a function")

    def _check_numbers(self) -> None:
        for name, least in _WHOLE.items():
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < least):
                raise OptionError(f"{name}={value!r}: give a whole number from {least}")
        for name in ("time_limit", "budget", "rtol", "atol"):
            value = getattr(self, name)
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if value is not None and (not is_number or not value >= 0):
                raise OptionError(f"{name}={value!r}: give a number that is not negative")


_WHOLE = {
    "max_configs": 1, "top": 1, "seed": 0, "workers": 1, "memory_limit": 1 << 20, "warm_up": 0,
    "samples": 1,
}  # fmt: skip


class GivenSettings(TypedDict, total=False):
    """The settings as users give them, for type checkers."""

    key: Key | Iterable[Key]
    where: Callable[[Any], object] | None
    prune: Callable[[Any, Any], Iterable[Mapping[str, Any]]] | None
    limits: Limits | Mapping[str, Any]
    max_configs: int | None
    seed: int
    ranking: str | Callable[[Any, Any], float] | None
    top: int | None
    small: Callable[[Any], Mapping[str, Any]] | None
    check: bool
    reference: Any
    rtol: float | None
    atol: float | None
    sanitize: bool | str | Iterable[str]
    restore: str | Iterable[str]
    reset_to_zero: str | Iterable[str]
    pre_hook: Callable[[Any], object] | None
    post_hook: Callable[[Any], object] | None
    executor: Any
    workers: int | None
    time_limit: float
    memory_limit: int | None
    budget: float | None
    progress: bool | None
    cache: str | PathLike[str] | None
    untuned: str | None
    warm_up: int
    samples: int
    cold: bool


def made_settings(given: dict[str, Any]) -> Settings:
    """Return the settings that keywords give; OptionError for a wrong one."""
    known = [each.name for each in dataclasses.fields(Settings)]
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise OptionError(f"autotune has no {name}=; it has {', '.join(known)}.{hint}")
    return Settings(**{name: _read(name, value) for name, value in given.items()})


def with_overrides(settings: Settings, given: dict[str, Any]) -> Settings:
    """Return the settings, overridden by those of one search."""
    return dataclasses.replace(settings, **_as_given(made_settings(given), given))


def _as_given(settings: Settings, given: dict[str, Any]) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in given}


def _read(name: str, value: Any) -> Any:
    if name in ("key", "restore", "reset_to_zero"):
        return _names(name, value)
    if name == "sanitize":
        checks = SANITIZER_CHECKS if value is True else value or ()
        return checked_sanitize(checks, "sanitize=")
    if name == "cache" and value is not None:
        if not isinstance(value, (str, PathLike)):
            raise OptionError(f"cache={value!r}: give the path of a file")
        return Path(value)
    if name == "limits":
        return _limits(value)
    return value


def _names(name: str, value: Any) -> tuple[Any, ...]:
    listed = (value,) if isinstance(value, str) or callable(value) else tuple(value or ())
    if name != "key" and not all(isinstance(each, str) for each in listed):
        raise OptionError(f"{name}={value!r}: give names of parameters")
    return listed


def _limits(value: Any) -> Limits:
    if isinstance(value, Limits):
        return value
    names = [each.name for each in dataclasses.fields(Limits)]
    if not isinstance(value, Mapping) or not set(value) <= set(names):
        raise OptionError(f"limits={value!r}: give a dictionary with some of {', '.join(names)}")
    return Limits(**value)
