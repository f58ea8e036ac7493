"""gfx950's conversions with a scale, against tables of the numbers that ml_dtypes knows."""

from __future__ import annotations

import numpy as np
import pytest

from amdjit.diagnostics.errors import KernelFault
from tests.emulator.gfx950_registers import Registers, run_on_gfx950, spread
from tests.emulator.scaled_float_model import SMALL, WIDE, Bits, narrowed, prng, widened

PAIRS = ("fp8", "bf8", "fp4")
SIXES = ("fp6", "bf6")
# Scales of all kinds; the last one is NaN.
SCALES = np.array([0, 1, 60, 110, 126, 127, 128, 141, 200, 254, 255], np.uint32)


def _scale(exponents: Bits, seed: int = 5) -> Bits:
    """Floats with these exponents; their other bits do not count."""
    random = np.random.default_rng(seed)
    return exponents << 23 | random.integers(0, 1 << 32, exponents.shape, np.uint32) & 0x807FFFFF


def _grid(bits: Bits) -> tuple[Bits, Bits]:
    """Every number with some scales, in whole waves."""
    return spread(np.tile(bits, len(SCALES))), _scale(spread(np.repeat(SCALES, len(bits))))


def _random(shape: tuple[int, ...], seed: int = 7) -> Bits:
    return np.random.default_rng(seed).integers(0, 1 << 32, shape, np.uint32)


def _singles(to: str) -> Bits:
    """All numbers of a format, the middles of neighbours, what lies beside them, and any f32."""
    form = SMALL[to]
    points = np.concatenate([form.steps, (form.steps[1:] + form.steps[:-1]) / 2])
    bits = points.astype(np.float32).view(np.uint32)
    near = np.concatenate([bits - 1, bits, bits + 1, [1, 0x7F800000, 0x7F800001, 0x7FC01234]])
    both = np.concatenate([near, near | np.uint32(1 << 31)])
    scaled = (np.ldexp(np.float32(1), np.arange(-12, 13)) * np.float32(1.3)).view(np.uint32)
    return np.concatenate([both, scaled, _random((512,))]).astype(np.uint32)


def _numbers(of: str, to: str) -> Bits:
    """All numbers of 16 bits, those of `_singles` of 32."""
    return _singles(to) if of == "f32" else np.arange(1 << 16, dtype=np.uint32)


@pytest.mark.parametrize("of", PAIRS)
def test_every_code_is_widened_with_every_scale(of: str) -> None:
    codes = np.arange(1 << SMALL[of].bits, dtype=np.uint32)
    scales = np.arange(256, dtype=np.uint32)
    code, scale = np.tile(codes, 256), _scale(np.repeat(scales, len(codes)))
    both = code | code[::-1] << SMALL[of].bits | 0xFFFF0000
    body = "\n".join(
        f"  v_cvt_scalef32_pk_{to}_{of} {target}, v1, v2"
        for to, target in (("f32", "v[10:11]"), ("f16", "v12"), ("bf16", "v13"))
    )
    found = run_on_gfx950(body, np.stack([both, scale]), [10, 11, 12, 13])
    halves = {"f16": found[2], "bf16": found[3]}
    for place, part in enumerate((code, code[::-1])):
        np.testing.assert_array_equal(found[place], widened(part, scale, of, "f32"))
        for to, packed in halves.items():
            np.testing.assert_array_equal(
                packed >> 16 * place & 0xFFFF, widened(part, scale, of, to)
            )


@pytest.mark.parametrize("of", SIXES)
def test_every_code_of_6_bits_is_widened_32_at_once(of: str) -> None:
    codes = _random((6, 1024))
    scale = _scale(np.resize(np.arange(256, dtype=np.uint32), 1024))
    body = "\n".join(
        f"  v_cvt_scalef32_pk32_{to}_{of} v[{first}:{last}], v[2:7], v8"
        for to, first, last in (("f32", 20, 51), ("f16", 60, 75), ("bf16", 80, 95))
    )
    results = [*range(20, 52), *range(60, 76), *range(80, 96)]
    found = run_on_gfx950(body, np.vstack([codes, scale]), results, first=2)
    for number, code in enumerate(_sixes(codes)):
        np.testing.assert_array_equal(found[number], widened(code, scale, of, "f32"))
        for first, to in ((32, "f16"), (48, "bf16")):
            part = found[first + number // 2] >> 16 * (number % 2) & 0xFFFF
            np.testing.assert_array_equal(part, widened(code, scale, of, to))


def _sixes(dwords: Registers) -> list[Bits]:
    """The 6-bit codes that registers hold, one after the other."""
    wide = [row.astype(object) for row in dwords]
    whole = sum(row << 32 * index for index, row in enumerate(wide))
    return [(whole >> 6 * index & 63).astype(np.uint32) for index in range(16 * len(dwords) // 3)]


@pytest.mark.sample(5)
@pytest.mark.parametrize("of", WIDE)
@pytest.mark.parametrize("to", PAIRS)
def test_numbers_are_narrowed_in_pairs(of: str, to: str) -> None:
    first, scale = _grid(_numbers(of, to))
    second = np.roll(first, 1)
    sources, inputs = _pair(of, first, second)
    body = f"  v_mov_b32 v10, -1\n  v_cvt_scalef32_pk_{to}_{of} v10, {sources}, v3"
    found = run_on_gfx950(body, np.stack([*inputs, scale]), [10])[0]
    bits = SMALL[to].bits
    codes = [narrowed(part, scale, of, to) for part in (first, second)]
    np.testing.assert_array_equal(found & (1 << 2 * bits) - 1, codes[0] | codes[1] << bits)
    np.testing.assert_array_equal(found >> 2 * bits, np.uint32(0xFFFFFFFF >> 2 * bits))


def _pair(of: str, first: Bits, second: Bits) -> tuple[str, list[Bits]]:
    """Two numbers as operands in v1 and v2."""
    if of == "f32":
        return "v1, v2", [first, second]
    return "v1", [first | second << 16, np.zeros_like(first)]


@pytest.mark.parametrize("of", WIDE)
@pytest.mark.parametrize("to", ["fp8", "bf8"])
def test_random_bits_round_one_number(of: str, to: str) -> None:
    number, scale = _grid(_numbers(of, to))
    random = _random(number.shape)
    body = f"  v_mov_b32 v10, -1\n  v_cvt_scalef32_sr_{to}_{of} v10, v1, v2, v3 op_sel:[0,0,1,0]"
    found = run_on_gfx950(body, np.stack([number, random, scale]), [10])[0]
    expected = narrowed(number, scale, of, to, random)
    np.testing.assert_array_equal(found, expected << 8 | 0xFFFF00FF)


@pytest.mark.parametrize("of", WIDE)
def test_each_number_of_a_pair_has_its_own_random_bits(of: str) -> None:
    first, scale = _grid(_numbers(of, "fp4")[::7])
    second, random = np.roll(first, 1), _random(first.shape)
    sources, inputs = _pair(of, first, second)
    sources = "v[6:7]" if of == "f32" else sources
    body = f"""
  v_mov_b32 v6, v1
  v_mov_b32 v7, v2
  v_mov_b32 v10, 0
  v_cvt_scalef32_sr_pk_fp4_{of} v10, {sources}, v4, v3 op_sel:[0,0,1,1]"""
    found = run_on_gfx950(body, np.stack([*inputs, scale, random]), [10])[0]
    codes = [
        narrowed(part, scale, of, "fp4", drawn)
        for part, drawn in ((first, random), (second, prng(random)))
    ]
    np.testing.assert_array_equal(found, (codes[0] | codes[1] << 4) << 24)


@pytest.mark.covering(2)
@pytest.mark.parametrize("to", SIXES)
@pytest.mark.parametrize("of", WIDE)
@pytest.mark.parametrize("is_random", [False, True])
def test_32_numbers_are_narrowed_at_once(of: str, to: str, is_random: bool) -> None:
    dwords = 32 if of == "f32" else 16
    numbers = np.random.default_rng(3).choice(_numbers(of, to), (32, 512)).astype(np.uint32)
    packed = numbers if of == "f32" else numbers[::2] | numbers[1::2] << 16
    scale, random = _scale(np.resize(SCALES, 512)), _random((512,))
    if is_random:
        operands, name = f"v[2:{1 + dwords}], v42, v41", "sr_pk32"
    elif of == "f32":
        # Numbers of two operands take turns.
        packed = np.vstack([numbers[::2], numbers[1::2]])
        operands, name = "v[2:17], v[18:33], v41", "2xpk16"
    else:
        operands, name = "v[2:17], v41", "pk32"
    filler = np.zeros((39 - dwords, 512), np.uint32)
    inputs = np.vstack([packed, filler, scale, random])
    # The result may lie in the sources.
    body = f"  v_cvt_scalef32_{name}_{to}_{of} v[4:9], {operands}"
    found = _sixes(run_on_gfx950(body, inputs, range(4, 10), first=2))
    for number, code in zip(numbers, found, strict=True):
        expected = narrowed(number, scale, of, to, random if is_random else None)
        np.testing.assert_array_equal(code, expected)
        random = prng(random)


@pytest.mark.parametrize("to", ["fp8", "bf8"])
def test_overflow_is_clamped_where_mode_says_so(to: str) -> None:
    number, scale = _grid(_singles(to))
    random = _random(number.shape)
    body = f"""
  v_cvt_scalef32_pk_{to}_f32 v10, v1, v1, v2
  v_cvt_scalef32_sr_{to}_f32 v11, v1, v3, v2"""
    found = run_on_gfx950(body, np.stack([number, scale, random]), [10, 11], overflow=1) & 0xFF
    np.testing.assert_array_equal(found[0], narrowed(number, scale, "f32", to, clamps=True))
    np.testing.assert_array_equal(found[1], narrowed(number, scale, "f32", to, random, clamps=True))


@pytest.mark.parametrize("of", ["fp8", "bf8", "fp4"])
def test_halves_that_overflow_are_limited_where_mode_says_so(of: str) -> None:
    code = spread([0x7C, 0xFC, 0x7B, 0xFB, 0x7E, 0x7F, 0x07, 0x3C])
    scale = spread([0x3F800000, 0x47800000, 0x4F000000])
    line = f"  v_cvt_scalef32_pk_f16_{of} v10, v1, v2"
    found = run_on_gfx950(line, np.stack([code, scale]), [10], overflow=1)[0] & 0xFFFF
    plain = widened(code, scale, of, "f16")
    is_source = (code & 0x7F == 0x7C) & (of == "bf8")
    limited = ((plain & 0x7FFF) == 0x7C00) & ~is_source
    assert limited.any()
    np.testing.assert_array_equal(found, np.where(limited, plain & 0x8000 | 0x7BFF, plain))


def test_halves_rounded_by_random_bits_are_limited_where_mode_says_so() -> None:
    numbers = np.array([65519.0, 65536.0, -1e30, np.inf, -np.inf, 1.5], np.float32)
    number = spread(numbers.view(np.uint32))
    random = np.full_like(number, 0xFFFFFFFF)
    line = "  v_cvt_sr_f16_f32 v10, v1, v2"
    found = run_on_gfx950(line, np.stack([number, random]), [10], overflow=1)[0] & 0xFFFF
    expected = spread([0x7BFF, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x3E00])
    np.testing.assert_array_equal(found, expected)


def test_denormal_sources_follow_mode_in_single_precision_only() -> None:
    denormals = spread([1, 0x007FFFFF, 0x80400000])
    scale = np.zeros_like(denormals)
    body = """
  v_cvt_scalef32_pk_bf8_f32 v10, v1, v1, v2
  v_cvt_scalef32_pk_bf8_bf16 v11, v1, v2"""
    found = run_on_gfx950(body, np.stack([denormals, scale]), [10, 11], denormals=0) & 0xFF
    np.testing.assert_array_equal(found[0], denormals >> 31 << 7)
    np.testing.assert_array_equal(found[1], narrowed(denormals & 0xFFFF, scale, "bf16", "bf8"))


@pytest.mark.parametrize("byte", range(4))
def test_op_sel_names_bytes_and_halves(byte: int) -> None:
    inputs = _random((2, 64))
    inputs[1] = 0x3F800000
    code = inputs[0] >> 8 * byte
    low, high = byte & 1, byte >> 1
    body = f"""
  v_mov_b32 v10, v1
  v_cvt_scalef32_f32_fp8 v11, v1, 1.0 op_sel:[{low},{high},0]
  v_cvt_scalef32_f16_bf8 v10, v1, v2 op_sel:[{low},{high},{high}]
  v_cvt_scalef32_pk_f32_fp4 v[12:13], v1, v2 op_sel:[{low},{high},0]
  v_cvt_scalef32_pk_f16_fp8 v14, v1, v2 op_sel:[{low},0,0]
  v_mov_b32 v15, v1
  v_cvt_scalef32_pk_fp8_f32 v15, v2, -v2, v2 op_sel:[0,0,0,{high}]
  v_mov_b32 v16, v1
  v_cvt_scalef32_pk_fp4_f32 v16, v2, |v2|, -4.0 op_sel:[0,0,{low},{high}]"""
    found = run_on_gfx950(body, inputs, range(10, 17))
    scale, old = inputs[1], inputs[0]
    half = widened(code, scale, "bf8", "f16")
    np.testing.assert_array_equal(found[0], _insert(old, half, 16 * high, 16))
    np.testing.assert_array_equal(found[1], widened(code, scale, "fp8", "f32"))
    np.testing.assert_array_equal(found[2], widened(code, scale, "fp4", "f32"))
    np.testing.assert_array_equal(found[3], widened(code >> 4, scale, "fp4", "f32"))
    word = old >> 16 * low
    both = [widened(part, scale, "fp8", "f16") for part in (word, word >> 8)]
    np.testing.assert_array_equal(found[4], both[0] | both[1] << 16)
    np.testing.assert_array_equal(found[5], _insert(old, np.uint32(0xB838), 16 * high, 16))
    # 1 / 4 is the middle of 0 and 0.5.
    np.testing.assert_array_equal(found[6], _insert(old, np.uint32(0), 8 * byte, 8))


def _insert(old: Bits, new: Bits, start: int, count: int) -> Bits:
    mask = np.uint32(((1 << count) - 1) << start)
    return old & ~mask | new << np.uint32(start)


@pytest.mark.parametrize(
    "line",
    [
        "v_cvt_scalef32_pk_fp8_f16 v10, -v1, v2",
        "v_cvt_scalef32_pk_fp8_f32 v10, v1, v1, v2 op_sel:[1,0,0,0]",
        "v_cvt_scalef32_sr_fp8_f16 v10, v1, v1, v2 op_sel:[1,0,0,0]",
    ],
)
def test_what_no_document_says_is_refused(line: str) -> None:
    with pytest.raises(KernelFault, match="no document says"):
        run_on_gfx950(f"  {line}", np.zeros((2, 64), np.uint32), [10])
