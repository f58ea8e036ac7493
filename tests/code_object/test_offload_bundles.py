"""Offload bundles: ours against clang-offload-bundler-22, its own read by us, and damaged ones."""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

import amdjit
from amdjit.code_object import MalformedCodeObject
from amdjit.code_object import bundles as compressed
from amdjit.code_object.bundles import entries_of, read_bundle, write_bundle
from amdjit.target import TARGETS, Target, read_target, with_settings

PREFIX = "hipv4-amdgcn-amd-amdhsa--"
HOST = "host-x86_64-unknown-linux-gnu-"


def bundler(folder: Path, *arguments: str, **environment: str) -> str:
    program = shutil.which("clang-offload-bundler-22")
    if program is None:
        pytest.skip("clang-offload-bundler-22 is not installed")
    done = subprocess.run(
        [program, "-type=o", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    return done.stdout


def random_members(seed: int) -> list[tuple[Target, bytes]]:
    """Return code for random targets, of random sizes around pages."""
    draw = random.Random(seed)
    members = []
    for row in draw.sample(TARGETS, draw.randint(1, len(TARGETS))):
        features = [name for name in row.id_features if draw.random() < 0.5]
        every = list(itertools.product((False, True), repeat=len(features)))
        for values in draw.sample(every, draw.randint(1, len(every))):
            target = with_settings(row, dict(zip(features, values, strict=True)))
            size = max(1, draw.choice([1, 4096, 8192, 20000]) + draw.randint(-1, 1))
            members.append((target, draw.randbytes(size)))
    return members


def by_clang(folder: Path, members: list[tuple[Target, bytes]], *options: str, **env: str) -> bytes:
    """Return the bundle that clang-offload-bundler makes, called as clang's driver calls it."""
    (folder / "host").write_bytes(b"")
    inputs = ["-input=host"]
    for number, (_, data) in enumerate(members):
        (folder / str(number)).write_bytes(data)
        inputs.append(f"-input={number}")
    targets = ",".join([HOST, *(f"{PREFIX}{target.id}" for target, _ in members)])
    made = [f"-targets={targets}", *inputs, "-output=made", "-bundle-align=4096", *options]
    bundler(folder, *made, **env)
    return (folder / "made").read_bytes()


@pytest.mark.parametrize("seed", range(8))
def test_bundles_are_those_of_clang_byte_for_byte(tmp_path: Path, seed: int) -> None:
    members = random_members(seed)
    ours = write_bundle(members)
    assert ours == by_clang(tmp_path, members)
    assert entries_of(ours) == [(f"{PREFIX}{target.id}", data) for target, data in members]


@pytest.mark.parametrize("seed", range(8, 12))
def test_clang_lists_and_takes_apart_our_bundles(tmp_path: Path, seed: int) -> None:
    members = random_members(seed)
    (tmp_path / "ours").write_bytes(write_bundle(members))
    listed = bundler(tmp_path, "-list", "-input=ours").split()
    assert sorted(listed) == sorted([HOST, *(f"{PREFIX}{target.id}" for target, _ in members)])
    names = ",".join(f"{PREFIX}{target.id}" for target, _ in members)
    outputs = [f"-output=part{number}" for number in range(len(members))]
    bundler(tmp_path, "-unbundle", f"-targets={names}", "-input=ours", *outputs)
    found = [(tmp_path / f"part{number}").read_bytes() for number in range(len(members))]
    assert found == [data for _, data in members]


@pytest.mark.parametrize("version", ["2", "3"])
def test_bundles_that_clang_compresses_are_read(tmp_path: Path, version: str) -> None:
    members = random_members(20)
    setting = {"COMPRESSED_BUNDLE_FORMAT_VERSION": version}
    made = by_clang(tmp_path, members, "-compress", **setting)
    assert made.startswith(b"CCOB" + struct.pack("<H", int(version)))
    assert [data for _, data in entries_of(made)] == [data for _, data in members]


def deflated(data: bytes, version: int, size: int | None = None) -> bytes:
    """Return a bundle that zlib compresses, as clangs without Zstandard do."""
    content, digest = zlib.compress(data), hashlib.md5(data).digest()[:8]
    claimed = len(data) if size is None else size
    whole = (24 if version == 2 else 32) + len(content)
    numbers = (claimed,) if version == 1 else (whole, claimed)
    sizes = struct.pack({1: "<I", 2: "<II", 3: "<QQ"}[version], *numbers)
    return struct.pack("<4sHH", b"CCOB", version, 0) + sizes + digest + content


@pytest.mark.parametrize("version", [1, 2, 3])
def test_bundles_compressed_by_zlib_are_read(tmp_path: Path, version: int) -> None:
    members = random_members(21)
    made = deflated(write_bundle(members), version)
    assert [data for _, data in entries_of(made)] == [data for _, data in members]
    if version > 1:  # which this clang does not read any more
        (tmp_path / "ours").write_bytes(made)
        assert HOST in bundler(tmp_path, "-list", "-input=ours").split()


def test_damaged_compressed_bundles_are_refused() -> None:
    good = deflated(write_bundle(random_members(22)), 3)
    for data, message in (
        (good[:20], "ends within its header"),
        (good[:-10], "damaged"),
        (good[:40] + b"\x55" * 8 + good[48:], "damaged"),
        (deflated(b"no bundle", 2), "holds no bundle"),
        (deflated(b"x" * 5000, 2, size=4999), "sum differs"),
        (deflated(b"x", 3, size=1 << 40), "claims 1099511627776 bytes"),
        (good[:6] + b"\x07\x00" + good[8:], "unknown method, 7.*--no-offload-compress"),
        (good[:6] + b"\x01\x00" + good[8:], "Zstandard refuses"),
    ):
        with pytest.raises(MalformedCodeObject, match=message):
            entries_of(data)


def test_without_zstandard_the_remedy_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = by_clang(tmp_path, random_members(23), "-compress")
    monkeypatch.setattr(compressed, "_LIBRARIES", {compressed.sys.platform: ("no-such-lib.so",)})
    with pytest.raises(MalformedCodeObject, match=r"install it, .*--no-offload-compress"):
        entries_of(made)


def test_clang_refuses_what_we_call_a_conflict(tmp_path: Path) -> None:
    pair = [(read_target(text), b"x") for text in ("gfx90a", "gfx90a:xnack+")]
    with pytest.raises(subprocess.CalledProcessError) as refused:
        by_clang(tmp_path, pair)
    assert "conflicting targets" in refused.value.stderr


def damaged(draw: random.Random, data: bytes) -> bytes:
    """Return a bundle with bytes of its head changed, cut or repeated."""
    broken = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(min(len(broken), 300))
        how = draw.randrange(4)
        if how == 0:
            broken[at] ^= 1 << draw.randrange(8)
        elif how == 1:
            struct.pack_into("<Q", broken, at, draw.choice([0, 1, 1 << 31, (1 << 64) - 1, 4096]))
        elif how == 2:
            del broken[draw.randrange(8, len(broken)) :]
            broken += bytes(max(0, 16 - len(broken)))
        else:
            broken[at:at] = broken[at : at + 16]
    return bytes(broken)


def test_bundles_with_damaged_code_are_read_or_refused() -> None:
    draw = random.Random(6)

    def stores(out: amdjit.f32[:]) -> None:
        out[0] = 1.0

    whole = amdjit.compile(stores, target=["gfx1201", "gfx90a:xnack+"]).bytes
    targets = {member.target.id for member in read_bundle(whole).members}
    assert targets == {"gfx1201", "gfx90a:xnack+"}
    refused = 0
    for _ in range(200):
        broken = bytearray(whole)
        for _ in range(draw.randint(1, 8)):
            # The table, or the headers of one of the code objects.
            start = draw.choice([0, 4096, whole.rfind(b"\x7fELF")])
            broken[start + draw.randrange(200)] = draw.randrange(256)
        try:
            read_bundle(bytes(broken))
        except MalformedCodeObject:
            refused += 1
    assert refused > 100


def test_damaged_bundles_are_read_or_refused() -> None:
    draw = random.Random(5)
    wholes = [write_bundle(random_members(seed)) for seed in (30, 31)]
    wholes += [deflated(wholes[0], version) for version in (1, 2, 3)]
    refused = 0
    for _ in range(3000):
        data = damaged(draw, draw.choice(wholes))
        try:
            entries_of(data) if data.startswith((b"__CLANG", b"CCOB")) else read_bundle(data)
        except MalformedCodeObject:
            refused += 1
    assert 1000 < refused < 3000
