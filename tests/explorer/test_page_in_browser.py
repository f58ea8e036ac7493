"""The explorer's page in a real browser: links, keys, filters, hostile text, windows, colours."""

from __future__ import annotations

from pathlib import Path

import pytest
from chromium import Browser
from hand_made import HOSTILE, Profile, hostile, inspection, launch

from amdjit.explorer.page import write_inspection_page, write_profile_page


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a profile with one launch."""
    path = tmp_path_factory.mktemp("page") / "tile.html"
    write_profile_page(Profile((launch(),)), path)
    return path


def hover(browser: Browser, selector: str, nth: int = 0) -> None:
    browser.run(
        "document.querySelectorAll(arguments[0])[arguments[1]].dispatchEvent("
        "new MouseEvent('mouseover', {bubbles: true}))",
        selector,
        nth,
    )


def click(browser: Browser, selector: str, nth: int = 0) -> None:
    browser.run("document.querySelectorAll(arguments[0])[arguments[1]].click()", selector, nth)


def marked(browser: Browser, kinds: str) -> list[str]:
    """Return the instructions' texts, or the source lines' numbers, that have a mark."""
    return browser.texts(", ".join(f"{kinds}.{name}" for name in ("own", "outer", "pinned")))


LISTING = ".listing .row"
SOURCE = ".source .row"


def test_the_page_loads_without_a_word_in_the_console(browser: Browser, page: Path) -> None:
    browser.load(page)
    assert browser.messages() == []
    assert browser.texts("h1") == ["tile"]
    assert len(browser.texts(LISTING)) == 12


def test_an_instruction_marks_its_line_and_those_that_it_was_inlined_at(
    browser: Browser, page: Path
) -> None:
    browser.load(page)
    hover(browser, LISTING, 5)
    assert browser.texts(".source .row.own .line") == ["2"]
    assert browser.texts(".source .row.outer .line") == ["9"]
    own = browser.texts(".listing .row.own .address")
    assert own == ["1014", "1020", "1024"]


def test_a_line_marks_its_instructions_and_those_inlined_there(
    browser: Browser, page: Path
) -> None:
    browser.load(page)
    numbers = browser.texts(".source .row .line")
    hover(browser, SOURCE, numbers.index("9"))
    assert browser.texts(".listing .row.own .address") == ["1010"]
    assert browser.texts(".listing .row.outer .address") == ["1014", "1020", "1024", "102c"]


def test_hostile_text_stays_text(browser: Browser, tmp_path: Path) -> None:
    facts = hostile()
    write_profile_page(Profile((launch(facts),)), tmp_path / "page.html")
    browser.load(tmp_path / "page.html")
    for tab in range(len(browser.texts('[role="tab"]'))):
        click(browser, '[role="tab"]', tab)
    for row in range(len(facts.instructions)):
        click(browser, LISTING, row)
    assert browser.run("return window.hacked") is None
    assert browser.run("return document.querySelectorAll('img, main script').length") == 0
    assert browser.texts("h1") == [HOSTILE.replace("\u202e", "⟨U+202E⟩")]
    assert browser.messages() == []


def test_an_inspection_alone_says_that_nothing_was_launched(
    browser: Browser, tmp_path: Path
) -> None:
    write_inspection_page(inspection(), tmp_path / "page.html")
    browser.load(tmp_path / "page.html")
    click(browser, "#tab-cycles")
    assert "No launch" in browser.texts("#panel-cycles")[0]
    assert browser.messages() == []
