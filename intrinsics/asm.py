"""Inline assembly with names and types: `@instruction("v_add_f32 {result}, {x}, {y}")` over a
function's signature.

    @instruction("v_mad_u32_u24 {result}, {x}, {y}, {z}")
    def multiply_add(x: u32, y: u32, z: u32) -> u32:
        "Return the lower 32 bits of x * y + z of 24-bit integers."
        return x * y + z

Each parameter is a VGPR. `Annotated[u32, SCALAR]` makes it an SGPR, `Annotated[int, Immediate(0,
63)]` a constant. `{result}` is the register of the result. Names and types are checked where the
function is declared; the assembler checks the text when a kernel that uses it is compiled.

Sources: LLVM language reference, "Supported Constraint Code List", AMDGPU: `v`, `s`, `i`.
"""

from __future__ import annotations

import inspect
import string
import typing
from collections.abc import Callable
from typing import Any

from amdjit.declarations import InlineAsm, Intrinsic, Parameter, intrinsic
from amdjit.types import VOID, Scalar, Type, Vector, boolean

__all__ = ["SCALAR", "instruction"]

SCALAR = "an SGPR: the value must be the same in all lanes"
"""Marks a parameter or result that lives in scalar registers: `Annotated[u32, SCALAR]`."""

_RESULT = "result"
_CLOBBERS = ("memory", "vcc", "scc", "exec", "m0")


def instruction(
    template: str,
    *,
    clobbers: tuple[str, ...] = (),
    side_effects: bool = False,
    early_clobber: bool = False,
    targets: tuple[str, ...] | None = None,
    wave_sizes: tuple[int, ...] = (32, 64),
    alternative: str = "",
) -> Callable[[Callable[..., Any]], Intrinsic]:
    """Declare an intrinsic written in assembly; the function's body is its model, as for
    `amdjit.intrinsic`.

    template: the text, with `{name}` for each parameter and `{result}`; each line is an
    instruction. clobbers: what it changes besides its result: registers such as "vcc", "s4",
    "v[2:3]", or "memory". side_effects: keep the instruction even if its result is unused.
    early_clobber: the result is written before all operands are read, so they must not share a
    register. Raises TypeError for names that the signature lacks and types that no register holds.
    """

    def declare(function: Callable[..., Any]) -> Intrinsic:
        hints = inspect.get_annotations(function, eval_str=True)
        scalars = {name for name, hint in hints.items() if SCALAR in typing.get_args(hint)}
        plain = {
            name: typing.get_args(hint)[0] if name in scalars else hint
            for name, hint in hints.items()
        }
        declared = intrinsic(
            InlineAsm("", ""), targets=targets, wave_sizes=wave_sizes, alternative=alternative
        )(_annotated(function, plain))
        names = {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}
        _check_names(declared, names)
        constraints = [
            *_result_constraint(declared, "return" in scalars, early_clobber),
            *(
                _constraint(declared, parameter, parameter.name in scalars)
                for parameter in declared.parameters
            ),
            *(_clobber(declared, clobber) for clobber in clobbers),
        ]
        text = template.replace("$", "$$").format_map(_places(declared))
        lowering = InlineAsm(text, ",".join(constraints), side_effects or "memory" in clobbers)
        mnemonic = template.split()[0] if template.split() else None
        return intrinsic(
            lowering, isa=mnemonic, targets=targets, wave_sizes=wave_sizes, alternative=alternative
        )(_annotated(function, plain))

    return declare


def _annotated(function: Callable[..., Any], hints: dict[str, Any]) -> Callable[..., Any]:
    """Return the function with its annotations reduced to types."""

    def model(*arguments: Any) -> Any:
        return function(*arguments)

    model.__name__, model.__doc__ = function.__name__, function.__doc__
    model.__annotations__ = hints
    parameters = inspect.signature(function).parameters.values()
    model.__signature__ = inspect.Signature(list(parameters))  # type: ignore[attr-defined]
    return model


def _check_names(declared: Intrinsic, names: set[str]) -> None:
    known = {parameter.name for parameter in declared.parameters} | {_RESULT}
    if declared.result == VOID:
        known.discard(_RESULT)
    for name in sorted(names - known):
        remedy = (
            "a function that returns nothing has no result"
            if name == _RESULT
            else f"it has {sorted(known)}"
        )
        raise TypeError(
            f"{declared.name}: the text names {{{name}}}, which the signature lacks: {remedy}"
        )
    for name in sorted(known - names):
        raise TypeError(f"{declared.name}: the text does not use {{{name}}}")


def _result_constraint(declared: Intrinsic, is_scalar: bool, early_clobber: bool) -> list[str]:
    if declared.result == VOID:
        return []
    _check_register(declared, "the result", declared.result)
    return [f"={'&' if early_clobber else ''}{'s' if is_scalar else 'v'}"]


def _constraint(declared: Intrinsic, parameter: Parameter, is_scalar: bool) -> str:
    if parameter.immediate is not None:
        return "i"
    _check_register(declared, parameter.name, parameter.type)
    return "s" if is_scalar else "v"


def _check_register(declared: Intrinsic, name: str, type: Type | None) -> None:
    """Refuse types that LLVM does not put into registers by itself; it would end the process."""
    fits = (
        isinstance(type, (Scalar, Vector))
        and type is not boolean
        and (type.bits == 16 or type.bits % 32 == 0)
    )
    if not fits:
        remedy = "pass an i32" if isinstance(type, Scalar) else "pass its words as a vector of i32"
        raise TypeError(f"{declared.name}: {name}: no register holds {type}: {remedy}")


def _clobber(declared: Intrinsic, clobber: str) -> str:
    is_register = clobber[:1] in ("s", "v") and clobber[1:].strip("[]").replace(":", "").isdigit()
    if clobber not in _CLOBBERS and not is_register:
        known = ", ".join(_CLOBBERS)
        raise TypeError(
            f"{declared.name}: clobber {clobber!r} is none of {known}, and no register such as "
            "s4, v[2:3]"
        )
    return f"~{{{clobber}}}"


def _places(declared: Intrinsic) -> dict[str, str]:
    first = 0 if declared.result == VOID else 1
    places = {
        parameter.name: f"${number}" for number, parameter in enumerate(declared.parameters, first)
    }
    return places if declared.result == VOID else {_RESULT: "$0", **places}
