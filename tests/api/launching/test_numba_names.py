"""What Numba's dispatchers offer, under its names."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import boolean, f32, f64, i32, i64, void
from amdjit.intrinsics import sync
from amdjit.options import OptionError


def store(x, n):
    i = amdjit.grid(1)
    if i < n:
        x[i] = n


@amdjit.kernel("(f32[:], i32)")
def specialised(x, n):
    i = amdjit.grid(1)
    if i < n:
        x[i] = n


def test_overloads_are_listed_by_their_types() -> None:
    kernel = amdjit.kernel(store)
    assert len(kernel.overloads) == 0
    x = np.zeros(8, np.float32)
    kernel[1, 8](x, 3)
    kernel[1, 8](x.astype(np.float64), 3)
    kernel[1, 8](amdjit.to_device(x)[::2], 3)
    kernel[1, 8](x, np.int32(3))
    assert kernel.signatures == [
        (f32[::1], i64), (f64[::1], i64), (f32[:], i64), (f32[::1], i32),
    ]  # fmt: skip
    first = kernel.specialisations[0]
    for key in [(f32[::1], i64), void(f32[::1], i64), "(f32[::1], int64)"]:
        assert kernel.overloads[key] is first
    assert kernel.overloads[f64[:], i64] is kernel.specialisations[1]
    with pytest.raises(KeyError):
        kernel.overloads[f32[:], f32]
    assert "(f32[:], i64)" in repr(kernel.overloads)
    assert kernel.py_func is store


def test_overloads_are_those_of_the_current_processor() -> None:
    kernel = amdjit.kernel(store)
    kernel.compile(f32[:], i32, target="gfx1100")
    assert len(kernel.overloads) == 0
    assert len(kernel.specialisations) == 1
    assert kernel.get_regs_per_thread("(f32[:], i32)") > 0
    assert len(kernel.overloads) == 1


@pytest.mark.filterwarnings("ignore::amdjit.PerformanceWarning")
def test_resources_by_signature_and_of_all() -> None:
    @amdjit.kernel
    def uses(x, many):
        tile = amdjit.shared.array(10, x.dtype)
        kept = amdjit.local.array(500, x.dtype)
        for j in range(500):
            kept[j] = x[j]
        i = amdjit.threadIdx.x
        tile[i] = kept[i32(x[i])]
        amdjit.syncthreads()
        x[i] = tile[9 - i]
        if many:
            print(x[0])

    signatures: list[Any] = [(f32[::1], boolean), (f64[::1], boolean)]
    for signature, size in zip(signatures, (4, 8), strict=True):
        assert uses.get_shared_mem_per_block(signature) == 10 * size
        assert uses.get_local_mem_per_thread(signature) >= 500 * size
        assert uses.get_max_threads_per_block(signature) == 1024
        compiled = uses.compile(*signature)
        assert uses.get_regs_per_thread(signature) == compiled.resources.vgprs
        assert compiled.local_mem_per_thread == compiled.resources.scratch_bytes
    assert uses.get_shared_mem_per_block() == {signatures[0]: 40, signatures[1]: 80}
    assert uses.get_const_mem_size() == {signature: 0 for signature in signatures}


def test_the_only_signature_needs_no_name() -> None:
    assert specialised.get_regs_per_thread() == specialised.compile("(f32[:], i32)").resources.vgprs
    assert specialised.get_const_mem_size() == 0
    assert specialised.specialized


def test_stages_of_one_signature() -> None:
    kernel = amdjit.kernel(store)
    signature = (f32[::1], i32)
    assert "s_endpgm" in kernel.inspect_asm(signature)
    assert kernel.inspect_sass(signature) == kernel.inspect_asm("(f32[:], i32)")
    assert "define" in kernel.inspect_llvm(signature)
    assert "store" in kernel.inspect_types(signature)
    assert kernel.inspect_llvm() == {"store(f32[::1], i32)": kernel.inspect_llvm(signature)}
    assert kernel.inspect_asm()[signature] == kernel.inspect_asm()["(f32[:], i32)"]
    assert signature in kernel.inspect_asm()
    with pytest.raises(KeyError):
        kernel.inspect_asm()[f32, i32]
    with pytest.raises(amdjit.LaunchError, match="no handlers of arguments"):
        _ = kernel.extensions


def test_specialised_kernels_are_kept_by_types() -> None:
    kernel = amdjit.kernel(store)
    first = kernel.specialize(f32[::1], i32)
    assert first is kernel.specialize(f32[::1], i32)
    assert first is not kernel.specialize(f32[:], i32)
    assert len(kernel.specialized_kernels) == 2
    x = np.zeros(4, np.float32)
    first[1, 4](x, np.int64(4))
    np.testing.assert_array_equal(x, 4)
    with pytest.raises(amdjit.LaunchError, match="No matching definition"):
        first[1, 4](x.astype(np.float64), 4)
    with pytest.raises(amdjit.LaunchError, match="has a signature already"):
        first.specialize(f32[::1], i32)


def test_signatures_travel_with_pickled_kernels() -> None:
    assert pickle.loads(pickle.dumps(specialised)) is specialised
    make, parts = specialised.pickled_parts()
    again = make(*copy.deepcopy(parts))
    assert again.specialized
    with pytest.raises(amdjit.LaunchError, match="No matching definition"):
        again[1, 1](np.zeros(1), 1)


def test_cooperative_kernels_say_so() -> None:
    @amdjit.kernel
    def waits(x):
        sync.grid()
        x[0] = 1

    waits[1, 1](np.zeros(1, np.float32))
    store_kernel = amdjit.kernel(store)
    store_kernel[1, 1](np.zeros(1, np.float32), 1)
    assert [each.cooperative for each in waits.overloads.values()] == [True]
    assert [each.cooperative for each in store_kernel.overloads.values()] == [False]
    (only,) = waits.overloads.values()
    assert only.max_cooperative_grid_blocks(64) == waits.max_cooperative_grid(64)
    assert waits.max_cooperative_grid_blocks(64) == waits.max_cooperative_grid(64)
    assert waits.max_cooperative_grid(64, signature="(f32[:])") == waits.max_cooperative_grid(64)


def many(x, out):
    """Needs more than 40 VGPRs."""
    i = amdjit.grid(1)
    v = amdjit.f32x32()
    for j in amdjit.static_range(32):
        v[j] = x[i * 64 + j]
    w = v * v
    for _ in range(10):
        v = v * w + v
        w = w * v - w
    total = f32(0)
    for j in amdjit.static_range(32):
        total += v[j] * w[31 - j]
    out[i] = total


def test_max_registers_bounds_the_registers() -> None:
    plain = amdjit.kernel(many).compile(f32[:], f32[:], target="gfx1201")
    assert plain.resources.vgprs > 48
    for most in (48, 32):
        with pytest.warns(amdjit.PerformanceWarning, match="spills"):
            bounded = amdjit.kernel(max_registers=most)(many).compile(
                f32[:], f32[:], target="gfx1201"
            )
        assert bounded.resources.vgprs <= most


def test_launch_bounds_are_the_block_and_the_waves() -> None:
    kernel = amdjit.kernel(launch_bounds=128)(store)
    kernel[1, 128](np.zeros(1, np.float32), 1)
    with pytest.raises(amdjit.LaunchError, match="at most 128"):
        kernel[1, 256](np.zeros(1, np.float32), 1)
    compiled = amdjit.kernel(launch_bounds=(256, 4, 2))(store).compile(f32[:], i32)
    assert (compiled.options.block, compiled.options.waves_per_eu) == (256, 8)
    assert '"amdgpu-waves-per-eu"="8"' in compiled.llvm
    assert amdjit.kernel(min_blocks=2)(store).compile(f32[:], i32, block=64, wave_size=64)
    assert amdjit.kernel(launch_bounds=None, opt=None)(store).compile(f32[:], i32)


@pytest.mark.filterwarnings("ignore::amdjit.PerformanceWarning")
def test_options_as_numba_spells_them() -> None:
    def options(**given: Any) -> Any:
        return amdjit.kernel(**given)(store).compile(f32[:], i32).options

    assert [options(opt=opt).opt_level for opt in (True, False, 2)] == [3, 0, 2]
    assert [options(lineinfo=on).debug_info for on in (True, False)] == [True, False]
    assert [options(debug=on).debug_variables for on in (True, False)] == [True, False]
    assert options(boundscheck=True).bounds_check
    assert options(fastmath={"fast"}) == options(fastmath=True)
    assert options(fastmath={"nnan", "contract"}).fast_math_flags == ("nnan", "contract")
    assert [options(inline=inline).inline for inline in ("always", "never")] == [True, None]
    assert options(forceinline=True).inline
    assert options(shared_memory_carveout="MaxL1") == options(shared_memory_carveout=-1)
    assert options(cache=True, link=[], extensions=(), lto=False) == options()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"link": ["a.ptx"]}, "declare functions of bitcode"),
        ({"lto": True}, "optimised together"),
        ({"argtypes": (1,)}, "types stand first"),
        ({"launch_bounds": (1, 2, 3, 4)}, "Got 4 launch bounds"),
        ({"shared_memory_carveout": 101}, "between -1 and 100"),
        ({"shared_memory_carveout": "most"}, "Invalid carveout value"),
        ({"launch_bounds": 1.5}, "the most work-items"),
        ({"launch_bounds": (1024, 9)}, "holds 64"),
        ({"launch_bounds": 128, "block": 3}, "both say block="),
        ({"min_blocks": 2, "waves_per_eu": 2}, "one of the two"),
        ({"min_blocks": 0}, "1 workgroup or more"),
        ({"max_registers": 3}, "8 VGPRs"),
        ({"cache": 3}, "True or False"),
        ({"lineinfo": 3}, "True or False"),
        ({"opt": 7}, "0, 1, 2 or 3"),
        ({"launch_bound": 3}, "no option 'launch_bound'"),
    ],
)
def test_wrong_options_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        amdjit.kernel(**given)(store)
