"""Kernels compiled for several targets: bundles, and which member a launch takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import CompiledKernel, emulator, f16, f32, fp8_fnuz, i32, shared
from amdjit.intrinsics import matrix, wave
from amdjit.launching.specialisations import Specialisations
from amdjit.options import CompileOptions, OptionError, named_target
from amdjit.target import EMULATED, runs_on

TARGETS = [target.name for target in EMULATED]
# gfx90a in two settings, which exclude code for both.
BUNDLED = [*(name for name in TARGETS if name != "gfx90a"), "gfx90a:xnack-", "gfx90a:xnack+"]
TYPES = (f32, f32[:], f32[:])
X = np.arange(100, dtype=np.float32)


def scaled(a, x, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = a * x[i]


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The targets that kernels are compiled for while the test runs."""
    found: list[str] = []
    compile_one = Specialisations._compile

    def counted(self: Specialisations, options: CompileOptions, arguments: Any) -> CompiledKernel:
        found.append(options.target.id)
        return compile_one(self, options, arguments)

    monkeypatch.setattr(Specialisations, "_compile", counted)
    return found


@pytest.fixture(scope="module")
def bundle() -> amdjit.CompiledBundle:
    return amdjit.compile(scaled, *TYPES, target=BUNDLED)


def test_a_bundle_has_a_member_for_each_target(bundle: amdjit.CompiledBundle) -> None:
    assert list(bundle) == BUNDLED
    assert (bundle.name, bundle.signature) == ("scaled", "scaled(f32, f32[::1], f32[::1])")
    for target, member in bundle.items():
        alone = amdjit.compile(scaled, *TYPES, target=target)
        assert member.code_object == alone.code_object
        assert member.inspect().target == target
    assert "gfx1201" in repr(bundle)
    with pytest.raises(KeyError, match=r"gfx90a: the bundle has gfx906, .*gfx90a:xnack-"):
        bundle["gfx90a"]


def test_a_saved_bundle_runs_on_every_emulator(
    bundle: amdjit.CompiledBundle, tmp_path: Path
) -> None:
    bundle.save(tmp_path / "scaled.hipfb")
    module = amdjit.load(tmp_path / "scaled.hipfb")
    assert module.targets == bundle.targets
    for target in TARGETS:
        with amdjit.use(f"emulator:{target}"):
            x, out = amdjit.to_device(X), amdjit.zeros(100)
            module.kernels["scaled"][4, 32](x, out, np.float32(3), 100, 100)
            np.testing.assert_array_equal(out.copy_to_host(), X * 3)


def test_launches_take_the_members_that_there_are(compilations: list[str]) -> None:
    kernel = amdjit.kernel(scaled)
    kernel.compile(*TYPES, target=TARGETS)
    assert compilations == TARGETS
    for target in TARGETS:
        with amdjit.use(f"emulator:{target}"):
            out = np.zeros_like(X)
            kernel[4, 32](np.float32(2), X, out)
            kernel.launch(grid=4, block=32)(np.float32(2), X, out)
            np.testing.assert_array_equal(out, X * 2)
    assert compilations == TARGETS


@amdjit.kernel(block=64, wave_size=64)
def multiplied(a, b, d, sums, dtype: amdjit.Const):
    left = matrix.fragment(matrix.matrix_a, 16, 16, 32, dtype, matrix.row_major)
    right = matrix.fragment(matrix.matrix_b, 16, 16, 32, dtype, matrix.row_major)
    total = matrix.fragment(matrix.accumulator, 16, 16, 32, f32)
    matrix.fill_fragment(total, 0)
    matrix.load_matrix_sync(left, a, (0, 0))
    matrix.load_matrix_sync(right, b, (0, 0))
    matrix.mma_sync(total, left, right, total)
    matrix.store_matrix_sync(d, total, (0, 0))
    lane = amdjit.threadIdx.x
    box = shared.array(64, f32)
    box[lane] = total.x[0]
    amdjit.syncthreads()
    sums[lane] = box[63 - lane] + wave.reduce_add(total.x[1])


PRODUCT = (f16[:, :], f16[:, :], f32[:, :], f32[:], f16)
GENERIC = ["gfx9-4-generic", "gfx11-generic", "gfx12-generic"]


def product_on(device: str, code: str) -> Any:
    """Return what a device computes with the code for a target."""
    random = np.random.default_rng(1)
    a, b = (random.integers(-4, 5, s).astype(np.float16) for s in ((16, 32), (32, 16)))
    d, sums = np.zeros((16, 16), np.float32), np.zeros(64, np.float32)
    with amdjit.use(f"emulator:{device}"):
        kernel = amdjit.kernel(multiplied.py_func, block=64, wave_size=64)
        kernel.compile(*PRODUCT, target=code)
        kernel[1, 64](a, b, d, sums, f16)
    assert [each.target.id for each in kernel.specialisations] == [code]
    np.testing.assert_allclose(d, a.astype(np.float32) @ b.astype(np.float32), atol=1e-4)
    return np.concatenate([d.ravel(), sums])


@pytest.mark.sample(1)
@pytest.mark.parametrize("code", GENERIC)
def test_members_compute_with_generic_code_what_they_do_with_their_own(code: str) -> None:
    generic = named_target(code)
    members = [target.name for target in EMULATED if runs_on(generic, target)]
    assert len(members) > 1
    for device in (members[0], members[-1]):
        own, others = product_on(device, device), product_on(device, code)
        np.testing.assert_array_equal(own, others)


def test_a_generic_processor_lacks_what_its_members_do_not_share() -> None:
    types = (fp8_fnuz[:, :], fp8_fnuz[:, :], f32[:, :], f32[:], fp8_fnuz)
    with pytest.raises(
        amdjit.AmdjitError, match=r"9-4-generic has no product of (.*\n)+.*gfx942; on"
    ):
        multiplied.compile(*types, target="gfx9-4-generic")


def test_launches_compile_for_each_processor_once(compilations: list[str]) -> None:
    kernel = amdjit.kernel(scaled)
    for target in [*TARGETS, *reversed(TARGETS)]:
        with amdjit.use(f"emulator:{target}"):
            out = np.zeros_like(X)
            kernel[4, 32](np.float32(2), X, out)
            np.testing.assert_array_equal(out, X * 2)
    assert compilations == TARGETS


def test_the_emulators_own_launch_takes_bundles(bundle: amdjit.CompiledBundle) -> None:
    arguments = (X, np.zeros_like(X), np.float32(4), np.int32(100), np.int32(100))
    emulator.run(bundle.bytes, "scaled", 4, 32, arguments)
    np.testing.assert_array_equal(arguments[1], X * 4)
    with amdjit.use("emulator:gfx1200") as device:
        arguments[1][:] = 0
        emulator.run(bundle.bytes, "scaled", 4, 32, arguments, device=device)
    np.testing.assert_array_equal(arguments[1], X * 4)
    alone = amdjit.compile(scaled, *TYPES, target="gfx10-3-generic").code_object
    with pytest.raises(amdjit.BackendError, match=r"gfx10-3-generic is not .* nearest is gfx1100"):
        emulator.run(alone, "scaled", 4, 32, arguments)
    others = amdjit.compile(scaled, *TYPES, target=["gfx1030", "gfx1250"]).bytes
    with pytest.raises(amdjit.LaunchError, match="the bundle is for gfx1030, gfx1250, and no emu"):
        emulator.run(others, "scaled", 4, 32, arguments)
    with pytest.raises(
        amdjit.LaunchError, match="and not emulator:gfx1200: compile it for gfx1200, too"
    ):
        emulator.run(others, "scaled", 4, 32, arguments, device=device)


def test_inspection_takes_the_code_that_it_is_told_to(bundle: amdjit.CompiledBundle) -> None:
    for target in bundle:
        found = amdjit.inspect_object(bundle.bytes, target=target)
        assert (found.target, found.kernel) == (target, "scaled")
    alone = bundle["gfx1100"].code_object
    assert amdjit.inspect_object(alone, target="gfx1100").target == "gfx1100"
    with pytest.raises(amdjit.AmdjitError, match="there is no code for gfx1200, but for gfx1100"):
        amdjit.inspect_object(alone, target="gfx1200")
    one = amdjit.compile(scaled, *TYPES, target=["gfx90a:xnack-"]).bytes
    assert amdjit.inspect_object(one).target == "gfx90a:xnack-"
    assert amdjit.inspect_object(one, target="gfx90a").target == "gfx90a:xnack-"
    for target, message in (
        (None, "say which target: the bundle has code for gfx906"),
        ("gfx90a", "there is no code for gfx90a, but for gfx906, .*gfx90a:xnack"),
        ("gfx7", "unknown target 'gfx7'"),
        ("gfx1201:xnack+", "gfx1201 has no setting of xnack"),
    ):
        with pytest.raises(amdjit.AmdjitError, match=message):
            amdjit.inspect_object(bundle.bytes, target=target)


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([], r'name the processors, such as target=\["gfx1100", "gfx1201"\]'),
        (["gfx1201", "gfx1201"], "gfx1201 is there twice"),
        (["gfx90a", "gfx1201", "gfx90a:xnack+"], "both gfx90a and gfx90a:xnack.*leave one out"),
        (("gfx1201", "gfx1"), "unknown target 'gfx1'"),
    ],
)
def test_wrong_targets_are_refused(targets: list[str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        amdjit.compile(scaled, *TYPES, target=targets)


def test_a_bundle_without_the_device_names_what_is_nearest() -> None:
    def stores(out: i32[:]) -> None:
        out[0] = 1

    module = amdjit.load(amdjit.compile(stores, target=["gfx90a", "gfx1100", "gfx1200"]).bytes)
    with amdjit.use("emulator:gfx1201"):
        out = amdjit.zeros(1, np.int32)
        with pytest.raises(
            amdjit.LaunchError,
            match=r"^the bundle is for gfx90a and gfx1100 and gfx1200, and emulator:gfx1201 is a "
            r"gfx1201: compile for gfx1201, too, or launch inside `with "
            r'amdjit\.use\("emulator:gfx1200"\):`$',
        ):
            module.kernels["stores"][1, 1](out, 1)


def test_kernels_need_not_be_in_every_member() -> None:
    def first(out: i32[:]) -> None:
        out[0] = 1

    def second(out: i32[:]) -> None:
        out[0] = 2

    from_first = amdjit.compile(first, target="gfx1200")
    from_second = amdjit.compile(second, target="gfx1201")
    both = amdjit.CompiledBundle((from_first, from_second))
    module = amdjit.load(both.bytes)
    assert list(module.kernels) == ["first", "second"]
    with amdjit.use("emulator:gfx1201"):
        out = amdjit.zeros(1, np.int32)
        module.kernels["second"][1, 1](out, 1)
        assert out.copy_to_host().tolist() == [2]
        with pytest.raises(amdjit.LaunchError, match="code for gfx1201 has no kernel first"):
            module.kernels["first"][1, 1](out, 1)
