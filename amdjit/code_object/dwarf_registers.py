"""The registers of AMDGPU by their numbers in DWARF (LLVM AMDGPU guide, "Register Identifier")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Register", "register", "register_text"]


class Register(NamedTuple):
    """A register. bank: "v", "s", "a", or the name of a register that has no number."""

    bank: str
    number: int = 0


# The first number in DWARF, the bank, its first register, and how many: vector registers have
# numbers of their own in waves of 64 lanes.
_BANKS = (
    (32, "s", 0, 64),
    (1088, "s", 64, 42),
    (1536, "v", 0, 256),
    (2048, "a", 0, 256),
    (2560, "v", 0, 256),
    (3072, "a", 0, 256),
)
_NAMED = {1: "exec", 16: "pc", 17: "exec", 128: "status", 768: "vcc", 769: "vcc"}


def register(number: int) -> Register:
    """Return the register of a number in DWARF."""
    for first, bank, start, count in _BANKS:
        if first <= number < first + count:
            return Register(bank, start + number - first)
    return Register(_NAMED.get(number, f"register {number}"))


def register_text(registers: Sequence[Register]) -> str:
    """Return registers as the assembler writes them, `v[4:7]` for neighbours."""
    runs: list[list[Register]] = []
    for one in registers:
        last = runs[-1][-1] if runs else None
        if last is not None and len(one.bank) == 1 and one == (last.bank, last.number + 1):
            runs[-1].append(one)
        else:
            runs.append([one])
    return ", ".join(map(_run_text, runs))


def _run_text(run: list[Register]) -> str:
    first, last = run[0], run[-1]
    if len(first.bank) > 1:
        return first.bank
    if first is last:
        return f"{first.bank}{first.number}"
    return f"{first.bank}[{first.number}:{last.number}]"
