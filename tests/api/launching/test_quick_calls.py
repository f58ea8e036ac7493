"""Quick launches pass what the slow way passes, and refuse what it refuses: on random calls.

A launch with keywords always goes the slow way (`launching.prepared`), so that each call is made
twice: as it is, and with all its arguments as keywords. The device writes launches down instead of
running them.
"""

from __future__ import annotations

import contextlib
import enum
import gc
import weakref
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amdjit
from amdjit import Const, f16, f32, f32x2, i32, u8
from amdjit.emulator.device import EmulatorDevice
from amdjit.runtime.streams import Stream
from amdjit.target import find_target


class Recorder(EmulatorDevice):
    """An emulator that writes launches down and does not run them."""

    def __init__(self, name: str) -> None:
        target = find_target(name)
        assert target is not None
        super().__init__(target)
        self.launches: list[tuple[Any, ...]] = []
        self.slots = 0

    def launch(self, *call: Any, **more: Any) -> None:
        function, shape, kernarg, stream = call
        code = function.name, function.module.code_object.data
        self.launches.append((code, shape, bytes(kernarg), stream))

    def launch_sanitized(self, *call: Any, **more: Any) -> Any:
        self.launch(*call[:3], "checked")
        return (), None

    def slot(self, *call: Any, **more: Any) -> Any:
        self.slots += 1
        return super().slot(*call, **more)


class Level(enum.IntEnum):
    LOW = 1


class Mode(enum.Enum):
    FAST = "fast"
    SLOW = "slow"


DEVICES = [Recorder("gfx1201"), Recorder("gfx1200")]
STREAMS = {device: [Stream(device) for _ in range(2)] for device in DEVICES}
LIMIT = 3  # a global that all kernels read


@amdjit.kernel
def arrays(x, y, z):
    if LIMIT == 4:
        amdjit.syncthreads()


@amdjit.kernel
def numbers(a, b, out):
    if LIMIT == 4:
        amdjit.syncthreads()
    out[0] = out[0] * a
    out[1] = out[1] + b
    out[2] = a * 2 + b


@amdjit.kernel
def halves(a, out: f16[:]):
    out[LIMIT] = a


@amdjit.kernel
def annotated(a: f32, n: i32, h: f16, b: u8, pair: f32x2, size: Const, x: f32[:]):
    x[n] = a + f32(h) + pair[0] + LIMIT


@amdjit.kernel
def brains(v, out: amdjit.bf16[:]):
    out[0] = amdjit.bf16(v)


@amdjit.kernel
def many(a, b, c, d, e, f):
    if LIMIT == 4:
        amdjit.syncthreads()


def pools(device: Recorder) -> tuple[list[Any], list[Any]]:
    """Return arrays and scalars to launch with."""
    base = device.allocate(1 << 16)

    def at(offset: int, shape: tuple[int, ...], dtype: Any, strides: Any = None) -> Any:
        kind = np.dtype(dtype)
        steps = strides or tuple(
            kind.itemsize * int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))
        )
        owner = device  # the memory of fake arrays is never touched
        return amdjit.DeviceArray(device, base + offset, shape, kind, steps, owner)

    record = np.dtype([("p", np.float32), ("q", np.int16)], align=True)
    x = at(0, (64,), np.float32)
    some = [
        x, at(1024, (64,), np.float32), at(2048, (64,), np.float32), at(4096, (8, 8), np.float32),
        at(3072, (16,), np.float16), at(6144, (4,), record), x[2:], x[::2], x[::-1], x[:0],
        at(8192, (8, 8), np.float32).T, at(8192, (8, 8), np.float32)[:, :4],
        at(16384, (2**29 - 1,), np.float32), at(16384, (2**29,), np.float32),
        at(16384, (2**20, 2), np.float32, (2**11, 4)), at(256, (4,), np.float32, (6,)),
        at(9000, (8,), ml_dtypes.bfloat16), at(9000, (), np.float32), at(9000, (2,), "S3"),
        at(0, (64,), np.int32),
    ]  # fmt: skip
    return some, [
        0, 1, -1, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1, 2**63, 2**64, 65504, 65520,
        True, False, 1.5, -0.0, 65519.9, 65520.0, 3.5e38, 1e300, float("inf"), float("nan"),
        np.float32(2), np.float64(2), np.float16(2), np.int8(3), np.int64(3), np.uint8(200),
        np.bool_(True), ml_dtypes.bfloat16(2), None, "text", (1, 2.5), 1 + 2j, Fraction(1, 2),
        Level.LOW, Mode.FAST, Mode.SLOW, np.float32, f32, (np.float32(1), np.float32(2)),
        np.arange(2, dtype=np.float32), np.zeros(64, np.float32), [1, 2], 300,
    ]  # fmt: skip


POOLS = {device: pools(device) for device in DEVICES}
KERNELS = {"arrays": "AAA", "numbers": "SSA", "halves": "SA", "annotated": "SSSSSSA"}
KERNELS |= {"brains": "SA", "many": "AAAAAA"}
GRIDS = [1, 1, 4, 7, (2, 3), (1, 1, 1), np.int64(4), [4, 1], True, 0, 1.0, "x", 2**31, (1, 70000)]
BLOCKS = [64, 64, 32, (8, 8), (64, 1), 2048, [8], -1]
LIMITS = [3, 3, 3, int("3"), 4, 3.0, True]

index = st.integers(0, 10**6)
call = st.fixed_dictionaries(
    {
        "device": st.integers(0, 9),
        "limit": st.one_of(st.just(0), index),
        "grid": st.one_of(st.integers(0, 4), index),
        "block": st.one_of(st.integers(0, 4), index),
        "stream": st.integers(0, 5),
        "context": st.integers(0, 15),
        "forall": st.integers(0, 5),
        # Most arguments come from the beginning of the pools, so that calls repeat.
        "arguments": st.lists(st.one_of(st.integers(0, 3), index), min_size=7, max_size=7),
    }
)


@contextlib.contextmanager
def context(number: int) -> Iterator[None]:
    """Check or count some of the launches."""
    if number == 1:
        with amdjit.sanitize("memory", raises=False):
            yield
    elif number == 2:
        with amdjit.profile():
            yield
    else:
        yield


def outcome(device: Recorder, launch: Any, *arguments: Any, **keywords: Any) -> Any:
    """Return what a launch passed to the device, or what it raised."""
    device.launches.clear()
    try:
        launch()(*arguments, **keywords)
    except (amdjit.AmdjitError, TypeError) as error:
        assert not device.launches, "refused launches do not run"
        return type(error), str(error)
    return list(device.launches)


def compare(name: str, given: dict[str, Any]) -> None:
    """Make a call both ways."""
    device = DEVICES[given["device"] == 1]
    others = DEVICES[given["device"] != 1]
    kernel = globals()[name]
    arrays_of, scalars = POOLS[others if given["device"] == 2 else device]
    arguments = [
        (arrays_of if kind == "A" else scalars)[choice % len(arrays_of if kind == "A" else scalars)]
        for kind, choice in zip(KERNELS[name], given["arguments"], strict=False)
    ]
    grid, block = (GRIDS[given["grid"] % len(GRIDS)], BLOCKS[given["block"] % len(BLOCKS)])
    stream = [None, None, None, *STREAMS[device], 0][given["stream"]]
    globals()["LIMIT"] = LIMITS[given["limit"] % len(LIMITS)]

    def launcher() -> Any:
        if given["forall"] == 1:
            return kernel.forall(grid, stream)
        return kernel[grid, block] if stream is None else kernel[grid, block, stream, 16]

    with amdjit.use(device), context(given["context"]):
        keywords = dict(zip(kernel.parameter_names, arguments, strict=True))
        expected = outcome(device, launcher, **keywords)
        found = outcome(device, launcher, *arguments)
    if any(isinstance(value, np.ndarray) for value in arguments) and isinstance(expected, list):
        found, expected = (  # copies are somewhere else each time
            [entry[:2] for entry in launches] for launches in (found, expected)
        )
    assert found == expected


@pytest.fixture(autouse=True)
def same_limit() -> Iterator[None]:
    before = LIMIT
    yield
    globals()["LIMIT"] = before


@pytest.mark.sample(2)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=5)
@given(calls=st.lists(call, min_size=10, max_size=25))
def test_both_ways_pass_the_same_or_refuse_the_same(name: str, calls: list[dict[str, Any]]) -> None:
    for given_call in calls:
        compare(name, given_call)


# For each kernel, calls that it learns: positions in the pools.
LEARNED = {
    "arrays": [(0, 1, 2), (0, 0, 2), (3, 10, 5)],
    "numbers": [(1, 1, 0), (14, 1, 0), (22, 14, 0), (4, 25, 0)],
    "halves": [(1, 4), (14, 4), (24, 4), (12, 4)],
    "annotated": [(14, 1, 1, 1, 40, 1, 0), (22, 1, 14, 44, 41, 31, 0), (1, 25, 24, 1, 43, 37, 0)],
    "brains": [(14, 18), (29, 18)],
    "many": [(0, 1, 2, 3, 4, 6)],
}


@pytest.mark.sample(1)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", KERNELS)
def test_neighbours_of_a_learned_call_are_told_from_it(name: str) -> None:
    plain = {"device": 0, "limit": 0, "grid": 0, "block": 0, "stream": 0, "context": 0, "forall": 0}
    for learned in LEARNED[name]:
        compare(name, plain | {"arguments": learned})
        for position, kind in enumerate(KERNELS[name]):
            pool = POOLS[DEVICES[0]][kind == "S"]
            for choice in range(len(pool)):
                given_call = [*learned[:position], choice, *learned[position + 1 :]]
                compare(name, plain | {"arguments": learned})
                compare(name, plain | {"arguments": given_call})


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=200)
@given(calls=st.lists(call, min_size=10, max_size=60))
def test_both_ways_agree_on_many_calls(name: str, calls: list[dict[str, Any]]) -> None:
    for given_call in calls:
        compare(name, given_call)


def test_calls_like_earlier_ones_are_quick() -> None:
    """The property above would hold without any quick call."""
    device = DEVICES[0]
    before = device.slots
    with amdjit.use(device):
        for launch in (lambda: arrays[4, 64], lambda: arrays.forall(64)):
            for _ in range(3):
                launch()(*POOLS[device][0][:3])
        view = POOLS[device][0][0][1:9]
        arrays[5, 64](view, *POOLS[device][0][1:3])
    assert device.slots >= before + 2


def test_a_launcher_keeps_neither_device_nor_stream() -> None:
    device = Recorder("gfx1201")
    with amdjit.use(device):
        x = amdjit.empty(8)
        stream = Stream(device)
        for _ in range(3):
            many[1, 32](x, x, x, x, x, x)
            many[1, 32, stream](x, x, x, x, x, x)
    references = weakref.ref(device), weakref.ref(stream)
    assert device.slots >= 2
    del device, stream, x
    gc.collect()
    assert [reference() for reference in references] == [None, None]
