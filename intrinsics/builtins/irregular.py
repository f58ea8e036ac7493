"""The lowering of the few builtins that are not a single call of an LLVM function of the same
types.

Sources: clang's CodeGen for AMDGPU builtins; LLVM AMDGPU guide, "LLVM IR Intrinsics", "Code Object
V5 Metadata"; the HSA specification's kernel dispatch packet (grid sizes from byte 12 on).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from amdjit.declarations import EmitContext
from amdjit.types import (
    VOID,
    AddressSpace,
    Pointer,
    Scalar,
    Tuple,
    Vector,
    bf16,
    boolean,
    f16,
    f32,
    f64,
    i16,
    i32,
    i64,
    u8,
    u32,
)

_ORDERINGS: Mapping[int, str] = MappingProxyType(
    {0: "monotonic", 2: "acquire", 3: "release", 4: "acq_rel", 5: "seq_cst"}
)
_CONSTANT = Pointer(u8, AddressSpace.CONSTANT)
_GRID_SIZES = 12
_SAME_LANES = 0xE4
_HIT = (Vector(u32, 10), Vector(f32, 3), Vector(f32, 3))


def emit_atomic(context: EmitContext, pointer: Any, value: Any, *, operation: str) -> Any:
    """Emit a relaxed `atomicrmw` at device scope; clang passes packed bf16 as shorts."""
    is_bf16 = context.result_type == Vector(i16, 2)
    operand = context.bitcast(value, context.llvm_type(Vector(bf16, 2))) if is_bf16 else value
    old = context.atomic_update(operation, pointer, operand, "monotonic", "agent")
    return context.bitcast(old, context.llvm_type(context.result_type)) if is_bf16 else old


def _emit_counter(
    context: EmitContext, pointer: Any, value: Any, order: int, scope: str, *, operation: str
) -> Any:
    return context.atomic_update(operation, pointer, value, _ORDERINGS[order], scope)


def _emit_lds(
    context: EmitContext,
    pointer: Any,
    value: Any,
    order: int,
    scope: int,
    volatile: bool,
    *,
    operation: str,
) -> Any:
    # clang takes an order and a scope and uses neither: these are relaxed, at the scope of the
    # workgroup that the LDS belongs to.
    return context.atomic_update(operation, pointer, value, "monotonic", "")


def _emit_fence(context: EmitContext, order: int, scope: str) -> None:
    context.fence(_ORDERINGS[order], scope)


def _emit_parts(context: EmitContext, *values: Any, name: str, parts: tuple[Any, ...]) -> Any:
    """Call a function that returns a structure; return a tuple, or a vector if all parts have one
    type."""
    arguments = [
        context.constant(i32 if type(v) is int else boolean, v) if isinstance(v, int) else v
        for v in values
    ]
    types = tuple(context.llvm_type(part) for part in parts)
    found = context.call_structure(name, types, arguments)
    result = context.result_type
    if isinstance(result, Tuple):
        return tuple(found)
    assert isinstance(result, Vector)
    element = context.llvm_type(result.element)
    wide = [
        context.builder.zext(value, element) if value.type != element else value for value in found
    ]
    vector = context.undefined(result)
    for number, value in enumerate(wide):
        vector = context.builder.insert_element(vector, value, context.constant(i32, number))
    return vector


def _emit_ldexp_half(context: EmitContext, value: Any, exponent: Any) -> Any:
    narrow = context.builder.trunc(exponent, context.llvm_type(i16))
    return context.call("llvm.ldexp.f16.i16", context.llvm_type(f16), [value, narrow])


def _emit_ballot(context: EmitContext, *, bits: int, shift: int) -> Any:
    mask_type = context.llvm_type(i64 if bits == 64 else i32)
    mask = context.call(f"llvm.amdgcn.ballot.i{bits}", mask_type, [context.constant(boolean, True)])
    if not shift:
        return mask
    return context.builder.trunc(
        context.builder.lshr(mask, context.constant(i64, shift)), context.llvm_type(i32)
    )


def _emit_group_size(context: EmitContext, *, axis: int) -> Any:
    return context.implicit_argument(_GRID_SIZES + 2 * axis, 16)


def _emit_grid_size(context: EmitContext, *, axis: int) -> Any:
    packet = context.call("llvm.amdgcn.dispatch.ptr", context.llvm_type(_CONSTANT), [])
    address = context.builder.offset(packet, context.constant(i64, _GRID_SIZES + 4 * axis))
    return context.load(u32, address)


def _emit_address(context: EmitContext, *, name: str) -> Any:
    return context.call(name, context.llvm_type(_CONSTANT), [])


def _emit_set_register(context: EmitContext, place: int, value: Any) -> None:
    # LLVM ends the process if the value is in a VGPR. All lanes share the register, so the first
    # lane's value counts.
    word = context.llvm_type(i32)
    scalar = context.call("llvm.amdgcn.readfirstlane.i32", word, [value])
    context.call(
        "llvm.amdgcn.s.setreg", context.llvm_type(VOID), [context.constant(i32, place), scalar]
    )


def _emit_move(context: EmitContext, value: Any, *controls: int) -> Any:
    control, row_mask, bank_mask, bound = controls
    constants = [context.constant(i32, number) for number in (control, row_mask, bank_mask)]
    word = context.llvm_type(i32)
    operands = [context.undefined(i32), value, *constants, context.constant(boolean, bound)]
    return context.call("llvm.amdgcn.update.dpp.i32", word, operands)


def differing(context: EmitContext, word: Any) -> Any:
    """Return a word that LLVM takes for one that differs between lanes: the move is that of each
    lane to itself."""
    zero, all_ = context.constant(i32, 0), context.constant(i32, 0xF)
    control, yes = context.constant(i32, _SAME_LANES), context.constant(boolean, True)
    return context.call(
        "llvm.amdgcn.update.dpp.i32", word.type, [zero, word, control, all_, all_, yes]
    )


def moved_of_eight(context: EmitContext, word: Any, selectors: int) -> Any:
    """Return a word moved within groups of eight lanes, by 3-bit selectors."""
    operands = [word, context.constant(i32, selectors)]
    return context.call("llvm.amdgcn.mov.dpp8.i32", word.type, operands)


def _emit_byte_by_chance(context: EmitContext, old: Any, *values: Any, of: str) -> Any:
    """Convert two numbers to a byte of a register. LLVM 22 does not put the result into the old
    value's register, whose other bytes would be lost."""
    *operands, place = values
    name = f"llvm.amdgcn.cvt.scalef32.sr.pk.fp4.{of}"
    selected = context.constant(i32, place)
    found = context.call(name, context.llvm_type(u32), [old, *operands, selected])
    builder = context.builder
    byte = 255 << 8 * place
    kept = builder.and_(old, context.constant(u32, 0xFFFFFFFF ^ byte))
    return builder.or_(kept, builder.and_(found, context.constant(u32, byte)))


def _emit_cooperative(context: EmitContext, *values: Any, name: str) -> Any:
    *operands, policy, scope = values
    operands[0] = context.generic(operands[0])
    arguments = [*operands, context.constant(i32, policy), context.text_operand(scope)]
    return context.call(name, context.llvm_type(context.result_type), arguments)


def _emit_ray(context: EmitContext, *values: Any, name: str) -> Any:
    vectors = [
        _first_three(context, value) if 2 <= place <= 4 else value
        for place, value in enumerate(values)
    ]
    return context.call(name, context.llvm_type(context.result_type), vectors)


def _first_three(context: EmitContext, vector: Any) -> Any:
    """Return x, y and z: clang takes points as four floats."""
    places = [context.constant(i32, number) for number in range(3)]
    parts = [context.builder.extract_element(vector, place) for place in places]
    short = context.undefined(Vector(f16 if parts[0].type == context.llvm_type(f16) else f32, 3))
    for place, part in zip(places, parts, strict=True):
        short = context.builder.insert_element(short, part, place)
    return short


def _parts(name: str, *parts: Scalar | Vector) -> Callable[..., Any]:
    return partial(_emit_parts, name=name, parts=parts)


def _work_sizes() -> dict[str, Callable[..., Any]]:
    sizes: dict[str, Callable[..., Any]] = {}
    for number, axis in enumerate("xyz"):
        sizes[f"workgroup_size_{axis}"] = partial(_emit_group_size, axis=number)
        sizes[f"grid_size_{axis}"] = partial(_emit_grid_size, axis=number)
    return sizes


def _cooperative_accesses() -> dict[str, Callable[..., Any]]:
    sizes = ("32x4B", "16x8B", "8x16B")
    names = [
        f"cooperative_atomic_{direction}_{size}"
        for direction in ("load", "store")
        for size in sizes
    ]
    return {
        name: partial(_emit_cooperative, name=f"llvm.amdgcn.{name.replace('_', '.')}.p0")
        for name in names
    }


_BVH = "llvm.amdgcn.image.bvh"
_STACK = "llvm.amdgcn.ds.bvh.stack"

EMITTERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        **_work_sizes(),
        **_cooperative_accesses(),
        "dispatch_ptr": partial(_emit_address, name="llvm.amdgcn.dispatch.ptr"),
        "queue_ptr": partial(_emit_address, name="llvm.amdgcn.queue.ptr"),
        "kernarg_segment_ptr": partial(_emit_address, name="llvm.amdgcn.kernarg.segment.ptr"),
        "implicitarg_ptr": partial(_emit_address, name="llvm.amdgcn.implicitarg.ptr"),
        "fence": _emit_fence,
        "atomic_inc32": partial(_emit_counter, operation="uinc_wrap"),
        "atomic_inc64": partial(_emit_counter, operation="uinc_wrap"),
        "atomic_dec32": partial(_emit_counter, operation="udec_wrap"),
        "atomic_dec64": partial(_emit_counter, operation="udec_wrap"),
        "ds_faddf": partial(_emit_lds, operation="fadd"),
        "ds_fminf": partial(_emit_lds, operation="fmin"),
        "ds_fmaxf": partial(_emit_lds, operation="fmax"),
        "read_exec": partial(_emit_ballot, bits=64, shift=0),
        "read_exec_lo": partial(_emit_ballot, bits=32, shift=0),
        "read_exec_hi": partial(_emit_ballot, bits=64, shift=32),
        "ldexph": _emit_ldexp_half,
        "s_setreg": _emit_set_register,
        "mov_dpp": _emit_move,
        "div_scale": _parts("llvm.amdgcn.div.scale.f64", f64, boolean),
        "div_scalef": _parts("llvm.amdgcn.div.scale.f32", f32, boolean),
        "cvt_scalef32_sr_pk_fp4_f32": partial(_emit_byte_by_chance, of="f32"),
        "cvt_scalef32_sr_pk_fp4_f16": partial(_emit_byte_by_chance, of="f16"),
        "cvt_scalef32_sr_pk_fp4_bf16": partial(_emit_byte_by_chance, of="bf16"),
        "permlane16_swap": _parts("llvm.amdgcn.permlane16.swap", i32, i32),
        "permlane32_swap": _parts("llvm.amdgcn.permlane32.swap", i32, i32),
        "ds_bvh_stack_rtn": _parts(f"{_STACK}.rtn", i32, i32),
        "ds_bvh_stack_push4_pop1_rtn": _parts(f"{_STACK}.push4.pop1.rtn", i32, i32),
        "ds_bvh_stack_push8_pop1_rtn": _parts(f"{_STACK}.push8.pop1.rtn", i32, i32),
        "ds_bvh_stack_push8_pop2_rtn": _parts(f"{_STACK}.push8.pop2.rtn", i64, i32),
        "image_bvh8_intersect_ray": _parts(f"{_BVH}8.intersect.ray", *_HIT),
        "image_bvh_dual_intersect_ray": _parts(f"{_BVH}.dual.intersect.ray", *_HIT),
        "image_bvh_intersect_ray": partial(_emit_ray, name=f"{_BVH}.intersect.ray.i32.v3f32"),
        "image_bvh_intersect_ray_h": partial(_emit_ray, name=f"{_BVH}.intersect.ray.i32.v3f16"),
        "image_bvh_intersect_ray_l": partial(_emit_ray, name=f"{_BVH}.intersect.ray.i64.v3f32"),
        "image_bvh_intersect_ray_lh": partial(_emit_ray, name=f"{_BVH}.intersect.ray.i64.v3f16"),
    }
)
"""By the builtin's name: the function `emit(context, *values)` that `Emit` takes."""
