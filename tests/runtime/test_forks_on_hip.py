"""HIP devices in forked processes: run under the stand-in libamdhip64.so."""

from __future__ import annotations

from tests.runtime.test_hip import needs_standin, run_checks


@needs_standin
def test_a_child_of_a_process_that_used_hip_is_told_the_remedy() -> None:
    run_checks("fork_checks.py", 3)
