"""Kernels that are written instruction by instruction run on every family."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit.probe.machine_code import (
    INPUT,
    NOTHING,
    OFF,
    SCC,
    Dpp,
    EncodingError,
    Program,
    s,
    v,
)
from amdjit.target import Target, find_target

_NAMES = ("gfx1201", "gfx1100", "gfx1150", "gfx908", "gfx90a", "gfx942", "gfx950")


def _target(name: str) -> Target:
    target = find_target(name)
    assert target is not None
    return target


def _run(program: Program, rows: int, inputs: np.ndarray, lanes: int = 64) -> np.ndarray:
    """Run a kernel on workgroups of one wave; return rows of dwords."""
    with amdjit.use(f"emulator:{program.target.name}"):
        output = amdjit.to_device(np.zeros((rows, lanes), np.uint32))
        kernel = amdjit.load(program.code_object()).kernels["kernel"]
        kernel[lanes // program.wave_size, program.wave_size](amdjit.to_device(inputs), output)
        return output.copy_to_host()


@pytest.mark.parametrize("name", _NAMES)
def test_a_loop_counts(name: str) -> None:
    target = _target(name)
    for wave_size in target.wave_sizes:
        program = Program(target, wave_size)
        program.begin()
        program.safe("s_load_b32", s(8), INPUT, 4)
        program.safe("v_mov_b32", v(1), 0)
        program.label("again")
        program.safe("v_add_nc_u32", v(1), 3, v(1))
        program.safe("s_sub_co_u32", s(8), s(8), 1)
        program.safe("s_cmp_lg_u32", s(8), 0)
        program.safe("s_cbranch_scc1", "again")
        program.store(v(1), 0)
        found = _run(program, 1, np.array([5, 7, 9], np.uint32))
        assert (found == 21).all()


@pytest.mark.parametrize("name", _NAMES)
def test_work_items_have_their_places_and_their_scratch(name: str) -> None:
    target = _target(name)
    program = Program(target, target.wave_size, scratch=64)
    program.begin()
    program.load(v(1), 0)
    program.safe("v_mov_b32", v(2), 0)
    program.safe("scratch_store_b32", v(2), v(1), OFF, offset=16)
    program.safe("v_mov_b32", v(1), 0)
    program.safe("scratch_load_b32", v(3), v(2), OFF, offset=16)
    program.store(v(3), 4 * 64)
    inputs = np.arange(64, dtype=np.uint32) * 5
    assert np.array_equal(_run(program, 2, inputs)[1], inputs)


def test_names_of_both_families_mean_the_same() -> None:
    newest, own = (Program(_target("gfx942"), 64) for _ in range(2))
    newest.add("global_load_b64", v(2, 2), v(1), s(0, 2), offset=8)
    own.add("global_load_dwordx2", v(2, 2), v(1), s(0, 2), offset=8)
    newest.add("v_add_nc_u32_e64", v(1), v(2), v(3), clamp=True)
    own.add("v_add_u32_e64", v(1), v(2), v(3), clamp=True)
    assert newest.code() == own.code()
    assert newest.has("s_add_co_u32")
    assert not newest.has("v_dual_mov_b32")


def test_the_shortest_encoding_that_fits_is_taken() -> None:
    program = Program(_target("gfx1201"), 32)
    for operands, modifiers, size in (
        ((v(1), v(2), v(3)), {}, 4),
        ((v(1), 1.5, v(3)), {}, 8),
        ((v(1), v(2), s(3)), {}, 8),
        ((v(1), v(2), v(3)), {"neg": 1}, 8),
        ((v(1), v(2), v(3)), {"dpp": Dpp(0x111)}, 8),
        ((v(1), v(2), v(3)), {"dpp": Dpp(0x111), "clamp": True}, 12),
    ):
        before = len(program.code())
        program.add("v_add_f32", *operands, **modifiers)
        assert len(program.code()) - before == size


def test_what_has_no_encoding_is_refused_by_name() -> None:
    program = Program(_target("gfx1201"), 32)
    with pytest.raises(EncodingError, match="gfx12 has no instruction v_mfma"):
        program.add("v_mfma_f32_4x4x1_16b_f32", v(1), v(2), v(3), v(4))
    with pytest.raises(EncodingError, match="takes 3 operands"):
        program.add("v_add_f32", v(1), v(2))
    with pytest.raises(EncodingError, match="it has no offset"):
        program.add("v_add_f32", v(1), v(2), v(3), offset=1)
    with pytest.raises(EncodingError, match="takes one literal"):
        program.add("v_fma_f32", v(1), 1.5, 2.5, v(3))
    with pytest.raises(EncodingError, match="leads to no label"):
        program.add("s_mov_b32", s(1), "again")
    with pytest.raises(EncodingError, match="has no encoding"):
        program.add_dual(("v_dual_add_f32", v(2), v(4), v(5)), ("v_dual_mul_f32", v(6), v(7), v(8)))
    with pytest.raises(EncodingError, match="no waves of 32"):
        Program(_target("gfx942"), 32)
    program.add("s_branch", "nowhere")
    with pytest.raises(EncodingError, match="no label nowhere"):
        program.code()


def test_scalars_and_null_are_operands() -> None:
    program = Program(_target("gfx1201"), 32)
    program.add("s_mov_b32", s(1), SCC)
    program.add("s_add_co_u32", NOTHING, s(1), 1)
    assert program.code().hex() == "fd0081be01817c80"
    program.label("a")
    with pytest.raises(EncodingError, match="there are two labels"):
        program.label("a")
