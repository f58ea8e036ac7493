"""Random programs of the kernel language as Python source: every expression has a known type."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from amdjit.frontend.promotion import common_scalar
from amdjit.types import Scalar, boolean, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64

INTEGERS = (i8, i16, i32, i64, u8, u16, u32, u64)
FLOATS = (f16, f32, f64)
NUMBERS = (*INTEGERS, *FLOATS)
PARAMETERS = (i8, u8, i16, i32, u32, i64, u64, f16, f32, f64)
"""Each program reads and writes one array of each of these types: `a_i8` and `o_i8` ..."""

ITEMS = 32
_DEPTH = 4


@dataclass
class Writer:
    """Draws choices and writes lines."""

    draw: st.DrawFn
    lines: list[str] = field(default_factory=list)
    names: dict[str, Scalar] = field(default_factory=dict)
    vectors: list[str] = field(default_factory=list)
    helpers: dict[str, tuple[tuple[Scalar, ...], Scalar]] = field(default_factory=dict)
    counter: int = 0
    arrays: bool = True
    loops: int = 0

    def pick(self, *items):
        return self.draw(st.sampled_from(items))

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) < percent

    def fresh(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    # Expressions

    def expression(self, type: Scalar, depth: int = _DEPTH) -> str:
        """Write an expression of exactly this type."""
        if depth <= 0 or self.chance(15):
            return self.leaf(type)
        makers = [self.leaf, self.conversion, self.conditional, self.call]
        if type is boolean:
            makers += [self.comparison, self.comparison, self.connective, self.negation, self.boolean_bits]
        else:
            makers += [self.arithmetic] * 5 + [self.unary, self.extreme, self.choice_of_operands]
            makers += [self.bit_operation, self.bit_operation, self.shift] if type.is_integer else [self.division]
            makers += [self.reinterpretation] if type.bits > 8 else []
        return self.pick(*makers)(type, depth - 1)

    def leaf(self, type: Scalar, depth: int = 0) -> str:
        known = [name for name, found in self.names.items() if found is type]
        if known and self.chance(60):
            return self.pick(*known)
        if self.arrays and type in PARAMETERS and self.chance(60):
            return f"a_{type}[{self.index(depth)}]"
        return f"{type}({self.literal(type)})"

    def index(self, depth: int) -> str:
        if self.chance(50):
            return "i"
        return f"{self.expression(i32, min(depth, 1))} & {ITEMS - 1}"

    def literal(self, type: Scalar) -> str:
        if type is boolean:
            return self.pick("True", "False")
        if type.is_float:
            return self.pick("0.0", "1.0", "-1.5", "0.1", "3.0", "1e-3", "100.25", "-2.0")
        small = st.integers(max(type.minimum, -9), 9)
        edges = st.sampled_from([type.minimum, type.maximum, type.maximum // 3, 1 << (type.bits - 2)])
        return str(self.draw(st.one_of(small, small, small, edges)))

    def partner(self, type: Scalar, kinds: tuple[Scalar, ...] = NUMBERS) -> Scalar:
        """Choose a type that meets `type` in `type`."""
        return self.pick(type, *(other for other in (*kinds, boolean) if common_scalar(type, other) is type))

    def operands(self, type: Scalar, depth: int, kinds: tuple[Scalar, ...] = NUMBERS) -> tuple[str, str]:
        left = self.expression(type, depth)
        right = self.weak(type) if self.chance(30) else self.expression(self.partner(type, kinds), depth)
        return (left, right) if self.chance(60) else (right, left)

    def weak(self, type: Scalar) -> str:
        """Write a literal that takes this type beside it."""
        if type.is_float and self.chance(50):
            return self.pick("2", "-1", "7", "True")
        text = self.literal(type)
        return f"({text})" if text.startswith("-") else text

    def arithmetic(self, type: Scalar, depth: int) -> str:
        left, right = self.operands(type, depth)
        return f"({left} {self.pick('+', '-', '*', '+', '-', '*', '//', '%')} {right})"

    def division(self, type: Scalar, depth: int) -> str:
        if type is f32 and self.chance(30):
            narrow = self.pick(i8, i16, i32, u8, u16, u32, boolean)
            return f"({self.expression(narrow, depth)} / {self.expression(narrow, depth)})"
        left, right = self.operands(type, depth)
        return f"({left} / {right})"

    def bit_operation(self, type: Scalar, depth: int) -> str:
        left, right = self.operands(type, depth, INTEGERS)
        return f"({left} {self.pick('&', '|', '^')} {right})"

    def shift(self, type: Scalar, depth: int) -> str:
        count = self.pick("1", "3", str(type.bits - 1), f"({self.expression(type, depth)} & {type.bits - 1})")
        count = self.expression(type, depth) if self.chance(20) else count
        return f"({self.expression(type, depth)} {self.pick('<<', '>>')} {count})"

    def unary(self, type: Scalar, depth: int) -> str:
        operators = ("-", "+", "~", "abs", "**") if type.is_integer else ("-", "+", "abs", "**")
        operator, operand = self.pick(*operators), self.expression(type, depth)
        if operator == "**":
            return f"({operand} ** {self.pick(0, 1, 2, 3, 6)})"
        return f"abs({operand})" if operator == "abs" else f"({operator}{operand})"

    def extreme(self, type: Scalar, depth: int) -> str:
        return f"{self.pick('min', 'max')}({', '.join(self.operands(type, depth))})"

    def conversion(self, type: Scalar, depth: int) -> str:
        return f"{type}({self.expression(self.pick(*NUMBERS, boolean), depth)})"

    def reinterpretation(self, type: Scalar, depth: int) -> str:
        other = self.pick(*(n for n in NUMBERS if n.bits == type.bits and n.is_float is not type.is_float))
        if not other.is_float:
            return f"bitcast({self.expression(other, depth)}, {type})"
        # Not of any float: the bits of a NaN that arithmetic makes are the machine's choice.
        if not self.arrays:
            return self.leaf(type)
        return f"bitcast(a_{other}[{self.index(depth)}], {type})"

    def conditional(self, type: Scalar, depth: int) -> str:
        left, right = self.expression(type, depth), self.expression(type, depth)
        return f"({left} if {self.expression(boolean, depth)} else {right})"

    def choice_of_operands(self, type: Scalar, depth: int) -> str:
        return f"({self.expression(type, depth)} {self.pick('and', 'or')} {self.expression(type, depth)})"

    def comparison(self, type: Scalar, depth: int) -> str:
        operand = self.pick(*NUMBERS)
        left, right = self.operands(operand, depth)
        operators = ("<", "<=", "==", "!=", ">", ">=")
        if self.chance(25):
            middle = self.expression(operand, depth)
            return f"({left} {self.pick(*operators)} {middle} {self.pick(*operators)} {right})"
        if operand.is_integer and self.chance(10):
            right = str(self.pick(-(1 << 70), 1 << 70))
            left = self.expression(operand, depth)
        return f"({left} {self.pick(*operators)} {right})"

    def connective(self, type: Scalar, depth: int) -> str:
        return f"({self.expression(boolean, depth)} {self.pick('and', 'or')} {self.expression(boolean, depth)})"

    def negation(self, type: Scalar, depth: int) -> str:
        return f"boolean(not {self.expression(self.pick(*NUMBERS, boolean), depth)})"

    def boolean_bits(self, type: Scalar, depth: int) -> str:
        return f"({self.expression(boolean, depth)} {self.pick('&', '|', '^')} {self.expression(boolean, depth)})"

    def call(self, type: Scalar, depth: int) -> str:
        fitting = [name for name, (_, result) in self.helpers.items() if result is type]
        if not fitting:
            return self.conversion(type, depth)
        name = self.pick(*fitting)
        arguments = [self.expression(parameter, depth) for parameter in self.helpers[name][0]]
        return f"{name}({', '.join(arguments)})"

    # Statements

    def line(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def block(self, indent: int, depth: int, least: int = 1) -> None:
        """Write some statements; names that they introduce end with the block."""
        outer, vectors = dict(self.names), list(self.vectors)
        for _ in range(self.draw(st.integers(least, 3))):
            self.statement(indent, depth)
        self.names, self.vectors = outer, vectors

    def statement(self, indent: int, depth: int) -> None:
        makers = [self.assign_new, self.assign_old, self.update]
        makers += [self.store, self.store, self.update_element, self.vector, self.memory] if self.arrays else []
        if depth > 0:
            makers += [self.branch, self.for_loop, self.while_loop, self.static_loop, self.swap]
        if self.loops and self.chance(15):
            makers = [self.leave]
        self.pick(*makers)(indent, depth)

    def assign_new(self, indent: int, depth: int) -> None:
        type = self.pick(*NUMBERS, boolean)
        value = self.expression(type)
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
        changeable = [name for name, type in self.names.items() if name.startswith("x") and type is not boolean]
        if not changeable:
            return self.assign_new(indent, depth)
        name = self.pick(*changeable)
        value = self.expression(self.partner(self.names[name]))
        return self.line(indent, f"{name} {self.pick('+', '-', '*')}= {value}")

    def swap(self, indent: int, depth: int) -> None:
        for name, type in self.names.items():
            others = [o for o, t in self.names.items() if t is type and o != name and o[0] == name[0] == "x"]
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
        self.line(indent, f"o_{type}[i] = {value}")

    def update_element(self, indent: int, depth: int) -> None:
        type = self.pick(*PARAMETERS)
        self.line(indent, f"o_{type}[i] {self.pick('+', '-', '*')}= {self.expression(self.partner(type))}")

    def vector(self, indent: int, depth: int) -> None:
        name = self.fresh("v")
        items = [self.expression(f32, 2) for _ in range(4)]
        self.line(indent, f"{name} = f32x4({', '.join(items)})")
        for other in self.vectors[:2]:
            self.line(indent, f"{name} = {name} {self.pick('+', '-', '*')} {self.pick(other, '2.0', items[0])}")
        self.line(indent, f"{name}[{self.pick('1', f'({self.expression(i32, 1)}) & 3')}] = {self.expression(f32, 2)}")
        self.line(indent, f"o_f32[i] += {name}[{self.pick('0', '-1', f'({self.expression(i32, 1)}) & 3')}]")
        self.vectors.append(name)

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
        bound = self.pick("3", "5", f"({self.expression(i32, 2)}) & 3")
        bounds = self.pick(bound, f"-2, {bound}", f"{bound}, -1, -2")
        self.line(indent, f"for {name} in range({bounds}):")
        outer = dict(self.names)
        self.names[name] = i32
        self._round(indent, depth, outer)
        self.names = outer

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
        self.line(indent + 1, f"o_i32[i] ^= {name}" if self.arrays else "pass")
        self.block(indent + 1, 0)
        self.loops = loops

    def leave(self, indent: int, depth: int) -> None:
        self.line(indent, f"if {self.expression(boolean, 2)}:")
        self.line(indent + 1, self.pick("break", "continue"))

    def helper(self) -> None:
        """Write a function with early returns, called from later ones and from the program."""
        name = self.fresh("helper")
        parameters = tuple(self.pick(*NUMBERS, boolean) for _ in range(self.draw(st.integers(1, 3))))
        result = self.pick(*NUMBERS, boolean)
        names = [self.fresh("x") for _ in parameters]
        outer, self.names, self.arrays = self.names, dict(zip(names, parameters, strict=True)), False
        if self.chance(40):
            self.line(0, "@device_function(inline=False)")
        self.line(0, f"def {name}({', '.join(names)}):")
        self.block(1, 1)
        if self.chance(70):
            self.line(1, f"if {self.expression(boolean, 2)}:")
            self.line(2, f"return {self.expression(result, 2)}")
        self.line(1, f"return {self.expression(result)}")
        self.names, self.arrays = outer, True
        self.helpers[name] = (parameters, result)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Draw a program: helpers, and a function `program(i, a_i8, ..., o_i8, ...)`."""
    writer = Writer(draw)
    for _ in range(draw(st.integers(0, 2))):
        writer.helper()
    arrays = [f"{kind}_{type}" for kind in "ao" for type in PARAMETERS]
    writer.line(0, f"def program(i, {', '.join(arrays)}):")
    writer.names["i"] = i32
    for _ in range(draw(st.integers(2, 6))):
        writer.statement(1, 2)
    writer.store(1, 0)
    return "\n".join(writer.lines) + "\n"
