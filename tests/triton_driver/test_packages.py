"""Kernels of packages that people install, on the emulator under all checks, against PyTorch: those
of liger-kernel, flash-linear-attention (fla-core), bitsandbytes, cut-cross-entropy and torchao.
docs/foreign.md has what they showed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import amdjit
import amdjit.triton

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

pytestmark = pytest.mark.foreign
F = torch.nn.functional
PROCESSORS = ("gfx1201", "gfx942")
# Kernels that store where they load have waves that load what others have stored already, and do
# nothing with it: Triton gives small blocks to several waves, of which one stores.
IN_PLACE = {"geglu", "swiglu", "rope", "jsd", "cross_entropy", "fused_linear_cross_entropy"}
# Lanes and waves hold copies of a sum, which were added in another order and differ in the last
# bit; Triton writes all copies to one place of LDS.
OF_COPIES = {"linear_attention", "gated_linear_attention", "delta_rule"}


@pytest.fixture(params=PROCESSORS)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with amdjit.triton.use(f"emulator:{request.param}"):
        yield request.param


def operation(module: str, name: str) -> Any:
    return getattr(pytest.importorskip(module, reason="it is not installed"), name)


def liger(module: str, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = operation(
        f"liger_kernel.ops.{module}", f"Liger{name}Function"
    ).apply
    return found


def expect(found: Any, wanted: Any, inputs: tuple[Any, ...] = (), close: float = 1e-4) -> None:
    """Compare results, and gradients of inputs."""
    torch.testing.assert_close(found, wanted, rtol=close, atol=close)
    if not inputs:
        return
    seed = torch.randn_like(wanted)
    gradients = torch.autograd.grad(wanted, inputs, seed)
    found.backward(seed)
    for each, gradient in zip(inputs, gradients, strict=True):
        torch.testing.assert_close(each.grad, gradient, rtol=10 * close, atol=10 * close)


def random(*shape: int) -> Any:
    return torch.randn(*shape, requires_grad=True)


def rms_norm() -> None:
    x, w = random(6, 200), random(200)
    wanted = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w
    expect(liger("rms_norm", "RMSNorm")(x, w, 1e-6), wanted, (x, w))


def layer_norm() -> None:
    x, w, b = random(6, 200), random(200), random(200)
    wanted = F.layer_norm(x, (200,), w, b, 1e-6)
    expect(liger("layer_norm", "LayerNorm")(x, w, b, 1e-6), wanted, (x, w, b))


def group_norm() -> None:
    x, w, b = torch.randn(2, 8, 20), torch.randn(8), torch.randn(8)
    found = liger("group_norm", "GroupNorm")(x, w, b, 8, 4, 1e-6)
    expect(found, F.group_norm(x, 4, w, b, 1e-6), close=1e-3)


def swiglu() -> None:
    a, b = random(4, 100), random(4, 100)
    expect(liger("swiglu", "SiLUMul")(a, b), F.silu(a) * b, (a, b))


def geglu() -> None:
    a, b = random(4, 100), random(4, 100)
    expect(liger("geglu", "GELUMul")(a, b), F.gelu(a, approximate="tanh") * b, (a, b))


def softmax() -> None:
    x = torch.randn(5, 300)
    expect(liger("softmax", "Softmax")(x), torch.softmax(x, -1))


def tanh() -> None:
    x, a, g, b = torch.randn(4, 96), torch.tensor([0.5]), torch.randn(96), torch.randn(96)
    expect(liger("dyt", "DyT")(x, a, g, b), g * torch.tanh(a * x) + b)


def embedding() -> None:
    table, rows = torch.randn(50, 40), torch.randint(0, 50, (3, 7))
    expect(liger("experimental.embedding", "Embedding")(table, rows), table[rows])


def rope() -> None:
    q, k, width = torch.randn(2, 4, 10, 32), torch.randn(2, 4, 10, 32), 32
    angles = torch.outer(torch.arange(10.0), 1 / 10000 ** (torch.arange(0, width, 2) / width))
    angles = torch.cat((angles, angles), -1)[None]

    def turned(x: Any) -> Any:
        half = torch.cat((-x[..., width // 2 :], x[..., : width // 2]), -1)
        return x * angles.cos()[:, None] + half * angles.sin()[:, None]

    wanted = turned(q), turned(k)
    found = liger("rope", "Rope")(q.clone(), k.clone(), angles.cos(), angles.sin())
    for each, one in zip(found, wanted, strict=True):
        expect(each, one)


def kl_divergence() -> None:
    x, t = torch.log_softmax(torch.randn(8, 100), -1), torch.softmax(torch.randn(8, 100), -1)
    found = liger("kl_div", "KLDivLoss")(x.clone().requires_grad_(), t, "batchmean", False, 1e-10)
    expect(found, F.kl_div(x, t, reduction="batchmean"))


def jsd() -> None:
    x, t = (torch.log_softmax(torch.randn(8, 100), -1) for _ in range(2))
    mean = torch.log((x.exp() + t.exp()) / 2)
    parts = [F.kl_div(mean, each, reduction="batchmean", log_target=True) for each in (x, t)]
    found = liger("jsd", "JSD")(x.clone().requires_grad_(), t, None, 0.5, -100)
    expect(found, sum(parts) / 2)


def cross_entropy() -> None:
    x, t = torch.randn(8, 300), torch.randint(0, 300, (8,))
    found = liger("cross_entropy", "CrossEntropy")(x.clone().requires_grad_(), t, None)
    expect(found[0], F.cross_entropy(x, t))


def fused_linear_cross_entropy() -> None:
    x, w, t = torch.randn(8, 64), torch.randn(200, 64), torch.randint(0, 200, (8,))
    function = liger("fused_linear_cross_entropy", "FusedLinearCrossEntropy")
    found = function(x.clone().requires_grad_(), w.clone().requires_grad_(), t)
    expect(found[0], F.cross_entropy(x @ w.T, t))


def recurrent(q: Any, k: Any, v: Any, decay: Any = None, beta: Any = None) -> Any:
    """Linear attention step by step, with decay of the state, or by the delta rule."""
    state, rows = torch.zeros(1, 2, 16, 16), []
    for t in range(q.shape[1]):
        key, value = k[:, t, :, :, None], v[:, t, :, None, :]
        if decay is not None:
            state = state * decay[:, t, :, :, None].exp()
        if beta is not None:
            value = beta[:, t, :, None, None] * (value - (key * state).sum(-2, keepdim=True))
        state = state + key * value
        rows.append((q[:, t, :, :, None] * state).sum(-2))
    return torch.stack(rows, 1)


def steps() -> tuple[Any, ...]:
    return tuple(torch.randn(1, 20, 2, 16) for _ in range(3))


def linear_attention() -> None:
    function = operation("fla.ops.linear_attn", "fused_recurrent_linear_attn")
    q, k, v = steps()
    expect(function(q, k, v, scale=1.0, normalize=False)[0], recurrent(q, k, v), close=1e-3)


def gated_linear_attention() -> None:
    (q, k, v), decay = steps(), F.logsigmoid(torch.randn(1, 20, 2, 16))
    found = operation("fla.ops.gla", "fused_recurrent_gla")(q, k, v, decay, scale=1.0)[0]
    expect(found, recurrent(q, k, v, decay), close=1e-3)


def delta_rule() -> None:
    (q, k, v), beta = steps(), torch.rand(1, 20, 2)
    k = F.normalize(k, dim=-1)
    function = operation("fla.ops.delta_rule", "fused_recurrent_delta_rule")
    expect(function(q, k, v, beta, scale=1.0)[0], recurrent(q, k, v, beta=beta), close=1e-3)


def chunked_linear_attention() -> None:
    q, k, v = (torch.randn(1, 64, 2, 32) for _ in range(3))
    function = operation("fla.ops.linear_attn", "chunk_linear_attn")
    scores = torch.einsum("bthd,bshd->bhts", q, k).tril()
    wanted = torch.einsum("bhts,bshd->bthd", scores, v)
    expect(function(q, k, v, scale=1.0, normalize=False)[0], wanted, close=5e-2)


def local_sums() -> None:
    x = torch.randn(2, 64, 4)
    found = operation("fla.ops.utils.cumsum", "chunk_local_cumsum")(x, 16)
    expect(found, x.view(2, 4, 16, 4).cumsum(2).view(2, 64, 4))


def blocks_of_eight_bits() -> None:
    kernels = "bitsandbytes.backends.triton.kernels_8bit_quant"
    quantize = operation(kernels, "quantize_blockwise_triton")
    levels = operation("bitsandbytes.functional", "create_dynamic_map")()
    on_cpu = torch.ops.bitsandbytes
    x = torch.randn(1000)
    found, largest = quantize(x, levels, 256)
    wanted, sizes = on_cpu.quantize_blockwise.default(x, levels, 256)
    # A value in the middle of two levels may be either.
    assert (found != wanted).sum() <= 2
    assert torch.equal(largest, sizes)
    back = operation(kernels, "dequant_8bit_blockwise")(wanted, sizes, levels, 256, torch.float32)
    expect(back, on_cpu.dequantize_blockwise.default(wanted, sizes, levels, 256, torch.float32))


def blocks_of_four_bits() -> None:
    kernels = "bitsandbytes.backends.triton.kernels_4bit"
    quantize = operation(kernels, "quantize_4bit_blockwise_triton")
    on_cpu, x = torch.ops.bitsandbytes, torch.randn(16, 64)
    for kind in ("nf4", "fp4"):
        largest, found = torch.empty(16, 1), torch.empty(8, 64, dtype=torch.uint8)
        quantize(x, 64, kind, 16, largest, 1024, found)
        wanted, sizes = on_cpu.quantize_4bit.default(x, 64, kind, torch.uint8)
        assert (found.ravel() != wanted.ravel()).sum() <= 8
        assert torch.equal(largest.ravel(), sizes)
        back = torch.empty(16, 64)
        dequantize = operation(kernels, "dequantize_4bit_impl")
        dequantize(wanted.ravel(), sizes, 64, kind, torch.float32, back)
        wanted = on_cpu.dequantize_4bit.default(wanted, sizes, 64, kind, (16, 64), torch.float32)
        expect(back, wanted)


def cut_cross_entropy() -> None:
    x, w = (torch.randn(rows, 64).bfloat16().requires_grad_() for rows in (40, 200))
    t = torch.randint(0, 200, (40,))
    found = operation("cut_cross_entropy", "linear_cross_entropy")(x, w, t)
    wanted = F.cross_entropy(x.float() @ w.float().T, t)
    expect(found.float(), wanted, close=2e-2)
    for each, right in zip(
        torch.autograd.grad(found, (x, w)), torch.autograd.grad(wanted, (x, w)), strict=True
    ):
        torch.testing.assert_close(each, right, rtol=5e-2, atol=5e-3)


def product_of_eight_bits() -> None:
    a, b = (torch.randint(-100, 100, size, dtype=torch.int8) for size in ((48, 64), (64, 40)))
    rows, columns = torch.rand(48), torch.rand(40)
    module = "torchao.prototype.quantized_training.int8_mm"
    found = operation(module, "scaled_int8_mm_cuda")(a, b, rows, columns)
    expect(found, a.float() @ b.float() * rows[:, None] * columns, close=1e-4)


CASES = (
    rms_norm, layer_norm, group_norm, swiglu, geglu, softmax, tanh, embedding, rope,
    kl_divergence, jsd, cross_entropy, fused_linear_cross_entropy, linear_attention,
    gated_linear_attention, delta_rule, chunked_linear_attention, local_sums, blocks_of_eight_bits,
    blocks_of_four_bits,
    cut_cross_entropy, product_of_eight_bits,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_results_are_those_of_pytorch(device: str, case: Callable[[], None]) -> None:
    importlib.import_module("triton")
    torch.manual_seed(27)
    name = case.__name__
    if device == "gfx942" and name in ("cross_entropy", "fused_linear_cross_entropy"):
        # liger-kernel takes half as many waves on AMD's processors if PyTorch is ROCm's.
        with pytest.raises(Exception, match="Required: 2048, Hardware limit: 1024"):
            case()
        return
    with amdjit.sanitize("memory", "race", "init", "sync", raises=False) as found:
        case()
    kinds = {(report.check, report.kind) for report in found.reports}
    allowed = {("race", "global")} if name in IN_PLACE else set()
    allowed |= {("race", "lanes"), ("race", "lds")} if name in OF_COPIES else set()
    assert kinds <= allowed
