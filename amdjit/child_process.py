"""Processes that this one starts, and the same processes seen from inside.

A `Child` is started, waited for with a limit, killed with all that it started if it leads a group,
and its last words are kept. Messages to and from one that talks are their length in 8 bytes and
their content; the child takes them from its `Parent`, and ends with it even in the middle of its
work. Nothing else in amdjit starts processes.
"""

from __future__ import annotations

import os
import queue
import signal
import struct
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING
from weakref import WeakSet

from amdjit.forking import when_forked
from amdjit.late import late

if TYPE_CHECKING:
    import subprocess
    import tempfile
else:
    # The child loads this module, too, and has no use for these.
    subprocess, tempfile = late("subprocess"), late("tempfile")

__all__ = ["Child", "Parent", "ending", "own_output", "python_command", "run", "signal_of"]

_LENGTH = struct.Struct("<Q")
_START = "import sys; sys.path[:] = {paths!r}; from {module} import main; main(*{arguments!r})"
# A process that waits in the kernel for a GPU cannot be killed.
_SECONDS_TO_DIE = 10.0


class Child:
    """A process. OSError if it cannot be started.

    command: the program and its arguments. environment: its variables; None for those of this
    process. talks: whether messages go over its standard input and output; otherwise its input is
    empty. reports: whether its standard output is kept apart; otherwise that is part of its words,
    as its standard error is. leads_group: whether it is the first of a group that is killed as a
    whole, and that Ctrl-C in the terminal does not reach.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        talks: bool = False,
        reports: bool = False,
        leads_group: bool = False,
    ) -> None:
        self.is_expired = False  # whether it was killed for the time it took
        self.is_stuck = False  # whether it lives on although it was killed
        self._leads_group = leads_group
        self._report = tempfile.TemporaryFile(buffering=0) if reports else None
        self._words = _words_file()
        words = self._words or subprocess.DEVNULL
        try:
            self._process = subprocess.Popen(
                command,
                # A thread that waits for an answer would hold the lock of a buffer, and a process
                # that is forked meanwhile could not even drop it.
                bufsize=0,
                stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
                stdout=subprocess.PIPE if talks else self._report or words,
                stderr=words,
                env=environment,
                start_new_session=leads_group,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0)
                | leads_group * getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except BaseException:
            _close(self._report, self._words)
            raise
        _CHILDREN.add(self)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process has not ended and is not about to."""
        return not self.is_expired and self._process.poll() is None

    @contextmanager
    def limited(self, seconds: float | None) -> Iterator[None]:
        """Kill the process if the block takes longer than this, which `is_expired` then says."""
        timer = threading.Timer(seconds or 0, self._expire)
        timer.daemon = True
        if seconds is not None:
            timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _expire(self) -> None:
        self.is_expired = True
        self.kill()

    def ask(self, content: bytes) -> bytes | None:
        """Send a message and return the next one of the process; None if it is gone."""
        assert self._process.stdin is not None
        try:
            _send(self._process.stdin, content)
            return self.receive()
        except OSError:
            return None

    def receive(self) -> bytes | None:
        """Return the next message of the process; None if it is gone."""
        assert self._process.stdout is not None
        return _received(self._process.stdout)

    def exit_code(self) -> int:
        """Return the exit code, negative for a signal, once there is one."""
        return self._process.wait()

    def wait(self, seconds: float) -> int | None:
        """Return the exit code; None if the process was killed because it took longer than this.

        It is also killed if the waiting is interrupted.
        """
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._expire()
        except BaseException:
            self.kill()
            raise
        try:
            self._process.wait(_SECONDS_TO_DIE)
        except subprocess.TimeoutExpired:
            self.is_stuck = True
        return None

    def kill(self) -> None:
        """Kill the process and its group, without waiting for their end."""
        if self._process.poll() is not None:
            return  # its number may be another's by now
        if self._leads_group and hasattr(os, "killpg"):
            with suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
        else:
            self._process.kill()

    def words(self, most: int | None = None) -> str:
        """Return what the process has printed since the last time, or the last bytes of it."""
        if self._words is None:
            return ""
        size = os.fstat(self._words.fileno()).st_size
        if size == 0:
            return ""
        # The process shares the file's position.
        self._words.seek(max(0, size - most) if most else 0)
        text = self._words.read().decode("utf-8", "replace")
        self._words.seek(0)
        self._words.truncate()
        return text

    def report(self) -> bytes:
        """Return all that the process has written to its standard output."""
        assert self._report is not None
        self._report.seek(0)
        return self._report.read()

    def close(self) -> None:
        """End the process, if it has not ended, and close pipes and files."""
        self.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0 if self.is_stuck else _SECONDS_TO_DIE)
        self._close_files()

    def abandon(self) -> None:
        """Let go of a process that is not this one's own: this one was forked from its parent."""
        self._process.returncode = 0
        self._close_files()

    def _close_files(self) -> None:
        _close(self._process.stdin, self._process.stdout, self._report, self._words)


def run(command: Sequence[str], seconds: float) -> tuple[int | None, str]:
    """Run a program to its end; return its exit code and what it printed.

    None stands for the code if the program was killed because it took longer than this.
    """
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout.decode("utf-8", "replace")


def run_in_place(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a program with this process's input and output to its end, and return its exit code;
    OSError if it cannot be started. An interrupt is the program's own to handle."""
    with subprocess.Popen(command, env=environment) as child:
        while True:
            with suppress(KeyboardInterrupt):
                return child.wait()


def python_command(module: str, *arguments: object) -> list[str]:
    """Return the command that calls `main` of a module with arguments that `repr` writes, with this
    process's Python and its paths."""
    paths = [path or str(Path.cwd()) for path in sys.path]
    text = _START.format(paths=paths, module=module, arguments=arguments)
    return [sys.executable, "-c", text]


def ending(code: int) -> str:
    """Return in words how a process with this exit code has ended."""
    if name := signal_of(code):
        return f"ended by {name}"
    number = f"{code:#x}" if code > 0xFFFF else f"{code}"  # Windows' exceptions
    return f"ended with exit code {number}"


def signal_of(code: int) -> str:
    """Return the name of the signal that has ended a process; "" if none did, or it has no name."""
    with suppress(ValueError):
        return signal.Signals(-code).name if code < 0 else ""
    return ""


class Parent:
    """The process that has started this one, which ends when that one does.

    Ctrl-C is that one's to answer, and what this one prints becomes words: it must not get between
    the messages.
    """

    def __init__(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._answers = os.fdopen(own_output(), "wb", buffering=0)
        self._messages: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        # Messages are read in a thread, which sees the end of the parent also while this process
        # works.
        threading.Thread(target=self._read, daemon=True).start()

    def receive(self) -> bytes:
        """Return the next message, once there is one."""
        return self._messages.get()

    def send(self, content: bytes) -> None:
        """Send a message."""
        _send(self._answers, content)

    def _read(self) -> None:
        while (message := _received(sys.stdin.buffer)) is not None:
            self._messages.put(message)
        os._exit(0)


def own_output() -> int:
    """Return a descriptor of this process's standard output, to which nothing else is written any
    more: what is printed, also by native code, goes to the standard error."""
    output = os.dup(1)
    os.dup2(2, 1)
    return output


def _send(stream: IO[bytes], content: bytes) -> None:
    remaining = memoryview(_LENGTH.pack(len(content)) + content)
    while remaining:
        remaining = remaining[stream.write(remaining) :]


def _received(stream: IO[bytes]) -> bytes | None:
    """Return the next message; None if the other end is closed before its end."""
    head = _read(stream, _LENGTH.size)
    return None if head is None else _read(stream, *_LENGTH.unpack(head))


def _read(stream: IO[bytes], length: int) -> bytes | None:
    part = stream.read(length)
    if len(part) == length:
        return part
    parts = [part]
    while part and (length := length - len(part)):
        part = stream.read(length)
        parts.append(part)
    return b"".join(parts) if part else None


def _words_file() -> IO[bytes] | None:
    # Where there is no room for words, processes still do their work.
    try:
        return tempfile.TemporaryFile(prefix="amdjit-", buffering=0)
    except OSError:
        return None


def _close(*files: IO[bytes] | None) -> None:
    for file in files:
        if file is not None:
            with suppress(OSError):
                file.close()


_CHILDREN: WeakSet[Child] = WeakSet()


def _abandon_all() -> None:
    for child in list(_CHILDREN):
        child.abandon()
    _CHILDREN.clear()


# A pipe that a forked process holds open would keep the child alive after its parent.
when_forked(_abandon_all)
