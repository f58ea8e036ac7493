"""`amdjit explore --watch` in a real browser: each save shows a new page, or what is wrong."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.explorer.chromium import Browser, open_browser

SOURCE = """import amdjit
from amdjit import f32


@amdjit.kernel
def scale(x):
    i = amdjit.grid(1)
    x[i] = x[i] * f32(FACTOR)
"""


@pytest.fixture
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


def until(what: Callable[[], bool]) -> None:
    end = monotonic() + 60
    while not what():
        assert monotonic() < end
        sleep(0.1)


def test_each_save_shows_a_new_page_or_what_is_wrong(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "kernels.py"
    file.write_text(SOURCE.replace("FACTOR", "3"))
    command = [sys.executable, "-m", "amdjit", "explore", f"{file}:scale", "--watch"]
    with subprocess.Popen(
        [*command, "--signature", "f32[:]"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=(tmp_path / "errors").open("w"),
        text=True,
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[0]
        try:
            check_saves(browser, address, file)
            stranger = urllib.request.Request(address, headers={"Host": "example.org"})
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(stranger)
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    assert "f32(" in (tmp_path / "errors").read_text()


def check_saves(browser: Browser, address: str, file: Path) -> None:
    def source() -> str:
        """Return the source lines of the page in the frame."""
        return str(
            browser.run(
                "const page = document.getElementById('page').contentDocument;"
                "return [...page.querySelectorAll('.source .code')].map((e) => e.textContent)"
                ".join('\\n')"
            )
        )

    browser.driver.get(address)
    until(lambda: "f32(3)" in source())
    file.write_text(SOURCE.replace("FACTOR", "5"))
    until(lambda: "f32(5)" in source())
    file.write_text(SOURCE.replace("FACTOR", "absent"))
    until(lambda: "absent" in browser.texts("#error:not([hidden])").__str__())
    assert "f32(5)" in source()
    file.write_text(SOURCE.replace("FACTOR", "7"))
    until(lambda: "f32(7)" in source())
    assert browser.texts("#error:not([hidden])") == []
    assert browser.messages() == []
