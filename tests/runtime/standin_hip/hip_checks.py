"""Checks of amdjit's HIP device against the stand-in libamdhip64.so; test_hip.py runs them in a
process of their own.

The real hip-python calls the stand-in here, so signatures, structures and pointers are those of the
real ABI.
"""

from __future__ import annotations

import gc
import struct
import threading
from collections.abc import Iterator
from typing import Any

import code_objects
import numpy as np
import pytest
import standin

import amdjit
from amdjit.abi.launch_shape import LaunchShape
from amdjit.diagnostics.errors import BackendError, LaunchError
from amdjit.runtime import arrays, hip
from amdjit.runtime.device import Device
from amdjit.runtime.hip import discovery
from amdjit.runtime.hip.calls import hip_library
from amdjit.runtime.hip_errors import HipError, HipUnavailableError
from amdjit.runtime.streams import Event, Stream

ECHO_HEADER = struct.Struct("<7I")  # grid, block, dynamic LDS; then the kernarg


@pytest.fixture(autouse=True)
def no_failures() -> Iterator[None]:
    standin.set_failures()
    yield
    standin.set_failures()


@pytest.fixture
def gpu() -> hip.HipDevice:
    device = hip.HipDevice(0)
    checked: Device = device  # mypy proves that the Protocol is satisfied
    assert checked is device
    return device


@pytest.fixture
def kernel(gpu: hip.HipDevice) -> hip.HipFunction:
    return gpu.load(code_objects.doubling_kernel()).function("double_value")


def echoed(gpu: hip.HipDevice, array: arrays.DeviceArray) -> tuple[tuple[int, ...], bytes]:
    raw = array.copy_to_host().tobytes()
    return ECHO_HEADER.unpack_from(raw), raw[ECHO_HEADER.size :]


def test_discovery_reads_the_real_property_structure() -> None:
    devices, reason = hip.discover()
    assert reason == ""
    (gpu,) = devices
    assert (gpu.name, gpu.target.name, gpu.dlpack_device) == ("hip:0", "gfx1201", (10, 0))
    assert gpu.description == "Stand-in GPU (gfx1201, 16.0 GiB, HIP 7.2.53211)"
    assert repr(gpu) == f"<HipDevice hip:0: {gpu.description}>"


def test_memory_round_trip_and_lifetime(gpu: hip.HipDevice) -> None:
    before = standin.library().standin_used_memory()
    host = np.arange(1000, dtype=np.float16).reshape(10, 100)
    there = arrays.to_device(gpu, host)
    assert there.address % 256 == 0
    np.testing.assert_array_equal(there[::2, ::-3].copy_to_host(), host[::2, ::-3])
    other = arrays.empty(gpu, host.shape, host.dtype)
    gpu.copy_on_device(other.address, there.address, host.nbytes)
    np.testing.assert_array_equal(other.copy_to_host(), host)
    assert standin.library().standin_used_memory() == before + 2 * host.nbytes
    del there, other
    gc.collect()
    assert standin.library().standin_used_memory() == before


def test_copies_in_a_stream_are_done_when_they_return(gpu: hip.HipDevice) -> None:
    stream = Stream(gpu)
    host = np.arange(64, dtype=np.int32)
    there = arrays.to_device(gpu, host, stream)
    host[:] = -1  # the source may be reused immediately
    assert there.copy_to_host(stream=stream).tolist() == list(range(64))
    other = arrays.zeros(gpu, 64, np.int32, stream)
    before = standin.library().standin_queued()
    gpu.copy_on_device(other.address, there.address, host.nbytes, stream.handle)
    assert standin.library().standin_queued() == before + 1
    assert other.copy_to_host(stream=stream).tolist() == list(range(64))


def test_empty_copies_ask_nothing_of_hip(gpu: hip.HipDevice) -> None:
    standin.set_failures(hipMemcpy=1)
    gpu.copy_to_device(1, memoryview(b""))
    gpu.copy_to_host(memoryview(bytearray()), 1)
    with pytest.raises(ValueError, match="read-only"):
        gpu.copy_to_host(memoryview(b"abc"), 1)


def test_a_launch_inside_of_a_profile_is_refused(
    gpu: hip.HipDevice, kernel: hip.HipFunction
) -> None:
    with amdjit.profile() as profile, pytest.raises(LaunchError, match="hip:0 cannot count"):
        gpu.launch(kernel, LaunchShape((1, 1, 1), (32, 1, 1)), bytearray(8))
    assert profile.launches == []


@pytest.mark.parametrize("in_stream", [False, True])
def test_launches_pass_grid_block_lds_and_kernarg(
    gpu: hip.HipDevice, kernel: hip.HipFunction, in_stream: bool
) -> None:
    stream = Stream(gpu) if in_stream else None
    out = arrays.zeros(gpu, 256, np.uint8)
    for size in (16, 16, 24):  # the packet is made anew when the kernarg's size changes
        kernarg = bytearray(struct.pack("<Qif8s", out.address, -7, 1.25, b"trailing")[:size])
        expected = bytes(kernarg)
        before = standin.library().standin_queued()
        gpu.launch(
            kernel, LaunchShape((5, 6, 7), (64, 3, 2), 4096), kernarg, stream and stream.handle
        )
        kernarg[:] = bytes(len(kernarg))  # HIP has copied it
        assert standin.library().standin_queued() == before + 1  # a launch does not wait
        header, copied = echoed(gpu, out)
        assert header == (5, 6, 7, 64, 3, 2, 4096)
        assert copied[:size] == expected


def test_many_threads_may_launch_one_kernel(gpu: hip.HipDevice, kernel: hip.HipFunction) -> None:
    out = arrays.zeros(gpu, (8, 20, 64), np.uint8)

    def work(index: int) -> None:
        for i in range(20):
            kernarg = bytearray(struct.pack("<Qif", out[index, i].address, index, i))
            gpu.launch(kernel, LaunchShape((1, 1, 1), (32, 1, 1)), kernarg)

    standin.library().standin_set_launch_delay(100)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    standin.library().standin_set_launch_delay(0)
    for index in range(8):
        for i in range(20):
            _, copied = echoed(gpu, out[index, i])
            assert copied[:16] == struct.pack("<Qif", out[index, i].address, index, i)


def test_a_function_keeps_its_module_and_the_module_its_image(gpu: hip.HipDevice) -> None:
    size = len(code_objects.doubling_kernel())
    module = gpu.load(
        bytes(bytearray(code_objects.doubling_kernel()))
    )  # a copy, so that only the module holds it
    overwriting = [bytes(size) for _ in range(20)]
    function = module.function("double_value")
    del module, overwriting
    gc.collect()
    out = arrays.zeros(gpu, 64, np.uint8)
    gpu.launch(
        function, LaunchShape((1, 1, 1), (1, 1, 1)), bytearray(struct.pack("<Q", out.address))
    )
    gpu.synchronize()


def test_events_time_work(gpu: hip.HipDevice, kernel: hip.HipFunction) -> None:
    stream = Stream(gpu)
    start, end = Event(gpu), Event(gpu)
    out = arrays.zeros(gpu, 64, np.uint8)
    with pytest.raises(LaunchError, match="the first event was never recorded"):
        start.elapsed_milliseconds(end)
    start.record(stream)
    gpu.launch(
        kernel,
        LaunchShape((1, 1, 1), (1, 1, 1)),
        bytearray(struct.pack("<Q", out.address)),
        stream.handle,
    )
    end.record(stream)
    with pytest.raises(HipError, match=r"hipErrorNotReady \(600\).*synchronize\(\)"):
        start.elapsed_milliseconds(end)
    end.synchronize()
    assert 0 < start.elapsed_milliseconds(end) < 1000
    stream.synchronize()
    gpu.synchronize()


OPERATIONS: dict[str, tuple[str, Any]] = {
    "hipMalloc": ("allocate 64 bytes on hip:0", lambda g, k: g.allocate(64)),
    "hipFree": ("free memory", lambda g, k: g.free(12345)),
    "hipMemcpy": (
        "copy 4 bytes (HostToDevice) on hip:0",
        lambda g, k: g.copy_to_device(64, memoryview(b"abcd")),
    ),
    "hipMemcpyAsync": (
        "copy 2 bytes (DeviceToHost) on hip:0",
        lambda g, k: g.copy_to_host(memoryview(bytearray(2)), 64, g.create_stream()),
    ),
    "hipModuleLoadData": (
        "load a code object of",
        lambda g, k: g.load(code_objects.doubling_kernel()),
    ),
    "hipModuleGetFunction": (
        "find the kernel f in its code object",
        lambda g, k: k._module.function("f"),
    ),
    "hipModuleLaunchKernel": (
        "launch double_value",
        lambda g, k: g.launch(k, LaunchShape((1, 2, 3), (4, 5, 6)), bytearray(8)),
    ),
    "hipDeviceSynchronize": ("finish the work on hip:0", lambda g, k: g.synchronize()),
    "hipStreamCreateWithPriority": ("create a stream on hip:0", lambda g, k: g.create_stream()),
    "hipStreamSynchronize": (
        "finish the work of a stream",
        lambda g, k: g.synchronize_stream(g.create_stream()),
    ),
    "hipEventCreateWithFlags": ("create an event on hip:0", lambda g, k: g.create_event()),
    "hipEventRecord": ("record an event", lambda g, k: g.record_event(g.create_event())),
    "hipEventSynchronize": (
        "wait for an event",
        lambda g, k: g.synchronize_event(g.create_event()),
    ),
    "hipEventElapsedTime": (
        "time two events",
        lambda g, k: g.elapsed_milliseconds(*2 * (g.create_event(),)),
    ),
    "hipGetDeviceCount": ("count the devices", lambda g, k: hip.HipDevice(0)),
    "hipGetDevicePropertiesR0600": (
        "read the properties of device 0",
        lambda g, k: hip.HipDevice(0),
    ),
    "hipRuntimeGetVersion": ("read the runtime's version", lambda g, k: hip.HipDevice(0)),
}
CODES = {
    1: ("hipErrorInvalidValue", "invalid argument", ""),
    2: ("hipErrorOutOfMemory", "out of memory", "Free arrays"),
    209: ("hipErrorNoBinaryForGpu", "no kernel image", "another processor"),
    719: ("hipErrorLaunchFailure", "unspecified launch failure", "AMDJIT_DEVICE=emulator:gfx1201"),
}


@pytest.mark.parametrize("function", OPERATIONS)
@pytest.mark.parametrize("code", CODES)
def test_every_failure_says_what_hip_said_and_what_to_do(
    gpu: hip.HipDevice, kernel: hip.HipFunction, function: str, code: int
) -> None:
    doing, operation = OPERATIONS[function]
    name, text, remedy = CODES[code]
    standin.set_failures(**{function: code})
    with pytest.raises(HipError) as failed:
        operation(gpu, kernel)
    error = failed.value
    assert isinstance(error, BackendError)
    assert (error.code, error.name) == (code, name)
    assert str(error).startswith(f"HIP could not {doing}")
    assert f"{name} ({code}), {text}" in str(error)
    assert remedy in error.remedy
    standin.set_failures()
    gpu.synchronize()  # the next work is not affected


def test_every_known_code_becomes_an_exception(gpu: hip.HipDevice) -> None:
    names = {}
    for member in hip_library().hipError_t:
        if int(member):
            standin.set_failures(hipDeviceSynchronize=int(member))
            with pytest.raises(HipError) as failed:
                gpu.synchronize()
            names[int(member)] = failed.value.name
            assert str(int(member)) in str(failed.value)
    assert len(names) > 70
    assert names[700] == "hipErrorIllegalAddress"


def test_codes_of_a_newer_hip_are_errors_too(gpu: hip.HipDevice) -> None:
    standin.set_failures(hipDeviceSynchronize=4242)
    with pytest.raises(HipError, match="4242"):
        gpu.synchronize()


def test_out_of_memory_says_what_is_free(gpu: hip.HipDevice) -> None:
    with pytest.raises(
        HipError, match=r"allocate 1099511627776 bytes .* bytes are free of 17179869184\."
    ):
        gpu.allocate(2**40)


def test_a_refused_launch_says_with_what_it_was_launched(
    gpu: hip.HipDevice, kernel: hip.HipFunction
) -> None:
    with pytest.raises(
        HipError, match=r"hipErrorInvalidConfiguration .* block \(64, 32, 1\), 16 bytes"
    ):
        gpu.launch(kernel, LaunchShape((1, 2, 3), (64, 32, 1), 16), bytearray(8))


def test_images_for_other_processors_are_refused(gpu: hip.HipDevice) -> None:
    with pytest.raises(
        HipError, match=r"hipErrorNoBinaryForGpu .*Compile for the GPU's own processor"
    ):
        gpu.load(code_objects.doubling_kernel("gfx1200"))
    with pytest.raises(HipError, match="hipErrorInvalidImage"):
        gpu.load(b"no ELF file" * 100)
    with pytest.raises(
        HipError, match=r"find the kernel missing in its code object: hipErrorNotFound"
    ):
        gpu.load(code_objects.doubling_kernel()).function("missing")


@pytest.mark.parametrize("code", [98, 200, 209, 303])
def test_a_hip_that_is_too_old_for_the_code_is_named(
    gpu: hip.HipDevice, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    standin.set_failures(hipModuleLoadData=code)
    monkeypatch.setenv("STANDIN_HIP_VERSION", "60241134")
    with pytest.raises(HipError) as old:
        gpu.load(code_objects.doubling_kernel())
    assert "This is HIP 6.2.41134, which does not read amdjit's code objects" in str(old.value)
    assert old.value.remedy == "Update ROCm, for RDNA 4 to 6.4.1 or newer."
    assert "another processor" not in str(old.value)
    monkeypatch.setenv("STANDIN_HIP_VERSION", "60300000")
    with pytest.raises(HipError) as new:
        gpu.load(code_objects.doubling_kernel())
    assert "This is HIP 6.3.0." in str(new.value)
    assert "Compile for the GPU's own processor" in str(new.value)
    standin.set_failures(hipModuleLoadData=2)
    with pytest.raises(HipError, match="Free arrays") as other:
        gpu.load(code_objects.doubling_kernel())
    assert "This is HIP" not in str(other.value)


def test_what_a_kernel_failed_with_is_told_by_the_next_wait(
    gpu: hip.HipDevice, kernel: hip.HipFunction
) -> None:
    gpu.launch(
        kernel, LaunchShape((1, 1, 1), (1, 1, 1)), bytearray(struct.pack("<Q", 4096))
    )  # echoes out of bounds
    with pytest.raises(HipError, match="finish the work on hip:0: hipErrorLaunchFailure"):
        gpu.synchronize()
    gpu.synchronize()


def test_discovery_tells_why_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    standin.set_failures(hipGetDeviceCount=100)
    devices, reason = hip.discover()
    assert devices == []
    assert "hipErrorNoDevice (100)" in reason
    assert "/dev/kfd" in reason
    standin.set_failures()
    monkeypatch.setattr(discovery, "hip_library", _no_hip_python)
    assert hip.discover() == ([], "hip-python is not installed. Install it.")


def _no_hip_python() -> Any:
    raise HipUnavailableError("hip-python is not installed.", "Install it.")
