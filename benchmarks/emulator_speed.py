"""How fast the emulator runs kernels, next to NumPy: `python benchmarks/emulator_speed.py
[rounds]`.

Arrays are on the device before, so that a time is that of the launch alone. NumPy's float32 product
runs on one thread in a process of its own. On x86-64 hosts with wider vectors, the aims for AVX2
are measured with code for those features only. Translation is measured in new processes with an
empty cache, and from the cache, in both tiers, in seconds of the processor.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding
import mfma_gemm
import numpy as np
from emulator_kernels import (
    PIXELS,
    mandelbrot,
    mandelbrot_wave_instructions,
    product_arguments,
    straight,
    tiled_product,
)
from matrix_arithmetic import (
    functions_report,
    processors_report,
    report,
    seconds,
    seconds_by_processor,
    seconds_of_functions,
)
from measurement import best, run_fresh, save, summary, table, timed

import amdjit
from amdjit.emulator import device as emulator_device
from amdjit.emulator.host.jit import HostCompiler
from amdjit.emulator.host.native_library import NativeLibrary
from amdjit.emulator.tiers.compilation import KernelCompiler
from amdjit.examples import (
    reduction,
    saxpy,
    transpose_shuffle,
    vector_add,
    wide_k_int8,
    wmma_gemm,
    wmma_matmul,
)

SIZE = 1024
SMALL = 256
NUMBERS = 1 << 20
LAUNCHES = 1000
# The names of what the aims are about.
ADD, GEMM, PRODUCT = "vector add, 16M f32", f"f16 WMMA GEMM, {SIZE}^3", f"f32 LDS GEMM, {SMALL}^3"
PICTURE, LAUNCH = f"mandelbrot, {PIXELS}^2", "a launch, trivial kernel"
# The GEMM whose speed is compared with NumPy's is that of multiply-adds, as NumPy's.
CHAINS = {"AMDJIT_EMULATOR_MATRIX": "fma"}
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1"
    for library in ("OPENBLAS", "MKL", "OMP", "BLIS", "VECLIB_MAXIMUM")
}


def launches() -> dict[str, Callable[[], None]]:
    """Return the launches to time; their arrays are made here, on the device."""
    random = np.random.default_rng(0)
    n, many = 1_000_000, 16 * 1024 * 1024
    x, y, out = (amdjit.to_device(random.random(n, np.float32)) for _ in range(3))
    long, sums = (
        amdjit.to_device(random.random(many, np.float32)),
        amdjit.zeros(reduction.BLOCKS, np.float32),
    )
    a, b = (
        amdjit.to_device(random.random((SIZE, SIZE), np.float32).astype(np.float16))
        for _ in range(2)
    )
    c = amdjit.zeros((SIZE, SIZE), np.float32)
    other, result = (
        amdjit.to_device(random.random(many, np.float32)),
        amdjit.zeros(many, np.float32),
    )
    small, rounds = product_arguments(SMALL), amdjit.zeros(PIXELS * PIXELS, np.int32)
    tiles = SMALL // 16
    groups = (n + 255) // 256
    return {
        "vector add, 1M f32": lambda: vector_add.vector_add[groups, 256](x, y, out),
        "saxpy, 1M f32": lambda: saxpy.saxpy[groups, 256](np.float32(2), x, y, out),
        "LDS reduction, 16M f32": lambda: reduction.sum_per_block[
            reduction.BLOCKS, reduction.THREADS
        ](long, sums),
        ADD: lambda: vector_add.vector_add[many // 256, 256](long, other, result),
        PRODUCT: lambda: tiled_product[(tiles, tiles), (16, 16)](*small),
        PICTURE: lambda: mandelbrot[PIXELS * PIXELS // 256, 256](rounds),
        GEMM: lambda: wmma_gemm.gemm(a, b, c),
    }


def speed_with_avx2(rounds: int) -> dict[str, float] | None:
    """Return the seconds of the launches with an aim for AVX2, in code for that; None on hosts
    without more."""
    features = llvmlite.binding.get_host_cpu_features()
    wider = frozenset(name for name in features if name.startswith(("avx512", "avx10", "amx")))
    if not features.get("avx512f"):
        return None
    emulator_device.HostCompiler = functools.partial(HostCompiler, "haswell", wider)  # type: ignore[misc, assignment]
    chosen = {
        name: launch for name, launch in launches().items() if name in (GEMM, PRODUCT, PICTURE)
    }
    for launch in chosen.values():
        launch()
    return {name: best(launch, rounds) for name, launch in chosen.items()}


def speed(rounds: int) -> dict[str, float]:
    """Return the seconds of each launch, translated before."""
    times = {}
    for name, launch in launches().items():
        launch()
        times[name] = best(launch, rounds)
    times[LAUNCH] = best(launch_often, rounds) / LAUNCHES
    return times


def launch_often() -> None:
    """Launch a kernel that does next to nothing, on arrays of the device, many times."""
    x, y, out = (amdjit.zeros(32, np.float32) for _ in range(3))
    configured = vector_add.vector_add[1, 32]
    for _ in range(LAUNCHES):
        configured(x, y, out)


def numpy_product(rounds: int) -> float:
    """Return the seconds of NumPy's product of two float32 matrices."""
    a, b = (np.random.default_rng(seed).random((SIZE, SIZE), np.float32) for seed in (0, 1))
    return best(lambda: a @ b, rounds)


def translations() -> dict[str, Any]:
    """Return for some kernels: instructions, and the seconds from code object to host code at the
    first launch.

    The last number is the part of these for native functions that no kernel before has needed: a
    machine compiles them once.
    """
    seconds: list[float] = []
    natives: list[float] = []
    vector_add.main(256)  # starts LLVM and the library of helpers
    KernelCompiler.for_launch = timed(KernelCompiler.for_launch, seconds.append, time.process_time)  # type: ignore[method-assign]
    NativeLibrary._object = timed(NativeLibrary._object, natives.append, time.process_time)  # type: ignore[method-assign]
    examples = {
        saxpy: lambda: saxpy.main(256),
        reduction: lambda: reduction.main(256),
        wmma_matmul: wmma_matmul.main,
        wide_k_int8: wide_k_int8.main,
        transpose_shuffle: transpose_shuffle.main,
        wmma_gemm: lambda: wmma_gemm.main(128, 128, 32),
    }
    found = {}
    for module, run in examples.items():
        seconds.clear()
        natives.clear()
        run()
        (kernel,) = (value for value in vars(module).values() if isinstance(value, amdjit.Kernel))
        found[module.__name__.rpartition(".")[2]] = (
            kernel.specialisations[0].resources.instructions,
            seconds[0],
            sum(natives),
        )
    return found


def growth(steps: int) -> tuple[int, float]:
    """Return the instructions of a long kernel, and the seconds of its translation in the tier of
    the environment."""
    vector_add.main(256)
    x, out = amdjit.zeros(32, np.float32), amdjit.zeros(32, np.float32)
    kernel = straight.compile(amdjit.f32[:], amdjit.f32[:], steps)
    module = amdjit.current_device().load(kernel.code_object)
    function = module.function(kernel.name)
    start = time.process_time()
    module.kernels.for_launch(function.kernel, True, 1)
    seconds = time.process_time() - start
    straight[1, 32](x, out, steps)
    return kernel.resources.instructions, seconds


def child(what: str, rounds: int) -> None:
    """Measure one thing in this process, and print it as JSON."""
    kinds: dict[str, Callable[[], Any]] = {
        "speed": lambda: speed(rounds),
        "avx2": lambda: speed_with_avx2(rounds),
        "numpy": lambda: numpy_product(rounds),
        "translations": translations,
        "instructions": mandelbrot_wave_instructions,
        "growth": lambda: growth(rounds),
        "matrix": lambda: seconds(SIZE, rounds),
        "processors": lambda: seconds_by_processor(SIZE, rounds),
        "functions": lambda: seconds_of_functions(NUMBERS, rounds),
        "mfma": lambda: mfma_gemm.seconds(SIZE, rounds),
    }
    print(json.dumps(kinds[what]()))


def main(rounds: int = 10) -> None:
    """Measure, print and save."""
    script = Path(__file__)
    measured = _by_threads(script, rounds)
    product = run_fresh(script, "--child", "numpy", str(rounds), **ONE_THREAD)
    instructions = run_fresh(script, "--child", "instructions", "1")
    narrow = run_fresh(
        script, "--child", "avx2", str(rounds), AMDJIT_EMULATOR_THREADS="1", **CHAINS
    )
    arithmetics = run_fresh(script, "--child", "matrix", str(rounds))
    processors = run_fresh(script, "--child", "processors", str(rounds))
    functions = run_fresh(script, "--child", "functions", str(rounds))
    products = run_fresh(script, "--child", "mfma", str(rounds))
    print(
        _speeds(measured, product),
        _aims(measured, product, instructions),
        _avx2(narrow, product, instructions),
        sep="\n\n",
    )
    print("", report(SIZE, arithmetics), "", processors_report(SIZE, processors), sep="\n")
    print("", functions_report(functions), sep="\n")
    print("", mfma_gemm.report(SIZE, products), sep="\n")
    translated = _translations(script)
    rows = [(name, *values.values()) for name, values in translated.items()]
    columns = next(iter(translated.values()))
    print("", table(("translation, milliseconds", *columns), rows), sep="\n")
    print(
        "\naims: full <= 0.3 ms an instruction, <= 40 ms below 150 instructions; from the cache "
        "<= 5 ms\n"
    )
    print(_straight_code(script))
    results = {
        "seconds": measured,
        "avx2": narrow,
        "numpy": product,
        "translations": translated,
        "matrix": arithmetics,
        "processors": processors,
        "functions": functions,
        "mfma": products,
    }
    save("emulator_speed", {"rounds": rounds, **results})


def _by_threads(script: Path, rounds: int) -> dict[int, dict[str, float]]:
    """Measure the kernels with one thread and with all."""
    return {
        threads: run_fresh(
            script, "--child", "speed", str(rounds), AMDJIT_EMULATOR_THREADS=str(threads), **CHAINS
        )
        for threads in sorted({1, os.cpu_count() or 1})
    }


def _speeds(measured: dict[int, dict[str, float]], product: float) -> str:
    head = ("milliseconds", *(f"{threads} thread(s)" for threads in measured))
    names = list(next(iter(measured.values())))
    rows = [(name, *(round(times[name] * 1e3, 3) for times in measured.values())) for name in names]
    rows.append(
        ("NumPy's f32 product, 1 thread", round(product * 1e3, 2), *[""] * (len(measured) - 1))
    )
    return table(head, rows)


def _straight_code(script: Path) -> str:
    head = (
        "instructions of straight code",
        "full, ms",
        "an instruction",
        "quick, ms",
        "an instruction",
    )
    return table(head, _growth(script))


def _aims(measured: dict[int, dict[str, float]], product: float, instructions: int) -> str:
    one, most = measured[1], measured[max(measured)]
    rows = [
        ("GEMM: speed over NumPy's, 1 thread", round(product / one[GEMM], 2), ">= 0.45"),
        (f"GEMM: {max(measured)} threads over 1", round(one[GEMM] / most[GEMM], 2), ">= 1.6 for 2"),
        ("vector add, ms, 1 thread", round(one[ADD] * 1e3, 1), "<= 40"),
        ("f32 LDS GEMM, ms, 1 thread", round(one[PRODUCT] * 1e3, 1), "<= 9"),
        (
            "mandelbrot, M wave-instructions/s, 1 thread",
            round(instructions / one[PICTURE] / 1e6),
            ">= 1500, AVX2 900",
        ),
        ("a launch, us", round(one[LAUNCH] * 1e6, 1), "<= 60"),
    ]
    return table(("figure", "measured", "aim"), rows)


def _avx2(narrow: dict[str, float] | None, product: float, instructions: int) -> str:
    if narrow is None:
        return "the host has no vectors wider than AVX2's: the figures above are those"
    rows = [
        ("GEMM: speed over NumPy's", round(product / narrow[GEMM], 2), ">= 0.45"),
        ("f32 LDS GEMM, ms", round(narrow[PRODUCT] * 1e3, 1), "<= 9"),
        (
            "mandelbrot, M wave-instructions/s",
            round(instructions / narrow[PICTURE] / 1e6),
            ">= 900",
        ),
    ]
    return table(("with AVX2 only, 1 thread", "measured", "aim"), rows)


def _growth(script: Path) -> list[tuple[float, ...]]:
    """Return how long translation takes by the length of a kernel, in each tier."""
    rows = []
    for length in (50, 200, 800, 3200):
        row: list[float] = []
        for tier in ("full", "quick"):
            with tempfile.TemporaryDirectory() as folder:
                environment = {"AMDJIT_CACHE_DIR": folder, "AMDJIT_EMULATOR_TIER": tier}
                count, seconds = run_fresh(script, "--child", "growth", str(length), **environment)
            row += [round(seconds * 1e3, 1), round(seconds / count * 1e3, 3)]
        rows.append((count, *row))
    return rows


def _translations(script: Path, rounds: int = 3) -> dict[str, dict[str, Any]]:
    """Return for some kernels: instructions, and milliseconds of their translation in each tier.

    known: the quick tier's where another kernel has made the operations, but the kernel itself is
    new.
    """
    found: dict[str, list[Any]] = {kind: [] for kind in ("full", "cached", "quick", "known")}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            full = {"AMDJIT_CACHE_DIR": folder, "AMDJIT_EMULATOR_TIER": "full"}
            found["full"].append(run_fresh(script, "--child", "translations", "1", **full))
            found["cached"].append(run_fresh(script, "--child", "translations", "1", **full))
        with tempfile.TemporaryDirectory() as folder:
            quick = {"AMDJIT_CACHE_DIR": folder, "AMDJIT_EMULATOR_TIER": "quick"}
            found["quick"].append(run_fresh(script, "--child", "translations", "1", **quick))
            _forget_programs(Path(folder))
            found["known"].append(run_fresh(script, "--child", "translations", "1", **quick))
    return {name: _translation(found, name) for name in found["full"][0]}


def _translation(found: dict[str, list[Any]], name: str) -> dict[str, Any]:
    def least(kind: str) -> float:
        return summary([run[name][1] - run[name][2] for run in found[kind]])["best_ms"]

    return {
        "instructions": found["full"][0][name][0],
        "full": least("full"),
        "native functions, once": summary([run[name][2] for run in found["full"]])["best_ms"],
        "full, from the cache": least("cached"),
        "quick": least("quick"),
        "quick, operations known": least("known"),
    }


def _forget_programs(folder: Path) -> None:
    """Remove the cache's threaded programs, and leave their operations: those are host objects, and
    a list."""
    for path in folder.rglob("*.bin"):
        content = path.read_bytes()
        if b'{"aj_op_' in content:
            path.unlink()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]))
    else:
        main(*map(int, sys.argv[1:]))
