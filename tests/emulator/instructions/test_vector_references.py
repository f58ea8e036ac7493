"""`arithmetic.reference` computes what the emulator does, and `arithmetic.certainty` says what the
captures show."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from amdjit import arithmetic
from amdjit.intrinsics.models.certainty import MEANING
from amdjit.intrinsics.models.vector_arithmetic import ROWS, known, known_rows
from amdjit.isa.floats.scaled import SCALED_CONVERSIONS
from amdjit.isa.instruction import OperandSpec
from amdjit.isa.instruction_set import GFX11, GFX12, InstructionSet, instruction_set_of
from amdjit.isa.rows import modifiers_of, opcode_named
from tests.emulator.gfx9_instruction import run_gfx9
from tests.emulator.instructions.test_approximate_instructions import byte_hash, word_hash
from tests.emulator.instructions.test_emulator_gfx11 import run as run_gfx11
from tests.emulator.instructions.test_exact_captures import CUBE, MEDIANS, with_canonical_nans
from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import bits32, run_registers

_RESULTS = Path(__file__).parents[2] / "hardware" / "approximate_results.json"
_DIGESTS = {
    row["id"]: row["digest"]
    for row in json.loads((_RESULTS.parent / "exact_digests.json").read_text())["digests"]
}
_LANES = 1 << 12
# Those of the wave, and two at once, are elsewhere.
_KNOWN = known_rows("gfx1201")
_NAMES = [name for name in _KNOWN if not name.startswith(("v_s_", "v_dual_"))]
_OLDER = [
    name
    for name in known_rows("gfx1100")
    if name not in _KNOWN and not name.startswith("v_dual_") and "f64" not in name
]


def _samples(code: str, seed: int) -> NDArray[np.uint32]:
    """The dwords of operands: any bits, small numbers, and those around which results change."""
    random = np.random.default_rng(seed)
    words = random.integers(0, 1 << 32, (2 if code[1:] == "64" else 1, _LANES), np.uint32)
    if code == "f16":
        words[0] = random.permutation(1 << 16)[:_LANES]
        words[0, :8] = [0, 0x8000, 0x7C00, 0xFC00, 0x7C01, 0xFE00, 1, 0x83FF]
    elif code == "f32":
        small = random.uniform(-70000, 70000, _LANES // 2).astype(np.float32)
        words[0, 1::2] = (
            np.where(random.random(_LANES // 2) < 0.5, small, np.round(small * 2) / 2)
            .astype(np.float32)
            .view(np.uint32)
        )
        words[0, :8] = [0, 1 << 31, 0x7F800000, 0xFF800000, 0x7F800001, 0xFFC01234, 1, 0x807FFFFF]
    elif code == "f64":
        numbers = random.uniform(-3e9, 3e9, _LANES // 2) * 2.0 ** random.integers(
            -60, 9, _LANES // 2
        )
        words[:, 1::2] = numbers.view(np.uint32).reshape(-1, 2).T
        words[1, :6] = [0, 1 << 31, 0x7FF00000, 0xFFF00000, 0x7FF00001, 0xFFF80001]
        words[0, :6] = 0
    elif code == "mask":
        words &= 1
    elif code[0] == "i":
        words[0, ::2] = random.integers(-300, 300, _LANES // 2).astype(np.int32).view(np.uint32)
    return words


@pytest.mark.sample(45)
@needs_tools
@pytest.mark.parametrize("name", _NAMES)
def test_a_reference_is_what_the_emulator_returns(name: str) -> None:
    specs, inputs, wide = _inputs(name)
    body = _body(name, [len(words) for words in inputs], wide, {})
    found = run_registers(body, np.concatenate(inputs), [100, 101, 102])
    given = [_operand(spec.type, words) for spec, words in zip(specs, inputs, strict=True)]
    _compare(found, arithmetic.reference(name, *given), wide)


def _inputs(name: str) -> tuple[list[OperandSpec], list[NDArray[np.uint32]], bool]:
    """The operands of an instruction, samples of each, and whether a result has two registers."""
    opcode = opcode_named(name)
    specs = [spec for spec in opcode.operands[1:] if spec.read]
    inputs = [_samples(spec.type, seed) for seed, spec in enumerate(specs)]
    if len(inputs) == 3 and len({len(words) for words in inputs}) == 1:
        # Quotients, and sums that cancel.
        inputs[2][:, ::3] = inputs[0][:, ::3] ^ np.uint32(1)
    return specs, inputs, opcode.operands[0].dwords == 2


def _compare(found: NDArray[np.uint32], expected: Any, wide: bool, setting: str = "") -> None:
    """Compare v100 to v102 with a reference: the last is a mask."""
    if isinstance(expected, tuple) and expected[1].dtype == bool:
        np.testing.assert_array_equal(found[2], expected[1], setting)
        expected = expected[0]
    if isinstance(expected, tuple):
        np.testing.assert_array_equal(found[:2], [bits32(each) for each in expected], setting)
        return
    bits = np.ascontiguousarray(expected).view(f"u{expected.itemsize}")
    if wide:
        np.testing.assert_array_equal(found[:2], bits.view(np.uint32).reshape(-1, 2).T, setting)
    else:
        np.testing.assert_array_equal(found[0] & (1 << 8 * bits.itemsize) - 1, bits, setting)


@needs_tools
@pytest.mark.parametrize("name", _OLDER)
def test_a_reference_of_gfx11_is_what_the_emulator_returns(name: str) -> None:
    kind = name[-3:]
    words = np.concatenate([_samples(kind, seed)[:, :1024] for seed in range(3)])
    count = sum(spec.read for spec in opcode_named(name, GFX11).operands[1:])
    texts = ", ".join(f"v{1 + number}" for number in range(count))
    mode = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xf0\n"
    found = run_gfx11(f"{mode}  v_mov_b32 v4, 0\n  {name} v4, {texts}\n", words.T)
    given = [_operand(kind, each[None]) for each in words[:count]]
    np.testing.assert_array_equal(found, arithmetic.reference(name, *given, "gfx1100"))


# The settings of a reference, as keywords, and as what a kernel says.
Setting = dict[str, Any]
_OMOD = {1: "", 2: " mul:2", 4: " mul:4", 0.5: " div:2"}
_ROUNDINGS = ("nearest", "up", "down", "zero")
_DENORMALS = ("flush", "flush results", "flush operands", "preserve")


def _settings(name: str, sets: InstructionSet, count: int) -> list[Setting]:
    """Modifiers that an instruction has, and modes. Every third one lets gfx11 scale."""
    random = np.random.default_rng(sum(map(ord, name)))
    flags = modifiers_of(name, sets)
    specs = [spec for spec in opcode_named(name, sets).operands[1:] if spec.read]

    def signs(what: str) -> list[bool]:
        return [
            bool(
                flags.get(what, 0) >> number & 1
                and spec.role[:3] == "src"
                and random.random() < 0.4
            )
            for number, spec in enumerate(specs)
        ]

    def setting(number: int) -> Setting:
        scales = bool(flags.get("omod")) and number % 3 > 0
        older = sets.has_nan_modes
        return {
            "neg": signs("neg"),
            "abs": signs("abs"),
            "omod": [2, 4, 0.5][random.integers(3)] if scales else 1,
            "clamp": bool(flags.get("clamp")) and random.random() < 0.3,
            "rounding": _ROUNDINGS[random.integers(4)],
            "denormals": _DENORMALS[random.integers(2 if older and scales else 4)],
            "fp16_ovfl": random.random() < 0.5,
            **({"ieee": not scales, "dx10_clamp": random.random() < 0.5} if older else {}),
        }

    return [setting(number) for number in range(count)]


def _set_mode(setting: Setting, register: str) -> list[str]:
    """MODE's fields, which are the same for all formats."""
    mode = _ROUNDINGS.index(setting.get("rounding", "nearest")) * 5
    mode |= _DENORMALS.index(setting.get("denormals", "preserve")) * 0x50
    lines = [f"s_setreg_imm32_b32 hwreg({register}, 0, 8), {mode:#x}"]
    if "ieee" in setting:
        nans = setting["dx10_clamp"] | setting["ieee"] << 1
        lines.append(f"s_setreg_imm32_b32 hwreg({register}, 8, 2), {nans}")
    overflow = int(setting.get("fp16_ovfl", False))
    return [*lines, f"s_setreg_imm32_b32 hwreg({register}, 23, 1), {overflow}"]


def _signed(texts: Sequence[str], setting: Setting) -> list[str]:
    """Operands with their modifiers."""
    signs = zip(
        texts,
        setting.get("neg", [0] * len(texts)),
        setting.get("abs", [0] * len(texts)),
        strict=True,
    )
    return ["-" * negates + (f"|{text}|" if is_size else text) for text, negates, is_size in signs]


def _result_modifiers(setting: Setting) -> str:
    return " clamp" * setting.get("clamp", False) + _OMOD[setting.get("omod", 1)]


@needs_tools
@pytest.mark.parametrize("name", _NAMES)
def test_a_reference_has_modifiers_and_modes_as_the_emulator(name: str) -> None:
    specs, inputs, wide = _inputs(name)
    inputs = [words[:, :512] for words in inputs]
    given = [_operand(spec.type, words) for spec, words in zip(specs, inputs, strict=True)]
    for setting in _settings(name, GFX12, 6):
        body = _body(name, [len(words) for words in inputs], wide, setting)
        found = run_registers(body, np.concatenate(inputs), [100, 101, 102])
        _compare(found, arithmetic.reference(name, *given, **setting), wide, str(setting))


@needs_tools
@pytest.mark.parametrize("name", ["v_s_exp_f16", "v_s_rcp_f32", "v_s_rsq_f16", "v_s_log_f32"])
def test_a_reference_of_a_scalar_form_has_modifiers_and_modes_as_the_emulator(name: str) -> None:
    numbers = _samples(name[-3:], 1)[0, 2:11]
    given = _operand(name[-3:], numbers[None])
    for setting in _settings(name, GFX12, 6):
        lines = _set_mode(setting, "HW_REG_WAVE_MODE")
        for place, number in enumerate(numbers.tolist()):
            (text,) = _signed([f"s{30 + place}"], setting)
            lines.append(f"s_mov_b32 s{30 + place}, {number:#x}")
            lines.append(f"{name} s{50 + place}, {text}{_result_modifiers(setting)}")
        results = [f"s{50 + place}" for place in range(len(numbers))]
        found = run_registers("\n".join(lines), np.zeros((1, 32), np.uint32), [], results)
        expected = bits32(arithmetic.reference(name, given, **setting))
        np.testing.assert_array_equal(found[:, 0], expected, str(setting))


_OF_GFX11 = (
    "v_add_f32", "v_mul_f16", "v_fma_f32", "v_rcp_f32", "v_exp_f16", "v_sin_f32", "v_sqrt_f16",
    "v_min_f32", "v_max3_f16", "v_med3_f32", "v_ldexp_f16", "v_cvt_f16_f32", "v_cvt_f32_f16",
    "v_cvt_pk_rtz_f16_f32", "v_cvt_i32_f32", "v_div_fixup_f32", "v_fract_f32", "v_pack_b32_f16",
)  # fmt: skip


@needs_tools
@pytest.mark.parametrize("name", _OF_GFX11)
def test_a_reference_of_gfx11_has_modifiers_and_modes_as_the_emulator(name: str) -> None:
    specs = [spec for spec in opcode_named(name, GFX11).operands[1:] if spec.read]
    words = [_samples(spec.type, seed)[:, :256] for seed, spec in enumerate(specs)]
    given = [_operand(spec.type, each) for spec, each in zip(specs, words, strict=True)]
    rows = np.concatenate([*words, np.zeros((3 - len(words), 256), np.uint32)]).T
    for setting in _settings(name, GFX11, 6):
        texts = _signed([f"v{1 + number}" for number in range(len(specs))], setting)
        instruction = f"{name} v4, {', '.join(texts)}{_result_modifiers(setting)}"
        lines = [*_set_mode(setting, "HW_REG_MODE"), "v_mov_b32 v4, 0", instruction]
        found = run_gfx11("\n".join(lines) + "\n", rows)
        expected = arithmetic.reference(name, *given, "gfx1100", **setting)
        np.testing.assert_array_equal(found, bits32(expected), str(setting))


_BYTES = [
    f"v_cvt_{form}"
    for kind in ("fp8", "bf8")
    for form in (f"f32_{kind}", f"pk_f32_{kind}", f"pk_{kind}_f32", f"sr_{kind}_f32")
]


@needs_tools
@pytest.mark.parametrize(
    ("name", "cpu"),
    [
        *itertools.product(
            [*_BYTES, "v_mul_f32", "v_add_f16", "v_log_f32", "v_cvt_f16_f32"], ["gfx942", "gfx950"]
        ),
        *((name, "gfx950") for name in SCALED_CONVERSIONS),
    ],
)
def test_a_reference_of_cdna_has_modifiers_and_modes_as_the_emulator(name: str, cpu: str) -> None:
    sets = instruction_set_of(cpu)
    assert sets is not None
    specs = [spec for spec in opcode_named(name, sets).operands[1:] if spec.read]
    words = [_samples(spec.type, seed)[:, :256] for seed, spec in enumerate(specs)]
    if "scale" in name:
        # Of most quotients, and all but a few scales, the exponents are small.
        words[-1][0, 8:] = (words[-1][0, 8:] & 0x07FFFFFF) + 0x3C000000
    given = [_operand(spec.type, each) for spec, each in zip(specs, words, strict=True)]
    for setting in [{}, *_settings(name, sets, 4)]:
        lines = _set_mode(setting, "HW_REG_MODE")
        places = range(len(specs))
        for part in range(4):
            texts = _signed([f"v{1 + 4 * place + part}" for place in places], setting)
            at = (
                f"v[{100 + 2 * part}:{101 + 2 * part}]"
                if "pk_f32" in name
                else f"v{100 + 2 * part}"
            )
            lines += [f"v_mov_b32 v{100 + 2 * part}, 0"]
            lines.append(f"{name} {at}, {', '.join(texts)}{_result_modifiers(setting)}")
        rows = [row for each in words for row in each.reshape(4, 64)]
        found = run_gfx9(cpu, "\n".join(lines), rows, tuple(range(100, 108)))
        expected = arithmetic.reference(name, *given, cpu, **setting)
        results = expected if isinstance(expected, tuple) else (expected,)
        for number, result in enumerate(results):
            seen = found[number::2].reshape(-1)
            np.testing.assert_array_equal(seen, bits32(result), str(setting))


def test_modifiers_and_modes_do_what_they_say() -> None:
    x = np.float32([1.5, -0.25, 3])
    assert arithmetic.reference("v_mul_f32", x, x, neg=[True, False]).tolist() == [
        -2.25,
        -0.0625,
        -9,
    ]
    assert arithmetic.reference("v_mul_f32", -x, x, abs=[1, 0]).tolist() == [2.25, -0.0625, 9]
    assert arithmetic.reference("v_add_f32", x, x, neg=True, abs=True).tolist() == [-3, -0.5, -6]
    assert arithmetic.reference("v_add_f32", x, x, omod=0.5, clamp=True).tolist() == [1, 0, 1]
    tiny = np.float32(1e-40)
    assert arithmetic.reference("v_add_f32", tiny, 0, denormals="flush operands") == 0
    assert (
        arithmetic.reference("v_mul_f32", np.float32(1e-30), 1e-10, denormals="flush results") == 0
    )
    assert arithmetic.reference("v_mul_f32", np.float32(1e-30), 1e-10) > 0
    rounded = [arithmetic.reference("v_add_f32", 1, 1e-9, rounding=mode) for mode in _ROUNDINGS]
    assert [int(np.float32(each).view(np.uint32)) - 0x3F800000 for each in rounded] == [0, 1, 0, 0]
    assert arithmetic.reference("v_mul_f16", 300, 300, fp16_ovfl=True) == 65504
    assert arithmetic.reference("v_mul_f16", 300, 300) == np.inf
    nan = np.uint32(0x7F800001)
    for ieee, expected in ((True, 0x7FC00001), (False, 0x3F800000)):
        least = arithmetic.reference("v_min_f32", nan, np.float32(1), "gfx1100", ieee=ieee)
        assert least == expected
    kept = {"ieee": False, "denormals": "flush"}
    assert arithmetic.reference("v_add_f32", 1, 1, "gfx1100", omod=2) == 2
    assert arithmetic.reference("v_add_f32", 1, 1, "gfx1100", omod=2, **kept) == 4
    number = arithmetic.reference("v_add_f32", np.nan, 1, "gfx942", clamp=True, dx10_clamp=False)
    assert np.isnan(number)
    assert arithmetic.reference("v_add_f32", np.nan, 1, "gfx942", clamp=True) == 0


@pytest.mark.parametrize(
    ("name", "count", "setting", "words"),
    [
        ("v_cvt_f32_i32", 1, {"neg": True}, None),
        ("v_cvt_f32_i32", 1, {"neg": [True]}, "v_cvt_f32_i32 has no such modifier: neg"),
        ("v_cubeid_f32", 3, {"abs": [1, 0]}, "abs has 2 values for 3 operands"),
        (
            "v_sat_pk_u8_i16",
            1,
            {"omod": 2},
            "has no such modifier: omod",
        ),
        ("v_add_f32", 2, {"omod": 3}, "omod is 1, 2, 4 or 0.5, not 3"),
        ("v_add_f32", 2, {"rounding": "even"}, "rounding is 'nearest', 'up', 'down' or 'zero'"),
        ("v_add_f32", 2, {"denormals": "keep"}, "denormals is 'flush', 'flush results'"),
    ],
)
def test_settings_that_an_instruction_lacks_are_refused(
    name: str, count: int, setting: Setting, words: str | None
) -> None:
    if words is None:
        assert arithmetic.reference(name, *[2] * count, **setting) == 2
        return
    with pytest.raises(ValueError, match=re.escape(words)):
        arithmetic.reference(name, *[2] * count, **setting)


def _body(name: str, dwords: list[int], wide: bool, setting: Setting) -> str:
    """An instruction from v1 and up to v100 and v102; VCC is its last operand, or result."""
    places = [1 + sum(dwords[:number]) for number in range(len(dwords))]
    texts = _signed(
        [
            f"v{place}" if count == 1 else f"v[{place}:{place + 1}]"
            for place, count in zip(places, dwords, strict=True)
        ],
        setting,
    )
    lines = _set_mode(setting, "HW_REG_WAVE_MODE")
    lines += ["v_mov_b32 v100, 0", "v_mov_b32 v102, 0"]
    if "div_fmas" in name:
        lines.append(f"v_cmp_ne_u32 vcc_lo, 0, {texts.pop()}")
    result = ("v[100:101]" if wide else "v100") + ", vcc_lo" * ("div_scale" in name)
    lines.append(f"{name} {result}, {', '.join(texts)}{_result_modifiers(setting)}")
    if "div_scale" in name:
        lines.append("v_cndmask_b32 v102, 0, 1, vcc_lo")
    return "\n".join(lines)


def _operand(code: str, words: NDArray[np.uint32]) -> NDArray[Any]:
    bits = np.ascontiguousarray(words.T).view(np.uint64)[:, 0] if len(words) == 2 else words[0]
    return bits.astype(np.uint16) if code[1:] == "16" else bits


@pytest.mark.parametrize("name", ["cubeid_f32", "cubesc_f32", "cubetc_f32", "cubema_f32"])
def test_references_of_cube_coordinates_have_the_digests_of_the_chip(name: str) -> None:
    triples = np.array(list(itertools.product(CUBE, repeat=3)), np.uint32).T
    assert byte_hash(arithmetic.reference(f"v_{name}", *triples)) == _DIGESTS[f"{name}.none"]


def test_references_of_packed_halves_have_the_digests_of_the_chip() -> None:
    i = np.arange(65536, dtype=np.uint32)
    x, y = i | (65535 - i) << 16, i * np.uint32(0x7395A831) ^ np.uint32(0xA7925163)
    found = {
        "sat_pk_u8_i16.l": 0xCAFE0000 | arithmetic.reference("v_sat_pk_u8_i16", x).astype(np.uint32)
    }
    for variant in range(64):
        operands = []
        for place, word in enumerate((x, y)):
            bits = (word >> (16 if variant >> 4 + place & 1 else 0)).astype(np.uint16)
            bits = bits & 0x7FFF if variant >> place & 1 else bits
            operands.append(bits ^ 0x8000 if variant >> 2 + place & 1 else bits)
        found[f"pack_b32_f16.{variant}"] = arithmetic.reference("v_pack_b32_f16", *operands)
    for name, words in found.items():
        assert byte_hash(words.astype(np.uint32)) == _DIGESTS[name], name


@pytest.mark.parametrize(("which", "values"), MEDIANS)
def test_references_of_medians_have_the_digests_of_the_chip(
    which: str, values: tuple[int, ...]
) -> None:
    triples = np.array(list(itertools.product(values, repeat=3)), np.uint16).T[::-1]
    found = arithmetic.reference("v_med3_num_f16", *triples).astype(np.uint32) | 0xDEAD0000
    assert (
        word_hash(with_canonical_nans(found, np.array(False))) == _DIGESTS[f"med3_num_f16.{which}"]
    )


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
        ("v_cvt_f16_f32", "gfx1201", "measured"),
        ("v_cvt_f16_f32", "gfx1100", "rule"),
        ("v_cvt_pkrtz_f16_f32", "gfx942", "rule"),
        ("v_med3_f32", "gfx1100", "rule"),
        ("v_div_scale_f64", None, "measured"),
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
        if name in known_rows("gfx1250"):
            assert known(name, "gfx1250") == row.otherwise


@pytest.mark.parametrize(
    ("name", "target", "words"),
    [
        ("v_lag_f32", "gfx1201", "did you mean v_log_f32"),
        ("log", None, "such as v_log_f32"),
        ("V_LOG_F32", "gfx1201", "did you mean v_log_f32"),
        ("v_s_exp_f32", "gfx1100", "not an instruction of gfx1100 that has a reference"),
        ("v_cvt_f32_fp8", "gfx90a", "not an instruction of gfx90a"),
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
    with pytest.raises(TypeError, match="v_ldexp_f32 has 2 operands, not 1"):
        arithmetic.reference("v_ldexp_f32", 1.0)
    np.testing.assert_array_equal(
        arithmetic.reference("v_ldexp_f32", [[1], [2.5]], [3, -1], "gfx942"), [[8, 0.5], [20, 1.25]]
    )
    with pytest.raises(TypeError, match="v_rcp_f32 has real operands"):
        arithmetic.reference("v_rcp_f32", [1 + 2j])
