"""Debian's chromium, headless, for tests of the explorer's page."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

__all__ = ["Browser", "open_browser"]

_SWITCHES = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars",
)  # fmt: skip


class Browser:
    """A browser with one page, which reads files from disk only."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def load(self, path: Path, width: int = 1500, height: int = 900, wait: str = "main") -> None:
        """Load a page afresh, at a window's size, in light colours, without what an earlier page
        kept."""
        self.messages()
        self.resize(width, height)
        self.media(scheme="light")
        self.driver.get("about:blank")
        self.driver.get(path.resolve().as_uri())
        assert self.run("return document.querySelector(arguments[0]) !== null", wait)

    def resize(self, width: int, height: int) -> None:
        """Give the window's inner size in pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def media(self, scheme: str = "light", kind: str = "") -> None:
        """Emulate a colour scheme, and a medium such as "print"."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"media": kind, "features": features}
        )

    def run(self, script: str, *arguments: Any) -> Any:
        """Run the body of a function in the page, and return what it returns."""
        return self.driver.execute_script(script, *arguments)

    def texts(self, selector: str) -> list[str]:
        """Return the texts of elements."""
        found: list[str] = self.run(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)",
            selector,
        )
        return found

    def keys(self, *keys: str) -> None:
        """Press keys, one after another, wherever the focus is."""
        self.driver.switch_to.active_element.send_keys(*keys)

    def messages(self) -> list[str]:
        """Return what the console got since the last call: errors and warnings."""
        return [json.dumps(entry) for entry in self.driver.get_log("browser")]


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start chromium; skip the tests that need it where it is not installed."""
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        pytest.skip("needs chromium and chromedriver, Debian's chromium and chromium-driver")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for switch in _SWITCHES:
        options.add_argument(switch)
    driver = webdriver.Chrome(options, webdriver.ChromeService(chromedriver))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
