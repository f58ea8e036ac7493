"""The examples. Each checks itself against NumPy; the arrays that it compares are also compared bit
by bit with the emulator's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import ModuleType

import numpy as np

from amdjit.examples import (
    article_fragments,
    dlrm,
    flash_attention,
    hgemv,
    i8_gemm,
    jacobi,
    mlp,
    perf_hgemm,
    reduction,
    saxpy,
    simple_hgemm,
    simple_sgemm,
    transpose_shuffle,
    transpose_wmma,
    tuned_gemm,
    user_intrinsic,
    vector_add,
    w4a16_gemm,
    wide_k_int8,
    wmma_gemm,
    wmma_matmul,
    wmma_matmul_f32_input,
)
from amdjit.probe.case import Batch, Case, Group, Results
from amdjit.target import Feature, Target

__all__ = ["EXAMPLES", "batches"]

# Examples, with what they need of a processor.
_NEEDS: dict[ModuleType, Feature | None] = {
    vector_add: None, saxpy: None, reduction: None, user_intrinsic: None, jacobi: None,
    transpose_shuffle: None, hgemv: None, w4a16_gemm: None, dlrm: None,
    simple_sgemm: Feature.MFMA, simple_hgemm: None, perf_hgemm: None, tuned_gemm: None,
    i8_gemm: None, flash_attention: None, article_fragments: Feature.WAVE32,
    **dict.fromkeys(
        (mlp, transpose_wmma, wide_k_int8, wmma_gemm, wmma_matmul, wmma_matmul_f32_input),
        Feature.WMMA_GFX12,
    ),
}  # fmt: skip
_MODULES = {module.__name__.rpartition(".")[2]: module for module in _NEEDS}
EXAMPLES = {name: _NEEDS[module] for name, module in _MODULES.items()}
_SLOW = ("tuned_gemm", "i8_gemm", "flash_attention", "article_fragments", "dlrm")
_QUICK = ("vector_add", "saxpy", "reduction", "transpose_shuffle", "simple_hgemm")


def batches(target: Target) -> tuple[Batch, ...]:
    """Return the batches of the examples. Each example that takes long has a batch of its own."""
    here = [name for name, need in EXAMPLES.items() if need is None or need in target.features]
    others = [name for name in here if name not in _SLOW and name not in _QUICK]
    quick = [name for name in here if name in _QUICK]
    parts = {"quick": quick, "others": others} | {name: [name] for name in here if name in _SLOW}
    return tuple(
        Batch(
            f"examples/{part}", Group.EXAMPLES, seconds=120.0, is_quick=part == "quick",
            cases=partial(_cases, names), expected=4.0 if part == "quick" else 8.0,
        )
        for part, names in parts.items()
    )  # fmt: skip


def _cases(names: list[str], target: Target) -> Iterator[Case]:
    for name in names:
        yield Case(name, name, partial(_run, name), partial(_inputs, name))


def _run(name: str) -> Results:
    """Run an example. Its CheckError says how it differs from NumPy."""
    outcome = _MODULES[name].main()
    reports = outcome if isinstance(outcome, list) else [outcome]
    return tuple(np.atleast_1d(report.result) for report in reports)


def _inputs(name: str, result: int, element: int) -> str:
    return f"element {element} of the comparison {result} of {name}"
