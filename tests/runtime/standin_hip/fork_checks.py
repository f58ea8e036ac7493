"""Checks of HIP devices in a process that was forked after they were used: test_forks.py runs
them."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable

import numpy as np
import pytest
import standin
from emulated_gpu import GPU

import amdjit

assert GPU.device.name == "emulator:gfx1201"


@amdjit.kernel
def double(x):
    x[amdjit.threadIdx.x] *= 2.0


def in_child(work: Callable[[], None]) -> None:
    """Do work in a forked process; fail if it raises or says anything on stderr."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writing, sys.stderr.fileno())
        os.dup2(writing, 2)
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as file:
        said = file.read()
    _, status = os.waitpid(child, 0)
    assert (status, said) == (0, ""), said


def test_a_device_used_before_a_fork_is_refused_in_the_child() -> None:
    x, stream = amdjit.zeros(32), amdjit.Stream()
    for _ in range(3):  # the first is prepared, the others are quick
        double[1, 32](x)
        double[1, 32, stream](x)
    event = stream.record()
    bound = double[1, 32].bind(x)
    bound()
    calls = standin.library().standin_launches()

    def work() -> None:
        for attempt in (
            lambda: double[1, 32](x),
            lambda: double[1, 32, stream](x),
            bound,
            lambda: double[1, 32](np.zeros(32, np.float32)),
            lambda: amdjit.zeros(3),
            lambda: x.copy_to_host(),
            lambda: x.copy_from_host(np.zeros(32, np.float32)),
            lambda: amdjit.Stream(),
            lambda: stream.synchronize(),
            lambda: event.synchronize(),
            lambda: amdjit.synchronize(),
            lambda: x.__dlpack__(stream=4096),
        ):
            with pytest.raises(
                amdjit.LaunchError, match=r'before this process was forked.*"spawn"'
            ):
                attempt()
        assert standin.library().standin_launches() == calls
        with amdjit.use("emulator:gfx1201"):
            host = np.ones(32, np.float32)
            double[1, 32](host)
            assert host.sum() == 64

    in_child(work)
    double[1, 32](x)  # this process goes on
    amdjit.synchronize()


def test_a_child_lets_go_of_what_it_has_in_silence() -> None:
    amdjit.synchronize()
    used = standin.library().standin_used_memory()
    held = [amdjit.zeros(32), amdjit.Stream(), amdjit.Event()]

    def work() -> None:
        held.clear()

    in_child(work)
    held[0].copy_to_host()
    held.clear()
    assert standin.library().standin_used_memory() <= used


def test_a_child_of_a_process_without_hip_has_its_own() -> None:
    # This process has HIP: the check starts one that has not, which forks before it asks.
    code = """
import os, amdjit
child = os.fork()
if child == 0:
    print(amdjit.current_device().name, flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(amdjit.current_device().name)
"""
    with os.popen(f"{sys.executable} -c '{code}'") as output:
        assert output.read() == "hip:0\nhip:0\n"
