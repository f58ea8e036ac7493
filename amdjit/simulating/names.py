"""What the names of a simulated kernel mean.

The kernel's function runs with globals of its own, in which everything that has another meaning in
a kernel than on the host is replaced: intrinsics and device functions, types, Python's functions,
and modules and objects that have such names as attributes. The kernel's own objects stay as they
are.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import sys
import types
from collections.abc import Callable, Hashable, Iterator
from enum import Enum
from typing import Any

import numpy as np

from amdjit.declarations import (
    Coordinates,
    DeviceFunction,
    Intrinsic,
    Property,
    SpecialForm,
)
from amdjit.frontend.numbers.results import ROUNDED_TO_FLOATS
from amdjit.frontend.source.plain_python import ANNOTATED, CARRIED, POWER, PUT, plain_code
from amdjit.frontend.source.reading import is_library
from amdjit.frontend.values.promotion import literal_fits
from amdjit.frontend.values.structures import structure_of
from amdjit.intrinsics import sync, workitem
from amdjit.intrinsics.maths import number_theory, power
from amdjit.intrinsics.python_builtins import PYTHON_FUNCTIONS
from amdjit.language.compile_time import Compilation, CompileTimeFunction, Refused
from amdjit.language.overloads import OfKind
from amdjit.late import late
from amdjit.simulating.arrays import (
    ArrayRules,
    KernelArray,
    RecordElement,
    VectorArray,
    as_kernel_array,
)
from amdjit.simulating.forms import FORMS, Forms
from amdjit.simulating.loop_types import LoopTypes
from amdjit.simulating.numbers import (
    Conversion,
    Number,
    convert,
    known_class,
    number_of,
    of_numpy,
    scalar_type,
    with_rules,
)
from amdjit.simulating.operations import Operations, unwrapped
from amdjit.simulating.python_functions import functions_of
from amdjit.simulating.vectors import VectorConversion, VectorValue, made_vector
from amdjit.simulating.weak_calls import in_both_widths, of_floats, of_library, rounded_to_integer
from amdjit.simulating.work_items import Meeting
from amdjit.types import SCALARS, Scalar, Type, TypeVariable, Vector, i32

__all__ = ["Names"]

_MOST_LITERAL_POWER = 64


class Names:
    """The names of one launch."""

    def __init__(
        self,
        operations: Operations,
        compilation: Compilation,
        outside_array: Callable[[Any], np.ndarray[Any, Any] | None],
        dynamic_lds: int,
        kind: type[Number],
        loop_types: LoopTypes,
    ) -> None:
        """kind: the class of the kernel's numbers. outside_array: returns the memory of an array of
        the device; None for other objects."""
        self._operations, self._compilation = operations, compilation
        self._outside_array = outside_array
        self._forms = Forms(operations, dynamic_lds)
        self._loop_types = loop_types
        self._meanings: dict[tuple[int, type[Number]], tuple[Any, Any]] = {}
        self._functions: dict[tuple[int, type[Number]], Any] = {}
        self._tables: dict[type[Number], dict[Any, Any]] = {
            each: functions_of(each) for each in (Number, kind)
        }

    def function(
        self, function: types.FunctionType, kind: type[Number], is_kernel: bool = False
    ) -> Callable[..., Any]:
        """Return a function that runs as the kernel language does."""
        key = id(function), kind
        if key not in self._functions:
            self._functions[key] = function, self._made(function, kind, is_kernel, key)
        return self._functions[key][1]  # type: ignore[no-any-return]

    def _made(
        self, function: types.FunctionType, kind: type[Number], is_kernel: bool, key: Any
    ) -> Callable[..., Any]:
        plain = plain_code(function, kind.rules.has_annotations and not is_kernel)
        self._operations.places.note(function, plain)
        names: dict[str, Any] = {"__builtins__": builtins, "__name__": function.__module__}
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        new_cells = {name: types.CellType() for name in cells}
        closure = tuple(new_cells[name] for name in plain.code.co_freevars)
        made = types.FunctionType(plain.code, names, function.__name__, None, closure)
        made.__module__, made.__qualname__ = function.__module__, function.__qualname__
        self._functions[key] = function, made  # it may call itself
        made.__defaults__ = self._each(function.__defaults__, kind)
        keywords = function.__kwdefaults__ or {}
        made.__kwdefaults__ = {name: self.meaning(each, kind) for name, each in keywords.items()}
        for name, cell in cells.items():
            new_cells[name].cell_contents = self.meaning(cell.cell_contents, kind)
        live = self._fill(names, function, plain.code, kind)
        return self._with_live_names(made, live) if live else made

    def _each(self, values: tuple[Any, ...] | None, kind: type[Number]) -> tuple[Any, ...] | None:
        return None if values is None else tuple(self.meaning(each, kind) for each in values)

    def _fill(
        self,
        names: dict[str, Any],
        function: types.FunctionType,
        code: types.CodeType,
        kind: type[Number],
    ) -> dict[str, Property]:
        """Give a function its globals; return those that differ between work-items."""
        live: dict[str, Property] = {}
        for name in _used(code):
            found = function.__globals__.get(name, vars(builtins).get(name, names))
            if isinstance(found, Property) and found is not workitem.wavefront_size:
                live[name] = found
            elif found is not names:
                names[name] = self.meaning(found, kind)
        names |= {
            CARRIED: functools.partial(self._loop_types.carried, kind),
            POWER: functools.partial(self._power, kind),
            PUT: _put,
            ANNOTATED: functools.partial(self._annotated, kind),
        }
        return live

    def _with_live_names(
        self, function: types.FunctionType, live: dict[str, Property]
    ) -> Callable[..., Any]:
        def call(*arguments: Any, **keywords: Any) -> Any:
            values = {name: self._value_of(each) for name, each in live.items()}
            own = types.FunctionType(
                function.__code__, function.__globals__ | values, function.__name__,
                function.__defaults__, function.__closure__,
            )  # fmt: skip
            own.__kwdefaults__ = function.__kwdefaults__
            return own(*arguments, **keywords)

        return call

    def meaning(self, value: Any, kind: type[Number]) -> Any:
        """Return what a Python object is in a kernel."""
        if isinstance(value, (bool, int, float, str, bytes, type(None))):
            return value
        key = id(value), kind
        if key not in self._meanings:
            self._meanings[key] = value, self._meaning(value, kind)
        return self._meanings[key][1]

    def _meaning(self, value: Any, kind: type[Number]) -> Any:
        if isinstance(value, Hashable) and not isinstance(value, (Type, Intrinsic)):
            known = self._known_function(value, kind)
            if known is not None:
                return known
        for find in (self._type, self._declared, self._data):
            made = find(value, kind)
            if made is not None:
                return made
        if _is_namespace(value):
            return Namespace(self, value, kind)
        function = getattr(value, "py_func", value)
        if isinstance(function, types.FunctionType) and not _is_of_python(function):
            return self._called(DeviceFunction(function), kind)
        return value

    def _known_function(self, value: Any, kind: type[Number]) -> Any:
        if value is breakpoint:  # Python's own stops at the line that calls it
            return value
        own = self._tables[kind].get(value)
        declared = PYTHON_FUNCTIONS.get(value)
        of_integers = PYTHON_FUNCTIONS.get(OfKind(value, "integer")) if callable(value) else None
        if own is None and declared is None:
            return None
        return KnownFunction(
            value,
            own,
            None if declared is None else self._of_numbers(value, declared, kind),
            None if of_integers is None else self.meaning(of_integers, kind),
        )

    def _of_numbers(self, function: Any, declared: Any, kind: type[Number]) -> Any:
        """Return what computes a function of Python's or NumPy's."""
        made = self.meaning(declared, kind)
        if kind is not Number:
            return made
        if function in ROUNDED_TO_FLOATS:
            return rounded_to_integer(made, self.meaning(ROUNDED_TO_FLOATS[function], kind))
        parameters = declared.parameters if isinstance(declared, Intrinsic) else ()
        fixed = (i for i, each in enumerate(parameters) if not isinstance(each.type, TypeVariable))
        return of_floats(made, frozenset(fixed))

    def _type(self, value: Any, kind: type[Number]) -> Any:
        """Return the meaning of a type, which kernels call; None for other objects."""
        if isinstance(value, Scalar):
            return Conversion(kind, value)
        if isinstance(value, Vector):
            return VectorConversion(kind, value)
        if not isinstance(value, type):
            return None
        if structure_of(value) is not None:
            return self._record_class(value, kind)
        scalar = next((each for each in SCALARS if each.dtype.type is value), None)
        return None if scalar is None else Conversion(kind, scalar)

    def _declared(self, value: Any, kind: type[Number]) -> Any:
        """Return the meaning of what amdjit declares; None for other objects."""
        if isinstance(value, Intrinsic):
            call = in_both_widths(functools.partial(self._operations.call, value), value)
            return call if kind is Number else _crossing(call, kind, self._array_rules)
        if getattr(value, "is_amdjit_kernel", False) and value.device_function is not None:
            return self._called(value.device_function, kind)
        if isinstance(value, DeviceFunction):
            return self._called(value, kind)
        if isinstance(value, CompileTimeFunction):
            return functools.partial(self._compile_time, value, kind)
        if isinstance(value, SpecialForm):
            return functools.partial(FORMS[value.form], self._forms, self._array_rules(kind))
        if isinstance(value, Coordinates):
            return Namespace(self, value, kind)
        if isinstance(value, Property):
            return self._value_of(value)
        return None

    def _record_class(self, python: type, kind: type[Number]) -> type:
        """Return a class of records whose methods run as the kernel language does."""
        own: dict[str, Any] = {"__slots__": ()}
        made = type(python.__name__, (python,), own)
        self._meanings[id(python), kind] = python, made  # its methods may name it
        for each in reversed(python.__mro__):
            for name, found in vars(each).items():
                if (method := self._method(found, kind)) is not None:
                    setattr(made, name, method)
        return made

    def _method(self, found: Any, kind: type[Number]) -> Any:
        """Return a method as the kernel language has it; None for what Python has generated."""
        if isinstance(found, property):
            getter = self._method(found.fget, kind)
            return None if getter is None else property(getter)
        if isinstance(found, (staticmethod, classmethod)):
            inner = self._method(found.__func__, kind)
            return None if inner is None else type(found)(inner)
        is_own = (
            isinstance(found, types.FunctionType)
            and found.__code__.co_filename not in ("<string>", dataclasses.__file__)
            and not _is_of_python(found)
        )
        return self._called(DeviceFunction(found), kind) if is_own else None

    def _called(self, declared: DeviceFunction, kind: type[Number]) -> Callable[..., Any]:
        if declared is sync.grid:
            # Written with a record of launches of compiled code.
            return functools.partial(self._operations.wait, Meeting.GRID_BARRIER)
        function = declared.function
        if not isinstance(function, types.FunctionType):
            return self.meaning(function, kind)  # type: ignore[no-any-return]
        own = Number if is_library(function) else kind
        made = self.function(function, own)
        if own is Number and is_library(function):
            made = of_library(function, made)
        if own is not kind:
            made = _crossing(made, kind, self._array_rules)
        return _with_signature(made, declared, kind)

    def _value_of(self, value: Property) -> Any:
        getter = value.getter
        return (
            self._operations.call(getter)
            if isinstance(getter, Intrinsic)
            else self._called(getter, Number)()
        )

    def _data(self, value: Any, kind: type[Number]) -> Any:
        """Return the meaning of numbers, arrays and tuples from outside; None for other objects."""
        if isinstance(value, np.generic):
            return of_numpy(known_class(kind, value), value)
        if isinstance(value, np.ndarray):
            return as_kernel_array(_read_only(value), self._array_rules(kind))
        if isinstance(value, tuple):
            parts = [self.meaning(each, kind) for each in value]
            python = self.meaning(type(value), kind)
            return python(*parts) if hasattr(value, "_fields") else tuple(parts)
        structure = structure_of(type(value))
        if structure is not None:
            parts = [self.meaning(getattr(value, name), kind) for name in structure.fields]
            return self.meaning(type(value), kind)(*parts)
        if isinstance(value, functools.partial):
            keywords = {name: self.meaning(each, kind) for name, each in value.keywords.items()}
            inner = self.meaning(value.func, kind)
            return functools.partial(inner, *(self._each(value.args, kind) or ()), **keywords)
        array = self._outside_array(value)
        return None if array is None else as_kernel_array(array, self._array_rules(kind))

    def argument(self, value: Any, annotation: Any, kind: type[Number]) -> Any:
        """Return a launch's argument as the kernel gets it."""
        if isinstance(value, np.ndarray) and isinstance(annotation, Vector):
            return made_vector(kind, annotation, list(value))
        if isinstance(value, np.ndarray):
            return as_kernel_array(value, self._array_rules(kind))
        if isinstance(value, np.void):
            return RecordElement(value, self._array_rules(kind))
        if isinstance(value, (bool, int, float, np.generic)):
            if isinstance(annotation, Scalar):
                return convert(kind, annotation, value)
            if isinstance(value, np.generic):
                return of_numpy(kind, value)
            if annotation is None and isinstance(value, int) and not literal_fits(value, i32):
                return number_of(kind, scalar_type(kind.rules, value), value)
            return value
        return self.meaning(value, kind)

    def _array_rules(self, kind: type[Number]) -> ArrayRules:
        return ArrayRules(
            kind, self._compilation.wraparound, lambda function: self.meaning(function, kind)
        )

    def _compile_time(self, function: CompileTimeFunction, kind: type[Number], *given: Any) -> Any:
        try:
            found = function.function(self._compilation, *map(unwrapped, given))
        except Refused as refused:
            raise TypeError(f"{refused.problem}: {refused.remedy}") from None
        return self.meaning(found, kind)

    def _power(self, kind: type[Number], base: Any, exponent: Any) -> Any:
        if not isinstance(base, (Number, VectorValue)) and not isinstance(exponent, Number):
            return base**exponent
        is_small = isinstance(exponent, int) and 0 <= exponent <= _MOST_LITERAL_POWER
        if is_small:
            return base**exponent
        are_whole = all(
            each.type.is_integer if isinstance(each, Number) else isinstance(each, int)
            for each in (base, exponent)
        )
        declared = number_theory.power_of_integer if are_whole else power.power
        return self.meaning(declared, kind)(base, exponent)

    def _annotated(self, kind: type[Number], annotation: Any, value: Any) -> Any:
        if isinstance(annotation, Conversion) and isinstance(value, (bool, int, float, Number)):
            return convert(kind, annotation.type, value)
        if isinstance(annotation, VectorConversion):
            return made_vector(kind, annotation.type, (value,))
        return value


class KnownFunction:
    """A function of Python's or NumPy's: the host's of literals, the kernel's of typed numbers."""

    def __init__(self, host: Any, own: Any, declared: Any, of_integers: Any) -> None:
        """own: made for the simulation. declared: of the language. of_integers: its version for
        integers that stay integers."""
        self._host, self._own, self._declared = host, own, declared
        self._of_integers = of_integers
        self.func = getattr(own, "func", own)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the function."""
        if self._declared is not None and any(map(_is_array, arguments)):
            return self._declared(*arguments, **keywords)
        if self._own is not None:
            return self._own(*arguments, **keywords)
        if not any(map(_is_typed, (*arguments, *keywords.values()))):
            return self._host(*arguments, **keywords)
        numbers = [each for each in arguments if isinstance(each, Number)]
        if self._of_integers is not None and all(each.type.is_integer for each in numbers):
            return self._of_integers(*arguments, **keywords)
        return self._declared(*arguments, **keywords)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)

    def __repr__(self) -> str:
        return repr(self._host)


class Namespace:
    """A module or an object whose attributes are names of kernels."""

    def __init__(self, names: Names, value: Any, kind: type[Number]) -> None:
        self._names, self._value, self._kind = names, value, kind

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._value, name)
        if isinstance(found, Property):
            return self._names._value_of(found)
        found = self._names.meaning(found, self._kind)
        self.__dict__[name] = found
        return found

    @property
    def host_value(self) -> Any:
        """The object itself, for functions that run when a kernel is compiled."""
        return self._value

    def __eq__(self, other: object) -> bool:
        return bool(self._value == (other._value if isinstance(other, Namespace) else other))

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return repr(self._value)


_LATE_MODULE = type(late("math"))
_OF_LIBRARIES = frozenset({"amdjit", "math", "cmath", "operator", "numpy", "numba"})


def _is_namespace(value: Any) -> bool:
    """Whether a kernel's names may be attributes of an object: a module, or amdjit's objects."""
    if isinstance(value, types.ModuleType):
        top = value.__name__.partition(".")[0]
        return top in _OF_LIBRARIES or top not in sys.stdlib_module_names
    if isinstance(value, types.SimpleNamespace):
        return True
    if isinstance(value, (Enum, type)):
        return False
    module = type(value).__module__
    is_own = module.startswith(("amdjit.intrinsics.", "amdjit.numba_cuda."))
    return is_own or isinstance(value, _LATE_MODULE)


def _is_of_python(function: types.FunctionType) -> bool:
    """Whether a function is of Python's own library, such as `pdb.set_trace`, or of amdjit's
    host."""
    top = (function.__module__ or "").partition(".")[0]
    if top == "amdjit":
        return not is_library(function) and not function.__module__.startswith("amdjit.examples.")
    return (top in sys.stdlib_module_names and top != "__main__") or top == "numpy"


def _used(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _used(constant)


def _is_array(value: Any) -> bool:
    return isinstance(value, (KernelArray, VectorArray))


def _is_typed(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_is_typed, value))
    return isinstance(value, (Number, VectorValue)) or _is_array(value)


def _read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    view: np.ndarray[Any, Any] = array.view()
    view.flags.writeable = False
    return view


def _put(target: Any, index: Any, value: Any) -> Any:
    """Assign to an element: of an array in place, of a vector in a new one."""
    if isinstance(target, VectorValue):
        return target.replaced(index, value)
    target[index] = value
    return target


Rules = Callable[[type[Number]], ArrayRules]


def _crossing(function: Callable[..., Any], kind: type[Number], rules: Rules) -> Callable[..., Any]:
    """Return amdjit's own function for a kernel with other rules than its own."""

    def call(*arguments: Any, **keywords: Any) -> Any:
        own = {name: _under(Number, each, rules) for name, each in keywords.items()}
        found = function(*(_under(Number, each, rules) for each in arguments), **own)
        return _under(kind, found, rules)

    return call


def _under(kind: type[Number], value: Any, rules: Rules) -> Any:
    if isinstance(value, KernelArray):
        return as_kernel_array(value, rules(kind), value.space)
    if isinstance(value, VectorValue):
        return VectorValue(value.type, [with_rules(kind, each) for each in value.elements])
    if isinstance(value, Conversion):
        return Conversion(kind, value.type)
    if type(value) is tuple:
        return tuple(_under(kind, each, rules) for each in value)
    return with_rules(kind, value)


def _with_signature(
    function: Callable[..., Any], declared: DeviceFunction, kind: type[Number]
) -> Callable[..., Any]:
    """Convert the arguments and the result of a function that has one signature."""
    if len(declared.signatures) != 1:
        return function
    (signature,) = declared.signatures

    def call(*arguments: Any) -> Any:
        parts = zip(arguments, signature.args, strict=True)
        found = function(*(_as(kind, type, value) for value, type in parts))
        return _as(kind, signature.return_type, found)

    return call


def _as(kind: type[Number], type: Any, value: Any) -> Any:
    return convert(kind, type, value) if isinstance(type, Scalar) else value
