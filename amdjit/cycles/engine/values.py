"""Arithmetic that the host code of the cycle model does everywhere."""

from __future__ import annotations

from amdjit.emulator.host.builder import Builder, Value

__all__ = ["greater"]


def greater(b: Builder, *values: Value) -> Value:
    """Return the greatest of signed integers."""
    result, *others = values
    for other in others:
        result = b.select(b.compare("sgt", other, result), other, result)
    return result
