"""Each mistake of a kernel becomes one exact KernelFault; the process and all other memory stay
intact."""

from __future__ import annotations

import numpy as np
import pytest

from amdjit.abi.launch_shape import LaunchShape
from amdjit.diagnostics.errors import BackendError, KernelFault, LaunchError
from tests.emulator.building import assemble, compile_source, device, emulate
from tests.emulator.required_tools import needs_tools

pytestmark = [
    needs_tools,
    pytest.mark.usefixtures("each_tier"),
]

HEAD = '#include "common.h"\n'


def fault_of(
    source: str, kernel: str, grid: int, block: int, args: list[object], **options: object
) -> KernelFault:
    with pytest.raises(KernelFault) as caught:
        emulate(compile_source(HEAD + source), kernel, grid, block, args, **options)
    return caught.value


def test_a_store_past_the_end_names_line_thread_address_and_allocation() -> None:
    source = "KERNEL fill(GLOBAL int *x) {\n  u32 i = BLOCK * 64 + LANE;\n  x[i] = 7;\n}\n"
    x = np.zeros(100, np.int32)
    fault = fault_of(source, "fill", 2, 64, [x])
    assert fault.kind == "out-of-bounds"
    assert fault.kernel == "fill"
    assert (fault.source_file or "").endswith("kernel.c")
    assert fault.source_line == 4
    assert fault.block == (1, 0, 0)
    assert fault.thread == (36, 0, 0)
    assert fault.lane == 4
    assert fault.nearest_allocation is not None
    assert fault.nearest_allocation.nbytes == 400
    assert fault.nearest_allocation.distance == 0
    assert fault.address == fault.nearest_allocation.address + 400
    assert fault.instruction is not None
    assert fault.instruction.startswith("global_store_b32")
    assert "pc 0x" in fault.instruction
    assert "store of 4 bytes" in str(fault)
    assert "0 bytes past the end of the allocation of 400 bytes" in str(fault)


# Far away is no round number: the other array may lie a power of two from this one.
@pytest.mark.sample(3)
@pytest.mark.covering(1)
@pytest.mark.parametrize("index", [-1, 100, (1 << 20) + 12345, -(1 << 28) - 12345, 1 << 29])
@pytest.mark.parametrize("width", ["u8", "u16", "u32", "u64", "f32x8"])
def test_wild_loads_and_stores_of_any_width_are_refused(width: str, index: int) -> None:
    source = (
        f"KERNEL wild(GLOBAL {width} *x, GLOBAL {width} *y, int k) {{ x[LANE] = y[LANE * 2 + "
        f"k]; }}\n"
    )
    bystander = np.arange(4096)
    before = bystander.copy()
    arrays = [np.zeros(8 * 100, np.uint32), np.zeros(1, np.uint8), np.int32(index)]
    fault = fault_of(source, "wild", 1, 32, arrays, alone=True)
    assert fault.kind == "out-of-bounds"
    assert "load" in str(fault)
    arrays = [np.zeros(1, np.uint8), np.zeros(8 * 200, np.uint32), np.int32(0)]
    assert "store" in str(fault_of(source, "wild", 1, 32, arrays, alone=True))
    np.testing.assert_array_equal(bystander, before)


def test_what_the_lanes_in_bounds_stored_stays_and_the_next_launch_works() -> None:
    source = "KERNEL fill(GLOBAL int *x) { x[LANE] = 7; }\n"
    code = compile_source(HEAD + source)
    memory = device()
    address = memory.allocate(40)
    memory.copy_to_device(address, memoryview(np.zeros(10, np.int32)).cast("B"))
    function = memory.load(code).function("fill")
    with pytest.raises(KernelFault):
        memory.launch(
            function, LaunchShape((1, 1, 1), (32, 1, 1)), bytearray(address.to_bytes(8, "little"))
        )
    stored = np.zeros(10, np.int32)
    memory.copy_to_host(memoryview(stored).cast("B"), address)
    memory.free(address)
    np.testing.assert_array_equal(stored, np.full(10, 7))
    x = np.zeros(32, np.int32)
    emulate(code, "fill", 1, 32, [x])
    np.testing.assert_array_equal(x, np.full(32, 7))


def test_kernel_arguments_and_code_cannot_be_written() -> None:
    body = "s_mov_b32 s4, 5\n v_mov_b32 v1, 1\n v_mov_b32 v0, 0\n global_store_b32 v0, v1, s[0:1]\n"
    with pytest.raises(KernelFault, match="store of 4 bytes"):
        emulate(assemble(body), "kernel", 1, 32, [np.zeros(4, np.uint8), np.zeros(4, np.uint8)])


def test_scalar_loads_are_checked() -> None:
    body = "s_load_b64 s[2:3], s[0:1], 0x0\n s_load_b32 s4, s[2:3], 0x100000\n"
    with pytest.raises(KernelFault, match="load of 4 bytes") as caught:
        emulate(
            assemble(body),
            "kernel",
            1,
            32,
            [np.zeros(4, np.uint8), np.zeros(4, np.uint8)],
            alone=True,
        )
    assert (caught.value.instruction or "").startswith("s_load_b32 s4, s[2:3], 0x100000")


def test_lds_accesses_past_the_groups_lds_are_refused() -> None:
    source = (
        "SHARED u32 box[16];\nKERNEL over(GLOBAL u32 *x) { box[LANE] = LANE; barrier(); "
        "x[LANE] = box[LANE ^ 1]; }\n"
    )
    fault = fault_of(source, "over", 1, 32, [np.zeros(32, np.uint32)])
    assert fault.kind == "out-of-bounds"
    assert fault.thread == (16, 0, 0)
    assert fault.address == 64
    assert fault.source_line == 3
    assert "LDS" in str(fault)


def test_an_endless_loop_stops_at_the_time_limit_with_its_line() -> None:
    source = "KERNEL spin(volatile GLOBAL u32 *x) {\n  while (*x == 0)\n    ;\n}\n"
    memory = device()
    old, memory.time_limit = memory.time_limit, 0.2
    try:
        fault = fault_of(source, "spin", 3, 32, [np.zeros(1, np.uint32)])
    finally:
        memory.time_limit = old
    assert fault.kind == "time-limit"
    assert fault.source_line == 3


def test_waves_meet_at_the_workgroups_barrier_wherever_they_are() -> None:
    """RDNA4 ISA, "Barriers": the barrier counts waves; those that have ended are not waited for."""
    source = """KERNEL split(GLOBAL u32 *x) {
  if (LANE < 32) { x[LANE] = 1; __builtin_amdgcn_s_barrier(); x[LANE] = 2; }
  else {
    x[LANE] = 3; __builtin_amdgcn_s_barrier(); x[LANE] = 4;
    __builtin_amdgcn_s_barrier(); x[LANE] = 5;
  }
}
"""
    out = np.zeros(64, np.uint32)
    emulate(compile_source(HEAD + source), "split", 1, 64, [out])
    assert (out[:32] == 2).all()
    assert (out[32:] == 5).all()


def test_a_trap_is_a_fault() -> None:
    fault = fault_of(
        "KERNEL stop(GLOBAL u32 *x) { if (x[0] == 0) __builtin_trap(); }",
        "stop",
        1,
        32,
        [np.zeros(1, "I")],
    )
    assert fault.kind == "trap"


@pytest.mark.parametrize(
    "body",
    [
        "s_sethalt 1",
        "s_mov_b64 exec, -1\n s_cbranch_execz .Lx\n.long 0xFFFFFFFF\n.Lx:",
        "v_interp_p10_f32 v0, v1, v2, v3",
        "s_alloc_vgpr 8",
    ],
)
def test_what_has_no_translation_is_refused_with_its_pc(body: str) -> None:
    with pytest.raises(KernelFault) as caught:
        emulate(assemble(body), "kernel", 1, 32, [np.zeros(4, np.uint8), np.zeros(4, np.uint8)])
    assert caught.value.kind == "unsupported-instruction"
    assert "pc 0x" in str(caught.value)


def test_a_branch_out_of_the_code_is_refused() -> None:
    with pytest.raises(KernelFault) as caught:
        emulate(
            assemble("s_branch 0x4000"),
            "kernel",
            1,
            32,
            [np.zeros(4, np.uint8), np.zeros(4, np.uint8)],
        )
    assert caught.value.kind == "wild-branch"


def test_an_indirect_branch_to_nowhere_is_a_fault() -> None:
    body = "s_mov_b64 s[2:3], 0\n s_setpc_b64 s[2:3]"
    with pytest.raises(KernelFault) as caught:
        emulate(assemble(body), "kernel", 1, 32, [np.zeros(4, np.uint8), np.zeros(4, np.uint8)])
    assert caught.value.kind == "wild-branch"


def test_misaligned_atomics_are_refused() -> None:
    source = (
        "KERNEL odd(GLOBAL u8 *x) { __atomic_fetch_add((GLOBAL u32 *)(x + 1), 1, "
        "__ATOMIC_RELAXED); }"
    )
    assert fault_of(source, "odd", 1, 32, [np.zeros(64, np.uint8)]).kind == "misaligned"


def test_launches_that_cannot_start_are_refused_before_anything_runs() -> None:
    code = compile_source(
        HEAD
        + "SHARED u32 box[16000];\nKERNEL k(GLOBAL u32 *x) { box[LANE] = 1; x[LANE] = box[0]; }"
    )
    x = np.zeros(32, np.uint32)
    with pytest.raises(LaunchError, match="work-items"):
        emulate(code, "k", 1, 2048, [x])
    with pytest.raises(LaunchError, match="LDS"):
        emulate(code, "k", 1, 32, [x], dynamic_lds=5000)
    with pytest.raises(LaunchError, match="takes 1 arguments"):
        emulate(code, "k", 1, 32, [x, x])
    with pytest.raises(LaunchError, match="at least 1"):
        emulate(code, "k", 0, 32, [x])
    with pytest.raises(BackendError, match="no kernel"):
        emulate(code, "other", 1, 32, [x])


def test_a_fault_in_the_upper_half_of_a_wave64_names_its_lane() -> None:
    code = compile_source(
        HEAD + "KERNEL k(GLOBAL u32 *x) { x[LANE < 70 ? LANE : 1 << 20] = 1; }",
        "-O3",
        "-mwavefrontsize64",
    )
    x = np.zeros(128, np.uint32)
    with pytest.raises(KernelFault) as caught:
        emulate(code, "k", 1, 128, [x], alone=True)
    assert (caught.value.lane, caught.value.thread) == (6, (70, 0, 0))
    code = compile_source(
        HEAD + "KERNEL k(GLOBAL u32 *x) { x[LANE < 40 ? LANE : 1 << 20] = 1; }",
        "-O3",
        "-mwavefrontsize64",
    )
    with pytest.raises(KernelFault) as caught:
        emulate(code, "k", 1, 64, [x], alone=True)
    assert (caught.value.lane, caught.value.thread) == (40, (40, 0, 0))


def test_broken_code_objects_and_other_processors_are_refused() -> None:
    with pytest.raises(BackendError):
        device().load(b"\x7fELF nonsense")
    other = compile_source(
        HEAD + "KERNEL k(GLOBAL u32 *x) { x[LANE] = 1; }", "-O3", "-mcpu=gfx1200"
    )
    with pytest.raises(BackendError, match="gfx1200"):
        device().load(other)
