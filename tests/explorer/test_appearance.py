"""Windows of all widths, dark and light, paper: what is there can be read."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

from amdjit.explorer.page import inspection_page, write_inspection_page, write_profile_page
from tests.explorer.chromium import Browser
from tests.explorer.hand_made import Profile, launch, long_kernel

TABS = ("instruction", "lines", "occupancy", "memory", "cycles", "llvm", "tree")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a profile with one launch."""
    path = tmp_path_factory.mktemp("appearance") / "tile.html"
    write_profile_page(Profile((launch(),)), path)
    return path


@pytest.mark.sample(2)
@pytest.mark.parametrize("width", [320, 480, 760, 1000, 1400, 2200])
def test_the_page_is_never_wider_than_its_window(browser: Browser, page: Path, width: int) -> None:
    browser.load(page, width, 800)
    for tab in TABS:
        browser.run(
            "document.querySelector('[data-pane=details]').click();"
            "document.querySelectorAll('.listing .row')[8].click();"
            f"document.querySelector('#tab-{tab}').click()"
        )
        assert browser.run("return document.documentElement.scrollWidth") <= width, tab


@pytest.mark.parametrize("width", [1280, 1440, 1920])
def test_nothing_is_cut_in_the_usual_windows(browser: Browser, page: Path, width: int) -> None:
    """Source lines and short instructions are whole, and the columns of the memory tab are there
    that tell good accesses from bad ones."""
    browser.load(page, width, 900)
    cut = browser.run(
        "document.querySelector('#tab-memory').click();"
        "const inside = (e, pane) => e.getBoundingClientRect().right"
        " <= document.querySelector(pane).getBoundingClientRect().right + 1;"
        "const columns = [...document.querySelectorAll('#panel-memory th')].slice(0, 4);"
        "return ["
        " [...document.querySelectorAll('.source .row .code')].filter((e) =>"
        "  e.scrollWidth > e.clientWidth || !inside(e, '.source')),"
        " [...document.querySelectorAll('.listing .row .code')].filter((e) =>"
        "  e.textContent.length < 38 && e.scrollWidth > e.clientWidth),"
        " [...document.querySelectorAll('.listing .row .line')].filter((e) =>"
        "  !inside(e, '.pane.isa')),"
        " columns.filter((e) => !inside(e, '.pane.details')),"
        "].map((found) => found.map((e) => e.textContent))"
    )
    assert cut == [[], [], [], []]
    names = browser.texts("#panel-memory th")[:4]
    assert names == ["instruction", "used", "lines each", "requests"]


def test_columns_have_headings_above_them(browser: Browser, page: Path) -> None:
    browser.load(page)
    headings = browser.texts(".listing .column-head > *")
    assert headings == ["addr.", "stalls", "unit", "instruction", "live", "line"]
    assert browser.texts(".source .column-head > *") == ["line", "stalls", "instr.", "source"]
    aligned = browser.run(
        "const right = (e) => e.getBoundingClientRect().right;"
        "return ['.listing', '.source'].flatMap((list) => ["
        " document.querySelector(list + ' .column-head .heat'),"
        " document.querySelector(list + ' .row .heat')].map(right))"
    )
    assert aligned[0] == pytest.approx(aligned[1], abs=1)
    assert aligned[2] == pytest.approx(aligned[3], abs=1)
    browser.keys("h")
    assert browser.texts(".listing .column-head .heat") == ["issue"]


def test_a_narrow_window_shows_one_part_at_a_time(browser: Browser, page: Path) -> None:
    browser.load(page, 480, 800)
    for part in ("source", "isa", "details"):
        browser.run(f"document.querySelector('[data-pane={part}]').click()")
        shown = browser.run(
            "return [...document.querySelectorAll('.pane')].filter((e) => e.checkVisibility())"
            ".map((e) => e.className)"
        )
        assert shown == [f"pane {part}"]


def luminance(colour: str) -> float:
    """Return the relative luminance of `rgb(…)`, as WCAG 2.2 defines it."""
    parts = [int(n) / 255 for n in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(browser: Browser, selector: str) -> float:
    """Return the contrast of an element's text with the page's ground, by WCAG 2.2."""
    text, ground = browser.run(
        "return [getComputedStyle(document.querySelector(arguments[0])).color,"
        " getComputedStyle(document.body).backgroundColor]",
        selector,
    )
    light, dark = sorted((luminance(text), luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


TEXTS = (
    "h1", ".target", ".figures dt", ".listing .address", ".listing .vgpr", ".listing .sgpr",
    ".listing .number", ".source .without-code", ".source .string", ".block-head", "#tab-lines",
    ".status", ".missing",
)  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_the_contrast_that_they_need(browser: Browser, page: Path, scheme: str) -> None:
    browser.load(page)
    browser.media(scheme)
    found = {selector: round(contrast(browser, selector), 2) for selector in TEXTS}
    assert {selector: value for selector, value in found.items() if value < 4.5} == {}
    is_dark = luminance(browser.run("return getComputedStyle(document.body).backgroundColor")) < 0.1
    assert is_dark == (scheme == "dark")


def test_the_theme_can_be_chosen_against_the_system(browser: Browser, page: Path) -> None:
    browser.load(page)
    browser.keys("t", "t")
    assert browser.run("return document.documentElement.dataset.theme") == "dark"
    ground = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert luminance(ground) < 0.1
    browser.run("localStorage.clear()")


@pytest.mark.parametrize("width", [680, 1500])
def test_paper_has_everything_and_no_controls(browser: Browser, page: Path, width: int) -> None:
    browser.load(page)
    browser.run("window.dispatchEvent(new Event('beforeprint'))")
    browser.media(kind="print")
    browser.resize(width, 1000)
    visible = (
        "return [...document.querySelectorAll(arguments[0])]"
        ".filter((e) => e.checkVisibility()).length"
    )
    for selector in (
        "h1",
        ".list.source",
        ".listing",
        "#panel-lines",
        "#panel-memory",
        "#panel-cycles",
    ):
        assert browser.run(visible, selector) == 1, selector
    for selector in (".toolbar", "button:not(.link)", "input", "select", ".status", "#panel-llvm"):
        assert browser.run(visible, selector) == 0, selector
    assert browser.run(visible, ".listing .row") == 12
    cut = browser.run(
        "return [...document.querySelectorAll('.list, .panel, .table, main, .pane')].filter((e) =>"
        " e.checkVisibility() && e.scrollHeight > e.clientHeight + 1 &&"
        " getComputedStyle(e).overflowY !== 'visible').map((e) => e.className)"
    )
    assert cut == []
    browser.media()


def test_paper_has_pages_for_all_instructions(browser: Browser, tmp_path: Path) -> None:
    write_inspection_page(long_kernel(240), tmp_path / "long.html")
    browser.load(tmp_path / "long.html")
    printed = browser.driver.execute_cdp_cmd("Page.printToPDF", {})
    pdf = base64.b64decode(printed["data"])
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 240 * 20 / 1200


def test_two_thousand_instructions_take_less_than_two_megabytes() -> None:
    assert len(inspection_page(long_kernel(2000)).encode()) < 2_000_000


def test_two_thousand_instructions_are_shown_within_a_second(
    browser: Browser, tmp_path: Path
) -> None:
    """Counted is the processor time of the page's thread: other processes may be at work."""
    write_inspection_page(long_kernel(2000), tmp_path / "long.html")
    browser.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    seconds = []
    for _ in range(2):
        browser.load(tmp_path / "long.html", 1440, 900)
        frame = "requestAnimationFrame(() => setTimeout(arguments[0], 0))"
        browser.driver.execute_async_script(frame)
        metrics = browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        seconds += [each["value"] for each in metrics if each["name"] == "TaskDuration"]
    browser.driver.execute_cdp_cmd("Performance.disable", {})
    assert min(seconds) < 1


def test_five_thousand_instructions_are_usable(browser: Browser, tmp_path: Path) -> None:
    write_inspection_page(long_kernel(5000), tmp_path / "long.html")
    browser.load(tmp_path / "long.html")
    browser.keys("/", "live:199")
    assert browser.texts(".found") == ["25 matches"]
    assert browser.messages() == []
