"""Carry out what IREE's compiler tells the host to do: its dispatches run on the emulator, one
after the other.

IREE compiles a program to kernels and to a host function in its HAL dialect. That function is
straight code for the programs here: arithmetic on sizes, buffers that it allocates, and commands.
Anything else is refused.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Dispatch:
    """A kernel's start: bindings are parts of buffers, constants 32-bit words that follow them as
    arguments."""

    executable: str
    function: str
    workgroups: tuple[int, ...]
    constants: tuple[int, ...]
    bindings: tuple[Bytes, ...]


_BINARY: dict[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.shrui": operator.rshift,
    "arith.divui": operator.floordiv,
    "arith.divsi": operator.floordiv,
    "arith.remui": operator.mod,
    "arith.remsi": operator.mod,
    "arith.ceildivui": lambda a, b: -(-a // b),
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.minsi": min,
    "arith.minui": min,
    "arith.maxsi": max,
    "arith.maxui": max,
    "arith.andi": operator.and_,
    "arith.ori": operator.or_,
}
# Order, life times and checks, which a host that runs one command after the other has no use for.
_IGNORED = (
    *("hal.allocator", "hal.buffer.assert", "hal.buffer_view.assert", "hal.command_buffer.create"),
    *(
        "hal.command_buffer.execution_barrier",
        "hal.command_buffer.finalize",
        "hal.device.allocator",
    ),
    *(
        "hal.device.queue.dealloca",
        "hal.device.queue.execute",
        "hal.element_type",
        "hal.encoding_type",
    ),
    *(
        "hal.fence",
        "hal.memory_type",
        "hal.buffer_usage",
        "util.global.load",
        "util.null",
        "util.status.check_ok",
    ),
)
_FUNCTION = re.compile(
    r"^  util\.func public @\w+\((.*?)\) -> .*?\{\n(.*?)^  \}", re.DOTALL | re.MULTILINE
)
_STATEMENT = re.compile(r"(?:(%[\w-]+(?:, %[\w-]+)*) = )?([\w.]+)(.*)", re.DOTALL)
_PART = re.compile(
    r"(?:buffer|source|target)?\((%[\w-]+) : !hal\.buffer\)\[(%[\w-]+)(?:, (%[\w-]+))?\]"
)


class HostFunction:
    """The host function of a compiled program; `start` runs a dispatch."""

    def __init__(self, text: str, start: Callable[[Dispatch], None]) -> None:
        found = _FUNCTION.search(text)
        assert found, "no public function"
        self._parameters = re.findall(r"(%\w+): !hal\.buffer_view", found[1])
        self._statements = _statements(found[2])
        self._start = start
        self._values: dict[str, Any] = {}

    def call(self, *args: NDArray[Any]) -> list[tuple[Bytes, tuple[int, ...]]]:
        """Return the bytes and the shape of each result."""
        self._values = dict(zip(self._parameters, args, strict=True))
        for statement in self._statements:
            found = _STATEMENT.fullmatch(statement)
            assert found, statement
            name, operation, rest = found.groups()
            if operation == "util.return":
                return [self._values[value] for value in re.findall(r"%[\w-]+", rest.split(":")[0])]
            value = self._execute(operation, rest)
            if name:
                self._values[name] = value
        raise AssertionError("the function has no end")

    def _execute(self, operation: str, rest: str) -> Any:
        if operation.startswith(_IGNORED):
            return None
        if operation.startswith("arith."):
            return self._arithmetic(operation, rest)
        actions: Mapping[str, Callable[[str], Any]] = {
            "hal.buffer_view.dim": self._extent,
            "hal.buffer_view.buffer": lambda text: _bytes_of(self._names(text)[0]),
            "hal.device.queue.alloca": self._allocate,
            "hal.executable.lookup.function": lambda text: re.findall(
                r"@(\w+)", text.partition("function(")[2]
            ),
            "hal.command_buffer.fill_buffer": self._fill,
            "hal.command_buffer.copy_buffer": self._copy,
            "hal.command_buffer.dispatch": self._dispatch,
            "hal.buffer_view.create": self._view,
        }
        if operation not in actions:
            raise NotImplementedError(f"{operation}{rest[:200]}")
        return actions[operation](rest)

    def _arithmetic(self, operation: str, rest: str) -> int:
        if operation == "arith.constant":
            text = rest.split(":")[0].strip()
            return int(text) if text.lstrip("-").isdigit() else ["false", "true"].index(text)
        values = self._names(rest)
        if operation in _BINARY:
            return _BINARY[operation](*values)
        if operation == "arith.trunci":
            return int(values[0]) & ((1 << int(rest.rpartition(" to i")[2])) - 1)
        if operation.startswith(("arith.index_cast", "arith.extui")):
            return int(values[0]) & 0xFFFF_FFFF if rest.endswith("to i32") else int(values[0])
        raise NotImplementedError(f"{operation}{rest}")

    def _names(self, text: str) -> list[Any]:
        return [self._values[name] for name in re.findall(r"%[\w-]+", text)]

    def _extent(self, text: str) -> int:
        place = re.search(r"\[(\d+)\]", text)
        assert place
        return int(self._names(text)[0].shape[int(place[1])])

    def _allocate(self, text: str) -> Bytes:
        # Ones in every bit: what a kernel takes from here without having written it shows as NaN or
        # -1.
        return np.full(self._names(text.rpartition("{")[2])[0], 255, np.uint8)

    def _parts(self, text: str) -> list[Bytes]:
        return [
            self._values[buffer][self._values[start] :][: self._values[size] if size else None]
            for buffer, start, size in _PART.findall(text)
        ]

    def _fill(self, text: str) -> None:
        found = re.search(r"pattern\((%[\w-]+) : i(\d+)\)", text)
        assert found
        size = int(found[2]) // 8
        target = self._parts(text)[0]
        pattern = (self._values[found[1]] & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        target.reshape(-1, size)[:] = np.frombuffer(pattern, np.uint8)

    def _copy(self, text: str) -> None:
        found = re.search(r"length\((%[\w-]+)\)", text)
        assert found
        source, target = self._parts(text)
        size = self._values[found[1]]
        target[:size] = source[:size]

    def _dispatch(self, text: str) -> None:
        function = self._names(text.partition(")[")[2].partition("]")[0])[0]
        workgroups = self._listed("workgroups", text)
        bindings = tuple(self._parts(text.partition("bindings(")[2]))
        self._start(
            Dispatch(
                function[0], function[-1], workgroups, self._listed("constants", text), bindings
            )
        )

    def _listed(self, name: str, text: str) -> tuple[int, ...]:
        return tuple(self._names(text.partition(f"{name}([")[2].partition("])")[0]))

    def _view(self, text: str) -> tuple[Bytes, tuple[int, ...]]:
        return self._parts(text)[0], self._listed("shape", text)


def _statements(body: str) -> Sequence[str]:
    """Split at the lines that begin a statement: others go on with the one before."""
    whole: list[str] = []
    for line in body.splitlines():
        if line.startswith("    ") and line[4] not in " ])":
            whole.append(line.strip())
        else:
            whole[-1] += " " + line.strip()
    return whole


def _bytes_of(array: NDArray[Any]) -> Bytes:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).copy()
