"""A launch from the loaded code object to its end: kernarg bytes, memory, driver, faults.

`dispatch.Dispatcher` runs it; `workspace` holds the memory that native code works with; a checked
launch passes a `dispatch.Checks`. Imports `tiers`, `scheduling`, `memory` and below, and no check.
"""
