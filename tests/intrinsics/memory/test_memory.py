"""Buffers with bounds, cache policies, prefetch, transposing loads, split barriers: run on the
emulator."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit import f16, f32, i32, shared, threadIdx, vector
from amdjit.intrinsics import amdgcn, memory, sync
from amdjit.intrinsics.models import matrix_layouts

RANDOM = np.random.default_rng(15)
f32x4 = vector(f32, 4)


@amdjit.kernel
def copy_bounded(x, out, dtype: amdjit.Const):
    i = amdjit.grid(1)
    source, target = memory.buffer(x), memory.buffer(out)
    memory.buffer_store(target, i, memory.buffer_load(source, i, dtype), "non_temporal")


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "f2", "f4", "f8"])
def test_buffers_read_nothing_and_write_nothing_out_of_bounds(dtype: str) -> None:
    x = RANDOM.integers(1, 100, 100).astype(dtype)
    out = np.zeros(80, dtype)
    copy_bounded[2, 64](x, out, amdjit.types.from_dtype(x.dtype))
    np.testing.assert_array_equal(out, x[:80])
    longer = np.full(120, 7, dtype)
    copy_bounded[2, 64](x, longer, amdjit.types.from_dtype(x.dtype))
    np.testing.assert_array_equal(longer, np.concatenate([x, np.zeros(20, dtype)]))


def test_buffers_move_vectors_of_128_bits_by_one_instruction() -> None:
    x, out = RANDOM.random(200, np.float32), np.zeros(200, np.float32)
    copy_bounded[1, 64](x, out, f32x4)
    np.testing.assert_array_equal(out, x)
    assembly = copy_bounded.compile(f32[:], f32[:], f32x4).asm_full
    assert assembly.count("buffer_load_b128") == 1
    assert assembly.count("buffer_store_b128") == 1
    assert "th:TH_STORE_NT" in assembly
    assert "v_cmp" not in assembly


@amdjit.kernel
def tally(x, out):
    i = amdjit.grid(1)
    memory.buffer_atomic_add(memory.buffer(out), i % 6, x[i])


@pytest.mark.parametrize("dtype", ["i4", "u4", "f4"])
def test_buffer_atomics_pass_over_what_is_out_of_bounds(dtype: str) -> None:
    x, out = RANDOM.integers(0, 50, 128).astype(dtype), np.zeros(4, dtype)
    tally[2, 64](x, out)
    np.testing.assert_array_equal(out, [x[k::6].sum() for k in range(4)])


@amdjit.kernel
def stream(x, out):
    i = amdjit.grid(1)
    memory.prefetch(x, 0, 2)
    memory.store_nontemporal(out, i, memory.load_nontemporal(x, i) + 1)


def test_streams_pass_the_caches_by() -> None:
    x, out = RANDOM.random(64, np.float32), np.zeros(64, np.float32)
    stream[1, 64](x, out)
    np.testing.assert_array_equal(out, x + np.float32(1))
    assembly = stream.compile(f32[:], f32[:]).asm_full
    assert assembly.count("th:TH_LOAD_NT") == assembly.count("th:TH_STORE_NT") == 1
    assert assembly.count("s_prefetch_data") == 1


@amdjit.kernel
def transposed(x, out, count: amdjit.Const):
    lane = threadIdx.x
    fragment = memory.load_transposed(x, 16, 32)
    for element in amdjit.static_range(count):
        out[lane, element] = fragment[element]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.int16])
def test_a_transposing_load_gives_the_fragment_of_b(dtype: Any) -> None:
    x = RANDOM.integers(-99, 99, (48, 64)).astype(dtype)
    out = np.zeros((32, 8), dtype)
    transposed[1, 32](x, out, 8)
    lane = np.arange(32)[:, None]
    np.testing.assert_array_equal(out, x[16 + 8 * (lane // 16) + np.arange(8), 32 + lane % 16])
    arrays = [amdjit.types.from_dtype(x.dtype)[:, :]] * 2
    assert transposed.compile(*arrays, 8).asm_full.count("global_load_tr_b128") == 1


def test_a_transposing_load_of_bytes_gives_the_fragment_of_b() -> None:
    x = RANDOM.integers(-99, 99, (48, 64)).astype(np.int8)
    out = np.zeros((32, 2), np.int32)
    transposed[1, 32](x, out, 2)
    lane = np.arange(32)[:, None]
    wanted = x[16 + 8 * (lane // 16) + np.arange(8), 32 + lane % 16]
    np.testing.assert_array_equal(out.view(np.int8), wanted)


@amdjit.kernel(wave_size=64)
def transposed_bytes(x, out):
    out[threadIdx.x] = memory.load_transposed(x, 16, 32)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.int16, np.int8])
def test_transposing_loads_in_wave64_give_the_layout_of_b(dtype: Any) -> None:
    """The layouts of `matrix_layouts` are those of AMD's calculator."""
    x = RANDOM.integers(-99, 99, (48, 64)).astype(dtype)
    if x.itemsize == 1:
        out, name = np.zeros((64, 4), np.int8), "wmma_i32_16x16x16_iu8_w64_gfx12"
        transposed_bytes[1, 64](x, out.view(np.int32)[:, 0])
    else:
        out, name = np.zeros((64, 4), dtype), "wmma_f32_16x16x16_f16_w64_gfx12"
        amdjit.kernel(wave_size=64)(transposed.function)[1, 64](x, out, 4)
    rows, columns = matrix_layouts.matrix_instruction(name).layout("b").positions()
    np.testing.assert_array_equal(out, x[16 + rows, 32 + columns])


@amdjit.kernel
def product(a, b, c):
    """One tile of A B, with A row-major in registers and B row-major through the transposing
    load."""
    lane = threadIdx.x
    left = a.load((lane % 16, 8 * (lane // 16)), 8)
    total = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(
        left, memory.load_transposed(b, 0, 0), vector(f32, 8)(0)
    )
    for element in amdjit.static_range(8):
        c[element + 8 * (lane // 16), lane % 16] = total[element]


def test_wmma_takes_the_transposed_fragment() -> None:
    a, b = (RANDOM.integers(-4, 5, (16, 16)).astype(np.float16) for _ in range(2))
    c = np.zeros((16, 16), np.float32)
    product[1, 32](a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@amdjit.kernel
def split(x, out):
    t = threadIdx.x
    tile = shared.array(256, f32)
    tile[t] = x[t]
    sync.setprio(2)
    sync.barrier_signal()
    own = x[t] * 2
    sync.sched_barrier()
    sync.sched_group_barrier(2, 4)
    sync.barrier_wait()
    out[t] = tile[(t + 77) % 256] + own
    sync.sleep(1)
    sync.wait_loads(1)
    sync.wait_stores()
    sync.wait_lds()


@pytest.mark.parametrize("wave_size", [32, 64])
def test_a_split_barrier_makes_writes_seen(wave_size: int) -> None:
    x, out = RANDOM.random(256, np.float32), np.zeros(256, np.float32)
    kernel = amdjit.kernel(wave_size=wave_size)(split.function)
    kernel[1, 256](x, out)
    np.testing.assert_array_equal(out, np.roll(x, -77) + x * 2)
    assembly = kernel.compile(f32[:], f32[:]).asm_full
    assert assembly.count("s_barrier_signal") == assembly.count("s_barrier_wait") == 1


def test_what_other_processors_lack_names_what_they_have() -> None:
    with pytest.raises(amdjit.TargetError, match="syncthreads"):
        split.compile(f32[:], f32[:], target="gfx1100")
    with pytest.raises(amdjit.TargetError, match="make_buffer_rsrc"):
        copy_bounded.compile(f32[:], f32[:], f32, target="gfx1100")
    with pytest.raises(amdjit.CompileError, match="temporal"):
        copy_bounded_wrongly.compile(i32[:], i32[:])


@amdjit.kernel
def copy_bounded_wrongly(x, out):
    memory.buffer_store(memory.buffer(out), 0, x[0], "last_use")


def test_a_f16_buffer_is_not_widened() -> None:
    assert "buffer_load_u16" in copy_bounded.compile(f16[:], f16[:], f16).asm_full
