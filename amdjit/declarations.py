"""Intrinsics and device functions as plain values.

There is no registry: the front end finds these objects in the kernel's own globals, so a user's
declaration works exactly as amdjit's own.

    @amdjit.intrinsic(LlvmCall("llvm.amdgcn.fmed3.{a}"), isa="v_med3_f32")
    def median(a: f32, b: f32, c: f32) -> f32:
        "Return the middle one of three values."
        return sorted((a, b, c))[1]
"""

from __future__ import annotations

import inspect
import string
import typing
from collections.abc import Callable, Iterable
from dataclasses import field
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, overload

from amdjit.diagnostics.source_files import remember
from amdjit.language.call_signatures import CallSignature
from amdjit.language.documentation import call_text, document, documented, public_name
from amdjit.language.emit_context import EmitContext
from amdjit.language.pickling import PickledByName
from amdjit.language.type_base import PointerPattern, TypeVariable
from amdjit.late_methods import dataclass
from amdjit.target import TARGETS, Feature
from amdjit.types import VOID, Choice, Immediate, Type

__all__ = [
    "As",
    "Coordinates",
    "DeviceFunction",
    "Emit",
    "EmitContext",
    "Form",
    "InlineAsm",
    "Intrinsic",
    "LlvmCall",
    "Lowering",
    "Parameter",
    "Property",
    "SpecialForm",
    "device_function",
    "intrinsic",
]


# The docstrings of declared intrinsics, device functions and special forms.
#
# They are computed when they are asked for, from the one declaration of each.


def intrinsic_text(intrinsic: Intrinsic) -> str:
    """Return the docstring of an intrinsic."""
    name = public_name(intrinsic, intrinsic.name)
    parameters = ", ".join(map(_parameter_text, intrinsic.parameters))
    required = [each for each in intrinsic.parameters if not each.has_default]
    example = call_text(
        name,
        "" if str(intrinsic.result) == "None" else "Return",
        [(each.name, _possible(each)) for each in required],
    )
    call = f"{name}({parameters}) -> {_type_text(intrinsic.result)}"
    return document(call, intrinsic.documentation, _notes(intrinsic), example)


def _notes(intrinsic: Intrinsic) -> list[str]:
    notes = []
    if intrinsic.isa:
        notes.append(f"Becomes `{intrinsic.isa}`.")
    if intrinsic.targets is not None:
        notes.append(f"Exists on {', '.join(intrinsic.targets)}.")
    if len(intrinsic.wave_sizes) == 1:
        notes.append(f"For waves of {intrinsic.wave_sizes[0]} lanes.")
    return notes


def _parameter_text(parameter: Parameter) -> str:
    if parameter.is_boolean_immediate:
        kind = "True or False"
    else:
        kind = str(parameter.immediate) if parameter.immediate else _type_text(parameter.type)
    default = f" = {parameter.default!r}" if parameter.has_default else ""
    return f"{parameter.name}: {kind}{default}"


def _type_text(type: Any) -> str:
    if isinstance(type, PointerPattern):
        return f"pointer to {_type_text(type.element)}"
    return type.name if isinstance(type, TypeVariable) else str(type)


def _possible(parameter: Parameter) -> Any:
    """Return a compile-time value that a parameter takes, None if it is no such parameter."""
    immediate = parameter.immediate
    if immediate is None:
        return None
    if parameter.is_boolean_immediate:
        return True
    values = getattr(immediate, "values", None) or getattr(immediate, "only", None)
    return values[0] if values else getattr(immediate, "lo", 0)


def intrinsic_signature(intrinsic: Intrinsic) -> inspect.Signature:
    """Return the names and default values of an intrinsic's parameters."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [inspect.Parameter(each.name, kind, default=each.default) for each in intrinsic.parameters]
    )


def function_text(function: DeviceFunction) -> str:
    """Return the docstring of a device function."""
    python = function.function
    name = public_name(function, getattr(python, "__qualname__", str(python)))
    signature = inspect.signature(python)
    meaning = inspect.getdoc(python) or ""
    required = [
        (each.name, None) for each in signature.parameters.values() if each.default is each.empty
    ]
    is_own = (getattr(python, "__module__", None) or "").startswith("amdjit.")
    example = call_text(name, meaning, required) if is_own else None
    return document(f"{name}{_without_quotes(signature)}", meaning, (), example)


def _without_quotes(signature: inspect.Signature) -> str:
    """Return a signature with its annotations as they are written."""
    parameters = [
        each.replace(annotation=_written(each.annotation)) for each in signature.parameters.values()
    ]
    result = _written(signature.return_annotation)
    return str(signature.replace(parameters=parameters, return_annotation=result))


class _Written:
    """An annotation that signatures show as this text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _written(annotation: Any) -> Any:
    empty = inspect.Parameter.empty
    if annotation is empty or annotation in (Any, "Any"):
        return empty
    if isinstance(annotation, str):
        return _Written(annotation)
    return _Written(getattr(annotation, "__name__", None) or str(annotation))


def function_signature(function: DeviceFunction) -> inspect.Signature:
    """Return the signature of a device function's Python function."""
    return inspect.signature(function.function)


def form_text(form: SpecialForm) -> str:
    """Return the docstring of a special form, whose documentation begins with its call."""
    call, _, meaning = form.documentation.partition(": ")
    return document(call.strip("`"), meaning[:1].upper() + meaning[1:], (), form.example)


def property_text(value: Property) -> str:
    """Return the docstring of a name that reads like a value."""
    getter = value.getter
    name = public_name(value, getattr(getter, "name", ""))
    meaning = getattr(getter, "documentation", "") or inspect.getdoc(getter) or ""
    return document(name, meaning, (), f"n = {name}")


def coordinates_text(value: Coordinates) -> str:
    """Return the docstring of three coordinates."""
    name = public_name(value, "coordinates")
    meaning = getattr(value.x.getter, "documentation", "")
    call = ", ".join(f"{name}.{axis}" for axis in "xyz")
    return document(call, meaning, ("Each is an i32.",), f"i = {name}.x")


@dataclass(frozen=True, slots=True)
class As:
    """Pass the parameter `name` with its bits read as another LLVM type.

    An immediate becomes a constant of that type: `As("count", i16)` where LLVM wants an i16. By
    default a bool is an i1 and an int an i32.
    """

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class LlvmCall:
    """Lower to a call of an LLVM intrinsic.

    name: with `{parameter}` for the mangled type of an argument and `{return}` for that of the
    result. operands: the LLVM operands in order, if they are not just the parameters: names of
    parameters, `As(...)`, or constants (a bool is an i1, an int an i32). result: the type of the
    LLVM call if it is not the declared one, as which its bits are then read. library: a file of
    LLVM bitcode or IR (`.bc`, `.ll`) that defines the function, or "OCML" for ROCm's. It is linked
    when a kernel that calls the function is compiled.

    LLVM 22 must have an instruction for the name, the operands and the types of every call on all
    of the intrinsic's `targets`: where it has none, LLVM ends its process.
    """

    name: str
    operands: tuple[str | As | bool | int, ...] | None = None
    result: Type | None = None
    library: Path | str | None = None

    def __post_init__(self) -> None:
        """Take the path of a library as text as well."""
        if isinstance(self.library, str) and self.library != "OCML":
            object.__setattr__(self, "library", Path(self.library))


@dataclass(frozen=True, slots=True)
class InlineAsm:
    """Lower to inline assembly.

    template, constraints: as LLVM has them; `$0` is the result, `$1` ... are the arguments."""

    template: str
    constraints: str
    side_effects: bool = False


@dataclass(frozen=True, slots=True)
class Emit:
    """Lower by a function `emit(context, *values) -> value`; immediates are passed as Python
    values. is_atomic: whether it accesses memory through its pointers by LLVM's atomic instructions
    alone."""

    function: Callable[..., Any]
    is_atomic: bool = False


Lowering = LlvmCall | InlineAsm | Emit


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an intrinsic. immediate: what a compile-time argument may be, else None."""

    name: str
    type: Type | None
    immediate: Immediate | Choice | None = None
    is_boolean_immediate: bool = False
    default: Any = inspect.Parameter.empty

    @property
    def has_default(self) -> bool:
        """Whether the argument may be left out."""
        return self.default is not inspect.Parameter.empty


@documented(intrinsic_text, intrinsic_signature)
@dataclass(frozen=True, eq=False, repr=False)
class Intrinsic(PickledByName):
    """A typed operation with exactly one lowering. A call on the host runs its reference model."""

    name: str
    """As kernels call it."""
    parameters: tuple[Parameter, ...]
    result: Type
    lowering: Lowering
    """An `LlvmCall`, `InlineAsm` or `Emit`."""
    reference: Callable[..., Any] = field(repr=False)
    """The body of the declaration, which computes the same on the host."""
    features: frozenset[Feature] = frozenset()
    """What the processor must have."""
    wave_sizes: tuple[int, ...] = (32, 64)
    """The wave sizes in which it exists."""
    wave32_targets: tuple[str, ...] = ()
    """The processors on which it exists in waves of 32 lanes only."""
    isa: str | None = None
    """The mnemonic that its code must contain, which tests look for."""
    targets: tuple[str, ...] | None = None
    """The processors that have it, None for all."""
    alternative: str | Callable[[str], str] = ""
    """What to use on other processors, as a text or a function of the target's name."""
    documentation: str = field(default="", repr=False)
    """The declaration's docstring."""
    meets: bool = False
    """Whether it belongs to the barrier of the whole grid, so that launches of the kernel are
    cooperative."""

    def __repr__(self) -> str:
        return f"<intrinsic {public_name(self, self.name)}>"

    def wave_sizes_on(self, target: str) -> tuple[int, ...]:
        """Return the wave sizes in which it exists on a processor."""
        return (32,) if target in self.wave32_targets else self.wave_sizes

    def __call__(self, *arguments: Any) -> Any:
        """Run the reference model, which is the declaration's body; TypeError if the body is
        empty."""
        value = self.reference(*arguments)
        if value is None and self.result != VOID:
            raise TypeError(f"{self.name} has no reference model on the host; call it in a kernel")
        return value


@documented(function_text, function_signature)
@dataclass(frozen=True, eq=False, repr=False)
class DeviceFunction(PickledByName):
    """A Python function that kernels call, typed anew for each combination of argument types.

    signatures: the types that its arguments are converted to, and those of its results; any types
    where there are none.
    """

    function: Callable[..., Any]
    inline: bool = True
    signatures: tuple[CallSignature, ...] = ()

    def __repr__(self) -> str:
        name = getattr(self.function, "__qualname__", str(self.function))
        return f"<device function {public_name(self, name)}>"

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Run the Python function on the host."""
        return self.function(*arguments, **keywords)


@overload
def device_function(function: Callable[..., Any], /) -> DeviceFunction: ...
@overload
def device_function(
    function: None = None, /, *, inline: bool = True
) -> Callable[[Callable[..., Any]], DeviceFunction]: ...
@overload
def device_function(function: Callable[..., Any], /, *, inline: bool) -> DeviceFunction: ...
def device_function(function: Callable[..., Any] | None = None, /, *, inline: bool = True) -> Any:
    """Mark a function that kernels call: `@device_function`, or `@device_function(inline=False)`.

    With `inline=False` it stays a function of its own in the machine code.
    """
    if function is None:
        return partial(device_function, inline=inline)
    remember(function)
    return DeviceFunction(function, inline)


@documented(property_text)
@dataclass(frozen=True, slots=True, repr=False)
class Property(PickledByName):
    """A name that reads like a value and is a call: `threadIdx.x`, `wavefront_size`."""

    getter: Intrinsic | DeviceFunction

    def __repr__(self) -> str:
        return f"<{public_name(self, getattr(self.getter, 'name', 'property'))}>"


@documented(coordinates_text)
@dataclass(frozen=True, slots=True, repr=False)
class Coordinates(PickledByName):
    """Three properties, one per axis. Type checkers take them for any number."""

    x: Any
    y: Any
    z: Any

    def __repr__(self) -> str:
        return f"<{public_name(self, 'coordinates')}>"


class Form(Enum):
    """Names that the front end itself types, because the result depends on compile-time values."""

    SHARED_ARRAY = "shared.array"
    SHARED_DYNAMIC = "shared.dynamic"
    LOCAL_ARRAY = "local.array"
    CONST_ARRAY_LIKE = "const.array_like"
    ADDRESS_OF = "address_of"
    STATIC_RANGE = "static_range"
    UNROLL = "unroll"
    BITCAST = "bitcast"
    SHUFFLE = "shuffle"


@documented(form_text)
@dataclass(frozen=True, slots=True)
class SpecialForm:
    """The value that stands for a `Form` in a user's globals."""

    form: Form
    documentation: str = field(default="", repr=False)
    example: str = field(default="", repr=False)

    def __repr__(self) -> str:
        return f"<amdjit.{self.form.value}>"

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Raise TypeError: these forms have a meaning in kernels only."""
        raise TypeError(f"amdjit.{self.form.value} can be called in a kernel only")


def intrinsic(
    lowering: Lowering,
    *,
    isa: str | None = None,
    features: frozenset[Feature] = frozenset(),
    wave_sizes: tuple[int, ...] = (32, 64),
    wave32_targets: tuple[str, ...] = (),
    targets: tuple[str, ...] | None = None,
    alternative: str | Callable[[str], str] = "",
    name: str | None = None,
    meets: bool = False,
) -> Callable[[Callable[..., Any]], Intrinsic]:
    """Declare an intrinsic by a function: its annotations are the types, its body the reference
    model.

    A body of `...` means that there is no model. isa: the mnemonic that it becomes. targets: the
    processors that have it, None for all. alternative: what the error on another target says to
    use, as a text or a function of the target's name. wave32_targets: the processors on which it
    exists in waves of 32 lanes only. meets: it works on the launch's record
    (`EmitContext.record_word`) as part of a barrier of the whole grid. TypeError if a type is
    missing, or an operand or processor does not exist.
    """
    _check_lowering(lowering)

    def declare(function: Callable[..., Any]) -> Intrinsic:
        parameters, result = _types(function)
        _check(function.__name__, lowering, parameters, targets, wave_sizes)
        check_targets(function.__name__, wave32_targets)
        return Intrinsic(
            name=name or function.__name__.lstrip("_"),
            parameters=parameters,
            result=result,
            lowering=lowering,
            features=features,
            wave_sizes=wave_sizes,
            wave32_targets=wave32_targets,
            isa=isa,
            targets=targets,
            alternative=alternative,
            reference=function,
            documentation=inspect.getdoc(function) or "",
            meets=meets,
        )

    return declare


def _types(function: Callable[..., Any]) -> tuple[tuple[Parameter, ...], Type]:
    # Not typing.get_type_hints: in Python 3.10 it refuses annotations that cannot be called.
    hints = inspect.get_annotations(function, eval_str=True)
    written = inspect.signature(function).parameters.values()
    parameters = tuple(_parameter(each, hints) for each in written)
    result = hints.get("return")
    if not isinstance(result, Type):
        raise TypeError(
            f"{function.__name__}: write the result's type, such as `-> f32` (VOID for none)"
        )
    return parameters, result


def _check_lowering(lowering: Lowering) -> None:
    if not isinstance(lowering, (LlvmCall, InlineAsm, Emit)):
        kinds = "LlvmCall(name), Emit(function) or InlineAsm(template, constraints)"
        raise TypeError(f"@intrinsic(...) takes {kinds}, not {lowering!r}")


def _check(
    function: str,
    lowering: Lowering,
    parameters: tuple[Parameter, ...],
    targets: Any,
    wave_sizes: Any,
) -> None:
    if isinstance(lowering, LlvmCall):
        operands = (each.name if isinstance(each, As) else each for each in lowering.operands or ())
        names = (each for each in operands if isinstance(each, str))
        check_names(function, lowering.name, names, (parameter.name for parameter in parameters))
    check_targets(function, targets)
    check_wave_sizes(function, wave_sizes)


def _parameter(parameter: inspect.Parameter, hints: dict[str, Any]) -> Parameter:
    hint = hints.get(parameter.name)
    if typing.get_origin(hint) is Annotated:
        base, *marks = typing.get_args(hint)
        for mark in marks:
            if isinstance(mark, (Immediate, Choice)):
                return Parameter(parameter.name, None, mark, base is bool, parameter.default)
    if not isinstance(hint, Type):
        raise TypeError(
            f"parameter {parameter.name}: write its type, such as `{parameter.name}: f32`, or "
            f"`{parameter.name}: Annotated[int, Immediate(0, 7)]` for a compile-time value"
        )
    return Parameter(parameter.name, hint, default=parameter.default)


# Checks of a declaration of an intrinsic, made where it is declared and not at its first use.

_PROCESSORS = tuple(target.name for target in TARGETS)


def check_names(
    function: str, llvm_name: str, operands: Iterable[str], parameters: Iterable[str]
) -> None:
    """Raise TypeError if an LLVM name, such as `llvm.fma.{x}`, or an operand names no parameter."""
    known = tuple(parameters)
    if "{" in llvm_name:
        for _, name, _, _ in string.Formatter().parse(llvm_name):
            if name is not None and name not in (*known, "return"):
                raise TypeError(
                    f"{function}: {llvm_name!r} names {{{name}}}: there are "
                    f"{_listed((*known, 'return'))}"
                )
    for name in operands:
        if name not in known:
            raise TypeError(
                f"{function}: the operand {name!r} is not a parameter: there are {_listed(known)}"
            )


def check_targets(function: str, targets: object) -> None:
    """Raise TypeError unless targets is a tuple of names of processors, or None for all."""
    if targets is None:
        return
    if not isinstance(targets, tuple):
        raise TypeError(
            f"{function}: targets is a tuple of names, such as ('gfx1201',), not {targets!r}"
        )
    for name in targets:
        if name not in _PROCESSORS:
            raise TypeError(
                f"{function}: there is no processor {name!r}: there are {_listed(_PROCESSORS)}"
            )


def check_wave_sizes(function: str, wave_sizes: object) -> None:
    """Raise TypeError unless wave_sizes is a tuple of 32 and 64."""
    if (
        not isinstance(wave_sizes, tuple)
        or not wave_sizes
        or any(size not in (32, 64) for size in wave_sizes)
    ):
        raise TypeError(f"{function}: wave_sizes is (32,), (64,) or (32, 64), not {wave_sizes!r}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
