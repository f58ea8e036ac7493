"""`amdjit explore --watch`: the page in a browser, compiled again and shown anew on each save.

Every compilation is a process of its own, which imports the kernel's file and all that it imports
afresh. A small server shows its page inside of another one, which hears from the server when there
is a new page, or why there is none.
"""

from __future__ import annotations

import json
import secrets
import sys
import threading
import time
import webbrowser
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from amdjit.child_process import Child, ending
from amdjit.diagnostics import LaunchError
from amdjit.explorer.page import watching_frame

__all__ = ["changes", "watch"]

# Seconds between two looks at the files, and between two signs of life to a browser.
_INTERVAL = 0.2
_SIGN_OF_LIFE = 10.0


def watch(command: Sequence[str], page: Path, file: Path, port: int, opens: bool) -> int:
    """Compile and serve until Ctrl-C; return the exit status.

    command: the arguments of `python -m amdjit` that write the page. file: the kernel's; the Python
    files beside it are watched, too. port: of this machine, 0 for any free one.
    """
    state = _State()
    try:
        server = _Server(state, port)
    except OSError as error:
        raise LaunchError(f"port {port} cannot be served: {error.strerror}") from None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"{server.address} shows the page, and compiles it again on each save; Ctrl-C ends")
    sys.stdout.flush()
    try:
        for number, _ in enumerate(changes(file)):
            _compile(command, page, state)
            if opens and number == 0:
                webbrowser.open(server.address)
    except KeyboardInterrupt:
        return 0
    finally:
        server.shutdown()
    raise AssertionError("files never end to change")


def changes(file: Path) -> Iterator[None]:
    """Yield at once, and then whenever the file or a Python file beside it has changed."""
    seen = None
    while True:
        now = _stamps(file)
        if now != seen:
            seen = now
            yield
        time.sleep(_INTERVAL)


def _stamps(file: Path) -> dict[Path, tuple[int, int]]:
    found = {}
    for each in {file, *file.parent.glob("*.py")}:
        try:
            facts = each.stat()
        except OSError:
            # An editor may be replacing it.
            continue
        found[each] = (facts.st_mtime_ns, facts.st_size)
    return found


def _compile(command: Sequence[str], page: Path, state: _State) -> None:
    child = Child([sys.executable, "-m", "amdjit", *command])
    try:
        code, words = child.exit_code(), child.words()
    finally:
        child.close()
    print(words, end="", file=sys.stderr if code else sys.stdout, flush=True)
    if code:
        state.fail(words.strip() or f"the compilation has {ending(code)}")
    else:
        state.show(page.read_bytes())


class _State:
    """The newest page, and what went wrong since."""

    def __init__(self) -> None:
        self.page = b""
        self._number = 0
        self._problem = ""
        self._changes = 0
        self._changed = threading.Condition()

    def show(self, page: bytes) -> None:
        """There is a new page."""
        with self._changed:
            self.page, self._problem = page, ""
            self._number += 1
            self._note()

    def fail(self, problem: str) -> None:
        """There is none: the last one stays."""
        with self._changed:
            self._problem = problem
            self._note()

    def _note(self) -> None:
        self._changes += 1
        self._changed.notify_all()

    def news(self) -> Iterator[str]:
        """Yield the state as JSON text, now and after each change; "" for no change in a while."""
        seen = 0
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._changes != seen, _SIGN_OF_LIFE)  # noqa: B023
                is_new, seen = self._changes != seen, self._changes
                state = {"page": self._number, "problem": self._problem}
            yield json.dumps(state) if is_new else ""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, state: _State, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.state = state
        self.names = {f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost")}
        self.address = f"http://127.0.0.1:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        """Answer the frame, the page in it, or the news about it."""
        # Pages of others must not read this one by a name of theirs that leads here.
        if self.headers["Host"] not in self.server.names:
            self.send_error(403)
        elif self.path == "/":
            self._send_frame()
        elif self.path.partition("?")[0] == "/page":
            self._send(self.server.state.page)
        elif self.path == "/events":
            self._send_news()
        else:
            self.send_error(404)

    def _send_frame(self) -> None:
        nonce = secrets.token_urlsafe()
        policy = (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
            "frame-src 'self'; connect-src 'self'"
        )
        self._send(watching_frame(nonce).encode(), policy)

    def _send(self, page: bytes, policy: str | None = None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.send_header("Cache-Control", "no-store")
        if policy is not None:
            self.send_header("Content-Security-Policy", policy)
        self.end_headers()
        self.wfile.write(page)

    def _send_news(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        try:
            for state in self.server.state.news():
                self.wfile.write(f"data: {state}\n\n".encode() if state else b":\n\n")
                self.wfile.flush()
        except OSError:
            # The browser has gone.
            return

    def log_message(self, format: str, *arguments: object) -> None:
        """Keep requests out of the terminal."""
