"""Assertions on machine code hold and fail as LLVM's disassembler says, and show what is wrong."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import amdjit
from amdjit import f16, f32
from amdjit.examples import reduction, saxpy, transpose_shuffle, wmma_gemm
from amdjit.intrinsics import amdgcn
from amdjit.testing import Code, isa

F, H = f32[:], f16[:]
KERNELS = {
    "saxpy": lambda: saxpy.saxpy.compile(f32, F, F, F, target="gfx1201"),
    "reduction": lambda: reduction.sum_per_block.compile(F, F, target="gfx1201"),
    "transpose": lambda: transpose_shuffle.transpose_shuffle.compile(H, H, target="gfx1201"),
    "gemm": lambda: wmma_gemm.wmma_gemm.compile(f16[:, :], f16[:, :], f32[:, :], target="gfx1201"),
}


@cache
def compiled(name: str) -> amdjit.CompiledKernel:
    return KERNELS[name]()


@amdjit.kernel
def loops(x, out, n):
    i = amdjit.grid(1)
    first = f32(0)
    for k in amdjit.unroll(range(n), 1):
        for j in amdjit.unroll(range(k), 1):
            first += x[i + j] * x[i + k]
    second = f32(1)
    for k in amdjit.unroll(range(n), 1):
        second *= x[i - k]
    out[i] = first / second


@cache
def nested() -> amdjit.CompiledKernel:
    return loops.compile(F, F, amdjit.i32, target="gfx1201")


def disassembled(code_object: bytes, folder: Path) -> list[str]:
    """Return the mnemonics that llvm-objdump prints, without suffixes of encodings."""
    program = shutil.which("llvm-objdump-22")
    if program is None:
        pytest.skip("llvm-objdump-22 is not installed")
    path = folder / "linked.co"
    path.write_bytes(code_object)
    text = subprocess.run(
        [program, "-d", "--no-show-raw-insn", str(path)], check=True, capture_output=True, text=True
    ).stdout
    names = [
        part.split()[0]
        for line in text.splitlines()
        if line.startswith("\t")
        for part in line.partition("//")[0].split("::")
    ]
    code = [re.sub(r"_(e32|e64|dpp|sdwa|e64_dpp)$", "", name) for name in names]
    return code[: len(code) - code[::-1].index("s_endpgm")]


@pytest.mark.parametrize("name", KERNELS)
def test_counts_are_those_of_the_disassembler(name: str, tmp_path: Path) -> None:
    names = disassembled(compiled(name).code_object, tmp_path)
    code = isa(compiled(name))
    for mnemonic, number in Counter(names).items():
        assert code.count(mnemonic) == number, mnemonic
    assert code.count("*") == len(names)
    assert code.count("v_*") == sum(one.startswith("v_") for one in names)
    assert code.count("*_b128") == sum(one.endswith("_b128") for one in names)


@pytest.mark.parametrize("name", KERNELS)
def test_numbers_that_are_right_hold_and_others_fail(name: str) -> None:
    code = isa(compiled(name))
    number = code.count("v_*")
    assert isinstance(code.count("v_*", number, at_least=number, at_most=number), Code)
    for wrong in ({"at_least": number + 1}, {"at_most": number - 1}):
        with pytest.raises(AssertionError, match=f"{number} instructions match v_"):
            code.count("v_*", **wrong)
    for wrong_number in (number - 1, number + 1):
        with pytest.raises(AssertionError, match=f", not {wrong_number}"):
            code.count("v_*", wrong_number)


def test_the_gemm_is_what_the_documentation_says_of_it() -> None:
    isa(compiled("gemm")).no_spills().no_scratch().max_vgprs(256).loop().count(
        "v_wmma_f32_16x16x16_f16", 32
    ).absent("v_div_*", "scratch_*").order("ds_store_*", "s_barrier_*", "ds_load_*", "v_wmma_*")


def test_a_failure_marks_the_instructions_and_says_where_they_come_from() -> None:
    with pytest.raises(AssertionError) as failure:
        isa(compiled("saxpy")).absent("global_load_*")
    text = str(failure.value)
    marked = [line for line in text.splitlines() if line.startswith("  > ")]
    assert len(marked) == isa(compiled("saxpy")).count("global_load_*") == 2
    assert all("global_load_b32" in line and "saxpy.py:" in line for line in marked)
    assert text.startswith("saxpy (gfx1201): 2 instructions match global_load_*, not 0")


def test_a_name_that_is_not_there_leads_to_names_that_are() -> None:
    with pytest.raises(AssertionError, match="Alike: 32 v_wmma_f32_16x16x16_f16"):
        isa(compiled("gemm")).count("v_wmma_f32_16x16x16_bf16", 32)
    with pytest.raises(AssertionError, match=r"Alike: .*global_load_b32"):
        isa(compiled("saxpy")).count("global_load_b128", at_least=1)


def test_a_long_listing_is_cut() -> None:
    with pytest.raises(AssertionError) as failure:
        isa(compiled("gemm")).count("*", 0)
    assert 20 < len(str(failure.value).splitlines()) < 70
    assert re.search(r"… \d+ more", str(failure.value))


def test_a_loop_is_chosen_by_number_if_there_are_several() -> None:
    code = isa(nested())
    with pytest.raises(AssertionError, match=r"several innermost loops") as failure:
        code.loop()
    offered = [int(number) for number in re.findall(r"\.loop\((\d+)\)", str(failure.value))]
    assert offered == [loop.number for loop in nested().inspect().loops]
    assert len(offered) == 3
    outer = next(
        loop
        for loop in nested().inspect().loops
        if loop.depth == 1
        and any(inner.parent == loop.number for inner in nested().inspect().loops)
    )
    inner = code.loop(outer.number).loop()
    assert len(inner.instructions) < len(code.loop(outer.number).instructions)
    assert {one.loop_depth for one in inner.instructions} == {2}
    with pytest.raises(AssertionError, match="there is no loop in it"):
        inner.loop()
    with pytest.raises(AssertionError, match="no loop 7"):
        code.loop(7)


def test_a_line_is_its_instructions_and_those_of_its_calls() -> None:
    code = isa(compiled("gemm"))
    by_text = code.line("multiply(a_tile, b_tile, 1")
    assert by_text.count("v_wmma_*") == 16
    (number,) = {call.line for one in by_text.instructions for call in one.inlined_from[-1:]} or {0}
    assert code.line(number) == by_text
    assert code.line(number, "wmma_gemm.py") == by_text
    with pytest.raises(AssertionError, match="no instruction comes from line 99999"):
        code.line(99999)
    with pytest.raises(AssertionError, match="no instruction comes from line"):
        code.line(number, "other.py")
    with pytest.raises(AssertionError, match="is one of"):
        code.line("multiply(")


def test_registers_spills_and_occupancy_are_those_of_the_code_object() -> None:
    for name in KERNELS:
        code, resources = isa(compiled(name)), compiled(name).resources
        code.max_vgprs(resources.vgprs).max_lds(resources.lds_bytes)
        with pytest.raises(AssertionError, match=f"{resources.vgprs} VGPRs, not at most"):
            code.max_vgprs(resources.vgprs - 1)
        waves = code.inspection.occupancy.waves_per_simd
        code.occupancy(at_least=waves)
        with pytest.raises(AssertionError, match=f"{waves} waves a SIMD"):
            code.occupancy(at_least=waves + 1)
        sgprs = code.inspection.sgprs
        code.max_sgprs(sgprs)
        with pytest.raises(AssertionError, match=f"{sgprs} SGPRs"):
            code.max_sgprs(sgprs - 1)
        live = code.inspection.peak.vgprs
        code.max_live_vgprs(live)
        with pytest.raises(AssertionError, match=f"{live} VGPRs are live"):
            code.max_live_vgprs(live - 1)
    with pytest.raises(AssertionError, match="bytes of LDS, not at most 0"):
        isa(compiled("gemm")).max_lds(0)


def test_spills_and_scratch_memory_are_found() -> None:
    @amdjit.kernel(waves_per_eu=16, block=1024, warnings=False)
    def crowded(x, out):
        i = amdjit.grid(1)
        values = amdjit.local.array(128, f32)
        for k in amdjit.static_range(128):
            values[k] = x[i + 37 * k]
        amdjit.syncthreads()
        for k in amdjit.static_range(128):
            out[i + 41 * k] = values[127 - k] * values[k]

    code = isa(crowded.compile(F, F, target="gfx1201"))
    with pytest.raises(AssertionError, match=r"VGPRs and \d+ SGPRs are spilled") as failure:
        code.no_spills()
    assert "  > " in str(failure.value)
    with pytest.raises(AssertionError, match=r"bytes of scratch memory a lane"):
        code.no_scratch()


def test_order_is_that_of_addresses() -> None:
    code = isa(compiled("saxpy"))
    code.order("s_load_*", "global_load_*", "global_store_*", "s_endpgm")
    with pytest.raises(AssertionError, match=r"no global_load_\* after global_store_\*"):
        code.order("global_store_*", "global_load_*")
    with pytest.raises(AssertionError, match="no v_wmma"):
        code.order("v_wmma_*")


def test_only_names_what_else_is_there() -> None:
    code = isa(compiled("gemm"))
    code.only("global_load_*", "*_b128").only("v_wmma_*", "v_wmma_f32_*", "v_wmma_i32_*")
    loads, stores = code.count("global_load_*"), code.count("global_store_*")
    with pytest.raises(
        AssertionError, match=f"{loads} of {loads + stores} instructions"
    ) as failure:
        code.only("global_[ls]*", "global_store_*")
    marked = [line for line in str(failure.value).splitlines() if line.startswith("  > ")]
    assert len(marked) == loads
    assert all("global_load" in line for line in marked)
    with pytest.raises(AssertionError, match="no instruction matches buffer_"):
        code.only("buffer_*", "buffer_load_*")


def test_between_leaves_out_its_ends() -> None:
    code = isa(compiled("gemm"))
    inside = code.between("v_wmma_*", "v_wmma_*")
    assert inside.count("v_wmma_*") == 32 - 2
    first, last = inside.instructions[0].address, inside.instructions[-1].address
    assert [one.mnemonic for one in code.instructions if not first <= one.address <= last].count(
        "v_wmma_f32_16x16x16_f16"
    ) == 2
    for ends in (("v_div_*", "v_wmma_*"), ("v_wmma_*", "v_div_*")):
        with pytest.raises(AssertionError, match="nothing is between"):
            code.between(*ends)


def test_names_may_have_the_suffix_of_an_encoding() -> None:
    code = isa(compiled("gemm"))
    short = code.count("v_lshrrev_b32_e32")
    assert 0 < short <= code.count("v_lshrrev_b32")
    assert code.count("v_lshrrev_b32*") == code.count("v_lshrrev_b32")
    assert code.count("*_e32") > 0


def test_what_has_machine_code_can_be_asked(tmp_path: Path) -> None:
    kernel = compiled("saxpy")
    file = tmp_path / "saxpy.co"
    file.write_bytes(kernel.code_object)
    for subject in (kernel, kernel.inspect(), kernel.code_object, file):
        assert isa(subject).count("global_load_b32") == 2
    assert isa(kernel.code_object, "saxpy").count("global_load_b32") == 2
    with pytest.raises(amdjit.AmdjitError, match="no kernel other"):
        isa(kernel.code_object, "other")
    with pytest.raises(TypeError, match="not 'saxpy'"):
        isa("saxpy")  # type: ignore[arg-type]


def test_a_kernel_that_was_launched_for_one_combination_of_types_can_be_asked() -> None:
    @amdjit.kernel
    def double(x):
        x[amdjit.grid(1)] *= 2

    with pytest.raises(ValueError, match="0 combinations"):
        isa(double)
    amdjit.use("emulator:gfx1201")
    double[1, 32](np.ones(32, np.float32))
    isa(double).count("global_store_b32", 1)
    double[1, 32](np.ones(32, np.float64))
    with pytest.raises(ValueError, match="2 combinations"):
        isa(double)


def test_code_that_cannot_be_read_is_never_called_right() -> None:
    unread = isa(saxpy.saxpy.compile(f32, F, F, F, target="gfx1030"))
    for question in (
        lambda: unread.absent("v_wmma_*"),
        lambda: unread.count("*"),
        lambda: unread.max_live_vgprs(0),
        lambda: unread.loop(),
        lambda: unread.line(1),
        lambda: unread.instructions,
    ):
        with pytest.raises(ValueError, match="does not decode the machine code of gfx1030"):
            question()
    unread.no_spills().max_vgprs(256)


def test_pytest_shows_the_test_and_the_code_and_nothing_between(tmp_path: Path) -> None:
    (tmp_path / "test_user.py").write_text(
        "from amdjit import f32\n"
        "from amdjit.examples.saxpy import saxpy\n"
        "from amdjit.testing import isa\n"
        "def test_fused():\n"
        "    compiled = saxpy.compile(f32, *[f32[:]] * 3, target='gfx1201')\n"
        "    isa(compiled).no_spills().count('v_fma*_f32', 1)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert "AssertionError: saxpy (gfx1201): 0 instructions match v_fma*_f32, not 1" in done.stdout
    assert "test_user.py:6: AssertionError" in done.stdout
    assert "amdjit/testing" not in done.stdout


def test_widths_are_those_that_the_disassembler_names() -> None:
    code = isa(compiled("gemm"))
    assert set(code.widths("global_load")) == {16}
    assert len(code.widths("global_load")) == code.count("global_load_*")
    for bits in (32, 64, 96, 128):
        for name in (f"global_load_b{bits}", f"global_store_b{bits}", f"ds_load_b{bits}"):
            assert code.widths(name) == (bits // 8,) * code.count(name)
    code.widths("global_load", 16).widths("ds_load", at_least=16)
    with pytest.raises(AssertionError, match=r"2 of 2 accesses .* move 4 bytes, not at least 16"):
        isa(compiled("saxpy")).widths("global_load", at_least=16)
    with pytest.raises(AssertionError, match="no access matches buffer_load"):
        code.widths("buffer_load", 16)


@amdjit.kernel(block=32)
def many_products(a, d, n):
    left, right = a.load(8 * amdjit.threadIdx.x, 8), a.load(8 * amdjit.threadIdx.x + 256, 8)
    total = amdjit.f32x8(0.0)
    for _ in amdjit.unroll(range(n), 1):
        total = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(left, right, total)
    d.store(8 * amdjit.threadIdx.x, total)


def test_cycles_are_those_of_the_model_for_the_loop() -> None:
    """A wave's dependent products of f16 cannot be faster than the matrix unit: 16 cycles."""
    compiled_product = many_products.compile(H, F, amdjit.i32, target="gfx1201")
    code = isa(compiled_product)
    code.loop().count("v_wmma_*", 1)
    time = code.cycles()
    assert time == code.loop().cycles()
    assert 16 <= time.cycles <= 60
    assert code.cycles(waves=4).cycles >= 4 * 16
    code.cycles(at_most=time.cycles, within="loop").no_spills()
    with pytest.raises(AssertionError, match=r"loop 0 of many_products .* cycles an iteration"):
        code.cycles(at_most=time.cycles - 0.5)
    with pytest.raises(AssertionError, match="there is no loop"):
        isa(compiled("saxpy")).cycles(at_most=1)
    with pytest.raises(ValueError, match="within='kernel'"):
        code.cycles(at_most=1, within="kernel")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no bytes"):
        isa(replace(compiled_product.inspect(), code_object=b"")).cycles()
