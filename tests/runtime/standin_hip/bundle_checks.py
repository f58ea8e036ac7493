"""Checks with GPUs that have settings of XNACK and SRAM-ECC, and with bundles: what HIP takes."""

from __future__ import annotations

import numpy as np
import pytest
import standin

import amdjit
from amdjit import f32
from amdjit.code_object import CodeObject
from amdjit.diagnostics import LaunchError
from amdjit.runtime import hip
from amdjit.runtime.hip_errors import HipError
from amdjit.target import read_target, runs_on

CODES = ("gfx90a", "gfx90a:xnack-", "gfx90a:sramecc+:xnack-", "gfx90a:xnack+", "gfx942", "gfx1201")
GPUS = ("gfx90a:sramecc+:xnack-", "gfx90a:sramecc-:xnack+", "gfx942:sramecc+:xnack+", "gfx1201")


def doubled(x: f32[:], out: f32[:]) -> None:
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = 2 * x[i]


KERNEL = amdjit.kernel(doubled)


def gpu_of(architecture: str, monkeypatch: pytest.MonkeyPatch) -> hip.HipDevice:
    monkeypatch.setenv("STANDIN_HIP_ARCH", architecture)
    return hip.HipDevice(0)


@pytest.mark.parametrize("architecture", GPUS)
def test_a_gpu_is_known_with_its_settings(
    monkeypatch: pytest.MonkeyPatch, architecture: str
) -> None:
    gpu = gpu_of(architecture, monkeypatch)
    assert gpu.target.id == architecture
    assert architecture in gpu.description


@pytest.mark.parametrize("architecture", GPUS)
def test_hip_takes_what_we_say_that_it_takes(
    monkeypatch: pytest.MonkeyPatch, architecture: str
) -> None:
    gpu = gpu_of(architecture, monkeypatch)
    taken = 0
    for text in CODES:
        code = KERNEL.compile(target=text).code_object
        if runs_on(read_target(text), gpu.target):
            gpu.load(code).function("doubled")
            taken += 1
            continue
        with pytest.raises(HipError, match="hipErrorNoBinaryForGpu"):
            gpu.load(code)
    assert 1 <= taken < len(CODES)


@pytest.mark.parametrize("architecture", GPUS)
def test_hip_loads_our_bundles(monkeypatch: pytest.MonkeyPatch, architecture: str) -> None:
    gpu = gpu_of(architecture, monkeypatch)
    targets = ["gfx1201", "gfx90a:xnack+", "gfx90a:xnack-", "gfx942"]
    bundle = KERNEL.compile(target=targets)
    gpu.load(bundle.bytes).function("doubled")
    others = [each for each in targets if not runs_on(read_target(each), gpu.target)]
    with pytest.raises(HipError, match="hipErrorNoBinaryForGpu"):
        gpu.load(KERNEL.compile(target=others).bytes)


def loaded_code(monkeypatch: pytest.MonkeyPatch, gpu: hip.HipDevice) -> list[str]:
    """Return the targets of the code that a GPU gets from here on."""
    found: list[str] = []
    load = type(gpu).load

    def noted(self: hip.HipDevice, code: bytes) -> object:
        found.append(CodeObject.read(code).target.id)
        return load(self, code)

    monkeypatch.setattr(type(gpu), "load", noted)
    return found


def test_a_module_gives_each_gpu_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    targets = ["gfx942:xnack+", "gfx942:xnack-", "gfx1201"]
    module = amdjit.load(KERNEL.compile(target=targets).bytes)
    for architecture, expected in (
        ("gfx942:sramecc+:xnack-", "gfx942:xnack-"),
        ("gfx942:sramecc+:xnack+", "gfx942:xnack+"),
        ("gfx1201", "gfx1201"),
    ):
        gpu = gpu_of(architecture, monkeypatch)
        found = loaded_code(monkeypatch, gpu)
        module.on(gpu)
        assert found == [expected]


def test_a_gpu_without_a_member_is_told_which_are_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    module = amdjit.load(KERNEL.compile(target=["gfx942:xnack+", "gfx1201"]).bytes)
    with pytest.raises(
        LaunchError,
        match=r"the bundle is for gfx942:xnack\+ and gfx1201, and hip:0 runs with xnack-: compile "
        r"for gfx942 without xnack, or for gfx942:sramecc\+:xnack-, or set HSA_XNACK=1 before",
    ):
        module.on(gpu_of("gfx942:sramecc+:xnack-", monkeypatch))
    gpu = gpu_of("gfx90a:sramecc+:xnack-", monkeypatch)
    with pytest.raises(LaunchError, match=r"is a gfx90a:sramecc\+:xnack-: compile for gfx90a, too"):
        module.on(gpu)


@pytest.mark.parametrize(
    ("compiled", "expected"),
    [
        ([], "gfx90a:sramecc+:xnack-"),
        (["gfx90a"], "gfx90a"),
        (["gfx90a:xnack+"], "gfx90a:sramecc+:xnack-"),
        (["gfx90a", "gfx90a:xnack-"], "gfx90a:xnack-"),
    ],
)
def test_launches_take_code_that_was_compiled_for_the_gpu(
    monkeypatch: pytest.MonkeyPatch, compiled: list[str], expected: str
) -> None:
    standin.set_failures()
    gpu = gpu_of("gfx90a:sramecc+:xnack-", monkeypatch)
    kernel = amdjit.kernel(doubled)
    for target in compiled:
        kernel.compile(target=target)
    found = loaded_code(monkeypatch, gpu)
    with amdjit.use(gpu):
        x, out = amdjit.to_device(np.ones(64, np.float32)), amdjit.zeros(64)
        kernel[1, 64](x, out)
    assert found[-1] == expected
    assert len(kernel.specialisations) == len({*compiled, expected})
