"""Take the pictures of docs/images: `python docs/screenshots.py`, with chromium, chromedriver and
selenium installed. Look at them before you commit them."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
from selenium import webdriver

import amdjit
from amdjit import blockIdx, f32, shared, threadIdx
from amdjit.examples.perf_hgemm import perf_hgemm
from amdjit.examples.report import small_integers
from amdjit.examples.saxpy import saxpy
from amdjit.explorer.page import write_profile_page

IMAGES = Path(__file__).parent / "images"
TILE = 32
ROWS = 8


@amdjit.device_function
def transpose_tile(source, out, pad):
    """Transpose a 32 by 32 tile through LDS, whose rows are `pad` elements longer."""
    tile = shared.array((TILE, TILE + pad), f32)
    x, y = threadIdx.x, threadIdx.y
    for row in range(y, TILE, ROWS):
        tile[row, x] = source[TILE * blockIdx.y + row, TILE * blockIdx.x + x]
    amdjit.syncthreads()
    for row in range(y, TILE, ROWS):
        out[TILE * blockIdx.x + row, TILE * blockIdx.y + x] = tile[x, row]


@amdjit.kernel(block=(TILE, ROWS, 1))
def transpose(source, out):
    transpose_tile(source, out, 0)


@amdjit.kernel(block=(TILE, ROWS, 1))
def padded_transpose(source, out):
    transpose_tile(source, out, 1)


def hgemm(path: Path) -> None:
    """Write the page of a launch of perf_hgemm."""
    a, b, c = (small_integers(128, 128) for _ in range(3))
    with amdjit.profile() as profile:
        perf_hgemm[(1, 1), 128](a, b, c, np.zeros_like(c), f32(2), f32(2))
    write_profile_page(profile, path)


def transposes(path: Path) -> None:
    """Write the page of launches of the transpose without padding and with it."""
    source = np.random.default_rng(5).random((64, 64), np.float32)
    out = np.empty_like(source)
    with amdjit.profile() as profile:
        for kernel in (transpose, padded_transpose):
            kernel[(2, 2), (TILE, ROWS)](source, out)
            assert (out == source.T).all()
    write_profile_page(profile, path)


def first_kernel(path: Path) -> None:
    """Write the page of a launch of saxpy."""
    x, y, out = (np.ones(1 << 16, np.float32) for _ in range(3))
    with amdjit.profile() as profile:
        saxpy[(1 << 16) // 256, 256](f32(2), x, y, out)
    write_profile_page(profile, path)


def comparison(path: Path) -> None:
    """Write the page that compares two levels of optimisation."""
    arguments = (*[amdjit.f16[:, :]] * 4, f32, f32)
    second = perf_hgemm.compile(*arguments, opt_level=1)
    perf_hgemm.compile(*arguments).inspect().to_html(path, second.inspect())


SELECT = (
    "const row = [...document.querySelectorAll('.listing .row')]"
    ".filter((e) => e.textContent.includes(arguments[0]))[arguments[1]]; row.click();"
    "row.scrollIntoView({block: 'center'}); row.closest('.list').scrollLeft = 0;"
)
WIDEN = (
    "for (let i = 0; i < 4; i += 1) document.querySelectorAll('.splitter')[1]"
    ".dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft'}));"
)
HEAT = (
    "const heat = document.querySelector('[aria-label=Heat]'); heat.value = arguments[0];"
    "heat.dispatchEvent(new Event('change'));"
)
# Each picture: its page, light or dark, its height, and what is done on it: scripts and their
# arguments.
PICTURES: dict[str, tuple[Callable[[Path], None], str, int, tuple[tuple[Any, ...], ...]]] = {
    "explorer_hgemm": (hgemm, "light", 900, ((SELECT, "v_wmma", 9),)),
    "explorer_transpose": (
        transposes,
        "dark",
        900,
        (
            (SELECT, "ds_load", 0),
            (HEAT, "lds_conflict_cycles"),
            (WIDEN,),
            ("document.querySelector('#tab-memory').click()",),
        ),
    ),
    "explorer_saxpy": (
        first_kernel,
        "light",
        1200,
        (
            (SELECT, "s_wait_loadcnt", 0),
            (WIDEN,),
            ("document.querySelector('#tab-cycles').click()",),
        ),
    ),
    "explorer_comparison": (
        comparison,
        "light",
        900,
        (
            (
                "document.body.dispatchEvent("
                "new KeyboardEvent('keydown', {key: 'c', bubbles: true}))",
            ),
        ),
    ),
}


@contextmanager
def browser() -> Iterator[Any]:
    """Start chromium without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = which("chromium") or ""
    for switch in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(switch)
    driver = webdriver.Chrome(options, webdriver.ChromeService(which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


def take(
    driver: Any, page: Path, scheme: str, height: int, steps: tuple[tuple[Any, ...], ...]
) -> bytes:
    """Return the picture of a page as WebP, which takes a third of what PNG does."""
    size = {"width": 1500, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    driver.get(page.as_uri())
    for script, *arguments in steps:
        driver.execute_script(script, *arguments)
    # A picture of what is drawn after the next frame.
    driver.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 200))")
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": 88})
    return base64.b64decode(shot["data"])


def main() -> None:
    """Write all pictures."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, browser() as driver:
        for name, (write, scheme, height, steps) in PICTURES.items():
            page = Path(folder).resolve() / f"{name}.html"
            write(page)
            picture = take(driver, page, scheme, height, steps)
            (IMAGES / f"{name}.webp").write_bytes(picture)
            print(f"{name}.webp: {len(picture)} bytes")


if __name__ == "__main__":
    main()
