"""Vector instructions that compilers seldom make, against Python's numbers or LLVM's constant
folding."""

from __future__ import annotations

import re
import struct
import subprocess

import numpy as np
import pytest

from tests.emulator.float_checks import F32, quiet_numpy, run32, same
from tests.emulator.model.floats import cube
from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import join64, run_registers, samples32, samples64, split64

pytestmark = [
    needs_tools,
    pytest.mark.usefixtures("each_tier"),
]
__all__ = ["quiet_numpy"]


def byte_lists(row: np.ndarray) -> np.ndarray:
    """Bytes of unsigned numbers, the lowest first, as wide integers."""
    return np.ascontiguousarray(row).view(np.uint8).reshape(len(row), -1).astype(np.int64)


def masked_sum(values: np.ndarray, references: np.ndarray, masked: bool) -> np.ndarray:
    difference = np.abs(values - references)
    return np.where(references == 0, 0, difference).sum(1) if masked else difference.sum(1)


def test_lerp_averages_bytes() -> None:
    rows = samples32(3)
    x, y, z = (byte_lists(row) for row in rows)
    expected = ((x + y + (z & 1)) >> 1).astype(np.uint8).view(np.uint32)[:, 0]
    found = run_registers("  v_lerp_u8 v100, v1, v2, v3", rows, [100])[0]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("clamp", ["", " clamp"])
def test_masked_differences_leave_out_bytes_of_0(clamp: str) -> None:
    rows = samples32(3)
    rows[1] &= np.uint32(0xFF00FFFF)
    total = masked_sum(byte_lists(rows[0]), byte_lists(rows[1]), True) + rows[2]
    expected = np.minimum(total, 0xFFFFFFFF) if clamp else total & 0xFFFFFFFF
    found = run_registers(f"  v_msad_u8 v100, v1, v2, v3{clamp}", rows, [100])[0]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.covering(1)
@pytest.mark.parametrize("clamp", ["", " clamp"])
@pytest.mark.parametrize("name", ["v_qsad_pk_u16_u8", "v_mqsad_pk_u16_u8"])
def test_four_differences_in_words(name: str, clamp: str) -> None:
    wide, addend = samples64(2)
    references = np.resize(samples32(1)[0], len(wide)) & np.uint32(0x00FFFFFF)
    found = run_registers(
        f"  {name} v[100:101], v[1:2], v3, v[4:5]{clamp}",
        np.stack([*split64(wide), references, *split64(addend)]),
        [100, 101],
    )
    values, wanted = byte_lists(wide), byte_lists(references)
    for part in range(4):
        total = masked_sum(values[:, part : part + 4], wanted, name.startswith("v_mq"))
        total += (addend >> np.uint64(16 * part) & np.uint64(0xFFFF)).astype(np.int64)
        expected = np.minimum(total, 0xFFFF) if clamp else total & 0xFFFF
        np.testing.assert_array_equal(found[part // 2] >> 16 * (part % 2) & 0xFFFF, expected)


def test_four_differences_in_dwords() -> None:
    rows = samples32(7)
    body = "  v_mqsad_u32_u8 v[100:103], v[1:2], v3, v[4:7]"
    found = run_registers(body, rows, [100, 101, 102, 103])
    values = np.concatenate([byte_lists(rows[0]), byte_lists(rows[1])], axis=1)
    for part in range(4):
        total = masked_sum(values[:, part : part + 4], byte_lists(rows[2]), True) + rows[3 + part]
        np.testing.assert_array_equal(found[part], total & 0xFFFFFFFF)


@pytest.mark.parametrize(
    ("which", "name"),
    [(0, "v_cubeid_f32"), (1, "v_cubesc_f32"), (2, "v_cubetc_f32"), (3, "v_cubema_f32")],
)
def test_cube_instructions_find_face_and_coordinates(which: int, name: str) -> None:
    rows = samples32(3).view(F32)
    same(run32(f"{name} v100, v1, v2, v3", *rows), cube(which)(*rows))


def test_mullit_gives_the_product_or_the_lowest_number() -> None:
    x, y, z = samples32(3).view(F32)
    lowest = np.finfo(F32).min
    expected = np.where((y > lowest) & (z > 0), x * y, lowest)
    same(run32("v_mullit_f32 v100, v1, v2, v3", x, y, z), expected)


def folded_constants(cases: list[tuple[float, int]]) -> np.ndarray:
    """Return LLVM's constant folding of the constants of range reduction."""
    text = "declare double @llvm.amdgcn.trig.preop.f64(double, i32)\n"
    for index, (number, segment) in enumerate(cases):
        bits = struct.pack(">d", number).hex()
        call = f"call double @llvm.amdgcn.trig.preop.f64(double 0x{bits.upper()}, i32 {segment})"
        text += f"define double @f{index}() {{ %r = {call} ret double %r }}\n"
    command = ["opt-22", "-mtriple=amdgcn", "-mcpu=gfx1201", "-passes=instcombine", "-S"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return np.array([literal(value) for value in re.findall(r"ret double (\S+)", done.stdout)])


def _shift(number: float, segment: int) -> int:
    exponent = int.from_bytes(struct.pack("<d", number), "little") >> 52 & 0x7FF
    return 53 * segment + max(0, exponent - 1077)


def literal(text: str) -> float:
    return (
        struct.unpack(">d", bytes.fromhex(text[2:].zfill(16)))[0]
        if text.startswith("0x")
        else float(text)
    )


def test_constants_of_range_reduction() -> None:
    exponents = np.concatenate([np.arange(-60, 1024, 7), np.full(10, 1000)])
    numbers = np.ldexp(np.full(len(exponents), -1.37), exponents)
    cases = [(float(number), segment) for number in numbers for segment in (0, 1, 2, 3, 7, 19, 30)]
    cases += [(float("inf"), segment) for segment in range(32)] + [
        (0.0, segment) for segment in range(32)
    ]
    # From there on LLVM gives 0, while the ISA document has bits up to 1201.
    cases = [case for case in cases if _shift(*case) < 1120]
    cases = cases[: len(cases) // 32 * 32]
    numbers = np.array([case[0] for case in cases])
    segments = np.array([case[1] for case in cases], np.uint32)
    found = run_registers(
        "  v_trig_preop_f64 v[100:101], v[1:2], v3",
        np.stack([*split64(numbers), segments]),
        [100, 101],
    )
    same(join64(*found, np.float64), folded_constants(cases))
