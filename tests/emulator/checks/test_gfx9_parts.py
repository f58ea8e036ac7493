"""Instructions that write a part of a register and keep the rest define that part."""

from __future__ import annotations

from typing import Any

import pytest

from tests.emulator.building import device, using
from tests.emulator.checks.checked_device import CheckedDevice
from tests.emulator.gfx9_instruction import random_words, run_gfx9
from tests.emulator.required_tools import needs_tools

_HALVES = {
    "v_cvt_scalef32_pk_fp8_f32 v9, v1, v2, v3": "gfx950",
    "v_cvt_scalef32_pk_bf8_f16 v9, v1, v3": "gfx950",
    "v_cvt_scalef32_f16_fp8 v9, v1, v3": "gfx950",
    "v_cvt_sr_f16_f32 v9, v1, v2": "gfx950",
    "v_bitop3_b16 v9, v1, v2, v3 bitop3:0x12": "gfx950",
    "v_ashr_pk_u8_i32 v9, v1, v2, v3": "gfx950",
    "v_cvt_pk_fp8_f32 v9, v1, v2": "gfx942",
}
_BYTES = {
    "v_cvt_scalef32_sr_fp8_f32 v9, v1, v2, v3": "gfx950",
    "v_cvt_scalef32_pk_fp4_f32 v9, v1, v2, v3": "gfx950",
    "v_cvt_sr_bf8_f32 v9, v1, v2": "gfx942",
}


def _select(text: str, number: int) -> str:
    """Return an instruction that writes a byte, or a half if the number is even."""
    count = text.partition(" bitop3")[0].count(",")
    third = f"{number & 1}," if count == 3 or text in _BYTES else ""
    return f"  {text} op_sel:[0,0,{third}{number >> 1}]\n"


def _kinds(cpu: str, body: str) -> list[str]:
    with using(cpu=cpu):
        checked: Any = CheckedDevice(device(), "init")
        with using(device=checked):
            run_gfx9(cpu, body, random_words(1, 4), (9,))
    return [report.kind for report in checked.reports]


@pytest.mark.sample(4)
@needs_tools
@pytest.mark.parametrize("text", _HALVES)
def test_two_halves_define_a_register(text: str) -> None:
    low, high = (_select(text, number) for number in (0, 2))
    assert _kinds(_HALVES[text], low + high) == []
    assert _kinds(_HALVES[text], high) == ["undefined-store"]
    undefined = low.replace("v1,", "v77,")
    assert _kinds(_HALVES[text], high + undefined) == ["undefined-store"]


@pytest.mark.sample(2)
@needs_tools
@pytest.mark.parametrize("text", _BYTES)
def test_four_bytes_define_a_register(text: str) -> None:
    parts = [_select(text, number) for number in range(4)]
    assert _kinds(_BYTES[text], "".join(parts)) == []
    assert _kinds(_BYTES[text], "".join(parts[:2])) == ["undefined-store"]
    undefined = parts[3].replace("v1,", "v77,")
    assert _kinds(_BYTES[text], "".join([*parts[:3], undefined])) == ["undefined-store"]
