"""Compiled kernels: every instruction of .text decodes to objdump's text and length."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from amdjit.isa.decode import decode_all
from amdjit.isa.instruction_set import instruction_set_of
from amdjit.isa.text import disassemble
from tests.emulator.decoder.objdump import CPU, asking_about, disassemble_object, missing_tools

elffile = pytest.importorskip("elftools.elf.elffile")

COMPILER = "clang-22"
KERNELS = Path(__file__).resolve().parent.parent / "kernels"
SOURCES = sorted(path.stem for path in KERNELS.glob("*.c"))
_ABSENT = missing_tools() or (None if shutil.which(COMPILER) else f"{COMPILER} not installed")
pytestmark = pytest.mark.skipif(_ABSENT is not None, reason=_ABSENT or "")


def compile_kernel(
    name: str, level: int, directory: Path, *features: str, wave_size: int = 32, cpu: str = CPU
) -> Path:
    """Compile a C kernel, with those LLVM features, and return the object."""
    path = directory / f"{name}_{level}.o"
    command = [
        COMPILER,
        "-target",
        "amdgcn-amd-amdhsa",
        f"-mcpu={cpu}",
        "-nogpulib",
        "-Wall",
        "-Werror",
    ]
    command += ["-mwavefrontsize64"] if wave_size == 64 else []
    for feature in features:
        command += ["-Xclang", "-target-feature", "-Xclang", feature]
    subprocess.run(
        [*command, f"-O{level}", "-c", str(KERNELS / f"{name}.c"), "-o", str(path)], check=True
    )
    return path


def text_section(path: Path) -> bytes:
    """Return the bytes of .text."""
    with path.open("rb") as stream:
        data: bytes = elffile.ELFFile(stream).get_section_by_name(".text").data()
    return data


def test_there_are_kernels_to_decode() -> None:
    assert len(SOURCES) >= 12


@pytest.mark.sample(10)
@pytest.mark.parametrize(
    ("name", "level"),
    [
        # Of each source two levels, one of them with optimisation, in every run.
        pytest.param(name, level, marks=() if (level - index) % 2 == 0 else pytest.mark.exhaustive)
        for index, name in enumerate(SOURCES)
        for level in range(4)
    ],
)
def test_compiled_kernels_decode_as_objdump_does(name: str, level: int, tmp_path: Path) -> None:
    path = compile_kernel(name, level, tmp_path)
    mine = [(item.pc, disassemble(item), item.size) for item in decode_all(text_section(path), 0)]
    theirs = [(line.address, line.text, line.size) for line in disassemble_object(path)]
    assert len(mine) > 30
    assert mine == theirs


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "name", [name for name in SOURCES if not name.startswith(("matrix", "cross_lane"))]
)
def test_wave64_kernels_decode_as_objdump_does(name: str, tmp_path: Path) -> None:
    path = compile_kernel(name, 3, tmp_path, wave_size=64)
    mine = [
        (item.pc, disassemble(item), item.size) for item in decode_all(text_section(path), 0, 64)
    ]
    theirs = [
        (line.address, line.text, line.size)
        for line in disassemble_object(path, "+wavefrontsize64")
    ]
    assert mine == theirs


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("name", ["half_precision", "half_registers", "bytes", "matrix"])
def test_code_that_allocates_halves_of_registers_decodes_as_objdump_does(
    name: str, level: int, tmp_path: Path
) -> None:
    """In the syntax with .l and .h; the default one can name no upper half and no 16-bit move."""
    path = compile_kernel(name, level, tmp_path, "+real-true16")
    decoded = list(decode_all(text_section(path), 0))
    halves = disassemble_object(path, "+real-true16")
    default = {line.address: line for line in disassemble_object(path) if not line.rejected}
    assert [(disassemble(item, true16=True), item.size) for item in decoded] == [
        (x.text, x.size) for x in halves
    ]
    pairs = [(disassemble(item), default[item.pc].text) for item in decoded if item.pc in default]
    assert [pair for pair in pairs if pair[0] != pair[1] and ".h" not in pair[0]] == []
    assert "half" not in name or any(".h" in line.text for line in halves)


@pytest.mark.sample(3)
@pytest.mark.covering(1)
@pytest.mark.parametrize(
    "cpu", ["gfx1152", "gfx1153", "gfx9-4-generic", "gfx11-generic", "gfx12-generic"]
)
@pytest.mark.parametrize("name", ["double_math", "half_precision", "reduction"])
def test_kernels_for_others_of_a_family_decode_as_objdump_does(
    name: str, cpu: str, tmp_path: Path
) -> None:
    family = instruction_set_of(cpu)
    assert family is not None
    size = 32 if family.has_wave32 else 64
    path = compile_kernel(name, 2, tmp_path, wave_size=size, cpu=cpu)
    code = decode_all(text_section(path), 0, size, family)
    # LLVM's default of gfx11 is registers of 16 bits.
    true16 = "gfx11" in cpu
    features = f"+wavefrontsize{size}" + ",+real-true16" * true16
    with asking_about(cpu):
        lines = disassemble_object(path, features)
    mine = [(item.pc, disassemble(item, true16), item.size) for item in code]
    assert mine == [(line.address, line.text, line.size) for line in lines]
    assert len(mine) > 30
