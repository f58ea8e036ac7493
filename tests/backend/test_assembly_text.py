"""The assembly that users read has their source lines in it and is still the kernel's code."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

import amdjit
from amdjit import f32
from amdjit.backend import annotate_assembly, emit_assembly, list_assembly, optimise
from amdjit.code_object.elf import read_elf
from amdjit.options import CompileOptions
from amdjit.target import Target

SOURCE = [
    "import amdjit",
    "",
    "def saxpy(a, x, y, n):",
    "    i = amdjit.grid(1)",
    "    if i < n:",
    "        y[i] = a * x[i] + y[i]",
    "    return",
]
LINES = {"/kernels/saxpy.py": SOURCE}


@pytest.fixture
def raw(ir: Callable[[str], str], target: Target, options: CompileOptions) -> str:
    return emit_assembly(optimise(ir("saxpy"), target, options), target, options)


def test_each_source_line_stands_before_its_first_instruction(raw: str) -> None:
    lines = annotate_assembly(raw, LINES).splitlines()
    load = next(index for index, line in enumerate(lines) if "global_load_b32" in line)
    named = [line for line in lines[:load] if line.startswith("; saxpy.py:")]
    assert named[-1] == "; saxpy.py:6  y[i] = a * x[i] + y[i]"
    assert "; saxpy.py:5  if i < n:" in named
    assert all(
        lines[index + 1].startswith("\t")
        for index, line in enumerate(lines)
        if line.startswith("; saxpy.py")
    )


def test_a_line_is_not_named_twice_in_a_row(raw: str) -> None:
    named = [
        line for line in annotate_assembly(raw, LINES).splitlines() if line.startswith("; saxpy.py")
    ]
    assert all(before != after for before, after in pairwise(named))


def test_debug_tables_and_temporary_labels_are_gone(raw: str) -> None:
    text = annotate_assembly(raw, LINES)
    assert ".debug_" in raw
    for noise in (
        ".debug_",
        ".cfi_",
        ".loc",
        ".Ltmp",
        ".file",
        ".Lfunc",
        "DEBUG_VALUE",
        ".GNU-stack",
        ".set",
    ):
        assert noise not in text
    for wanted in (
        ".amdhsa_kernel saxpy",
        ".amdhsa_next_free_vgpr",
        "; Occupancy: 16",
        ".amdgpu_metadata",
        "s_endpgm",
    ):
        assert wanted in text


@pytest.mark.parametrize("name", ["saxpy", "everything", "loops"])
def test_the_listing_is_all_code_and_nothing_else(
    ir: Callable[[str], str], target: Target, options: CompileOptions, name: str
) -> None:
    full = annotate_assembly(
        emit_assembly(optimise(ir(name), target, options), target, options), LINES
    )
    lines = list_assembly(full).splitlines()
    # What begins with a letter and is not in a table is an instruction of LLVM's text.
    code = [line.split()[0] for line in full.splitlines() if re.match(r"\t[a-z]\w+", line)]
    shown = [line.split()[0] for line in lines if line.startswith("    ")]
    assert shown == code
    assert len(code) > 10
    others = [line for line in lines if not line.startswith("    ")]
    assert f"{name}:" in others or name == "everything"
    for line in others:
        assert re.fullmatch(r"[.\w]+:|; saxpy\.py:\d+(  .*)?", line) or name != "saxpy", line
    for noise in (".amdhsa", ".section", "Occupancy", "%bb", "\t", "p2align", "@function"):
        assert noise not in "\n".join(lines)


def test_a_kernels_listing_has_as_many_instructions_as_its_code() -> None:
    @amdjit.device_function(inline=False)
    def cubed(x: f32) -> f32:
        return x * x * x

    @amdjit.kernel
    def cubes(x: f32[:]) -> None:
        for i in range(amdjit.grid(1), x.shape[0], amdjit.gridsize(1)):
            x[i] = cubed(x[i]) + x[i]

    compiled = cubes.compile(target="gfx1201")
    own = compiled.asm[compiled.asm.index("\ncubes:") + 1 :]
    code = [line for line in own.splitlines() if line.startswith("    ")]
    assert len(code) == compiled.resources.instructions
    assert ".amdhsa_kernel cubes" in compiled.asm_full
    assert cubes.inspect_asm() == {compiled.signature: compiled.asm}


def test_a_file_that_is_not_given_is_named_without_its_text(raw: str) -> None:
    assert "; saxpy.py:6\n" in annotate_assembly(raw, {})
    assert "; saxpy.py:6\n" in annotate_assembly(raw, {"/kernels/saxpy.py": SOURCE[:3]})


@pytest.mark.parametrize("name", ["saxpy", "everything", "loops"])
def test_the_text_still_assembles_to_the_same_code(
    ir: Callable[[str], str], target: Target, options: CompileOptions, name: str, tmp_path: Path
) -> None:
    assembler = shutil.which("llvm-mc-22")
    if assembler is None:
        pytest.skip("llvm-mc-22 is not installed")
    text = emit_assembly(optimise(ir(name), target, options), target, options)
    codes = []
    for version in (text, annotate_assembly(text, LINES)):
        command = [
            assembler,
            "-triple=amdgcn-amd-amdhsa",
            "-mcpu=gfx1201",
            "-filetype=obj",
            "-o",
            "-",
        ]
        built = subprocess.run(
            command, input=version.encode(), capture_output=True, check=True
        ).stdout
        elf = read_elf(built)
        sections = [elf.section(name) for name in (".text", ".rodata")]
        codes.append([elf.section_data(section) for section in sections if section])
    padding = len(codes[1][0])
    assert [codes[0][0][:padding], *codes[0][1:]] == codes[1]
    assert padding > 100


def test_names_of_files_that_the_assembler_escapes_are_found(
    target: Target, options: CompileOptions, ir: Callable[[str], str]
) -> None:
    text = ir("saxpy").replace('filename: "saxpy.py"', 'filename: "k\\C3\\A9 \\22q\\22.py"')
    assembly = emit_assembly(optimise(text, target, options), target, options)
    assert '; ké "q".py:6  y[i] = a * x[i] + y[i]' in annotate_assembly(
        assembly, {'/kernels/ké "q".py': SOURCE}
    )
