"""The explorer's page in a real browser: links, keys, filters, hostile text, windows, colours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from amdjit.explorer.page import write_inspection_page, write_profile_page
from amdjit.inspection.facts import LineFacts
from amdjit.inspection.inspection import Companion, Inspection
from amdjit.intrinsics.models.matrix_layouts import layout
from tests.explorer.chromium import Browser
from tests.explorer.hand_made import (
    HOSTILE,
    Launch,
    Profile,
    hostile,
    inspection,
    launch,
)


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


TIMES = "\N{MULTIPLICATION SIGN}"
MINUS = "\N{MINUS SIGN}"


def with_lines(facts: Inspection) -> Inspection:
    """Return facts with the lines that their instructions name."""
    places = {each.place for each in facts.instructions} - {None}
    lines = {place: LineFacts(*place, (), {}, 0, 0) for place in places if place}
    return replace(facts, lines=lines)


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


def test_a_wait_is_joined_with_what_it_waits_for(browser: Browser, page: Path) -> None:
    browser.load(page)
    arrows = ".waits .chosen .wait"
    assert browser.texts(arrows) == []
    for row, waits in ((7, ["7"]), (5, ["7"]), (8, ["7"]), (3, ["4"]), (1, [])):
        click(browser, LISTING, row)
        found = browser.run(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.dataset.wait)", arrows
        )
        assert found == waits, row
    # One tip for each of the two LDS instructions that the wait is for.
    click(browser, LISTING, 7)
    assert len(browser.texts(f"{arrows} .tip")) == 2
    browser.keys("w")
    assert len(browser.texts(".waits .all .wait")) == 3


def test_arrows_meet_the_rows_that_they_join(browser: Browser, page: Path) -> None:
    browser.load(page)
    click(browser, LISTING, 7)
    ends = browser.run(
        "const middle = (e) => {"
        " const r = e.getBoundingClientRect(); return r.top + r.height / 2 };"
        "const rows = [...document.querySelectorAll('.listing .row')].map(middle);"
        "const at = (selector) => [...document.querySelectorAll(selector)].map((e) => {"
        " const y = middle(e);"
        " return rows.indexOf(rows.find((row) => Math.abs(row - y) < 1)) });"
        "return [at('.waits .chosen .tip'), at('.waits .chosen .start'), at('.jumps .tip')]"
    )
    assert ends == [[5, 6], [7], [3]]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("measure", "instruction", "line"),
    [
        ("executions", {"1000": "1", "1038": "4", "1050": "1"}, "4"),
        ("stalls", {"1000": "", "1020": "400", "1038": ""}, ""),
        ("live", {"1008": "2", "1038": "18"}, "18"),
        ("bytes", {"1014": "2.05k", "1038": ""}, ""),
        ("idle", {"1000": "", "1038": "32"}, "64"),
        ("lds_conflict_cycles", {"1024": "24", "102c": ""}, ""),
        ("static", {"1038": "16"}, "17"),
    ],
)
def test_heat_shows_the_measure_that_is_chosen(
    browser: Browser, page: Path, measure: str, instruction: dict[str, str], line: str
) -> None:
    browser.load(page)
    browser.run(
        "const e = document.querySelector('[aria-label=Heat]'); e.value = arguments[0];"
        "e.dispatchEvent(new Event('change'))",
        measure,
    )
    addresses, values = browser.texts(f"{LISTING} .address"), browser.texts(f"{LISTING} .heat")
    shown = dict(zip(addresses, values, strict=True))
    assert {address: shown[address] for address in instruction} == instruction
    numbers = browser.texts(f"{SOURCE} .line")
    assert browser.texts(f"{SOURCE} .heat")[numbers.index("10")] == line
    # The warmest instruction is fully coloured, those without a value not at all.
    warmth = browser.run(
        "return [...document.querySelectorAll('.listing .row .heat')].map((e) =>"
        " [e.textContent, Number(e.style.getPropertyValue('--heat'))])"
    )
    assert max(share for _, share in warmth) == 1
    assert all((share > 0) == (text != "") for text, share in warmth)


def test_only_matches_hides_the_others(browser: Browser, page: Path) -> None:
    browser.load(page)
    browser.run(
        "const e = document.querySelector('[aria-label=Unit]'); e.value = 'vector_memory';"
        "e.dispatchEvent(new Event('change'))"
    )
    assert browser.texts(".found") == ["2 matches"]
    browser.run(
        "[...document.querySelectorAll('.toolbar button')]"
        ".find((e) => e.textContent === 'only matches').click()"
    )
    shown = browser.run(
        "return [...document.querySelectorAll('.listing .row')].filter((e) => e.checkVisibility())"
        ".map((e) => e.querySelector('.address').textContent)"
    )
    assert shown == ["1014", "1044"]


def test_ir_and_tree_are_linked_with_the_source(browser: Browser, page: Path) -> None:
    browser.load(page)
    for tab, text in (("llvm", "%1 = call"), ("tree", "total = mma")):
        click(browser, f"#tab-{tab}")
        rows = browser.texts(f"#panel-{tab} .row")
        [number] = [n for n, row in enumerate(rows) if text in row]
        hover(browser, f"#panel-{tab} .row", number)
        assert browser.texts(".source .row.own .line") == ["10"]
        assert browser.texts(".listing .row.own .address") == ["1034", "1038"]


def test_a_lane_shows_where_its_elements_are(browser: Browser, page: Path) -> None:
    browser.load(page)
    click(browser, LISTING, 8)
    browser.run(
        "const e = document.querySelector('[aria-label=lane]'); e.value = 17;"
        "e.dispatchEvent(new Event('input'))"
    )
    held = browser.run(
        "return [...document.querySelectorAll('.grids table')].map((t) =>"
        " [...t.querySelectorAll('td')].flatMap((e, n) => e.matches('.held') ? [n] : []))"
    )
    layouts = [layout("wmma_f32_16x16x16_f16", operand) for operand in "dabc"]
    expected = [
        sorted(16 * row + column for row, column in (each.element(17, i) for i in range(8)))
        for each in layouts
    ]
    assert held == expected


def test_the_address_of_the_page_leads_to_an_instruction(browser: Browser, page: Path) -> None:
    browser.load(page)
    browser.driver.get("about:blank")
    browser.driver.get(f"{page.resolve().as_uri()}#1038")
    browser.driver.execute_async_script("requestAnimationFrame(arguments[0])")
    assert browser.texts(".listing .row.current .address") == ["1038"]


def test_the_summary_says_what_was_launched(browser: Browser, page: Path) -> None:
    browser.load(page)
    assert f"Launch2groups of 64 {TIMES} 2, 8 waves" in browser.texts(".figures > div")
    assert "one workgroup is not recorded" in browser.texts(".missing li")


def test_a_launch_without_an_estimate_says_why(browser: Browser, tmp_path: Path) -> None:
    bare = replace(launch(), cycles=None, no_cycles="no workgroup was recorded", roofline=None)
    write_profile_page(Profile((bare,)), tmp_path / "page.html")
    browser.load(tmp_path / "page.html")
    click(browser, "#tab-cycles")
    assert browser.texts("#panel-cycles .nothing") == [
        "No estimate of cycles: no workgroup was recorded."
    ]
    heats = browser.texts("[aria-label=Heat] option")
    assert "executions (waves)" in heats
    assert not any("estimated" in text for text in heats)


def test_memory_shows_conflicts_of_lds_and_of_registers(browser: Browser, page: Path) -> None:
    browser.load(page)
    click(browser, "#tab-memory")
    assert browser.texts("#panel-memory tr.warn td") == ["1024 ds_store_b128", "6", "32", "24"]
    [banks] = browser.texts("#panel-memory h4")
    assert banks == "VGPR banks: 1 of 1 WMMA instruction with operands in one bank"


def test_the_summary_marks_what_rests_on_assumptions(browser: Browser, page: Path) -> None:
    browser.load(page)
    marked = browser.texts(".figures .estimate dd")
    assert [text.split()[0] for text in marked] == ["5,3212.10", "31"]
    click(browser, "#tab-cycles")
    assert browser.texts(".assumptions li") == ["Caches are warm: no trace covers that."]


def test_what_is_missing_is_said(browser: Browser, tmp_path: Path) -> None:
    bare = replace(
        inspection(),
        instructions=tuple(
            replace(each, file=None, line=None, inlined_from=(), issue_cycles=None)
            for each in inspection().instructions
        ),
        accesses=(),
        missing=("no debug information: lines are not known",),
        companion=Companion(),
    )
    write_inspection_page(bare, tmp_path / "bare.html")
    browser.load(tmp_path / "bare.html")
    assert browser.texts(".missing li") == ["no debug information: lines are not known"]
    assert "no debug information" in browser.texts(".list.source")[0]
    click(browser, LISTING, 2)
    assert "No source line" in browser.texts("#panel-instruction")[0]
    assert "not known" in browser.texts("#panel-instruction .facts")[0]
    for tab in ("lines", "memory", "llvm", "tree"):
        click(browser, f"#tab-{tab}")
        assert len(browser.texts(f"#panel-{tab} .nothing")) == 1, tab
    assert browser.messages() == []


def test_a_comparison_aligns_lines_and_instructions(browser: Browser, tmp_path: Path) -> None:
    first = inspection()
    kept = tuple(each for each in first.instructions if "ds_store" not in each.text)
    write_inspection_page(first, tmp_path / "two.html", replace(first, vgprs=48, instructions=kept))
    browser.load(tmp_path / "two.html")
    browser.keys("c")
    rows = browser.run(
        "return [...document.querySelectorAll('.comparison tr')].map((r) =>"
        " [...r.cells].map((c) => c.textContent))"
    )
    assert ["VGPRs", "24", "48", "+24", "+100 %"] in rows
    assert ["instructions", "12", "11", f"{MINUS}1", f"{MINUS}8.3 %"] in rows
    [line] = [row for row in rows if row[0].startswith("library.py:2")]
    conflicts, instructions, live = ["6", "", f"{MINUS}6"], ["3", "2", f"{MINUS}1"], ["14", "13"]
    assert line == [
        "library.py:2staged = lds(a)",
        *conflicts,
        *instructions,
        *live,
        f"{MINUS}1",
        f"LDS {MINUS}1",
    ]
    assert ["1024 ds_store_b128 v17, v[0:3]", ""] in rows
    assert browser.messages() == []


def test_lines_that_moved_are_compared_with_themselves(browser: Browser, tmp_path: Path) -> None:
    first = inspection()
    [*files] = first.companion.sources
    texts = dict(first.companion.sources)
    texts[files[0]] = "# A new line.\n" + texts[files[0]]
    moved = tuple(
        replace(each, line=each.line + 1) if each.line and each.file == files[0] else each
        for each in first.instructions
    )
    second = replace(first, instructions=moved, companion=Companion(sources=texts))
    write_inspection_page(with_lines(first), tmp_path / "moved.html", with_lines(second))
    browser.load(tmp_path / "moved.html")
    browser.keys("c")
    changed = browser.texts(".comparison table:nth-of-type(1) tbody tr.changed")
    assert changed == []
    names = browser.texts(".comparison tbody td:first-child .link")
    assert len(names) == len({each.place for each in first.instructions})


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


def test_what_costs_most_stands_at_the_top_and_leads_to_its_line(
    browser: Browser, page: Path
) -> None:
    browser.load(page)
    assert browser.texts(".causes h2") == ["Look here first"]
    assert browser.texts(".causes li") == [
        " too small to tell what limits it",
        "library.py:2 waves wait for loads (83 % of ...)",
        "tile.py:9 75 % of the LDS cycles",
        "tile.py:10 each needs the one before",
    ]
    click(browser, ".causes button", 1)
    assert browser.texts(".source .row.pinned .line") == ["9"]


def test_the_code_alone_says_what_costs_most(browser: Browser, tmp_path: Path) -> None:
    write_inspection_page(inspection(), tmp_path / "page.html")
    browser.load(tmp_path / "page.html")
    first, *_ = browser.texts(".causes li")
    assert first.startswith("tile.py:9 bank conflicts add 6 cycles to each store of LDS")


def test_a_small_launch_is_not_called_bound(browser: Browser, tmp_path: Path) -> None:
    roofline = launch().roofline
    assert roofline is not None
    small = replace(launch(), roofline=replace(roofline, bound="size"))
    write_profile_page(Profile((small,)), tmp_path / "page.html")
    browser.load(tmp_path / "page.html")
    click(browser, "#tab-cycles")
    assert "Bound by?too small a launch to tell" in browser.texts(".figures > div")
    assert "bound by memory" not in browser.texts("main")[0]


def two_launches() -> tuple[Launch, Launch]:
    """Return two launches of kernels that are told apart by a constant: the second has no
    conflicts, takes half of the cycles, and lies one line further down."""
    first, second = (
        replace(launch(replace(inspection(), companion=labelled(n))), code_object=n.encode())
        for n in ("32", "33")
    )
    cycles = second.cycles
    assert cycles is not None
    halves = {
        address: replace(each, stalls={name: n // 2 for name, n in each.stalls.items()})
        for address, each in cycles.by_instruction.items()
    }
    counts = tuple(replace(each, lds_conflict_cycles=0) for each in second.instructions)
    faster = replace(cycles, kernel=4321, by_instruction=halves)
    return first, replace(second, cycles=faster, instructions=counts, grid=(4, 1, 1))


def labelled(pitch: str) -> Companion:
    return replace(inspection().companion, labels={"a": "f32[:]", "pitch": pitch, "time": pitch})


def test_two_launches_are_named_by_what_differs_and_compared_by_line(
    browser: Browser, tmp_path: Path
) -> None:
    write_profile_page(Profile(two_launches()), tmp_path / "two.html")
    browser.load(tmp_path / "two.html")
    names = ["launch 1: pitch=32, grid=2", "launch 2: pitch=33, grid=4"]
    assert browser.texts("[aria-label=Version] option") == names
    browser.keys("c")
    rows = browser.run(
        "return [...document.querySelectorAll('.comparison tr')].map((r) =>"
        " [...r.cells].map((c) => c.textContent))"
    )
    assert ["estimated cycles", "5,321", "4,321", f"{MINUS}1.00k", f"{MINUS}19 %"] in rows
    groups = ["cycles, estimated", "executed", "LDS conflicts", "cache lines"]
    groups += ["instructions", "live VGPRs"]
    assert [row for row in rows if groups[0] in row] == [["", *groups]]
    [line] = [row for row in rows if row[0].startswith("library.py:2")]
    cycles, executed = ["412", "212", f"{MINUS}200"], ["12", "12", ""]
    assert line[1:10] == [*cycles, *executed, "24", "", f"{MINUS}24"]
    # The line that changed most is shown instruction by instruction.
    wait = "1020 s_wait_loadcnt 0x0"
    assert [wait, "404", "4", wait, "204", "4"] in rows
    assert browser.messages() == []


def test_versions_to_compare_are_chosen(browser: Browser, tmp_path: Path) -> None:
    write_profile_page(Profile((*two_launches(), launch())), tmp_path / "three.html")
    browser.load(tmp_path / "three.html")
    browser.keys("c")
    browser.run(
        "const e = document.querySelector('[aria-label=\"first version\"]'); e.selectedIndex = 2;"
        "e.dispatchEvent(new Event('change'))"
    )
    cells = browser.run(
        "return [...document.querySelectorAll('.comparison tr')].map((r) =>"
        " [...r.cells].map((c) => c.textContent)).find(([name]) => name === 'estimated cycles')"
    )
    assert cells[1:4] == ["5,321", "4,321", f"{MINUS}1.00k"]
    assert browser.messages() == []


def test_the_details_begin_with_what_is_warmest(browser: Browser, page: Path) -> None:
    browser.load(page)
    headings = browser.texts("#panel-instruction h4")
    assert headings == ["Lines with most stall cycles", "Instructions with most stall cycles"]
    assert browser.texts("#panel-instruction .warmest li") == [
        "library.py:2 staged = lds(a)400",
        "1020 s_wait_loadcnt 0x0400",
    ]
    browser.keys("h")
    assert browser.texts("#panel-instruction h4")[0] == "Lines with most issue cycles"


def test_the_typed_tree_says_each_line_once_and_no_folders(browser: Browser, page: Path) -> None:
    browser.load(page)
    click(browser, "#tab-tree")
    rows = browser.run(
        "return [...document.querySelectorAll('#panel-tree .row')].map((row) =>"
        " [...row.children].map((e) => e.textContent))"
    )
    assert rows == [
        ["", "# tile.py"],
        ["7", "i: i32 = threadIdx.x()"],
        ["10", "part = load(a, i)"],
        ["", "total = mma(part, total)"],
    ]
