"""What it costs to round as the hardware does: a WMMA GEMM in both arithmetics of the emulator, in
turns; a GEMM of fragments on gfx1201 and on gfx1100, in turns; and kernels of one approximate
instruction, with the chip's bits and computed quickly, in turns.

`python benchmarks/emulator_speed.py` prints the table. On x86-64 hosts with wider vectors the same
is measured with code for AVX2 only.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import time
from collections.abc import Callable

import llvmlite.binding
import numpy as np
from measurement import table

import amdjit
from amdjit.emulator.device import EmulatorDevice
from amdjit.emulator.host.jit import HostCompiler
from amdjit.examples import perf_hgemm, wmma_gemm
from amdjit.intrinsics import amdgcn
from amdjit.options import (
    MATH_ARITHMETICS,
    MATRIX_ARITHMETICS,
    default_target,
    read_environment,
)
from amdjit.target import find_target

# The least ratio of the speed of "silicon" to that of "fma", by data and vectors.
AIMS = {
    ("N(0,1)", "all"): 0.25,
    ("N(0,1)", "AVX2"): 1 / 6,
    ("integers", "all"): 0.6,
    ("integers", "AVX2"): 0.6,
}
# The processors whose emulation is compared, and the largest ratio of the second one's time to the
# first one's.
PROCESSORS, MOST = ("gfx1201", "gfx1100"), 1.3
# The most that approximate instructions with the chip's bits may take of the quick ones' time.
MOST_OF_FUNCTIONS = 1.5
# Approximate instructions, and the numbers that they are given.
FUNCTIONS = {
    "v_rcp_f32": (amdgcn.rcpf, 1, 2),
    "v_rsq_f32": (amdgcn.rsqf, 1, 4),
    "v_sqrt_f32": (amdgcn.sqrtf, 1, 4),
    "v_exp_f32": (amdgcn.exp2f, -20, 20),
    "v_log_f32": (amdgcn.logf, 0.01, 100),
    "v_sin_f32": (amdgcn.sinf, -1, 1),
    "v_cos_f32": (amdgcn.cosf, -1, 1),
}


def seconds(size: int, rounds: int) -> dict[str, dict[str, float]]:
    """Return the processor's seconds of a GEMM by arithmetic, for each data and kind of vectors, on
    one thread."""
    return {
        f"{data}, {vectors}": _compared(host, data, size, rounds)
        for vectors, host in _hosts().items()
        for data in ("N(0,1)", "integers")
    }


def seconds_by_processor(size: int, rounds: int) -> dict[str, dict[str, float]]:
    """Return the processor's seconds of `perf_hgemm`'s kernel by the emulated processor, for each
    data and kind of vectors, on one thread."""
    return {
        f"{data}, {vectors}": _compared_processors(host, data, size, rounds)
        for vectors, host in _hosts().items()
        for data in ("N(0,1)", "integers")
    }


@amdjit.kernel
def _one_each(function: amdjit.Const, x, out):
    i = amdjit.grid(1)
    out[i] = function(x[i])


@amdjit.kernel
def _four_each(function: amdjit.Const, x, out):
    i = 4 * amdjit.grid(1)
    v = x.load(i, 4)
    out.store(i, amdjit.f32x4(function(v[0]), function(v[1]), function(v[2]), function(v[3])))


def seconds_of_functions(count: int, rounds: int) -> dict[str, dict[str, float]]:
    """Return the processor's seconds of a kernel of one instruction by arithmetic, for each
    instruction, numbers of a work-item and kind of vectors, on one thread."""
    settings = read_environment(os.environ)
    found = {}
    for vectors, host in _hosts().items():
        devices = {}
        for math in MATH_ARITHMETICS:
            chosen = dataclasses.replace(settings, emulator_math=math, emulator_tier="full")
            target = default_target(settings)
            devices[math] = EmulatorDevice(target, 1, environment=chosen, compiler=host)
        for name, (function, low, high) in FUNCTIONS.items():
            numbers = np.random.default_rng(0).uniform(low, high, count).astype(np.float32)
            for each, kernel in ((1, _one_each), (4, _four_each)):
                run = functools.partial(kernel[count // each // 256, 256], function)
                found[f"{name}, {each}, {vectors}"] = _in_turns(devices, run, numbers, rounds)
    return found


def _in_turns(
    devices: dict[str, EmulatorDevice],
    run: Callable[..., None],
    numbers: np.ndarray,
    rounds: int,
) -> dict[str, float]:
    arrays = {}
    for name, device in devices.items():
        with amdjit.use(device):
            arrays[name] = amdjit.to_device(numbers), amdjit.zeros(numbers.size, np.float32)
    found = dict.fromkeys(devices, float("inf"))
    for _ in range(rounds + 1):
        for name, device in devices.items():
            with amdjit.use(device):
                start = time.process_time()
                run(*arrays[name])
                found[name] = min(found[name], time.process_time() - start)
    return found


def functions_report(measured: dict[str, dict[str, float]]) -> str:
    """Return the table of approximate instructions."""
    rows = [
        (
            *name.split(", "),
            *(round(times[kind] * 1e3, 2) for kind in MATH_ARITHMETICS),
            round(times["silicon"] / times["fast"], 2),
            f"<= {MOST_OF_FUNCTIONS}",
        )
        for name, times in measured.items()
    ]
    head = ("instruction", "of a work-item", "vectors", "silicon, ms", "fast, ms", "ratio", "aim")
    return table(head, rows)


def _hosts() -> dict[str, HostCompiler]:
    features = llvmlite.binding.get_host_cpu_features()
    wider = frozenset(name for name in features if name.startswith(("avx512", "avx10", "amx")))
    hosts = {"all": HostCompiler()}
    if features.get("avx512f"):
        hosts["AVX2"] = HostCompiler("haswell", wider)
    return hosts


def _values(data: str, size: int) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    shape = (size, size)
    return [
        random.standard_normal(shape) if data == "N(0,1)" else random.integers(-8, 9, shape)
        for _ in range(2)
    ]


def _compared_processors(host: HostCompiler, data: str, size: int, rounds: int) -> dict[str, float]:
    settings = dataclasses.replace(read_environment(os.environ), emulator_tier="full")
    values = _values(data, size)
    tiles, threads = size // perf_hgemm.TILE, 32 * perf_hgemm.WAVES
    launches = {}
    for name in PROCESSORS:
        target = find_target(name)
        assert target is not None
        device = EmulatorDevice(target, 1, environment=settings, compiler=host)
        with amdjit.use(device):
            a, b = (amdjit.to_device(value.astype(np.float16)) for value in values)
            launches[name] = device, a, b, amdjit.zeros((size, size), np.float16)
    found = dict.fromkeys(launches, float("inf"))
    for _ in range(rounds + 1):
        for name, (device, a, b, d) in launches.items():
            with amdjit.use(device):
                start = time.process_time()
                perf_hgemm.perf_hgemm[(tiles, tiles), threads](a, b, d, d, 1, 0)
                found[name] = min(found[name], time.process_time() - start)
    return found


def _compared(host: HostCompiler, data: str, size: int, rounds: int) -> dict[str, float]:
    settings = read_environment(os.environ)
    values, shape = _values(data, size), (size, size)
    launches = {}
    for matrix in MATRIX_ARITHMETICS:
        chosen = dataclasses.replace(settings, emulator_matrix=matrix, emulator_tier="full")
        device = EmulatorDevice(default_target(settings), 1, environment=chosen, compiler=host)
        with amdjit.use(device):
            a, b = (amdjit.to_device(value.astype(np.float16)) for value in values)
            launches[matrix] = device, a, b, amdjit.zeros(shape, np.float32)
    found = dict.fromkeys(launches, float("inf"))
    for _ in range(rounds + 1):
        for matrix, (device, a, b, c) in launches.items():
            with amdjit.use(device):
                start = time.process_time()
                wmma_gemm.gemm(a, b, c)
                found[matrix] = min(found[matrix], time.process_time() - start)
    return found


def report(size: int, measured: dict[str, dict[str, float]]) -> str:
    """Return the table of the figures."""
    rows = []
    for name, times in measured.items():
        data, _, vectors = name.rpartition(", ")
        ratio = round(times["fma"] / times["silicon"], 2)
        rows.append(
            (
                data,
                vectors,
                *(round(times[kind] * 1e3, 1) for kind in MATRIX_ARITHMETICS),
                ratio,
                _aim(data, vectors),
            )
        )
    head = (
        f"f16 WMMA GEMM, {size}^3, 1 thread",
        "vectors",
        "silicon, ms",
        "fma, ms",
        "silicon's speed",
        "aim",
    )
    return table(head, rows)


def processors_report(size: int, measured: dict[str, dict[str, float]]) -> str:
    """Return the table of the time that emulating the second processor takes in comparison with the
    first."""
    first, second = PROCESSORS
    rows = []
    for name, times in measured.items():
        data, _, vectors = name.rpartition(", ")
        # gfx1201's sums of integers have a fast path; gfx1100's are not exact.
        aim = f"<= {MOST}" if data == "N(0,1)" else ""
        shown = (round(times[each] * 1e3, 1) for each in PROCESSORS)
        rows.append((data, vectors, *shown, round(times[second] / times[first], 2), aim))
    head = (
        f"perf_hgemm, {size}^3, 1 thread",
        "vectors",
        *(f"{each}, ms" for each in PROCESSORS),
        "ratio",
        "aim",
    )
    return table(head, rows)


def _aim(data: str, vectors: str) -> str:
    return f">= {AIMS[data, vectors]:.2f}"
