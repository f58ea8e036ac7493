"""The options that a kernel was decorated with, made complete for one compilation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from amdjit.checking.sanitizing import ACTIVE
from amdjit.language.launch_numbers import NO_WIDTHS, NUMBA_WIDTHS
from amdjit.late import late
from amdjit.late_methods import dataclass
from amdjit.launching.option_spellings import spelled_out, with_waves
from amdjit.options import (
    CompileOptions,
    Environment,
    OptionError,
    default_target,
    named_target,
)
from amdjit.target import Target
from amdjit.types import Scalar, Type

if TYPE_CHECKING:
    import difflib
else:
    difflib = late("difflib")

__all__ = ["KernelOptions", "UnknownOptionError", "checked_options"]


class UnknownOptionError(OptionError, TypeError):
    """There is no option of this name: also a TypeError, as for any unknown keyword."""


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
        return CompileOptions(target, **with_waves(chosen, target))

    @property
    def number_widths(self) -> Mapping[Type, Scalar]:
        """The types of Python's numbers; empty if they take the types of the other operands in the
        kernel."""
        return NUMBA_WIDTHS if self.given.get("typing") == "numba" else NO_WIDTHS

    @property
    def launches_are_checked(self) -> bool:
        """Whether a launch made now is checked, so that each access needs its own line."""
        return bool(ACTIVE.get() or self.environment.sanitize or self.given.get("sanitize"))


def checked_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return a kernel's options as `CompileOptions` takes them; UnknownOptionError for
    unknown ones."""
    options = spelled_out(options)
    known = {"min_blocks", *CompileOptions.__dataclass_fields__} - {"target"}
    unknown = sorted(set(options) - known)
    if unknown:
        near = difflib.get_close_matches(unknown[0], known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UnknownOptionError(
            f"a kernel has no option {unknown[0]!r}; its options are {', '.join(sorted(known))}."
            f"{hint}"
        )
    return options
