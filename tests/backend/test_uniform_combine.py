"""LLVM 22's pass for uniform operands of lane operations stays off: it reads freed memory."""

from __future__ import annotations

import pytest

from amdjit.backend.llvm import optimise
from amdjit.options import CompileOptions
from amdjit.target import find_target

# The pass makes `xor i1 %any, true` of the comparison.
TEXT = """
target triple = "amdgcn-amd-amdhsa"
define protected amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %n) #0 {
  %any = icmp sgt i32 %n, 7
  %mask = call i32 @llvm.amdgcn.ballot.i32(i1 %any)
  %none = icmp eq i32 %mask, 0
  %value = zext i1 %none to i32
  store i32 %value, ptr addrspace(1) %p
  ret void
}
declare i32 @llvm.amdgcn.ballot.i32(i1)
attributes #0 = { "target-cpu"="gfx1201" "target-features"="+wavefrontsize32" }
"""


@pytest.mark.parametrize("level", [1, 2, 3])
def test_uniform_operands_of_lane_operations_are_left_to_the_code_generator(level: int) -> None:
    target = find_target("gfx1201")
    assert target is not None
    options = CompileOptions(target, wave_size=32, opt_level=level)
    assert "call i32 @llvm.amdgcn.ballot.i32" in optimise(TEXT, target, options)
