"""Loops in native functions."""

from __future__ import annotations

from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import NativeFunction, i64


class Loop:
    """A loop with a fixed number of rounds: `index` is the round, as i64."""

    def __init__(self, function: NativeFunction, name: str, rounds: int) -> None:
        self._function = function
        self._rounds = rounds
        self._label = function.block(name)
        self._next = function.name()
        self._latch = f"{self._label}.latch"
        before = function.current
        function.branch(self._label)
        function.label(self._label)
        self.index = function.emit(
            "i64", f"phi i64 [ 0, %{before} ], [ {self._next}, %{self._latch} ]"
        )

    def close(self) -> None:
        """End the body; the code that follows runs after the loop."""
        f = self._function
        f.branch(self._latch)
        f.label(self._latch)
        f.line(f"{self._next} = add i64 {self.index.text}, 1")
        more = f.compare("ult", Value("i64", self._next), i64(self._rounds))
        f.branch_if(more, self._label, f"{self._label}.done")
        f.label(f"{self._label}.done")
