"""Triton's control flow, calls, arguments, output and options on the emulator."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
import amdjit.triton

pytest.importorskip("triton", reason="Triton is not installed")
torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import triton
import triton.language as tl

from tests.triton_driver.language import empty, expect, kernel, values

PROCESSORS = ("gfx1201", "gfx1100", "gfx942", "gfx950")
pytestmark = pytest.mark.foreign


@pytest.fixture(params=PROCESSORS)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with amdjit.triton.use(f"emulator:{request.param}"):
        yield request.param


def one(dtype: str = "int32", value: float = 0) -> Any:
    return np.full(1, value, dtype)


@triton.jit
def add_one(x):
    return x + 1


@triton.jit(noinline=True)
def added_apart(x, y):
    return x + y, x - y


@triton.jit(noinline=True)
def product_apart(square):
    places = square + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    block = tl.load(places)
    tl.store(places, tl.dot(block, block))


@triton.jit(noinline=True)
def chosen_apart(x):
    if x >= 1:
        chosen = add_one(x)
    else:
        chosen = x
        chosen -= 5
    return chosen


@triton.jit
def either(x, program):
    if program == 0:
        return x + 1
    else:
        return x + 2


@triton.jit
def calls(x, y, z, square):
    a, b = tl.load(x), tl.load(y)
    total, difference = added_apart(a, b)
    tl.store(z, total)
    tl.store(z + 1, difference)
    tl.store(z + 2, chosen_apart(a))
    tl.store(z + 3, chosen_apart(a - 7))
    tl.store(z + 4, either(a, tl.program_id(0)))
    product_apart(square)


def test_calls_of_functions_that_are_not_inlined(device: str) -> None:
    z, square = empty(5, "float32"), np.ones((16, 16), np.float32)
    calls[(1,)](one("float32", 3), one("float32", 2), z, square, num_warps=1)
    expect(z, [5, 1, 4, -9, 4])
    assert (square == 16).all()


@triton.jit
def loops(z, lo, hi, STEP: tl.constexpr, COUNT: tl.constexpr):
    total = tl.zeros((), tl.int64)
    for i in range(lo, hi, STEP):
        total += i
    tl.store(z, total)
    total = tl.zeros((), tl.int64)
    for i in tl.static_range(0, COUNT, 3):
        total += i
    tl.store(z + 1, total)
    total = tl.zeros((), tl.int64)
    for i in tl.range(0, COUNT, loop_unroll_factor=4):
        total += i
    tl.store(z + 2, total)
    count = tl.zeros((), tl.int64)
    left = COUNT + 0
    while left > 0:
        inner = left
        while inner > 0:
            count += 1
            inner -= 2
        left -= 1
    tl.store(z + 3, count)


@pytest.mark.parametrize(
    ("lo", "hi", "step"),
    [(2**35, 2**35 + 20, 3), (15, -16, -2), (22, 18, -1), (5, 5, 1), (0, 7, 2)],
)
def test_loops(device: str, lo: int, hi: int, step: int) -> None:
    z = empty(4, "int64")
    loops[(1,)](z, lo, hi, step, 10)
    expect(
        z,
        [sum(range(lo, hi, step)), sum(range(0, 10, 3)), 45, sum((n + 1) // 2 for n in range(11))],
    )


@triton.jit
def branches(conditions, z):
    tl.store(z, -1)
    value = 0
    if tl.load(conditions):
        if tl.load(conditions + 1):
            value = 10
        else:
            return
    else:
        value = 20 if tl.load(conditions + 2) else 30
    tl.store(z, value)


@pytest.mark.parametrize("bits", range(8))
def test_branches_and_early_returns(device: str, bits: int) -> None:
    conditions = np.array([bits & 1, bits >> 1 & 1, bits >> 2], np.int32)
    z = one()
    branches[(1,)](conditions, z)
    a, b, c = conditions
    assert z[0] == ((10 if b else -1) if a else (20 if c else 30))


@triton.jit
def many_arguments(
    z, pair, nested, nothing, number: tl.int64, small, large, real, flag,
    text: tl.constexpr, default=7,
):  # fmt: skip
    tl.static_assert(nothing is None)
    tl.static_assert(text == "text")
    tl.store(z, pair[0] + pair[1])
    tl.store(z + 1, nested[1][0] + tl.load(nested[0]))
    tl.store(z + 2, number + small)
    tl.store(z + 3, (large % 1000).to(tl.float64))
    tl.store(z + 4, real)
    tl.store(z + 5, 1.0 if flag else 2.0)
    tl.store(z + 6, default)


@pytest.mark.parametrize("large", [2**31, 2**63 - 1, 2**63, 2**64 - 1])
def test_arguments_of_all_kinds(device: str, large: int) -> None:
    z = empty(7, "float64")
    many_arguments[(1,)](
        z, (1, 2.5), (one("float32", 4), (8,)), None, 5, -3, large, 0.25, True, "text"
    )
    expect(z, [3.5, 12, 2, large % 1000, 0.25, 1, 7])
    many_arguments[(1,)](
        z,
        (1, 2),
        (one("float32", 4), (1,)),
        None,
        5,
        1,
        large,
        float("inf"),
        False,
        "text",
        default=9,
    )
    expect(z, [3, 5, 6, large % 1000, np.inf, 2, 9])


@triton.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=["x"])
def unspecialised(x, z, n):
    tl.store(z, tl.load(x) + n)


def test_arguments_that_are_not_specialised(device: str) -> None:
    z, x = one("float32"), np.arange(8, dtype=np.float32)
    for n in (1, 16, 3):
        unspecialised[(1,)](x[1:], z, n)
        assert z[0] == 1 + n


@triton.constexpr_function
def half_of(n):
    return n // 2


@triton.jit
def of_compile_time(z, N: tl.constexpr):
    tl.store(z + tl.arange(0, half_of(N)), half_of(N))


def test_functions_of_compile_time(device: str) -> None:
    z = empty(64, "int32")
    of_compile_time[(1,)](z, 128)
    assert (z == 64).all()


@triton.jit
def random_numbers(z, seed, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    tl.store(z + i, EACH)


def philox(seed: int, counters: Any) -> Any:
    """Return the first word of Philox 4x32-10, from the paper that describes it."""
    mask = np.uint64(0xFFFFFFFF)
    c = [counters.astype(np.uint64), *(np.zeros(len(counters), np.uint64) for _ in range(3))]
    key = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    for _ in range(10):
        low = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [
            (low[1] >> np.uint64(32)) ^ c[1] ^ key[0], low[1] & mask,
            (low[0] >> np.uint64(32)) ^ c[3] ^ key[1], low[0] & mask,
        ]  # fmt: skip
        key = [key[0] + np.uint64(0x9E3779B9) & mask, key[1] + np.uint64(0xBB67AE85) & mask]
    return c[0].astype(np.uint32)


@pytest.mark.parametrize("seed", [0, 42, 124, 54, 0xFFFFFFFF, 0xDEADBEEFCAFE])
def test_random_numbers(device: str, seed: int) -> None:
    z = empty(1024, "int32")
    kernel(random_numbers, EACH="tl.randint(seed, i)")[(1,)](z, seed, 1024)
    np.testing.assert_array_equal(z.view(np.uint32), philox(seed, np.arange(1024)))
    numbers = empty(1024, "float32")
    kernel(random_numbers, EACH="tl.rand(seed, i)")[(1,)](numbers, seed, 1024)
    assert ((numbers >= 0) & (numbers < 1)).all()
    assert abs(numbers.mean() - 0.5) < 0.05
    kernel(random_numbers, EACH="tl.randn(seed, i)")[(1,)](numbers, seed, 1024)
    assert abs(numbers.mean()) < 0.15
    assert abs(numbers.std() - 1) < 0.1


@triton.jit
def assembly(x, y, z, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    a, b = tl.load(x + i), tl.load(y + i)
    total = tl.inline_asm_elementwise(
        "v_mad_u32_u24 $0, $1, $2, 3", "=v,v,v", [a, b], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(z + i, total)


def test_assembly(device: str) -> None:
    x, y, z = values(64, "int32", 1, 1000), values(64, "int32", 2, 1000), empty(64, "int32")
    x, y = np.abs(x), np.abs(y)
    assembly[(1,)](x, y, z, 64)
    expect(z, x * y + 3)


@pytest.mark.parametrize("num_warps", [1, 2, 4, 8, 16])
@pytest.mark.parametrize(
    "options", [{}, {"waves_per_eu": 2}, {"num_stages": 3}, {"enable_fp_fusion": False}]
)
def test_options_of_launches(device: str, num_warps: int, options: dict[str, Any]) -> None:
    x, z = values(4096, "float32"), empty(4096, "float32")
    compiled = copied[(4,)](x, z, 4096, 1024, num_warps=num_warps, **options)
    expect(z, x * 1.5 + 1, 1e-6)
    assert compiled.n_regs > 0
    assert compiled.n_spills == 0
    assert compiled.metadata.num_warps == num_warps
    assert {"ttir", "ttgir", "llir", "amdgcn", "hsaco"} <= set(compiled.asm)


@triton.jit
def copied(x, z, n, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(z + i, tl.load(x + i, mask=i < n) * 1.5 + 1, mask=i < n)


def test_launches_of_whole_grids_at_once(device: str) -> None:
    x, z = values(4096, "float32"), empty(4096, "float32")
    copied[(4,)](x, z, 4096, 1024, launch_cooperative_grid=True)
    expect(z, x * 1.5 + 1, 1e-6)


@triton.jit(debug=True)
def asserted(x, z, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    a = tl.load(x + i)
    tl.device_assert(a >= 0, "negative")
    tl.store(z + i, a)


def test_assertions_on_the_device(device: str) -> None:
    x, z = np.arange(64, dtype=np.int32), empty(64, "int32")
    asserted[(1,)](x, z, 64)
    expect(z, x)
    with pytest.raises(amdjit.KernelFault, match=r"test_language_programs.py:\d+"):
        asserted[(1,)](x - 1, z, 64)


def test_hooks_of_launches(device: str) -> None:
    seen = []
    x, z = values(64, "float32"), empty(64, "float32")
    before = triton.knobs.runtime.launch_enter_hook
    triton.knobs.runtime.launch_enter_hook = lambda facts: seen.append(facts.get()["name"])
    try:
        copied[(1,)](x, z, 64, 64)
    finally:
        triton.knobs.runtime.launch_enter_hook = before
    assert seen == ["copied"]


PRINTED = """
import sys
import numpy as np, torch, triton, triton.language as tl
import amdjit.triton
amdjit.triton.use(sys.argv[1])

@triton.jit
def printed(x, SIZE: tl.constexpr):
    a = tl.load(x + tl.arange(0, SIZE))
    tl.device_print("a:", a)
    tl.device_print("hex:", a.to(tl.int32), hex=True)
    tl.device_print("pair:", a, tl.program_id(0))
    tl.static_print("static", SIZE)
    print("no arguments")

wave = triton.runtime.driver.active.get_current_target().warp_size
printed[(1,)](np.arange(64).astype(sys.argv[2]), SIZE=64, num_warps=64 // wave)
"""


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64", "uint32"]
)
def test_what_kernels_print(device: str, dtype: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PRINTED)
    done = subprocess.run(
        [sys.executable, str(program), f"emulator:{device}", dtype],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = Counter(done.stdout.splitlines())
    point = ".000000" if "float" in dtype else ""
    for i in range(64):
        assert lines[f"pid (0, 0, 0) idx ({i:2}) a: {i}{point}"] == 1, done.stdout[:3000]
        assert lines[f"pid (0, 0, 0) idx ({i:2}) hex: 0x{i:08x}"] == 1
        assert lines[f"pid (0, 0, 0) idx ({i:2}) pair: (operand 0) {i}{point}"] == 1
    assert any(re.match(r"static.*64", line) for line in lines)
    assert lines["pid (0, 0, 0) idx () pair: (operand 1) 0"] == 64
    assert lines["pid (0, 0, 0) no arguments"] == 64


def test_what_is_asked_of_the_driver(device: str) -> None:
    internal = pytest.importorskip("triton._internal_testing")
    assert internal.is_hip()
    assert internal.is_hip_cdna3() == (device == "gfx942")
    assert internal.is_hip_cdna4() == (device == "gfx950")
    assert internal.is_hip_rdna4() == (device == "gfx1201")
    assert internal.get_current_target().arch == device
    triton.runtime.driver.reset_active()
    assert triton.runtime.driver.active.get_current_target().arch == device
    assert triton.runtime.driver.active.get_active_torch_device() == torch.device("cpu")
    properties = triton.runtime.driver.active.utils.get_device_properties(0)
    assert properties["multiprocessor_count"] > 0
    x, z = torch.randn(64, device="cuda"), torch.zeros(64, device="cuda:0")
    copied[(1,)](x, z, 64, 64)
    torch.cuda.synchronize()
    torch.testing.assert_close(z.cpu(), x.cpu() * 1.5 + 1)
    assert torch.cuda.get_device_properties(0).gcnArchName.startswith(device)
    # What moves between devices is a copy.
    moved = x.to("cuda")
    moved.zero_()
    assert x.any()
