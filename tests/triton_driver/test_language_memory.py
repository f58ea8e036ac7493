"""How Triton's kernels access memory on the emulator, against NumPy: masks, other values, cache
hints, atomics, descriptors, addresses that are numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import amdjit
import amdjit.triton

pytest.importorskip("triton", reason="Triton is not installed")
torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tests.triton_driver.language import NUMBERS, SIGNED, dtype_of, empty, expect, kernel, values

PROCESSORS = ("gfx1201", "gfx1100", "gfx942", "gfx950")
pytestmark = pytest.mark.foreign


@pytest.fixture(params=PROCESSORS)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with amdjit.triton.use(f"emulator:{request.param}"):
        yield request.param


@triton.jit
def moved(x, z, n, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    a = LOAD
    STORE


def moving(load: str = "", store: str = "") -> Any:
    """Return a kernel that copies elements, with options of its load and its store."""
    return kernel(moved, LOAD=f"tl.load(x + i{load})", STORE=f"tl.store(z + i, a{store})")


@pytest.mark.parametrize("dtype", [*NUMBERS, "bool"])
@pytest.mark.parametrize("lacking", [0, 1, 3])
@pytest.mark.parametrize("other", [0, 1])
@pytest.mark.parametrize("size", [128, 512])
def test_masked_loads(device: str, dtype: str, lacking: int, other: int, size: int) -> None:
    x, z = values(size - lacking, dtype), empty(size, dtype)
    moving(f", mask=i < n, other={other}")[(1,)](x, z, size - lacking, size)
    expect(z[: size - lacking], x)
    expect(z[size - lacking :], np.full(lacking, other, z.dtype))


@pytest.mark.parametrize("load", ["", ".ca", ".cg", ".cv"])
@pytest.mark.parametrize("store", ["", ".wb", ".cg", ".cs", ".wt"])
def test_cache_modifiers(device: str, load: str, store: str) -> None:
    x, z = values(256, "float32"), empty(256, "float32")
    moving(f', cache_modifier="{load}"', f', cache_modifier="{store}"')[(2,)](x, z, 256, 128)
    expect(z, x)
    moving(', volatile=True, eviction_policy="evict_first"', ', eviction_policy="evict_last"')[
        (2,)
    ](x, z, 256, 128)
    expect(z, x)


@triton.jit
def accumulated(x, z, old, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    program = tl.program_id(0)
    a = tl.load(x + program * SIZE + i)
    EACH


ATOMICS = {
    "add": (
        np.add,
        ("float16", "bfloat16", "float32", "float64", "int32", "uint32", "int64", "uint64"),
    ),
    "max": (np.maximum, ("float32", "float64", "int32", "uint32", "int64", "uint64")),
    "min": (np.minimum, ("float32", "float64", "int32", "uint32", "int64", "uint64")),
    "and": (np.bitwise_and, ("int32", "uint32", "int64", "uint64")),
    "or": (np.bitwise_or, ("int32", "uint32", "int64", "uint64")),
    "xor": (np.bitwise_xor, ("int32", "uint32", "int64", "uint64")),
}
PAIRS = [(name, dtype) for name, (_, dtypes) in ATOMICS.items() for dtype in dtypes]


@pytest.mark.parametrize(("name", "dtype"), PAIRS)
@pytest.mark.parametrize("sem", [None, "acquire", "release", "acq_rel", "relaxed"])
@pytest.mark.parametrize("scope", ["cta", "gpu", "sys"])
def test_atomics(device: str, name: str, dtype: str, sem: str | None, scope: str) -> None:
    programs, size = 5, 64
    x = values((programs, size), dtype, high=4)
    z = values(size, dtype, 1, high=4)
    wanted, (applied, _) = z, ATOMICS[name]
    for row in x:
        wanted = applied(wanted, row)
    # Half of them; then all of a block on one element.
    text = f'tl.atomic_{name}(z + i, a, mask=i % 2 == 0, sem={sem!r}, scope="{scope}")'
    one = values(1, dtype, 2, high=4)
    parts = x.ravel()
    if device in ("gfx942", "gfx950") and name in ("max", "min") and dtype in SIGNED:
        # Triton 3.9 first compares the lanes of a wave, and as if they were unsigned.
        parts = applied.reduce(x.view(f"u{dtype}"), axis=1).view(dtype)
    for_one = applied.reduce(np.concatenate([one, parts]))
    start = one.copy()
    found = z.copy()
    kernel(accumulated, EACH=text)[(programs,)](x, found, z, SIZE=size)
    expect(
        found,
        np.where(np.arange(size) % 2 == 0, wanted, z),
        2e-2 if dtype in ("float16", "bfloat16") else 1e-5,
    )
    if dtype not in ("float16", "bfloat16"):
        text = f'tl.atomic_{name}(z + i * 0, a, sem={sem!r}, scope="{scope}")'
        kernel(accumulated, EACH=text)[(programs,)](x, start, z, SIZE=size)
        expect(start, [for_one], 1e-4)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float16"])
def test_what_atomics_return(device: str, dtype: str) -> None:
    x, z, old = values((1, 64), dtype, high=4), values(64, dtype, 1, high=4), empty(64, dtype)
    before = z.copy()
    kernel(accumulated, EACH="tl.store(old + i, tl.atomic_add(z + i, a))")[(1,)](x, z, old, SIZE=64)
    expect(old, before)
    expect(z, before + x[0], 1e-3 if dtype == "float16" else 1e-6)
    if dtype != "float16":
        kernel(accumulated, EACH="tl.store(old + i, tl.atomic_xchg(z + i, a))")[(1,)](
            x, z, old, SIZE=64
        )
        expect(z, x[0])
        expect(old, before + x[0], 1e-6)


@triton.jit
def exchanged(x, old, expected, new, SEM: tl.constexpr, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    tl.store(old + i, tl.atomic_cas(x + i, tl.load(expected + i), tl.load(new + i), sem=SEM))


@triton.jit
def locked(data, lock, SEM: tl.constexpr):
    places = data + tl.arange(0, 128)
    while tl.atomic_cas(lock, 0, 1, SEM) == 1:
        pass
    tl.store(places, tl.load(places) + 1.0)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@pytest.mark.parametrize("sem", [None, "acquire", "release", "acq_rel", "relaxed"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32"])
def test_compare_and_swap(device: str, sem: str | None, dtype: str) -> None:
    x = values(64, dtype) % 3
    before, old = x.copy(), empty(64, dtype)
    wanted, new = values(64, dtype, 1) % 3, values(64, dtype, 2)
    exchanged[(1,)](x, old, wanted, new, sem, SIZE=64)
    expect(old, before)
    expect(x, np.where(before == wanted, new, before))
    data, lock = empty(128, "float32"), empty(1, "int32")
    locked[(100,)](data, lock, sem)
    assert (data == 100).all()


@triton.jit
def by_descriptor(x, z, m, n, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [m, n], [n, 1], [M, N])
    target = tl.make_tensor_descriptor(z, [m, n], [n, 1], [M, N])
    for row in range(0, m, M):
        target.store([row, 0], source.load([row, 0]) * 2)


@triton.jit
def through_descriptors(source, target, M: tl.constexpr):
    block = source.load([tl.program_id(0) * M, 0])
    METHOD


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int8", "uint16"])
@pytest.mark.parametrize("shape", [(64, 32), (50, 32)])
def test_descriptors(device: str, dtype: str, shape: tuple[int, int]) -> None:
    x, z = values(shape, dtype, high=50), empty(shape, dtype)
    with amdjit.sanitize("memory"):
        by_descriptor[(1,)](x, z, *shape, 16, 32)
    expect(z, x * np.array(2, x.dtype))
    if dtype.startswith("uint"):
        return
    a, out = torch.from_numpy(x.copy()), torch.zeros(shape, dtype=torch.from_numpy(x).dtype)
    descriptors = [TensorDescriptor.from_tensor(each, [16, 32]) for each in (a, out)]
    kernel(through_descriptors, METHOD="target.store([tl.program_id(0) * M, 0], block + block)")[
        (4,)
    ](*descriptors, 16)
    assert torch.equal(out, a + a)
    if dtype in ("float32", "int32"):
        kernel(through_descriptors, METHOD="target.atomic_add([tl.program_id(0) * M, 0], block)")[
            (4,)
        ](*descriptors, 16)
        assert torch.equal(out, a + a + a)


@triton.jit
def sums_of(pointers, z, COUNT: tl.constexpr, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    total = tl.zeros((SIZE,), tl.float32)
    for number in range(COUNT):
        total += tl.load(tl.load(pointers + number).to(tl.pointer_type(tl.float32)) + i)
    tl.store(z + i, total)


@triton.jit
def from_address(address, z, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    tl.store(z + i, tl.load(tl.cast(address, tl.pointer_type(tl.float32)) + i))


def test_addresses_that_are_numbers(device: str) -> None:
    parts = [torch.randn(64) for _ in range(4)]
    pointers = torch.tensor([each.data_ptr() for each in parts])
    z = torch.empty(64)
    with amdjit.sanitize("memory", "race", "init", "sync"):
        sums_of[(1,)](pointers, z, 4, 64)
    torch.testing.assert_close(z, sum(parts))
    sums_of[(1,)](pointers.numpy(), z, 4, 64)
    from_address[(1,)](parts[1].data_ptr(), z, 64)
    assert torch.equal(z, parts[1])
    compiled = moving().warmup(torch.float32, torch.float32, 64, 64, grid=(1,))
    compiled[(1, 1, 1)](parts[2].data_ptr(), z.data_ptr(), 64, 64)
    assert torch.equal(z, parts[2])
    # One is too small; its neighbours are no excuse.
    short = [each[:60].clone() for each in parts]
    pointers = torch.tensor([each.data_ptr() for each in short])
    with amdjit.sanitize("memory", raises=False) as found:
        sums_of[(1,)](pointers, z, 4, 64)
    assert {each.message.partition(",")[0] for each in found.reports} == {
        f"load of 4 bytes at *pointers[{number}][60]" for number in range(4)
    }


@triton.jit
def programs(z):
    x, y, w = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    width, height = tl.num_programs(0), tl.num_programs(1)
    tl.atomic_add(z + (w * height + y) * width + x, 1 + x + 100 * y + 10000 * w)


def test_grids_of_three_axes(device: str) -> None:
    z = empty((31, 21, 11), "int32")
    programs[(11, 21, 31)](z)
    w, y, x = np.indices(z.shape)
    expect(z, 1 + x + 100 * y + 10000 * w)
    z = empty(70000, "int32")
    programs[(70000,)](z)
    expect(z, 1 + np.arange(70000))


@pytest.mark.parametrize("size", [0, 1])
def test_empty_and_small_arrays(device: str, size: int) -> None:
    x, z = values(size, "float32"), empty(size, "float32")
    moving(", mask=i < n", ", mask=i < n")[(1,)](x, z, size, 64)
    expect(z, x)
    moving()[(0,)](x, z, size, 64)
    assert dtype_of("float32") == z.dtype
