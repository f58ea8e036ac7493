"""What the example kernels compile to, next to clang on the same algorithms in C: `python
benchmarks/code_quality.py [gfx1201|gfx1100|gfx942]`.

Both columns are counted in the linked code object. Hints to the processor (s_delay_alu, s_clause)
are not counted as instructions here. Without clang-22 there is no second column. Counts are not
times. Kernels that use gfx12's matrix instructions by name are left out on other processors.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kernels
from measurement import HERE, save, table

from amdjit import f16, f32, i8, i32, u8
from amdjit.backend import find_linker, link
from amdjit.code_object import CodeObject, read_resources
from amdjit.examples import (
    mlp,
    reduction,
    saxpy,
    transpose_shuffle,
    transpose_wmma,
    user_intrinsic,
    vector_add,
    wide_k_int8,
    wmma_gemm,
    wmma_matmul,
    wmma_matmul_f32_input,
)
from amdjit.isa.decode import decode_all
from amdjit.isa.instruction_set import instruction_set_of
from amdjit.options import Environment, named_target
from amdjit.types import Type

TARGET = "gfx1201"
X, H, B, W, M = f32[:], f16[:], i8[:], i32[:], f32[:, :]
KERNELS: dict[str, tuple[Any, tuple[Type | bool, ...]]] = {
    "vector_add": (vector_add.vector_add, (X, X, X)),
    "saxpy": (saxpy.saxpy, (f32, X, X, X)),
    "reduction": (reduction.sum_per_block, (X, X)),
    "user_intrinsic": (user_intrinsic.median_filter, (X, X)),
    "wmma_matmul": (wmma_matmul.wmma_matmul, (H, H, H)),
    "wmma_matmul_f32_input": (wmma_matmul_f32_input.wmma_matmul_f32_input, (X, X, X)),
    "mlp": (mlp.mlp, (H, H, X, False)),
    "wide_k_int8": (wide_k_int8.wide_k_int8, (B, B, W)),
    "transpose_shuffle": (transpose_shuffle.transpose_shuffle, (H, H)),
    "transpose_wmma": (transpose_wmma.transpose_wmma, (H, H)),
    "wmma_gemm": (wmma_gemm.wmma_gemm, (f16[:, :], f16[:, :], f32[:, :])),
    "saxpy_256": (kernels.saxpy_256, (f32, X, X, X)),
    "saxpy_4": (kernels.saxpy_4, (f32, X, X, X)),
    "tree_reduction": (kernels.tree_reduction, (X, X)),
    "wave_reduction": (kernels.wave_reduction, (X, X)),
    "row_softmax": (kernels.row_softmax, (M, M)),
    "stencil": (kernels.stencil, (M, M)),
    "histogram": (kernels.histogram, (u8[:], W)),
    "naive_gemm": (kernels.naive_gemm, (f16[:, :], f16[:, :], M)),
    "tiled_matmul": (kernels.tiled_matmul, (M, M, M)),
}
OF_GFX12 = frozenset(
    (
        "wmma_matmul",
        "wmma_matmul_f32_input",
        "mlp",
        "wide_k_int8",
        "transpose_wmma",
        "wmma_gemm",
    )
)
# Swaps of lanes within rows need instructions that CDNA lacks.
OF_RDNA = frozenset(("row_softmax", "wave_reduction"))
INVALIDATIONS = ("global_inv", "buffer_gl0_inv", "buffer_gl1_inv", "buffer_inv", "buffer_wbl2")
HINTS = ("s_delay_alu", "s_clause", "s_nop", "s_code_end")
CLANG = (
    "-x",
    "c",
    "-std=c11",
    "--target=amdgcn-amd-amdhsa",
    "-O3",
    "-nogpulib",
    "-ffreestanding",
)


@dataclass(frozen=True)
class Quality:
    """The contents of one kernel's machine code."""

    instructions: int
    vgprs: int
    sgprs: int
    spills: int
    waves_per_simd: int
    wmma: int
    waits: int
    """Instructions that wait for memory."""
    invalidations: int
    """Invalidations of caches, at barriers and fences."""
    accesses: dict[str, int]
    """How often memory is accessed, by bits per lane."""

    def cells(self) -> tuple[object, ...]:
        """Return the cells of a table's row."""
        accesses = " ".join(f"{count}x{name}" for name, count in sorted(self.accesses.items()))
        return (
            self.instructions,
            self.vgprs,
            self.sgprs,
            self.spills,
            self.waves_per_simd,
            self.wmma,
            self.waits,
            self.invalidations,
            accesses,
        )


def quality(code_object: bytes, target: str = TARGET) -> Quality:
    """Count the only kernel of a linked code object."""
    read = CodeObject.read(code_object)
    (kernel,) = read.kernels.values()
    family = instruction_set_of(target)
    assert family is not None
    code, start = read.code(kernel), kernel.entry_address
    instructions = list(decode_all(code, start, instruction_set=family))
    mnemonics = Counter(i.mnemonic for i in instructions)
    counted = {name: count for name, count in mnemonics.items() if not name.startswith(HINTS)}
    resources = read_resources(read, kernel, named_target(target), sum(counted.values()))
    accesses: Counter[str] = Counter()
    for name, count in Counter(i.opcode.traits.operation for i in instructions).items():
        width = re.match(
            r"(global|ds)_(load|store)_(?:2addr_(?:stride64_)?)?(?:d16_(?:hi_)?)?[biu](\d+)", name
        )
        if width:
            accesses[f"{width[1]}.{width[2]}.{width[3]}"] += count
    return Quality(
        resources.instructions,
        resources.vgprs,
        sgprs=resources.sgprs,
        spills=resources.vgpr_spills + resources.sgpr_spills,
        waves_per_simd=resources.waves_per_simd,
        wmma=sum(n for name, n in counted.items() if name.startswith(("v_wmma", "v_mfma"))),
        waits=sum(count for name, count in counted.items() if re.match("s_wait_?.*cnt", name)),
        invalidations=sum(counted.get(name, 0) for name in INVALIDATIONS),
        accesses=dict(accesses),
    )


def clang_quality(clang: str, source: Path, folder: Path, target: str) -> Quality:
    """Compile a kernel in C and count it."""
    relocatable = folder / f"{source.stem}.o"
    command = [clang, *CLANG, f"-mcpu={target}", "-c", str(source), "-o", str(relocatable)]
    subprocess.run(command, check=True, timeout=120)
    return quality(link(relocatable.read_bytes(), find_linker(Environment())), target)


def left_out(target: str) -> frozenset[str]:
    """Return the kernels that are left out on a processor."""
    if target == TARGET:
        return frozenset()
    return OF_GFX12 | OF_RDNA if target.startswith("gfx9") else OF_GFX12


def main(target: str = TARGET) -> None:
    """Compile, count, print and save."""
    clang = shutil.which("clang-22")
    rows, results = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (kernel, arguments) in KERNELS.items():
            if name in left_out(target):
                continue
            ours = quality(kernel.compile(*arguments, target=target).code_object, target)
            results[name] = {"amdjit": vars(ours)}
            rows.append((name, "amdjit", *ours.cells()))
            if clang is not None:
                theirs = clang_quality(clang, HERE / "c" / f"{name}.c", Path(folder), target)
                results[name]["clang"] = vars(theirs)
                rows.append(("", "clang", *theirs.cells()))
    head = (
        "kernel",
        "by",
        "instructions",
        "VGPRs",
        "SGPRs",
        "spills",
        "waves",
        "WMMA",
        "waits",
        "inv",
        "memory accesses by bits",
    )
    print(table(head, rows))
    if clang is None:
        print("\nclang-22 is not installed: there is nothing to compare with")
    name = "code_quality" if target == TARGET else f"code_quality_{target}"
    save(name, {"target": target, "kernels": results})


if __name__ == "__main__":
    main(*sys.argv[1:2])
