"""Checks of a declaration of an intrinsic, made where it is declared and not at its first use."""

from __future__ import annotations

import string
from collections.abc import Iterable

from amdjit.target import TARGETS

__all__ = ["check_names", "check_targets", "check_wave_sizes"]

_PROCESSORS = tuple(target.name for target in TARGETS)


def check_names(
    function: str, llvm_name: str, operands: Iterable[str], parameters: Iterable[str]
) -> None:
    """Raise TypeError if an LLVM name, such as `llvm.fma.{x}`, or an operand names no parameter."""
    known = tuple(parameters)
    if "{" in llvm_name:
        for _, name, _, _ in string.Formatter().parse(llvm_name):
            if name is not None and name not in (*known, "return"):
                raise TypeError(
                    f"{function}: {llvm_name!r} names {{{name}}}: there are "
                    f"{_listed((*known, 'return'))}"
                )
    for name in operands:
        if name not in known:
            raise TypeError(
                f"{function}: the operand {name!r} is not a parameter: there are {_listed(known)}"
            )


def check_targets(function: str, targets: object) -> None:
    """Raise TypeError unless targets is a tuple of names of processors, or None for all."""
    if targets is None:
        return
    if not isinstance(targets, tuple):
        raise TypeError(
            f"{function}: targets is a tuple of names, such as ('gfx1201',), not {targets!r}"
        )
    for name in targets:
        if name not in _PROCESSORS:
            raise TypeError(
                f"{function}: there is no processor {name!r}: there are {_listed(_PROCESSORS)}"
            )


def check_wave_sizes(function: str, wave_sizes: object) -> None:
    """Raise TypeError unless wave_sizes is a tuple of 32 and 64."""
    if (
        not isinstance(wave_sizes, tuple)
        or not wave_sizes
        or any(size not in (32, 64) for size in wave_sizes)
    ):
        raise TypeError(f"{function}: wave_sizes is (32,), (64,) or (32, 64), not {wave_sizes!r}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
