"""SGPRs that are spilled are not lost between the iterations of a loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import i32, static_range
from amdjit.backend import emit_assembly
from amdjit.backend.llvm import loses_spilled_scalars, may_spill_scalars
from amdjit.compiled_kernel import CompiledKernel
from amdjit.types import Array, Layout

ITEMS = np.array([3, 7, 1, 4], np.int32)
LOOPS, LANES = 12, 64
LANES_DEFINED = " : SGPR spill to VGPR lane\n"


def left(p, a):  # type: ignore[no-untyped-def]
    v = 10
    for i in range(3):
        v += a[i]
        if p > 3:
            return i
        else:
            continue
    else:
        return 50


def many_loops(shift: int, loops: int = LOOPS, **options: Any) -> Any:
    """Return a kernel that needs more SGPRs than there are. shift: changes which spilled ones share
    a VGPR."""

    @amdjit.kernel(warnings=False, **options)
    def kernel(out, a):  # type: ignore[no-untyped-def]
        p = i32(amdjit.threadIdx.x)
        for k in static_range(shift):
            if p > k:
                out[0, p] = k
        for k in static_range(loops):
            out[k, p] = left(p, a)

    return kernel


def check(kernel: Any, processor: str) -> None:
    """Run a kernel of many loops."""
    out = np.zeros((LOOPS, LANES), np.int32)
    with amdjit.use(f"emulator:{processor}"):
        kernel[1, LANES](out, ITEMS)
    expected = [left(p, ITEMS) for p in range(LANES)]
    assert [k for k in range(LOOPS) if out[k].tolist() != expected] == []


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("processor", "wave_size", "shift"),
    [
        ("gfx942", 64, 2),
        ("gfx942", 64, 5),
        ("gfx1100", 32, 9),
        ("gfx1100", 64, 5),
        ("gfx1201", 32, 9),
        ("gfx1201", 64, 2),
    ],
)
def test_masks_of_the_lanes_that_left_reach_the_next_iteration(
    processor: str, wave_size: int, shift: int
) -> None:
    check(many_loops(shift, opt_level=0, wave_size=wave_size), processor)


@pytest.mark.exhaustive
@pytest.mark.parametrize("shift", range(12))
@pytest.mark.parametrize("processor", ["gfx908", "gfx90a", "gfx950", "gfx1150", "gfx1200"])
def test_processors_of_all_families(processor: str, shift: int) -> None:
    check(many_loops(shift, opt_level=0), processor)


def calling(shift: int) -> Any:
    """Return a kernel that calls a function with many loops."""
    inlined = amdjit.device_function(inline=True)(left)

    @amdjit.device_function(inline=False)
    def loops(out, a, p):  # type: ignore[no-untyped-def]
        for k in static_range(shift):
            if p > k:
                out[0, p] = k
        for k in static_range(LOOPS):
            out[k, p] = inlined(p, a)

    @amdjit.kernel(opt_level=0, warnings=False)
    def kernel(out, a):  # type: ignore[no-untyped-def]
        loops(out, a, i32(amdjit.threadIdx.x))

    return kernel


@pytest.mark.sample(1)
@pytest.mark.parametrize(("processor", "shift"), [("gfx942", 10), ("gfx1201", 6)])
def test_functions_that_are_called_do_not_lose_them(processor: str, shift: int) -> None:
    check(calling(shift), processor)


def assembly(kernel: Any) -> tuple[CompiledKernel, str]:
    """Compile a kernel, and print its code as LLVM does."""
    array = Array(i32, 1, Layout.CONTIGUOUS)
    compiled = kernel.compile(Array(i32, 2, Layout.CONTIGUOUS), array, target="gfx1201")
    text = emit_assembly(compiled.optimized_llvm, compiled.target, compiled.options)
    return compiled, text


def test_memory_is_used_where_lanes_would_lose_them() -> None:
    """The object is the one whose text is shown, and the next kernel spills to lanes again."""
    compiled, text = assembly(many_loops(9, opt_level=0))
    assert compiled.resources.sgpr_spills > 100
    assert LANES_DEFINED not in text
    assert f".private_segment_fixed_size: {compiled.resources.scratch_bytes}\n" in text
    compiled, text = assembly(many_loops(40, loops=0, opt_level=0))
    assert compiled.resources.sgpr_spills > 10
    assert LANES_DEFINED in text


@pytest.mark.parametrize(
    ("block", "lost"),
    [
        ("; %bb.0:\n", False),
        (".LBB0_2:   ; =>This Inner Loop Header: Depth=1\n", True),
        (".LBB0_2:   ; =>This Loop Header: Depth=1\n    ;     Child Loop BB0_3 Depth 2\n", True),
        ("; %bb.7:\n           ;   in Loop: Header=BB0_2 Depth=1\n", True),
        (".LBB0_2:   ; =>This Inner Loop Header: Depth=1\n v_nop\n.LBB0_3:  ; %exit\n", False),
    ],
)
def test_definitions_in_loops_lose_lanes(block: str, lost: bool) -> None:
    assert (
        loses_spilled_scalars(f"{block}  s_nop 0\n  ; implicit-def: $vgpr9{LANES_DEFINED}") == lost
    )


def test_kernels_without_spills_are_emitted_once() -> None:
    kernel = "define protected amdgpu_kernel void @k() #0 {"
    assert not may_spill_scalars(kernel, b"\xb1.sgpr_spill_count\x00\xb2")
    assert may_spill_scalars(kernel, b"\xb1.sgpr_spill_count\xcd\x02\x25")
    assert may_spill_scalars(kernel, b"\xb1.sgpr_spill_count\x0a")
    assert not may_spill_scalars(kernel, "    .sgpr_spill_count: 0\n")
    assert may_spill_scalars(kernel, "    .sgpr_spill_count: 12\n")
    assert may_spill_scalars(f"{kernel}\ndefine internal i32 @f() #1 {{", b"")
