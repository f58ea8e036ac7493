"""Checks with the stand-in's launches on the emulator: same kernels, same results as without HIP in
between."""

from __future__ import annotations

import importlib
import pkgutil
import struct
from dataclasses import replace
from pathlib import Path

import code_objects
import numpy as np
import pytest
import standin

import amdjit
import amdjit.examples
from amdjit import rocwmma
from amdjit.abi.launch_shape import LaunchShape
from amdjit.emulator.device import EmulatorDevice
from amdjit.runtime import arrays
from amdjit.runtime.device import Device
from amdjit.runtime.hip_errors import HipError
from amdjit.target import find_target

EXAMPLES = sorted(
    info.name
    for info in pkgutil.iter_modules(amdjit.examples.__path__)
    if info.name not in ("report", "waves")
)
TARGET = find_target("gfx1201")
assert TARGET is not None
GPU = standin.EmulatedGpu(EmulatorDevice(TARGET))
GPU.install()


@pytest.fixture
def gpu() -> Device:
    device = amdjit.current_device()
    assert device.name == "hip:0"  # a GPU that works is the default
    return device


def test_a_code_object_runs(gpu: Device) -> None:
    function = gpu.load(code_objects.doubling_kernel()).function("double_value")
    out = arrays.zeros(gpu, 100)
    stream = gpu.create_stream()
    gpu.launch(
        function,
        LaunchShape((1, 1, 1), (64, 1, 1)),
        bytearray(struct.pack("<Qif", out.address, 40, 1.75)),
        stream,
    )
    gpu.synchronize_stream(stream)
    assert out.copy_to_host().tolist() == [3.5] * 40 + [0] * 60


@amdjit.kernel
def scale_rows(factor, a, out, bias):
    row, column = amdjit.blockIdx.x, amdjit.threadIdx.x
    if column < a.shape[1]:
        out[row, column] = factor * a[row, column] + bias


@pytest.mark.parametrize("name", ["hip:0", "emulator:gfx1201"])
def test_kernels_run_with_numpy_and_device_arrays(name: str) -> None:
    a = np.arange(40, dtype=np.float32).reshape(4, 10)
    expected = 3 * a[:, ::-1] - 1
    with amdjit.use(name):
        out = np.zeros((4, 20), np.float32)
        scale_rows[4, 32](np.float32(3), a[:, ::-1], out[:, ::2], np.float32(-1))
        np.testing.assert_array_equal(out[:, ::2], expected)
        assert not out[:, 1::2].any()
        stream, there = amdjit.Stream(), amdjit.to_device(out)
        before = standin.library().standin_launches()
        scale_rows[4, 32, stream](
            np.float32(3), amdjit.to_device(a)[:, ::-1], there[:, 1::2], np.float32(-1)
        )
        np.testing.assert_array_equal(there[:, 1::2].copy_to_host(stream=stream), expected)
        assert standin.library().standin_launches() - before == (name == "hip:0")


def test_a_launch_that_faults_is_understood_by_its_record(gpu: Device, tmp_path: Path) -> None:
    x = np.ones((3, 40), np.float32)
    with pytest.raises(HipError), amdjit.record(tmp_path) as launches:
        scale_rows[4, 40](np.float32(2), x, np.zeros((3, 40), np.float32), np.int8(1))
    found = amdjit.replay(launches.files[0])
    assert found.launch.device == "hip:0"
    assert {report.kind for report in found.reports} == {"out-of-bounds"}
    assert {report.array for report in found.reports} == {"a", "out"}


def test_checks_are_refused_before_anything_runs(gpu: Device) -> None:
    out = np.zeros((4, 20), np.float32)
    before = standin.library().standin_launches()
    with amdjit.sanitize("race", "memory"), pytest.raises(amdjit.LaunchError) as caught:
        scale_rows[4, 32](np.float32(3), np.ones((4, 10), np.float32), out, np.float32(-1))
    assert str(caught.value) == (
        "scale_rows: hip:0 cannot check launches (memory, race); the emulator can: launch inside "
        '`with amdjit.use("emulator:gfx1201"):`, or without `sanitize` and AMDJIT_SANITIZE'
    )
    assert standin.library().standin_launches() == before
    assert not out.any()


@amdjit.kernel
def write_far_away(out, n):
    out[amdjit.threadIdx.x + n] = 1.0


def test_a_fault_becomes_a_hip_error_and_the_next_launch_works() -> None:
    out = np.full(32, 7, np.float32)
    with pytest.raises(
        HipError, match=r"hipErrorLaunchFailure \(719\).*AMDJIT_DEVICE=emulator:gfx1201"
    ):
        write_far_away[1, 32](out, 2**24)
    assert out.tolist() == [7] * 32
    assert isinstance(GPU.faults[-1], amdjit.KernelFault)
    write_far_away[1, 32](out, 0)
    assert out.tolist() == [1] * 32


@amdjit.kernel
def no_fives(x, message: amdjit.Const):
    i = amdjit.grid(1)
    assert x[i] != 5, f"{message}: five at {i}"
    x[i] += 1


@amdjit.kernel
def show(x):
    i = amdjit.grid(1)
    if x[i] > 1:
        print(i, x[i])


def test_faults_and_prints_come_when_the_work_is_waited_for(
    gpu: Device, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = amdjit.to_device(np.arange(4)), amdjit.to_device(np.arange(8))
    show[1, 4](good)
    no_fives[1, 8](bad, "one")
    no_fives[1, 8](bad, "two")
    assert capsys.readouterr().out == ""
    with pytest.raises(amdjit.KernelFault, match="one: five at 5") as caught:
        amdjit.synchronize()
    assert (caught.value.kind, caught.value.thread, caught.value.source_file) == (
        "assert",
        (5, 0, 0),
        __file__,
    )
    assert capsys.readouterr().out == "2 2\n3 3\n"
    with pytest.raises(amdjit.KernelFault, match="two: five at 5"):
        amdjit.synchronize()
    amdjit.synchronize()
    assert bad.copy_to_host().tolist() == list(range(8))
    no_fives[1, 4](good, "three")
    assert good.copy_to_host().tolist() == [1, 2, 3, 4]


def test_each_way_to_wait_for_a_stream_tells_its_faults_only(gpu: Device) -> None:
    streams = amdjit.Stream(), amdjit.Stream()
    bad = amdjit.to_device(np.full(4, 5))
    for wait in (
        lambda stream, event: stream.synchronize(),
        lambda stream, event: event.synchronize(),
        lambda stream, event: bad.copy_to_host(stream=stream),
    ):
        events = []
        for stream, name in zip(streams, ("first", "second"), strict=True):
            no_fives[1, 4, stream](bad, name)
            events.append(stream.record())
        for stream, event, name in zip(streams, events, ("first", "second"), strict=True):
            with pytest.raises(amdjit.KernelFault, match=name):
                wait(stream, event)
        amdjit.synchronize()


def test_a_fault_leaves_host_arrays_as_they_were(gpu: Device) -> None:
    x = np.array([1, 5, 2], np.float32)
    for stream in (None, amdjit.Stream()):
        with pytest.raises(amdjit.KernelFault, match="here: five at 1"):
            no_fives[1, 3, stream](x, "here")
        assert x.tolist() == [1, 5, 2]


def test_launches_that_nobody_waits_for_keep_little_memory(gpu: Device) -> None:
    x = amdjit.to_device(np.full(4, 100.0))
    records = gpu.temporaries
    assert records is not None
    before = records.used
    for _ in range(200):
        no_fives[1, 4](x, "never")
        assert records.used - before <= 64 * 256
    amdjit.synchronize()
    assert records.used <= before
    records.trim()
    assert records.reserved < records.used + 8 * 512  # in granules
    assert x.copy_to_host()[0] == 300


# Its types exist on CDNA only: elsewhere it runs on an emulator of its own choice.
ON_CDNA_ONLY = {"simple_sgemm"}


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - ON_CDNA_ONLY))
def test_examples_give_the_same_on_hip_and_on_the_emulator(name: str) -> None:
    main = importlib.import_module(f"amdjit.examples.{name}").main
    launches = standin.library().standin_launches()
    with amdjit.use("hip:0"):
        on_hip = main()
    assert standin.library().standin_launches() > launches
    with amdjit.use("emulator:gfx1201"):
        emulated = main()
    pairs = (
        [(on_hip, emulated)]
        if not isinstance(on_hip, list)
        else list(zip(on_hip, emulated, strict=True))
    )
    for one, other in pairs:
        assert one.device == "hip:0"
        assert replace(one, device=other.device) == other


def test_products_of_rocwmmas_grid_are_timed(gpu: Device) -> None:
    case = next(rocwmma.grid(rocwmma.SUITES[0], ((32, 32, 32),)))
    result = rocwmma.run(case, gpu)
    assert result.outcome is rocwmma.Outcome.PASSED
    assert result.milliseconds is not None
    assert result.milliseconds > 0
    assert result.executed is None
    shown = dict(zip(rocwmma.header().split(", "), rocwmma.row(result).split(", "), strict=True))
    assert float(shown["elapsedMs"]) == pytest.approx(result.milliseconds, rel=1e-5)
    assert float(shown["TFlops/s"]) > 0
    assert shown["executed"] == shown["estimated cycles"] == "n/a"
