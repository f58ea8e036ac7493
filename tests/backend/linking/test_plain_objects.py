"""amdjit's linker writes what lld writes, byte for byte, or says that the object needs lld."""

from __future__ import annotations

import importlib
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from amdjit.backend import Linker, OwnLinker, emit_object, link, optimise
from amdjit.backend.linking.objects import NotPlain
from amdjit.backend.linking.plain import COMMENT, link_plain
from amdjit.diagnostics.errors import BackendError
from amdjit.options import CompileOptions, Environment
from amdjit.target import TARGETS, Target
from tests import lld_oracle
from tests.backend.linking.random_objects import random_object
from tests.lld_oracle import assert_same, require_lld

IR = Path(__file__).parents[1] / "ir"

LINKED = """
target triple = "amdgcn-amd-amdhsa"
@lds = internal addrspace(3) global [64 x i32] poison
@table = internal addrspace(4) constant [4 x i32] [i32 1, i32 2, i32 3, i32 5]
@pair = internal unnamed_addr addrspace(4) constant [4 x i32] [i32 4, i32 2, i32 3, i32 1]
@word = internal unnamed_addr addrspace(4) constant [2 x i32] [i32 7, i32 11]
@text = internal unnamed_addr addrspace(4) constant [6 x i8] c"hello\\00"
@counter = protected addrspace(1) global i32 7
@cleared = protected addrspace(1) global [100 x i32] zeroinitializer
@pointers = protected addrspace(1) constant [2 x ptr addrspace(4)] [
  ptr addrspace(4) @table, ptr addrspace(4) @word]

define internal i32 @helper(i32 %i) noinline {
  %p = getelementptr [4 x i32], ptr addrspace(4) @table, i32 0, i32 %i
  %x = load i32, ptr addrspace(4) %p
  ret i32 %x
}
define protected amdgpu_kernel void @first(ptr addrspace(1) %out, i32 %i) {
  %x = call i32 @helper(i32 %i)
  %p = getelementptr [4 x i32], ptr addrspace(4) @pair, i32 0, i32 %i
  %y = load i32, ptr addrspace(4) %p
  %q = getelementptr [6 x i8], ptr addrspace(4) @text, i32 0, i32 %i
  %c = load i8, ptr addrspace(4) %q
  %w = getelementptr [2 x i32], ptr addrspace(4) @word, i32 0, i32 %i
  %v = load i32, ptr addrspace(4) %w
  %z = zext i8 %c to i32
  %s = add i32 %x, %y
  %t = add i32 %s, %z
  %u = add i32 %t, %v
  %l = getelementptr [64 x i32], ptr addrspace(3) @lds, i32 0, i32 %i
  store i32 %u, ptr addrspace(3) %l
  fence syncscope("workgroup") seq_cst
  %m = load volatile i32, ptr addrspace(3) %l
  store i32 %m, ptr addrspace(1) %out
  ret void
}
define protected amdgpu_kernel void @second(ptr addrspace(1) %out, i32 %i) {
  %x = call i32 @helper(i32 %i)
  %o = atomicrmw add ptr addrspace(1) @counter, i32 %x seq_cst
  %p = getelementptr [100 x i32], ptr addrspace(1) @cleared, i32 0, i32 %o
  store i32 %o, ptr addrspace(1) %p
  %a = getelementptr [2 x ptr addrspace(4)], ptr addrspace(1) @pointers, i32 0, i32 %i
  %b = load ptr addrspace(4), ptr addrspace(1) %a
  %d = load i32, ptr addrspace(4) %b
  store i32 %d, ptr addrspace(1) %out
  ret void
}
"""

OPENCL = """
__constant float table[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
__attribute__((noinline)) static float twice(float x) { return x + x; }
__kernel void scale(__global float *x, float s, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
#ifdef GLOBAL
  __global float *part = x + n;
#else
  __local float part[64];
#endif
  part[i] = x[i] * s + table[n & 15];
  __builtin_amdgcn_s_barrier();
  x[i] = twice(part[63 - i]);
}
__kernel void fill(__global int *out) { out[0] = 7; }
"""


def names_of_ir() -> list[str]:
    return sorted(file.stem for file in IR.glob("*.ll"))


@pytest.fixture
def without_lld(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> OwnLinker:
    """Return amdjit's linker in an environment that has no lld."""
    tools = importlib.import_module("amdjit.backend.tools")
    monkeypatch.setattr(tools, "_zig", lambda: None)
    monkeypatch.setattr(tools, "_DEFAULT_ROCM", tmp_path / "no-rocm")
    return OwnLinker(Environment())


@pytest.mark.parametrize("name", names_of_ir())
def test_kernels_are_linked_as_lld_links_them(
    name: str, ir: Callable[[str], str], target: Target, options: CompileOptions
) -> None:
    assert_same(emit_object(optimise(ir(name), target, options), target, options))


@pytest.mark.sample(6)
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_every_target_and_wave_size_is_linked_as_lld_links_it(target: Target) -> None:
    for wave_size in target.wave_sizes:
        options = CompileOptions(target, wave_size=wave_size, opt_level=1)
        assert_same(emit_object(LINKED, target, options))


def test_the_lld_of_the_ziglang_package_agrees(target: Target, options: CompileOptions) -> None:
    pytest.importorskip("ziglang")
    command = (sys.executable, "-m", "ziglang", "ld.lld")
    assert_same(emit_object(LINKED, target, options), *command)


@pytest.mark.parametrize(
    "arguments", [("-O2",), ("-O0", "-g"), ("-O3", "-ffunction-sections", "-g", "-DGLOBAL")]
)
def test_objects_of_clang_are_linked_as_lld_links_them(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    clang = shutil.which("clang-22")
    if clang is None:
        pytest.skip("clang-22 is not installed")
    source, result = tmp_path / "kernels.cl", tmp_path / "kernels.o"
    source.write_text(OPENCL)
    command = [clang, "--target=amdgcn-amd-amdhsa", "-mcpu=gfx1201", "-nogpulib", "-cl-std=CL2.0"]
    subprocess.run([*command, *arguments, "-c", "-o", str(result), str(source)], check=True)
    assert_same(result.read_bytes())


@pytest.mark.sample(15)
@pytest.mark.parametrize("seed", range(60))
def test_random_objects_are_linked_as_lld_links_them(seed: int) -> None:
    require_lld()
    assert_same(random_object(seed))


@pytest.mark.exhaustive
def test_thousands_of_random_objects_are_linked_as_lld_links_them() -> None:
    require_lld()
    for seed in range(10_000, 14_000):
        assert_same(random_object(seed))


def test_the_comment_names_the_linker_and_is_all_that_differs(
    target: Target, options: CompileOptions
) -> None:
    relocatable = emit_object(LINKED, target, options)
    assert COMMENT == b"Linker: amdjit\0"
    ours = link(relocatable, OwnLinker())
    assert ours.count(COMMENT) == 1
    assert ours == link_plain(relocatable, COMMENT)
    other = b"Linker: someone's!\0"[: len(COMMENT) - 1] + b"\0"
    assert link_plain(relocatable, other) == ours.replace(COMMENT, other)


@pytest.mark.sample(6)
@pytest.mark.parametrize("length", [0, 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 1024, 1025, 5000])
def test_strings_of_every_length_are_in_llds_order(length: int) -> None:
    texts = [chr(97 + i % 26) * length + f"{i}"[: max(0, length)] for i in range(40)]
    assert_same(_object_with_strings(texts))


def test_what_only_lld_knows_is_handed_to_lld(
    without_lld: OwnLinker, target: Target, options: CompileOptions
) -> None:
    text = LINKED.replace("@counter = protected", "@counter =")
    relocatable = emit_object(text, target, options)
    with pytest.raises(NotPlain, match="relocation of type 8 to 'counter'"):
        link_plain(relocatable)
    assert b"Linker: " in link(relocatable, Linker((require_lld(),)))
    found = OwnLinker(Environment(search_path=str(Path(require_lld()).parent)))
    assert lld_oracle.comment_of(require_lld()) in link(relocatable, found)
    with pytest.raises(BackendError, match=r"needs lld|counter.*pip install \"amdjit\[lld\]\""):
        link(relocatable, without_lld)


@pytest.mark.parametrize(
    ("directive", "reason"),
    [
        ('.section .init_array,"aw",@init_array', "init_array"),
        ('.section .unknown,"a",@progbits', r"a section \.unknown"),
        ('.section .tdata,"awT",@progbits', "flags"),
        ('.section .text.g,"axG",@progbits,group,comdat', "group|type"),
        (".symver kernel, kernel@VERSION", "unusual kind"),
        (".globl _DYNAMIC\n_DYNAMIC:", "_DYNAMIC"),
        (".comm common, 4, 4", "in no section"),
        (".quad __ehdr_start", "__ehdr_start"),
        (".section .rodata\n.long kernel", "relocation"),
        (".section .text\n.p2align 20", "aligned"),
        ('.section .data,"aw",@progbits\n.globl x\nx:\n.quad x', "relocation of type 3 to 'x'"),
    ],
)
def test_objects_that_need_lld_say_why(directive: str, reason: str) -> None:
    with pytest.raises(NotPlain, match=reason):
        link_plain(_assembled(f"{_KERNEL}\n{directive}\n.long 0\n"))


def test_missing_symbols_need_no_lld(without_lld: OwnLinker) -> None:
    relocatable = _assembled(f"{_KERNEL}\n.long elsewhere@rel32@lo\n.long nowhere@rel32@lo\n")
    with pytest.raises(BackendError, match="needs elsewhere, nowhere, which nothing defines"):
        link(relocatable, without_lld)


def test_damaged_objects_are_refused_or_linked_but_never_crash(
    target: Target, options: CompileOptions
) -> None:
    whole = emit_object(LINKED, target, options)
    damaged = [whole[:size] for size in range(0, len(whole), 61)]
    for position in range(0, len(whole), 7):
        word = struct.pack("<Q", 0xFFFFFFFFFFFFFFFF >> position % 64)
        damaged.append(whole[:position] + word + whole[position + 8 :])
    outcomes = set()
    for data in damaged:
        try:
            link_plain(data)
            outcomes.add("linked")
        except (NotPlain, BackendError) as error:
            outcomes.add(type(error).__name__)
    assert outcomes == {"linked", "NotPlain", "BackendError"}


def test_sizes_and_visibilities_that_llvm_does_not_write_are_not_linked() -> None:
    whole = _assembled(f"{_KERNEL}\n.long 7\n")
    (table,) = struct.unpack_from("<Q", whole, 40)
    headers = [struct.unpack_from("<IIQQQQIIQQ", whole, at) for at in range(table, len(whole), 64)]
    numbers = {header[1]: number for number, header in enumerate(headers)}
    longer = bytearray(whole)
    struct.pack_into("<Q", longer, table + 64 * numbers[2] + 32, 1 << 40)
    with pytest.raises(NotPlain, match="ends before its sections do"):
        link_plain(bytes(longer))
    other = bytearray(whole)
    other[headers[numbers[2]][4] + 24 + 5] |= 0x80
    with pytest.raises(NotPlain, match="unusual kind"):
        link_plain(bytes(other))


_KERNEL = ".text\n.globl kernel\n.protected kernel\n.type kernel,@function\nkernel:\ns_endpgm"


def _assembled(text: str) -> bytes:
    assembler = shutil.which("llvm-mc-22")
    if assembler is None:
        pytest.skip("llvm-mc-22 is not installed")
    command = [assembler, "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1201", "-filetype=obj", "-"]
    return subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout


def _object_with_strings(texts: list[str]) -> bytes:
    lines = [_KERNEL, '.section .debug_str,"MS",@progbits,1']
    return _assembled("\n".join([*lines, *(f'.asciz "{text}"' for text in texts), ""]))
