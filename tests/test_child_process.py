"""What all processes of amdjit's own have in common: messages, limits, groups, words, ends."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from amdjit.child_process import Child, ending, python_command, run, signal_of

ROOT = Path(__file__).parents[1]
needs_posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no groups and signals")
needs_table = pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="needs a process table in /proc: not on Windows"
)

ECHO = """
import os, sys, time
from amdjit.child_process import Parent
def main(seconds):
    parent = Parent()
    while True:
        message = parent.receive()
        print(len(message), flush=True)
        os.write(1, b"by native code ")
        time.sleep(seconds)
        parent.send(message[::-1])
"""
NEST = """
import subprocess, sys, time
def main(file):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with open(file, "w") as out:
        out.write(str(child.pid))
    time.sleep(600)
"""


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the modules of these tests on the path; return their folder."""
    (tmp_path / "echo.py").write_text(ECHO)
    (tmp_path / "nest.py").write_text(NEST)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def is_running(pid: int) -> bool:
    status = Path("/proc", str(pid), "status")
    try:
        return "(zombie)" not in status.read_text()
    except OSError:
        return False


def await_end(pid: int) -> None:
    deadline = time.monotonic() + 20
    while is_running(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("length", [0, 1, 100_000, 3_000_000])
def test_messages_of_any_length_return_and_what_is_printed_becomes_words(
    modules: Path, length: int
) -> None:
    child = Child(python_command("echo", 0), talks=True)
    content = bytes(range(256)) * (length // 256 + 1)
    for _ in range(2):
        with child.limited(60):
            assert child.ask(content[:length]) == content[:length][::-1]
        assert child.words() == f"{length}\nby native code "
    assert child.words() == ""
    child.close()
    assert not child.is_alive


def test_the_last_words_are_the_end_of_them(modules: Path) -> None:
    child = Child(python_command("echo", 0), talks=True)
    with child.limited(60):
        child.ask(b"123")
    assert child.words(5) == "code "
    child.close()


def test_a_child_that_takes_too_long_for_an_answer_is_killed(modules: Path) -> None:
    child = Child(python_command("echo", 600), talks=True)
    begin = time.monotonic()
    with child.limited(0.5):
        assert child.ask(b"hello") is None
    assert child.is_expired
    assert not child.is_alive
    assert time.monotonic() - begin < 60
    child.close()


@needs_posix
@needs_table
def test_a_group_is_killed_as_a_whole(modules: Path) -> None:
    file = modules / "pid"
    child = Child(python_command("nest", str(file)), leads_group=True)
    deadline = time.monotonic() + 60
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert is_running(int(file.read_text()))
    assert child.wait(0.01) is None
    assert child.is_expired
    assert not child.is_stuck
    await_end(int(file.read_text()))
    child.close()


FORK = """
import os, time
from amdjit.child_process import Child, python_command
child = Child(python_command("echo", 0), talks=True)
assert child.ask(b"ab") == b"ba"
forked = os.fork()
if forked == 0:
    # Without its parent's pipes: the other child does not wait for the end of this process.
    time.sleep(600)
print(child.pid, forked, flush=True)
os._exit(0)
"""


@needs_posix
@needs_table
def test_a_child_ends_with_its_parent_although_a_forked_process_lives(modules: Path) -> None:
    path = os.pathsep.join([str(ROOT), str(modules)])
    with subprocess.Popen(
        [sys.executable, "-c", FORK],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        child, forked = map(int, program.stdout.readline().split())
        try:
            await_end(child)
            assert is_running(forked)
        finally:
            os.kill(forked, 9)


def test_a_report_is_kept_apart_from_words() -> None:
    text = "import sys; print('found'); print('said', file=sys.stderr); sys.exit(3)"
    child = Child([sys.executable, "-c", text], reports=True)
    assert child.wait(60) == 3
    assert child.report().split() == [b"found"]
    assert child.words().split() == ["said"]
    child.close()


def test_a_program_that_runs_to_its_end_says_how() -> None:
    text = (
        "import sys; print('out'); sys.stdout.flush(); print('err', file=sys.stderr); sys.exit(4)"
    )
    code, printed = run([sys.executable, "-c", text], 60)
    assert (code, printed.split()) == (4, ["out", "err"])
    assert run([sys.executable, "-c", "import time; time.sleep(600)"], 0.5) == (None, "")


def test_what_cannot_be_started_is_an_oserror() -> None:
    with pytest.raises(OSError, match="nowhere"):
        Child(["/nowhere/python3"], reports=True)


def test_ends_are_put_into_words() -> None:
    assert ending(7) == "ended with exit code 7"
    assert ending(0xC0000005) == "ended with exit code 0xc0000005"
    assert signal_of(7) == ""


@needs_posix
def test_signals_are_named() -> None:
    assert ending(-9) == "ended by SIGKILL"
    assert ending(-250) == "ended with exit code -250"
    assert signal_of(-11) == "SIGSEGV"
