"""Products of f32 and f64 on CDNA: rocWMMA's samples simple_sgemm, simple_dgemm and simple_sgemv.

They are the kernels of simple_hgemm and hgemv, whose types are those of the arrays. Only CDNA
multiplies these types; on other devices the example runs on gfx942's emulator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import amdjit
from amdjit.examples import hgemv, simple_hgemm
from amdjit.examples.report import Report, compare_relative
from amdjit.intrinsics.models.mfma_instructions import CDNA

NAMES = {np.float32: "sgemm", np.float64: "dgemm"}


def gemm(dtype: Any, m: int, n: int, k: int) -> Report:
    """Multiply the sample's matrices with alpha = beta = 2.1."""
    d, expected = simple_hgemm.multiply(dtype, m, n, k)
    text = f"{NAMES[dtype]}: 2.1 A B + 2.1 C of {m}x{n}x{k} against NumPy"
    return compare_relative("simple_sgemm", text, d, expected, 10)


def gemv(m: int, k: int) -> Report:
    """Multiply a matrix and a vector of f32."""
    result, expected = hgemv.multiply(np.float32, m, k)
    text = f"sgemv: 2.1 A x + 2.1 y of {m}x{k} against NumPy"
    return compare_relative("simple_sgemm", text, result, expected, 10)


def main() -> list[Report]:
    """Run the samples' sizes; gfx908 has no products of f64."""
    here = amdjit.current_device()
    with amdjit.use(here.name if here.target.name in CDNA else "emulator:gfx942"):
        reports = [gemm(np.float32, 256, 256, 256), gemv(256, 256), gemv(77, 45)]
        if amdjit.current_device().target.name != "gfx908":
            reports.append(gemm(np.float64, 256, 256, 256))
    return reports


if __name__ == "__main__":
    print(*main(), sep="\n")
