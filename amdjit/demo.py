"""`amdjit demo`: run the WMMA examples on a device and print what was checked and what they use."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import ModuleType

from amdjit.api import Kernel
from amdjit.code_object import Resources
from amdjit.devices import use
from amdjit.diagnostics import AmdjitError
from amdjit.examples import (
    article_fragments,
    dlrm,
    flash_attention,
    hgemv,
    i8_gemm,
    mlp,
    perf_hgemm,
    simple_hgemm,
    transpose_wmma,
    w4a16_gemm,
    wide_k_int8,
    wmma_gemm,
    wmma_matmul,
    wmma_matmul_f32_input,
)
from amdjit.examples.report import CheckError, Report
from amdjit.runtime.device import Device

__all__ = ["EXAMPLES", "run_demo"]

EXAMPLES = (
    wmma_matmul,
    wmma_matmul_f32_input,
    mlp,
    wide_k_int8,
    transpose_wmma,
    wmma_gemm,
    article_fragments,
    simple_hgemm,
    perf_hgemm,
    i8_gemm,
    hgemv,
    dlrm,
    flash_attention,
    w4a16_gemm,
)


def run_demo(device: Device, examples: Sequence[ModuleType] = EXAMPLES) -> int:
    """Run examples on a device and print their reports; return how many failed."""
    print(f"device: {device.name} ({device.description})\n")
    start = time.perf_counter()
    with use(device):
        outcomes = [_run(example) for example in examples]
    failed = outcomes.count(False)
    verdict = (
        f"{failed} of {len(outcomes)} examples FAILED"
        if failed
        else f"all {len(outcomes)} examples are right"
    )
    print(f"{verdict} ({time.perf_counter() - start:.1f} s)")
    return failed


def _run(example: ModuleType) -> bool:
    """Run one example and print its reports; return whether its results were right."""
    main: Callable[[], Report | list[Report]] = example.main
    name = example.__name__.rpartition(".")[2]
    start = time.perf_counter()
    try:
        outcome = main()
    except (AmdjitError, CheckError) as error:
        print(f"{name}\n  FAILED: {error}\n")
        return False
    print(f"{name} ({time.perf_counter() - start:.2f} s, compilation included)")
    for report in outcome if isinstance(outcome, list) else [outcome]:
        limit = "exact" if report.tolerance == 0 else f"at most {report.tolerance:.1e} is right"
        print(
            f"  checked:   {report.checked}\n  error:     largest {report.largest_error:.3g} "
            f"({limit})"
        )
    for kernel in vars(example).values():
        if isinstance(kernel, Kernel):
            for compiled in kernel.specialisations:
                print(f"  resources: {describe_resources(compiled.resources)}")
    print()
    return True


def describe_resources(resources: Resources) -> str:
    """Return the resources that a kernel uses, in one line."""
    spills = resources.vgpr_spills + resources.sgpr_spills
    parts = [
        f"{resources.instructions} instructions",
        f"{resources.vgprs} VGPRs",
        f"{resources.sgprs} SGPRs",
        f"{resources.lds_bytes} bytes of LDS",
        f"{spills} spills" if spills else "no spills",
        f"{resources.waves_per_simd} waves a SIMD",
    ]
    limited = "" if resources.limiter == "none" else f" (limited by {resources.limiter})"
    return ", ".join(parts) + limited
