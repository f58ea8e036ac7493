"""Whatever the mouse does on the page, the keyboard does too."""

from __future__ import annotations

from pathlib import Path

import pytest

from amdjit.explorer.page import write_inspection_page, write_profile_page
from tests.explorer.chromium import Browser
from tests.explorer.hand_made import Profile, inspection, launch, long_kernel

keys = pytest.importorskip("selenium.webdriver.common.keys", reason="needs selenium").Keys

# What a mouse can act on: native controls, what has a role that is acted on, what shows a pointer.
ACTIVE = (
    "const shown = (e) => e.checkVisibility() && !e.closest('dialog:not([open])');"
    "const all = [...document.querySelectorAll('*')].filter(shown);"
    "const roles = '[role=tab], [role=option], [role=slider], [role=separator]';"
    "const cursors = ['pointer', 'crosshair', 'col-resize'];"
    "return all.filter((e) => e.matches(`button, select, input, a[href], ${roles}`)"
    " || cursors.includes(getComputedStyle(e).cursor));"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a profile with two launches."""
    path = tmp_path_factory.mktemp("keyboard") / "tile.html"
    write_profile_page(Profile((launch(), launch())), path)
    return path


def focused(browser: Browser) -> str:
    """Return what has the focus, and the row that is current in it."""
    found: str = browser.run(
        "const e = document.activeElement; const id = e.getAttribute('aria-activedescendant');"
        "return (e.getAttribute('aria-label') ?? e.id ?? '') + '|' + (id ?? '')"
    )
    return found


def current(browser: Browser) -> str:
    [text] = browser.texts(".listing .row.current .address")
    return text


def by_tab(browser: Browser) -> int:
    """Walk once through the page with Tab, and mark what got the focus, or is reached by arrow keys
    from it; return how many elements got the focus."""
    browser.run(
        "window.order = [];"
        "document.addEventListener('focusin', ({target}) => {"
        " if (!window.order.includes(target)) window.order.push(target);"
        " target.dataset.reached = '1';"
        " const inner = {listbox: '[role=option]', tablist: '[role=tab]'};"
        " const box = target.closest('[role=listbox], [role=tablist]');"
        " if (box) for (const o of box.querySelectorAll(inner[box.getAttribute('role')]))"
        "  o.dataset.reached = '1';"
        "})"
    )
    reached = -1
    while reached < (reached := browser.run("return window.order.length")):
        browser.keys(keys.TAB * 24)
    return reached


@pytest.mark.sample(2)
@pytest.mark.parametrize("tab", range(7))
def test_every_active_element_is_reached_with_tab_and_arrows(
    browser: Browser, page: Path, tab: int
) -> None:
    browser.load(page)
    browser.keys("i", keys.ARROW_DOWN, keys.ARROW_DOWN, keys.ARROW_DOWN, keys.ENTER)
    browser.keys(str(tab + 1))
    assert by_tab(browser) > 10
    left = browser.run(
        f"const active = (() => {{ {ACTIVE} }})();"
        "const reached = '[data-reached]';"
        "return active.filter((e) => !e.closest(reached) && !e.querySelector(reached))"
        ".map((e) => e.outerHTML.slice(0, 200))"
    )
    assert left == []


def test_what_has_the_focus_shows_it(browser: Browser, page: Path) -> None:
    browser.load(page)
    for _ in range(12):
        browser.keys(keys.TAB)
        outline = browser.run("return getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", focused(browser)


def test_rows_are_walked_and_pinned_with_keys(browser: Browser, page: Path) -> None:
    browser.load(page)
    browser.keys("i")
    assert current(browser) == "1000"
    browser.keys("j", "j", keys.ARROW_DOWN)
    assert current(browser) == "1014"
    browser.keys("k")
    assert current(browser) == "1010"
    browser.keys(keys.END)
    assert current(browser) == "1050"
    browser.keys(keys.HOME, keys.ENTER)
    assert browser.texts(".listing .row.pinned .address") == ["1000"]
    assert browser.run("return location.hash") == "#1000"
    browser.keys(keys.ESCAPE)
    assert browser.texts(".row.pinned") == []


def test_a_walk_through_instructions_is_followed_in_the_source(
    browser: Browser, page: Path
) -> None:
    browser.load(page)
    browser.keys("i", "j")
    assert browser.texts(".source .row.own .line") == ["8"]
    assert "v_mov_b32" in browser.texts("#panel-instruction h3")[0]


def test_search_goes_to_matches_with_keys(browser: Browser, page: Path) -> None:
    browser.load(page)
    browser.keys("/")
    browser.keys(*"unit:lds")
    assert browser.texts(".found") == ["2 matches"]
    assert len(browser.texts(".listing .row.dimmed")) == 10
    browser.keys(keys.ENTER)
    assert current(browser) == "1024"
    assert browser.texts(".found") == ["1 of 2 matches"]
    browser.keys(keys.ENTER)
    assert current(browser) == "102c"
    browser.keys(keys.SHIFT + keys.ENTER)
    assert current(browser) == "1024"
    # The search goes on outside of its field.
    browser.keys(keys.ESCAPE)
    for key, address in (("n", "102c"), ("n", "1024"), ("N", "102c"), ("p", "1024")):
        browser.keys(key)
        assert current(browser) == address
    browser.keys(keys.ESCAPE)
    assert browser.texts(".listing .row.dimmed") == []
    assert browser.texts(".found") == [""]


def test_the_search_field_takes_every_key(browser: Browser, page: Path) -> None:
    browser.load(page)
    text = "nNp[]sidhwvct?/jk1234"
    browser.keys("/")
    browser.keys(*text)
    assert browser.run("return document.activeElement.value") == text
    assert not browser.run("return document.querySelector('dialog').open")
    assert browser.texts(".explorer.comparing") == []


def test_a_match_far_away_is_scrolled_into_view(browser: Browser, tmp_path: Path) -> None:
    write_inspection_page(long_kernel(1000), tmp_path / "long.html")
    browser.load(tmp_path / "long.html")
    browser.keys("/")
    browser.keys(*"address:>=11000", keys.ENTER)
    browser.driver.execute_async_script("requestAnimationFrame(() => arguments[0]())")
    row, pane = browser.run(
        "const box = (s) => { const r = document.querySelector(s).getBoundingClientRect();"
        " return [r.top, r.bottom] }; return [box('.listing .row.current'), box('.listing')]"
    )
    assert pane[0] < row[0]
    assert row[1] < pane[1]


def test_blocks_tabs_heat_versions_and_help_have_keys(browser: Browser, page: Path) -> None:
    browser.load(page)
    browser.keys("]", "]")
    assert current(browser) == "1014"
    browser.keys("3")
    assert browser.texts('[role="tab"][aria-selected="true"]') == ["Occupancy"]
    before = browser.run("return document.querySelector('[aria-label=Heat]').value")
    browser.keys("h")
    assert browser.run("return document.querySelector('[aria-label=Heat]').value") != before
    browser.keys("v")
    assert browser.run("return document.querySelector('[aria-label=Version]').selectedIndex") == 1
    browser.keys("?")
    assert browser.run("return document.querySelector('dialog').open")
    browser.keys(keys.ESCAPE)
    assert not browser.run("return document.querySelector('dialog').open")


def test_two_versions_are_compared_with_a_key(browser: Browser, tmp_path: Path) -> None:
    write_inspection_page(inspection(), tmp_path / "two.html", inspection())
    browser.load(tmp_path / "two.html")
    browser.keys("c")
    assert len(browser.texts(".comparison table")) == 3
    assert browser.texts(".explorer.comparing") != []
    assert by_tab(browser) > 10
    # The choice of a version takes its keys itself.
    browser.run("document.activeElement.blur()")
    browser.keys("c")
    assert browser.texts(".explorer.comparing") == []


def test_the_slider_of_the_overview_moves_through_the_code(browser: Browser, page: Path) -> None:
    browser.load(page)
    browser.run("document.querySelector('[role=slider]').focus()")
    browser.keys(keys.ARROW_RIGHT, keys.ARROW_RIGHT)
    assert current(browser) == "1010"
    value = browser.run("return document.activeElement.getAttribute('aria-valuetext')")
    assert value == "instruction 3 of 12, 9 VGPRs alive"


def test_tabs_are_changed_with_arrow_keys(browser: Browser, page: Path) -> None:
    browser.load(page)
    browser.keys("d", keys.ARROW_RIGHT, keys.ARROW_RIGHT)
    selected = '[role="tab"][aria-selected="true"]'
    assert browser.texts(selected) == ["Occupancy"]
    browser.keys(keys.ARROW_LEFT)
    assert browser.texts(selected) == ["Lines"]
    browser.keys(keys.HOME, keys.ARROW_LEFT)
    assert browser.texts(selected) == ["Typed tree"]


def test_bars_between_panes_are_moved_with_keys(browser: Browser, page: Path) -> None:
    browser.load(page)
    widths = "return [...document.querySelectorAll('.pane')].map((e) => e.clientWidth)"
    before = browser.run(widths)
    browser.run("document.querySelector('.splitter').focus()")
    browser.keys(keys.ARROW_RIGHT, keys.ARROW_RIGHT)
    after = browser.run(widths)
    assert after[0] > before[0]
    assert after[1] < before[1]
    assert after[2] == before[2]
    browser.keys(keys.ARROW_LEFT * 60)
    assert browser.run(widths)[0] > 100


def test_every_control_has_a_name(browser: Browser, page: Path) -> None:
    browser.load(page)
    nameless = browser.run(
        "return [...document.querySelectorAll('button, select, input, [role=listbox], "
        "[role=slider], [role=separator], [role=region], [role=tablist], [role=group]')]"
        ".filter((e) => !(e.ariaLabel || e.textContent.trim() || e.labels?.length))"
        ".map((e) => e.outerHTML)"
    )
    assert nameless == []
