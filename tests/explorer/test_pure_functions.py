"""The page's functions that only compute, called in the browser: closed forms and brute force."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amdjit.explorer.page import modules_in_order, script_of
from amdjit.explorer.page_data import lane_maps, ranges
from amdjit.intrinsics.models.matrix_layouts import matrix_instruction
from tests.explorer.chromium import Browser
from tests.explorer.hand_made import inspection

MATRIX = next(each for each in inspection().instructions if each.unit == "WMMA")
MODULES = (
    "compare",
    "fragments",
    "steps",
    "lanes",
    "query",
    "registers",
    "syntax",
    "text",
    "timeline",
)


@pytest.fixture(scope="module")
def functions(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """A page that has the exports of some modules, and nothing else."""
    path = tmp_path_factory.mktemp("functions") / "functions.html"
    scripts = "".join(
        f"<script>{{{script_of(name)}\nObject.assign(window, {name}_module)}}</script>"
        for name in MODULES
    )
    path.write_text(f"<!doctype html><main></main>{scripts}", encoding="utf-8")
    browser.load(path)
    assert browser.messages() == []
    return browser


def call(browser: Browser, name: str, *arguments: Any) -> Any:
    return browser.run(f"return window.{name}(...arguments)", *arguments)


def test_modules_come_after_those_that_they_import() -> None:
    order = modules_in_order("main")
    assert order[-1] == "main"
    assert set(order) >= {"dom", "store", "listing", *MODULES}
    for number, name in enumerate(order):
        text = (Path(__file__).parents[2] / f"amdjit/explorer/web/{name}.js").read_text()
        for imported in re.findall(r'from "\./(\w+)\.js"', text):
            assert imported in order[:number]
        assert text.count("import {") == len(
            re.findall(r'^import \{[^}]*\} from "\./\w+\.js";$', text, re.M)
        )


def test_sets_of_registers_are_read_as_they_are_written(functions: Browser) -> None:
    draw = random.Random(1)
    for _ in range(40):
        numbers = sorted(draw.sample(range(256), draw.randrange(0, 60)))
        text = ranges(numbers)
        assert call(functions, "members", text) == numbers
        assert call(functions, "size", text) == len(numbers)


def test_arrows_in_one_lane_do_not_meet(functions: Browser) -> None:
    draw = random.Random(2)
    for _ in range(30):
        spans = [(draw.randrange(40), draw.randrange(40)) for _ in range(draw.randrange(12))]
        lanes = call(functions, "assignLanes", [{"from": a, "to": b} for a, b in spans])
        assert len(lanes) == len(spans)
        rows = [set(range(min(span), max(span) + 1)) for span in spans]
        for one in range(len(spans)):
            for two in range(one):
                assert lanes[one] != lanes[two] or not rows[one] & rows[two]
        # No lane is free all along a span below its own.
        for one, lane in enumerate(lanes):
            for lower in range(lane):
                assert any(
                    lanes[two] == lower and rows[one] & rows[two] for two in range(len(spans))
                )


INSTRUCTION = {
    "text": "ds_load_b128 v[4:7], v1 offset:16", "unit": "LDS", "lines": [26, 9], "block": 3,
    "depth": 2, "live": 96, "address": 4096, "fileNames": ["gemm.py"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", True),
        ("b128", True),
        ("B128 v[4:7]", True),
        ("b64", False),
        ("line:26", True),
        ("line:9", True),
        ("line:27", False),
        ("unit:lds", True),
        ("unit:valu", False),
        ("live:>=96", True),
        ("live:>96", False),
        ("live:<=96", True),
        ("live:<96", False),
        ("block:3 loop:2", True),
        ("block:3 loop:1", False),
        ("file:gemm", True),
        ("file:conv", False),
        ("offset:16", True),
    ],
)
def test_a_query_finds_what_it_says(functions: Browser, query: str, expected: bool) -> None:
    found = functions.run(
        "return matches(arguments[0], parseQuery(arguments[1]))", INSTRUCTION, query
    )
    assert found == expected


def test_a_condition_without_a_number_is_explained(functions: Browser) -> None:
    [condition] = call(functions, "parseQuery", "live:many")
    assert "live:12" in condition["error"]


LINES = (
    "v_wmma_f32_16x16x16_f16 v[120:127], v[171:174], v[175:178], v[120:127]",
    "v_dual_mov_b32 v112, v88 :: v_dual_mov_b32 v115, v88",
    "global_load_b128 v[0:3], v16, s[0:1] offset:16 th:TH_LOAD_NT",
    "s_cbranch_vccnz 65525",
    "buffer_load_b32 v1, v2, s[4:7], null offen offset:0x10",
    "v_mov_b16_e32 v1.l, v2.h",
    "",
    "<unknown>",
)


def test_the_parts_of_a_line_are_the_line(functions: Browser) -> None:
    for text in LINES:
        parts = call(functions, "instructionParts", text)
        assert "".join(part for _, part in parts) == text
    source = (Path(__file__).parents[2] / "examples/perf_hgemm.py").read_text().splitlines()
    open_quotes = ""
    strings = 0
    for text in source:
        parts, open_quotes = call(functions, "pythonParts", text, open_quotes)
        assert "".join(part for _, part in parts) == text
        strings += any(kind == "string" for kind, _ in parts)
    assert open_quotes == ""
    assert strings > 20


def test_registers_numbers_and_modifiers_are_told_apart(functions: Browser) -> None:
    parts = call(functions, "instructionParts", LINES[2])
    kinds = {text.strip(): kind for kind, text in parts if kind}
    assert kinds == {
        "global_load_b128": "mnemonic", "v[0:3]": "vgpr", "v16": "vgpr", "s[0:1]": "sgpr",
        "offset:16": "modifier", "th:TH_LOAD_NT": "modifier",
    }  # fmt: skip


def test_what_is_not_seen_is_written_out(functions: Browser) -> None:
    assert call(functions, "visible", "a\u202eb\u200b\tc\x00") == "a⟨U+202E⟩b⟨U+200B⟩\tc⟨U+0000⟩"


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (999, "999"), (1000, "1.00k"), (12345, "12.3k"), (999_400, "999k"), (5e9, "5.00G")],
)
def test_numbers_are_short(functions: Browser, number: float, text: str) -> None:
    assert call(functions, "compact", number) == text


def test_a_cycle_belongs_to_the_segment_that_covers_it(functions: Browser) -> None:
    segments = [10, 5, 0, 15, 1, 2, 20, 10, 1]  # from 10 to 15, 15 to 16, 20 to 30
    for cycle in range(35):
        expected = next(
            (
                {"start": start, "length": length, "what": what}
                for start, length, what in zip(*[iter(segments)] * 3, strict=True)
                if start <= cycle < start + length
            ),
            None,
        )
        assert call(functions, "segmentAt", segments, cycle) == expected


def test_next_and_previous_go_round(functions: Browser) -> None:
    assert [call(functions, "nextOf", [2, 5, 9], n, 1) for n in (0, 2, 8, 9)] == [2, 5, 9, 2]
    assert [call(functions, "nextOf", [2, 5, 9], n, -1) for n in (9, 2, 6, 0)] == [5, 9, 5, 9]
    assert call(functions, "nextOf", [], 3, 1) is None


def common(left: list[str], right: list[str]) -> int:
    """Return the length of the longest common subsequence, by trying all."""
    if not left or not right:
        return 0
    if left[0] == right[0]:
        return 1 + common(left[1:], right[1:])
    return max(common(left[1:], right), common(left, right[1:]))


def test_instructions_are_aligned_by_the_longest_common_part(functions: Browser) -> None:
    draw = random.Random(3)
    for _ in range(30):
        left, right = ([draw.choice("abc") for _ in range(draw.randrange(7))] for _ in range(2))
        pairs = call(
            functions,
            "alignedInstructions",
            [{"mnemonic": m} for m in left],
            [{"mnemonic": m} for m in right],
        )
        sides = [[pair[side]["mnemonic"] for pair in pairs if pair[side]] for side in (0, 1)]
        assert sides == [left, right]
        both = [pair for pair in pairs if pair[0] and pair[1]]
        assert all(pair[0] == pair[1] for pair in both)
        assert len(both) == common(left, right)


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("wmma_f32_16x16x16_f16_w32_gfx12", "gfx1201"),
        ("swmmac_i32_16x16x64_iu4_w64", "gfx1201"),
        ("wmma_f32_16x16x16_f16_w64", "gfx1100"),
    ],
)
def test_lane_maps_say_where_elements_are(functions: Browser, name: str, target: str) -> None:
    instruction = matrix_instruction(name, target)
    facts = replace(
        inspection(),
        target=target,
        wave_size=instruction.wave_size,
        instructions=(replace(MATRIX, mnemonic=f"v_{instruction.mnemonic}"),),
    )
    [maps] = lane_maps(facts).values()
    for operand, shown in maps.items():
        layout = instruction.layout(operand)
        assert shown["copies"] == layout.copies
        places = call(functions, "placesOf", shown, 100)
        for number, place in enumerate(places):
            lane, element = layout.place(*divmod(number, layout.columns))
            register, bit = divmod(element * layout.bits, 32)
            assert place == {
                "lane": lane, "element": element, "register": 100 + register, "bit": bit
            }  # fmt: skip
