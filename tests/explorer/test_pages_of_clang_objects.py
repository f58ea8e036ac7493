"""The page of code objects that clang made: with debug information, without, and stripped."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from shutil import which

import pytest

import amdjit
from amdjit.explorer.page import write_inspection_page
from tests.explorer.chromium import Browser

pytestmark = pytest.mark.skipif(which("clang-22") is None, reason="needs clang-22")

SOURCE = """typedef __attribute__((address_space(1))) float global;
typedef __attribute__((address_space(3))) float local;
static inline float scaled(global *x, int i) { return x[i] * 3.0f; }
__attribute__((amdgpu_kernel)) void scale(global *x, global *out, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  float sum = 0;
  for (int k = 0; k < n; k++)
    sum += scaled(x, i + k);
  out[i] = sum;
}
"""


def compiled(folder: Path, *options: str) -> bytes:
    """Return the code object of SOURCE."""
    source, linked = folder / "scale.c", folder / "scale.co"
    source.write_text(SOURCE)
    command = ["clang-22", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx1201", "-O2", "-nogpulib"]
    subprocess.run([*command, *options, str(source), "-o", str(linked)], check=True)
    return linked.read_bytes()


def test_clang_s_lines_and_inlined_calls_are_linked(browser: Browser, tmp_path: Path) -> None:
    facts = amdjit.inspect_object(compiled(tmp_path, "-g"))
    write_inspection_page(facts, tmp_path / "page.html")
    browser.load(tmp_path / "page.html")
    assert browser.texts(".source .file") == ["scale.c"]
    shown = browser.texts(".listing .row")
    loads = [n for n, row in enumerate(shown) if "global_load_b32" in row]
    assert loads
    browser.run("document.querySelectorAll('.listing .row')[arguments[0]].click()", loads[0])
    assert browser.texts(".source .row.pinned .line") == ["3"]
    assert browser.texts(".source .row.outer .line") == ["8"]
    assert "scaled inlined at scale.c:8" in re.sub(r"\s+", " ", browser.texts(".stack")[0])
    assert browser.messages() == []


@pytest.mark.parametrize("options", [(), ("-Wl,--strip-all",)])
def test_objects_without_debug_information_say_so(
    browser: Browser, tmp_path: Path, options: tuple[str, ...]
) -> None:
    facts = amdjit.inspect_object(compiled(tmp_path, *options))
    write_inspection_page(facts, tmp_path / "page.html")
    browser.load(tmp_path / "page.html")
    assert browser.texts("h1") == ["scale"]
    assert len(browser.texts(".listing .row")) == len(facts.instructions) > 10
    assert browser.texts(".missing li") == list(facts.missing) != []
    assert "no debug information" in browser.texts(".list.source")[0]
    for tab in range(len(browser.texts('[role="tab"]'))):
        browser.run("document.querySelectorAll('[role=tab]')[arguments[0]].click()", tab)
    assert browser.messages() == []
