"""How this room's tests know that they run on the stand-in's device."""

from __future__ import annotations

# The variable that the child process of test_arrays_on_hip.py has.
ON_STANDIN = "AMDJIT_TEST_ON_STANDIN"
