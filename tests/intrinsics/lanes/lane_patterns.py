"""Where lanes read from, lane by lane in plain Python from the ISA document, and what rocWMMA's
tests are about.

rocWMMA checks broadcasts, reversals, rotations, shifts, shuffles and swaps of 2 to 32 lanes, by
each of the ways that the machine has, with all kinds of masks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Values = np.ndarray[Any, Any]

QUADS = {
    "broadcast": [lane * 0b01010101 for lane in range(4)], "reverse": [0b00011011, 0b10110001],
    "rotate": [0b00111001, 0b01001110, 0b10010011], "shuffle": [0b11011000, 0b01110010, 0b00001111],
    "swap": [0b01001110],
}  # fmt: skip
DPP = {
    **{f"quad {name}": controls for name, controls in QUADS.items()},
    "shift left": list(range(0x101, 0x110)),
    "shift right": list(range(0x111, 0x120)),
    "rotate": list(range(0x121, 0x130)),
    "reverse": [0x140, 0x141],
    "broadcast": list(range(0x150, 0x160)),
    "swap": list(range(0x160, 0x170)),
}
EVERY_CONTROL = [
    *range(0x100),
    *(control for name, all_ in DPP.items() if "quad" not in name for control in all_),
]
MASKS = [
    (rows, banks, zero)
    for rows in (0xF, 0x5, 0xA)
    for banks in (0xF, 0x7, 0x3)
    for zero in (False, True)
]
# and, or, xor masks of ds_swizzle: rocWMMA's swizzles that a mask can say.
SWIZZLES = {
    **{f"broadcast in {2 * size}": (31 & -2 * size, size, 0) for size in (1, 2, 4, 8, 16)},
    **{f"reverse in {size}": (31, 0, size - 1) for size in (2, 4, 8, 16, 32)},
    **{f"swap of {size}": (31, 0, size) for size in (1, 2, 4, 8, 16)},
    "shuffle": (0b10101, 0b00010, 0b01000),
}


def dpp_source(lane: int, control: int) -> int | None:
    """Return the lane that a DPP control reads; None outside of the row (RDNA4 ISA, "DPP16")."""
    row, place, count = lane // 16 * 16, lane % 16, control & 15
    if control <= 0xFF:
        return lane // 4 * 4 + (control >> 2 * (lane % 4)) % 4
    sources = {
        0x10: place + count, 0x11: place - count, 0x12: (place - count) % 16,
        0x14: 7 - place % 8 + place // 8 * 8 if count else 15 - place, 0x15: count,
        0x16: place ^ count,
    }  # fmt: skip
    source = sources[control >> 4]
    return row + source if 0 <= source < 16 else None


def dpp(old: Values, value: Values, active: Values, case: tuple[int, int, int, bool]) -> Values:
    """Return what update.dpp leaves in each lane that is active; the others keep `old`."""
    control, rows, banks, zero = case
    result = old.copy()
    for lane in np.flatnonzero(active).tolist():
        if not (rows >> lane // 16 % 4 & 1 and banks >> lane % 16 // 4 & 1):
            continue
        source = dpp_source(lane, control)
        if source is not None and active[source]:
            result[lane] = value[source]
        elif zero:
            result[lane] = 0
    return result


def swizzle(value: Values, active: Values, masks: tuple[int, int, int]) -> Values:
    """Return what ds_swizzle reads: 0 from lanes that are inactive."""
    found = np.zeros_like(value)
    for lane in range(len(value)):
        source = lane // 32 * 32 + ((lane % 32 & masks[0] | masks[1]) ^ masks[2])
        found[lane] = value[source] if active[source] else 0
    return found
