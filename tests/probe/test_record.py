"""The file of a run: what is written is read, and what is no such file is refused with words."""

from __future__ import annotations

import lzma
import struct
from dataclasses import replace
from pathlib import Path

import msgpack
import numpy as np
import pytest
import xxhash

from amdjit.probe import record as records
from amdjit.probe.case import Difference, Measurement
from amdjit.probe.joining import stored_results, whole_results
from amdjit.probe.outcome import (
    BatchOutcome,
    BatchStatus,
    CaseOutcome,
    CaseStatus,
    Facts,
    Record,
    StoredArray,
    plain,
)
from amdjit.probe.record import digest_of, results_of, stored

DIFFERENT = CaseOutcome(
    "v_add_f32 neg",
    "v_add_f32",
    "documented",
    CaseStatus.DIFFERS,
    512,
    12,
    "aa",
    "bb",
    kinds={"1 ulp toward zero": 12},
    differences=(Difference(0, 3, "1.0 + 2**-24", 0xFFFFFFFFFFFFFFFF, 0),),
    results=(StoredArray("bfloat16", (2, 3), bytes(12)),),
)
RECORD = Record(
    "0.1.0",
    "1-abc",
    Facts("hip:0", "gfx1201", "a GPU", 32, "amdgpu 6.1", "Linux", "3.12"),
    "quick",
    (
        BatchOutcome("instructions/VOP2", "instructions", BatchStatus.DONE, 2.5, "", (DIFFERENT,)),
        BatchOutcome(
            "timing/valu",
            "timing",
            BatchStatus.HUNG,
            1.0,
            "killed",
            measurements=(Measurement("latency", 5.0, "cycles", (5.0, 5.5), "valu", None),),
        ),
    ),
    False,
    "interrupted",
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.probe"
    assert records.write(RECORD, path) == path.stat().st_size
    return path


def test_what_is_written_is_read(file: Path) -> None:
    assert records.read(file) == RECORD
    assert sorted(file.parent.iterdir()) == [file]


def test_arrays_of_all_types_come_back(tmp_path: Path) -> None:
    for name in ("float16", "bfloat16", "float8_e4m3fn", "uint64", "int8", "float64"):
        array = np.arange(6).astype(np.dtype(name)).reshape(2, 3)
        rows = [[each.dtype, each.shape, each.data] for each in stored((array,))]
        (back,) = results_of(rows)
        assert back.dtype == array.dtype
        assert (back == array).all()


def _with_header(content: bytes, version: int = records.FORMAT) -> bytes:
    digest = xxhash.xxh3_64_intdigest(content)
    return struct.pack("<12sIQQ", b"amdjit probe", version, len(content), digest) + content


def test_every_cut_is_refused(file: Path) -> None:
    data = file.read_bytes()
    for length in (0, 5, 12, 31, 32, 33, len(data) // 2, len(data) - 1):
        file.write_bytes(data[:length])
        with pytest.raises(records.RecordError, match=r"cut off|ends within|not a file of"):
            records.read(file)


def test_every_flipped_byte_is_refused(file: Path) -> None:
    data = file.read_bytes()
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= 0x10
        file.write_bytes(damaged)
        with pytest.raises(records.RecordError, match=file.name):
            records.read(file)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\3\4 and the rest of an archive", "is not a file of `amdjit probe`"),
        (_with_header(b"", records.FORMAT + 1), "use a newer amdjit"),
        (_with_header(b"x") + b"y", "followed by something else"),
        (_with_header(b"not compressed"), "but no record of a probe"),
        (_with_header(lzma.compress(b"\xc1")), "but no record of a probe"),
        (_with_header(lzma.compress(msgpack.packb([1, 2, 3]))), "but no record of a probe"),
        (_with_header(lzma.compress(msgpack.packb({"a": 1}))), "but no record of a probe"),
        (_with_header(lzma.compress(bytes(1000))[:-4]), "but no record of a probe"),
    ],
)
def test_other_files_are_refused_with_words(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "other.probe"
    path.write_bytes(content)
    with pytest.raises(records.RecordError, match=words):
        records.read(path)


def test_a_missing_file_is_refused_with_words(tmp_path: Path) -> None:
    with pytest.raises(records.RecordError, match="cannot be read: No such file"):
        records.read(tmp_path / "nothing.probe")


def test_large_results_are_kept_relative_to_the_emulators() -> None:
    emulator = np.linspace(-1, 1, 40_000, dtype=np.float32), np.arange(3, dtype=np.uint8)
    chip = np.nextafter(emulator[0], np.float32(9)), emulator[1].copy()
    sides = [
        {"arrays": plain(stored(arrays)), "digest": digest_of(stored(arrays))}
        for arrays in (chip, emulator)
    ]
    found = stored_results(sides[0], sides[1])
    assert all(array.is_relative for array in found)
    assert len(lzma.compress(found[0].data)) < 1000
    case = replace(DIFFERENT, results=found)
    for array, back in zip(chip, whole_results(case, emulator), strict=True):
        assert back.dtype == array.dtype
        assert (back == array).all()
    assert stored_results(sides[1], sides[1]) == ()
    small = {"arrays": plain(stored(chip[1:])), "digest": "x"}
    assert stored_results(small, small) == stored(chip[1:])
