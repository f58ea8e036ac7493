"""Checks of kernels that no AMD GPU offers: one folder each, and what they share.

A check plugs in through three interfaces, each in the room that calls it: `check.Check` into a
launch, `wave.instrument.Instrument` into the translation, `memory.MemoryObserver` into the device's
memory. `session` is the only module that lists the checks.

memory, race, init and sync do not import each other. They share `findings` (rows become reports),
`report_call`, `lane_addresses`, and `waits`, which looks for missing waits without running
anything. All may import `launch` and below; nothing below imports a check.
"""
