"""What registers, private memory and LDS hold, as values of the types that debug information
names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from amdjit.code_object.debug_info import Variable
from amdjit.emulator.stepping.launch import WaveState
from amdjit.isa.register_numbers import EXEC_LO, FIRST_AGPR, M0, SCC_SLOT, TTMP_FIRST, VCC_LO

__all__ = [
    "Place",
    "Registers",
    "Value",
    "place_of",
    "private_address",
    "read_value",
    "type_of",
]

# The types of C, by their names without qualifiers; a prefix of amdjit's says the rest.
_C_TYPES = {
    "char": "i1", "signed char": "i1", "unsigned char": "u1", "short": "i2", "int": "i4",
    "unsigned short": "u2", "unsigned int": "u4", "long": "i8", "unsigned long": "u8",
    "long long": "i8", "unsigned long long": "u8", "float": "f4", "double": "f8", "_Bool": "?",
    "_Float16": "f2", "bool": "?",
}  # fmt: skip
_NUMBER = re.compile(r"([iuf])(8|16|32|64)(?:x(\d+))?$")
_REGISTER = re.compile(r"([vsa])(\d+)$")
_SPAN = re.compile(r"([vsa])\[(\d+):(\d+)\]$")
_PRIVATE = re.compile(r"scratch\[(fp|s\d+)(?: \+ (\d+))?\]$")
_SPECIAL = {"vcc": VCC_LO, "exec": EXEC_LO, "m0": M0, "scc": SCC_SLOT}


def type_of(name: str) -> tuple[np.dtype[Any], int] | None:
    """Return the element of a type and how many there are; None for a type that has no numbers of a
    fixed size."""
    if name == "bf16":
        return np.dtype(ml_dtypes.bfloat16), 1
    if name == "boolean":
        return np.dtype(bool), 1
    found = _NUMBER.match(name)
    if found is not None:
        return np.dtype(f"{found[1]}{int(found[2]) // 8}"), int(found[3] or 1)
    if name in _C_TYPES:
        return np.dtype(_C_TYPES[name]), 1
    if " in LDS" in name:
        return np.dtype("u4"), 1
    return None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a variable is."""

    bank: str
    """v, s or a for registers, p for private memory, c for a constant."""
    first: int
    """The first register, the address in private memory, or the constant."""
    count: int = 1
    """How many registers, one after the other."""
    base: str = ""
    """The scalar register to which a private address is relative; fp for the frame's."""


def place_of(text: str) -> Place | None:
    """Return what a location in debug information means, None if it is another one."""
    for pattern in (_REGISTER, _SPAN):
        found = pattern.match(text)
        if found is not None:
            last = int(found[found.lastindex or 0])
            return Place(found[1], int(found[2]), last - int(found[2]) + 1)
    private = _PRIVATE.match(text)
    if private is not None:
        return Place("p", int(private[2] or 0), base=private[1])
    try:
        return Place("c", int(text))
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Value:
    """A variable at the present time."""

    name: str
    type: str
    """As the debug information calls it."""
    where: str
    """Its registers or its place in private memory."""
    lanes: NDArray[Any] | None
    """A row for each lane: a number, or several of a vector. None if it cannot be read."""
    is_uniform: bool = False
    """Whether it is one value for all lanes, in scalar registers or constant."""

    def of(self, lane: int) -> Any:
        """Return the value in a lane, None if it cannot be read."""
        return None if self.lanes is None else self.lanes[lane]


def private_address(place: Place, state: WaveState, frame: int | None) -> int | None:
    """Return a private address in each lane's memory, None if it is not known. frame: the address
    of the frame, None if that is not known."""
    base = frame if place.base == "fp" else Registers(state)[place.base]
    return None if base is None else int(base) + place.first


def read_value(
    variable: Variable, state: WaveState, private: NDArray[np.uint8], frame: int | None
) -> Value:
    """Read a variable of a wave. private: the private memory of its lanes. frame: the address of
    the function's frame there, None if it is not known."""
    place, kind = place_of(variable.registers), type_of(variable.type)
    if place is not None and place.bank == "p":
        address = private_address(place, state, frame)
        place = None if address is None else Place("p", address)
    if place is None or kind is None:
        return Value(variable.name, variable.type, variable.registers, None)
    lanes = _read(place, kind, state, private)
    is_uniform = place.bank in "sc"
    return Value(variable.name, variable.type, variable.registers, lanes, is_uniform)


def _read(
    place: Place, kind: tuple[np.dtype[Any], int], state: WaveState, private: NDArray[np.uint8]
) -> NDArray[Any] | None:
    dtype, count = kind
    lanes, size = state.vectors.shape[1], dtype.itemsize * count
    if place.bank == "c":
        return np.full(lanes, place.first).astype(dtype)
    if place.bank == "p":
        data = private[:, place.first : place.first + size]
    else:
        data = Registers(state).span(place).view(np.uint8)[:, :size]
    if data.shape[1] < size:
        return None
    found: NDArray[Any] = np.ascontiguousarray(data).view(dtype)
    return found[:, 0] if count == 1 else found


@dataclass(frozen=True, slots=True)
class Registers:
    """The registers of a wave: `registers["v3"]` is an array of lanes, `registers["s4"]` a number,
    so are exec, vcc, m0, scc and the ttmp registers. A register that there is not is a KeyError."""

    state: WaveState

    def __getitem__(self, name: str) -> Any:
        state = self.state
        found = _REGISTER.match(name)
        if found is not None:
            number = int(found[2])
            if found[1] == "s" and number < VCC_LO:
                return int(state.scalars[number])
            row = number + FIRST_AGPR // 2 * (found[1] == "a")
            if found[1] != "s" and number < 256 and row < len(state.vectors):
                return state.vectors[row].copy()
        if name in ("vcc", "exec"):
            low = _SPECIAL[name]
            high = int(state.scalars[low + 1]) if state.vectors.shape[1] > 32 else 0
            return int(state.scalars[low]) | high << 32
        if name in _SPECIAL:
            return int(state.scalars[_SPECIAL[name]])
        if re.fullmatch(r"ttmp\d+", name) and int(name[4:]) < 16:
            return int(state.scalars[TTMP_FIRST + int(name[4:])])
        raise KeyError(f"there is no register {name}")

    def span(self, place: Place) -> NDArray[np.uint32]:
        """Return the dwords of registers, a row for each lane."""
        lanes = self.state.vectors.shape[1]
        names = [f"{place.bank}{place.first + number}" for number in range(place.count)]
        columns = [np.broadcast_to(np.uint32(self[name]), (lanes,)) for name in names]
        return np.ascontiguousarray(np.stack(columns, axis=1))
