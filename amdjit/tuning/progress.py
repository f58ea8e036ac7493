"""Shows the progress of a search: a bar with the remaining time in a terminal, a line now and then
in a notebook."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field

from amdjit.tuning.timing import seconds_text

__all__ = ["Progress", "duration_text"]

_WIDTH = 24
_NOTEBOOK_SECONDS = 10.0
_BAR_SECONDS = 0.2
_CLEAR = "\r\x1b[K"


@dataclass
class Progress:
    """The progress on standard error."""

    shown: bool | None
    """True to show it always, False never, None in terminals and notebooks."""
    what: str
    total: int
    done: int = 0
    best: float | None = None
    stage: str = ""
    _begin: float = field(default_factory=time.monotonic)
    _last: float = 0.0
    _counted_from: int = 0

    def begin(self, stage: str, total: int, done: int = 0) -> None:
        """Begin a stage with this many candidates, some of which are done already."""
        self.stage, self.total, self.done, self._counted_from = stage, total, done, done
        self._begin, self._last = time.monotonic(), 0.0

    def add(self, seconds: float | None = None) -> None:
        """Count a candidate."""
        self.done += 1
        if seconds is not None:
            self.best = seconds if self.best is None else min(self.best, seconds)
        self.tick()

    def tick(self) -> None:
        """Show the progress if it is time to do so."""
        if self._mode == "none":
            return
        now = time.monotonic()
        interval = _BAR_SECONDS if self._mode == "bar" else _NOTEBOOK_SECONDS
        if now - self._last < interval and self.done < self.total:
            return
        self._last = now
        text = self.text(now)
        if self._mode == "bar":
            print(f"{_CLEAR}{text}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def text(self, now: float) -> str:
        """Return the line."""
        share = self.done / self.total if self.total else 1.0
        filled = round(share * _WIDTH)
        bar = "#" * filled + "." * (_WIDTH - filled)
        parts = [f"{self.what}: {self.stage} [{bar}] {self.done}/{self.total}"]
        if self.best is not None:
            parts.append(f"best {seconds_text(self.best)}")
        finished = self.done - self._counted_from
        if finished and self.done < self.total:
            left = (now - self._begin) / finished * (self.total - self.done)
            parts.append(f"{duration_text(left)} left")
        return ", ".join(parts)

    def end(self) -> None:
        """End the line."""
        if self._mode == "bar" and self._last:
            print(_CLEAR, end="", file=sys.stderr, flush=True)

    @property
    def _mode(self) -> str:
        if self.shown is False:
            return "none"
        stream = sys.stderr
        if stream is not None and stream.isatty():
            return "bar"
        return "lines" if self.shown or "ipykernel" in sys.modules else "none"


def duration_text(seconds: float) -> str:
    """Return a duration as h:mm:ss or m:ss."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"
