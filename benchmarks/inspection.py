"""Measures how long reading the facts of a kernel takes: `python benchmarks/inspection.py
[instructions ...]`.

Kernels of straight code and kernels of loops and branches are compiled; `inspect_object` and each
of its parts are timed on their bytes in this process, as the best of several rounds, and once in a
new process, which loads the decoder first. The aims are at most 1 ms per instruction at about 100
instructions, and at most 0.1 ms at about 5,000.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from compile_scaling import source
from measurement import best, run_fresh, save, table, timed

import amdjit
from amdjit import f32
from amdjit.inspection import reading

SIZES = (100, 500, 1000, 2000, 5000)
ROUNDS = 5
# The functions that take most of the time, by the module that calls them.
PARTS: tuple[tuple[Any, str], ...] = (
    (reading, "read_machine_code"),
    (reading, "read_debug_names"),
    (reading, "live_registers"),
    (reading, "find_waits"),
    (reading, "disassemble"),
    (reading, "block_facts"),
    (reading, "line_facts"),
)


# A loop that lanes leave one by one, with a branch in it.
_LOOP = """
    while y > {n}.5:
        y = y - a[i + k] * {n}.25
        if y < x0 * {n}.0:
            x0 = out[i + {n}]
        k = (k * 5 + {n}) % 1021
    out[i + {n}] = y * x0
"""


def looping_source(lines: int) -> str:
    """Return a module with a kernel `long` of loops, of about that many lines."""
    head = source(0).rsplit("\n", 1)[0]
    loops = (_LOOP.format(n=n).lstrip("\n") for n in range(1, lines // 6 + 1))
    return f"{head}\n    y = a[i + 7]\n" + "".join(loops)


SHAPES = {"straight": source, "loops": looping_source}
# The approximate number of instructions that a line becomes.
_DENSITY = {"straight": 2, "loops": 6}


def compiled(shape: str, size: int, folder: Path, target: str | None = None) -> bytes:
    """Return the code object of a kernel of about that many instructions. target: its processor,
    None for that of the current device."""
    file = folder / f"{shape}_{size}.py"
    file.write_text(SHAPES[shape](max(size // _DENSITY[shape], 20)))
    specification = importlib.util.spec_from_file_location(file.stem, file)
    if specification is None or specification.loader is None:
        raise RuntimeError(f"cannot import {file}")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    kernel: amdjit.CompiledKernel = module.long.compile(f32[:], f32[:], target=target)
    return kernel.code_object


def measure(code: bytes) -> dict[str, Any]:
    """Return the instructions of a kernel, the seconds that reading them takes, and the seconds of
    each part in one more round."""
    inspection = amdjit.inspect_object(code)
    seconds = best(partial(amdjit.inspect_object, code), ROUNDS)
    parts = {name: _seconds_of(owner, name, code) for owner, name in PARTS}
    count = len(inspection.instructions)
    return {
        "instructions": count,
        "blocks": len(inspection.blocks),
        "seconds": seconds,
        "ms_an_instruction": seconds * 1e3 / count,
        "json_seconds": best(inspection.to_json, 1),
        "parts": parts,
    }


def first_in_a_process(file: Path) -> float:
    """Return the seconds of the first `inspect_object` of a process that has imported amdjit."""
    return float(min(run_fresh(Path(__file__), "--first", str(file)) for _ in range(3)))


def _first(file: Path) -> None:
    code = file.read_bytes()
    start = perf_counter()
    amdjit.inspect_object(code)
    print(perf_counter() - start)


def _seconds_of(owner: Any, name: str, code: bytes) -> float:
    times: list[float] = []
    function = getattr(owner, name)
    setattr(owner, name, timed(function, times.append))
    try:
        amdjit.inspect_object(code)
    finally:
        setattr(owner, name, function)
    return sum(times)


def measure_cold_and_warm(shape: str, size: int, folder: Path) -> dict[str, Any]:
    """Return what `measure` returns, and the seconds of the first inspection in a process."""
    code = compiled(shape, size, folder)
    file = folder / "code.co"
    file.write_bytes(code)
    return {"shape": shape, **measure(code), "first_seconds": first_in_a_process(file)}


def main() -> None:
    """Measure, print and save."""
    if sys.argv[1:2] == ["--first"]:
        _first(Path(sys.argv[2]))
        return
    os.environ.setdefault("AMDJIT_DEVICE", "emulator:gfx1201")
    sizes = [int(argument) for argument in sys.argv[1:]] or list(SIZES)
    with tempfile.TemporaryDirectory() as folder:
        results = [
            measure_cold_and_warm(shape, size, Path(folder)) for shape in SHAPES for size in sizes
        ]
    parts = [name for _, name in PARTS]
    head = (
        "code",
        "instructions",
        "blocks",
        "ms",
        "ms an instruction",
        "first ms",
        "to_json ms",
        *parts,
    )
    rows = [
        (
            result["shape"],
            result["instructions"],
            result["blocks"],
            round(result["seconds"] * 1e3, 1),
            round(result["ms_an_instruction"], 4),
            round(result["first_seconds"] * 1e3, 1),
            round(result["json_seconds"] * 1e3, 1),
            *(round(seconds * 1e3, 1) for seconds in result["parts"].values()),
        )
        for result in results
    ]
    print(table(head, rows))
    save("inspection", {"inspection": results})


if __name__ == "__main__":
    main()
