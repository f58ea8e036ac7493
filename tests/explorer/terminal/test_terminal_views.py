"""The views of an inspection as text."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from amdjit.explorer.terminal.screen import Screen
from amdjit.explorer.terminal.views import VIEWS, view
from amdjit.inspection.facts import Occupancy, OccupancyStep, Peak
from tests.explorer.terminal.inspected_values import INSPECTION, INSTRUCTIONS

ESCAPES = re.compile(r"\033\[\d*m")


def body(name: str, screen: Screen | None = None) -> list[str]:
    """Return the lines of a view, without what all begin and end with."""
    return view(INSPECTION, name, screen or Screen()).splitlines()[3:-2]


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_says_what_the_kernel_is_and_what_is_not_known(name: str) -> None:
    text = view(INSPECTION, name)
    assert text.startswith(
        "sums: gfx1201, wave32\n"
        "8 instructions, 44 bytes; 120 VGPRs, 8 SGPRs, 1024 bytes of LDS, no scratch\n"
    )
    assert text.endswith("\nnot known: the compiler: no debug information names it")


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("width", [28, 40, 80, 132])
def test_every_view_keeps_to_the_width_of_the_screen(name: str, width: int) -> None:
    lines = view(INSPECTION, name, Screen(width)).splitlines()
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_is_the_same_text_in_colour_and_plain_ascii_without_unicode(name: str) -> None:
    coloured = view(INSPECTION, name, Screen(colour=True))
    lines = [line.rstrip() for line in ESCAPES.sub("", coloured).splitlines()]
    assert lines == [line.rstrip() for line in view(INSPECTION, name).splitlines()]
    assert "\033" in coloured
    assert view(INSPECTION, name, Screen(unicode=False)).isascii()


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_shows_a_kernel_of_which_nothing_is_known(name: str) -> None:
    bare = replace(
        INSPECTION,
        instructions=(),
        blocks=(),
        loops=(),
        lines={},
        accesses=(),
        peak=Peak(0, 0, 0),
        occupancy=Occupancy(0, "none", {}, ()),
    )
    text = view(bare, name)
    assert "sums: gfx1201" in text
    assert "\n44 bytes of code; 120 VGPRs" in text
    assert "does not" not in text


def test_a_kernel_without_accesses_or_waits_says_so() -> None:
    idle = replace(INSPECTION, instructions=INSTRUCTIONS[:1], accesses=())
    assert "the kernel does not access memory" in view(idle, "memory")
    assert "the kernel does not wait for memory" in view(idle, "waits")
    unread = replace(INSPECTION, accesses=())
    assert "does not access" not in view(unread, "memory")


def test_lines_count_instructions_by_unit_beside_the_source() -> None:
    assert body("lines") == [
        "sums.py",
        "line  VALU  vmem  LDS  branch  wait  VGPRs  SGPRs  source",
        "   2                        1           60      2  for i in range(8):",
        "   3     1     1                  1    120      2  total += x[i]",
        "   4                1       1     1      2      2  x[0] = total",
        "",
        "without a line: 1 VALU",
    ]


def test_pressure_draws_live_registers_and_where_more_waves_would_fit() -> None:
    lines = body("pressure")
    assert lines[:5] == [
        "peak: 120 VGPRs, 2 SGPRs live at 0x110 (sums.py:3)",
        "  total: f32 in v1",
        f"   110 {'written by sums.py:3':32} total += x[i]",
        "    10 written by lines that are not known",
        "│ 96 VGPRs: 16 waves would fit",
    ]
    rows = lines[6:]
    assert len(rows) == len(INSTRUCTIONS)
    for row, item in zip(rows, INSTRUCTIONS, strict=True):
        drawn = row.count("█") + "  ▏▎▍▌▋▊▉".find(next(iter(re.findall("[▏▎▍▌▋▊▉]", row)), " ")) / 8
        assert drawn == pytest.approx(len(item.live_vgprs) / 3, abs=0.2)
        assert f" {len(item.live_vgprs)} " in row
        assert item.text in row
        if len(item.live_vgprs) < 96:
            assert row.index("│") == len("   0x104   120 ") + 32
        assert ("┃" in row) == (item.loop_depth == 1)


def test_pressure_groups_instructions_of_long_kernels_by_their_most() -> None:
    many = tuple(
        replace(INSTRUCTIONS[1], address=4 * n, live_vgprs=frozenset(range(n % 120)))
        for n in range(1000)
    )
    text = view(replace(INSPECTION, instructions=many), "pressure")
    rows = re.findall(r"^ +(0x\w+) +(\d+) ", text, re.MULTILINE)
    assert 32 <= len(rows) <= 64
    starts = [*(int(address, 16) // 4 for address, _ in rows), 1000]
    for (_, most), (first, end) in zip(rows, pairwise(starts), strict=True):
        assert int(most) == max(n % 120 for n in range(first, end))


def test_memory_says_how_the_addresses_of_lanes_lie() -> None:
    lines = body("memory")
    assert lines[0].split() == [
        "address", "space", "kind", "bytes", "lanes", "conflicts", "policy", "line", "source",
    ]  # fmt: skip
    assert re.fullmatch(
        r"0x104 +global +load +4 +contiguous +sums.py:3 +total \+= x\[i\]", lines[1]
    )
    assert re.fullmatch(r"0x120 +LDS +store +4 +128 bytes apart +31 +sums.py:4 .*", lines[2])
    assert re.fullmatch(r"0x124 +global +load +8 +\? +th:TH_LOAD_NT", lines[3])


def test_waits_name_what_they_wait_for_with_lines() -> None:
    lines = body("waits")
    assert [re.sub(" +", " ", line) for line in lines] == [
        "0x110 s_wait_loadcnt 0x0 sums.py:3 total += x[i]",
        " ← 0x104 global_load_b32 v2, v0, s[0:1] sums.py:3 total += x[i] (0 between)",
        "0x118 s_cbranch_scc1 65529 sums.py:2 for i in range(8):",
        " ← 0x118 s_cbranch_scc1 65529 sums.py:2 for i in range(8): (in an earlier round of the"
        " loop)",
        "0x11c s_wait_dscnt 0x0 sums.py:4 x[0] = total",
        " for nothing that is known to be in flight",
    ]


def test_occupancy_shows_limits_and_what_more_waves_need() -> None:
    assert body("occupancy") == [
        "12 waves a SIMD, limited by VGPRs",
        "",
        "limit  waves",
        "VGPRs     12  ████████████",
        "LDS       16  ████████████████",
        "",
        "what more waves would need",
        "  24 VGPRs fewer: 12 -> 16 waves",
    ]


def test_occupancy_without_a_limit_names_none() -> None:
    full = Occupancy(16, "none", {"vgprs": 16}, (OccupancyStep(16, None, None, "x"),))
    assert "16 waves a SIMD\n" in view(replace(INSPECTION, occupancy=full), "occupancy")


def test_a_listing_has_labels_source_lines_and_live_registers() -> None:
    lines = body("asm")
    assert lines[0] == "block 0:"
    assert lines[2:5] == [
        "block 1: in loop 0, 1 deep",
        "; sums.py:3  total += x[i]",
        f"   0x104  {INSTRUCTIONS[1].text:48}  100 VGPRs",
    ]
    assert sum(item.text in line for item in INSTRUCTIONS for line in lines) == len(INSTRUCTIONS)
