"""Run instructions of gfx950 on the registers of whole waves, and read registers back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.emulator.building import assemble, emulate, using

Registers = NDArray[np.uint32]

LANES = 64
_ROW = 4 * LANES


def _moves(verb: str, registers: Sequence[int], base: int) -> list[str]:
    """Move rows of dwords between memory and registers; v255 is the lane's place in a row."""
    lines = []
    for register in registers:
        name = f"v{register}"
        move = f"{name}, v255, s[{base}:{base + 1}]"
        if verb == "store":
            move = f"v255, {name}, s[{base}:{base + 1}]"
        lines += [f"  global_{verb}_dword {move}", f"  v_add_u32 v255, {_ROW}, v255"]
    return lines


def run_on_gfx950(
    body: str,
    inputs: Registers,
    results: Sequence[int],
    first: int = 1,
    **options: Any,
) -> Registers:
    """Put `inputs` (registers by lanes, whole waves) into registers from `first` on; run `body`;
    return registers by lanes.

    EXEC is all ones before and after the body. v250 to v255 and s0 to s9 are taken; s10 and up are
    free. options: those of `assemble`.
    """
    rows, lanes = inputs.shape
    groups = lanes // LANES
    begin = [
        "  s_mov_b32 s8, s2",
        "  s_load_dwordx4 s[0:3], s[0:1], 0x0",
        "  s_waitcnt lgkmcnt(0)",
        f"  s_mul_i32 s4, s8, {_ROW * rows}",
        "  s_add_u32 s0, s0, s4",
        "  s_addc_u32 s1, s1, 0",
        f"  s_mul_i32 s4, s8, {_ROW * len(results)}",
        "  s_add_u32 s2, s2, s4",
        "  s_addc_u32 s3, s3, 0",
        "  v_and_b32 v250, 0x3ff, v0",
        "  v_lshlrev_b32 v250, 2, v250",
        "  v_mov_b32 v255, v250",
    ]
    loads = _moves("load", range(first, first + rows), 0)
    middle = ["  s_waitcnt vmcnt(0)", body, "  s_mov_b64 exec, -1", "  v_mov_b32 v255, v250"]
    text = "\n".join([*begin, *loads, *middle, *_moves("store", results, 2)])
    packed = np.ascontiguousarray(inputs.reshape(rows, groups, LANES).transpose(1, 0, 2))
    found = np.zeros((groups, len(results), LANES), np.uint32)
    code = assemble(text, cpu="gfx950", wave_size=LANES, **options)
    with using(cpu="gfx950"):
        emulate(code, "kernel", groups, LANES, [packed, found])
    return np.ascontiguousarray(found.transpose(1, 0, 2)).reshape(len(results), lanes)


def spread(values: Any) -> Registers:
    """Return values in as many whole waves as they need, repeated to fill the last one."""
    flat = np.asarray(values, np.uint32).ravel()
    return np.resize(flat, -(-len(flat) // LANES) * LANES)
