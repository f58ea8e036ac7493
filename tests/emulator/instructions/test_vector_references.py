"""`arithmetic.reference` computes what the emulator does, and `arithmetic.certainty` says what the
captures show."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from amdjit import arithmetic
from amdjit.intrinsics.models.certainty import MEANING
from amdjit.intrinsics.models.vector_arithmetic import ROWS, known
from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import run_registers

_RESULTS = Path(__file__).parents[2] / "hardware" / "approximate_results.json"
_OF_ONE_WORD = [
    name for name in ROWS if not name.startswith(("v_s_", "v_tanh")) and "f64" not in name
]


@needs_tools
@pytest.mark.parametrize("name", _OF_ONE_WORD)
def test_a_reference_is_what_the_emulator_returns(name: str) -> None:
    is_half = name.endswith("f16")
    bits = np.random.default_rng(9).integers(0, 1 << 32, 1 << 13, np.uint32)
    if is_half:
        bits = np.arange(1 << 16, dtype=np.uint32)
    mode = "  s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 8), 0xf0\n"
    body = f"{mode}  v_mov_b32 v100, 0\n  {name}_e32 v100, v1\n"
    found = run_registers(body, bits[None], [100])[0]
    given = bits.astype(np.uint16) if is_half else bits
    np.testing.assert_array_equal(found, arithmetic.reference(name, given))


@needs_tools
@pytest.mark.parametrize("name", [name for name in ROWS if name.endswith("f64")])
def test_a_reference_of_f64_is_what_the_emulator_returns(name: str) -> None:
    words = np.random.default_rng(9).integers(0, 1 << 32, (2, 1 << 12), np.uint32)
    words[1, :12] = [0, 1 << 31, 0x7FF00000, 0xFFF00000, 0x7FF00001, 0xFFF80001] * 2
    words[0, :6] = 0
    body = f"  {name}_e32 v[100:101], v[1:2]\n"
    low, high = run_registers(body, words, [100, 101])
    given = np.ascontiguousarray(words.T).view(np.uint64)[:, 0]
    found = arithmetic.reference(name, given)
    np.testing.assert_array_equal(np.stack([low, high]), found.view(np.uint32).reshape(-1, 2).T)


def test_numbers_are_converted_and_keep_their_shape() -> None:
    found = arithmetic.reference("v_log_f32", [[1, 8.0], [0, 0.5]])
    np.testing.assert_array_equal(found, np.array([[0, 3], [-np.inf, -1]], np.float32))
    assert found.dtype == np.float32
    assert arithmetic.reference("v_exp_f16", np.float16(3)).shape == ()
    assert arithmetic.reference("v_exp_f16", np.float16(3)) == 8
    assert arithmetic.reference("v_tanh_f32", 0.5, "gfx1250") == np.float32(np.tanh(0.5))


@pytest.mark.parametrize(("kind", "least"), [("f32", 50), ("f16", 5)])
def test_single_results_of_a_chip_are_those_of_what_counts_as_measured(
    kind: str, least: int
) -> None:
    compared = 0
    for name, bits, expected, *settings in json.loads(_RESULTS.read_text())[kind]:
        instruction = f"v_{name.lower()}_{kind}"
        # Without modifiers, and with MODE's defaults.
        if not any(settings[:4]) and settings[4:] in ([], [3, 0]):
            given = np.array([bits], np.uint16 if kind == "f16" else np.uint32)
            assert arithmetic.reference(instruction, given)[0] == expected, (instruction, bits)
            assert arithmetic.certainty(instruction, "gfx1201") == "measured"
            compared += 1
    assert compared >= least


@pytest.mark.parametrize(
    ("name", "target", "expected"),
    [
        ("v_log_f32", None, "measured"),
        ("v_log_f32", "gfx1100", "measured"),
        ("v_log_f16", "gfx1100", "rule"),
        ("v_log_f32", "gfx1151", "rule"),
        ("v_sin_f32", "gfx942", "rule"),
        ("v_s_rcp_f16", "gfx1201", "measured"),
        ("v_s_rcp_f16", "gfx1250", "rule"),
        ("v_rcp_f64", "gfx942", "model"),
        ("v_tanh_f16", "gfx1250", "model"),
    ],
)
def test_only_what_was_captured_is_called_measured(
    name: str, target: str | None, expected: str
) -> None:
    assert arithmetic.certainty(name, target) == expected


def test_every_row_says_what_is_open_where_nothing_was_captured() -> None:
    for name, row in ROWS.items():
        assert row.otherwise.open
        assert row.otherwise.certainty in MEANING
        assert known(name, "gfx1250") == row.otherwise


@pytest.mark.parametrize(
    ("name", "target", "words"),
    [
        ("v_lag_f32", "gfx1201", "did you mean v_log_f32"),
        ("log", None, "such as v_log_f32"),
        ("V_LOG_F32", "gfx1201", "did you mean v_log_f32"),
        ("v_s_exp_f32", "gfx1100", "not an approximate instruction of gfx1100"),
        ("v_exp_f32", "gfx1", "gfx1"),
    ],
)
def test_what_a_processor_lacks_is_refused(name: str, target: str | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        arithmetic.reference(name, 1.0, target)


def test_numbers_and_bits_of_any_layout_are_read_as_what_they_are() -> None:
    numbers = np.array([[0.5, 3, -8], [1e-3, 7, 1e30]], np.float32)
    expected = arithmetic.reference("v_rcp_f32", numbers)
    swapped = arithmetic.reference("v_rcp_f32", numbers.astype(">f4"))
    assert (swapped == expected).all()
    assert (arithmetic.reference("v_rcp_f32", numbers.T[::-1]) == expected.T[::-1]).all()
    bits = arithmetic.reference("v_rcp_f32", numbers.view(np.uint32).astype(">u4"))
    assert bits.dtype == np.uint32
    assert (bits == expected.view(np.uint32)).all()
    assert arithmetic.reference("v_rcp_f32", 2).shape == ()
    with pytest.raises(TypeError, match="v_rcp_f32 has real operands"):
        arithmetic.reference("v_rcp_f32", [1 + 2j])
