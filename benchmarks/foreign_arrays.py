"""Measures what arrays of other libraries cost the host as arguments, in comparison with NumPy's
and amdjit's own.

    python benchmarks/foreign_arrays.py

The figures are microseconds for each array until a launch can use it; nothing is launched, and no
contents are copied. The tensors are in the host's memory; those on a GPU are read by `memory`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import torch
from measurement import best, save, table

import amdjit
from amdjit.runtime import dlpack, foreign_arrays, torch_tensors

CALLS = 20_000


class WithDlpack:
    """An array of a library that amdjit does not know, which only has DLPack."""

    def __init__(self, array: torch.Tensor) -> None:
        self.__dlpack__ = array.__dlpack__
        self.__dlpack_device__ = array.__dlpack_device__


def microseconds(action: Callable[[], object]) -> float:
    def rounds() -> None:
        for _ in range(CALLS):
            action()

    return round(best(rounds, 5) / CALLS * 1e6, 2)


def main() -> None:
    """Measure, print and save."""
    with amdjit.use("emulator:gfx1201"):
        own = amdjit.zeros(64)
    host, tensor = np.zeros(64, np.float32), torch.zeros(64)
    half, other = tensor.bfloat16(), WithDlpack(tensor)
    rows = {
        "is a DeviceArray foreign?": lambda: foreign_arrays.is_foreign(own),
        "is a NumPy array foreign?": lambda: foreign_arrays.is_foreign(host),
        "is a float foreign?": lambda: foreign_arrays.is_foreign(2.5),
        "is a tensor foreign?": lambda: foreign_arrays.is_foreign(tensor),
        "tensor, on the host": lambda: foreign_arrays.host_array(tensor),
        "tensor of bf16, on the host": lambda: foreign_arrays.host_array(half),
        "tensor, as on a GPU": lambda: torch_tensors.memory(tensor),
        "any array, by DLPack": lambda: foreign_arrays.host_array(other),
        "DeviceArray to DLPack": lambda: own.__dlpack__(),
        "DeviceArray to PyTorch": lambda: torch.from_dlpack(own),
        "NumPy's own from_dlpack": lambda: np.from_dlpack(tensor),
        "DLPack capsule, read": lambda: dlpack.consume(tensor.__dlpack__()),
    }
    results = {name: microseconds(action) for name, action in rows.items()}
    print(table(["", "us"], results.items()))
    save("foreign_arrays", {"microseconds": results})


if __name__ == "__main__":
    sys.exit(main())
