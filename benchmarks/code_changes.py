"""Compares the code of every example, and the time to compile it, with another version of amdjit:

    python benchmarks/code_changes.py [saved.json]

Without an argument: compile, print and save to benchmarks/results/code_changes.json. With the file
that another version saved: print the kernels whose machine code differs, and the sums. The kernels
are those that the examples launch and those of `kernels.py`. It counts instructions without hints,
those on the vector unit, registers, spills and lines of IR before the optimiser. The time is the
processor time of this process for the first compilation of each kernel.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import code_quality
import kernels
from measurement import save, table

from amdjit import compiler, examples, f16, f32
from amdjit.compiled_kernel import CompiledKernel

COUNTS = ("instructions", "vector", "vgprs", "sgprs", "spills", "ir_lines")
_INSTRUCTION = re.compile(r"\s+(?:s|v|ds|global|buffer|flat|scratch)_\w+")
_ADDRESS = re.compile(r" at 0x\w+")


def compilations() -> Iterator[tuple[str, CompiledKernel, float]]:
    """Yield the name, the code and the compile time in seconds of every kernel that the examples
    compile, and of those in `kernels.py`."""
    made: list[tuple[str, CompiledKernel, float]] = []
    compile_kernel = compiler.compile_kernel

    def noted(function: Any, *rest: Any) -> CompiledKernel:
        start = time.process_time()
        compiled = compile_kernel(function, *rest)
        seconds = time.process_time() - start
        name = f"{function.__module__.rpartition('.')[2]}.{compiled.signature}"
        made.append((_ADDRESS.sub("", name), compiled, seconds))
        return compiled

    compiler.compile_kernel = noted
    try:
        for kernel, arguments in code_quality.KERNELS.values():
            kernel.compile(*arguments, target=code_quality.TARGET)
        for kernel in (kernels.many_fragments, kernels.many_fragments_by_rows):
            kernel.compile(f16[:, :], f16[:, :], f32[:, :], target=code_quality.TARGET)
        for file in sorted(Path(next(iter(examples.__path__))).glob("*.py")):
            main = getattr(importlib.import_module(f"amdjit.examples.{file.stem}"), "main", None)
            if main is not None:
                main()
    finally:
        compiler.compile_kernel = compile_kernel
    yield from made


def measured(compiled: CompiledKernel, seconds: float) -> dict[str, Any]:
    """Count a kernel's code."""
    lines = [
        line.split(";")[0].strip() for line in compiled.asm.splitlines() if _INSTRUCTION.match(line)
    ]
    counted = [line for line in lines if not line.startswith(code_quality.HINTS)]
    metadata = compiled.linked.kernels[compiled.name].metadata
    return {
        "instructions": len(counted),
        "vector": sum(line.startswith("v_") for line in counted),
        "vgprs": metadata.vgpr_count,
        "sgprs": metadata.sgpr_count,
        "spills": metadata.vgpr_spills + metadata.sgpr_spills,
        "ir_lines": compiled.llvm.count("\n"),
        "milliseconds": round(seconds * 1e3, 1),
        "code": hashlib.sha256("\n".join(lines).encode()).hexdigest(),
    }


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[object, ...]]:
    """Return a row for each kernel in both versions whose machine code differs."""
    rows: list[tuple[object, ...]] = []
    for name in before.keys() & after.keys():
        old, new = before[name], after[name]
        if old["code"] != new["code"]:
            cells = (str(old[k]) if old[k] == new[k] else f"{old[k]} -> {new[k]}" for k in COUNTS)
            rows.append((_short(name), *cells))
    return sorted(rows)


def _short(name: str) -> str:
    return name if len(name) <= 48 else f"{name[:45]}..."


def main(saved: str | None = None) -> None:
    """Compile, print, and save or compare."""
    after = {name: measured(compiled, seconds) for name, compiled, seconds in compilations()}
    if saved is None:
        rows = [
            (_short(name), *(row[k] for k in (*COUNTS, "milliseconds")))
            for name, row in sorted(after.items())
        ]
        print(table(("kernel", *COUNTS, "ms"), rows))
        save("code_changes", {"kernels": after})
        return
    before = json.loads(Path(saved).read_text())["kernels"]
    print(table(("kernel", *COUNTS), changes(before, after)))
    both = before.keys() & after.keys()
    for what in (*COUNTS, "milliseconds"):
        print(
            f"{what}: {sum(before[n][what] for n in both):g} -> "
            f"{sum(after[n][what] for n in both):g}"
        )
    print(f"{len(both)} kernels; only in one version: {sorted(before.keys() ^ after.keys())}")


if __name__ == "__main__":
    os.environ |= {"AMDJIT_CACHE_DIR": "", "AMDJIT_DEVICE": "emulator:gfx1201"}
    main(*sys.argv[1:])
