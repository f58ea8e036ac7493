"""What kernels compute, as digests: `python results.py` prints a JSON object with the same lines on
every machine.

Each entry names what ran; its value is a digest of the machine code, and one of the results.
"""

from __future__ import annotations

import hashlib
import json
import math

import numpy as np

import amdjit
from amdjit import atomic, f16, f32, shared, syncthreads
from amdjit.intrinsics import matrix, wave

COUNT = 2048


@amdjit.kernel
def floats(x, out):
    i = amdjit.grid(1)
    v = x[i]
    out[i, 0] = math.sin(v)
    out[i, 1] = math.exp(v)
    out[i, 2] = math.log(abs(v))
    out[i, 3] = abs(v) ** v
    out[i, 4] = math.sqrt(abs(v))
    out[i, 5] = 1 / v
    out[i, 6] = math.atan2(v, 3 - v)
    out[i, 7] = math.floor(v) + math.fmod(v, 0.7)


@amdjit.kernel
def conversions(x, half, brain, small, whole):
    i = amdjit.grid(1)
    half[i] = f16(x[i])
    brain[i] = amdjit.bf16(x[i])
    small[i] = amdjit.fp8(x[i])
    whole[i] = amdjit.i32(min(max(x[i], -1e6), 1e6) * 1000)


@amdjit.kernel(block=64)
def lanes(x, out, counts):
    box = shared.array(64, f32)
    i = amdjit.grid(1)
    box[amdjit.threadIdx.x] = x[i]
    syncthreads()
    turned = box[63 - amdjit.threadIdx.x]
    out[i] = wave.reduce(turned, "add") + wave.shuffle_xor(turned, 5)
    atomic.add(counts, i % 7, amdjit.i32(turned > 0))


@amdjit.kernel
def product(a, b, d):
    left = matrix.fragment(matrix.matrix_a, 32, 32, 16, f16, matrix.row_major)
    right = matrix.fragment(matrix.matrix_b, 32, 32, 16, f16, matrix.col_major)
    total = matrix.fragment(matrix.accumulator, 32, 32, 16, f32)
    matrix.fill_fragment(total, 0)
    for k in range(0, a.shape[1], 16):
        matrix.load_matrix_sync(left, a, (0, k))
        matrix.load_matrix_sync(right, b, (0, k))
        matrix.mma_sync(total, left, right, total)
    matrix.store_matrix_sync(d, total)


def digest(*parts: bytes | np.ndarray) -> str:
    """Return a short digest of bytes and arrays."""
    found = hashlib.sha256()
    for part in parts:
        found.update(part if isinstance(part, bytes) else np.ascontiguousarray(part).tobytes())
    return found.hexdigest()[:16]


def inputs() -> np.ndarray:
    """Return numbers of every size, with all special ones."""
    random = np.random.default_rng(1)
    # NumPy's powers differ between processors in the last bit; these steps are exact.
    values = np.ldexp(random.random(COUNT) - 0.5, random.integers(-20, 21, COUNT))
    values[:8] = 0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 65504, 448
    return values


def launches(processor: str) -> dict[str, str]:
    """Return the digests of all kernels on a processor. Those of `floats` are long, and take QEMU a
    minute each: one for each family."""
    x = inputs().astype(np.float32)
    found = {}
    if processor in ("gfx1201", "gfx942"):
        single = np.zeros((COUNT, 8), np.float32)
        floats[COUNT // 64, 64](x, single)
        found["f32"] = digest(single)
    if processor == "gfx1201":
        double = np.zeros((COUNT, 8))
        floats[COUNT // 64, 64](inputs(), double)
        found["f64"] = digest(double)
        narrow = [amdjit.empty(COUNT, type) for type in (f16, amdjit.bf16, amdjit.fp8, amdjit.i32)]
        conversions[COUNT // 64, 64](amdjit.to_device(x), *narrow)
        found["conversions"] = digest(*(each.copy_to_host() for each in narrow))
    out, counts = np.zeros(COUNT, np.float32), np.zeros(7, np.int32)
    lanes[COUNT // 64, 64](np.nan_to_num(x), out, counts)
    found["lanes"] = digest(out, counts)
    a, b = np.random.default_rng(2).standard_normal((2, 32, 64)).astype(np.float16)
    d = np.zeros((32, 32), np.float32)
    product[1, 64 if processor.startswith("gfx9") else 32](a, b, d)
    found["matrix"] = digest(d)
    code = product.compile(f16[:, ::1], f16[:, ::1], f32[:, ::1], target=processor)
    found["machine code"] = digest(code.code_object)
    return found


def checks() -> dict[str, str]:
    """Return what the checks say of a race, and of an access outside an array."""

    @amdjit.kernel(block=64)
    def wrong(x, out):
        box = shared.array(64, f32)
        i = amdjit.threadIdx.x
        box[i] = x[i]
        out[i + 1] = box[63 - i]

    with amdjit.sanitize("memory", "race", raises=False) as found:
        wrong[1, 64](np.ones(64, np.float32), np.zeros(64, np.float32))
    return {f"report {n}": report.message for n, report in enumerate(found.reports)}


def main() -> None:
    """Print the digests of several processors, and the reports."""
    everything = {}
    for processor in ("gfx1201", "gfx1100", "gfx942", "gfx90a"):
        with amdjit.use(f"emulator:{processor}"):
            everything[processor] = launches(processor)
    with amdjit.use("emulator:gfx1201"):
        everything["checks"] = checks()
    print(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
