"""Kernels are found in each kind of file, and what cannot be read is an error."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import amdjit
from amdjit import f32
from amdjit.code_object import CodeObject
from amdjit.code_object.bundles import write_bundle
from amdjit.diagnostics import AmdjitError
from amdjit.inspection.inspection import Inspection
from amdjit.profiling.launch_facts import read_profile
from amdjit.target import find_target
from amdjit.testing import gate
from amdjit.testing.measured import measured
from tests.code_object.test_offload_bundles import deflated
from tests.testing.measured_kernels import OBJECTS, host_file, inspected, launched, uneven

SUM, SOFTMAX = OBJECTS / "iree_sum.co", OBJECTS / "triton_softmax.co"


def bundle(*files: Path) -> bytes:
    target = find_target("gfx1201")
    assert target is not None
    return write_bundle([(target, file.read_bytes()) for file in files])


def names(path: Path, target: str | None = None) -> list[str]:
    return [one.kernel for one in measured(path, target)]


CONTENTS: dict[str, Callable[[], bytes]] = {
    "object.hsaco": SOFTMAX.read_bytes,
    "bundle.hipfb": lambda: bundle(SOFTMAX),
    "compressed.hipfb": lambda: deflated(bundle(SOFTMAX), 3),
    "library.so": lambda: host_file(bundle(SOFTMAX)),
    "inspection.json": lambda: inspected("triton_softmax").to_json().encode(),
    "indented.json": lambda: json.dumps(
        json.loads(inspected("triton_softmax").to_json()), indent=2
    ).encode(),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_each_kind_of_file_has_the_same_kernel(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(CONTENTS[name]())
    (found,) = measured(tmp_path / name)
    assert (found.kernel, found.target) == ("softmax", "gfx1201")
    assert found.file == str(tmp_path / name)
    assert found.inspection == inspected("triton_softmax")


def test_an_inspection_and_a_profile_are_read_back_as_they_were() -> None:
    code, profile = inspected("triton_matmul_i8"), launched()
    assert Inspection.from_json(code.to_json()) == code
    launches, stopped = read_profile(profile.to_json())
    assert launches == tuple(launch.facts for launch in profile.launches)
    assert stopped == ()


def test_the_json_of_a_profile_has_its_launches(tmp_path: Path) -> None:
    file = tmp_path / "profile.json"
    file.write_text(launched().to_json())
    (outcome,) = gate(file, "lds_conflicts==0")
    assert (outcome.value, outcome.kernel) == (248, "uneven")
    assert outcome.details == ("launch: grid 2, block 32 x 2",)


def test_a_shared_object_has_the_bundles_of_all_its_sources(tmp_path: Path) -> None:
    file = tmp_path / "library.so"
    file.write_bytes(host_file(bundle(SOFTMAX), deflated(bundle(SUM), 2), bundle(SUM)))
    assert names(file) == ["softmax", *names(SUM), *names(SUM)]


def test_an_object_file_with_a_section_for_each_function_is_read(tmp_path: Path) -> None:
    file = tmp_path / "large.o"
    file.write_bytes(host_file(bundle(SUM), empty=10_000))
    assert names(file) == names(SUM)


def test_a_folder_has_all_files_below_it_and_passes_over_others(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    shutil.copy(SOFTMAX, tmp_path / "a/b/softmax.hsaco")
    shutil.copy(SUM, tmp_path / "sum.co")
    (tmp_path / "notes.txt").write_text("vgprs")
    (tmp_path / "other.json").write_text('{"schema": "other"}')
    (tmp_path / "host.so").write_bytes(host_file(b"data", name=".rodata"))
    assert names(tmp_path) == ["softmax", *names(SUM)]


def test_a_target_chooses(tmp_path: Path) -> None:
    file = tmp_path / "several.hipfb"
    compiled = uneven.compile(f32[:], amdjit.i32[:], f32[:], target=["gfx1100", "gfx1201"])
    file.write_bytes(compiled.bytes)
    assert [one.target for one in measured(file)] == ["gfx1100", "gfx1201"]
    assert [one.target for one in measured(file, "gfx1100")] == ["gfx1100"]
    with pytest.raises(AmdjitError, match="no kernels for gfx942 are there"):
        measured(file, "gfx942")


def test_a_name_without_settings_stands_for_all_of_them() -> None:
    compiled = uneven.compile(f32[:], amdjit.i32[:], f32[:], target="gfx90a:xnack-")
    for target, count in (("gfx90a", 1), ("gfx90a:xnack-", 1)):
        assert len(measured(compiled, target)) == count
    with pytest.raises(AmdjitError, match=r"no kernels for gfx90a:xnack\+"):
        measured(compiled, "gfx90a:xnack+")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"text", "no code object, no bundle and no JSON of amdjit"),
        (SUM.read_bytes()[:900], "sum.co: "),
        (host_file(b"data", name=".rodata"), "no kernels are there"),
        (host_file(b"something else"), "something that is no offload bundle"),
        (host_file(bundle(SUM)[:4096]), "ends within"),
        (b'{"schema": "amdjit.inspection/1", "kernel": "k"}', "no sound Inspection"),
        (b'{"schema": "amdjit.inspection/1", "kernel": 3}', "no sound Inspection"),
        (b'{"schema": "amdjit.inspection/1"', "this is not JSON"),
        (b'{"schema": "amdjit.inspection/2"}', "it holds amdjit.inspection/2"),
        (b'{"schema": "amdjit.comparison/1"}', "it holds amdjit.comparison/1"),
        (b'{"schema": "amdjit.profile/1", "launches": [{}]}', "no sound LaunchFacts"),
        (b'{"schema": "amdjit.profile/1", "launches": []}', "no kernels are there"),
        (
            b'{"schema": "amdjit.profile/1", "launches": [], "stopped": ["k: a fault"]}',
            "k: a fault",
        ),
    ],
)
def test_what_cannot_be_read_is_an_error(content: bytes, words: str, tmp_path: Path) -> None:
    file = tmp_path / "sum.co"
    file.write_bytes(content)
    with pytest.raises(AmdjitError) as caught:
        measured(file)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{file}: ")


def test_a_damaged_object_in_a_folder_is_not_passed_over(tmp_path: Path) -> None:
    shutil.copy(SUM, tmp_path / "sound.co")
    (tmp_path / "damaged.co").write_bytes(SUM.read_bytes()[:900])
    with pytest.raises(AmdjitError, match=r"damaged\.co: "):
        measured(tmp_path)


def test_code_for_an_unknown_processor_is_an_error_unless_a_target_is_chosen(
    tmp_path: Path,
) -> None:
    (tmp_path / "b.hipfb").write_bytes(bundle(SUM, SUM).replace(b"-gfx1201", b"-gfx1999", 1))
    with pytest.raises(AmdjitError, match="there is code for gfx1999, which amdjit does not know"):
        measured(tmp_path)
    assert names(tmp_path, "gfx1201") == names(SUM)


def test_values_without_kernels_are_refused() -> None:
    @amdjit.kernel
    def never(x):
        x[0] = 1

    with pytest.raises(AmdjitError, match="has no kernels"):
        measured(never)
    with pytest.raises(AmdjitError, match="has no kernels"):
        measured(amdjit.profile())
    with pytest.raises(TypeError, match="a code object or a profile can be measured, not 'text'"):
        measured("text")  # type: ignore[arg-type]


def test_a_kernel_stands_for_all_that_it_was_compiled_for() -> None:
    @amdjit.kernel
    def fill(x, value):
        x[amdjit.grid(1)] = value

    for kind in (f32, amdjit.i32):
        fill.compile(kind[:], kind, target="gfx1201")
    titles = [one.title for one in measured(fill)]
    assert titles == ["fill(f32[::1], f32) for gfx1201", "fill(i32[::1], i32) for gfx1201"]


def test_launches_of_one_kernel_are_numbered() -> None:
    profile = amdjit.profile()
    (launch,) = launched().launches
    profile.launches = [launch, launch]
    assert [one.details for one in measured(profile)] == [
        ("launch 1 of 2: grid 2, block 32 x 2",),
        ("launch 2 of 2: grid 2, block 32 x 2",),
    ]


# Triton's cache.

METADATA = {
    "triton_version": "3.9.0",
    "name": "softmax",
    "shared": 8192,
    "num_warps": 4,
    "num_stages": 2,
    "waves_per_eu": 0,
}
TTIR = (
    '#loc = loc("mm.py":4:1)\nmodule {\n  tt.func public @softmax(%a: !tt.ptr<f16> '
    '{tt.divisibility = 16 : i32} loc("a"(#loc)), %K: i32 loc("K"(#loc))) attributes '
    "{noinline = false} {\n    %c0 = arith.constant 0 : i32\n"
)


def triton_cache(folder: Path, **metadata: object) -> Path:
    """Make a cache as Triton does, of a kernel that needs 8 KiB of LDS of each launch."""
    (folder / "HASH").mkdir(parents=True)
    shutil.copy(OBJECTS / "triton_softmax.co", folder / "HASH/softmax.hsaco")
    (folder / "HASH/softmax.json").write_text(json.dumps(METADATA | metadata))
    (folder / "HASH/__grp__softmax.json").write_text(json.dumps({"child_paths": {}}))
    (folder / "HASH/softmax.ttir").write_text(TTIR)
    return folder


def test_a_cache_of_tritons_has_the_lds_that_its_launches_get(tmp_path: Path) -> None:
    (found,) = measured(triton_cache(tmp_path))
    assert found.title == "softmax(a: ptr<f16>, K: i32) for gfx1201; num_warps=4; num_stages=2"
    assert found.inspection is not None
    plain = inspected("triton_softmax")
    assert (plain.lds_bytes, found.inspection.lds_bytes) == (0, 8192)
    assert found.inspection.occupancy == plain.occupancy_at(64, 8192)
    assert [one.holds for one in gate(tmp_path, "lds<=8191, lds<=8KiB")] == [False, True]
    (object_alone,) = gate(inspected("triton_softmax"), "lds==0")
    assert object_alone.holds


def test_much_lds_lowers_the_occupancy_of_a_triton_kernel(tmp_path: Path) -> None:
    (found,) = measured(triton_cache(tmp_path, shared=60000))
    assert found.inspection is not None
    assert found.inspection.occupancy.limited_by == "lds"
    assert gate(tmp_path, "occupancy<=4")[0].holds


def test_json_of_others_beside_an_object_is_no_metadata(tmp_path: Path) -> None:
    for text in ('{"shared": 9999, "name": "softmax"}', "no JSON"):
        folder = triton_cache(tmp_path / str(len(text)))
        (folder / "HASH/softmax.json").write_text(text)
        (found,) = measured(folder)
        assert found.inspection == inspected("triton_softmax")


def test_the_lds_of_a_launch_is_that_of_its_kernel() -> None:
    (found,), launch = measured(launched()), launched().launches[0]
    code = launch.inspection
    assert found.inspection is not None
    assert found.inspection.occupancy == code.occupancy_at(64)
    assert gate(launched(), f"lds=={code.lds_bytes}")[0].holds


@pytest.mark.foreign
def test_what_triton_itself_writes_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    triton = pytest.importorskip("triton")
    compiler = pytest.importorskip("triton.compiler")
    backends = pytest.importorskip("triton.backends.compiler")
    kernels = pytest.importorskip("tests.foreign.triton_kernels")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    pointers = dict.fromkeys(("x", "y", "out"), "*fp32")
    signature = {**pointers, "n": "i32", "stride": "i32", "BLOCK": "constexpr"}
    source = compiler.ASTSource(kernels.vector_add, signature, {"BLOCK": 128})
    for arch, wave in (("gfx1201", 32), ("gfx942", 64)):
        target = backends.GPUTarget("hip", arch, wave)
        triton.compile(source, target=target, options={"num_warps": 2})
    found = measured(tmp_path)
    assert sorted(one.target for one in found) == ["gfx1201", "gfx942"]
    assert all("num_warps=2" in one.details for one in found)
    assert all(one.details[0].startswith("(x: ptr<f32>, ") for one in found)


def test_kernels_are_equal_only_with_their_code() -> None:
    (one,) = measured(SUM)
    assert one == measured(SUM)[0]
    assert one != replace(one, inspection=None)
    assert CodeObject.read(SUM.read_bytes()).kernels.keys() == {one.kernel}
