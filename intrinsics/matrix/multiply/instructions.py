"""WMMA and SWMMAC in kernels, under names without wave size and processor: D = A B + C by one wave,
16 by 16.

    # f16x8, f16x8, f32x8; in wave64 half of each
    d = matrix.wmma_f32_16x16x16_f16(a, b, c)
    # i8 or u8: the type says which
    d = matrix.swmmac_i32_16x16x32_iu8(a, b, c, index, clamp=True)

a, b, c: what a lane holds according to `matrix.layout(name, operand)`, as vectors of the elements
or as clang's 32-bit words. On gfx11, lanes hold more of A and B, and a C of 16-bit elements has
twice as many, of which the even ones count (`matrix.layout(name, operand, "gfx1100")`). All lanes
of the wave must be active. `matrix.reference` computes the same in NumPy, for all of these
instructions. `matrix.certainty` says how well its rounding is known to be a GPU's: for fp8 and bf8
it is a model that nobody has measured.

index: an i32 that says which two of every four elements A holds; `matrix.pack` makes it from the
result of `compress_2to4`. key: which part of the index to use, where several fit (`Layout.sets`).
Integers in words are signed unless `a_signed` or `b_signed` is False. clamp: saturate to i32
instead of wrapping.

Sources: RDNA4 ISA, 7.12 "Wave Matrix Multiply Accumulate"; clang's AMDGPU builtins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from amdjit.declarations import Form, Intrinsic, SpecialForm, device_function
from amdjit.intrinsics import amdgcn
from amdjit.intrinsics.models.matrix_layouts import (
    Layout,
    MatrixInstruction,
    instructions_with,
    matrix_instruction,
)
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import (
    Scalar,
    Type,
    Vector,
    bf8,
    bf16,
    f16,
    f32,
    fp8,
    i8,
    i16,
    i32,
    u8,
    u32,
    vector,
)

_bitcast = SpecialForm(Form.BITCAST, "The same bits read as another type.")
_ELEMENTS: Mapping[str, tuple[Scalar, ...]] = MappingProxyType(
    {
        "f32": (f32,),
        "i32": (i32,),
        "f16": (f16,),
        "bf16": (bf16, i16),
        "fp8": (fp8,),
        "bf8": (bf8,),
        "iu8": (i8, u8),
    }
)


def operand_types(layout: Layout) -> tuple[Type, ...]:
    """Return the types that an operand of an instruction may have in a kernel, the most common
    first."""
    elements = _ELEMENTS.get(layout.kind, ())
    count = layout.elements * (2 if layout.is_spread else 1)
    found: list[Type] = [vector(element, count) for element in elements]
    if layout.bits < 16:
        found.append(vector(i32, layout.registers) if layout.registers > 1 else i32)
    return tuple(found)


@dataclass(frozen=True)
class _Chosen:
    """An instruction for given operands."""

    builtin: Intrinsic
    a: Type
    """The type of the builtin's A."""
    b: Type
    """The type of the builtin's B."""
    c: Type
    """The type of the builtin's C."""
    result: Type
    """The type that D is read as."""
    a_signed: bool = True
    b_signed: bool = True
    shift: int = 0
    is_spread: bool = False
    """Whether its builtin asks for the half of registers that C is in."""


@compile_time
def _floats(compilation: Compilation, name: str, a: Any, b: Any, c: Any, key: Any = 0) -> _Chosen:
    """Choose an instruction by the wave size and check the operands. Refused if they do not fit."""
    return _choose(compilation, name, (a, b, c), key, (None, None))


@compile_time
def _integers(
    compilation: Compilation,
    name: str,
    a: Any,
    b: Any,
    c: Any,
    a_signed: Any,
    b_signed: Any,
    key: Any = 0,
) -> _Chosen:
    """Choose and check like `_floats`, and take the operands' signs from their types."""
    return _choose(compilation, name, (a, b, c), key, (a_signed, b_signed))


def _choose(
    compilation: Compilation, name: str, given: tuple[Any, ...], key: Any, signed: tuple[Any, Any]
) -> _Chosen:
    instruction = _of_target(compilation, name)
    for operand, type in zip("abc", given, strict=True):
        _check(instruction, operand, type)
    builtin = getattr(amdgcn, instruction.name)
    types = [parameter.type for parameter in builtin.parameters if parameter.immediate is None]
    first = [getattr(type, "constraints", (type,))[0] for type in types[:3]]
    a_signed, b_signed = _is_signed("a", given[0], signed[0]), _is_signed("b", given[1], signed[1])
    return _Chosen(
        builtin,
        first[0],
        b=first[1],
        c=first[2],
        result=given[2],
        a_signed=a_signed,
        b_signed=b_signed,
        shift=_shift(instruction, key),
        is_spread=instruction.layout("c").is_spread,
    )


def _of_target(compilation: Compilation, name: str) -> MatrixInstruction:
    """Return the processor's instruction for the kernel's wave size. Refused if it has none."""
    known = instructions_with(compilation.target.features).values()
    alike = [each for each in known if each.wave_size == compilation.wave_size]
    found = next((each for each in alike if each.mnemonic == name), None)
    if found is None:
        factors = matrix_instruction(name).a
        nearest = [each.mnemonic for each in alike if each.a == factors] or [
            each.mnemonic for each in alike if each.result == matrix_instruction(name).result
        ]
        instead = f", or use {' or '.join(nearest)}" if nearest else ""
        raise Refused(
            f"{compilation.target.name} has no {name}", f"compile for gfx1200 or gfx1201{instead}"
        )
    return found


def _check(instruction: MatrixInstruction, operand: str, given: Any) -> None:
    allowed = operand_types(instruction.layout(operand))
    if given not in allowed:
        shown = " or ".join(map(str, allowed))
        raise Refused(
            f"{operand} of {instruction.name} cannot be {given}",
            f"in waves of {instruction.wave_size} lanes {operand} is {shown}",
        )


def _is_signed(operand: str, type: Type, said: Any) -> bool:
    element = type.element if isinstance(type, Vector) else type
    if said is not None and not isinstance(said, bool):
        raise Refused(f"{operand}_signed is {said}", "give True or False, known when compiling")
    if element in (i8, u8):
        if said is not None and said != (element is i8):
            raise Refused(
                f"{operand} is {type}, and {operand}_signed is {said}",
                f"leave out {operand}_signed",
            )
        return element is i8
    return said is not False


def _shift(instruction: MatrixInstruction, key: Any) -> int:
    if not instruction.is_sparse:
        return 0
    index = instruction.layout("index")
    if not isinstance(key, int) or isinstance(key, bool) or not 0 <= key < index.sets:
        allowed = (
            f"0 to {index.sets - 1}, known when compiling"
            if index.sets > 1
            else "0: there is one part only"
        )
        raise Refused(f"the key of {instruction.name} is {key}", f"give {allowed}")
    return key * index.elements * index.bits


@device_function
def _dense_floats(name, a, b, c):
    chosen = _floats(name, a, b, c)
    left, right, added = _bitcast(a, chosen.a), _bitcast(b, chosen.b), _bitcast(c, chosen.c)
    if chosen.is_spread:
        return _bitcast(chosen.builtin(left, right, added, False), chosen.result)
    return _bitcast(chosen.builtin(left, right, added), chosen.result)


@device_function
def _dense_integers(name, a, b, c, clamp, a_signed, b_signed):
    chosen = _integers(name, a, b, c, a_signed, b_signed)
    left, right = _bitcast(a, chosen.a), _bitcast(b, chosen.b)
    return chosen.builtin(chosen.a_signed, left, chosen.b_signed, right, c, clamp)


@device_function
def _part(index, shift):
    """Return the index shifted so that the chosen part is lowest; LLVM turns a logical shift into
    the instruction's `index_key`."""
    return i32(u32(index) >> u32(shift))


@device_function
def _sparse_floats(name, a, b, c, index, key):
    chosen = _floats(name, a, b, c, key)
    left, right, total = _bitcast(a, chosen.a), _bitcast(b, chosen.b), _bitcast(c, chosen.c)
    return _bitcast(chosen.builtin(left, right, total, _part(index, chosen.shift)), chosen.result)


@device_function
def _sparse_integers(name, a, b, c, index, key, clamp, a_signed, b_signed):
    chosen = _integers(name, a, b, c, a_signed, b_signed, key)
    left, right = _bitcast(a, chosen.a), _bitcast(b, chosen.b)
    return chosen.builtin(
        chosen.a_signed, left, chosen.b_signed, right, c, _part(index, chosen.shift), clamp
    )


@device_function
def wmma_f32_16x16x16_f16(a, b, c):
    """Return A B + C: f16 products, added in f32 (`v_wmma_f32_16x16x16_f16`)."""
    return _dense_floats("wmma_f32_16x16x16_f16", a, b, c)


@device_function
def wmma_f32_16x16x16_bf16(a, b, c):
    """Return A B + C: bf16 products, added in f32 (`v_wmma_f32_16x16x16_bf16`)."""
    return _dense_floats("wmma_f32_16x16x16_bf16", a, b, c)


@device_function
def wmma_f16_16x16x16_f16(a, b, c):
    """Return A B + C: f16 products, added in f16 (`v_wmma_f16_16x16x16_f16`)."""
    return _dense_floats("wmma_f16_16x16x16_f16", a, b, c)


@device_function
def wmma_bf16_16x16x16_bf16(a, b, c):
    """Return A B + C: bf16 products, added in bf16 (`v_wmma_bf16_16x16x16_bf16`)."""
    return _dense_floats("wmma_bf16_16x16x16_bf16", a, b, c)


@device_function
def wmma_f32_16x16x16_fp8_fp8(a, b, c):
    """Return A B + C: fp8 products, added in f32, rounded by a model
    (`v_wmma_f32_16x16x16_fp8_fp8`)."""
    return _dense_floats("wmma_f32_16x16x16_fp8_fp8", a, b, c)


@device_function
def wmma_f32_16x16x16_fp8_bf8(a, b, c):
    """Return A B + C: products of fp8 and bf8, added in f32, rounded by a model
    (`v_wmma_f32_16x16x16_fp8_bf8`)."""
    return _dense_floats("wmma_f32_16x16x16_fp8_bf8", a, b, c)


@device_function
def wmma_f32_16x16x16_bf8_fp8(a, b, c):
    """Return A B + C: products of bf8 and fp8, added in f32, rounded by a model
    (`v_wmma_f32_16x16x16_bf8_fp8`)."""
    return _dense_floats("wmma_f32_16x16x16_bf8_fp8", a, b, c)


@device_function
def wmma_f32_16x16x16_bf8_bf8(a, b, c):
    """Return A B + C: bf8 products, added in f32, rounded by a model
    (`v_wmma_f32_16x16x16_bf8_bf8`)."""
    return _dense_floats("wmma_f32_16x16x16_bf8_bf8", a, b, c)


@device_function
def wmma_i32_16x16x16_iu8(a, b, c, clamp=False, a_signed=None, b_signed=None):
    """Return A B + C: 8-bit integer products, added in i32 (`v_wmma_i32_16x16x16_iu8`)."""
    return _dense_integers("wmma_i32_16x16x16_iu8", a, b, c, clamp, a_signed, b_signed)


@device_function
def wmma_i32_16x16x16_iu4(a, b, c, clamp=False, a_signed=None, b_signed=None):
    """Return A B + C: 4-bit integer products, added in i32 (`v_wmma_i32_16x16x16_iu4`)."""
    return _dense_integers("wmma_i32_16x16x16_iu4", a, b, c, clamp, a_signed, b_signed)


@device_function
def wmma_i32_16x16x32_iu4(a, b, c, clamp=False, a_signed=None, b_signed=None):
    """Return A B + C: 4-bit integer products, 32 per sum, added in i32
    (`v_wmma_i32_16x16x32_iu4`)."""
    return _dense_integers("wmma_i32_16x16x32_iu4", a, b, c, clamp, a_signed, b_signed)


@device_function
def swmmac_f32_16x16x32_f16(a, b, c, index, key=0):
    """Return A B + C of a sparse A: f16 products, added in f32 (`v_swmmac_f32_16x16x32_f16`)."""
    return _sparse_floats("swmmac_f32_16x16x32_f16", a, b, c, index, key)


@device_function
def swmmac_f32_16x16x32_bf16(a, b, c, index, key=0):
    """Return A B + C of a sparse A: bf16 products, added in f32 (`v_swmmac_f32_16x16x32_bf16`)."""
    return _sparse_floats("swmmac_f32_16x16x32_bf16", a, b, c, index, key)


@device_function
def swmmac_f16_16x16x32_f16(a, b, c, index, key=0):
    """Return A B + C of a sparse A: f16 products, added in f16 (`v_swmmac_f16_16x16x32_f16`)."""
    return _sparse_floats("swmmac_f16_16x16x32_f16", a, b, c, index, key)


@device_function
def swmmac_bf16_16x16x32_bf16(a, b, c, index, key=0):
    """Return A B + C of a sparse A: bf16 products, added in bf16
    (`v_swmmac_bf16_16x16x32_bf16`)."""
    return _sparse_floats("swmmac_bf16_16x16x32_bf16", a, b, c, index, key)


@device_function
def swmmac_f32_16x16x32_fp8_fp8(a, b, c, index, key=0):
    """Return A B + C of a sparse A: fp8 products, rounded by a model
    (`v_swmmac_f32_16x16x32_fp8_fp8`)."""
    return _sparse_floats("swmmac_f32_16x16x32_fp8_fp8", a, b, c, index, key)


@device_function
def swmmac_f32_16x16x32_fp8_bf8(a, b, c, index, key=0):
    """Return A B + C of a sparse A: products of fp8 and bf8, rounded by a model
    (`v_swmmac_f32_16x16x32_fp8_bf8`)."""
    return _sparse_floats("swmmac_f32_16x16x32_fp8_bf8", a, b, c, index, key)


@device_function
def swmmac_f32_16x16x32_bf8_fp8(a, b, c, index, key=0):
    """Return A B + C of a sparse A: products of bf8 and fp8, rounded by a model
    (`v_swmmac_f32_16x16x32_bf8_fp8`)."""
    return _sparse_floats("swmmac_f32_16x16x32_bf8_fp8", a, b, c, index, key)


@device_function
def swmmac_f32_16x16x32_bf8_bf8(a, b, c, index, key=0):
    """Return A B + C of a sparse A: bf8 products, rounded by a model
    (`v_swmmac_f32_16x16x32_bf8_bf8`)."""
    return _sparse_floats("swmmac_f32_16x16x32_bf8_bf8", a, b, c, index, key)


@device_function
def swmmac_i32_16x16x32_iu8(a, b, c, index, key=0, clamp=False, a_signed=None, b_signed=None):
    """Return A B + C of a sparse A: 8-bit integer products, added in i32
    (`v_swmmac_i32_16x16x32_iu8`)."""
    return _sparse_integers(
        "swmmac_i32_16x16x32_iu8", a, b, c, index, key, clamp, a_signed, b_signed
    )


@device_function
def swmmac_i32_16x16x32_iu4(a, b, c, index, key=0, clamp=False, a_signed=None, b_signed=None):
    """Return A B + C of a sparse A: 4-bit integer products, added in i32
    (`v_swmmac_i32_16x16x32_iu4`)."""
    return _sparse_integers(
        "swmmac_i32_16x16x32_iu4", a, b, c, index, key, clamp, a_signed, b_signed
    )


@device_function
def swmmac_i32_16x16x64_iu4(a, b, c, index, key=0, clamp=False, a_signed=None, b_signed=None):
    """Return A B + C of a sparse A: 4-bit integer products, 64 per sum, added in i32
    (`v_swmmac_i32_16x16x64_iu4`)."""
    return _sparse_integers(
        "swmmac_i32_16x16x64_iu4", a, b, c, index, key, clamp, a_signed, b_signed
    )
