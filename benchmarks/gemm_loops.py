"""Compares the main loops of matrix products with clang's, by kinds of instructions: `python
benchmarks/gemm_loops.py`.

The loop is the code between the first and the last of the branches that go back around the WMMAs,
in the linked code object. Its instructions are counted for each step along k, that is for 32 WMMA
of f16 and 64 of i8 per wave (a tile of 128 by 128 by 32 or 64, 4 waves of 64 by 64). An instruction
that is sometimes skipped counts like the others. Hints to the processor (s_delay_alu, s_clause) do
not count. In the other columns, `bits` is the narrowest access to memory, and VGPRs and spills are
those of the whole kernel. If Triton is installed, its kernels are counted, too. Counts are not
times.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from code_quality import CLANG, HINTS, TARGET
from measurement import HERE, save, table

from amdjit import f16, f32, i8, i32
from amdjit.backend import find_linker, link
from amdjit.code_object import CodeObject
from amdjit.examples import i8_gemm, perf_hgemm
from amdjit.isa.decode import decode_all
from amdjit.isa.instruction import Instruction
from amdjit.options import Environment
from amdjit.types import Tuple

H, B = f16[:, :], i8[:, :]
# The loops: the WMMAs of one step of a wave, the C file, and the function that compiles amdjit's
# kernel.
LOOPS: dict[str, tuple[int, str, Callable[[], bytes]]] = {
    "f16 128x128x32": (
        32,
        "perf_hgemm",
        lambda: perf_hgemm.perf_hgemm.compile(H, H, H, H, f32, f32, target=TARGET).code_object,
    ),
    "i8 128x128x64": (
        64,
        "i8_gemm",
        lambda: (
            i8_gemm.i8_gemm.compile(
                B, B, B, B, i8_gemm.relu, Tuple((i32,)), target=TARGET
            ).code_object
        ),
    ),
}
KINDS = ("WMMA", "other VALU", "SALU", "LDS", "VMEM", "waits", "barriers")


@dataclass(frozen=True)
class Loop:
    """The instructions of a loop for each step, by kind."""

    mix: dict[str, float]
    bits: int
    vgprs: int
    spills: int

    def cells(self) -> tuple[object, ...]:
        """Return the cells of a table's row."""
        return *(f"{self.mix[kind]:g}" for kind in KINDS), self.bits, self.vgprs, self.spills


def measured(code_object: bytes, wmmas: int) -> Loop:
    """Find the loop with WMMAs of the only kernel of a linked code object, and count it."""
    read = CodeObject.read(code_object)
    (kernel,) = read.kernels.values()
    body = main_loop(list(decode_all(read.code(kernel), kernel.entry_address)))
    kinds = [kind_of(name) for instruction in body for name in names(instruction)]
    steps = kinds.count("WMMA") / wmmas
    widths = [
        int(i.mnemonic.rpartition("_b")[2]) for i in body if kind_of(i.mnemonic) in ("LDS", "VMEM")
    ]
    metadata = kernel.metadata
    spills = metadata.vgpr_spills + metadata.sgpr_spills
    return Loop(
        {kind: kinds.count(kind) / steps for kind in KINDS},
        min(widths),
        metadata.vgpr_count,
        spills,
    )


def main_loop(code: Sequence[Instruction]) -> list[Instruction]:
    """Return the instructions of the largest loop that holds WMMAs."""
    loops = []
    for instruction in code:
        if instruction.mnemonic.startswith(("s_branch", "s_cbranch")):
            # RDNA4 ISA, "S_BRANCH": counted in dwords from the next instruction on.
            target = instruction.pc + instruction.size + 4 * instruction.immediates["simm16"]
            inside = [other for other in code if target <= other.pc <= instruction.pc]
            if any(kind_of(other.mnemonic) == "WMMA" for other in inside):
                loops.append(inside)
    return max(loops, key=len)


def names(instruction: Instruction) -> Iterator[str]:
    """Yield an instruction's mnemonics, two for a VOPD pair."""
    yield instruction.mnemonic
    if instruction.pair is not None:
        yield instruction.pair.mnemonic


def kind_of(name: str) -> str:
    """Return the unit that an instruction is for; "" for hints."""
    starts = {
        "": HINTS,
        "WMMA": ("v_wmma",),
        "other VALU": ("v_",),
        "waits": ("s_wait",),
        # Triton's barriers also flush caches, which is not necessary for LDS.
        "barriers": ("s_barrier_wait", "global_inv", "global_wb"),
        "LDS": ("ds_",),
        "VMEM": ("global_", "buffer_", "flat_", "scratch_"),
        "SALU": ("s_",),
    }
    found = next(kind for kind, prefixes in starts.items() if name.startswith(prefixes))
    return "" if name.startswith("s_barrier_signal") else found


def clang_code(clang: str, source: Path, folder: Path) -> bytes:
    """Return the code object of a kernel in C."""
    relocatable = folder / f"{source.stem}.o"
    command = [clang, *CLANG, f"-mcpu={TARGET}", "-c", str(source), "-o", str(relocatable)]
    subprocess.run(command, check=True, timeout=120)
    return link(relocatable.read_bytes(), find_linker(Environment()))


def triton_codes() -> dict[str, Callable[[], bytes]]:
    """Return functions that compile Triton's kernels for the loops; none if Triton is not
    installed."""
    if importlib.util.find_spec("triton") is None:
        return {}
    triton_gemm = importlib.import_module("triton_gemm")
    return {name: lambda name=name: triton_gemm.code_object(name, TARGET) for name in LOOPS}  # type: ignore[misc]


def main() -> None:
    """Compile, count, print and save."""
    clang, triton = shutil.which("clang-22"), triton_codes()
    rows: list[tuple[object, ...]] = []
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (wmmas, source, ours) in LOOPS.items():
            makers: dict[str, Callable[[], bytes]] = {"amdjit": ours}
            if clang is not None:
                file = HERE / "c" / f"{source}.c"
                makers["clang"] = lambda file=file: clang_code(clang, file, Path(folder))  # type: ignore[misc]
            if name in triton:
                makers["Triton"] = triton[name]
            found = {by: measured(make(), wmmas) for by, make in makers.items()}
            results[name] = {by: vars(loop) for by, loop in found.items()}
            rows += [
                (name if by == "amdjit" else "", by, *loop.cells()) for by, loop in found.items()
            ]
    print(table(("loop", "by", *KINDS, "bits", "VGPRs", "spills"), rows))
    for by, is_there in (("clang-22", clang is not None), ("Triton", bool(triton))):
        if not is_there:
            print(f"\n{by}: not installed")
    save("gemm_loops", {"target": TARGET, "triton": bool(triton), "loops": results})


if __name__ == "__main__":
    main()
