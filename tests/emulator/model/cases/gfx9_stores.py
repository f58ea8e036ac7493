"""gfx9's stores and atomics of scalar registers (CDNA 3 ISA, S_STORE_* and S_ATOMIC_*): one access
by a wave to memory of its own, which the model changes, too."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from tests.emulator.building import emulate, own_parts
from tests.emulator.model.cases.memory_programs import buffer_words
from tests.emulator.model.cases.programs import SCALARS
from tests.emulator.model.families import assembled, has
from tests.emulator.model.gfx9 import ACCESSES
from tests.emulator.model.memory import Access, Atomic, Store
from tests.emulator.model.waves import lanes_of_wave

_REGION, _RESULT = 64, 16
_CASE = _REGION + _RESULT
_DATA = 40
_NAMES = (
    "swap",
    "cmpswap",
    "add",
    "sub",
    "smin",
    "umin",
    "smax",
    "umax",
    "and",
    "or",
    "xor",
    "inc",
    "dec",
)


@cache
def _table() -> dict[str, Access]:
    table: dict[str, Access] = {}
    for prefix in ("s", "s_buffer"):
        for dwords, name in ((1, "dword"), (2, "dwordx2"), (4, "dwordx4")):
            table[f"{prefix}_store_{name}"] = Store(4 * dwords)
        for name in _NAMES:
            for suffix in ("", "_x2"):
                table[f"{prefix}_atomic_{name}{suffix}"] = ACCESSES[f"global_atomic_{name}{suffix}"]
    return table


def scalar_stores() -> tuple[str, ...]:
    """Return the accesses that the family has."""
    return tuple(name for name in _table() if has(name))


def run_scalar_stores(
    waves: int, random: np.random.Generator, times: int, misled: bool
) -> tuple[list[str], int]:
    """Run accesses at places of their own; return what is wrong, and how many there were."""
    names = [name for name in scalar_stores() for _ in range(times)]
    places = [8 * int(random.integers(6)) for _ in names]
    before = random.integers(0, 1 << 32, (waves, max(len(names), 1), _CASE // 4), np.uint32)
    _let_some_match(names, places, before)
    output = before.copy()
    lines = [f"  s_mov_b32 s{number}, {value:#x}" for number, value in SCALARS.items()]
    for number, (name, place) in enumerate(zip(names, places, strict=True)):
        lines += _lines(number, name, place, bool(random.integers(2)))
    head = own_parts(4, _CASE * max(len(names), 1))
    text = "\n".join([head, "  v_mov_b32 v20, 0", *lines, "  s_dcache_wb", ""])
    arguments = [np.zeros(waves, np.uint32), output]
    emulate(assembled(text), "kernel", waves, lanes_of_wave(), arguments)
    found = [
        _wrong(name, place, before[:, number] ^ np.uint32(misled), output[:, number])
        for number, (name, place) in enumerate(zip(names, places, strict=True))
    ]
    return [text for text in found if text], len(names)


def _let_some_match(names: list[str], places: list[int], before: NDArray[np.uint32]) -> None:
    """In the first wave every compare and swap finds what it looks for."""
    for number, (name, place) in enumerate(zip(names, places, strict=True)):
        if "cmpswap" in name:
            dwords = 2 if name.endswith("_x2") else 1
            for part in range(dwords):
                before[0, number, place // 4 + part] = SCALARS[_DATA + dwords + part]


def _lines(number: int, name: str, place: int, by_register: bool) -> list[str]:
    base = number * _CASE
    lines = [f"  s_add_co_u32 s50, s2, {base:#x}", "  s_add_co_ci_u32 s51, s3, 0"]
    address = "s[50:51]"
    if "buffer" in name:
        address = "s[52:55]"
        lines += ["  s_mov_b32 s52, s50", "  s_and_b32 s53, s51, 0xffff"]
        lines += [f"  s_movk_i32 s54, {_REGION}", f"  s_mov_b32 s55, {buffer_words():#x}"]
    lines += [f"  s_mov_b32 s{60 + part}, s{_DATA + part}" for part in range(4)]
    lines += [f"  s_mov_b32 s58, {place}"]
    access = _table()[name]
    dwords = access.size // 4 * (access.operands if isinstance(access, Atomic) else 1)
    data = "s60" if dwords == 1 else f"s[60:{59 + dwords}]"
    tail = " glc" if isinstance(access, Atomic) else ""
    lines.append(f"  {name} {data}, {address}, {'s58' if by_register else hex(place)}{tail}")
    lines += ["  s_wait_kmcnt 0x0"]
    lines += [f"  v_mov_b32 v{22 + part}, s{60 + part}" for part in range(4)]
    return [*lines, f"  global_store_b128 v20, v[22:25], s[50:51] offset:{_REGION}"]


def _wrong(name: str, place: int, before: NDArray[np.uint32], after: NDArray[np.uint32]) -> str:
    access = _table()[name]
    for wave in range(len(before)):
        memory = bytearray(before[wave, : _REGION // 4].tobytes())
        registers = [SCALARS[_DATA + part] for part in range(4)]
        old = int.from_bytes(memory[place : place + access.size], "little")
        if isinstance(access, Atomic):
            dwords = access.size // 4
            given = [_joined(registers[first : first + dwords]) for first in (0, dwords)]
            new = access.compute(old, *given[: access.operands])
            registers[:dwords] = [old >> 32 * part & 0xFFFFFFFF for part in range(dwords)]
        else:
            new = _joined(registers)
        new &= (1 << 8 * access.size) - 1
        memory[place : place + access.size] = new.to_bytes(access.size, "little")
        expected = [*np.frombuffer(bytes(memory), np.uint32), *registers]
        if after[wave].tolist() != [int(value) for value in expected]:
            return f"{name} at {place}: wave {wave}: {after[wave]} for {expected}"
    return ""


def _joined(dwords: list[int]) -> int:
    return sum(value << 32 * part for part, value in enumerate(dwords))
