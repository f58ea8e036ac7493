"""The memory, scratch, arguments and time that a launch or an allocation may take from the host."""

from __future__ import annotations

import numpy as np
import pytest

from amdjit.code_object import CodeObject
from amdjit.diagnostics.errors import BackendError, KernelFault, LaunchError
from amdjit.emulator import EmulatorDevice, run
from amdjit.options import Environment
from amdjit.target import find_target
from tests.emulator.building import CPU, assemble, compile_kernel, compile_source
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

MIB = 1 << 20


def small_device(**options: object) -> EmulatorDevice:
    target = find_target(CPU)
    assert target is not None
    return EmulatorDevice(target, 2, memory=8 * MIB, **options)  # type: ignore[arg-type]


def test_allocations_stop_at_the_limit_and_say_so() -> None:
    device = small_device()
    assert (device.memory_limit, device.memory_used) == (8 * MIB, 0)
    first = device.allocate(6 * MIB)
    assert device.memory_used == 6 * MIB
    with pytest.raises(
        BackendError, match=rf"{3 * MIB} bytes asked for, {6 * MIB} of the emulator's {8 * MIB}"
    ):
        device.allocate(3 * MIB)
    device.free(first)
    device.free(device.allocate(8 * MIB))
    assert device.memory_used == 0


def test_memory_in_reference_cycles_is_found_before_it_is_out() -> None:
    class Held:
        def __init__(self, device: EmulatorDevice) -> None:
            self.cycle, self.device = self, device
            self.address = device.allocate(5 * MIB)

        def __del__(self) -> None:
            self.device.free(self.address)

    device = small_device()
    for _ in range(4):
        Held(device)


def test_the_environment_sets_the_limit() -> None:
    target = find_target(CPU)
    assert target is not None
    device = EmulatorDevice(target, environment=Environment(emulator_memory=3 << 30))
    assert device.memory_limit == 3 << 30
    assert "3.0 GiB" in device.description


def test_scratch_over_the_limit_is_refused() -> None:
    code = assemble("s_nop 0", private=64 * 1024)
    arrays = [np.zeros(1, np.uint32), np.zeros(1, np.uint32)]
    with pytest.raises(LaunchError, match="bytes of scratch memory"):
        run(code, "kernel", 1, 1024, arrays, device=small_device())
    run(code, "kernel", 1, 64, arrays, device=small_device())


@pytest.mark.parametrize(("offset", "dwords"), [(0, 127), (500, 0), (500, 127), (511, 1), (0, 90)])
def test_preloaded_arguments_that_do_not_exist_are_refused(offset: int, dwords: int) -> None:
    code = bytearray(compile_kernel("saxpy"))
    kernel = CodeObject.read(bytes(code)).kernels["saxpy"]
    (segment,) = (
        s
        for s in CodeObject.read(bytes(code)).segments
        if s.address <= kernel.descriptor_address < s.end
    )
    # LLVM AMDGPU guide, "Code Object V3 Kernel Descriptor": bytes 58 and 59 hold length and offset
    # in dwords.
    place = code.index(segment.data) + kernel.descriptor_address - segment.address + 58
    code[place : place + 2] = (dwords | offset << 7).to_bytes(2, "little")
    arrays = [np.uint32(32), np.float32(1), np.zeros(32, np.float32), np.zeros(32, np.float32)]
    with pytest.raises(LaunchError, match="cannot be put in registers"):
        run(bytes(code), "saxpy", 1, 32, arrays, device=small_device())


@pytest.mark.parametrize(
    "body",
    [
        "s_branch .",
        "v_mov_b32 v1, 0\n.Lhere:\nglobal_load_b32 v2, v1, s[2:3]\ns_branch .Lhere",
        ".Lhere:\ns_sleep 127\ns_branch .Lhere",
        ".Lhere:\ns_barrier_signal -1\ns_barrier_wait -1\ns_branch .Lhere",
        ".Lhere:\ns_getpc_b64 s[4:5]\ns_branch .Lhere",
        ".Lhere:\n" + "v_exp_f32 v1, v1\n" * 3000 + "s_branch .Lhere",
    ],
    ids=["itself", "loads", "sleeps", "barriers", "getpc", "long"],
)
def test_the_time_limit_stops_every_endless_loop(body: str) -> None:
    arrays = [np.zeros(64, np.uint32), np.zeros(64, np.uint32)]
    code = assemble("s_load_b64 s[2:3], s[0:1], 0x0\ns_wait_kmcnt 0x0\n" + body)
    with pytest.raises(KernelFault) as caught:
        run(code, "kernel", 64, 1024, arrays, device=small_device(time_limit=0.2))
    assert caught.value.kind == "time-limit"


def test_straight_code_of_many_waves_is_stopped_between_two_of_them() -> None:
    source = '#include "common.h"\nKERNEL busy(GLOBAL float *x) {\n  float a = LANE;\n'
    source += "  a = __builtin_amdgcn_sinf(a) + 1.0f;\n" * 200 + "  x[LANE] = a;\n}\n"
    with pytest.raises(KernelFault) as caught:
        run(
            compile_source(source),
            "busy",
            (65535, 65535),
            1024,
            [np.zeros(1024, np.float32)],
            device=small_device(time_limit=0.2),
        )
    assert caught.value.kind == "time-limit"
