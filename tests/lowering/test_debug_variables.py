"""Python's variables in debug information: right names, types and registers, and no change of
code."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import amdjit
from amdjit import f16, f32, i32, local
from amdjit.backend import variables
from amdjit.code_object import CodeObject
from amdjit.code_object.debug_info import DebugInfo, Variable, read_debug_info
from amdjit.diagnostics.errors import BackendError
from amdjit.examples import flash_attention, perf_hgemm, reduction, wide_k_int8, wmma_matmul
from amdjit.intrinsics import wave
from amdjit.options import CompileOptions, Environment, OptionError, named_target

F, H = f32[:], f16[:]
TARGET = "gfx1201"


@amdjit.device_function
def polynomial(x, weight):
    square = x * x
    return square * weight + x


@amdjit.kernel(debug_variables=True, exact_lines=True)
def sums(x, out, n):
    i = amdjit.grid(1)
    total = f32(0)
    for k in amdjit.unroll(range(n), 1):
        term = polynomial(x[i * n + k], f32(k))
        total += term
    first, second = total, total * 2
    out[i] = total
    x[i] = first + second


@amdjit.kernel(debug_variables=True, opt_level=0)
def everything(x, wide, n, flag):
    i = amdjit.grid(1)
    part = wide.load(8 * i, 8)
    scratch = local.array(4, f32)
    scratch[0] = x[i]
    yes = flag and n > 3
    x[i] = scratch[0] + f32(part[0]) if yes else 0.0


def described(code_object: bytes) -> DebugInfo:
    return read_debug_info(CodeObject.read(code_object).elf)


def all_variables(compiled: amdjit.CompiledKernel) -> Iterator[tuple[int, Variable]]:
    info, kernel = described(compiled.code_object), compiled.linked.kernels[compiled.name]
    start = kernel.entry_address
    for address in range(start, start + kernel.code_size, 4):
        yield from ((address, variable) for variable in info.variables_at(address))


def test_the_register_that_is_stored_is_that_of_the_variable() -> None:
    compiled = sums.compile(F, F, i32, target=TARGET)
    info = described(compiled.code_object)
    line = compiled.program.kernel.span.line + 7  # out[i] = total
    (store,) = (
        instruction
        for instruction in compiled.inspect().instructions
        if instruction.mnemonic.startswith("global_store") and instruction.line == line
    )
    (total,) = (v for v in info.variables_at(store.address) if v.name == "total")
    assert re.search(rf"global_store_b\d+ v\d+, {total.registers},", store.text)


def test_a_call_that_was_inlined_has_its_own_variables() -> None:
    compiled = sums.compile(F, F, i32, target=TARGET)
    found = {(v.function, v.name, v.type) for _, v in all_variables(compiled)}
    assert {("polynomial", "x", "f32"), ("polynomial", "square", "f32")} <= found
    assert {("sums", "total", "f32"), ("sums", "term", "f32")} <= found
    assert {name for function, name, _ in found if function == "sums"} <= {
        "i", "total", "k", "term", "first", "second", "x", "out", "n",
        *(f"{array}.shape[0]" for array in ("x", "out")),
    }  # fmt: skip


def test_without_optimisation_every_variable_has_a_place_all_the_time() -> None:
    compiled = everything.compile(F, H, i32, amdjit.boolean, target=TARGET)
    found = {(v.name, v.type) for _, v in all_variables(compiled)}
    assert found >= {
        ("i", "i32"),
        ("part", "f16x8"),
        ("yes", "boolean"),
        ("scratch", "f32[4] in PRIVATE"),
    }
    places = {v.name: v.registers for _, v in all_variables(compiled)}
    assert all(re.fullmatch(r"scratch\[.*\]", places[name]) for name in ("i", "part", "yes"))
    assert not {"value", "bound", "chosen", "array"} & places.keys()


@pytest.mark.parametrize(
    ("kernel", "types"),
    [
        (reduction.sum_per_block, (F, F)),
        (wmma_matmul.wmma_matmul, (H, H, H)),
        (wide_k_int8.wide_k_int8, (amdjit.i8[:], amdjit.i8[:], i32[:])),
    ],
)
def test_what_a_loader_reads_is_the_same_with_variables(kernel: Any, types: tuple[Any]) -> None:
    plain, described_too = both(kernel, types)
    assert loaded(plain) == loaded(described_too)
    assert list(all_variables(described_too))
    assert not list(all_variables(plain))


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("kernel", "types"),
    [
        (perf_hgemm.perf_hgemm, (*[f16[:, :]] * 4, f32, f32)),
        (flash_attention.flash_attention, (*[f16[:, :, :]] * 4, f32, True)),
    ],
)
def test_what_a_loader_reads_of_large_kernels_is_the_same(kernel: Any, types: tuple[Any]) -> None:
    plain, described_too = both(kernel, types)
    assert loaded(plain) == loaded(described_too)


@pytest.mark.exhaustive
def test_what_a_loader_reads_of_every_benchmark_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    kernels = __import__("code_quality").KERNELS
    assert len(kernels) >= 20
    for kernel, types in kernels.values():
        plain, described_too = both(kernel, types)
        assert loaded(plain) == loaded(described_too), plain.name


def both(
    kernel: Any, types: tuple[Any, ...]
) -> tuple[amdjit.CompiledKernel, amdjit.CompiledKernel]:
    """Compile without and with variables."""
    plain = kernel.compile(*types, target=TARGET)
    return plain, kernel.compile(*types, target=TARGET, debug_variables=True)


def loaded(compiled: amdjit.CompiledKernel) -> list[tuple[str, int, bytes]]:
    elf = compiled.linked.elf
    return [(s.name, s.address, elf.section_data(s)) for s in elf.sections if s.flags & 2]


# Optimised IR with three records, and what happens to its code object.
IR = """  %a = add i32 %x, 1
    #dbg_value(i32 %a, !1, !DIExpression(), !2)
  %b = add i32 %a, 1
    #dbg_value(i32 %b, !3, !DIExpression(), !2)
    #dbg_value(i32 %b, !4, !DIExpression(), !2)
  ret void
"""


@pytest.mark.parametrize("harm", ["changes the code", "ends LLVM"])
@pytest.mark.parametrize(
    ("harmful", "kept"), [((), "!1 !3 !4"), (("!3",), "!1 !4"), (("!1", "!4"), "!3")]
)
def test_records_that_do_harm_are_left_out_and_no_others(
    monkeypatch: pytest.MonkeyPatch, harm: str, harmful: tuple[str, ...], kept: str
) -> None:
    sound, _ = both(wmma_matmul.wmma_matmul, (H, H, H))
    other, _ = both(reduction.sum_per_block, (F, F))

    def build(text: str, *_: Any) -> bytes:
        does_harm = any(f"%{letter}, {name}," in text for letter in "ab" for name in harmful)
        if does_harm and harm == "ends LLVM":
            raise BackendError("LLVM ended")
        return other.code_object if does_harm else sound.code_object

    monkeypatch.setattr(variables, "emit_object", build)
    monkeypatch.setattr(variables, "link", lambda data, _: data)
    options = CompileOptions(named_target(TARGET))
    text, code_object = variables.link_with_variables(
        variables.without_records(IR), IR, options, None, Environment()
    )
    assert re.findall(r"%\w, (!\d),", text) == kept.split()
    assert code_object == sound.code_object


def test_whole_wave_code_of_which_llvm_would_end_is_compiled_without_records() -> None:
    @amdjit.kernel(debug_variables=True)
    def total(x, out):
        i = amdjit.grid(1)
        whole = wave.reduce_add(x[i])
        out[i] = whole

    compiled = total.compile(F, F, target=TARGET)
    assert "#dbg_" in compiled.llvm
    assert "#dbg_" not in compiled.optimized_llvm
    assert loaded(compiled) == loaded(total.compile(F, F, target=TARGET, debug_variables=False))


def test_dwarfdump_finds_nothing_wrong(tmp_path: Path) -> None:
    program = shutil.which("llvm-dwarfdump-22")
    if program is None:
        pytest.skip("llvm-dwarfdump-22 is not installed")
    for kernel, types in ((sums, (F, F, i32)), (everything, (F, H, i32, amdjit.boolean))):
        path = tmp_path / "linked.co"
        path.write_bytes(kernel.compile(*types, target=TARGET).code_object)
        subprocess.run([program, "--verify", str(path)], check=True, capture_output=True)


def test_variables_need_debug_information() -> None:
    with pytest.raises(OptionError, match="needs debug_info=True"):
        reduction.sum_per_block.compile(F, F, target=TARGET, debug_info=False, debug_variables=True)


def test_names_that_are_not_identifiers_reach_the_debug_information() -> None:
    @amdjit.kernel(debug_variables=True, opt_level=0)
    def umlauts(x, größe):
        zähler = größe + 1
        x[0] = zähler

    compiled = umlauts.compile(i32[:], i32, target=TARGET)
    assert {v.name for _, v in all_variables(compiled)} >= {"zähler"}
