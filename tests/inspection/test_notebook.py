"""What notebooks show of kernels and inspections: well-formed HTML, escaped, that needs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

import amdjit
from amdjit import f32
from amdjit.compiled_kernel import CompiledKernel
from amdjit.inspection.facts import Companion
from amdjit.inspection.notebook import folded, preformatted, table, title

HOSTILE = '<script>alert("x")</script>&amp;</pre></td>'


@amdjit.kernel
def scale(x, s):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        x[i] = s * x[i]


@pytest.fixture(scope="module")
def compiled() -> CompiledKernel:
    return scale.compile(f32[:], f32, target="gfx1201")


def texts(html: str) -> Iterator[str]:
    """Yield the texts of well-formed HTML."""
    yield from ElementTree.fromstring(html).itertext()


class Elements(HTMLParser):
    """The names and attributes of elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes.update(name for name, _ in attrs)


def test_a_compiled_kernel_shows_signature_resources_and_listing(compiled: CompiledKernel) -> None:
    found = list(texts(compiled._repr_html_()))
    assert compiled.signature in found
    assert str(compiled.resources.vgprs) in found
    assert f"{len(compiled.inspect().instructions)} instructions" in found
    (listing,) = (text for text in found if "global_load_b32" in text)
    assert "x[i] = s * x[i]" in listing
    assert listing.count("\n  0x") == len(compiled.inspect().instructions)


def test_an_inspection_shows_its_lines(compiled: CompiledKernel) -> None:
    found = list(texts(compiled.inspect()._repr_html_()))
    assert "x[i] = s * x[i]" in found
    assert sum(text.startswith("test_notebook.py:") for text in found) == len(
        compiled.inspect().lines
    )


def test_the_parts_need_no_script_no_style_sheet_and_no_network(compiled: CompiledKernel) -> None:
    elements = Elements(compiled._repr_html_() + compiled.inspect()._repr_html_())
    assert elements.names <= {
        "div", "b", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "pre",
    }  # fmt: skip
    assert elements.attributes <= {"class", "style"}


def test_names_and_sources_are_escaped(compiled: CompiledKernel) -> None:
    inspection = compiled.inspect()
    place = next(iter(inspection.lines))
    hostile = replace(
        inspection,
        kernel=HOSTILE,
        missing=(HOSTILE,),
        companion=Companion({place[0]: f"{HOSTILE}\n" * 100}),
        instructions=tuple(replace(item, text=HOSTILE) for item in inspection.instructions),
    )
    html = hostile._repr_html_()
    assert not Elements(html).names & {"script"}
    found = list(texts(html))
    assert found.count(HOSTILE) >= 3
    for part in (title(HOSTILE, HOSTILE), table([HOSTILE], [[HOSTILE]]), preformatted(HOSTILE)):
        assert HOSTILE in "".join(texts(part))
    assert list(texts(folded(HOSTILE, preformatted(HOSTILE)))) == [HOSTILE, HOSTILE]


def test_what_is_not_known_is_said(compiled: CompiledKernel) -> None:
    bare = replace(compiled.inspect(), instructions=(), lines={}, missing=("everything",))
    html = bare._repr_html_()
    assert "everything" in "".join(texts(html))
    assert not re.search("instructions", html)


def test_numbers_have_their_thousands_apart_and_stand_to_the_right() -> None:
    html = table(("n", "text"), [(1234567, "x")])
    assert 'text-align: right; white-space: pre">1,234,567<' in html
    assert 'text-align: left; white-space: pre">x<' in html
