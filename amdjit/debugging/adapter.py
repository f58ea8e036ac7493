"""The debugger for editors: the Debug Adapter Protocol on the standard streams.

Requests are answered one after the other. `launch` names a program, which runs when the editor has
said where to stop; at the launch that is wanted it stops, and requests move the debugger until the
editor disconnects or the launch ends. What the program prints is sent to the editor.

Source: "Debug Adapter Protocol Specification", microsoft.github.io/debug-adapter-protocol.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from pathlib import Path, PurePath
from typing import IO, Any

import numpy as np

from amdjit.debugging.debugger import Debugger
from amdjit.debugging.opening import Opener, debug_launches
from amdjit.debugging.programs import run_program
from amdjit.runtime.recording import RecordedLaunch

__all__ = ["Adapter", "serve"]

_CAPABILITIES = {
    "supportsConfigurationDoneRequest": True,
    "supportsConditionalBreakpoints": True,
    "supportsStepBack": True,
    "supportsSteppingGranularity": True,
    "supportsEvaluateForHovers": True,
    "supportsTerminateRequest": True,
}
# Numbers of scopes; arrays with elements come after them.
_VARIABLES, _ARRAYS, _SHARED, _REGISTERS = 1, 2, 3, 4
_MOST_ELEMENTS = 1000
Message = dict[str, Any]


class _Ended(Exception):
    """The editor has disconnected."""


class _Output(io.TextIOBase):
    """What the program prints, as an event for each line."""

    def __init__(self, send: Callable[[str, Mapping[str, Any]], None]) -> None:
        self._send = send
        self._line = ""

    def write(self, text: str) -> int:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._send("output", {"category": "stdout", "output": f"{line}\n"})
        return len(text)


class Adapter:
    """One session with an editor, which writes to `source` and reads from `sink`."""

    def __init__(self, source: IO[bytes], sink: IO[bytes]) -> None:
        self._source, self._sink = source, sink
        self._sequence = 0
        self._launch: Message = {}
        self._breakpoints: dict[str, list[Message]] = {}
        self._debugger: Debugger | None = None
        self._seen = 0
        self._elements: dict[int, Any] = {}

    def run(self) -> None:
        """Answer requests until the editor disconnects."""
        try:
            while self._answer() != "configurationDone":
                pass
            with redirect_stdout(_Output(self._event)):
                self._run_program()
            self._event("terminated", {})
            while True:
                self._answer()
        except _Ended:
            return

    def _run_program(self) -> None:
        program = Path(self._launch["program"])
        try:
            if program.suffix == ".amdjit":
                self._serve(Debugger(RecordedLaunch.read(program), schedule=self._schedule))
                return
            with debug_launches(self._look, self._launch.get("kernel", "")):
                run_program(program, self._launch.get("args", ()), self._launch.get("device"))
        except _Ended:
            raise
        except Exception as error:
            text = f"{type(error).__name__}: {error}\n"
            self._event("output", {"category": "stderr", "output": text})

    @property
    def _schedule(self) -> str | int:
        chosen: str | int = self._launch.get("schedule", "in-order")
        return chosen

    def _look(self, launch: Opener) -> None:
        self._seen += 1
        if self._seen == self._launch.get("launch", 1):
            self._serve(launch(self._launch.get("optLevel", 0), self._schedule))

    def _serve(self, debugger: Debugger) -> None:
        """Let the editor move the debugger until the launch has ended."""
        with debugger:
            self._debugger = debugger
            for path, wanted in self._breakpoints.items():
                self._set_breakpoints(path, wanted)
            if self._launch.get("stopOnEntry", not any(self._breakpoints.values())):
                self._stopped("entry")
            else:
                self._resume({})
            while not debugger.has_ended:
                self._answer()
            self._debugger = None

    # Messages

    def _answer(self) -> str:
        """Answer the next request, and return its command."""
        request = self._read()
        command: str = request["command"]
        handle = getattr(self, f"_on_{command}", None)
        body: Any = None
        failed = ""
        self._after: Callable[[], None] | None = None
        try:
            if handle is None:
                failed = f"{command} is not supported"
            else:
                body = handle(request.get("arguments") or {})
        except _Ended:
            self._respond(request, None, "")
            raise
        except Exception as error:
            failed = f"{type(error).__name__}: {error}"
        self._respond(request, body, failed)
        if self._after is not None:
            self._after()
        return command

    def _read(self) -> Message:
        length = 0
        while True:
            row = self._source.readline()
            if not row:
                raise _Ended
            name, _, value = row.decode("ascii").partition(":")
            if name.lower() == "content-length":
                length = int(value)
            elif not row.strip():
                return self._parsed(self._source.read(length))

    def _parsed(self, data: bytes) -> Message:
        try:
            message: Message = json.loads(data)
        except ValueError as error:  # what follows cannot be told apart
            print(f"amdjit: the editor sent what is no JSON: {error}", file=sys.stderr)
            raise _Ended from None
        return message

    def _write(self, message: Message) -> None:
        self._sequence += 1
        data = json.dumps({"seq": self._sequence, **message}).encode()
        self._sink.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self._sink.flush()

    def _respond(self, request: Message, body: Any, failed: str) -> None:
        answer = {
            "type": "response",
            "request_seq": request["seq"],
            "command": request["command"],
            "success": not failed,
        }
        self._write(answer | ({"message": failed} if failed else {"body": body or {}}))

    def _event(self, name: str, body: Mapping[str, Any]) -> None:
        self._write({"type": "event", "event": name, "body": dict(body)})

    def _stopped(self, reason: str) -> None:
        debugger = self._now
        if debugger.fault is not None:
            reason = "exception"
            self._event("output", {"category": "stderr", "output": f"{debugger.fault}\n"})
        self._elements.clear()
        if debugger.has_ended:
            return
        self._event(
            "stopped",
            {"reason": reason, "threadId": debugger.wave + 1, "allThreadsStopped": True},
        )

    @property
    def _now(self) -> Debugger:
        if self._debugger is None:
            raise ValueError("no launch is under way")
        return self._debugger

    # Before the launch

    def _on_initialize(self, arguments: Message) -> Message:
        self._after = lambda: self._event("initialized", {})
        return _CAPABILITIES

    def _on_launch(self, arguments: Message) -> None:
        if "program" not in arguments:
            raise ValueError('"program" is missing: FILE.py, or a recorded launch')
        self._launch = arguments

    def _on_configurationDone(self, arguments: Message) -> None:
        if not self._launch:
            raise ValueError("launch comes before")

    def _on_setExceptionBreakpoints(self, arguments: Message) -> None:
        pass

    def _on_disconnect(self, arguments: Message) -> None:
        raise _Ended

    _on_terminate = _on_disconnect

    def _on_setBreakpoints(self, arguments: Message) -> Message:
        path = arguments["source"]["path"]
        wanted = arguments.get("breakpoints", [])
        self._breakpoints[path] = wanted
        if self._debugger is None:
            return {"breakpoints": [{"verified": False, "line": each["line"]} for each in wanted]}
        return {"breakpoints": self._set_breakpoints(path, wanted)}

    def _set_breakpoints(self, path: str, wanted: list[Message]) -> list[Message]:
        debugger = self._now
        name = PurePath(path).name
        for each in [each for each in debugger.breakpoints if each.line[0].endswith(name)]:
            debugger.clear(each.number)
        return [dict(self._set(each, name)) for each in wanted]

    def _set(self, wanted: Message, name: str) -> Iterator[tuple[str, Any]]:
        yield "line", wanted["line"]
        try:
            made = self._now.break_at(wanted["line"], wanted.get("condition") or "", name)
        except Exception as error:
            yield from (("verified", False), ("message", str(error)))
        else:
            yield from (("verified", True), ("id", made.number))

    # Moving

    def _on_continue(self, arguments: Message) -> Message:
        self._after = lambda: self._resume(arguments)
        return {"allThreadsContinued": True}

    def _resume(self, arguments: Message) -> None:
        self._now.resume()
        self._stopped("breakpoint")

    def _on_reverseContinue(self, arguments: Message) -> None:
        def go() -> None:
            found = self._now.reverse()
            self._stopped("entry" if found is None else "breakpoint")

        self._after = go

    def _on_next(self, arguments: Message) -> None:
        self._step(arguments, self._now.step)

    def _on_stepIn(self, arguments: Message) -> None:
        self._on_next(arguments)

    def _on_stepOut(self, arguments: Message) -> None:
        self._on_next(arguments)

    def _on_stepBack(self, arguments: Message) -> None:
        self._step(arguments, self._now.back)

    def _step(self, arguments: Message, move: Callable[..., bool]) -> None:
        self._now.select(wave=arguments.get("threadId", 1) - 1)
        instructions = arguments.get("granularity") == "instruction"

        def go() -> None:
            move(instructions=instructions)
            self._stopped("step")

        self._after = go

    # Looking

    def _on_threads(self, arguments: Message) -> Message:
        debugger = self._debugger
        waves = range(debugger.waves) if debugger is not None else range(1)
        block = debugger.block if debugger is not None else (0, 0, 0)
        return {"threads": [{"id": n + 1, "name": f"block {block}, wave {n}"} for n in waves]}

    def _on_stackTrace(self, arguments: Message) -> Message:
        debugger = self._now
        debugger.select(wave=arguments["threadId"] - 1)
        if debugger.pc is None:
            return {"stackFrames": [], "totalFrames": 0}
        frame = {"id": debugger.wave + 1, "name": debugger.launch.kernel, "column": 1, "line": 0}
        frame["instructionPointerReference"] = hex(debugger.pc)
        if debugger.line is not None:
            file, line = debugger.line
            frame |= {"line": line, "source": {"name": PurePath(file).name, "path": file}}
        return {"stackFrames": [frame], "totalFrames": 1}

    def _on_scopes(self, arguments: Message) -> Message:
        lane = self._now.lane
        named = (
            (f"Variables of lane {lane}", _VARIABLES),
            ("Arrays", _ARRAYS),
            ("LDS", _SHARED),
            ("Registers", _REGISTERS),
        )
        return {
            "scopes": [
                {"name": name, "variablesReference": number, "expensive": number != _VARIABLES}
                for name, number in named
            ]
        }

    def _on_variables(self, arguments: Message) -> Message:
        number, debugger = arguments["variablesReference"], self._now
        if number == _VARIABLES:
            shown = [
                self._shown(name, value.of(debugger.lane), value.type)
                for name, value in debugger.variables.items()
            ]
            shown += [self._shown(name, value) for name, value in debugger.arguments.items()]
        elif number in (_ARRAYS, _SHARED):
            arrays = debugger.arrays if number == _ARRAYS else debugger.shared
            shown = [self._shown(name, array, str(array.dtype)) for name, array in arrays.items()]
        elif number == _REGISTERS:
            names = ("exec", "vcc", "scc", "m0")
            shown = [self._shown(name, hex(debugger.registers[name])) for name in names]
        else:
            held = self._elements[number][:_MOST_ELEMENTS]
            shown = [self._shown(f"[{index}]", each) for index, each in enumerate(held)]
        return {"variables": shown}

    def _shown(self, name: str, value: Any, kind: str = "") -> Message:
        reference = 0
        text = "not readable here" if value is None else str(value)
        if isinstance(value, np.ndarray):
            reference = _REGISTERS + 1 + len(self._elements)
            self._elements[reference] = value
            text = f"{value.dtype}, shape {value.shape}"
        return {"name": name, "value": text, "type": kind, "variablesReference": reference}

    def _on_evaluate(self, arguments: Message) -> Message:
        debugger = self._now
        expression = arguments["expression"]
        if expression.startswith("lane ") and arguments.get("context") == "repl":
            debugger.select(lane=int(expression.split()[1]))
            return {"result": debugger.where(0), "variablesReference": 0}
        shown = self._shown("", debugger.evaluate(expression))
        return {"result": shown["value"], "variablesReference": shown["variablesReference"]}


def serve() -> None:
    """Serve an editor on the standard streams."""
    Adapter(sys.stdin.buffer, sys.stdout.buffer).run()
