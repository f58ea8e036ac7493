"""Measures how long the import, the first small compilation and the first launch take: `python
benchmarks/import_time.py [rounds]`.

Each round starts five processes, one after another. The first imports NumPy, then amdjit, and
compiles a small kernel without a cache on disk; the second does the same with the code in the
cache; two more import both and launch the kernel on the emulator, as a program does that sets no
device; the last uses only llvmlite and does what that compilation asks of LLVM, from the kernel's
IR. Processor time is that of the process itself, without the process in which LLVM runs. Ratios are
between the least processor times of one run of this script, because other work of the machine
affects these least. `--modules` lists the modules that take longest to load.
"""

from __future__ import annotations

import importlib
import itertools
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measurement import run_fresh, save, summary, table

LABELS = {
    "numpy": "import numpy",
    "amdjit": "import amdjit, after that",
    "first": "first small kernel, nothing in the cache",
    "cached": "first small kernel, code in the cache",
    "launch": "import amdjit and first launch, nothing in the cache",
    "launch_cached": "import amdjit and first launch, code in the cache",
    "floor": "llvmlite alone: load, parse, optimise, emit",
}
AIMS = {"amdjit": 45, "cached": 45, "launch": 250, "launch_cached": 250}
PROGRAM = """import numpy, amdjit
from amdjit.examples import vector_add
vector_add.vector_add.compile(*[amdjit.f32[:]] * 3, target="gfx1201")
"""


def clock() -> tuple[float, float]:
    """Return the elapsed time and the processor time of this process."""
    return time.perf_counter(), time.process_time()


def child() -> None:
    """Import and compile in this process, and print the times as JSON."""
    marks = [clock()]
    importlib.import_module("numpy")
    marks.append(clock())
    amdjit = importlib.import_module("amdjit")
    marks.append(clock())
    kernel = importlib.import_module("amdjit.examples.vector_add").vector_add
    array = amdjit.f32[:]
    marks.append(clock())
    compiled = kernel.compile(array, array, array, target="gfx1201")
    marks.append(clock())
    times = differences(marks)
    print(
        json.dumps(
            {"numpy": times[0], "amdjit": times[1], "compile": times[3], "ir": compiled.llvm}
        )
    )


def launch() -> None:
    """Import and launch in this process, and print the time after NumPy's import as JSON."""
    numpy = importlib.import_module("numpy")
    marks = [clock()]
    importlib.import_module("amdjit")
    kernel = importlib.import_module("amdjit.examples.vector_add").vector_add
    x, out = numpy.ones(100, numpy.float32), numpy.zeros(100, numpy.float32)
    kernel[2, 64](x, x, out)
    marks.append(clock())
    assert (out == 2).all()
    print(json.dumps(differences(marks)[0]))


def floor(ir: str) -> None:
    """Do LLVM's part with llvmlite alone, and print the time as JSON."""
    text = Path(ir).read_text()
    marks = [clock()]
    llvm = importlib.import_module("llvmlite.binding")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple("amdgcn-amd-amdhsa").create_target_machine(
        cpu="gfx1201", opt=3, reloc="pic", codemodel="small"
    )
    module = llvm.parse_assembly(text)
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    machine.emit_object(module)
    marks.append(clock())
    print(json.dumps(differences(marks)[0]))


def differences(marks: list[tuple[float, float]]) -> list[list[float]]:
    """Return the times between marks."""
    return [
        [end - start for start, end in zip(*pair, strict=True)]
        for pair in itertools.pairwise(marks)
    ]


def main(rounds: int = 9) -> None:
    """Measure, print and save."""
    script = Path(__file__)
    times: dict[str, list[list[float]]] = {name: [] for name in LABELS}
    with tempfile.TemporaryDirectory() as folder:
        cache, ir = str(Path(folder, "cache")), Path(folder, "kernel.ll")
        # The first runs write the bytecode, the cache and the IR.
        ir.write_text(run_fresh(script, "--child", AMDJIT_CACHE_DIR=cache)["ir"])
        run_fresh(script, "--launch", AMDJIT_CACHE_DIR=cache)
        for _ in range(rounds):
            found = run_fresh(script, "--child", AMDJIT_CACHE_DIR="")
            cached = run_fresh(script, "--child", AMDJIT_CACHE_DIR=cache)
            times["numpy"] += [found["numpy"], cached["numpy"]]
            times["amdjit"] += [found["amdjit"], cached["amdjit"]]
            times["first"].append(found["compile"])
            times["cached"].append(cached["compile"])
            for name, kept in (("launch", ""), ("launch_cached", cache)):
                variables = {"AMDJIT_CACHE_DIR": kept, "AMDJIT_DEVICE": ""}
                times[name].append(run_fresh(script, "--launch", **variables))
            times["floor"].append(run_fresh(script, "--floor", str(ir)))
    totals: dict[str, dict[str, Any]] = {
        name: summary([wall for wall, _ in found])
        | {"processor_ms": summary([own for _, own in found])["best_ms"]}
        for name, found in times.items()
    }
    for total in totals.values():
        for base in ("numpy", "floor"):
            total[f"of_{base}"] = round(total["processor_ms"] / totals[base]["processor_ms"], 2)
    head = ("milliseconds", "best", "median", "processor", "of NumPy's", "of the floor", "aim")
    rows = [(LABELS[n], *total.values(), AIMS.get(n, "")) for n, total in totals.items()]
    print(table(head, rows))
    save("import_time", {"rounds": rounds, "totals": totals})


def modules(most: int = 25) -> None:
    """Print the modules that take longest to load after NumPy, each without the modules that it
    imports."""
    command = [sys.executable, "-X", "importtime", "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = re.findall(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)\n", done.stderr)
    names = [name for _, name in lines]
    own = [(int(time), name) for time, name in lines[names.index("numpy") + 1 :]]
    print(f"{len(own)} modules, {sum(time for time, _ in own) / 1e3:.0f} ms")
    print(table(("microseconds", "module"), sorted(own, reverse=True)[:most]))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--child"]:
            child()
        case ["--launch"]:
            launch()
        case ["--floor", file]:
            floor(file)
        case ["--modules"]:
            modules()
        case chosen:
            main(*map(int, chosen))
