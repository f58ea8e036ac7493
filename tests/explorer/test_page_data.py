"""What stands in the page's file: data that a reader of HTML and JSON gets back as it was."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amdjit
from amdjit import f16, f32
from amdjit.cycles.estimate import STALLS, Segment
from amdjit.examples.perf_hgemm import perf_hgemm
from amdjit.examples.saxpy import saxpy
from amdjit.explorer.page import (
    document,
    in_script,
    inspection_page,
    profile_page,
    with_sources,
    write_profile_page,
)
from amdjit.explorer.page_data import inspection_data, ir_lines, merged, ranges, tree_lines
from tests.explorer.hand_made import HOSTILE, Profile, hostile, inspection, launch


class Reader(HTMLParser):
    """Reads a page as a browser does: its tags, its title, the texts of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.texts:
            self.texts[-1] += data

    def text(self, tag: str, nth: int = 0) -> str:
        """Return the text after the n-th tag of a name."""
        return self.texts[[n for n, name in enumerate(self.tags) if name == tag][nth]]


TAGS = ["html", "head", "meta", "meta", "meta", "meta", "title", "style", "body", "noscript",
        "script", "script"]  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_data_comes_back_as_it_was_and_makes_no_elements(value: Any) -> None:
    reader = Reader(document("title", value))
    assert reader.tags == TAGS
    assert json.loads(reader.text("script")) == value


@settings(max_examples=25, deadline=None)
@given(st.text() | st.sampled_from(["{data}", "</title>", HOSTILE, "\udc80"]))
def test_titles_come_back_as_they_were(title: str) -> None:
    reader = Reader(document(title, {}))
    assert reader.tags == TAGS
    shown = title.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    assert reader.text("title").removesuffix("\n") == shown


@pytest.mark.parametrize(
    "text", ["</script ", "</SCRIPT\t>", "<!--<script>", "<script", "]]>", "&lt;"]
)
def test_nothing_in_a_script_can_end_it(text: str) -> None:
    written = in_script({text: [text]})
    assert not set("<>&") & set(written)
    assert json.loads(written) == {text: [text]}


def test_a_hostile_kernel_makes_no_elements() -> None:
    reader = Reader(inspection_page(hostile(), hostile()))
    assert reader.tags == TAGS
    data = json.loads(reader.text("script"))
    assert data["kernels"][0]["kernel"] == HOSTILE


def test_the_page_asks_nothing_of_the_network() -> None:
    page = inspection_page(inspection())
    reader = Reader(page)
    assert not {"link", "img", "iframe", "object", "embed"} & set(reader.tags)
    assert "default-src 'none'" in unescape(page)
    script, style = reader.text("script", 1), reader.text("style")
    for word in ("fetch(", "XMLHttpRequest", "import(", "WebSocket", "innerHTML", "eval("):
        assert word not in script
    assert "url(" not in style
    assert "@import" not in style


@given(st.sets(st.integers(0, 511)))
def test_ranges_are_the_set(numbers: set[int]) -> None:
    found: set[int] = set()
    for run in ranges(numbers).split():
        first, _, last = run.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    assert found == numbers


def test_ir_lines_are_those_of_the_kernels_source() -> None:
    compiled = perf_hgemm.compile(*[f16[:, :]] * 4, f32, f32)
    lines = list(ir_lines(compiled.optimized_llvm))
    text = Path(perf_hgemm.function.__code__.co_filename).read_text().splitlines()
    products = [place for line, place in lines if "wmma" in line and "call" in line]
    assert len(products) > 10
    for place in products:
        assert place is not None
        assert Path(place[0]) == Path(perf_hgemm.function.__code__.co_filename)
        assert "mma_sync" in text[place[1] - 1]
    assert not any(line.startswith("!") or "!dbg" in line for line, _ in lines)


def test_broken_debug_metadata_gives_no_places() -> None:
    circle = (
        "%1 = add i32 1, 2, !dbg !1\n!1 = !DILocation(line: 3, scope: !2)\n!2 = !X(scope: !2)\n"
    )
    assert list(ir_lines(circle)) == [("%1 = add i32 1, 2", None)]
    assert list(ir_lines("ret void, !dbg !9\n")) == [("ret void", None)]


def test_lines_of_the_typed_tree_keep_their_files() -> None:
    lines = list(tree_lines("# /a b.py\n12 | x\n   | y\n# /c.py\n 3 | z\n"))
    assert [text for text, _ in lines] == ["# a b.py", "x", "y", "# c.py", "z"]
    assert [place for _, place in lines] == [None, ("/a b.py", 12), None, None, ("/c.py", 3)]


def test_merged_segments_cover_the_same_time() -> None:
    draw = random.Random(4)
    for _ in range(50):
        segments, cycle = [], 7
        for _ in range(draw.randrange(1, 200)):
            length = draw.randrange(1, 9)
            segments.append(Segment(cycle, cycle + length, draw.choice(STALLS)))
            cycle += length
        most = draw.randrange(1, 220)
        found = merged(segments, most)
        assert len(found) <= max(most, 1)
        assert found == segments or len(segments) > most
        assert (found[0].start, found[-1].end) == (7, cycle)
        for one, two in pairwise(found):
            assert one.end == two.start
        by_cycle = {c: s.what for s in segments for c in range(s.start, s.end)}
        for part in found:
            whats = [by_cycle[c] for c in range(part.start, part.end)]
            assert whats.count(part.what) == max(map(whats.count, whats))


def test_sources_are_read_only_if_they_are_source_code(tmp_path: Path) -> None:
    code, secret = tmp_path / "kernel.py", tmp_path / "id_rsa"
    code.write_text("a\nb\n")
    secret.write_text("secret")
    facts = inspection()
    instructions = tuple(
        replace(each, file=str(path), line=1)
        for each, path in zip(facts.instructions, (code, secret, tmp_path / "no.py"), strict=False)
    )
    found = with_sources(replace(facts, instructions=instructions))
    assert found.companion.sources[str(code)] == "a\nb\n"
    assert str(secret) not in found.companion.sources
    assert str(tmp_path / "no.py") not in found.companion.sources


def test_a_kernel_and_its_inlined_calls_are_found_in_the_data() -> None:
    data = inspection_data(perf_hgemm.compile(*[f16[:, :]] * 4, f32, f32).inspect())
    [file] = [each for each in data["files"] if each["name"].endswith("perf_hgemm.py")]
    number = data["files"].index(file)
    product = next(each for each in data["instructions"] if each["unit"] == "WMMA")
    assert product["place"][0] == number
    assert "mma_sync" in file["lines"][product["place"][1] - file["first"]]
    _, line = data["stacks"][product["stack"]][0]["place"]
    assert "multiply(" in file["lines"][line - file["first"]]
    assert product["mnemonic"] in data["lane_maps"]
    assert product["meaning"].endswith(".")


def test_a_profile_without_launches_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no launches"):
        write_profile_page(Profile(()), tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_launches_of_one_kernel_share_its_code() -> None:
    data = json.loads(Reader(profile_page(Profile((launch(), launch())))).text("script"))
    assert len(data["kernels"]) == 1
    assert [version["kernel"] for version in data["versions"]] == [0, 0]


def test_a_real_profile_has_counts_at_the_addresses_of_its_instructions() -> None:
    x, y, out = (np.ones(256, np.float32) for _ in range(3))
    with amdjit.profile() as profile:
        saxpy[4, 64](f32(2), x, y, out)
    data = json.loads(Reader(profile_page(profile)).text("script"))
    [version] = data["versions"]
    addresses = {str(each["address"]) for each in data["kernels"][0]["instructions"]}
    counts = version["launch"]["counts"]
    assert set(counts) == addresses
    assert max(each["executions"] for each in counts.values() if each) == 8
    cycles = version["launch"]["cycles"]
    assert cycles["kernel"] == profile.launches[0].cycles.kernel > 0
    assert set(cycles["by_instruction"]) <= addresses
    assert cycles["timeline"]
    assert all(len(wave["segments"]) % 3 == 0 for wave in cycles["timeline"])
