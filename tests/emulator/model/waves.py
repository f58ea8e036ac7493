"""How many lanes a wave has in tests of a family, and the masks of lanes in its programs.

Masks are written by their lower 32 bits; waves of 64 lanes have another pattern above.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tests.emulator.model.families import is_gfx9

_LOW = 0xFFFFFFFF
_UPPER = {"exec_lo": "exec_hi", "vcc_lo": "vcc_hi"}


def lanes_of_wave() -> int:
    """Return how many lanes a wave has."""
    return 64 if is_gfx9() else 32


def lane_mask(low: int) -> int:
    """Return the mask of a wave's lanes whose lower part is `low`."""
    if lanes_of_wave() == 32 or low & low - 1 == 0:
        return low
    return low | int(f"{low:032b}"[::-1], 2) << 32


def lane_bits(mask: int) -> NDArray[np.bool_]:
    """Return the bits of a wave's lanes."""
    return np.array([bool(mask >> lane & 1) for lane in range(lanes_of_wave())])


def set_mask(register: str, mask: int) -> list[str]:
    """Return the lines that set a mask, which is named by the register of its lower part."""
    lines = [f"  s_mov_b32 {register}, {mask & _LOW:#x}"]
    if lanes_of_wave() == 64:
        lines.append(f"  s_mov_b32 {_upper(register)}, {mask >> 32 & _LOW:#x}")
    return lines


def all_lanes() -> list[str]:
    """Return the lines that make all lanes active."""
    return ["  s_mov_b64 exec, -1" if lanes_of_wave() == 64 else "  s_mov_b32 exec_lo, -1"]


def mask_name(register: str) -> str:
    """Return how instructions name a mask."""
    if lanes_of_wave() == 32:
        return register
    if register in _UPPER:
        return register.partition("_")[0]
    return f"s[{register[1:]}:{int(register[1:]) + 1}]"


def copied_mask(register: str, to: str) -> list[str]:
    """Return the lines that keep a mask in another register."""
    wide = lanes_of_wave() == 64
    return [f"  s_mov_b{64 if wide else 32} {mask_name(to)}, {mask_name(register)}"]


def in_lanes(scalar: str, vector: str) -> list[str]:
    """Return the lines that put a scalar into each lane; of a pair the part with the lane's bit."""
    low, high = scalar, ""
    if scalar == "vcc":
        low, high = "vcc_lo", "vcc_hi"
    elif "[" in scalar:
        low, high = (f"s{number}" for number in scalar[2:-1].split(":"))
    lines = [f"  v_mov_b32 {vector}, {low}"]
    if high:
        lines += [
            "  s_mov_b64 s[96:97], exec",
            "  s_mov_b32 exec_lo, 0",
            f"  v_mov_b32 {vector}, {high}",
            "  s_mov_b64 exec, s[96:97]",
        ]
    return lines


def _upper(register: str) -> str:
    return _UPPER.get(register) or f"s{int(register[1:]) + 1}"
