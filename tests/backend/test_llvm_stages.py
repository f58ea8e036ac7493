"""The optimiser and the emitter produce what LLVM's own programs do, and every refusal is a
BackendError."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from amdjit.backend import OwnLinker, emit_assembly, emit_object, link, optimise
from amdjit.backend.lds import keep_narrow_loads
from amdjit.code_object import CodeObject
from amdjit.diagnostics.errors import BackendError
from amdjit.options import CompileOptions, named_target
from amdjit.target import Target


def tool(name: str) -> str:
    program = shutil.which(f"{name}-22")
    if program is None:
        pytest.skip(f"{name}-22 is not installed")
    return program


def instructions(text_or_object: bytes) -> list[str]:
    """Return the instructions of an object's text section as llvm-objdump prints them."""
    command = [tool("llvm-objdump"), "-d", "--no-show-raw-insn", "--no-leading-addr", "-"]
    printed = subprocess.run(
        command, input=text_or_object, capture_output=True, check=True
    ).stdout.decode()
    return [
        line.strip()
        for line in printed.splitlines()
        if line.startswith(("\t", " ")) and "s_code_end" not in line
    ]


@pytest.mark.covering(1)
@pytest.mark.parametrize("opt_level", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ["saxpy", "everything", "loops"])
def test_code_is_the_code_of_opt_and_llc(
    ir: Callable[[str], str], target: Target, name: str, opt_level: int, tmp_path: Path
) -> None:
    options = CompileOptions(target, opt_level=opt_level)
    ours = emit_object(optimise(ir(name), target, options), target, options)
    passes = [tool("opt"), f"-passes=default<O{opt_level}>", "-mcpu=gfx1201", "-S"]
    optimised = subprocess.run(
        passes, input=ir(name).encode(), capture_output=True, check=True
    ).stdout
    optimised = keep_narrow_loads(optimised.decode(), target).encode()
    codegen = [
        tool("llc"),
        f"-O{opt_level}",
        "-mcpu=gfx1201",
        "-relocation-model=pic",
        "-filetype=obj",
    ]
    theirs = subprocess.run(codegen, input=optimised, capture_output=True, check=True).stdout
    assert instructions(ours) == instructions(theirs)
    assert len(instructions(ours)) > 10


def test_wave64_is_a_choice(ir: Callable[[str], str], target: Target, linker: OwnLinker) -> None:
    options = CompileOptions(target, wave_size=64)
    linked = link(emit_object(optimise(ir("saxpy"), target, options), target, options), linker)
    assert CodeObject.read(linked).kernels["saxpy"].descriptor.wave_size == 64


def test_another_target_makes_a_code_object_for_it(
    ir: Callable[[str], str], linker: OwnLinker
) -> None:
    from_name = CompileOptions(named_target("gfx1200"))
    linked = link(emit_object(ir("saxpy"), from_name.target, from_name), linker)
    assert CodeObject.read(linked).target_name == "gfx1200"


def test_the_same_text_can_be_emitted_again(
    ir: Callable[[str], str], target: Target, options: CompileOptions
) -> None:
    text = optimise(ir("everything"), target, options)
    first = emit_object(text, target, options)
    assembly = emit_assembly(text, target, options)
    assert emit_object(text, target, options) == first
    assert emit_assembly(text, target, options) == assembly


def test_optimising_removes_what_the_front_end_left(
    ir: Callable[[str], str], target: Target, options: CompileOptions
) -> None:
    optimised = optimise(ir("loops"), target, options)
    assert "alloca" not in optimised
    assert "@scale" not in optimised


def test_threads_get_the_same_code(
    ir: Callable[[str], str], target: Target, options: CompileOptions
) -> None:
    names = ["saxpy", "everything", "loops"] * 2
    expected = {
        name: emit_object(optimise(ir(name), target, options), target, options)
        for name in set(names)
    }
    found: list[tuple[str, bytes]] = []

    def compile_one(name: str) -> None:
        found.append((name, emit_object(optimise(ir(name), target, options), target, options)))

    threads = [threading.Thread(target=compile_one, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted((name, expected[name]) for name in names)


KERNEL = """
target triple = "amdgcn-amd-amdhsa"
{declarations}
define protected amdgpu_kernel void @kernel(ptr addrspace(1) %p, i32 %i) {{
{body}
  ret void
}}
"""


def kernel(body: str, declarations: str = "") -> str:
    return KERNEL.format(body=body, declarations=declarations)


REFUSED = [
    ("this is no IR", "cannot parse"),
    (kernel("  %x = add i32 %i, %undefined"), "cannot parse"),
    (
        kernel(
            "",
            "define void @f(i1 %c) {\n  br label %b\nb:\n  %x = phi i32 [ 1, %b ]\n  ret void\n}",
        ),
        "refuses",
    ),
    (kernel("  call void @helper()", "declare void @helper()"), "helper, which nothing defines"),
    (
        kernel(
            "  %x = call i32 @llvm.amdgcn.wurkitem.id.x()",
            "declare i32 @llvm.amdgcn.wurkitem.id.x()",
        ),
        "no such intrinsic.*wurkitem",
    ),
    (
        kernel(
            "  %x = call i32 @llvm.amdgcn.foo() nounwind", "declare i32 @llvm.amdgcn.foo() nounwind"
        ),
        "no such intrinsic: declare i32 @llvm.amdgcn.foo",
    ),
    (
        kernel(
            "  %x = call i32 @llvm.amdgcn.workitem.id.x(i32 1)",
            "declare i32 @llvm.amdgcn.workitem.id.x(i32)",
        ),
        "no such intrinsic|refuses",
    ),
    ('target triple = "x86_64-pc-linux-gnu"\n', "x86_64"),
    ('target triple = "amdgcn-amd-amdhsa"\ntarget datalayout = "e-p:32:32"\n', "data layout"),
    ("; a NUL \0 in the text", "NUL"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_ir_that_is_not_sound_is_refused(
    text: str, words: str, target: Target, options: CompileOptions
) -> None:
    for stage in (optimise, emit_object, emit_assembly):
        with pytest.raises(BackendError, match=words):
            stage(text, target, options)


KNOWN = """
declare void @llvm.memcpy.p1.p1.i64(ptr addrspace(1), ptr addrspace(1), i64, i1)
declare float @llvm.fma.f32(float, float, float)
declare i32 @llvm.umin.i32(i32, i32)
declare void @llvm.assume(i1)
declare float @llvm.vector.reduce.fadd.v4f32(float, <4 x float>)
declare void @llvm.lifetime.start.p5(ptr addrspace(5))
declare float @llvm.amdgcn.fmed3.f32(float, float, float)
declare <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v8f16(
    <8 x half>, <8 x half>, <8 x float>)
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare void @llvm.amdgcn.s.barrier.signal(i32)
declare <2 x half> @llvm.amdgcn.cvt.pkrtz(float, float)
"""


def test_intrinsics_that_llvm_has_pass(target: Target, options: CompileOptions) -> None:
    assert "define" in optimise(kernel("", KNOWN), target, options)


def lds(nbytes: int, body: str = "  store volatile i8 1, ptr addrspace(3) @shared") -> str:
    return kernel(body, f"@shared = internal addrspace(3) global [{nbytes} x i8] poison, align 16")


def test_lds_up_to_the_limit_is_taken_and_no_more(
    target: Target, options: CompileOptions, linker: OwnLinker
) -> None:
    most = link(emit_object(lds(65536), target, options), linker)
    assert CodeObject.read(most).kernels["kernel"].metadata.group_segment_bytes == 65536
    with pytest.raises(
        BackendError, match="kernel uses 65537 bytes of LDS; a workgroup of gfx1201 has 65536"
    ):
        emit_object(lds(65537), target, options)
    with pytest.raises(BackendError, match="65540 bytes of LDS"):
        emit_assembly(lds(65540), target, options)


def test_lds_is_counted_by_kernel_and_through_calls(
    target: Target, options: CompileOptions
) -> None:
    declarations = """
@one = internal addrspace(3) global [40000 x i8] poison
@two = internal addrspace(3) global [40000 x i8] poison
define internal void @helper() noinline {
  store volatile i8 1, ptr addrspace(3) @two
  ret void
}
define protected amdgpu_kernel void @other() {
  store volatile i8 1, ptr addrspace(3) @two
  ret void
}
"""
    one = "  store volatile i8 1, ptr addrspace(3) @one"
    assert emit_object(kernel(one, declarations.replace("noinline", "")), target, options)
    with pytest.raises(BackendError, match="kernel uses 80000 bytes"):
        emit_object(kernel(one + "\n  call void @helper()", declarations), target, options)


def scratch(kind: str) -> str:
    body = f"""  %a = alloca {kind}, align 16, addrspace(5)
  %q = getelementptr i32, ptr addrspace(5) %a, i32 %i
  store volatile i32 3, ptr addrspace(5) %q"""
    return kernel(body)


@pytest.mark.parametrize(
    "kind", ["[1000000 x i32]", "{ i32, [4 x [200000 x i32]] }", "[300000 x <2 x float>]"]
)
def test_local_arrays_that_llvm_would_end_the_process_for(
    kind: str, target: Target, options: CompileOptions
) -> None:
    with pytest.raises(
        BackendError, match="bytes of local arrays for each work-item; there is room for 2097144"
    ):
        emit_object(scratch(kind), target, options)


def test_large_local_arrays_are_compiled(
    target: Target, options: CompileOptions, linker: OwnLinker
) -> None:
    linked = link(emit_object(scratch("[500000 x i32]"), target, options), linker)
    assert CodeObject.read(linked).kernels["kernel"].metadata.private_segment_bytes >= 2_000_000


def test_assembly_carries_the_occupancy(
    ir: Callable[[str], str], target: Target, options: CompileOptions
) -> None:
    assert re.search(r"; Occupancy: 16", emit_assembly(ir("saxpy"), target, options))
