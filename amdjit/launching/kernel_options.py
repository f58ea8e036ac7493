"""The options that a kernel was decorated with, made complete for one compilation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from amdjit.checking.sanitizing import ACTIVE
from amdjit.options import (
    CompileOptions,
    Environment,
    default_target,
    named_target,
    spelled_out,
)
from amdjit.target import Target

__all__ = ["KernelOptions", "checked_options"]


@dataclass(frozen=True)
class KernelOptions:
    """The options of a kernel's decorator, and the environment variables that complete them."""

    given: dict[str, Any]
    environment: Environment

    def target(self, name: str | None) -> Target:
        """Return the processor of this name; without a name the default one to compile for."""
        return named_target(name) if name is not None else default_target(self.environment)

    def complete(self, target: Target, **overrides: Any) -> CompileOptions:
        """Return the options of a compilation for a processor; OptionError for wrong ones."""
        chosen = {**self.given, **checked_options(overrides)}
        if chosen.get("bounds_check") is None:
            chosen["bounds_check"] = self.environment.debug
        return CompileOptions(target, **chosen)

    @property
    def launches_are_checked(self) -> bool:
        """Whether a launch made now is checked, so that each access needs its own line."""
        return bool(ACTIVE.get() or self.environment.sanitize or self.given.get("sanitize"))


def checked_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return a kernel's options as `CompileOptions` takes them; TypeError for unknown ones."""
    options = spelled_out(options)
    known = set(CompileOptions.__dataclass_fields__) - {"target"}
    unknown = sorted(set(options) - known)
    if unknown:
        raise TypeError(
            f"a kernel has no option {unknown[0]!r}; its options are {', '.join(sorted(known))}"
        )
    fastmath = options.get("fastmath")
    if isinstance(fastmath, (set, list, tuple)):
        return {**options, "fastmath": frozenset(fastmath)}
    return options
