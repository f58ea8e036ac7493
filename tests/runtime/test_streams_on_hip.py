"""Streams, events and graphs on HIP and the emulator: run under the stand-in libamdhip64.so."""

from __future__ import annotations

from tests.runtime.test_hip import needs_standin, run_checks


@needs_standin
def test_streams_events_and_graphs_work_as_on_the_emulator() -> None:
    run_checks("stream_checks.py", 35)


@needs_standin
def test_captures_and_graphs_work_as_on_the_emulator() -> None:
    run_checks("graph_checks.py capture_checks.py", 64)


@needs_standin
def test_random_programs_of_streams_give_what_a_host_model_gives() -> None:
    run_checks("stream_program_checks.py", 52)
