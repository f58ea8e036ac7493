"""Intrinsics that users declare: what a declaration says is what LLVM gets."""

from typing import Annotated

import amdjit
from amdjit import f32, i16, i32
from amdjit.declarations import As, InlineAsm, LlvmCall, intrinsic
from amdjit.types import VOID, Immediate


@intrinsic(LlvmCall("llvm.amdgcn.fmed3.{return}"))
def median(a: f32, b: f32, c: f32) -> f32:
    """Return the middle one."""


@intrinsic(LlvmCall("llvm.amdgcn.readfirstlane.{return}", (As("value", i32),), result=i32))
def first(value: f32) -> f32:
    """Return the first lane's value."""


@intrinsic(LlvmCall("llvm.amdgcn.s.wait.dscnt", (As("count", i16),)))
def wait(count: Annotated[int, Immediate(0, 63)]) -> VOID:
    """Wait for LDS."""


@intrinsic(LlvmCall("llvm.amdgcn.update.dpp.{value}", (0, "value", "control", 15, 15, "bound")))
def move(
    value: i32, control: Annotated[int, Immediate(0, 511)], bound: Annotated[bool, Immediate(0, 1)]
) -> i32:
    """Move a value between lanes."""


@intrinsic(InlineAsm("v_add_nc_u32 $0, $1, $2", "=v,v,n"))
def add(a: i32, b: Annotated[int, Immediate(0, 64)]) -> i32:
    """Return the sum."""


@amdjit.kernel
def overloaded(a: f32[:]):
    """`{return}` becomes the type of the result."""
    a[0] = median(a[0], a[1], a[2])
    # CHECK: call float @llvm.amdgcn.fmed3.f32(float %?, float %?, float %?)


@amdjit.kernel
def passed_as_bits(a: f32[:]):
    """`As` passes an argument's bits as another type, and `result` reads them back."""
    a[0] = first(a[0])
    # CHECK: %bits = bitcast float %? to i32
    # CHECK-NEXT: %result = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %bits)
    # CHECK-NEXT: bitcast i32 %result to float


@amdjit.kernel
def immediates(a: i32[:]):
    """Immediates have the width that LLVM declares; constants stand between them."""
    wait(3)
    a[0] = move(a[0], 0x111, True)
    # CHECK: @llvm.amdgcn.s.wait.dscnt(i16 3)
    # CHECK: @llvm.amdgcn.update.dpp.i32(i32 0, i32 %?, i32 273, i32 15, i32 15, i1 true)


@amdjit.kernel
def inline_assembly(a: i32[:]):
    """Without a declared effect, assembly may be moved and dropped like an addition."""
    a[0] = add(a[0], 7)
    # CHECK: call i32 asm "v_add_nc_u32 $0, $1, $2", "=v,v,n"(i32 %?, i32 7)
