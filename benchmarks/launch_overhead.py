"""Measures what a launch costs on the host, in comparison with a raw hip-python call: `python
benchmarks/launch_overhead.py [launches]`.

The GPU is the tests' stand-in libamdhip64.so: hip-python and the C functions below it are called as
with a GPU, and the work itself is done after measuring. A time is therefore that of amdjit, of
hip-python and of a C function that stores the arguments; on a GPU, HIP's own time is added. The
times are percentiles of single launches in microseconds, not only the best ones. The last lines are
whole launches of an empty kernel on the emulator.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import numpy as np
from measurement import ROOT, save, table

STANDIN = ROOT / "tests" / "runtime" / "standin_hip"
sys.path.insert(0, str(STANDIN))

import standin  # noqa: E402  (its folder is on the path now)

import amdjit  # noqa: E402
from amdjit.runtime.device import Device  # noqa: E402

PERCENTILES = (10, 50, 90, 99)
LAUNCHES = 5000
# After so many launches the benchmark waits, so that the queue of the stand-in stays short.
BATCH = 100


@amdjit.kernel
def three(x, y, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = x[i] + y[i]


@amdjit.kernel
def twelve(a, b, c, d, e, f, g, h, k, m, n, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] + b[i] + c[i] + d[i] + e[i] + f[i] + g[i] + h[i] + k[i] + m[i] + n[i]


@amdjit.kernel
def scaled(a, b, x, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = a * x[i] + b


@amdjit.kernel
def printing(x, out):
    i = amdjit.grid(1)
    if x[i] > 1e30:
        print(i)
    out[i] = x[i]


@amdjit.kernel
def nothing(x, y, out):
    pass


def cases() -> dict[str, Callable[[], object]]:
    """Return the cases to measure, by name, with arrays on the current device."""
    x = [amdjit.zeros(1024) for _ in range(12)]
    stream = amdjit.Stream()
    a, b, integer = np.float32(2), np.float32(3), np.int32(5)
    sizes = iter(range(1, 10**9))
    bound, bound_12 = three[4, 256].bind(x[0], x[1], x[2]), twelve[4, 256].bind(*x)
    bound_stream = three[4, 256, stream].bind(x[0], x[1], x[2])
    launcher = three[4, 256]
    return {
        "3 arrays": lambda: three[4, 256](x[0], x[1], x[2]),
        "3 arrays, launcher kept": lambda: launcher(x[0], x[1], x[2]),
        "3 arrays, bound": bound,
        "3 arrays, grid of 2 axes": lambda: three[(4, 1), (256, 1)](x[0], x[1], x[2]),
        "3 arrays, in a stream": lambda: three[4, 256, stream](x[0], x[1], x[2]),
        "3 arrays, bound, in a stream": bound_stream,
        "3 arrays, forall": lambda: three.forall(1024)(x[0], x[1], x[2]),
        "3 arrays, another grid each time": lambda: three[next(sizes) % 5000 + 1, 256](
            x[0], x[1], x[2]
        ),
        "2 arrays, one given twice": lambda: three[4, 256](x[0], x[1], x[1]),
        "12 arrays": lambda: twelve[4, 256](*x),
        "12 arrays, bound": bound_12,
        "2 arrays, 2 NumPy scalars": lambda: scaled[4, 256](a, b, x[0], x[1]),
        "2 arrays, 2 Python numbers": lambda: scaled[4, 256](2.0, 3, x[0], x[1]),
        "2 arrays, 2 scalars, types in turn": lambda: (
            scaled[4, 256](a, b, x[0], x[1]),
            scaled[4, 256](integer, 3.0, x[0], x[1]),
        ),
        "2 arrays, kernel that may print": lambda: printing[4, 256](x[0], x[1]),
    }


def raw_call(device: Any) -> Callable[[], object]:
    """Return a call of hipModuleLaunchKernel through hip-python with ready arguments."""
    prepared = three.compile(amdjit.f32[:], amdjit.f32[:], amdjit.f32[:])
    function = device.load(prepared.code_object).function("three")
    array = amdjit.zeros(1024)
    kernarg = (ctypes.c_uint64 * 5)(*[array.address] * 3, 0, 0)
    size = ctypes.c_uint64(36)
    extra = (ctypes.c_uint64 * 5)(1, ctypes.addressof(kernarg), 2, ctypes.addressof(size), 3)
    launch, address = device.hip.hipModuleLaunchKernel, ctypes.addressof(extra)
    native = function.native

    def call() -> object:
        assert extra is not None
        return launch(native, 4, 1, 1, 256, 1, 1, 0, None, None, address)

    return call


def distribution(
    action: Callable[[], object], synchronize: Callable[[], object], launches: int
) -> dict[str, float]:
    """Return percentiles of the times of single calls, in microseconds."""
    for _ in range(20):
        action()
    synchronize()
    times = []
    for _ in range(max(launches // BATCH, 1)):
        for _ in range(BATCH):
            start = perf_counter_ns()
            action()
            times.append(perf_counter_ns() - start)
        synchronize()
    times.sort()
    return {f"p{p}": times[len(times) * p // 100] / 1e3 for p in PERCENTILES}


def measure(device: Device, launches: int) -> dict[str, dict[str, float]]:
    """Return the distributions of all cases on a device."""
    wait = device.synchronize
    with amdjit.use(device):
        found = {"(nothing: the clock)": distribution(lambda: None, wait, launches)}
        if device.name.startswith("hip"):
            found["(hipModuleLaunchKernel, hip-python)"] = distribution(
                raw_call(device), wait, launches
            )
        for name, action in cases().items():
            found[name] = distribution(action, wait, launches)
    return found


def measure_emulated(launches: int) -> dict[str, dict[str, float]]:
    """Return the distributions of an empty kernel's launches on the emulator."""
    with amdjit.use("emulator:gfx1201") as device:
        x = [amdjit.zeros(1024) for _ in range(3)]
        bound = nothing[1, 32].bind(*x)
        return {
            "3 arrays": distribution(lambda: nothing[1, 32](*x), device.synchronize, launches),
            "3 arrays, bound": distribution(bound, device.synchronize, launches),
        }


def in_child(what: str, launches: int, **settings: str) -> dict[str, dict[str, float]]:
    """Return what a separate process measures, with the stand-in's settings."""
    environment = standin.environment(**settings)
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        [sys.executable, __file__, what, str(launches)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, dict[str, float]] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure with one GPU, with two, and on the emulator; print tables and save the figures."""
    launches = int(sys.argv[1]) if len(sys.argv) > 1 else LAUNCHES
    results = {
        "one GPU": in_child("hip", launches),
        "two GPUs, the second": in_child("hip", launches, devices="2"),
        "emulator": in_child("emulator", launches),
    }
    for title, found in results.items():
        head = [f"{title}, us", *(f"p{p}" for p in PERCENTILES)]
        rows = [[name, *(f"{us:.2f}" for us in times.values())] for name, times in found.items()]
        print(f"\n{table(head, rows)}")
    save("launch_overhead", results)


if __name__ == "__main__":
    if sys.argv[1:2] == ["hip"]:
        gpus = [device for device in amdjit.devices() if device.name.startswith("hip")]
        print(json.dumps(measure(gpus[-1], int(sys.argv[2]))))
    elif sys.argv[1:2] == ["emulator"]:
        print(json.dumps(measure_emulated(int(sys.argv[2]))))
    else:
        main()
