"""Later launches reuse the memory of earlier ones, and nothing of an earlier launch shows."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from amdjit.abi.launch_shape import LaunchShape
from amdjit.diagnostics.errors import KernelFault, LaunchError
from amdjit.emulator import EmulatorDevice
from amdjit.emulator.device import EmulatorDevice as Device
from amdjit.target import find_target
from tests.emulator.building import CPU, compile_source
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

HEAD = '#include "common.h"\n'
# `short` has no loop and one group of it runs on the thread that launches; the loop sends the
# others to the workers.
KINDS = {
    "short": "KERNEL add(GLOBAL u32 *x, u32 n) { x[BLOCK * 64 + LANE] += n; }",
    "loop": "KERNEL add(GLOBAL u32 *x, u32 n) { for (volatile u32 i = 0; i < 3; i += 3) x[BLOCK * "
    "64 + LANE] += n; }",
}


@pytest.fixture
def device() -> Device:
    target = find_target(CPU)
    assert target is not None
    return EmulatorDevice(target, 2, time_limit=20.0)


def put(device: Device, values: np.ndarray) -> int:
    address = device.allocate(values.nbytes)
    device.copy_to_device(address, values.view(np.uint8).data)
    return address


def read(device: Device, address: int, count: int) -> np.ndarray:
    values = np.zeros(count, np.uint32)
    device.copy_to_host(values.view(np.uint8).data, address)
    return values


def arguments(address: int, number: int) -> bytearray:
    return bytearray(address.to_bytes(8, "little") + number.to_bytes(4, "little"))


@pytest.mark.parametrize("kind", KINDS)
def test_arguments_and_geometry_are_those_of_the_launch(device: Device, kind: str) -> None:
    function = device.load(compile_source(HEAD + KINDS[kind])).function("add")
    places = [put(device, np.zeros(640, np.uint32)) for _ in range(3)]
    expected = np.zeros((3, 640), np.uint32)
    for number in range(30):
        groups, which = 1 + number % 10, number % 3
        device.launch(
            function, LaunchShape((groups, 1, 1), (64, 1, 1)), arguments(places[which], number)
        )
        expected[which, : groups * 64] += number
    for place, values in zip(places, expected, strict=True):
        np.testing.assert_array_equal(read(device, place, 640), values)


@pytest.mark.parametrize("kind", KINDS)
def test_memory_that_was_freed_since_is_out_of_bounds(device: Device, kind: str) -> None:
    function = device.load(compile_source(HEAD + KINDS[kind])).function("add")
    place = put(device, np.zeros(64, np.uint32))
    kept = put(device, np.zeros(64, np.uint32))
    for _ in range(2):
        device.launch(function, LaunchShape((1, 1, 1), (64, 1, 1)), arguments(place, 1))
    device.free(place)
    with pytest.raises(KernelFault, match="load of 4 bytes"):
        device.launch(function, LaunchShape((1, 1, 1), (64, 1, 1)), arguments(place, 1))
    device.launch(function, LaunchShape((1, 1, 1), (64, 1, 1)), arguments(kept, 7))
    assert (read(device, kept, 64) == 7).all()


def test_arguments_of_another_size_are_refused_each_time(device: Device) -> None:
    function = device.load(compile_source(HEAD + KINDS["short"])).function("add")
    place = put(device, np.zeros(64, np.uint32))
    for _ in range(2):
        with pytest.raises(LaunchError, match="takes 12"):
            device.launch(function, LaunchShape((1, 1, 1), (64, 1, 1)), arguments(place, 1)[:8])
        device.launch(function, LaunchShape((1, 1, 1), (64, 1, 1)), arguments(place, 1))
    assert (read(device, place, 64) == 2).all()


def test_what_kernels_needed_goes_with_them(device: Device) -> None:
    before = len(device._memory.table().rows)
    for _ in range(3):
        function = device.load(compile_source(HEAD + KINDS["loop"])).function("add")
        place = put(device, np.zeros(640, np.uint32))
        for groups in range(1, 11):
            device.launch(function, LaunchShape((groups, 1, 1), (64, 1, 1)), arguments(place, 1))
        device.free(place)
        del function
    gc.collect()
    assert len(device._memory.table().rows) == before


def run_script(script: str) -> subprocess.CompletedProcess[str]:
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", textwrap.dedent(script), str(Path(__file__).parents[1])]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env=paths
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_process_that_was_forked_can_launch() -> None:
    done = run_script("""
    import os, sys
    sys.path.insert(0, sys.argv[1])
    import numpy as np
    from tests.emulator.building import compile_source, emulate
    loop = "for (u32 i = 0; i < n; ++i) x[LANE] += 1;"
    code = compile_source('#include "common.h"\\n'
                          'KERNEL count(volatile GLOBAL u32 *x, u32 n) { ' + loop + ' }')
    def total():
        x = np.zeros(64, np.uint32)
        emulate(code, "count", 1, 64, [x, np.uint32(100)], threads=2)
        return int(x.sum())
    assert total() == 6400
    child = os.fork()
    if child == 0:
        os._exit(0 if total() == 6400 else 1)
    assert os.waitpid(child, 0)[1] == 0
    print(total())
    """)
    assert done.stdout == "6400\n", done.stderr


@pytest.mark.sample(1)
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no interval timers")
@pytest.mark.parametrize("groups", [1, 4])
def test_signal_handlers_run_while_a_kernel_does(groups: int) -> None:
    done = run_script(f"""
    import signal, sys
    sys.path.insert(0, sys.argv[1])
    import numpy as np
    from amdjit.abi.launch_shape import LaunchShape
    from tests.emulator.building import compile_source, device
    code = compile_source('#include "common.h"\\n'
                          'KERNEL spin(volatile GLOBAL u32 *x) {{ while (*x == 0) ; }}')
    emulator = device(2)
    address = emulator.allocate(4)
    emulator.copy_to_device(address, np.zeros(1, np.uint32).data)
    function = emulator.load(code).function("spin")
    def ring(number, frame):
        print("rings")
        emulator.copy_to_device(address, np.ones(1, np.uint32).data)
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    argument = bytearray(address.to_bytes(8, "little"))
    emulator.launch(function, LaunchShape(({groups}, 1, 1), (64, 1, 1)), argument)
    print("ended")
    """)
    assert done.stdout == "rings\nended\n", done.stderr


@pytest.mark.sample(1)
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no interval timers")
@pytest.mark.parametrize("groups", [1, 4])
def test_a_signal_handler_that_raises_stops_the_launch(groups: int) -> None:
    done = run_script(f"""
    import signal, sys, time
    sys.path.insert(0, sys.argv[1])
    import numpy as np
    from tests.emulator.building import compile_source, emulate
    code = compile_source('#include "common.h"\\n'
                          'KERNEL spin(volatile GLOBAL u32 *x) {{ while (*x == 0) ; }}')
    class Alarm(Exception): pass
    def ring(number, frame): raise Alarm
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.7, 0.02)
    try:
        emulate(code, "spin", {groups}, 64, [np.zeros(1, np.uint32)], threads=2)
    except Alarm:
        signal.setitimer(signal.ITIMER_REAL, 0)
        print("stopped")
    x = np.ones(1, np.uint32)
    emulate(code, "spin", {groups}, 64, [x], threads=2)
    print("again")
    """)
    assert done.stdout == "stopped\nagain\n", done.stderr
