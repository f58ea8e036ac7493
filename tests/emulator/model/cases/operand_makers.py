"""What an operand of an instruction may be, and where its values come from."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.emulator.model.cases.programs import MASK, SCALARS, SOURCES, VCC, Registers
from tests.emulator.model.families import is_gfx9
from tests.emulator.model.values import FLOATS, Bits, Numbers, width
from tests.emulator.model.waves import lane_bits, lane_mask, lanes_of_wave, mask_name

LITERALS = (0x40490FDB, 0xFFFF8003, 0x00000117, 0x12345678, 0xBE99999A)


INLINE_INTEGERS = (-3, 0, 1, 7, 64, -16)


INLINE_FLOATS = (0.5, -1.0, 2.0, -4.0)


_FORMATS = {16: "<e", 32: "<f", 64: "<d"}


@dataclass(frozen=True)
class Source:
    """An operand: how it is written, its patterns lane by lane, its type; `read` is not in the
    text."""

    text: str
    bits: Bits
    code: str


@dataclass(frozen=True)
class Lanes:
    """Lanes from elsewhere: the text, the source of each lane of a wave (None: none), and what
    happens then."""

    text: str
    sources: tuple[int | None, ...]
    zero: bool
    inactive: bool
    written: tuple[bool, ...]


class Maker:
    """Makes the cases of one program. `random` decides which of the many forms are tried."""

    def __init__(self, inputs: Registers, random: np.random.Generator) -> None:
        self._inputs = inputs
        self._random = random
        self._lanes = inputs.shape[1]

    def flip(self) -> bool:
        return bool(self._random.integers(2))

    def pick(self, *items: object) -> object:
        return items[self._random.integers(len(items))]

    # Operands

    def registers(self, first: int, dwords: int) -> Bits:
        low = self._inputs[first - SOURCES[0]].astype(np.uint64)
        if dwords == 1:
            return low
        return low | self._inputs[first + 1 - SOURCES[0]].astype(np.uint64) << np.uint64(32)

    def everywhere(self, value: int) -> Bits:
        return np.full(self._lanes, value & 0xFFFFFFFFFFFFFFFF, np.uint64)

    def lane_bits(self, mask: int) -> Numbers:
        return np.tile(lane_bits(lane_mask(mask)), self._lanes // lanes_of_wave())

    def vector(self, number: int, code: str, half: int, true16: bool = True) -> Source:
        first, size = SOURCES[number], _size(code)
        if size == 16 and true16:
            return Source(
                f"v{first}.{'lh'[half]}", self.registers(first, 1) >> np.uint64(16 * half), code
            )
        if size == 64:
            return Source(f"v[{first}:{first + 1}]", self.registers(first, 2), code)
        return Source(f"v{first}", self.registers(first, 1), code)

    def scalar(self, number: int, code: str) -> Source:
        first = 40 + 2 * number
        if _size(code) == 64:
            value = SCALARS[first] | SCALARS[first + 1] << 32
            return Source(f"s[{first}:{first + 1}]", self.everywhere(value), code)
        return Source(f"s{first}", self.everywhere(SCALARS[first]), code)

    def inline(self, code: str) -> Source:
        """Integers sign-extend; floats take the operand's own format."""
        size = _size(code)
        if code in FLOATS and self.flip():
            number = float(self.pick(*INLINE_FLOATS))  # type: ignore[arg-type]
            bits = int.from_bytes(struct.pack(_FORMATS[size], number), "little")
            return Source(str(number), self.everywhere(bits), code)
        integer = int(self.pick(*INLINE_INTEGERS))  # type: ignore[call-overload]
        return Source(str(integer), self.everywhere(integer & (1 << size) - 1), code)

    def literal(self, code: str) -> Source:
        """32 bits: the upper half of f64; 64-bit integers extend it by their sign, patterns by
        zeros."""
        value = int(self.pick(*LITERALS))  # type: ignore[call-overload]
        if _size(code) == 16:
            value &= 0xFFFF
        if code == "f64":
            bits = value << 32
        elif code == "i64":
            bits = value - (value >> 31 << 32)
        else:
            bits = value
        return Source(f"{value:#x}", self.everywhere(bits), code)

    def mask(self, register: str) -> Source:
        bits = self.lane_bits(VCC if register == "vcc_lo" else MASK)
        return Source(mask_name(register), bits.astype(np.uint64), "mask")

    # Other lanes

    def other_lanes(self, klass: str, result: str, extended: bool) -> Lanes:
        fetch = self.flip() and not is_gfx9()
        if klass == "dpp8":
            order = [int(value) for value in self._random.integers(0, 8, 8)]
            text = f" dpp8:[{','.join(map(str, order))}]{' fi:1' if fetch else ''}"
            sources = tuple(lane & ~7 | order[lane & 7] for lane in range(32))
            return Lanes(text, sources, True, fetch, (True,) * 32)
        name, sources, known = self._control() if klass == "dpp16" else self._broadcast()
        bound = self.flip() or result == "mask"
        rows, banks = (
            (15, 15) if result == "mask" else (int(x) for x in self._random.integers(1, 16, 2))
        )
        rows &= known
        text = f" {name} row_mask:{rows:#x} bank_mask:{banks:#x}"
        text += (" bound_ctrl:1" if bound else "") + (" fi:1" if fetch else "")
        written = tuple(
            bool(rows >> lane // 16 & 1 and banks >> lane // 4 % 4 & 1)
            for lane in range(lanes_of_wave())
        )
        return Lanes(text, sources, bound, fetch, written)

    def _broadcast(self) -> tuple[str, tuple[int | None, ...], int]:
        """The control that operations on 64 bits have, too."""
        place = int(self._random.integers(16))
        return f"row_newbcast:{place}", tuple(lane & ~15 | place for lane in range(64)), 15

    def _control(self) -> tuple[str, tuple[int | None, ...], int]:
        """A control, the source of each lane, and the rows for which the document names one."""
        amount = int(self._random.integers(1, 16))
        order = [int(value) for value in self._random.integers(0, 4, 4)]
        moves = {
            f"quad_perm:[{','.join(map(str, order))}]": lambda place: place & ~3 | order[place & 3],
            f"row_shl:{amount}": lambda place: place + amount,
            f"row_shr:{amount}": lambda place: place - amount,
            f"row_ror:{amount}": lambda place: (place - amount) % 16,
            "row_mirror": lambda place: 15 - place,
            "row_half_mirror": lambda place: place & 8 | 7 - (place & 7),
            f"row_share:{amount}": lambda place: amount,
            f"row_xmask:{amount}": lambda place: place ^ amount,
        }
        if is_gfx9():
            del moves[f"row_share:{amount}"], moves[f"row_xmask:{amount}"]
            if self.flip():
                return self._whole_wave()
        name = str(self.pick(*moves))
        places = [moves[name](lane % 16) for lane in range(lanes_of_wave())]
        sources = tuple(
            lane // 16 * 16 + place if 0 <= place < 16 else None
            for lane, place in enumerate(places)
        )
        return name, sources, 15

    def _whole_wave(self) -> tuple[str, tuple[int | None, ...], int]:
        """gfx9's shifts of whole waves, and its broadcasts to later rows (CDNA 3 ISA, table "DPP
        operations"); what rows without an earlier one get is not said."""
        moves: dict[str, tuple[Callable[[int], int], int]] = {
            "wave_shl:1": (lambda lane: lane + 1, 15),
            "wave_rol:1": (lambda lane: (lane + 1) % 64, 15),
            "wave_shr:1": (lambda lane: lane - 1, 15),
            "wave_ror:1": (lambda lane: (lane - 1) % 64, 15),
            "row_bcast:15": (lambda lane: (lane & 48) - 1, 14),
            "row_bcast:31": (lambda lane: (lane & 32) - 1, 12),
        }
        name = str(self.pick(*moves))
        source, known = moves[name]
        found = [source(lane) for lane in range(64)]
        return name, tuple(lane if 0 <= lane < 64 else None for lane in found), known


def _size(code: str) -> int:
    """Bits of the register operand: parts of a dword such as i24 take all of it."""
    size = width(code)
    return size if size in (16, 64) else 32
