"""MFMA and SMFMAC builtins become the instructions that clang makes of them, and modifiers that an
instruction has not are refused."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import amdjit
from amdjit.intrinsics import amdgcn
from amdjit.intrinsics.builtins.table import Row, rows
from amdjit.intrinsics.models.mfma_instructions import CDNA

GROUPS = ("mfma", "smfmac")
C_TYPES = {
    "f64": "double", "f32": "float", "f16": "_Float16", "bf16": "__bf16", "i64": "long",
    "i32": "int", "i16": "short",
}  # fmt: skip


def products(target: str) -> list[Row]:
    return [row for row in rows().values() if row.group in GROUPS and target in row.targets]


def c_type(word: str) -> str:
    element, _, count = word.partition("x")
    name = C_TYPES[element]
    return f"{name} __attribute__((ext_vector_type({count})))" if count else name


def c_function(row: Row) -> str:
    """Return a function in C that calls a builtin with modifiers of 0."""
    *words, result = row.signature.replace("->", "").split()
    given = [(n, word) for n, word in enumerate(words) if re.match(r"b?[fi]\d", word)]
    names = dict(given)
    head = "".join(f"typedef {c_type(word)} {row.name}_t{n};\n" for n, word in given)
    head += f"typedef {c_type(result)} {row.name}_r;\n"
    parameters = ", ".join(f"{row.name}_t{n} a{n}" for n, _ in given)
    arguments = ", ".join(f"a{n}" if n in names else "0" for n in range(len(words)))
    call = f"*d = __builtin_amdgcn_{row.name}({arguments});"
    return f"{head}void call_{row.name}({row.name}_r *d, {parameters}) {{ {call} }}\n"


def by_function(assembly: str) -> dict[str, set[str]]:
    """Return the matrix instructions of each function by its name."""
    found: dict[str, set[str]] = {}
    name = ""
    for line in assembly.splitlines():
        label = re.match(r"call_(\w+):", line)
        name = label[1] if label else name
        product = re.match(r"\s+v_(s?mfma\w*)\s", line)
        if product:
            found.setdefault(name, set()).add(f"v_{product[1]}")
    return found


@pytest.mark.sample(2)
@pytest.mark.parametrize("target", CDNA)
def test_builtins_become_the_instructions_that_clang_makes(target: str, tmp_path: Path) -> None:
    if shutil.which("clang-22") is None:
        pytest.skip("clang-22 is not installed")
    source = tmp_path / "products.c"
    source.write_text("".join(map(c_function, products(target))))
    command = ["clang-22", "--target=amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib", "-O1",
               "-S", "-o", "-", str(source)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = by_function(done.stdout)
    expected = {row.name: set(row.mnemonics(target)) for row in products(target)}
    # Without scales, clang takes the instruction that has none.
    unscaled = {
        name: {each.replace("_scale", "") for each in names} if "scale" in name else names
        for name, names in expected.items()
    }
    assert {name: found[name] for name in expected} in (expected, unscaled)


@amdjit.kernel
def single_block(a, b, d, cbsz: amdjit.Const, abid: amdjit.Const, blgp: amdjit.Const):
    i = 4 * amdjit.lane_id()
    c = amdjit.f32x4()
    d.store(i, amdgcn.mfma_f32_16x16x16f16(a.load(i, 4), b.load(i, 4), c, cbsz, abid, blgp))


@amdjit.kernel
def sixteen_blocks(a, b, d, cbsz: amdjit.Const, abid: amdjit.Const, blgp: amdjit.Const):
    i = 4 * amdjit.lane_id()
    c = amdjit.f32x4()
    d.store(i, amdgcn.mfma_f32_4x4x4f16(a.load(i, 4), b.load(i, 4), c, cbsz, abid, blgp))


@amdjit.kernel
def doubles(a, b, d, cbsz: amdjit.Const, abid: amdjit.Const, blgp: amdjit.Const):
    i = amdjit.lane_id()
    c = amdgcn.mfma_f64_4x4x4f64(a[i], b[i], d[i], cbsz, abid, blgp)
    d[i] = c


@amdjit.kernel
def sparse(a, b, d, cbsz: amdjit.Const, abid: amdjit.Const, blgp: amdjit.Const):
    i = amdjit.lane_id()
    wide = amdjit.shuffle(b.load(8 * i, 4), b.load(8 * i + 4, 4), (0, 1, 2, 3, 4, 5, 6, 7))
    c = amdjit.f32x4()
    d.store(4 * i, amdgcn.smfmac_f32_16x16x32_f16(a.load(4 * i, 4), wide, c, blgp, cbsz, abid))


def compiled(kernel: amdjit.Kernel, target: str, *modifiers: int) -> str:
    types = (amdjit.f64, amdjit.f64) if kernel is doubles else (amdjit.f16, amdjit.f32)
    arrays = (types[0][::1], types[0][::1], types[1][::1])
    return kernel.compile(*arrays, *modifiers, target=target).asm_full


@pytest.mark.parametrize(
    ("kernel", "target", "modifiers", "text"),
    [
        (sixteen_blocks, "gfx908", (4, 15, 7), "v_mfma_f32_4x4x4f16 .* cbsz:4 abid:15 blgp:7"),
        (sixteen_blocks, "gfx942", (4, 15, 7),
         "v_mfma_f32_4x4x4_16b_f16 .* cbsz:4 abid:15 blgp:7"),
        (single_block, "gfx90a", (0, 0, 7), "v_mfma_f32_16x16x16f16 .* blgp:7"),
        (doubles, "gfx942", (0, 0, 5), r"v_mfma_f64_4x4x4_4b_f64 .* neg:\[1,0,1\]"),
        (doubles, "gfx90a", (0, 0, 0), r"v_mfma_f64_4x4x4f64 "),
        (sparse, "gfx942", (0, 3, 0), r"v_smfmac_f32_16x16x32_f16 .* abid:3"),
    ],
)  # fmt: skip
def test_modifiers_are_in_the_instruction(
    kernel: amdjit.Kernel, target: str, modifiers: tuple[int, ...], text: str
) -> None:
    assert re.search(text, compiled(kernel, target, *modifiers))


@pytest.mark.parametrize(
    ("kernel", "target", "modifiers", "text"),
    [
        (sixteen_blocks, "gfx908", (5, 0, 0), "0..4"),
        (sixteen_blocks, "gfx942", (0, 0, 8), "0..7"),
        (single_block, "gfx90a", (1, 0, 0), "cbsz"),
        (single_block, "gfx90a", (0, 1, 0), "abid"),
        (doubles, "gfx90a", (0, 0, 1), "blgp"),
        (doubles, "gfx942", (0, 0, 8), "0..7"),
        (sparse, "gfx942", (0, 4, 0), "0..3"),
    ],
)
def test_modifiers_that_an_instruction_has_not_are_refused(
    kernel: amdjit.Kernel, target: str, modifiers: tuple[int, ...], text: str
) -> None:
    with pytest.raises(amdjit.CompileError, match=re.escape(text)):
        compiled(kernel, target, *modifiers)


@pytest.mark.parametrize(
    ("kernel", "target", "remedy"),
    [
        (single_block, "gfx1201", "use amdgcn.wmma_f32_16x16x16_f16"),
        (doubles, "gfx908", "another type in amdgcn.mfma_*"),
        (sparse, "gfx90a", "a dense product: expand A by its index first"),
    ],
)
def test_other_processors_name_what_they_have(
    kernel: amdjit.Kernel, target: str, remedy: str
) -> None:
    with pytest.raises(amdjit.TargetError, match=re.escape(remedy)):
        compiled(kernel, target, 0, 0, 0)
