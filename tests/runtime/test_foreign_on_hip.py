"""Arrays and streams of other libraries on HIP: run under the stand-in libamdhip64.so."""

from __future__ import annotations

from tests.runtime.test_hip import needs_standin, run_checks


@needs_standin
def test_arrays_and_streams_of_other_libraries_are_used_in_order() -> None:
    run_checks("foreign_checks.py", 40, devices="2")
