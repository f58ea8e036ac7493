"""Which values the options of a compilation may have."""

from __future__ import annotations

import math
from typing import Any

from amdjit.diagnostics.errors import AmdjitError
from amdjit.target import Target, read_target

__all__ = [
    "FAST_MATH_FLAGS",
    "LANES_CHECK",
    "SANITIZER_CHECKS",
    "OptionError",
    "check_options",
    "checked_sanitize",
    "listed",
    "named_target",
]

# LLVM language reference, "Fast-Math Flags".
FAST_MATH_FLAGS = ("nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc")

# What the emulator can check launches for: docs/sanitizer.md.
SANITIZER_CHECKS = ("memory", "race", "init", "sync")
# Made only if it is named: races between the lanes of a wave, a part of the race check.
LANES_CHECK = "lanes"

# Options with two values. typing: whose rules for the types of literals and operators hold.
_ALTERNATIVES = {
    "denormals": ("preserve", "flush"),
    "f64_math": ("own", "ocml"),
    "typing": ("amdjit", "numba"),
}

# Limits that keep mistakes from costing hours or gigabytes: rounds of unrolled loops multiply code,
# each level of recursion is code of its own, and every launch allocates the buffer of prints.
_MOST_UNROLLED = 1024
_FEWEST_REGISTERS = 8
_DEEPEST_RECURSION = 256
_MOST_PRINTED = 2**30


class OptionError(AmdjitError, ValueError):
    """An option or environment variable is wrong; the message says which values are right."""


def check_options(options: Any) -> None:
    """Check each of the `CompileOptions`; OptionError for the first that is wrong."""
    _check_fastmath(options.fastmath)
    checked_sanitize(options.sanitize, "sanitize=")
    _check_block(options.block, options.target)
    _check_registers(options)
    target: Target = options.target
    if options.waves_per_eu is not None and not 1 <= options.waves_per_eu <= target.max_waves:
        raise OptionError(f"waves_per_eu={options.waves_per_eu}: give 1 to {target.max_waves}")
    if options.wave_size not in target.wave_sizes:
        raise OptionError(
            f"wave_size={options.wave_size}: {target} has {listed(target.wave_sizes)}"
        )
    if options.opt_level not in (0, 1, 2, 3):
        raise OptionError(f"opt_level={options.opt_level}: give 0, 1, 2 or 3")
    _check_language_options(options)


def named_target(name: str) -> Target:
    """Return the target of a name or target id, such as `gfx90a:xnack+`; OptionError with the
    known names, or for a setting that the processor lacks."""
    try:
        return read_target(name)
    except ValueError as error:
        raise OptionError(str(error)) from None


def checked_sanitize(checks: object, what: str) -> tuple[str, ...]:
    """Return names of checks in the order of the table; OptionError for an unknown one. The check
    of lanes is a part of the race check, and brings it along."""
    known = (*SANITIZER_CHECKS, LANES_CHECK)
    names = (
        (checks,)
        if isinstance(checks, str)
        else tuple(checks)
        if isinstance(checks, (tuple, list))
        else None
    )
    if names is None or not set(names) <= set(known):
        unknown = next((name for name in names or () if name not in known), checks)
        raise OptionError(f"{what}: there is no check {unknown!r}; there are {listed(known)}")
    wanted = {*names, "race"} if LANES_CHECK in names else set(names)
    return tuple(name for name in known if name in wanted)


def _check_fastmath(fastmath: bool | frozenset[str]) -> None:
    if isinstance(fastmath, bool):
        return
    unknown = sorted(set(fastmath) - set(FAST_MATH_FLAGS))
    if unknown:
        raise OptionError(
            f"fastmath: unknown {listed(unknown)}; there are {listed(FAST_MATH_FLAGS)}"
        )


def _check_block(block: int | tuple[int, ...] | None, target: Target) -> None:
    if block is None:
        return
    extents = block if isinstance(block, tuple) else (block,)
    sound = 1 <= len(extents) <= 3 and all(
        type(extent) is int and extent >= 1 for extent in extents
    )
    if not sound or math.prod(extents) > target.max_workgroup_size:
        raise OptionError(
            f"block={block!r}: give 1 to {target.max_workgroup_size} work-items, or up to 3 "
            "extents with that product"
        )


def _check_registers(options: Any) -> None:
    most = options.max_registers
    if most is not None and not (type(most) is int and most >= _FEWEST_REGISTERS):
        raise OptionError(
            f"max_registers={most!r}: give {_FEWEST_REGISTERS} VGPRs of a work-item or more"
        )


def _check_language_options(options: Any) -> None:
    for name in (
        "asserts",
        "wraparound",
        "division_check",
        "debug_variables",
        "warnings",
        "exact_lines",
        "local_checks",
    ):
        if type(getattr(options, name)) is not bool:
            raise OptionError(f"{name}={getattr(options, name)!r}: give True or False")
    if options.debug_variables and not options.debug_info:
        raise OptionError("debug_variables=True: it needs debug_info=True")
    for name in ("bounds_check", "inline"):
        if getattr(options, name) not in (None, True, False):
            raise OptionError(f"{name}={getattr(options, name)!r}: give True, False or None")
    for name, (first, second) in _ALTERNATIVES.items():
        if getattr(options, name) not in (first, second):
            raise OptionError(f'{name}={getattr(options, name)!r}: give "{first}" or "{second}"')
    if options.unroll is not None and not (
        type(options.unroll) is int and 1 <= options.unroll <= _MOST_UNROLLED
    ):
        raise OptionError(f"unroll={options.unroll!r}: give 1 to {_MOST_UNROLLED} rounds, or None")
    _check_recursion(options.max_recursion)
    if type(options.print_buffer) is not int or not 64 <= options.print_buffer <= _MOST_PRINTED:
        raise OptionError(
            f"print_buffer={options.print_buffer!r}: give 64 to {_MOST_PRINTED} bytes"
        )


def _check_recursion(deepest: object) -> None:
    if type(deepest) is not int or not 1 <= deepest <= _DEEPEST_RECURSION:
        raise OptionError(f"max_recursion={deepest!r}: give 1 to {_DEEPEST_RECURSION} calls")


def listed(names: object) -> str:
    """Return names as they stand in a message."""
    return ", ".join(map(str, names)) if isinstance(names, (list, tuple)) else str(names)
