"""Measures how long the explorer's page takes to write and to open, and how large it is: `python
benchmarks/explorer_page.py`, with chromium, chromedriver and selenium installed.

Kernels of straight code and of loops, and perf_hgemm with its LLVM IR and sources. Opening ends
with the first frame that shows the page. The aims are a second and 2 MB for 2,000 instructions.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from inspection import SHAPES, compiled
from measurement import best, save, table
from selenium import webdriver

import amdjit
from amdjit import f16, f32
from amdjit.examples.perf_hgemm import perf_hgemm
from amdjit.explorer.page import inspection_page

SIZES = (500, 2000, 5000)
ROUNDS = 5


def measure(name: str, facts: amdjit.Inspection, driver: Any, folder: Path) -> dict[str, Any]:
    """Return the seconds and the bytes of a kernel's page."""
    file = folder / "page.html"
    file.write_text(inspection_page(facts), encoding="utf-8")
    return {
        "code": name,
        "instructions": len(facts.instructions),
        "seconds": best(partial(inspection_page, facts), ROUNDS),
        "seconds_to_open": min(opened(driver, file) for _ in range(ROUNDS)),
        "bytes": file.stat().st_size,
    }


def opened(driver: Any, file: Path) -> float:
    """Return the seconds from the navigation to the end of the first frame."""
    driver.get("about:blank")
    driver.get(file.as_uri())
    script = "requestAnimationFrame(() => setTimeout(() => arguments[0](performance.now()), 0))"
    return float(driver.execute_async_script(script)) / 1e3


def browser() -> Any:
    """Start chromium without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for switch in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1440,900"):
        options.add_argument(switch)
    return webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))


def main() -> None:
    """Measure, print and save."""
    os.environ.setdefault("AMDJIT_DEVICE", "emulator:gfx1201")
    driver, results = browser(), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        known = perf_hgemm.compile(*[f16[:, :]] * 4, f32, f32).inspect()
        results.append(measure("perf_hgemm", known, driver, folder))
        for shape in SHAPES:
            for size in SIZES:
                facts = amdjit.inspect_object(compiled(shape, size, folder))
                results.append(measure(shape, facts, driver, folder))
    driver.quit()
    rows = [
        (
            result["code"],
            result["instructions"],
            f"{result['seconds'] * 1e3:.0f}",
            f"{result['seconds_to_open'] * 1e3:.0f}",
            f"{result['bytes'] / 1e6:.2f}",
        )
        for result in results
    ]
    print(table(("code", "instructions", "ms to write", "ms to open", "MB"), rows))
    save("explorer_page", {"pages": results})


if __name__ == "__main__":
    main()
