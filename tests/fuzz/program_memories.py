"""Memories of random programs: private and LDS arrays, and helpers that make, take and return
them."""

from __future__ import annotations

from amdjit.types import Scalar, boolean, i32
from tests.fuzz.program_loops import Loops
from tests.fuzz.program_types import ITEMS, PARAMETERS, Kind, MemoryType


class Memories(Loops):
    """Writes statements and helpers that have memories."""

    def memory(self, indent: int, depth: int) -> None:
        """Write to private or LDS memory of the work-item's own, and read it back."""
        if self.fillers and self.chance(50):
            name, (filler, memory) = self.fresh("m"), self.pick(*self.fillers.items())
            self.line(indent, f"{name} = {filler}(i, {self.expression(memory.element, 2)})")
        else:
            name, memory = self._made_memory(indent)
        place = memory.place(name, f"({self.expression(i32, 1)}) & {memory.length - 1}")
        other, type = memory.place(name, "1"), memory.element
        self.line(indent, f"{place} = {self.expression(type, 2)}")
        if type is not boolean:
            self.line(
                indent,
                f"{other} {self.pick('+', '-', '*')}= {self.expression(self.partner(type), 2)}",
            )
        self.names[name] = memory

    def _made_memory(self, indent: int) -> tuple[str, MemoryType]:
        """Write an array and what fills it."""
        name, type = self.fresh("m"), self.pick(*PARAMETERS, boolean)
        memory = MemoryType(type, 2, True) if self.chance(50) else MemoryType(type, 4, False)
        if memory.in_lds:
            self.line(indent, f"{name} = shared.array(({ITEMS}, 2), {type})")
            self.line(
                indent,
                f"{name}[i, 0], {name}[i, -1] = {self.expression(type, 2)}, "
                f"{self.expression(type, 2)}",
            )
        else:
            self.line(indent, f"{name} = local.array(4, {type})")
            self.line(indent, f"for {name}k in range(4):")
            self.line(indent + 1, f"{name}[{name}k] = {self.expression(type, 2)}")
        return name, memory

    def filler(self) -> None:
        """Write a function that makes a memory: each call has one of its own."""
        name, value = self.fresh("filler"), self.fresh("x")
        outer, self.names, self.arrays = self.names, {"i": i32}, False
        self.line(0, f"def {name}(i, {value}):")
        made, memory = self._made_memory(1)
        self.line(1, f"{memory.place(made, '0')} = {value}")
        self.line(1, f"return {made}")
        self.names, self.arrays = outer, True
        self.fillers[name] = memory

    def taker(self) -> None:
        """Write a function that reads and writes an array of its caller's."""
        name, type = self.fresh("taker"), self.pick(*PARAMETERS)
        outer, self.names, self.arrays = self.names, {"i": i32, "x": type}, False
        self.line(0, f"def {name}(i, t, x):")
        self.line(1, f"before = t[{self.place()}]")
        self.line(1, f"t[{self.place()}] = {self.expression(type, 2)}")
        self.line(1, f"return {self.pick('before', f't[{self.place()}]')}")
        self.names, self.arrays = outer, True
        self.takers[type] = name

    def call(self, type: Kind, depth: int) -> str:
        """Write a call of a helper; of one that takes an array if there is any of the type."""
        if self.arrays and isinstance(type, Scalar) and type in self.takers and self.chance(70):
            return f"{self.takers[type]}(i, o_{type}, {self.expression(type, depth)})"
        return super().call(type, depth)

    def helper(self) -> None:
        """Write a function with early returns, called from later ones and from the program."""
        name = self.fresh("helper")
        parameters = tuple(self.any_type() for _ in range(self.choices.number(1, 3)))
        result = self.any_type()
        names = [self.fresh("x") for _ in parameters]
        outer, self.names, self.arrays = (
            self.names,
            dict(zip(names, parameters, strict=True)),
            False,
        )
        if self.chance(40):
            self.line(0, "@device_function(inline=False)")
        self.line(0, f"def {name}({', '.join(names)}):")
        if self.chance(50):
            self.block(1, 1)
        if self.chance(70):
            self.line(1, f"if {self.condition(2)}:")
            self.line(2, f"return {self.expression(result, 2)}")
        self.line(1, f"return {self.expression(result)}")
        self.names, self.arrays = outer, True
        self.helpers[name] = (parameters, result)
