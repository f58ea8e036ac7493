"""Assertions for the test suites of people who write kernels.

`isa` is about machine code.
"""
