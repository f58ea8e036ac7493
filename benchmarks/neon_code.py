"""What the emulator's host code becomes on AArch64: `python benchmarks/neon_code.py`.

The IR that the emulator makes for kernels on hosts without AVX-512 is compiled for x86-64 with AVX2
and for AArch64 with NEON, whose vectors have 128 bits. Nothing runs on AArch64; instructions are
counted, with those of the native functions that a kernel calls:

- vector: those that compute on whole vectors (`.4s`, `.2d`; ymm, xmm registers in packed forms);
- lane moves: those that take a vector apart or put it together, which is what code does that the
  processor has no vector instruction for;
- calls: of functions of C's library, which would be called for single elements;
- width: mean bits that a vector instruction computes on.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import llvmlite.binding as llvm
import numpy as np
from emulator_kernels import mandelbrot, tiled_product
from kernels import row_softmax, saxpy_4, wave_reduction
from measurement import save, table

import amdjit
from amdjit.emulator import EmulatorDevice
from amdjit.emulator.host.builder import NATIVE_PREFIX
from amdjit.emulator.host.jit import HostCompiler, HostObject
from amdjit.examples.wmma_matmul import wmma_matmul
from amdjit.options import read_environment
from amdjit.target import find_target

AVX2 = "haswell"


@dataclass(frozen=True)
class Host:
    """A processor to compile for.

    triple, cpu: LLVM's. vector: matches an instruction on whole vectors, whose register or
    arrangement is group 1. bits: of those. lane_move: matches what takes vectors apart. call:
    matches a call, whose function is group 1.
    """

    triple: str
    cpu: str
    vector: re.Pattern[str]
    bits: dict[str, int]
    lane_move: re.Pattern[str]
    call: re.Pattern[str]


HOSTS_TO_COUNT = {
    "AVX2": Host(
        "x86_64-unknown-linux-gnu", AVX2,
        re.compile(r"^\tv?\w*(?:p[sd]|[bwdq]|i128)\b.*%([xy])mm"),
        {"x": 128, "y": 256},
        re.compile(r"^\tv?(?:pextr|pinsr|extractps|insertps|movd|movq|vextract|vinsert)"),
        re.compile(r"^\tcallq?\t(?!\*)(\w+)"),
    ),
    "NEON": Host(
        "aarch64-unknown-linux-gnu", "neoverse-n1",
        re.compile(r"^\t(?!mov|ins|umov|smov)\w+\t.*v\d+\.(4s|2d|8h|16b|2s|4h|8b)"),
        {"4s": 128, "2d": 128, "8h": 128, "16b": 128, "2s": 64, "4h": 64, "8b": 64},
        re.compile(r"^\t(?:mov|ins|[us]mov)\t.*v\d+\.[bhsd]\[\d+\]|^\tfmov\t[wxsd]\d+, [wxsd]\d"),
        re.compile(r"^\tbl\t(\w+)"),
    ),
}  # fmt: skip


class Recorder(HostCompiler):
    """Compiles for this machine, without AVX-512, and keeps the texts."""

    def __init__(self) -> None:
        features = dict(llvm.get_host_cpu_features())
        wide = frozenset(name for name in features if name.startswith("avx512"))
        super().__init__(AVX2 if features.get("avx2") else None, wide)
        self.texts: list[str] = []

    def compile(self, text: str) -> HostObject:
        """Keep the text of a kernel, or of a native function."""
        self.texts.append(text)
        return super().compile(text)


@dataclass(frozen=True)
class Counted:
    """Counts of the code of a kernel and of the native functions that it calls."""

    instructions: int
    vector: int
    vector_bits: int
    lane_moves: int
    calls: Counter[str]

    @property
    def width(self) -> float:
        """Mean bits of a vector instruction."""
        return self.vector_bits / max(self.vector, 1)


def assembly(text: str, host: Host) -> str:
    """Return a text's assembly for a processor, of which the text's attributes then speak."""
    target = llvm.Target.from_triple(host.triple)
    machine = target.create_target_machine(cpu=host.cpu, opt=1, reloc="pic", codemodel="small")
    cpu = f'"target-cpu"="{host.cpu}"'
    text = re.sub(r'"target-cpu"="[^"]*" "target-features"="[^"]*"', cpu, text)
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = host.triple, str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(0))
    manager = llvm.create_new_function_pass_manager()
    manager.add_sroa_pass()
    manager.add_dead_code_elimination_pass()
    for function in module.functions:
        if not function.is_declaration:
            manager.run(function, builder)
    return str(machine.emit_assembly(module))


def count(lines: list[str], host: Host) -> Counted:
    """Count the instructions of some assembly."""
    code = [line for line in lines if re.match(r"\t[a-z]", line)]
    moves = [line for line in code if host.lane_move.match(line)]
    vectors = [match for line in code if (match := host.vector.match(line)) and line not in moves]
    called = Counter(match[1] for line in code if (match := host.call.match(line)))
    outside = Counter({n: c for n, c in called.items() if not n.startswith(NATIVE_PREFIX)})
    bits = sum(host.bits[match[1]] for match in vectors)
    return Counted(len(code), len(vectors), bits, len(moves), outside)


def launches() -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the kernels, each with a launch."""
    x, out = np.ones((2, 4096), np.float32)
    matrix = np.ones((64, 64), np.float32)
    half = np.ones(4096, np.float16)
    rows = np.ones((4, 256), np.float32)
    numbers = np.zeros(4096, np.int32)
    yield "saxpy", lambda: saxpy_4[4, 256](np.float32(2), x, x, out)
    yield "wave reduction", lambda: wave_reduction[16, 256](x, out)
    yield "softmax", lambda: row_softmax[4, 32](rows, rows.copy())
    yield "LDS product", lambda: tiled_product[(4, 4), (16, 16)](matrix, matrix, matrix.copy())
    yield "Mandelbrot", lambda: mandelbrot[16, 256](numbers)
    yield "WMMA product", lambda: wmma_matmul[1, 32](half[:256], half[:256], half[:256].copy())


def rows() -> Iterator[tuple[str, dict[str, Counted]]]:
    """Yield what each kernel becomes on each processor."""
    target = find_target("gfx1201")
    assert target is not None
    settings = replace(read_environment(os.environ), cache_dir=None, emulator_tier="full")
    for name, launch in launches():
        recorder = Recorder()
        device = EmulatorDevice(target, 1, 60.0, settings, recorder)
        with amdjit.use(device):
            launch()
        counted = {}
        for kind, host in HOSTS_TO_COUNT.items():
            lines = [line for text in recorder.texts for line in assembly(text, host).splitlines()]
            counted[kind] = count(lines, host)
        yield name, counted


def main() -> None:
    """Print a row for each kernel and processor."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    results = dict(rows())
    lines = [
        (
            name,
            kind,
            found.instructions,
            found.vector,
            round(found.width),
            found.lane_moves,
            ", ".join(found.calls) or "none",
        )
        for name, counted in results.items()
        for kind, found in counted.items()
    ]
    head = ("kernel", "code", "instructions", "vector", "width", "lane moves", "calls")
    print(table(head, lines))
    save(
        "neon_code",
        {
            name: {kind: vars(found) for kind, found in counted.items()}
            for name, counted in results.items()
        },
    )


if __name__ == "__main__":
    main()
