"""Vector arithmetic that gfx9 has or does otherwise than later processors, against NumPy and
fractions (CDNA 3 ISA, chapter 12)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from amdjit.diagnostics.errors import KernelFault
from tests.emulator.gfx9_instruction import LANES, assert_same, run_gfx9
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools
_EDGES = {
    32: [
        *(0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x80800000, 0x3F800000),
        *(0xBF800000, 0x3F800001, 0x3EFFFFFF, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000),
        *(0x7FC00001, 0xFFC12345, 0x7F800001, 0x20000000, 0x1F800000, 0x9F800001, 0x4B7FFFFF),
    ],
    16: [
        *(0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x8400, 0x3C00, 0xBC00, 0x3C01, 0x37FF, 0x7BFF),
        *(0xFBFF, 0x7C00, 0xFC00, 0x7E01, 0xFE12, 0x7C01, 0x1C00, 0x1BFF, 0x9C01, 0x6BFF),
    ],
}
_KINDS: dict[int, tuple[Any, Any]] = {16: (np.uint16, np.float16), 32: (np.uint32, np.float32)}


def _rows(seed: int, count: int, width: int) -> list[NDArray[Any]]:
    """Rows of floats of a width: half edges, half anything."""
    random = np.random.default_rng(seed)
    kind, floats = _KINDS[width]
    rows = []
    for _ in range(count):
        row = random.integers(0, 1 << width, LANES).astype(kind)
        edges = random.random(LANES) < 0.6
        row[edges] = random.choice(_EDGES[width], int(edges.sum()))
        rows.append(row.view(floats))
    return rows


def _wide(rows: list[NDArray[Any]]) -> list[NDArray[np.uint32]]:
    """Rows of 16 or 32 bits as dwords with something in the upper half."""
    return [
        row.view(np.uint16).astype(np.uint32) | 0xABCD0000
        if row.dtype.itemsize == 2
        else row.view(np.uint32)
        for row in rows
    ]


def _flushed(x: NDArray[Any]) -> NDArray[Any]:
    small = np.abs(x) < np.finfo(x.dtype).smallest_normal
    return np.where(small, np.copysign(np.zeros_like(x), x), x)


def _twice_rounded(x: Any, y: Any, z: Any, legacy: bool) -> NDArray[Any]:
    x, y, z = (_flushed(value) for value in (x, y, z))
    with np.errstate(all="ignore"):
        product = _flushed(x * y)
        if legacy:
            product = np.where((x == 0) | (y == 0), x.dtype.type(0), product)
        return _flushed(product + z)


@pytest.mark.covering(1)
@pytest.mark.parametrize("width", [16, 32])
@pytest.mark.parametrize(
    ("text", "order", "legacy"),
    [
        ("v_mad_f{0} v9, v1, v2, v3", (0, 1, 2), False),
        ("v_mad_legacy_f{0} v9, v1, v2, v3", (0, 1, 2), None),
        ("v_mov_b32 v9, v3\n  v_mac_f{0} v9, v1, v2", (0, 1, 2), False),
        ("v_mov_b32 v9, v3\n  v_mac_f{0}_e64 v9, v2, v1", (1, 0, 2), False),
        ("v_madmk_f{0} v9, v1, {1}, v2", (0, "c", 1), False),
        ("v_madak_f{0} v9, v1, v2, {1}", (0, 1, "c"), False),
    ],
)
def test_multiply_adds_round_twice_and_know_no_denormals(
    width: int, text: str, order: tuple[Any, ...], legacy: bool | None
) -> None:
    # In half precision, "legacy" is the name of an encoding.
    by_zero = width == 32 if legacy is None else legacy
    constant = _KINDS[width][1](1.375)
    literal = {16: "0x3d80", 32: "0x3fb00000"}[width]
    for seed in range(8):
        rows = _rows(seed, 3, width)
        chosen = [np.full(LANES, constant) if at == "c" else rows[at] for at in order]
        expected = _twice_rounded(*chosen, by_zero)
        found = run_gfx9("gfx90a", f"  {text.format(width, literal)}", _wide(rows), (9,))[0]
        if width == 32:
            assert_same(found.view(np.float32), expected)
        else:
            assert_same((found & 0xFFFF).astype(np.uint16).view(np.float16), expected)
            is_selected = text.startswith("v_mad_f")
            assert is_selected or not (found >> 16).any()


def test_op_sel_of_a_multiply_add_chooses_halves_and_keeps_the_other() -> None:
    low, high = _rows(1, 3, 16), _rows(2, 3, 16)
    pairs = [
        a.view(np.uint16).astype(np.uint32) | b.view(np.uint16).astype(np.uint32) << 16
        for a, b in zip(low, high, strict=True)
    ]
    body = "  v_mov_b32 v9, 0x12345678\n  v_mad_f16 v9, v1, v2, v3 op_sel:[1,0,1,1]"
    found = run_gfx9("gfx942", body, pairs, (9,))[0]
    assert np.all(found & 0xFFFF == 0x5678)
    expected = _twice_rounded(high[0], low[1], high[2], False)
    assert_same((found >> 16).astype(np.uint16).view(np.float16), expected)


def test_results_of_16_bits_clear_the_upper_half() -> None:
    rows = _wide(_rows(4, 2, 16))
    names = ("v_add_f16", "v_mul_f16", "v_add_u16", "v_subrev_u16", "v_lshlrev_b16", "v_max_i16")
    for name in names:
        body = f"  v_mov_b32 v9, -1\n  {name} v9, v1, v2"
        assert not (run_gfx9("gfx908", body, rows, (9,))[0] >> 16).any(), name
    x, y = (row & 0xFFFF for row in rows)
    body = "  v_subrev_u16 v9, v1, v2\n  v_subrev_u16_e64 v10, v1, v2 clamp"
    plain, clamped = run_gfx9("gfx908", body, rows, (9, 10))
    assert np.array_equal(plain, (y - x) & 0xFFFF)
    assert np.array_equal(clamped, np.where(y < x, 0, y - x))


def _fused(x: Any, y: Any, z: Any) -> NDArray[Any]:
    """x * y + z rounded once, where neither is infinite: both parts are exact in Python."""
    results = []
    for a, b, c in zip(x, y, z, strict=True):
        if not np.isfinite([a, b, c]).all():
            with np.errstate(all="ignore"):
                results.append(np.float32(np.float64(a) * np.float64(b) + np.float64(c)))
            continue
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        if exact == 0:
            results.append(np.float32(np.float64(a) * np.float64(b) + np.float64(c)))
            continue
        results.append(_nearest(exact))
    return np.array(results, np.float32)


def _nearest(exact: Fraction) -> np.float32:
    """The nearest single, ties to even."""
    with np.errstate(all="ignore"):
        guess = np.float32(float(exact)) if abs(exact) < Fraction(10) ** 300 else np.float32(np.inf)
    with np.errstate(all="ignore"):
        below, above = (np.nextafter(guess, np.float32(one)) for one in (-np.inf, np.inf))
    around = [below, guess, above]
    finite = [one for one in around if np.isfinite(one)]
    if abs(exact) >= Fraction(2) ** 128 - Fraction(2) ** 103:
        return np.float32(np.inf if exact > 0 else -np.inf)
    return min(
        finite, key=lambda one: (abs(Fraction(float(one)) - exact), int(one.view(np.uint32)) & 1)
    )


_PAIRS = [
    ("", "", (0, 0, 0), (1, 1, 1)),
    ("op_sel:[1,0,1]", "", (1, 0, 1), (1, 1, 1)),
    ("op_sel_hi:[0,1,0]", "", (0, 0, 0), (0, 1, 0)),
    ("op_sel:[0,1,1] op_sel_hi:[1,0,0]", "", (0, 1, 1), (1, 0, 0)),
    ("", "neg_lo:[1,0,0] neg_hi:[0,0,1]", (0, 0, 0), (1, 1, 1)),
]


@pytest.mark.covering(1)
@pytest.mark.parametrize(("selects", "signs", "low", "high"), _PAIRS)
@pytest.mark.parametrize("name", ["fma", "mul", "add"])
def test_pairs_of_singles_choose_dwords(
    name: str, selects: str, signs: str, low: tuple[int, ...], high: tuple[int, ...]
) -> None:
    count = 3 if name == "fma" else 2
    options = " ".join([_short(selects, count), _short(signs, count)])
    operands = ", ".join(["v[2:3]", "v[4:5]", "v[6:7]"][:count])
    body = f"  v_pk_{name}_f32 v[10:11], {operands} {options}"
    for seed in range(3):
        rows = _rows(seed, 7, 32)
        found = run_gfx9("gfx942", body, rows, (10, 11)).view(np.float32)
        for part, chosen in enumerate((low, high)):
            values = [rows[1 + 2 * number + chosen[number]] for number in range(count)]
            if signs:
                negated = 2 if part else 0
                values = [-v if n == negated else v for n, v in enumerate(values)]
            with np.errstate(all="ignore"):
                expected = {
                    "fma": lambda v: _fused(*v),
                    "mul": lambda v: v[0] * v[1],
                    "add": lambda v: v[0] + v[1],
                }[name](values)
            assert_same(found[part], expected)


def _short(text: str, count: int) -> str:
    """Shorten lists of three to as many entries as the instruction has operands."""
    words = [word.partition(":[") for word in text.split()]
    return " ".join(
        f"{name}:[{','.join(rest.rstrip(']').split(',')[:count])}]" for name, _, rest in words
    )


def test_pairs_move_and_take_scalars() -> None:
    rows = _rows(9, 4, 32)
    body = """
  s_mov_b32 s20, 0x3fc00000
  s_mov_b32 s21, 0xc0200000
  v_pk_mov_b32 v[10:11], v[2:3], v[4:5] op_sel:[1,0]
  v_pk_mov_b32 v[12:13], s[20:21], s[20:21] op_sel:[0,1]
  v_pk_mul_f32 v[14:15], v[2:3], s[20:21]
  v_pk_mul_f32 v[16:17], v[2:3], 2.0 op_sel_hi:[1,0]
"""
    found = run_gfx9("gfx90a", body, rows, tuple(range(10, 18))).view(np.float32)
    assert np.array_equal(found[0].view(np.uint32), rows[2].view(np.uint32))
    assert np.array_equal(found[1].view(np.uint32), rows[3].view(np.uint32))
    assert np.all(found[2] == 1.5)
    assert np.all(found[3] == -2.5)
    with np.errstate(all="ignore"):
        for at, factor in ((4, 1.5), (5, -2.5), (6, 2.0), (7, 2.0)):
            assert_same(found[at], rows[1 + at % 2] * np.float32(factor))


def test_the_upper_dword_of_a_constant_is_refused() -> None:
    with pytest.raises(KernelFault, match="upper dword of a constant"):
        run_gfx9("gfx90a", "  v_pk_mul_f32 v[4:5], v[2:3], 2.0", _rows(1, 3, 32), (4,))


def test_both_dwords_of_the_constant_0_are_0() -> None:
    rows = _rows(1, 3, 32)
    body = "  v_pk_add_f32 v[4:5], v[2:3], 0 neg_lo:[1,1] neg_hi:[1,1]"
    found = run_gfx9("gfx90a", body, rows, (4, 5)).view(np.float32)
    with np.errstate(all="ignore"):
        assert_same(found[0], -rows[1] - np.float32(0))
        assert_same(found[1], -rows[2] - np.float32(0))


def test_sums_and_moves_of_64_bits() -> None:
    random = np.random.default_rng(3)
    rows = list(random.integers(0, 1 << 32, (6, LANES)).astype(np.uint32))
    body = """
  v_lshl_add_u64 v[10:11], v[2:3], v1, v[4:5]
  v_mov_b64 v[12:13], v[4:5]
"""
    found = run_gfx9("gfx942", body, rows, (10, 11, 12, 13)).astype(np.uint64)
    x, z = (rows[n].astype(np.uint64) | rows[n + 1].astype(np.uint64) << 32 for n in (1, 3))
    expected = (x << (rows[0] & 7).astype(np.uint64)) + z
    assert np.array_equal(found[0] | found[1] << 32, expected)
    assert np.array_equal(found[2] | found[3] << 32, z)


def test_a_double_is_accumulated_with_one_rounding() -> None:
    x, y, z = np.random.default_rng(5).normal(size=(3, LANES))
    rows = [row for value in (x, y, z) for row in value.view(np.uint32).reshape(LANES, 2).T]
    found = run_gfx9("gfx90a", "  v_fmac_f64 v[6:7], v[2:3], v[4:5]", [rows[0], *rows], (6, 7))
    got = np.ascontiguousarray(found.T).view(np.float64)[:, 0]
    exact = [Fraction(a) * Fraction(b) + Fraction(c) for a, b, c in zip(x, y, z, strict=True)]
    assert np.array_equal(got, [float(value) for value in exact])


_DOTS = [
    ("v_dot2_i32_i16", 16, True, False),
    ("v_dot2_u32_u16", 16, False, False),
    ("v_dot4_i32_i8", 8, True, False),
    ("v_dot4_u32_u8", 8, False, False),
    ("v_dot8_i32_i4", 4, True, False),
    ("v_dot8_u32_u4", 4, False, False),
    ("v_dot2c_i32_i16", 16, True, True),
    ("v_dot4c_i32_i8", 8, True, True),
    ("v_dot8c_i32_i4", 4, True, True),
]


@pytest.mark.covering(1)
@pytest.mark.parametrize(("name", "bits", "signed", "accumulates"), _DOTS)
@pytest.mark.parametrize("clamp", ["", " clamp"])
def test_integer_dot_products(
    name: str, bits: int, signed: bool, accumulates: bool, clamp: str
) -> None:
    random = np.random.default_rng(bits)
    rows = list(random.integers(0, 1 << 32, (3, LANES)).astype(np.uint32))
    for row, one in zip(rows, (0x80008000, 0x80008000, 0x7FFFFFFF), strict=True):
        row[:4] = (one, 0xFFFFFFFF, 0x7FFF7FFF, 0x88888888)
    if accumulates:
        suffix = "_e64" if clamp else ""
        text = f"  v_mov_b32 v9, v3\n  {name}{suffix} v9, v1, v2{clamp}"
    else:
        text = f"  {name} v9, v1, v2, v3{clamp}"
    found = run_gfx9("gfx90a", text, rows, (9,))[0]
    for lane in range(LANES):
        x, y, z = (int(row[lane]) for row in rows)
        total = _signed(z, 32) if signed else z
        for start in range(0, 32, bits):
            a, b = ((v >> start) & ((1 << bits) - 1) for v in (x, y))
            total += _signed(a, bits) * _signed(b, bits) if signed else a * b
        low, high = (-(1 << 31), (1 << 31) - 1) if signed else (0, (1 << 32) - 1)
        if clamp:
            total = min(max(total, low), high)
        assert int(found[lane]) == total % (1 << 32), (name, lane)


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def test_dot_products_of_halves_add_one_product_after_the_other() -> None:
    """In the order of the ISA document's pseudo-code: the addend, the low product, the high one."""
    for seed in range(4):
        low, high = _rows(seed, 2, 16), _rows(seed + 50, 2, 16)
        addend = _rows(seed + 90, 1, 32)[0]
        pairs = [
            a.view(np.uint16).astype(np.uint32) | b.view(np.uint16).astype(np.uint32) << 16
            for a, b in zip(low, high, strict=True)
        ]
        body = """
  v_dot2_f32_f16 v9, v1, v2, v3
  v_mov_b32 v10, v3
  v_dot2c_f32_f16 v10, v1, v2
"""
        found = run_gfx9("gfx908", body, [*pairs, addend], (9, 10)).view(np.float32)
        first = _fused(low[0].astype(np.float32), low[1].astype(np.float32), addend)
        expected = _fused(high[0].astype(np.float32), high[1].astype(np.float32), first)
        for result in found:
            assert_same(result, expected)


@pytest.mark.parametrize("cpu", ["gfx908", "gfx942"])
@pytest.mark.parametrize("suffix", ["_e32", "_e64"])
def test_a_comparison_that_writes_exec_writes_its_destination_too(cpu: str, suffix: str) -> None:
    rows = [np.arange(LANES, dtype=np.uint32), np.full(LANES, 40, np.uint32)]
    target = "vcc" if suffix == "_e32" else "s[30:31]"
    body = f"""
  s_mov_b32 exec_lo, 0xfff0fff0
  v_mov_b32 v9, 0
  v_cmpx_lt_u32{suffix} {target}, v1, v2
  s_mov_b64 s[20:21], exec
  v_mov_b32 v9, 1
  s_mov_b64 s[22:23], {target}
  s_mov_b64 exec, -1
  v_mov_b32 v10, s20
  v_mov_b32 v11, s21
  v_mov_b32 v12, s22
  v_mov_b32 v13, s23
"""
    if suffix == "_e32":
        body = body.replace("vcc, v1", "vcc, v1")
    found = run_gfx9(cpu, body, rows, (9, 10, 11, 12, 13))
    assert (found[1][0], found[2][0]) == (0xFFF0FFF0, 0xFF)
    assert (found[3][0], found[4][0]) == (0xFFF0FFF0, 0xFF)
    lanes = np.array([(0xFF_FFF0FFF0 >> lane) & 1 for lane in range(LANES)])
    assert np.array_equal(found[0][lanes == 1], np.ones(lanes.sum()))


def test_comparisons_that_are_always_or_never_true() -> None:
    rows = _rows(2, 2, 32)
    names = ("v_cmp_tru_f32", "v_cmp_tru_f16", "v_cmp_t_i16", "v_cmp_f_u16", "v_cmp_f_f32")
    lines = [
        f"  {name}_e64 s[20:21], v1, v2\n  v_mov_b32 v{10 + 2 * n}, s20\n"
        f"  v_mov_b32 v{11 + 2 * n}, s21"
        for n, name in enumerate(names)
    ]
    found = run_gfx9("gfx950", "\n".join(lines), rows, tuple(range(10, 20)))
    assert found[:, 0].tolist() == [0xFFFFFFFF] * 6 + [0] * 4


def test_a_byte_is_put_into_the_destination() -> None:
    value = np.array([0, 0.5, 1.5, 2.5, 254.5, 255, 300, -3, np.nan, np.inf] * 7, np.float32)[
        :LANES
    ]
    place = np.arange(LANES, dtype=np.uint32)
    body = "  v_mov_b32 v9, 0x01020304\n  v_cvt_pkaccum_u8_f32 v9, v1, v2"
    found = run_gfx9("gfx90a", body, [value, place], (9,))[0]
    for lane in range(LANES):
        number = float(value[lane])
        byte = 0 if np.isnan(number) else int(np.clip(np.rint(number), 0, 255))
        shift = 8 * (lane % 4)
        assert int(found[lane]) == 0x01020304 & ~(0xFF << shift) | byte << shift


def test_names_without_a_meaning_are_refused() -> None:
    with pytest.raises(KernelFault, match="legacy rules"):
        run_gfx9("gfx90a", "  v_exp_legacy_f32 v2, v1", _rows(1, 1, 32), (2,))
    with pytest.raises(KernelFault, match="op_sel"):
        run_gfx9("gfx90a", "  v_alignbit_b32 v4, v1, v2, v3 op_sel:[0,0,1]", _rows(1, 3, 32), (4,))
