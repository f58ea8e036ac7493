"""Target ids: which settings processors have, their order, and what runs where."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest

import amdjit
from amdjit import f32
from amdjit.code_object import CodeObject, MalformedCodeObject
from amdjit.code_object.target_flags import flags_of
from amdjit.launching.compiled_bundle import compatible_targets, conflict, nearest, why_not
from amdjit.options import OptionError, named_target
from amdjit.target import (
    EMULATED,
    TARGETS,
    Target,
    device_target,
    most_specific,
    read_target,
    runs_on,
    with_settings,
)

SOURCE = "kernel void k(global int *x) { *x = 1; }"
# Offset of e_flags in a 64-bit header (ELF gABI, "ELF Header").
FLAGS_AT = 48


def variants(row: Target) -> list[Target]:
    """Return a processor with all settings that it may have."""
    values = itertools.product((None, False, True), repeat=len(row.id_features))
    named = (zip(row.id_features, chosen, strict=True) for chosen in values)
    return [with_settings(row, {n: v for n, v in each if v is not None}) for each in named]


EVERY = [target for row in TARGETS for target in variants(row)]


def clang(folder: Path, target: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("clang-22")
    if program is None:
        pytest.skip("clang-22 is not installed")
    command = [program, "-x", "cl", "--target=amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib"]
    command += ["-c", "-o", str(folder / "object"), "-"]
    return subprocess.run(command, input=SOURCE, capture_output=True, text=True)


@pytest.mark.sample(14)
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_processors_have_the_settings_that_clang_lets_them_have(
    tmp_path: Path, target: Target
) -> None:
    for feature in ("sramecc", "xnack"):
        done = clang(tmp_path, f"{target}:{feature}+")
        assert (done.returncode == 0) == (feature in target.id_features), done.stderr
        assert done.returncode == 0 or "invalid target ID" in done.stderr


FLAGGED = [
    *(t for t in EVERY if t.name in ("gfx90a", "gfx9-4-generic")),
    # clang marks all of gfx12.5 as having settings, and refuses them in target ids.
    *(t for t in TARGETS if not t.id_features and t.isa[:2] != (12, 5)),
]


@pytest.mark.sample(14)
@pytest.mark.parametrize("target", FLAGGED, ids=str)
def test_flags_are_those_that_clang_writes(tmp_path: Path, target: Target) -> None:
    assert clang(tmp_path, target.id).returncode == 0
    header = (tmp_path / "object").read_bytes()
    assert int.from_bytes(header[FLAGS_AT : FLAGS_AT + 4], "little") == flags_of(target)


def stores_one(out: f32[:]) -> None:
    out[0] = 1.0


# LLVM AMDGPU guide, "Processors": the generic ones and their members.
MEMBERS = {
    "gfx9-4-generic": ["gfx942", "gfx950"],
    "gfx10-3-generic": [f"gfx103{stepping}" for stepping in range(7)],
    "gfx11-generic": [f"gfx11{stepping}" for stepping in ("00", "01", "02", "03")]
    + [f"gfx115{stepping}" for stepping in range(4)],
    "gfx12-generic": ["gfx1200", "gfx1201"],
}
COMPILED = [
    "gfx11-generic",
    "gfx9-4-generic:xnack-",
    "gfx90a",
    "gfx90a:xnack-:sramecc+",
    "gfx942:xnack+",
    "gfx950:sramecc-",
    "gfx1201",
]


@pytest.mark.parametrize("text", COMPILED)
def test_compiled_code_says_what_it_is_for(text: str) -> None:
    compiled = amdjit.compile(stores_one, target=text)
    target = read_target(text)
    assert (compiled.target, compiled.linked.target) == (target, target)
    assert compiled.linked.elf.flags == flags_of(target)
    assert compiled.inspect().target == target.id
    assert f"amdgcn-amd-amdhsa--{target.id}" in compiled.asm_full


def test_inline_assembly_keeps_the_settings() -> None:
    asm = amdjit.InlineAsm("v_mov_b32 $0, $1", "=v,v")

    @amdjit.intrinsic(asm)
    def same(a: f32) -> f32:
        """The same."""

    @amdjit.kernel
    def copies(out: f32[:]):
        out[0] = same(out[1])

    compiled = copies.compile(target="gfx90a:sramecc+:xnack-")
    assert compiled.linked.target.id == "gfx90a:sramecc+:xnack-"


def test_xnack_changes_code_that_the_cache_keeps_apart() -> None:
    kernel = amdjit.kernel(stores_one)
    code = {
        kernel.compile(target=t).code_object for t in ("gfx90a", "gfx90a:xnack+", "gfx90a:xnack-")
    }
    assert len(code) == 3
    assert len(kernel.specialisations) == 3


def test_a_header_that_the_metadata_contradict_is_refused() -> None:
    code = bytearray(amdjit.compile(stores_one, target="gfx90a:xnack-").code_object)
    for flags, message in (
        (flags_of(read_target("gfx90a:xnack+")), r"header is for gfx90a:xnack\+, and .*xnack-"),
        (flags_of(read_target("gfx942")), "header is for gfx942"),
        (0x4E | 0x300, r"gfx1201 with xnack\+ \(flags 0x34e\), and gfx1201 has no such"),
    ):
        code[FLAGS_AT : FLAGS_AT + 4] = flags.to_bytes(4, "little")
        with pytest.raises(MalformedCodeObject, match=message):
            CodeObject.read(bytes(code))


def test_flags_of_version_3_are_read() -> None:
    code = bytearray(amdjit.compile(stores_one, target="gfx90a:sramecc-:xnack+").code_object)
    # EI_ABIVERSION 1, and EF_AMDGPU_FEATURE_XNACK_V3 alone.
    code[8], code[FLAGS_AT : FLAGS_AT + 4] = 1, (0x3F | 0x100).to_bytes(4, "little")
    assert CodeObject.read(bytes(code)).target.id == "gfx90a:sramecc-:xnack+"
    code[FLAGS_AT : FLAGS_AT + 4] = (0x3F | 0x200).to_bytes(4, "little")
    with pytest.raises(MalformedCodeObject, match=r"header is for gfx90a:sramecc\+:xnack-, and"):
        CodeObject.read(bytes(code))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "gfx1201:xnack+",
            "gfx1201 has no setting of xnack: write gfx1201; gfx906, gfx908, gfx90a",
        ),
        ("gfx90a:xnack", "after the processor come settings such as gfx90a:sramecc\\+:xnack\\+"),
        ("gfx90a:", "after the processor come settings"),
        ("gfx90a:xnack+:xnack-", "xnack is set twice"),
        ("gfx90a:tgsplit+", "a target id has no tgsplit; it has sramecc and xnack"),
        ("gfx1100:", "which gfx1100 has none of: write gfx1100"),
        ("gfx9999", "unknown target 'gfx9999': amdjit has gfx906"),
        ("", "unknown target ''"),
    ],
)
def test_wrong_ids_are_refused_with_the_remedy(text: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        named_target(text)


def test_order_is_canonical() -> None:
    for target in EVERY:
        parts = target.id.split(":")
        for order in itertools.permutations(parts[1:]):
            assert read_target(":".join([parts[0], *order])) == target
        assert parts[1:] == sorted(parts[1:])


def test_code_runs_where_the_guide_says() -> None:
    """LLVM AMDGPU guide, "Target ID": the processor is the same, or a member of the generic one,
    and each setting of the code is that of the agent."""
    assert {row.name for row in TARGETS if row.members} == set(MEMBERS)
    real = [each for each in EVERY if each.name not in MEMBERS]
    devices = [each for each in real if len(each.settings) == len(each.id_features)]
    for code, device in itertools.product(EVERY, devices):
        parts, there = code.id.split(":"), device.id.split(":")
        is_for_it = there[0] in MEMBERS.get(parts[0], [parts[0]])
        expected = is_for_it and set(parts[1:]) <= set(there[1:])
        assert runs_on(code, device) == expected
        assert (why_not(code, device, "hip:0") == "") == expected
        assert (code in compatible_targets(device)) == expected
    for device in devices:
        best = most_specific(EVERY, device)
        assert best == device
        assert next(compatible_targets(device)) == device


def test_a_device_without_settings_runs_the_code_of_both() -> None:
    emulator = read_target("gfx90a")
    codes = variants(emulator)
    assert set(compatible_targets(emulator)) == set(codes)
    assert all(runs_on(code, emulator) for code in codes)
    assert next(compatible_targets(emulator)) == emulator


def test_code_for_the_processor_goes_before_a_generic_ones() -> None:
    def chosen(device: str, *texts: str) -> str:
        found = most_specific([read_target(text) for text in texts], read_target(device))
        return str(found)

    assert chosen("gfx950:xnack+", "gfx9-4-generic:xnack+", "gfx950", "gfx942") == "gfx950"
    assert chosen("gfx950:xnack+", "gfx9-4-generic:xnack+", "gfx9-4-generic", "gfx942") == (
        "gfx9-4-generic:xnack+"
    )
    assert chosen("gfx1151", "gfx12-generic", "gfx11-generic") == "gfx11-generic"
    assert chosen("gfx1250", "gfx12-generic") == "None"


def test_a_generic_code_object_without_a_version_is_refused() -> None:
    code = bytearray(amdjit.compile(stores_one, target="gfx12-generic").code_object)
    code[FLAGS_AT + 3] = 0
    with pytest.raises(MalformedCodeObject, match="for gfx12-generic in version 0"):
        CodeObject.read(bytes(code))
    # "Generic Processor Versioning": later versions run on members of the first.
    code[FLAGS_AT + 3] = 2
    assert CodeObject.read(bytes(code)).target.id == "gfx12-generic"


def test_hips_names_of_gpus_are_read() -> None:
    found = device_target("gfx90a:sramecc+:xnack-")
    assert str(found) == "gfx90a:sramecc+:xnack-"
    # What amdjit's table does not know as a setting, code cannot ask for.
    found = device_target("gfx1201:xnack-:strange")
    assert str(found) == "gfx1201"
    assert device_target("gfx803:xnack-") is None


def test_two_of_one_processor_are_in_conflict_unless_they_set_the_same() -> None:
    def of(*texts: str) -> bool:
        return conflict([read_target(text) for text in texts]) is not None

    assert not of("gfx90a:xnack+", "gfx90a:xnack-", "gfx942", "gfx1201")
    assert of("gfx90a", "gfx90a:xnack-")
    assert of("gfx90a:sramecc+", "gfx942", "gfx90a:xnack-")
    assert of("gfx1201", "gfx1201")


def test_the_nearest_target_is_of_the_same_family() -> None:
    def of(device: str, *texts: str) -> str:
        return nearest([read_target(text) for text in texts], read_target(device)).id

    assert of("gfx1200", "gfx1100", "gfx1201", "gfx90a") == "gfx1201"
    assert of("gfx950", "gfx1100", "gfx942", "gfx90a") == "gfx942"
    assert of("gfx90a:xnack+", "gfx90a:xnack-", "gfx942:xnack+") == "gfx90a:xnack-"


@pytest.mark.sample(8)
@pytest.mark.parametrize("row", EMULATED, ids=str)
def test_emulators_have_the_settings_of_their_names(row: Target) -> None:
    for target in variants(row)[::4]:
        with amdjit.use(f"emulator:{target.id}") as device:
            assert (device.name, device.target) == (f"emulator:{target.id}", target)
            kernel = amdjit.kernel(stores_one)
            out = amdjit.zeros(1)
            kernel[1, 1](out)
            assert out.copy_to_host() == [1]
            assert [each.target for each in kernel.specialisations] == [target]


def test_emulators_of_settings_that_a_processor_lacks_are_refused() -> None:
    with (
        pytest.raises(amdjit.LaunchError, match=r"there is no device 'emulator:gfx1201:xnack\+'"),
        amdjit.use("emulator:gfx1201:xnack+"),
    ):
        pass
