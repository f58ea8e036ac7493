"""A native helper function under construction."""

from __future__ import annotations

from collections.abc import Sequence

from amdjit.emulator.host.builder import Builder, Value, constant, vector
from amdjit.emulator.layout import FIELD_BYTES, SITE_ROW, Context

V32 = vector("i32")
V64 = vector("i64")


def i32(value: int) -> Value:
    """Return an i32 constant."""
    return constant("i32", value)


def i64(value: int) -> Value:
    """Return an i64 constant."""
    return constant("i64", value)


class NativeFunction(Builder):
    """One function: its parameters are values, its text comes from `text`."""

    def __init__(self, name: str, result: str, parameters: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.symbol = name
        self.result = result
        self._parameters = parameters
        self._labels = 0
        self.label("entry")

    def parameter(self, name: str) -> Value:
        """Return a parameter by name."""
        return next(
            Value(type_name, f"%{key}") for type_name, key in self._parameters if key == name
        )

    def block(self, hint: str) -> str:
        """Return a fresh label."""
        self._labels += 1
        return f"{hint}{self._labels}"

    def text(self, attributes: str) -> str:
        """Return the whole definition, with declarations of what it calls in front."""
        declarations = self.declarations.values()
        parameters = ", ".join(f"{type_name} %{key}" for type_name, key in self._parameters)
        head = f"define {self.result} @{self.symbol}({parameters}) {attributes} {{"
        return "\n".join([*declarations, head, *self.lines, "}"])

    def allocate(self, type_name: str, alignment: int = 64) -> Value:
        """Reserve stack memory. Only in the entry block."""
        return self.emit("ptr", f"alloca {type_name}, align {alignment}")

    def context(self, field: Context) -> Value:
        """Read a 64-bit field of the context."""
        return self.load("i64", self.context_field(field), 8)

    def context_field(self, field: Context) -> Value:
        """Return the address of a field of the context."""
        return self.offset(self.parameter("context"), field * FIELD_BYTES)

    def context_pointer(self, field: Context) -> Value:
        """Read a pointer field of the context."""
        return self.load("ptr", self.offset(self.parameter("context"), field * FIELD_BYTES), 8)

    def site_row(self) -> Value:
        """Return the address of this site's cache row."""
        sites = self.context_pointer(Context.SITES)
        index = self.shift("shl", self.resize(self.parameter("site"), 64), 4)
        assert SITE_ROW * FIELD_BYTES == 1 << 4
        return self.offset(sites, index)

    def give(self, value: Value | None = None) -> None:
        """Return from the function."""
        self.line("ret void" if value is None else f"ret {value.type} {value.text}")

    def phi(self, type_name: str, *incoming: tuple[Value, str]) -> Value:
        """Join values of predecessors."""
        parts = ", ".join(f"[ {value.text}, %{block} ]" for value, block in incoming)
        return self.emit(type_name, f"phi {type_name} {parts}")

    def each_lane(self, mask: Value, before: str) -> LaneLoop:
        """Open a loop over the set bits of `mask`; it may be empty. `before` is the current
        block."""
        return LaneLoop(self, mask, before)


class LaneLoop:
    """A loop over active lanes: `lane` is the i64 index. Values do not flow out; use memory."""

    def __init__(self, function: NativeFunction, mask: Value, before: str) -> None:
        self._function = function
        self._head = function.block("lanes")
        self._done = f"{self._head}.done"
        self._step = function.name()
        body = f"{self._head}.body"
        function.branch(self._head)
        function.label(self._head)
        text = f"phi i32 [ {mask.text}, %{before} ], [ {self._step}, %{self._head}.latch ]"
        self._left = function.emit("i32", text)
        function.branch_if(function.compare("eq", self._left, i32(0)), self._done, body)
        function.label(body)
        lane = function.intrinsic("cttz", self._left, flags=[constant("i1", 1)])
        self.lane = function.resize(lane, 64)
        self.body = body

    def close(self) -> str:
        """End the body; the current block is then the one after the loop, whose label is
        returned."""
        function = self._function
        function.branch(f"{self._head}.latch")
        function.label(f"{self._head}.latch")
        rest = function.sub(self._left, i32(1))
        function.line(f"{self._step} = and i32 {self._left.text}, {rest.text}")
        function.branch(self._head)
        function.label(self._done)
        return self._done
