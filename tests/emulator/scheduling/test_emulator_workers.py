"""Waiting for native calls: signals and time limits keep their meaning, however late the waiting
thread is."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from amdjit.emulator.scheduling.workers import Workers


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="it needs a POSIX timer")
def test_a_signal_whose_handler_outlasts_the_wait_does_not_make_it_endless() -> None:
    """The handler runs within `wait`, and returns when the time of the wait is up."""
    go_on = threading.Event()
    workers = Workers(1)
    batch = workers.start(lambda _: go_on.wait(60) and None, [0])
    old = signal.signal(signal.SIGALRM, lambda number, frame: time.sleep(0.1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        assert not batch.wait(0.05)
    finally:
        signal.signal(signal.SIGALRM, old)
        go_on.set()
    assert batch.wait(30)


def test_all_calls_are_waited_for_and_asked_for_again() -> None:
    made: list[int] = []
    batch = Workers(2).start(made.append, range(20))
    assert batch.wait(30)
    assert batch.wait(0)
    assert sorted(made) == list(range(20))
