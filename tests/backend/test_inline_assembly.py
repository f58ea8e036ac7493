"""Inline assembly becomes machine code although llvmlite's LLVM has no parser for it."""

from __future__ import annotations

import pytest

from amdjit.backend import OwnLinker, emit_assembly, emit_object, link, optimise
from amdjit.backend.checks import has_inline_assembly
from amdjit.code_object import CodeObject
from amdjit.diagnostics.errors import BackendError
from amdjit.options import CompileOptions
from amdjit.target import Target

KERNEL = """
target triple = "amdgcn-amd-amdhsa"
define protected amdgpu_kernel void @kernel(ptr addrspace(1) %p) {{
  %x = call i32 asm "{text}", "=v"()
  store i32 %x, ptr addrspace(1) %p
  ret void
}}
"""
V_MOV_B32_V1_42 = bytes.fromhex("aa02027e")


@pytest.mark.parametrize("wave_size", [32, 64])
def test_the_instruction_is_in_the_code(target: Target, linker: OwnLinker, wave_size: int) -> None:
    options = CompileOptions(target, wave_size=wave_size)
    optimised = optimise(KERNEL.format(text="v_mov_b32 $0, 42"), target, options)
    code_object = CodeObject.read(link(emit_object(optimised, target, options), linker))
    kernel = code_object.kernels["kernel"]
    assert V_MOV_B32_V1_42 in code_object.code(kernel)
    assert kernel.metadata.wave_size == wave_size
    assert [argument.name for argument in kernel.metadata.arguments] == ["p"]
    assert "v_mov_b32 v1, 42" in emit_assembly(optimised, target, options)


def test_the_same_code_comes_out_of_the_assembler_as_of_llvm(
    target: Target, options: CompileOptions, linker: OwnLinker
) -> None:
    plain = (
        "define protected amdgpu_kernel void @kernel(ptr addrspace(1) %p) {\n  {body}\n  ret "
        "void\n}"
    )
    plain = plain.replace("{body}", "store i32 7, ptr addrspace(1) %p")
    with_text = plain.replace("  ret", '  call void asm sideeffect "", ""()\n  ret')
    objects = [link(emit_object(text, target, options), linker) for text in (plain, with_text)]
    codes = [CodeObject.read(linked) for linked in objects]
    assert codes[0].code(codes[0].kernels["kernel"]) == codes[1].code(codes[1].kernels["kernel"])
    assert codes[0].kernels["kernel"].descriptor == codes[1].kernels["kernel"].descriptor
    assert codes[0].kernels["kernel"].metadata == codes[1].kernels["kernel"].metadata


def test_what_the_assembler_says_of_a_mistake_is_in_the_error(
    target: Target, options: CompileOptions
) -> None:
    with pytest.raises(BackendError, match=r"assembling failed[^$]*v_mow_b32"):
        emit_object(KERNEL.format(text="v_mow_b32 $0, 42"), target, options)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('  %x = call i32 asm "s_nop 0", "=v"()', True),
        ('  tail call void asm sideeffect "s_nop 0", ""() #2', True),
        ('module asm "s_nop 0"', True),
        ("  call void @asm_like(i32 1)", False),
        ('@s = constant [4 x i8] c"asm "', False),
    ],
)
def test_inline_assembly_is_noticed(text: str, found: bool) -> None:
    assert has_inline_assembly(text) is found
