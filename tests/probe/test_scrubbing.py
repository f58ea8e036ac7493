"""What is kept of the words of processes: nothing that says whose machine it was."""

from __future__ import annotations

import getpass
import platform
from pathlib import Path

import pytest

from amdjit.probe.processes import Ended, scrubbed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('File "/opt/some/where/amdjit/api.py", line 7', 'File "api.py", line 7'),
        (r"D:\Some\AppData\of\hip.dll is missing", "hip.dll is missing"),
        ("failed to dlopen '/opt/rocm/lib/libamdhip64.so'", "failed to dlopen 'libamdhip64.so'"),
        (r'File "D:\Some Body\App Data\hip.py", line 7', 'File "hip.py", line 7'),
        ("'/opt/some body/x/hip.so' is missing", "'hip.so' is missing"),
        ("a/b of 3/4 is 1 / 2", "a/b of 3/4 is 1 / 2"),
        ("x" * 3000, "x" * 1500),
    ],
)
def test_paths_become_names(text: str, expected: str) -> None:
    assert scrubbed(text) == expected


def test_users_hosts_and_homes_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "somebody")
    monkeypatch.setattr(platform, "node", lambda: "their-host")
    monkeypatch.setattr(Path, "home", lambda: Path("/their-home"))
    assert scrubbed("somebody@their-host: /their-home is full") == "USER@HOST: ~ is full"
    monkeypatch.setattr(Path, "home", lambda: r"D:\Some Body")
    assert scrubbed(r"D:\Some Body\App\hip.dll is missing") == "hip.dll is missing"
    assert scrubbed(r"D:\Some Body\hip.dll is missing") == "hip.dll is missing"
    assert scrubbed("nosomebody") == "nosomebody"


def test_ends_are_put_into_words() -> None:
    assert Ended(None, 61.2).reason == "killed after 61 s"
    assert Ended(3, 1.0).reason == "ended with exit code 3"
    assert Ended(0xC0000005, 1.0).reason == "ended with exit code 0xc0000005"
    assert Ended(-9, 1.0).reason == "ended by SIGKILL"
