"""Expressions of random programs whose values have parts: vectors, complex numbers, tuples,
records."""

from __future__ import annotations

from amdjit.types import Scalar, Vector, bf16, boolean, f16, f32, f64, i8, i16, i32, u8
from tests.fuzz.program_expressions import Expressions
from tests.fuzz.program_types import (
    COMPLEX,
    NUMBERS,
    SIMPLE,
    VECTORS,
    ComplexType,
    Kind,
    RecordType,
    TupleType,
)


def _call_text(name: str, receiver: str, argument: str) -> str:
    """Write a call of a method: by its name, by an operator, or by `*` with the record on the
    right."""
    if name == "r*":
        return f"({argument} * {receiver})"
    return f"({receiver} {name} {argument})" if name in "+-@" else f"{receiver}.{name}({argument})"


class Composites(Expressions):
    """Writes expressions of every type."""

    def composite(self, type: Kind, depth: int) -> str:
        known = self.readable(type)
        if known and self.chance(60):
            return self.pick(*known)
        if depth <= 0 or self.chance(30):
            return self.made(type, depth - 1)
        makers = [self.made, self.conditional, self.item_at_run_time, self.call]
        if isinstance(type, Vector):
            makers += [self.vector_operation] * 3 + [self.vector_function, self.shuffle]
        if isinstance(type, ComplexType):
            makers += [self.complex_operation] * 3 + [self.complex_function]
        if isinstance(type, RecordType):
            makers += [self.method, self.replaced]
        return self.pick(*makers)(type, depth - 1)

    def made(self, type: Kind, depth: int) -> str:
        """Write a value from its parts."""
        if isinstance(type, Vector):
            if self.chance(50):
                return f"{type}({self.expression(type.element, depth)})"
            parts = (self.expression(type.element, depth) for _ in range(type.length))
            return f"{type}({', '.join(parts)})"
        if isinstance(type, ComplexType):
            return (
                f"complex({self.expression(type.part, depth)}, {self.expression(type.part, depth)})"
            )
        if isinstance(type, TupleType):
            return f"({', '.join(self.expression(item, depth) for item in type.items)},)"
        assert isinstance(type, RecordType)
        return f"{type.name}({', '.join(self.expression(item, depth) for _, item in type.fields)})"

    def vector_operation(self, type: Vector, depth: int) -> str:
        left = self.expression(type, depth)
        kinds = tuple(kind for kind in NUMBERS if kind.is_integer or type.element.is_float)
        right = self.expression(type, depth)
        if self.chance(40):
            right = (
                self.weak(type.element)
                if self.chance(50)
                else self.expression(self.partner(type.element, kinds))
            )
        operators = ("+", "-", "*") if type.element is bf16 else ("+", "-", "*", "//", "%")
        operators += ("/",) if type.element.is_float else ("&", "|", "^", "<<", ">>")
        operator = self.pick(*operators)
        if operator in ("&", "|", "^", "<<", ">>") or not self.chance(50):
            right = self.expression(type, depth)
        elif self.chance(40):
            left, right = right, left
        if operator in ("//", "%") and type.element.is_integer:
            # No constant: one that is 0 would be refused.
            one = f"{type}(1)"
            right = f"({type}({right}) if u else {one})" if self.arrays else one
        return f"({left} {operator} {right})"

    def vector_function(self, type: Vector, depth: int) -> str:
        value = self.expression(type, depth)
        name = self.pick("-", "abs", "min", "max", "cast")
        if name == "cast":
            others = [other for other in VECTORS if other.length == type.length]
            return f"{type}({self.expression(self.pick(*others), depth)})"
        if name in ("min", "max"):
            return f"{name}({value}, {self.expression(type, depth)})"
        return f"abs({value})" if name == "abs" else f"(-{value})"

    def shuffle(self, type: Vector, depth: int) -> str:
        left, right = self.expression(type, depth), self.expression(type, depth)
        picks = ", ".join(
            str(self.choices.number(0, 2 * type.length - 1)) for _ in range(type.length)
        )
        return f"shuffle({left}, {right}, ({picks}))"

    def complex_operation(self, type: ComplexType, depth: int) -> str:
        left = self.expression(type, depth)
        right = self.expression(type, depth)
        if self.chance(50):
            narrow: tuple[Kind, ...] = (f32, i32, u8, f16, boolean, *COMPLEX[:1])
            right = self.expression(
                self.pick(*narrow, *((f64,) if type.part is f64 else ())), depth
            )
            right = self.pick("1j", "2", "(1.5-2j)", "0.25") if self.chance(40) else right
        operator = self.pick("+", "-", "*", "/")
        return f"({left} {operator} {right})" if self.chance(60) else f"({right} {operator} {left})"

    def complex_function(self, type: ComplexType, depth: int) -> str:
        value = self.expression(type, depth)
        if self.chance(30):
            return f"{type.name}({self.expression(self.pick(*COMPLEX, f32, i16), depth)})"
        return self.pick(f"(-{value})", f"{value}.conjugate()", f"(+{value})")

    def complex_comparison(self, type: Scalar, depth: int) -> str:
        kind = self.pick(*COMPLEX)
        return (
            f"({self.expression(kind, depth)} {self.pick('==', '!=')} "
            f"{self.expression(kind, depth)})"
        )

    def method(self, type: RecordType, depth: int) -> str:
        """Call a method of any record that returns one of this type."""
        for record in self.records:
            for name, parameter, result in record.methods:
                if result == type and not self.chance(40):
                    receiver, argument = (
                        self.expression(record, depth),
                        self.expression(parameter, depth),
                    )
                    return _call_text(name, receiver, argument)
        return self.made(type, depth)

    def replaced(self, type: RecordType, depth: int) -> str:
        name, item = self.pick(*type.fields)
        return f"replace({self.expression(type, depth)}, {name}={self.expression(item, depth)})"

    def any_type(self, depth: int = 1) -> Kind:
        """Choose a type, tuples and records among them."""
        kind = self.choices.number(0, 9)
        if kind < 4 or depth == 0:
            return self.pick(f32, i32, i8, f64, *NUMBERS, boolean)
        if kind < 6:
            return self.pick(*VECTORS)
        if kind < 7:
            return self.pick(*COMPLEX)
        if kind < 8 or not self.records:
            return TupleType(
                tuple(self.any_type(depth - 1) for _ in range(self.choices.number(1, 3)))
            )
        return self.pick(*self.records)

    def record(self) -> None:
        """Write a class of records with a method."""
        fields = tuple((f"f{k}", self.any_type()) for k in range(self.choices.number(1, 3)))
        type = RecordType(self.fresh("R"), fields)
        self.lines += ["@record", f"class {type.name}:"]
        for name, item in fields:
            typed = isinstance(item, (Scalar, Vector)) and self.chance(70)
            self.lines.append(f"    {name}: {item if typed else 'object'}")
        parameter = self.pick(type, self.any_type(0))
        outer, self.names, self.arrays = self.names, {"self": type, "y": parameter}, False
        symbol, name = self.pick(
            ("method", "method"), ("+", "__add__"), ("@", "__matmul__"), ("-", "__sub__")
        )
        self.lines += ["", f"    def {name}(self, y):", f"        return {self.made(type, 2)}"]
        self.lines += ["", "    def __rmul__(self, y):", f"        return {self.made(type, 1)}"]
        self.names, self.arrays = outer, True
        # Python asks the right operand only where its class is another one.
        reflected = () if parameter == type else (("r*", parameter, type),)
        self.records.append(RecordType(type.name, fields, (*reflected, (symbol, parameter, type))))


__all__ = ["SIMPLE", "Composites"]
