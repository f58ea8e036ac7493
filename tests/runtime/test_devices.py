"""Which devices exist, and which one is used."""

from __future__ import annotations

import contextvars
import importlib
import logging
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.devices import Inventory
from amdjit.diagnostics.errors import AmdjitError, LaunchError
from amdjit.emulator.device import EmulatorDevice
from amdjit.intrinsics import amdgcn
from amdjit.options import Environment
from amdjit.runtime import hip
from amdjit.runtime.hip import library
from amdjit.target import EMULATED, find_target

# `amdjit.devices` itself is the public function of that name.
devices = importlib.import_module("amdjit.devices")


class FakeGpu:
    """A GPU as far as choosing one goes."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.name = f"hip:{index}"


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hip, "discover", lambda: ([], "no ROCm here"))
    monkeypatch.setattr(library, "is_there", lambda rocm_path: False)


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    gpus = [FakeGpu(0), FakeGpu(1)]
    monkeypatch.setattr(hip, "discover", lambda: (gpus, ""))
    return gpus


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu_the_emulator_is_the_default_and_says_so_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    inventory = Inventory(Environment())
    with caplog.at_level(logging.INFO, "amdjit"):
        chosen = inventory.default()
        assert inventory.default() is chosen
    assert chosen.name == "emulator:gfx1201"
    assert isinstance(chosen, EmulatorDevice)
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("amdjit", "INFO")
    assert "no ROCm here" in record.getMessage()
    assert "emulator:gfx1201" in record.getMessage()


@pytest.mark.usefixtures("no_gpu")
def test_amdjit_target_chooses_the_default_emulator() -> None:
    inventory = Inventory(Environment(target=find_target("gfx1200")))
    assert inventory.default().name == "emulator:gfx1200"
    assert inventory.find("emulator") is inventory.default()


def test_the_first_gpu_is_the_default(
    two_gpus: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    inventory = Inventory(Environment())
    with caplog.at_level(logging.INFO, "amdjit"):
        assert inventory.default() is two_gpus[0]
    assert not caplog.records
    assert [device.name for device in inventory.all()] == [
        "hip:0",
        "hip:1",
        *(f"emulator:{t}" for t in EMULATED),
    ]


def test_the_variable_amdjit_device_wins(two_gpus: list[Any]) -> None:
    assert Inventory(Environment(device="emulator:gfx1200")).default().name == "emulator:gfx1200"
    assert Inventory(Environment(device="hip:1")).default() is two_gpus[1]
    assert Inventory(Environment(device="hip")).default() is two_gpus[0]
    with pytest.raises(
        LaunchError, match=r"^AMDJIT_DEVICE: there is no device 'cuda:0'\. There are: hip:0, hip:1,"
    ):
        Inventory(Environment(device="cuda:0")).default()


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("emulator:gfx1154", r"'emulator:gfx1154'\. .* The nearest is emulator:gfx1153\.$"),
        (
            "emulator:gfx12-generic",
            r"\(gfx12-generic stands for gfx1200, gfx1201, which run.* emulator:gfx1200\.$",
        ),
        ("emulator:gfx1010", r"'emulator:gfx1010'\. .* The nearest is emulator:gfx950\.$"),
        ("emulator:gfx90c", r"'emulator:gfx90c'\. .* The nearest is emulator:gfx90a\.$"),
        (
            "emulator:gfx1030",
            r"\(amdjit compiles for gfx1030, but does not emulate it\).* emulator:gfx1100\.$",
        ),
        ("emulator:navi", r"emulator:gfx1201\.$"),
    ],
)
def test_a_processor_that_is_not_emulated_is_refused_with_the_nearest(name: str, why: str) -> None:
    with pytest.raises(LaunchError, match=why):
        Inventory(Environment()).find(name)


def test_every_emulated_processor_has_its_emulator() -> None:
    inventory = Inventory(Environment())
    names = [device.name for device in inventory.all() if device.name.startswith("emulator:")]
    assert names == [f"emulator:{target}" for target in EMULATED]
    assert {"emulator:gfx1101", "emulator:gfx1103", "emulator:gfx1151"} <= set(names)
    assert {
        "emulator:gfx906",
        "emulator:gfx908",
        "emulator:gfx90a",
        "emulator:gfx942",
        "emulator:gfx950",
    } <= set(names)
    assert inventory.find("emulator:gfx1151").name == "emulator:gfx1151"


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize(
    "name", ["hip:0", "hip", "hip:x", "emulator:gfx902", "gfx1201", "", "hip:-1", "emulator:"]
)
def test_unknown_names_are_refused_with_what_there_is(name: str) -> None:
    inventory = Inventory(Environment())
    if name == "emulator:":
        assert inventory.find(name).name == "emulator:gfx1201"
        return
    with pytest.raises(LaunchError) as refused:
        inventory.find(name)
    assert repr(name) in str(refused.value)
    there = ", ".join(f"emulator:{target}" for target in EMULATED)
    assert f"There are: {there}." in str(refused.value)
    assert ("no ROCm here" in str(refused.value)) == name.startswith("hip")


@pytest.mark.usefixtures("no_gpu")
def test_each_device_exists_once_even_for_many_threads() -> None:
    inventory = Inventory(Environment())
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(inventory.find("emulator:gfx1201")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1


def test_use_nests_and_ends() -> None:
    outside = devices.current_device()
    with devices.use("emulator:gfx1200") as outer:
        assert devices.current_device() is outer
        with devices.use(outside):
            assert devices.current_device() is outside
        with pytest.raises(RuntimeError), devices.use("emulator:gfx1201"):
            raise RuntimeError
        assert devices.current_device().name == "emulator:gfx1200"
        with pytest.raises(LaunchError, match="no device 'nonsense'"), devices.use("nonsense"):
            pass
    assert devices.current_device() is outside
    with pytest.raises(LaunchError, match="0 is no device: give a name such as"), devices.use(0):
        pass


def test_use_is_of_the_context_not_of_the_process() -> None:
    def inside() -> str:
        return devices.current_device().name

    empty = contextvars.Context()
    default = empty.run(inside)
    with devices.use("emulator:gfx1200"):
        assert empty.run(inside) == default
        assert contextvars.copy_context().run(inside) == "emulator:gfx1200"


def test_use_may_hold_for_threads_that_have_chosen_no_device() -> None:
    def chosen() -> tuple[str, str]:
        with devices.use("emulator:gfx1201"):
            inside = devices.current_device().name
        return devices.current_device().name, inside

    with ThreadPoolExecutor(1) as pool:
        default, _ = pool.submit(chosen).result()
        with devices.use("emulator:gfx1200"):
            assert pool.submit(chosen).result()[0] == default
        with devices.use("emulator:gfx1200", threads=True) as outer:
            # The thread of this pool is older than the block.
            assert pool.submit(chosen).result() == ("emulator:gfx1200", "emulator:gfx1201")
            with devices.use("emulator:gfx1201", threads=True):
                assert pool.submit(chosen).result()[0] == "emulator:gfx1201"
            assert pool.submit(chosen).result()[0] == outer.name
            with pytest.raises(RuntimeError), devices.use("emulator:gfx1201", threads=True):
                raise RuntimeError
            assert pool.submit(chosen).result()[0] == outer.name
        assert pool.submit(chosen).result()[0] == default


def test_launches_of_a_pool_go_to_the_device_for_threads() -> None:
    host = np.arange(64, dtype=np.float32)
    with devices.use("emulator:gfx1200", threads=True) as device, ThreadPoolExecutor(2) as pool:
        x = amdjit.to_device(host)
        for _ in range(3):  # the later ones are quick
            list(pool.map(lambda part: double[1, 32](part), [x[:32], x[32:]]))
        assert x.device is device
    assert np.array_equal(x, 8 * host)


@amdjit.kernel
def double(x):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        x[i] *= 2


def test_arrays_streams_and_events_go_to_the_current_device() -> None:
    host = np.arange(6, dtype=np.float32).reshape(2, 3)
    with devices.use("emulator:gfx1200") as device:
        made = [
            amdjit.to_device(host),
            amdjit.empty((2, 3)),
            amdjit.zeros(3, np.int32),
            amdjit.full((2,), 7.0),
            amdjit.from_dlpack(host),
        ]
        stream, event = devices.Stream(), devices.Event()
        assert stream.device is event.device is device
        devices.synchronize()
    assert all(array.device is device for array in made)
    np.testing.assert_array_equal(made[0].copy_to_host(), host)
    assert made[2].copy_to_host().tolist() == [0, 0, 0]
    assert made[3].copy_to_host().tolist() == [7, 7]
    with devices.use("emulator:gfx1201"):
        assert devices.Stream(device=device).device is device
        moved = amdjit.to_device(made[0])
        assert moved.device is not device
        assert amdjit.to_device(moved) is moved


def test_devices_lists_an_emulator_for_each_target() -> None:
    names = [device.name for device in devices.devices()]
    assert names[-len(EMULATED) :] == [f"emulator:{target}" for target in EMULATED]
    assert isinstance(devices.hip_status(), str)


def test_numpy_shares_the_emulators_memory() -> None:
    with devices.use("emulator:gfx1201"):
        there = amdjit.zeros((3, 4), np.int32)
        shared = np.from_dlpack(there[:, ::2])
        there.copy_from_host(np.arange(12, dtype=np.int32).reshape(3, 4))
        assert shared.tolist() == [[0, 2], [4, 6], [8, 10]]
        shared = np.from_dlpack(amdjit.full(5, np.float32(2)))  # outlives its DeviceArray
        assert shared.tolist() == [2] * 5


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"AMDJIT_DEVICE": "emulator:gfx1200"}, "emulator:gfx1200"),
        ({"AMDJIT_DEVICE": "emulator", "AMDJIT_TARGET": "gfx1200"}, "emulator:gfx1200"),
        ({"AMDJIT_DEVICE": "gpu"}, "LaunchError: AMDJIT_DEVICE: there is no device 'gpu'."),
    ],
)
def test_the_environment_chooses(variables: dict[str, str], expected: str) -> None:
    code = (
        "import amdjit\n"
        "try: print(amdjit.current_device().name)\n"
        "except amdjit.AmdjitError as error: print(type(error).__name__ + ':', error)\n"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("AMDJIT_")} | variables
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert result.stdout.startswith(expected), result.stdout + result.stderr


@amdjit.kernel
def rounded_product(c, a, b):
    c[0] = amdgcn.fdot2(a.load(0, 2), b.load(0, 2), c[0], False)


def test_the_arithmetic_of_matrix_products_is_chosen_for_a_block() -> None:
    """1 + 2**-24 + 2**-24: one rounding of the sum is not what two multiply-adds give."""
    found = []
    for matrix in ("silicon", "fma", None):
        with devices.use("emulator:gfx1201", matrix=matrix) as device:
            a, b = (np.full(2, 2.0**-12, np.float16) for _ in range(2))
            c = np.ones(1, np.float32)
            rounded_product[1, 1](c, a, b)
            found.append(float(c[0]))
            assert device.name == "emulator:gfx1201"
            assert device.matrix == (matrix or "silicon")
    assert found == [1 + 2.0**-23, 1.0, 1 + 2.0**-23]


@amdjit.kernel
def reciprocals(x, out):
    out[0] = amdgcn.rcpf(x[0])
    out[1] = amdgcn.rcpf(x[1])


@pytest.mark.parametrize("tier", ["quick", "full"])
def test_the_arithmetic_of_approximate_instructions_is_chosen_for_a_block(
    tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chip's reciprocals of 1.0001727 and of a subnormal number are not the nearest ones."""
    inventory = Inventory(Environment(emulator_tier=tier))
    monkeypatch.setattr(devices, "_INVENTORY", inventory)
    found = []
    for math in ("silicon", "fast", None):
        with devices.use("emulator:gfx1201", math=math) as device:
            x, out = np.array([1.000172734260559, 2.0**-127], np.float32), np.zeros(2, np.float32)
            reciprocals[1, 1](x, out)
            found.append(out)
            assert device.math == (math or "silicon")
            assert ("math=fast" in device.description) == (math == "fast")
    np.testing.assert_array_equal(found[1], 1 / x)
    np.testing.assert_array_equal(found[0], amdjit.arithmetic.reference("v_rcp_f32", x))
    np.testing.assert_array_equal(found[2], found[0])
    assert (found[0] != found[1]).all()


@pytest.mark.parametrize(
    ("name", "arithmetic", "message"),
    [
        ("emulator:gfx1201", {"matrix": "exact"}, "matrix='exact': give silicon or fma"),
        ("hip:0", {"matrix": "fma"}, "only an emulator by its name has matrix="),
        ("emulator:gfx1201", {"math": "fma"}, "math='fma': give silicon or fast"),
        ("hip:0", {"math": "fast"}, "only an emulator by its name has math="),
    ],
)
def test_a_wrong_arithmetic_is_refused(name: str, arithmetic: dict[str, str], message: str) -> None:
    with pytest.raises(AmdjitError, match=message), devices.use(name, **arithmetic):
        pass


def test_the_environment_chooses_the_arithmetic(no_gpu: None) -> None:
    target = find_target("gfx1201")
    assert target is not None
    inventory = Inventory(Environment(emulator_matrix="fma", emulator_math="fast"))
    assert inventory.emulator(target).matrix == "fma"
    assert inventory.emulator(target) is inventory.emulator(target, "fma")
    assert inventory.emulator(target, "silicon").matrix == "silicon"
    assert "matrix=fma, math=fast" in inventory.emulator(target).description
    assert inventory.emulator(target, math="silicon").math == "silicon"
