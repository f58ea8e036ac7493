"""Every value that an RX 9070 returned: the emulator in both tiers, and the model, return the same.

`../hardware/alu_gfx1201.json` says where its values come from. Most are digests of the results of
all operands.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.emulator.model.ieee import (
    FORMATS,
    Format,
    div_fixup,
    div_fmas,
    div_scale,
    modified,
    output,
)
from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import run_registers

CAPTURES = json.loads((Path(__file__).parents[2] / "hardware" / "alu_gfx1201.json").read_text())
EVERY_LANE = 0xFFFFFFFF
OMODS = ("", " mul:2", " mul:4", " div:2")

Bits = NDArray[np.uint64]


def rows(section: str) -> list[Any]:
    return [pytest.param(row, id=row["instruction"]) for row in CAPTURES[section]["rows"]]


def form_of(row: dict[str, Any]) -> Format:
    return FORMATS[row["instruction"][-3:].lower()]


def numbers(texts: Iterable[str]) -> list[int]:
    return [int(text, 16) for text in texts]


def digest(data: bytes) -> int:
    """FNV-1a, as the captures' digests."""
    result = 14695981039346656037
    for byte in data:
        result = (result ^ byte) * 1099511628211 & 0xFFFFFFFFFFFFFFFF
    return result


def packed(values: Sequence[int], size: int) -> bytes:
    return b"".join(int(value).to_bytes(size, "little") for value in values)


def dwords(form: Format, columns: Sequence[Sequence[int]]) -> NDArray[np.uint32]:
    """Operands as registers by lanes, filled up to whole waves."""
    found = []
    for column in columns:
        padded = [*column, *[0] * (-len(column) % 32)]
        wide = np.array(padded, np.uint64)
        found += [
            (wide >> np.uint64(32 * part)).astype(np.uint32)
            for part in range(form.width // 32 or 1)
        ]
    return np.array(found)


def register(form: Format, number: int) -> str:
    return f"v[{number}:{number + 1}]" if form.width == 64 else f"v{number}"


def operand(form: Format, place: int, neg: int = 0, absolute: int = 0) -> str:
    """Source number `place` of the inputs, with its modifiers."""
    text = register(form, 1 + place * (form.width // 32 or 1))
    text = f"|{text}|" if absolute >> place & 1 else text
    return f"-{text}" if neg >> place & 1 else text


def results(form: Format, found: NDArray[np.uint32], count: int) -> list[Bits]:
    """Rows of registers as patterns; count: of the lanes that are no filling."""
    parts = form.width // 32 or 1
    wide = found[:, :count].astype(np.uint64)
    return [
        sum(wide[row + part] << np.uint64(32 * part) for part in range(parts))
        for row in range(0, len(wide), parts)
    ]


def modes_of(section: str) -> list[dict[str, int]]:
    return CAPTURES[section]["modes"]


def suffix(mode: dict[str, int]) -> str:
    return (" clamp" if mode.get("clamp") else "") + OMODS[mode.get("omod", 0)]


def sources(form: Format, triple: Sequence[int], mode: dict[str, int]) -> list[int]:
    neg, absolute = mode.get("neg", 0), mode.get("abs", 0)
    return [
        modified(form, bits, neg >> place & 1 > 0, absolute >> place & 1 > 0)
        for place, bits in enumerate(triple)
    ]


# Carries


@needs_tools
@pytest.mark.usefixtures("each_tier")
@pytest.mark.parametrize("row", rows("carry"))
def test_carries_are_those_of_the_captures(row: dict[str, Any]) -> None:
    section, name = CAPTURES["carry"], row["instruction"].lower()
    carry_in = ", s21" if "_ci_" in name else ""
    lines = [f"s_mov_b32 s21, {section['carry_in']}"]
    for place, mask in enumerate((EVERY_LANE, 0x33333333, 0)):
        lines += [
            f"s_mov_b32 exec_lo, {mask:#x}",
            f"{name} v{100 + place}, s{30 + place}, v1, v2{carry_in}",
        ]
    lines += ["s_mov_b32 exec_lo, -1", f"{name} v103, s33, v1, v2{carry_in} clamp"]
    inputs = np.array([numbers(section[key]) * 4 for key in ("a", "b")], np.uint32)
    found = run_registers("\n".join(lines), inputs, [100, 103], ["s30", "s31", "s32", "s33"])
    captured = [row[f"mask_{key}"] for key in ("full", "exec_33333333", "exec_0", "full")]
    assert [int(value) for value in found[2:, 0]] == numbers(captured)
    # Whether there is a carry in differs from lane to lane, the captured results are those of lanes
    # 0 to 7.
    for mine, key in zip(found, ("result", "result_clamp"), strict=False):
        assert [int(value) for value in mine[:8]] == numbers(row[key])


# Scaling


def pairs(row: dict[str, Any]) -> tuple[list[int], list[int]]:
    """All denominators and numerators, before their signs change."""
    both = list(itertools.product(numbers(row["values"]), repeat=2))
    return [below for below, _ in both], [above for _, above in both]


def variants() -> list[tuple[int, int, int, int]]:
    """neg, omod, clamp and the role of S0 of each digest."""
    return [(index & 7, index >> 3 & 3, index >> 5 & 1, index >> 6) for index in range(128)]


def scale_digest(form: Format, values: Iterable[int], conditions: Iterable[int]) -> int:
    both = zip(values, conditions, strict=True)
    return digest(
        b"".join(packed([value], form.width // 8) + bytes([condition]) for value, condition in both)
    )


@pytest.mark.sample(2)
@needs_tools
@pytest.mark.usefixtures("each_tier")
@pytest.mark.parametrize("row", rows("div_scale"))
def test_div_scale_gives_the_captured_values(row: dict[str, Any]) -> None:
    form, (below, above) = form_of(row), pairs(row)
    count, step = len(below), form.width // 32
    for start in range(0, 128, 16):
        lines = []
        for place, (neg, omod, clamp, role) in enumerate(variants()[start : start + 16]):
            # S0 is to equal S1 or S2 after all signs have changed.
            first = operand(form, role, (neg >> 1 + role & 1) << role)
            result = register(form, 100 + step * place)
            texts = [first, operand(form, 0, neg >> 1), operand(form, 1, neg >> 1)]
            tail = (" clamp" if clamp else "") + OMODS[omod]
            lines += [f"{row['instruction'].lower()} {result}, vcc_lo, {', '.join(texts)}{tail}"]
            lines += [f"v_cndmask_b32 v{180 + place}, 0, 1, vcc_lo"]
        outputs = [*range(100, 100 + 16 * step), *range(180, 196)]
        found = run_registers("\n".join(lines), dwords(form, [below, above]), outputs)
        values = results(form, found[: 16 * step], count)
        mine = [
            scale_digest(form, value, found[16 * step + place, :count])
            for place, value in enumerate(values)
        ]
        assert mine == numbers(row["digests"][start : start + 16])


@pytest.mark.sample(1)
@pytest.mark.parametrize("row", rows("div_scale"))
def test_the_model_of_div_scale(row: dict[str, Any]) -> None:
    form, (below, above) = form_of(row), pairs(row)
    for expected, (neg, omod, clamp, role) in zip(numbers(row["digests"]), variants(), strict=True):
        found = []
        for pair in zip(below, above, strict=True):
            operands = [
                modified(form, bits, neg >> 1 + place & 1 > 0, False)
                for place, bits in enumerate(pair)
            ]
            value, back = div_scale(form, operands[role], *operands)
            found.append((output(form, value, omod, bool(clamp)), back))
        assert scale_digest(form, *zip(*found, strict=True)) == expected, (neg, omod, clamp, role)


# Multiply-add


def triples(row: dict[str, Any]) -> list[tuple[int, ...]]:
    return list(itertools.product(numbers(row["values"]), repeat=3))


def random_words(count: int) -> list[int]:
    state, found = 0x9174AB23, []
    for _ in range(count):
        state = (state ^ state << 13) & 0xFFFFFFFF
        state ^= state >> 17
        state = (state ^ state << 5) & 0xFFFFFFFF
        found.append(state)
    return found


def random_triples(form: Format) -> list[tuple[int, ...]]:
    step = form.width // 32
    words = random_words(4096 * 3 * step)
    found = []
    for number in range(4096):
        own = words[number * 3 * step :][: 3 * step]
        a, b, c = (
            sum(own[place * step + part] << 32 * part for part in range(step)) for place in range(3)
        )
        if number % 4 == 0:
            b, c = (form.bias << form.mantissa) + 1, a ^ form.sign
        if number % 4 == 1:
            a &= (1 << form.mantissa) - 1
            b, c = (form.bias + 1 << form.mantissa) - 1, 1
        found.append((a, b, c))
    return found


def fmas_columns() -> list[tuple[bool, dict[str, int]]]:
    return [(scales, mode) for scales in (False, True) for mode in modes_of("div_fmas")]


def emulated_fmas(form: Format, operands: Sequence[Sequence[int]]) -> list[Bits]:
    step, lines, name = form.width // 32, [], f"v_div_fmas_f{form.width}"
    for place, (scales, mode) in enumerate(fmas_columns()):
        lines.append(f"s_mov_b32 vcc_lo, {-int(scales)}")
        texts = [
            operand(form, source, mode.get("neg", 0), mode.get("abs", 0)) for source in range(3)
        ]
        lines.append(
            f"{name} {register(form, 100 + step * place)}, {', '.join(texts)}{suffix(mode)}"
        )
    columns = list(zip(*operands, strict=True))
    found = run_registers(
        "\n".join(lines), dwords(form, columns), list(range(100, 100 + 16 * step))
    )
    return results(form, found, len(operands))


def modelled_fmas(form: Format, operands: Sequence[Sequence[int]]) -> list[list[int]]:
    found = []
    for scales, mode in fmas_columns():
        omod, clamp = mode.get("omod", 0), bool(mode.get("clamp"))
        raw = [div_fmas(form, *sources(form, triple, mode), scales, omod) for triple in operands]
        found.append([output(form, bits, omod, clamp) for bits in raw])
    return found


def check_fmas(row: dict[str, Any], compute: Any) -> None:
    form = form_of(row)
    size = form.width // 8
    for operands, key in ((triples(row), "digests"), (random_triples(form), "random_digests")):
        mine = [digest(packed(column, size)) for column in compute(form, operands)]
        assert mine == numbers(row[key]), key
    boundary = [numbers(texts) for texts in row["boundary"]]
    found = compute(form, [values[:3] for values in boundary])
    assert [[int(column[place]) for column in found] for place in range(len(boundary))] == [
        v[3:] for v in boundary
    ]


@pytest.mark.sample(2)
@needs_tools
@pytest.mark.usefixtures("each_tier")
@pytest.mark.parametrize("row", rows("div_fmas"))
def test_div_fmas_gives_the_captured_values(row: dict[str, Any]) -> None:
    check_fmas(row, emulated_fmas)


# The model in Python takes longest for the widest: the emulator has all captured values above.
@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            *row.values, id=row.id, marks=pytest.mark.exhaustive if "F64" in row.id else ()
        )
        for row in rows("div_fmas")
    ],
)
def test_the_model_of_div_fmas(row: dict[str, Any]) -> None:
    check_fmas(row, modelled_fmas)


# Fixing up


def fixup_digest(form: Format, values: Iterable[int]) -> int:
    if form.width == 16:
        return digest(packed([0x12340000 | int(value) & 0xFFFF for value in values], 4))
    return digest(packed(list(values), form.width // 8))


@pytest.mark.sample(3)
@needs_tools
@pytest.mark.usefixtures("each_tier")
@pytest.mark.parametrize("row", rows("div_fixup"))
def test_div_fixup_gives_the_captured_values(row: dict[str, Any]) -> None:
    form, modes = form_of(row), modes_of("div_fixup")
    step, lines = form.width // 32 or 1, []
    for place, mode in enumerate(modes):
        result = register(form, 100 + step * place)
        texts = [
            operand(form, source, mode.get("neg", 0), mode.get("abs", 0)) for source in range(3)
        ]
        lines += [f"v_mov_b32 v{100 + step * place}, 0x12345678"]
        lines += [f"{row['instruction'].lower()} {result}, {', '.join(texts)}{suffix(mode)}"]
    inputs = dwords(form, list(zip(*triples(row), strict=True)))
    mine = []
    for overflow in (0, 1):
        outputs = list(range(100, 100 + step * len(modes)))
        found = run_registers("\n".join(lines), inputs, outputs, overflow=overflow)
        if form.width == 16:
            assert (found >> np.uint32(16) == 0x1234).all()
        mine += [fixup_digest(form, column) for column in results(form, found, len(triples(row)))]
    assert mine == numbers(row["digests"])


@pytest.mark.parametrize("row", rows("div_fixup"))
def test_the_model_of_div_fixup(row: dict[str, Any]) -> None:
    form, mine = form_of(row), []
    for limited in (False, True):
        largest = form.infinity - 1 if limited and form.width == 16 else None
        for mode in modes_of("div_fixup"):
            raw = [
                div_fixup(form, *sources(form, triple, mode), largest) for triple in triples(row)
            ]
            omod, clamp = mode.get("omod", 0), bool(mode.get("clamp"))
            mine.append(
                fixup_digest(form, [output(form, bits, omod, clamp, largest) for bits in raw])
            )
    assert mine == numbers(row["digests"])
