"""The product whose form is chosen: every form and configuration computes the same."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amdjit
from amdjit import f16, f32, fp8, i8, i32
from amdjit.examples import tuned_gemm
from amdjit.examples.tuned_gemm import FORMS, SPACE, Configuration, fits, of_block, panels, run
from amdjit.testing import isa

ELEMENTS = {"f16": (f16, f32), "fp8": (fp8, f32), "i8": (i8, i32)}
EVERY = [Configuration(*values) for values in itertools.product(*SPACE.values())]
FITTING = {
    kind: [each for each in EVERY if fits(each, np.dtype(dtype).itemsize)]
    for kind, dtype in tuned_gemm.DTYPES.items()
}
SMALL = {
    kind: [each for each in found if each.BM * each.BN <= 128 * 64]
    for kind, found in FITTING.items()
}


def compiled(kind: str, c: Configuration, in_panels: bool = False) -> amdjit.CompiledKernel:
    element, result = ELEMENTS[kind]
    operand = element[:, :, ::1] if in_panels else element[:, ::1]
    chosen = c.BM, c.BN, c.BK, c.rows, c.columns, c.form, c.pad
    kernel = of_block(32 * c.waves)
    return kernel.compile(operand, operand, result[:, ::1], *chosen, target="gfx1201")


@st.composite
def cases(draw: st.DrawFn, kinds: tuple[str, ...]) -> tuple[str, Configuration, tuple[int, ...]]:
    """Draw a type of elements, a configuration of some 8,192 sums at most, and how many tiles the
    product has along m, n and k."""
    kind = draw(st.sampled_from(kinds))
    counts = draw(st.tuples(st.integers(1, 2), st.integers(1, 2), st.integers(1, 3)))
    return kind, draw(st.sampled_from(SMALL[kind])), counts


def check(case: tuple[str, Configuration, tuple[int, ...]], in_panels: bool) -> None:
    kind, c, (m, n, k) = case
    k *= 1 if c.form == "one buffer" else 2
    report = run(kind, c, m * c.BM, n * c.BN, k * c.BK, in_panels)
    assert report.largest_error <= report.tolerance < 0.1


@settings(max_examples=4, deadline=None)
@given(cases(("f16", "fp8", "i8")), st.booleans())
@pytest.mark.filterwarnings("ignore::amdjit.PerformanceWarning")
def test_any_configuration_is_right(
    case: tuple[str, Configuration, tuple[int, ...]], in_panels: bool
) -> None:
    check(case, in_panels)


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", ["gfx1201", "gfx1100", "gfx942"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
@pytest.mark.filterwarnings("ignore::amdjit.PerformanceWarning")
def test_any_configuration_is_right_everywhere(target: str, data: st.DataObject) -> None:
    kinds = ("f16", "fp8", "i8") if target == "gfx1201" else ("f16", "i8")
    with amdjit.use(f"emulator:{target}"):
        check(data.draw(cases(kinds)), data.draw(st.booleans()))


@pytest.mark.sample(2)
@pytest.mark.parametrize("form", FORMS)
def test_forms_have_neither_races_nor_stray_accesses(form: str) -> None:
    c = Configuration(32, 64, 32, 2, 2, form, 0 if form == "registers" else 16)
    with amdjit.sanitize("memory", "race"):
        assert run("f16" if form != "registers" else "i8", c, 32, 64, 192).largest_error == 0


# Barriers of a step, and LDS that the form takes.
@pytest.mark.sample(1)
@pytest.mark.covering(1)
@pytest.mark.parametrize(
    ("form", "barriers", "tiles"), [("one buffer", 2, 1), ("two buffers", 1, 2)]
)
@pytest.mark.parametrize(
    ("kind", "depth", "in_panels"), [("f16", 32, False), ("fp8", 64, True), ("i8", 64, False)]
)
def test_loops_through_lds_are_products_and_wide_accesses_alone(
    kind: str, depth: int, form: str, barriers: int, tiles: int, in_panels: bool
) -> None:
    found = compiled(kind, Configuration(BK=depth, form=form), in_panels)
    loop = isa(found).no_spills().max_vgprs(240).loop()
    products = 32 if kind == "f16" else 64
    loop.count("v_wmma_*", tiles * products).count("v_*", tiles * products)
    loop.count("s_barrier_wait", tiles * barriers)
    loop.count("ds_load_b128", tiles * 16).count("ds_store_b128", tiles * 8)
    # Loads that a branch could avoid would be moved behind it, after the products.
    loop.count("global_load_b128", tiles * 8).count("s_cbranch_*", 1)
    assert found.resources.lds_bytes == tiles * 2 * 128 * (64 + 16)


@pytest.mark.sample(1)
@pytest.mark.parametrize(("kind", "products"), [("f16", 16), ("fp8", 32), ("i8", 32)])
def test_the_loop_through_registers_waits_for_no_other_wave(kind: str, products: int) -> None:
    depth = 16 if kind == "f16" else 32
    c = Configuration(BK=depth, form="registers", pad=0)
    loop = isa(compiled(kind, c, in_panels=True)).no_spills().loop()
    loop.count("v_wmma_*", 2 * products).count("v_*", 2 * products).count("global_load_b128", 2 * 8)
    loop.count("ds_*", 0).count("s_barrier_*", 0).count("s_cbranch_*", 1)


def test_panels_put_what_a_wave_reads_side_by_side() -> None:
    rows = np.arange(3 * 64, dtype=np.int8).reshape(3, 64)
    assert panels(rows).shape == (2, 3, 32)
    assert (panels(rows)[1, 2] == rows[2, 32:]).all()


@pytest.mark.parametrize(
    "wrong",
    [
        Configuration(BM=32, rows=4),
        Configuration(BN=32, columns=4),
        Configuration(BK=8),
        Configuration(BM=256, BN=128),
        Configuration(form="registers", pad=16),
        Configuration(form="registers", pad=0, BK=64),
        Configuration(BK=128, form="two buffers"),
        Configuration(BM=32, BN=128, BK=16, rows=1, columns=4),
    ],
)
def test_what_does_not_fit_is_refused(wrong: Configuration) -> None:
    assert not fits(wrong, 2)
    with pytest.raises(ValueError, match="does not fit"):
        run("f16", wrong, 256, 256, 256)


def test_shapes_are_multiples_of_the_tiles() -> None:
    with pytest.raises(ValueError, match="does not fit a product of 128x192x128 float16"):
        run("f16", Configuration(), 128, 192, 128)
    with pytest.raises(ValueError, match="does not fit a product of 128x128x96 float16"):
        run("f16", Configuration(form="two buffers"), 128, 128, 96)


@pytest.mark.sample(1)
@pytest.mark.parametrize("form", FORMS)
def test_only_the_result_is_copied_back(form: str) -> None:
    found = compiled("f16", Configuration(64, 64, 16, form=form, pad=0))
    assert found.written == (False, False, True)
