"""What a program that uses HIP costs on the emulator: `python benchmarks/hip_programs.py [rounds
[side]]`.

Ten kernels (`hip_programs.hip`) are launched by a C++ program under `amdjit run`, and from Python
by the emulator's own launch, with the same arguments, in turns: the factor is what HIP's library
adds.
Then their first launches, with an empty cache and with a full one, and factors of the checks.
Needs clang-22 and HIP's headers, of which HIP_HEADERS names the folder above include/ (/usr).
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from measurement import HERE, ROOT, run_fresh, save, table

from amdjit.abi.launch_shape import LaunchShape
from amdjit.code_object.bundles import read_bundle
from amdjit.devices import find_device
from amdjit.emulator.device import EmulatorDevice
from amdjit.hip_programs import hip_library
from amdjit.hip_programs.runtime_compilation import DEVICE_FUNCTIONS
from amdjit.options import SANITIZER_CHECKS

PROCESSOR = "gfx1201"
BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
Times = dict[str, list[float]]


def build(folder: Path) -> Path:
    """Compile the program; raises CalledProcessError."""
    headers = os.environ.get("HIP_HEADERS", "/usr")
    program = folder / "hip_programs"
    options = [f"--offload-arch={PROCESSOR}", "-D__AMDGCN_WAVEFRONT_SIZE=32", "-nogpulib"]
    options += [
        f"--rocm-path={headers}",
        "-include",
        str(DEVICE_FUNCTIONS),
        "-std=c++17",
        "-O2",
        "-w",
    ]
    source, library = HERE / "hip_programs.hip", hip_library().parent
    command = ["clang++-22", "-x", "hip", "-O2", "-w", str(source), *options]
    subprocess.run([*command, "-L", str(library), "-lamdhip64", "-o", str(program)], check=True)
    return program


def in_program(program: Path, rounds: int, side: int, threads: int, **variables: str) -> Times:
    """Return microseconds of a kernel's first launch, and the least of a later one."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    environment["AMDJIT_EMULATOR_THREADS"] = str(threads)
    command = [sys.executable, "-m", "amdjit", "run", "--", str(program), str(rounds), str(side)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def from_python(program: Path, rounds: int, side: int) -> Times:
    """Return the same of launches from Python."""
    data = program.read_bytes()
    (member,) = read_bundle(data[data.index(BUNDLE) :]).members
    device = find_device(f"emulator:{PROCESSOR}")
    assert isinstance(device, EmulatorDevice)
    device.prepare()
    n = side * side
    values = struct.pack(f"{n}f", *(i * 37 % 1009 / 1009 for i in range(n)))
    addresses = [device.allocate(4 * n) for _ in range(3)]
    for address in addresses:
        device.copy_to_device(address, memoryview(values))
    kernarg = struct.pack("<3Q2i", *addresses, n, side)
    module, times = device.load(member.code_object.data), {}
    for name in kernels_in_order(program):
        function, found = module.function(name), []
        shape = LaunchShape((1 if name == "nothing" else n // 256, 1, 1), (256, 1, 1))
        arguments = bytearray(kernarg.ljust(function.kernel.metadata.kernarg_size, b"\0"))
        for _ in range(rounds + 1):
            start = perf_counter()
            device.launch(function, shape, bytearray(arguments))
            found.append((perf_counter() - start) * 1e6)
        times[name] = [found[0], min(found[1:])]
    return times


def kernels_in_order(program: Path) -> list[str]:
    """Return the names in the order in which the program launches them, which shares caches."""
    text = (HERE / "hip_programs.hip").read_text()
    return [line.partition("(")[0] for line in text.split("__global__ void ")[1:]]


def compare(program: Path, rounds: int, side: int, threads: int) -> list[tuple[object, ...]]:
    """Print and return what the library adds to launches on that many threads."""
    both: list[tuple[Times, Times]] = []
    for _ in range(3):  # in turns, because other work of the machine affects all
        own = run_fresh(
            Path(__file__),
            *("--child", str(program), str(rounds), str(side)),
            AMDJIT_EMULATOR_THREADS=str(threads),
        )
        both.append((in_program(program, rounds, side, threads), own))
    rows = []
    for name in both[0][0]:
        there, here = (min(times[side][name][1] for times in both) for side in (0, 1))
        rows.append((name, round(here), round(there), round(there / here, 2)))
    threads_text = f"{threads} thread{'s' * (threads > 1)}"
    print(table((threads_text, "Python us", "program us", "factor"), rows), end="\n\n")
    return rows


def first_launches(program: Path, side: int) -> list[tuple[object, ...]]:
    """Print and return milliseconds of first launches: nothing translated, and all on disk."""
    with tempfile.TemporaryDirectory() as cache:
        cold, warm = (in_program(program, 1, side, 1, AMDJIT_CACHE_DIR=cache) for _ in range(2))
    rows = [(name, *(round(times[name][0] / 1e3, 1) for times in (cold, warm))) for name in cold]
    print(table(("first launch, ms", "empty cache", "full cache"), rows), end="\n\n")
    return rows


def checks(program: Path, rounds: int, side: int) -> list[tuple[object, ...]]:
    """Print and return how many times as long checked launches take."""
    full = {"AMDJIT_EMULATOR_TIER": "full"}
    plain = in_program(program, rounds, side, 1, **full)
    checked = [
        in_program(program, rounds, side, 1, AMDJIT_SANITIZE=check, **full)
        for check in SANITIZER_CHECKS
    ]
    rows = [
        (name, *(round(times[name][1] / least, 1) for times in checked))
        for name, (_, least) in plain.items()
        if name != "nothing"
    ]
    print(table(("factor of a check", *SANITIZER_CHECKS), rows))
    return rows


def main(rounds: int = 30, side: int = 512) -> None:
    """Measure, print and save."""
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        results: dict[str, Any] = {
            f"launches, {threads} threads": compare(program, rounds, side, threads)
            for threads in (1, 2)
        }
        results["first launches"] = first_launches(program, side)
        results["checks"] = checks(program, rounds, side)
    save("hip_programs", {"rounds": rounds, "side": side, **results})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(from_python(Path(sys.argv[2]), *map(int, sys.argv[3:]))))
    else:
        main(*map(int, sys.argv[1:]))
