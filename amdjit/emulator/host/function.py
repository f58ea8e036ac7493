"""A native helper function under construction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TypeVar

from amdjit.emulator.host.builder import Builder, Value, constant, vector
from amdjit.emulator.host.declaration import Declaration
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import FIELD_BYTES, SITE_ROW, Context

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

    def variable(self, value: Value) -> Variable:
        """Return a variable that starts with a value. LLVM makes SSA values of it."""
        place = self.name()
        self._slots.append(f"  {place} = alloca {value.type}, align 8")
        made = Variable(self, value.type, Value("ptr", place))
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

    def each_lane(self, mask: Value, before: str | None = None) -> LaneLoop:
        """Open a loop over the set bits of `mask`; it may be empty. Use it in a `with`, or close
        it."""
        return LaneLoop(self, mask)


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


class LaneLoop:
    """A loop over active lanes: `lane` is the i64 index, `number` the same as i32. Values flow out
    through variables or memory."""

    def __init__(self, function: NativeFunction, mask: Value) -> None:
        self._function = function
        self._opened = function.loop(left=mask)
        self._loop = self._opened.__enter__()
        self._loop.leave_if(function.compare("eq", self._loop.left, i32(0)))
        self.number = function.intrinsic("cttz", self._loop.left, flags=[TRUE])
        self.lane = function.resize(self.number, 64)
        self.body = function.current

    def __enter__(self) -> LaneLoop:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()

    def close(self) -> str:
        """End the body; the current block is then the one after the loop, whose label is
        returned."""
        if self._function.is_open:
            left = self._loop.left
            rest = self._function.sub(left, i32(1))
            self._loop.again(left=self._function.and_(left, rest))
        self._opened.__exit__(None, None, None)
        return self._function.current


def module_text(functions: Iterable[NativeFunction], attributes: str) -> str:
    """Return a module of several functions, the first of which may call the others."""
    made = list(functions)
    declarations = {name: line for f in made for name, line in f.declarations.items()}
    for function in made:
        declarations.pop(function.symbol, None)
    return "\n".join([*declarations.values(), *(f.definition(attributes) for f in made)])
