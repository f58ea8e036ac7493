"""A native helper function under construction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from amdjit.emulator.host.builder import Builder, Value, constant, vector
from amdjit.emulator.host.declaration import Declaration
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import FIELD_BYTES, SITE_ROW, Context
from amdjit.late_methods import dataclass

V32 = vector("i32")
V64 = vector("i64")
TRUE, FALSE = constant("i1", 1), constant("i1", 0)

_Function = TypeVar("_Function", bound="NativeFunction")


def i32(value: int) -> Value:
    """Return an i32 constant."""
    return constant("i32", value)


def i64(value: int) -> Value:
    """Return an i64 constant."""
    return constant("i64", value)


class NativeFunction(Builder):
    """One function: its parameters are values, its text comes from `text`.

    linkage: "internal" for a function that only others of the same module call.
    """

    def __init__(
        self,
        name: str,
        result: str,
        parameters: Sequence[tuple[str, str]],
        linkage: str = "",
    ) -> None:
        super().__init__()
        self.symbol = name
        self.result = result
        self._parameters = parameters
        self._linkage = linkage
        self._slots: list[str] = []
        self.label("entry")

    @classmethod
    def of(cls: type[_Function], declared: Declaration, linkage: str = "") -> _Function:
        """Begin the definition of a declared function."""
        parameters = [(kind, name) for name, kind in declared.parameters]
        return cls(declared.name, declared.result, parameters, linkage)

    def parameter(self, name: str) -> Value:
        """Return a parameter by name."""
        return next(
            Value(type_name, f"%{key}") for type_name, key in self._parameters if key == name
        )

    @property
    def parameters(self) -> list[Value]:
        """All parameters, in their order."""
        return [Value(type_name, f"%{key}") for type_name, key in self._parameters]

    def text(self, attributes: str) -> str:
        """Return the whole definition, after declarations of what it calls."""
        return "\n".join([*self.declarations.values(), self.definition(attributes)])

    def definition(self, attributes: str) -> str:
        """Return the definition alone."""
        parameters = ", ".join(f"{type_name} %{key}" for type_name, key in self._parameters)
        head = f"{self.result} @{self.symbol}({parameters}) {attributes} {{"
        entry, *lines = self.lines
        define = f"define {self._linkage}".rstrip()
        return "\n".join([f"{define} {head}", entry, *self._slots, *lines, "}"])

    def allocate(self, type_name: str, alignment: int = 64) -> Value:
        """Reserve stack memory. Only in the entry block."""
        return self.emit("ptr", f"alloca {type_name}, align {alignment}")

    def scratch(self, type_name: str, alignment: int = 64) -> Value:
        """Reserve stack memory, from any block."""
        place = self.name()
        self._slots.append(f"  {place} = alloca {type_name}, align {alignment}")
        return Value("ptr", place)

    def variable(self, value: Value) -> Variable:
        """Return a variable that starts with a value. LLVM makes SSA values of it."""
        made = Variable(self, value.type, self.scratch(value.type, 8))
        made.set(value)
        return made

    # The context

    @property
    def thread(self) -> Record:
        """The context, which is a parameter of almost every native function."""
        return Record(self, self.parameter("context"))

    def context(self, field: Context) -> Value:
        """Read a field of the context as an integer."""
        return self.load("i64", self.context_field(field), 8)

    def context_field(self, field: Context) -> Value:
        """Return the address of a field of the context."""
        return self.thread.at(field)

    def context_pointer(self, field: Context) -> Value:
        """Read a pointer field of the context."""
        return self.load("ptr", self.context_field(field), 8)

    def site_row(self) -> Value:
        """Return the address of this site's cache row."""
        sites = self.context_pointer(Context.SITES)
        index = self.shift("shl", self.resize(self.parameter("site"), 64), 4)
        assert SITE_ROW * FIELD_BYTES == 1 << 4
        return self.offset(sites, index)

    @contextmanager
    def each_lane(self, mask: Value) -> Iterator[Lane]:
        """Build a loop over the set bits of a mask; there may be none."""
        with self.loop(left=mask) as each:
            each.leave_if(self.compare("eq", each.left, i32(0)))
            number = self.intrinsic("cttz", each.left, flags=[TRUE])
            yield Lane(number, self.resize(number, 64))
            each.again(left=self.and_(each.left, self.sub(each.left, i32(1))))


@dataclass(frozen=True, slots=True)
class Lane:
    """The number of a lane, as i32 and as i64."""

    number: Value
    lane: Value


class Variable:
    """A value that changes: what the blocks before have set counts."""

    def __init__(self, function: NativeFunction, kind: str, place: Value) -> None:
        self._function = function
        self._kind = kind
        self._place = place

    def get(self) -> Value:
        """Read the variable."""
        return self._function.load(self._kind, self._place, 8)

    def set(self, value: Value) -> None:
        """Change the variable."""
        assert value.type == self._kind
        self._function.store(value, self._place, 8)

    def set_if(self, condition: Value, value: Value) -> None:
        """Change the variable where a condition holds."""
        self.set(self._function.select(condition, value, self.get()))


def module_text(functions: Iterable[NativeFunction], attributes: str) -> str:
    """Return a module of several functions, the first of which may call the others."""
    made = list(functions)
    declarations = {name: line for f in made for name, line in f.declarations.items()}
    for function in made:
        declarations.pop(function.symbol, None)
    return "\n".join([*declarations.values(), *(f.definition(attributes) for f in made)])
