"""The Debug Adapter Protocol, and the page of a wave's life."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from amdjit.debugging.page import wave_life, write_page
from tests.debugging.test_debugger import PROGRAM, opened, scaled
from tests.debugging.test_seeded_bugs import line_of
from tests.explorer.chromium import Browser, open_browser

_SECONDS = 100


class Editor:
    """The other side of the protocol, over pipes."""

    def __init__(self, *command: str) -> None:
        command = command or (sys.executable, "-m", "amdjit", "debug", "--adapter")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(os.environ)
        )
        self.events: list[dict[str, Any]] = []
        self._sequence = 0

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Send a request, and return its answer; events before it are kept."""
        self._sequence += 1
        request = {"seq": self._sequence, "type": "request", "command": command}
        data = json.dumps(request | {"arguments": arguments}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self._process.stdin.flush()
        while True:
            message = self._read()
            if message["type"] == "response":
                assert message["request_seq"] == self._sequence
                assert message["command"] == command
                return message
            self.events.append(message)

    def event(self, name: str) -> dict[str, Any]:
        """Wait for an event."""
        while True:
            for number, each in enumerate(self.events):
                if each["event"] == name:
                    body: dict[str, Any] = self.events.pop(number)["body"]
                    return body
            self.events.append(self._read())

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while row := self._process.stdout.readline().strip():
            name, _, value = row.decode().partition(":")
            assert name == "Content-Length"
            length = int(value)
        message: dict[str, Any] = json.loads(self._process.stdout.read(length))
        return message

    def close(self) -> int:
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(_SECONDS)


def test_an_editor_steps_both_ways_and_reads_variables(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    editor = Editor()
    assert editor.ask("initialize", adapterID="amdjit")["body"]["supportsStepBack"]
    editor.event("initialized")
    assert not editor.ask("launch")["success"]
    assert editor.ask("launch", program=str(program), kernel="double")["success"]
    source = {"path": str(program)}
    wanted = [{"line": 8, "condition": "y == 10"}, {"line": 1}]
    editor.ask("setBreakpoints", source=source, breakpoints=wanted)
    assert editor.ask("configurationDone")["success"]
    assert editor.event("stopped")["reason"] == "breakpoint"
    assert editor.ask("threads")["body"]["threads"] == [
        {"id": 1, "name": "block (0, 0, 0), wave 0"}
    ]
    (frame,) = editor.ask("stackTrace", threadId=1)["body"]["stackFrames"]
    assert (frame["line"], frame["source"]["path"]) == (8, str(program))
    scopes = editor.ask("scopes", frameId=1)["body"]["scopes"]
    assert scopes[0]["name"] == "Variables of lane 5"
    shown = editor.ask("variables", variablesReference=1)["body"]["variables"]
    assert {"i": "5", "y": "10"}.items() <= {each["name"]: each["value"] for each in shown}.items()
    (array,) = editor.ask("variables", variablesReference=2)["body"]["variables"]
    elements = editor.ask("variables", variablesReference=array["variablesReference"])
    assert elements["body"]["variables"][7]["value"] == "7"
    assert editor.ask("evaluate", expression="y + 1")["body"]["result"] == "11"
    assert not editor.ask("evaluate", expression="nonsense")["success"]
    assert "lane" in editor.ask("evaluate", expression="lane 7", context="repl")["body"]["result"]
    editor.ask("stepBack", threadId=1)
    assert editor.event("stopped")["reason"] == "step"
    (frame,) = editor.ask("stackTrace", threadId=1)["body"]["stackFrames"]
    assert frame["line"] < 8
    answer = editor.ask("setBreakpoints", source=source, breakpoints=wanted)["body"]["breakpoints"]
    assert [each["verified"] for each in answer] == [True, False]
    assert "has no code" in answer[1]["message"]
    editor.ask("next", threadId=1, granularity="instruction")
    editor.event("stopped")
    editor.ask("reverseContinue", threadId=1)
    assert editor.event("stopped")["reason"] == "entry"
    editor.ask("continue", threadId=1)
    editor.event("stopped")
    assert not editor.ask("pause")["success"]
    editor.ask("setBreakpoints", source=source, breakpoints=[])
    editor.ask("continue", threadId=1)
    assert "program: 12" in editor.event("output")["output"]
    editor.event("terminated")
    assert editor.ask("disconnect")["success"]
    assert editor.close() == 0


def test_a_fault_is_an_exception_of_the_editor(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("x[i] = y", "x[i + 100000] = y"))
    editor = Editor()
    editor.ask("initialize")
    editor.ask("launch", program=str(program), stopOnEntry=True)
    editor.ask("configurationDone")
    assert editor.event("stopped")["reason"] == "entry"
    editor.ask("continue", threadId=1)
    assert "is not allowed" in editor.event("output")["output"]
    assert editor.event("stopped")["reason"] == "exception"
    assert editor.ask("disconnect")["success"]
    assert editor.close() == 0


def test_the_extension_of_vs_code_starts_the_adapter(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "amdjit", "debug", "--extension", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS)
    folder = tmp_path / "amdjit-debug"
    manifest = json.loads((folder / "package.json").read_text())
    (debugger,) = manifest["contributes"]["debuggers"]
    editor = Editor(debugger["runtime"], str(folder / debugger["program"]))
    assert editor.ask("initialize")["body"]["supportsStepBack"]
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    given = {"program": str(program), "schedule": "backwards", "optLevel": None, "launch": 2}
    attributes = debugger["configurationAttributes"]["launch"]["properties"]
    assert given.keys() <= attributes.keys()
    editor.ask("launch", **given)
    editor.ask("configurationDone")
    assert editor.event("stopped")["reason"] == "entry"
    assert editor.ask("disconnect")["success"]
    assert editor.close() == 0


def test_the_page_has_each_moment_of_the_wave() -> None:
    with opened() as debugger:
        debugger.select(block=1, wave=1)
        life = wave_life(debugger)
        assert debugger.time == 0
        steps = 0
        while debugger.step(instructions=True):
            assert life["steps"][steps]["time"] == debugger.time
            assert life["steps"][steps]["pc"] == debugger.pc
            for name, value in life["steps"][steps]["changed"].items():
                found = debugger.registers[name] if "_" not in name else None
                assert found is None or np.array_equal(found, value)
            steps += 1
        assert steps == len(life["steps"])
    assert life["source"][scaled.function.__code__.co_firstlineno + 1].startswith("def scaled")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened_browser:
        yield opened_browser


def test_the_slider_shows_lines_lanes_and_variables(browser: Browser, tmp_path: Path) -> None:
    line = line_of(scaled.function, "out[i] = total")
    with opened() as debugger:
        life = wave_life(debugger)
        count = write_page(debugger, tmp_path / "wave.html")
        debugger.run_to(line)
        time = debugger.time
    browser.load(tmp_path / "wave.html")
    number = next(n for n, each in enumerate(life["steps"]) if each["time"] == time)
    browser.run(
        "const slider = document.getElementById('time'); slider.value = arguments[0];"
        "slider.dispatchEvent(new Event('input'))",
        number,
    )
    assert browser.texts("#source .now") == [f"{line:>5}          out[i] = total"]
    assert f"instruction {number + 1} of {count}" in browser.texts("#where")[0]
    assert len(browser.texts("#lanes .active")) == 32
    browser.run("document.querySelectorAll('#lanes span')[6].click()")
    rows = dict(zip(*[iter(browser.texts("#variables td"))] * 2, strict=True))
    assert (rows["i"], rows["total"]) == ("6", "42.0")
    browser.run("document.getElementById('line-back').click()")
    assert browser.texts("#source .now") != [f"{line:>5}          out[i] = total"]
    assert browser.messages() == []
