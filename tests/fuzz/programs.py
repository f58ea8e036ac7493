"""Random programs of the kernel language as Python source: every expression has a known type."""

from __future__ import annotations

from choices import Choices
from hypothesis import strategies as st
from program_composites import Composites
from program_expressions import parts
from program_types import INTEGERS, ITEMS, NUMBERS, PARAMETERS, PYTHON_NUMBERS, SLOTS

from amdjit.types import Scalar, Vector, boolean, i32


class Writer(Composites):
    """Writes statements."""

    def line(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def block(self, indent: int, depth: int, least: int = 1) -> None:
        """Write some statements; names that they introduce end with the block."""
        outer = dict(self.names)
        for _ in range(self.choices.number(least, 3)):
            self.statement(indent, depth)
        self.names = outer

    def statement(self, indent: int, depth: int) -> None:
        makers = [self.assign_new, self.assign_old, self.update]
        makers += [self.assign_record] * 3 if self.records else []
        makers += [self.store, self.store, self.update_element, self.set_item, self.memory] if self.arrays else []
        if depth > 0:
            makers += [self.branch, self.for_loop, self.while_loop, self.static_loop, self.swap]
            makers += [self.weak_integers, self.weak_floats] if self.arrays else []
        makers += [self.leave_program] if self.arrays and depth < 2 else []
        if self.loops and self.chance(15):
            makers = [self.leave]
        self.pick(*makers)(indent, depth)

    def assign_new(self, indent: int, depth: int) -> None:
        type = self.any_type()
        value = self.expression(type)
        name = self.fresh("x")
        self.line(indent, f"{name} = {value}")
        self.names[name] = type

    def assign_record(self, indent: int, depth: int) -> None:
        """Assign what a method or an operator of a record gives."""
        type = self.pick(*self.records)
        value = self.method(type, 2)
        name = self.fresh("x")
        self.line(indent, f"{name} = {value}")
        self.names[name] = type

    def assign_old(self, indent: int, depth: int) -> None:
        changeable = [name for name in self.names if name.startswith("x")]
        if not changeable:
            return self.assign_new(indent, depth)
        name = self.pick(*changeable)
        return self.line(indent, f"{name} = {self.expression(self.names[name])}")

    def update(self, indent: int, depth: int) -> None:
        changeable = [name for name, type in self.names.items() if name.startswith("x") and type in NUMBERS]
        if not changeable:
            return self.assign_new(indent, depth)
        name = self.pick(*changeable)
        type = self.names[name]
        assert isinstance(type, Scalar)
        value = self.expression(self.partner(type))
        return self.line(indent, f"{name} {self.pick('+', '-', '*')}= {value}")

    def swap(self, indent: int, depth: int) -> None:
        for name, type in self.names.items():
            others = [o for o, t in self.names.items() if t == type and o != name and o[0] == name[0] == "x"]
            if others:
                other = self.pick(*others)
                return self.line(indent, f"{name}, {other} = {self.expression(type, 2)}, {name}")
        return self.assign_new(indent, depth)

    def store(self, indent: int, depth: int) -> None:
        type = self.pick(*PARAMETERS)
        value = self.expression(type)
        if type.is_float and self.chance(20):
            value = self.expression(self.pick(*NUMBERS, boolean))
        elif self.chance(20):
            value = self.expression(self.pick(*INTEGERS, boolean))
        self.line(indent, f"o_{type}[{self.place()}] = {value}")

    def place(self) -> str:
        return f"i * {SLOTS} + {self.choices.number(0, SLOTS - 1)}"

    def show(self, indent: int) -> None:
        """Write parts of the names to the results."""
        known = [(text, part) for name, type in self.names.items() for text, part in parts(name, type)]
        known = [(text, part) for text, part in known if isinstance(part, Scalar) and text != "i"]
        for k in range(min(len(known), SLOTS + 1)):
            text, part = known[k * 7 % len(known)]
            target = part if part in PARAMETERS else i32
            self.line(indent, f"o_{target}[i * {SLOTS} + {k % SLOTS}] = {text}")

    def update_element(self, indent: int, depth: int) -> None:
        type = self.pick(*PARAMETERS)
        self.line(indent, f"o_{type}[{self.place()}] {self.pick('+', '-', '*')}= {self.expression(self.partner(type))}")

    def set_item(self, indent: int, depth: int) -> None:
        """Write an element of a vector in a name."""
        vectors = [name for name, type in self.names.items() if isinstance(type, Vector) and name.startswith("x")]
        if not vectors:
            return self.assign_new(indent, depth)
        name = self.pick(*vectors)
        type = self.names[name]
        assert isinstance(type, Vector)
        last = 1 << (type.length.bit_length() - 1)
        index = self.pick("1", "0", "-1", f"({self.expression(i32, 1)}) & {last - 1}")
        return self.line(indent, f"{name}[{index}] = {self.expression(type.element, 2)}")

    def memory(self, indent: int, depth: int) -> None:
        """Write to private or LDS memory of the work-item's own, and read it back."""
        name, type = self.fresh("m"), self.pick(*PARAMETERS, boolean)
        if self.chance(50):
            self.line(indent, f"{name} = local.array(4, {type})")
            self.line(indent, f"for {name}k in range(4):")
            self.line(indent + 1, f"{name}[{name}k] = {self.expression(type, 2)}")
            place, other = (f"{name}[({self.expression(i32, 1)}) & 3]" for _ in range(2))
        else:
            self.line(indent, f"{name} = shared.array(({ITEMS}, 2), {type})")
            self.line(indent, f"{name}[i, 0], {name}[i, -1] = {self.expression(type, 2)}, {self.expression(type, 2)}")
            place, other = f"{name}[i, ({self.expression(i32, 1)}) & 1]", f"{name}[i, 1]"
        self.line(indent, f"{place} = {self.expression(type, 2)}")
        if type is not boolean:
            self.line(indent, f"{other} {self.pick('+', '-', '*')}= {self.expression(self.partner(type), 2)}")
        result = self.fresh("x")
        self.line(indent, f"{result} = {other}")
        self.names[result] = type

    def branch(self, indent: int, depth: int) -> None:
        self.line(indent, f"if {self.expression(self.pick(boolean, boolean, *NUMBERS))}:")
        self.block(indent + 1, depth - 1)
        if self.chance(40):
            self.line(indent, f"elif {self.expression(boolean)}:")
            self.block(indent + 1, depth - 1)
        if self.chance(50):
            self.line(indent, "else:")
            self.block(indent + 1, depth - 1)

    def for_loop(self, indent: int, depth: int) -> None:
        name = self.fresh("k")
        bound = self.pick("i32(3)", "i32(5)", f"({self.expression(i32, 2)}) & 3")
        bounds = self.pick(bound, f"-2, {bound}", f"{bound}, -1, -2")
        self.line(indent, f"for {name} in range({bounds}):")
        outer = dict(self.names)
        self.names[name] = i32
        self._round(indent, depth, outer)
        self.names = outer

    def weak_integers(self, indent: int, depth: int) -> None:
        """Count from literals and Python numbers, with what wraps alike in every width, into 64 bits."""
        updates = ("{v} |= 1 << {k}", "{v} += {k} * 1000003", "{v} = {v} * 3 + {k}", "{v} ^= p << {k}", "{v} -= q",
                   "{v} = ({k} - {v}) * 5", "{v} = {v} if {k} < p else 7 * {v}")  # fmt: skip
        name = self._weak_loop(indent, self.pick("0", "1", "p", "q", "p * q"), updates)
        type = self.pick("i64", "u64", "i32", "u32", "i8")
        self.line(indent, f"o_{type}[{self.place()}] = {name}")
        self.line(indent, f"o_i64[{self.place()}] = {self.pick(f'a_i64[i] * {name}', name, f'{name} * {name} + 1')}")

    def weak_floats(self, indent: int, depth: int) -> None:
        """Compute with literals and Python numbers, into f64."""
        updates = ("{v} += 0.1", "{v} = {v} * 0.5 + r", "{v} += {k} * t", "{v} /= 3.0", "{v} = t / ({k} + 1) - {v}",
                   "{v} = {v} if {k} < p else r * {v}", "{v} = abs({v}) + 1")  # fmt: skip
        name = self._weak_loop(indent, self.pick("0.0", "r", "t", "r * t", "0.3"), updates)
        self.line(indent, f"o_f64[{self.place()}] = {self.pick(f'a_f64[i] * {name}', name, f'{name} * 0.7 + {name}')}")

    def _weak_loop(self, indent: int, start: str, updates: tuple[str, ...]) -> str:
        name, k = self.fresh("v"), self.fresh("n")
        self.line(indent, f"{name} = {start}")
        self.line(indent, f"for {k} in range({self.pick('40', 'p', '3, 45', 'p, p * 8')}):")
        for _ in range(self.choices.number(1, 2)):
            is_guarded = self.chance(40)
            if is_guarded:
                self.line(indent + 1, f"if {self.expression(boolean, 1)}:")
            self.line(indent + 1 + is_guarded, self.pick(*updates).format(v=name, k=k))
        return name

    def _round(self, indent: int, depth: int, names_after: dict[str, Scalar]) -> None:
        self.loops += 1
        self.block(indent + 1, depth - 1)
        self.loops -= 1
        self.names = dict(names_after)
        if self.chance(25):
            self.line(indent, "else:")
            loops, self.loops = self.loops, 0
            self.block(indent + 1, 0)
            self.loops = loops

    def while_loop(self, indent: int, depth: int) -> None:
        name = self.fresh("w")
        self.line(indent, f"{name} = i32(0)")
        self.line(indent, f"while {name} < {self.pick(1, 3, 4)} and {self.expression(boolean, 2)}:")
        self.line(indent + 1, f"{name} += 1")
        outer = dict(self.names)
        self.names[name] = i32
        self._round(indent, depth, outer)
        self.names = outer

    def static_loop(self, indent: int, depth: int) -> None:
        name = self.fresh("s")
        self.line(indent, f"for {name} in {self.pick('static_range(2)', '(1, 4)', 'static_range(3, 0, -2)')}:")
        loops, self.loops = self.loops, 0
        self.line(indent + 1, f"o_i32[i * 4] ^= {name}" if self.arrays else "pass")
        self.block(indent + 1, 0)
        self.loops = loops

    def leave(self, indent: int, depth: int) -> None:
        self.line(indent, f"if {self.expression(boolean, 2)}:")
        self.line(indent + 1, self.pick("break", "continue"))

    def leave_program(self, indent: int, depth: int) -> None:
        self.line(indent, f"if {self.expression(boolean, 2)}:")
        self.show(indent + 1)
        self.line(indent + 1, "return")

    def helper(self) -> None:
        """Write a function with early returns, called from later ones and from the program."""
        name = self.fresh("helper")
        parameters = tuple(self.any_type() for _ in range(self.choices.number(1, 3)))
        result = self.any_type()
        names = [self.fresh("x") for _ in parameters]
        outer, self.names, self.arrays = self.names, dict(zip(names, parameters, strict=True)), False
        if self.chance(40):
            self.line(0, "@device_function(inline=False)")
        self.line(0, f"def {name}({', '.join(names)}):")
        if self.chance(50):
            self.block(1, 1)
        if self.chance(70):
            self.line(1, f"if {self.expression(boolean, 2)}:")
            self.line(2, f"return {self.expression(result, 2)}")
        self.line(1, f"return {self.expression(result)}")
        self.names, self.arrays = outer, True
        self.helpers[name] = (parameters, result)


def program(data: bytes) -> str:
    """Write a program: records, helpers, and a function `program(i, a_i8, ..., o_i8, ...)`."""
    writer = Writer(Choices(data))
    if writer.chance(30):
        writer.record()
    for _ in range(writer.pick(0, 0, 1, 2)):
        writer.helper()
    arrays = [f"{kind}_{type}" for kind in "ao" for type in PARAMETERS]
    writer.line(0, f"def program(i, {', '.join([*arrays, *PYTHON_NUMBERS])}):")
    writer.names["i"] = i32
    if writer.records:
        writer.assign_record(1, 2)
    for _ in range(6):
        if not writer.choices.is_used_up:
            writer.statement(1, 2)
    writer.store(1, 0)
    writer.show(1)
    return "\n".join(writer.lines) + "\n"


def programs(size: int = 100) -> st.SearchStrategy[str]:
    """Draw programs that are written from so many bytes."""
    return st.binary(min_size=size, max_size=size).map(program)
