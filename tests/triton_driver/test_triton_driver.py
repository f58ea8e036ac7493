"""Triton's kernels on the emulator against PyTorch and NumPy, under all checks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
import amdjit.triton

triton = pytest.importorskip("triton", reason="Triton is not installed")
torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from tests.triton_driver import kernels  # noqa: E402 - it needs Triton

PROCESSORS = ("gfx1201", "gfx1100", "gfx942", "gfx950")
# Of each family one in every run.
SAMPLE = [
    pytest.param(name, marks=() if name in ("gfx1201", "gfx942") else pytest.mark.exhaustive)
    for name in PROCESSORS
]
ALL = ("memory", "race", "init", "sync")


@pytest.fixture(params=SAMPLE)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    name = f"emulator:{request.param}"
    with amdjit.triton.use(name), amdjit.sanitize(*ALL) as found:
        yield name
    assert found.reports == []


def random(*shape: int, dtype: Any = torch.float32, seed: int = 27) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def test_elements_of_tensors_numpy_arrays_and_device_arrays(device: str) -> None:
    n = 1000
    x, y, out = random(n), random(n, seed=1), torch.zeros(n)
    kernels.add[(4,)](x, y, out, n, BLOCK=256)
    assert torch.equal(out, x + y)
    a, b = np.arange(n, dtype=np.int64), np.zeros(n, np.int64)
    kernels.add[lambda facts: (triton.cdiv(n, facts["BLOCK"]),)](a, a[::-1].copy(), b, n, BLOCK=128)
    assert (b == n - 1).all()
    with amdjit.use(device):
        there, sums = amdjit.to_device(a.astype(np.float64)), amdjit.zeros(n, np.float64)
        kernels.add[(4,)](there, there, out=sums, n=n, BLOCK=256)
        np.testing.assert_array_equal(sums.copy_to_host(), 2.0 * a)


def test_views_of_one_storage_are_one_piece_of_memory(device: str) -> None:
    x = random(3000)
    expected = x.clone()
    expected[1500:2500] = x[:1000] + x[500:1500]
    kernels.add[(4,)](x[:1000], x[500:], x[1500:], 1000, BLOCK=256)
    assert torch.equal(x, expected)
    a = np.arange(3000, dtype=np.float32)
    kernels.add[(4,)](a[:1000], a[500:1500], a[2000:], 1000, BLOCK=256)
    np.testing.assert_array_equal(a[2000:], np.arange(1000) * 2 + 500)


def test_reductions_and_scans(device: str) -> None:
    x, out = random(20, 100), torch.empty(20, 100)
    kernels.softmax[(20,)](x, out, 100, 100, BLOCK=128)
    torch.testing.assert_close(out, torch.softmax(x, 1))
    half, weight, bias = random(20, 100, dtype=torch.float16), random(100), random(100, seed=2)
    kernels.layer_norm[(20,)](half, weight, bias, out, 100, 1e-5, BLOCK=128)
    expected = torch.nn.functional.layer_norm(half.float(), (100,), weight, bias)
    torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-4)
    sums = torch.empty(256, dtype=torch.int32)
    numbers = torch.arange(256, dtype=torch.int32) % 7
    kernels.running_sum[(1,)](numbers, sums, BLOCK=256)
    assert torch.equal(sums, numbers.cumsum(0).int())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_matrix_products(device: str, dtype: Any) -> None:
    m, n, k = 70, 50, 90
    a, b, c = random(m, k, dtype=dtype), random(k, n, dtype=dtype, seed=3), torch.empty(m, n)
    strides = a.stride(0), b.stride(0), c.stride(0)
    kernels.matmul[(3, 2)](a, b, c, m, n, k, *strides, M=32, N=32, K=32)
    torch.testing.assert_close(c, a.float() @ b.float(), rtol=1e-3, atol=1e-3)


def test_attention(device: str) -> None:
    q, k, v = (random(64, 32, dtype=torch.float16, seed=seed) for seed in range(3))
    out = torch.empty(64, 32)
    kernels.attention[(2,)](q, k, v, out, 0.2, LENGTH=64, WIDTH=32, BLOCK=32)
    expected = torch.softmax(q.float() @ k.float().T * 0.2, 1) @ v.float()
    torch.testing.assert_close(out, expected, rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("processor", SAMPLE)
def test_atomics(processor: str) -> None:
    x = torch.arange(1000, dtype=torch.int32) * 37 % 16
    bins = torch.zeros(16, dtype=torch.int32)
    with (
        amdjit.triton.use(f"emulator:{processor}"),
        amdjit.sanitize(*ALL, raises=False) as found,
    ):
        kernels.histogram[(8,)](x, bins, 1000, BLOCK=128)
    assert torch.equal(bins, torch.bincount(x, minlength=16).int())
    # Triton 3.9 gives its buffer atomics no scope on RDNA 4, where each instruction has one.
    lacking = [("scope", "buffer_atomic_add_u32")] if processor == "gfx1201" else []
    reported = [(each.kind, (each.instruction or "").split()[0]) for each in found.reports]
    assert reported == lacking


def test_tuples_scalars_and_descriptors(device: str) -> None:
    a, b, out = random(64), random(64, seed=4), torch.empty(64)
    kernels.scaled_pair[(1,)]((a, b), 2.5, True, out, BLOCK=64)
    torch.testing.assert_close(out, a * 2.5 + b + 1)
    table, twice = random(64, 32), torch.empty(64, 32)
    descriptor = triton.tools.tensor_descriptor.TensorDescriptor
    blocks = [descriptor.from_tensor(each, [16, 32]) for each in (table, twice)]
    kernels.through_descriptor[(4,)](*blocks, BLOCK=16)
    assert torch.equal(twice, table * 2)


def test_the_autotuner_and_do_bench_get_estimates() -> None:
    n = 4096
    x, y, out = random(n), random(n, seed=1), torch.zeros(n)
    with amdjit.triton.use("emulator:gfx1201"), amdjit.sanitize(*ALL):
        kernels.tuned_add[lambda facts: (triton.cdiv(n, facts["BLOCK"]),)](x, y, out, n)
        assert torch.equal(out, x + y)
        times = [
            triton.testing.do_bench(
                lambda size=size: kernels.add[(n // size,)](x, y, out, n, BLOCK=size)
            )
            for size in (64, 1024)
        ]
        assert all(0 < time < 1 for time in times)
        assert kernels.tuned_add.best_config.kwargs["BLOCK"] == (64, 1024)[np.argmin(times)]
        quantiles = triton.testing.do_bench(
            lambda: kernels.add[(4,)](x, y, out, n, BLOCK=1024), quantiles=[0.5, 0.2, 0.8]
        )
        assert quantiles == [times[1]] * 3


def test_processors_take_turns_and_the_driver_before_comes_back() -> None:
    x, out = random(256), torch.zeros(256)
    active = triton.runtime.driver._active
    found = []
    for name in (*PROCESSORS, *PROCESSORS):
        with amdjit.triton.use(f"emulator:{name}"):
            kernels.add[(1,)](x, x, out, 256, BLOCK=256)
            inspection = amdjit.triton.inspect(kernels.add, x, x, out, 256, BLOCK=256, grid=(1,))
            found.append(inspection.target)
        assert torch.equal(out, x + x)
    assert found == [*PROCESSORS, *PROCESSORS]
    assert triton.runtime.driver._active is active


def line_of(text: str) -> int:
    lines = Path(kernels.__file__).read_text().splitlines()
    (found,) = [number for number, line in enumerate(lines, 1) if text in line]
    return found


@pytest.mark.parametrize("processor", SAMPLE)
def test_reports_name_lines_of_triton(processor: str) -> None:
    x, out = random(1000), torch.zeros(1000)
    with (
        amdjit.triton.use(f"emulator:{processor}"),
        pytest.raises(amdjit.SanitizerError) as caught,
        amdjit.sanitize("memory"),
    ):
        kernels.doubles_without_mask[(4,)](x, out, 1000, BLOCK=256)
    (report,) = caught.value.reports
    assert (report.file, report.line) == (kernels.__file__, line_of("BUG: no mask of the load"))
    assert "outside of x of shape (1000,)" in report.message
    # Behind a NumPy array there may be another array, which the store would change.
    x, y = np.ones(256, np.float32), np.zeros(250, np.float32)
    with (
        amdjit.triton.use(f"emulator:{processor}"),
        amdjit.sanitize("memory", raises=False) as found,
    ):
        kernels.stores_without_mask[(1,)](x, y, BLOCK=256)
    (report,) = found.reports
    assert report.line == line_of("BUG: no mask of the store")
    assert (y == 2).all()
    with (
        amdjit.triton.use(f"emulator:{processor}"),
        amdjit.sanitize("race", raises=False) as found,
    ):
        kernels.all_write_one[(8,)](torch.zeros(1), BLOCK=32)
    assert {report.line for report in found.reports} == {line_of("BUG: a race")}


def test_a_profile_is_of_tritons_lines(tmp_path: Path) -> None:
    x, out = random(1024), torch.zeros(1024)
    with amdjit.triton.use("emulator:gfx1201"), amdjit.profile() as counted:
        kernels.add[(4,)](x, x, out, 1024, BLOCK=256)
    (launch,) = counted.launches
    assert launch.kernel == "add"
    page = tmp_path / "page.html"
    counted.to_html(page)
    assert "tl.load(x + i, mask=inside)" in page.read_text()


def test_what_the_emulator_cannot_take_is_refused() -> None:
    x, out = random(256), torch.zeros(256)
    with amdjit.triton.use("emulator:gfx1201"):
        with pytest.raises(amdjit.LaunchError, match="no pointer to elements of type complex64"):
            kernels.add[(1,)](np.zeros(256, np.complex64), x, out, 256, BLOCK=256)
        with pytest.raises(amdjit.LaunchError, match="meta"):
            kernels.add[(1,)](x.to("meta"), x, out, 256, BLOCK=256)
        kernels.add[(0,)](x, x, out, 256, BLOCK=256)
        constant = np.zeros(256, np.float32)
        constant.flags.writeable = False
        kernels.add[(1,)](constant, x, out, 256, BLOCK=256)
        assert torch.equal(out, x)
        with pytest.raises(amdjit.KernelFault, match="not allowed"):
            kernels.add[(1,)](x, x, constant, 256, BLOCK=256)
        with (
            pytest.raises(amdjit.SanitizerError, match="read-only"),
            amdjit.sanitize("memory"),
        ):
            kernels.add[(1,)](x, x, constant, 256, BLOCK=256)
    assert not constant.any()


def test_a_tensor_of_the_devices_memory_is_that_memory() -> None:
    with amdjit.triton.use("emulator:gfx1201"), amdjit.use("emulator:gfx1201"):
        there = amdjit.to_device(np.arange(256, dtype=np.float32))
        tensor, out = torch.from_dlpack(there), np.zeros((16, 16), np.float32)
        kernels.add[(1,)](tensor, there, out.T, 256, BLOCK=256)
        with amdjit.sanitize(*ALL):
            kernels.add[(1,)](tensor, there, there, 256, BLOCK=256)
        assert (there.copy_to_host() == out.ravel()).all()
        assert out[1, 0] == 32


def test_threads_may_have_arrays_in_common() -> None:
    x, failed = torch.ones(1024), []

    def launch() -> None:
        for _ in range(50):
            out = torch.empty(1024)
            try:
                kernels.add[(4,)](x, x, out, 1024, BLOCK=256)
            except amdjit.AmdjitError as error:
                failed.append(error)
            if not (out == 2).all():
                failed.append(out)

    with amdjit.triton.use("emulator:gfx1201"):
        kernels.add[(4,)](x, x, torch.empty(1024), 1024, BLOCK=256)
        threads = [threading.Thread(target=launch) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert not failed


def test_arrays_of_several_types_strides_and_kinds() -> None:
    a = np.arange(13, dtype=np.int8) - 6
    b, out = np.arange(26, dtype=ml_dtypes.bfloat16), np.zeros((5, 7), np.float16)
    with amdjit.triton.use("emulator:gfx1100"), amdjit.sanitize(*ALL):
        kernels.mixed[(1,)](a, b, out[1:3, 2:6], 0.5, False, 13, BLOCK=16)
        np.testing.assert_array_equal(out.ravel()[9:22], -(a * 0.5 + b[::2].astype(np.float32)))
        assert not out.ravel()[:9].any()
        assert not out.ravel()[22:].any()
        kernels.mixed[(1,)](a[::-1], b, out, 1.0, True, 1, BLOCK=16)
        assert out[0, 0] == a[-1] + b[0]


def test_arrays_of_pointers_reach_the_tensors_and_no_more() -> None:
    parts, out = [random(64, seed=seed) for seed in range(3)], torch.empty(64)
    pointers = torch.tensor([each.data_ptr() for each in parts])
    with amdjit.triton.use("emulator:gfx942"):
        kernels.sum_of_pointed_to[(1,)](pointers, out, COUNT=3, BLOCK=64)
        assert torch.equal(out, sum(parts))
        with amdjit.sanitize(*ALL):
            kernels.sum_of_pointed_to[(1,)](pointers.numpy(), out, COUNT=3, BLOCK=64)
        short = [each[:60].clone() for each in parts]
        pointers = torch.tensor([each.data_ptr() for each in short])
        with amdjit.sanitize("memory", raises=False) as found:
            kernels.sum_of_pointed_to[(1,)](pointers, out, COUNT=3, BLOCK=64)
        assert {each.message for each in found.reports} == {
            f"load of 4 bytes at *pointers[{n}][60], outside of *pointers[{n}] of shape (60,)"
            for n in range(3)
        }
        compiled = kernels.add.warmup(*[torch.float32] * 3, 64, BLOCK=64, grid=(1,))
        addresses = [each.data_ptr() for each in (parts[0], parts[1], out)]
        compiled[(1, 1, 1)](*addresses, 64, 64)
        assert torch.equal(out, parts[0] + parts[1])
        compiled[(1, 1, 1)](parts[0].numpy(), parts[2], out, 64, 64)
        assert torch.equal(out, parts[0] + parts[2])


def test_programs_may_call_the_device_cuda() -> None:
    with pytest.raises((AssertionError, RuntimeError)):
        torch.zeros(1, device="cuda")
    with amdjit.triton.use("emulator:gfx950"):
        x = torch.ones(256, device="cuda:0")
        out = torch.zeros(256, device=torch.device("cuda"))
        kernels.add[(1,)](x, x.cuda(), out, 256, BLOCK=256)
        torch.cuda.synchronize()
        before = out.cpu()
        kernels.add[(1,)](out, out, out, 256, BLOCK=256)
        assert (before == 2).all()
        assert (out == 4).all()
        assert torch.nn.Linear(4, 4).to("cuda")(x[:4]).shape == (4,)
        assert torch.cuda.get_device_properties(0).gcnArchName == "gfx950"
        assert torch.cuda.get_device_capability() == (9, 5)
    with pytest.raises((AssertionError, RuntimeError)):
        torch.zeros(1, device="cuda")


def test_triton_and_its_tests_see_an_amd_driver() -> None:
    internal = pytest.importorskip("triton._internal_testing")
    default = triton.runtime.driver._default
    with amdjit.triton.use("emulator:gfx942"):
        assert internal.is_hip_cdna3()
        triton.runtime.driver.reset_active()
        assert triton.runtime.driver.active.get_current_target().arch == "gfx942"
        with amdjit.triton.use("emulator:gfx1201"):
            assert internal.is_hip_rdna4()
        assert internal.is_hip_cdna3()
    assert triton.runtime.driver._default is default
    assert not internal.is_hip()


def test_arrays_in_tuples() -> None:
    a, b, out = np.arange(64, dtype=np.float32), np.ones(64, np.float32), np.zeros(64, np.float32)
    with amdjit.triton.use("emulator:gfx1201"):
        kernels.scaled_pair[(1,)]((a, b), 2.0, False, out, BLOCK=64)
    np.testing.assert_array_equal(out, 2 * a + 1)
