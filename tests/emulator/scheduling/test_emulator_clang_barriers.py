"""Barriers in kernels that clang compiles: the report of a deadlock, and named barriers through
builtins."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from amdjit.diagnostics.errors import KernelFault
from tests.emulator.building import CPU, compile_source, emulate
from tests.emulator.required_tools import needs_tools

pytestmark = [
    needs_tools,
    pytest.mark.usefixtures("each_tier"),
]

C_HEAD = """
#include "common.h"
typedef __attribute__((address_space(3))) void *Barrier;
#define NAMED(n) ((void *)(Barrier)((n) << 4))
#define WAVE (LANE / 32)
"""


def fault_in_c(body: str, waves: int = 3) -> KernelFault:
    code = compile_source(f"{C_HEAD}KERNEL late(GLOBAL u32 *x) {{\n{body}\n}}\n", "-O1")
    with pytest.raises(KernelFault) as caught:
        emulate(code, "late", 1, 32 * waves, [np.zeros(128, np.uint32)])
    assert caught.value.kind == "barrier"
    return caught.value


def places(fault: KernelFault) -> list[tuple[str, int]]:
    """Return who is at which line of the source, whose first line after the kernel's is 1."""
    return [
        (who, int(line) - 6)
        for who, line in re.findall(r"\n  ([^\n]*?) at [^\n]*?\.c:(\d+)", str(fault))
        if who
    ]


def test_a_deadlock_says_where_each_wave_waits_or_ended() -> None:
    fault = fault_in_c(
        """if (WAVE == 0) __builtin_amdgcn_s_barrier_init(NAMED(1), 3);
__builtin_amdgcn_s_barrier();
__builtin_amdgcn_s_barrier_join(NAMED(1));
if (WAVE == 2) return;
__builtin_amdgcn_s_barrier_signal(1);
__builtin_amdgcn_s_barrier_wait(1);
x[LANE] = 1;"""
    )
    text = str(fault)
    assert "no wave of a workgroup can go on" in text
    assert "for named barrier 1, which has 2 of 3 signals" in text
    assert "has not left barrier 1, which it had joined" in text
    assert places(fault) == [("each of waves 0 to 1 waits", 6), ("wave 2 has ended", 4)], text
    assert fault.source_line == 6 + 6


def test_a_wait_without_a_signal_is_a_deadlock() -> None:
    fault = fault_in_c(
        "if (WAVE) __builtin_amdgcn_s_barrier_signal(-1);\n__builtin_amdgcn_s_barrier_wait(-1);\n"
        "x[LANE] = 1;"
    )
    assert "which has 2 of 3 signals; this wave has not signalled it" in str(fault)


def test_a_named_barrier_of_clang_kernels() -> None:
    """Clang has no name for such objects yet: what its builtins take is a pointer to LDS of the
    number times 16."""
    code = compile_source(
        C_HEAD
        + """
SHARED u32 box[32];
KERNEL hand_over(GLOBAL u32 *x) {
  if (WAVE == 0) { __builtin_amdgcn_s_barrier_init(NAMED(2), 2); }
  barrier();
  if (WAVE == 1) return;
  __builtin_amdgcn_s_barrier_join(NAMED(2));
  for (u32 i = 0; i < 5; ++i) {
    if (WAVE == 2) box[LANE % 32] = LANE % 32 * i;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier_signal_var(NAMED(2), 2);
    __builtin_amdgcn_s_barrier_wait(1);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    if (WAVE == 0) x[32 * i + LANE] = box[LANE];
    __builtin_amdgcn_s_barrier_signal(2);
    __builtin_amdgcn_s_barrier_wait(1);
  }
}
"""
    )
    out = np.zeros((5, 32), np.uint32)
    emulate(code, "hand_over", 1, 96, [out])
    np.testing.assert_array_equal(out, np.arange(5)[:, None] * np.arange(32))


# As LLVM's own tests write named barriers: objects, to which the compiler gives numbers.
OBJECTS = """
target triple = "amdgcn-amd-amdhsa"
@full = internal addrspace(3) global target("amdgcn.named.barrier", 0) poison
@pair = internal addrspace(3) global [2 x target("amdgcn.named.barrier", 0)] poison
define amdgpu_kernel void @objects(ptr addrspace(1) %x, i32 %members) #0 {
entry:
  %second = getelementptr [2 x target("amdgcn.named.barrier", 0)],
      ptr addrspace(3) @pair, i32 0, i32 1
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %lanes = lshr i32 %item, 5
  %wave = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %lanes)
  %first = icmp eq i32 %wave, 0
  br i1 %first, label %init, label %ready
init:
  call void @llvm.amdgcn.s.barrier.init(ptr addrspace(3) @full, i32 %members)
  call void @llvm.amdgcn.s.barrier.init(ptr addrspace(3) %second, i32 7)
  br label %ready
ready:
  call void @llvm.amdgcn.s.barrier()
  call void @llvm.amdgcn.s.barrier.join(ptr addrspace(3) @full)
  call void @llvm.amdgcn.s.barrier.signal.var(ptr addrspace(3) %second, i32 9)
  call void @llvm.amdgcn.s.barrier.signal.var(ptr addrspace(3) @full, i32 0)
  call void @llvm.amdgcn.s.barrier.wait(i16 1)
  %told = call i1 @llvm.amdgcn.s.barrier.signal.isfirst(i32 -1)
  call void @llvm.amdgcn.s.barrier.wait(i16 -1)
  call void @llvm.amdgcn.s.barrier.leave(i16 1)
  %state = call i32 @llvm.amdgcn.s.get.named.barrier.state(ptr addrspace(3) %second)
  %bit = zext i1 %told to i32
  %high = shl i32 %bit, 31
  %both = or i32 %state, %high
  %place = getelementptr i32, ptr addrspace(1) %x, i32 %wave
  store i32 %both, ptr addrspace(1) %place
  ret void
}
attributes #0 = { "amdgpu-flat-work-group-size"="1,1024" }
"""


@pytest.mark.skipif(shutil.which("llc-22") is None, reason="llc-22 not installed")
def test_barriers_of_llvms_own_objects_work(tmp_path: Path) -> None:
    (tmp_path / "k.ll").write_text(OBJECTS)
    llc = ["llc-22", "-O2", f"-mcpu={CPU}", "-filetype=obj", "k.ll", "-o", "k.o"]
    subprocess.run(llc, cwd=tmp_path, check=True)
    subprocess.run(["ld.lld-22", "-shared", "k.o", "-o", "k.co"], cwd=tmp_path, check=True)
    x = np.zeros(4, np.uint32)
    emulate((tmp_path / "k.co").read_bytes(), "objects", 1, 128, [x, np.uint32(4)])
    assert (x >> 31).sum() == 1
    assert (x & 0x7FFFFFFF).tolist() == [4 << 16 | 9 << 4 | 1] * 4
