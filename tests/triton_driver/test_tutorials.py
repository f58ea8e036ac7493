"""What Triton's tutorials teach, in kernels of our own, as whole programs of tensors on "cuda": on
the emulator under all checks, against PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import amdjit
import amdjit.triton

pytest.importorskip("triton", reason="Triton is not installed")
torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import triton
import triton.language as tl
from triton.language.extra import libdevice

pytestmark = pytest.mark.foreign
PROCESSORS = ("gfx1201", "gfx1100", "gfx942", "gfx950")
ALL = ("memory", "race", "init", "sync")


@pytest.fixture(params=PROCESSORS)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    torch.manual_seed(27)
    with (
        amdjit.triton.use(f"emulator:{request.param}"),
        amdjit.sanitize(*ALL, raises=False) as found,
    ):
        yield request.param
    # Waves hold copies of a sum, which differ in the last bit; buffer atomics lack a scope.
    allowed = {"lanes", "scope"}
    assert [each.render() for each in found.reports if each.kind not in allowed] == []


@triton.jit
def softmax_of_rows(x, out, rows, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=2):
        values = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, 0))
        tl.store(out + row * columns + i, powers / tl.sum(powers, 0), mask=i < columns)


def test_fused_softmax_of_programs_that_stay(device: str) -> None:
    x = torch.randn(37, 181, device="cuda")
    out = torch.empty_like(x)
    softmax_of_rows[(8,)](x, out, 37, 181, BLOCK=256)
    torch.testing.assert_close(out, torch.softmax(x, 1))


@triton.jit
def program_of(tile, m_tiles, n_tiles, GROUP: tl.constexpr):
    """Return the row and the column of a tile: GROUP rows at a time share columns."""
    first = tile // (GROUP * n_tiles) * GROUP
    height = min(m_tiles - first, GROUP)
    inner = tile % (GROUP * n_tiles)
    return first + inner % height, inner // height


@triton.jit
def tile_product(a, b, m, n, k, row, column, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, inner = row * M + tl.arange(0, M), column * N + tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        at = start + inner
        left_inside = (rows[:, None] < m) & (at[None, :] < k)
        right_inside = (at[:, None] < k) & (columns[None, :] < n)
        left = tl.load(a + rows[:, None] * k + at[None, :], mask=left_inside, other=0.0)
        right = tl.load(b + at[:, None] * n + columns[None, :], mask=right_inside, other=0.0)
        total = tl.dot(left, right, total)
    return total


@triton.jit
def store_tile(c, total, m, n, row, column, M: tl.constexpr, N: tl.constexpr):
    rows, columns = row * M + tl.arange(0, M), column * N + tl.arange(0, N)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(c.dtype.element_ty), mask=inside)


@triton.jit
def leaky(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.autotune(
    configs=[
        triton.Config({"M": 32, "N": 32, "K": 32, "GROUP": 2}, num_warps=2),
        triton.Config({"M": 64, "N": 32, "K": 32, "GROUP": 4}, num_warps=4),
    ],
    key=["m", "n", "k"],
)
@triton.jit
def grouped_order(
    a, b, c, m, n, k,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr, END: tl.constexpr,
):  # fmt: skip
    row, column = program_of(tl.program_id(0), tl.cdiv(m, M), tl.cdiv(n, N), GROUP)
    total = tile_product(a, b, m, n, k, row, column, M, N, K)
    if END == "leaky":
        total = leaky(total)
    store_tile(c, total, m, n, row, column, M, N)


@pytest.mark.parametrize("end", ["", "leaky"])
def test_products_in_grouped_order_with_autotuning(device: str, end: str) -> None:
    m, n, k = 100, 90, 70
    a, b = (torch.randn(size, device="cuda", dtype=torch.float16) for size in ((m, k), (k, n)))
    c = torch.empty(m, n, device="cuda", dtype=torch.float16)
    grouped_order[lambda facts: (triton.cdiv(m, facts["M"]) * triton.cdiv(n, facts["N"]),)](
        a, b, c, m, n, k, END=end
    )
    wanted = a.float() @ b.float()
    wanted = torch.nn.functional.leaky_relu(wanted) if end else wanted
    torch.testing.assert_close(c.float(), wanted, rtol=1e-2, atol=1e-2)


@triton.jit
def staying_product(
    a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr
):  # fmt: skip
    m_tiles, n_tiles = tl.cdiv(m, M), tl.cdiv(n, N)
    for tile in tl.range(tl.program_id(0), m_tiles * n_tiles, tl.num_programs(0), flatten=True):
        row, column = program_of(tile, m_tiles, n_tiles, GROUP)
        total = tile_product(a, b, m, n, k, row, column, M, N, K)
        store_tile(c, total, m, n, row, column, M, N)


def test_products_of_programs_that_stay(device: str) -> None:
    m, n, k = 130, 100, 64
    a, b = torch.randn(m, k, device="cuda"), torch.randn(k, n, device="cuda")
    c = torch.empty(m, n, device="cuda")
    staying_product[(5,)](a, b, c, m, n, k, 32, 32, 32, 2)
    torch.testing.assert_close(c, a @ b, rtol=2e-2, atol=2e-2)


@triton.jit
def many_products(
    left, right, result, sizes, count, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):  # fmt: skip
    tile, before = tl.program_id(0), 0
    for group in range(count):
        m, n = tl.load(sizes + group * 3), tl.load(sizes + group * 3 + 1)
        k = tl.load(sizes + group * 3 + 2)
        n_tiles = tl.cdiv(n, N)
        tiles = tl.cdiv(m, M) * n_tiles
        while tile >= before and tile < before + tiles:
            a = tl.load(left + group).to(tl.pointer_type(tl.float16))
            b = tl.load(right + group).to(tl.pointer_type(tl.float16))
            c = tl.load(result + group).to(tl.pointer_type(tl.float16))
            row, column = (tile - before) // n_tiles, (tile - before) % n_tiles
            total = tile_product(a, b, m, n, k, row, column, M, N, K)
            store_tile(c, total, m, n, row, column, M, N)
            tile += tl.num_programs(0)
        before += tiles


def test_products_of_groups_by_arrays_of_pointers(device: str) -> None:
    sizes = [(64, 32, 32), (50, 70, 40), (16, 100, 90)]
    make = {"device": "cuda", "dtype": torch.float16}
    lefts = [torch.randn(m, k, **make) for m, _, k in sizes]
    rights = [torch.randn(k, n, **make) for _, n, k in sizes]
    results = [torch.zeros(m, n, **make) for m, n, _ in sizes]
    pointers = [
        torch.tensor([each.data_ptr() for each in tensors], device="cuda")
        for tensors in (lefts, rights, results)
    ]
    shapes = torch.tensor(sizes, device="cuda", dtype=torch.int32)
    many_products[(4,)](*pointers, shapes, 3, 32, 32, 32)
    for a, b, c in zip(lefts, rights, results, strict=True):
        torch.testing.assert_close(c.float(), a.float() @ b.float(), rtol=1e-2, atol=1e-2)


@triton.jit
def seeded_dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + i, mask=i < n)
    keeps = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keeps, values / (1 - p), 0.0), mask=i < n)


def test_dropout_keeps_no_mask(device: str) -> None:
    x = torch.randn(2000, device="cuda")
    outs = [torch.empty_like(x) for _ in range(3)]
    for out, seed in zip(outs, (123, 123, 512), strict=True):
        seeded_dropout[(2,)](x, out, 2000, 0.5, seed, BLOCK=1024)
    assert torch.equal(outs[0], outs[1])
    assert not torch.equal(outs[0], outs[2])
    kept = outs[0] != 0
    torch.testing.assert_close(outs[0][kept], 2 * x[kept])
    assert 0.45 < kept.float().mean() < 0.55


@triton.jit
def norm_forward(x, y, w, b, means, scales, n, epsilon, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    inside = i < n
    values = tl.load(x + row * n + i, mask=inside, other=0.0)
    mean = tl.sum(values) / n
    centred = tl.where(inside, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred) / n + epsilon)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)
    result = centred * scale * tl.load(w + i, mask=inside) + tl.load(b + i, mask=inside)
    tl.store(y + row * n + i, result, mask=inside)


@triton.jit
def norm_backward(
    dx, dy, dw, db, x, w, means, scales, locks, n, GROUPS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    inside = i < n
    mean, scale = tl.load(means + row), tl.load(scales + row)
    normal = (tl.load(x + row * n + i, mask=inside, other=0.0) - mean) * scale
    gradient = tl.load(dy + row * n + i, mask=inside, other=0.0)
    weighted = gradient * tl.load(w + i, mask=inside, other=0.0)
    normal = tl.where(inside, normal, 0.0)
    along, level = tl.sum(normal * weighted) / n, tl.sum(weighted) / n
    tl.store(dx + row * n + i, (weighted - (normal * along + level)) * scale, mask=inside)
    # The rows of a group add up what they find, one after the other.
    group = row % GROUPS
    lock, count = locks + group, locks + GROUPS + group
    places_w, places_b = dw + group * n + i, db + group * n + i
    part_w, part_b = gradient * normal, gradient
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        part_w += tl.load(places_w, mask=inside)
        part_b += tl.load(places_b, mask=inside)
    tl.store(places_w, part_w, mask=inside)
    tl.store(places_b, part_b, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


class Norm(torch.autograd.Function):  # type: ignore[misc,name-defined,unused-ignore]
    @staticmethod
    def forward(ctx: Any, x: Any, w: Any, b: Any) -> Any:
        rows, n = x.shape
        y, means, scales = torch.empty_like(x), x.new_empty(rows), x.new_empty(rows)
        norm_forward[(rows,)](x, y, w, b, means, scales, n, 1e-5, BLOCK=256)
        ctx.save_for_backward(x, w, means, scales)
        return y

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        x, w, means, scales = ctx.saved_tensors
        (rows, n), groups = x.shape, 3
        dx, dw, db = torch.empty_like(x), x.new_empty(groups, n), x.new_empty(groups, n)
        locks = torch.zeros(2 * groups, dtype=torch.int32, device="cuda")
        norm_backward[(rows,)](dx, dy, dw, db, x, w, means, scales, locks, n, groups, BLOCK=256)
        return dx, dw.sum(0), db.sum(0)


def test_layer_norm_with_gradients(device: str) -> None:
    x = torch.randn(11, 100, device="cuda", requires_grad=True)
    w = torch.rand(100, device="cuda", requires_grad=True)
    b = torch.rand(100, device="cuda", requires_grad=True)
    seed = torch.randn(11, 100, device="cuda")
    wanted = torch.nn.functional.layer_norm(x, (100,), w, b, 1e-5)
    gradients = torch.autograd.grad(wanted, (x, w, b), seed)
    found = Norm.apply(x, w, b)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)
    for each, gradient in zip(torch.autograd.grad(found, (x, w, b), seed), gradients, strict=True):
        torch.testing.assert_close(each, gradient, rtol=1e-3, atol=1e-3)


@triton.jit
def attention_forward(
    q, k, v, out, sums, scale, LENGTH: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    start = tl.program_id(0) * BLOCK
    head = tl.program_id(1) * LENGTH * WIDTH
    rows, i = start + tl.arange(0, BLOCK), tl.arange(0, WIDTH)
    query = tl.load(q + head + rows[:, None] * WIDTH + i[None, :])
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    weight, total = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK, WIDTH), tl.float32)
    for there in range(0, start + BLOCK, BLOCK):
        columns = there + tl.arange(0, BLOCK)
        key = tl.load(k + head + columns[None, :] * WIDTH + i[:, None])
        scores = tl.dot(query, key) * scale
        scores = tl.where(rows[:, None] >= columns[None, :], scores, -float("inf"))
        highest = tl.maximum(best, tl.max(scores, 1))
        chances, shrink = tl.exp(scores - highest[:, None]), tl.exp(best - highest)
        weight = weight * shrink + tl.sum(chances, 1)
        value = tl.load(v + head + columns[:, None] * WIDTH + i[None, :])
        total = total * shrink[:, None] + tl.dot(chances.to(value.dtype), value)
        best = highest
    places = out + head + rows[:, None] * WIDTH + i[None, :]
    tl.store(places, (total / weight[:, None]).to(out.dtype.element_ty))
    tl.store(sums + tl.program_id(1) * LENGTH + rows, best + tl.log(weight))


@triton.jit
def attention_backward(
    q, k, v, out, sums, dout, dq, dk, dv, scale,
    LENGTH: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    there = tl.program_id(0) * BLOCK
    head, heads = tl.program_id(1) * LENGTH * WIDTH, tl.program_id(1) * LENGTH
    columns, i = there + tl.arange(0, BLOCK), tl.arange(0, WIDTH)
    at = head + columns[:, None] * WIDTH + i[None, :]
    key, value = tl.load(k + at), tl.load(v + at)
    for_key, for_value = tl.zeros((BLOCK, WIDTH), tl.float32), tl.zeros((BLOCK, WIDTH), tl.float32)
    for start in range(there, LENGTH, BLOCK):
        rows = start + tl.arange(0, BLOCK)
        here = head + rows[:, None] * WIDTH + i[None, :]
        query, gradient = tl.load(q + here), tl.load(dout + here)
        chances = tl.exp(tl.dot(query, key.trans()) * scale - tl.load(sums + heads + rows)[:, None])
        chances = tl.where(rows[:, None] >= columns[None, :], chances, 0.0)
        for_value += tl.dot(chances.to(gradient.dtype).trans(), gradient)
        level = tl.sum(tl.load(out + here).to(tl.float32) * gradient.to(tl.float32), 1)
        change = chances * (tl.dot(gradient, value.trans()) - level[:, None]) * scale
        change = change.to(query.dtype)
        for_key += tl.dot(change.trans(), query)
        tl.atomic_add(dq + here, tl.dot(change, key))
    tl.store(dk + at, for_key)
    tl.store(dv + at, for_value)


def test_fused_attention_with_gradients(device: str) -> None:
    heads, length, width, scale = 2, 64, 32, 0.3
    shape = (heads, length, width)
    q, k, v, gradient = (torch.randn(shape, device="cuda", dtype=torch.float16) for _ in range(4))
    out, sums = torch.empty_like(q), torch.empty(heads, length, device="cuda")
    attention_forward[(4, heads)](q, k, v, out, sums, scale, length, width, 16)
    given = [each.float().requires_grad_() for each in (q, k, v)]
    scores = given[0] @ given[1].mT * scale
    later = torch.ones(length, length, dtype=torch.bool).triu(1)
    wanted = torch.softmax(scores.masked_fill(later, -torch.inf), -1) @ given[2]
    torch.testing.assert_close(out.float(), wanted, rtol=1e-2, atol=1e-2)
    found = [torch.zeros(shape, device="cuda") for _ in range(3)]
    attention_backward[(4, heads)](
        q, k, v, out, sums, gradient, *found, scale, length, width, 16
    )  # fmt: skip
    for each, right in zip(
        found, torch.autograd.grad(wanted, given, gradient.float()), strict=True
    ):
        torch.testing.assert_close(each, right, rtol=3e-2, atol=3e-2)


@triton.jit
def arc_sines(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, libdevice.asin(tl.load(x + i, mask=i < n)), mask=i < n)


def test_functions_of_a_library(device: str) -> None:
    x = torch.rand(500, device="cuda") * 2 - 1
    out = torch.empty_like(x)
    arc_sines[(2,)](x, out, 500, BLOCK=256)
    torch.testing.assert_close(out, torch.asin(x))


@triton.jit
def scaled_tiles(
    a, sa, b, sb, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):  # fmt: skip
    rows, columns = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    inner, groups = tl.arange(0, K // 2), tl.arange(0, K // 32)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        left = tl.load(a + rows[:, None] * (k // 2) + (start // 2 + inner)[None, :])
        right = tl.load(b + columns[None, :] * (k // 2) + (start // 2 + inner)[:, None])
        at = (start // 32 + groups)[None, :]
        left_scale = tl.load(sa + rows[:, None] * (k // 32) + at)
        right_scale = tl.load(sb + columns[:, None] * (k // 32) + at)
        total = tl.dot_scaled(left, left_scale, "e2m1", right, right_scale, "e2m1", total)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


FOUR_BITS = [0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6]


def test_products_of_blocks_with_scales(device: str) -> None:
    m, n, k = 64, 64, 256
    a, b = (torch.randint(0, 256, (rows, k // 2), dtype=torch.uint8) for rows in (m, n))
    sa, sb = (torch.randint(124, 131, (rows, k // 32), dtype=torch.uint8) for rows in (m, n))
    c = torch.empty(m, n)
    scaled_tiles[(2, 2)](a, sa, b, sb, c, n, k, 32, 32, 128)

    def values(packed: Any, scales: Any) -> Any:
        table = torch.tensor(FOUR_BITS)
        numbers = table[torch.stack([packed & 15, packed >> 4], -1).long()].flatten(1)
        return numbers * torch.exp2(scales.float() - 127).repeat_interleave(32, 1)

    torch.testing.assert_close(c, values(a, sa) @ values(b, sb).T, rtol=1e-2, atol=1e-2)
