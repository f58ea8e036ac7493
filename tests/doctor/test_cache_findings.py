"""What the doctor and `amdjit cache` say of the folder of compiled code."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from amdjit import command_line
from amdjit.disk_cache import Contents, DiskCache
from amdjit.doctor.cache_findings import cache
from amdjit.doctor.finding import Finding, State
from tests.doctor.examined_machine import machine


def found(folder: Path | str) -> Finding:
    (finding,) = cache(machine(Path("/"), {"AMDJIT_CACHE_DIR": str(folder)}))
    return finding


def filled(folder: Path, entries: int = 3) -> DiskCache:
    kept = DiskCache(folder, "1")
    for number in range(entries):
        kept.put(kept.key(str(number)), b"x" * 1000)
    return kept


def damage(folder: Path) -> Path:
    entry = sorted(folder.glob("*/*.bin"))[0]
    entry.write_bytes(entry.read_bytes()[:-1])
    return entry


def test_a_sound_cache_is_counted(tmp_path: Path) -> None:
    filled(tmp_path / "cache")
    finding = found(tmp_path / "cache")
    assert (finding.state, finding.remedy) == (State.OK, "")
    assert finding.found == f"{tmp_path / 'cache'}, 3 entries, 0.0 MiB"
    assert finding.facts["bytes"] == sum(f.stat().st_size for f in tmp_path.rglob("*.bin"))


def test_a_folder_that_is_not_there_yet_is_empty(tmp_path: Path) -> None:
    assert found(tmp_path / "a" / "b").found == f"{tmp_path / 'a' / 'b'}, empty"
    assert not (tmp_path / "a").exists()


def test_damaged_entries_are_counted_and_left(tmp_path: Path) -> None:
    kept = filled(tmp_path)
    entry = damage(tmp_path)
    assert kept.contents().damaged == (entry,)
    finding = found(tmp_path)
    assert finding.state is State.NOTE
    assert "3 entries, 1 of them damaged" in finding.found
    assert "amdjit cache clear" in finding.remedy
    assert entry.exists()


def test_an_entry_in_the_place_of_another_is_damaged(tmp_path: Path) -> None:
    kept = filled(tmp_path, 2)
    first, second = sorted(tmp_path.glob("*/*.bin"))
    second.write_bytes(first.read_bytes())
    assert kept.contents().damaged == (second,)


def test_a_folder_that_cannot_be_written_is_a_problem(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    finding = found(file / "cache")
    assert finding.state is State.PROBLEM
    assert "nothing can be stored there" in finding.found
    assert "AMDJIT_CACHE_DIR" in finding.remedy


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_a_folder_that_others_may_write_is_a_problem(tmp_path: Path) -> None:
    tmp_path.chmod(0o770)
    finding = found(tmp_path)
    assert finding.state is State.PROBLEM
    assert "others may write there (drwxrwx---)" in finding.found
    assert finding.remedy.startswith(f"chmod 700 {tmp_path}")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_a_new_cache_is_its_users_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o002)
    try:
        filled(tmp_path / "cache", 1)
    finally:
        os.umask(before)
    folders = [tmp_path / "cache", *(tmp_path / "cache").iterdir()]
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700, 0o700]


def test_no_cache_is_told() -> None:
    finding = found("")
    assert finding.state is State.NOTE
    assert finding.found.startswith("none: AMDJIT_CACHE_DIR is empty")


def test_clearing_removes_entries_and_nothing_else(tmp_path: Path) -> None:
    kept = filled(tmp_path)
    mine = tmp_path / "ab" / "data.bin"
    mine.parent.mkdir(exist_ok=True)
    mine.write_bytes(b"not amdjit's")
    (tmp_path / "notes.txt").touch()
    assert kept.contents().entries == 3
    assert kept.clear() == Contents(0, 0, ())
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == {
        mine,
        tmp_path / "notes.txt",
    }


def test_the_command_shows_and_clears(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AMDJIT_CACHE_DIR", str(tmp_path))
    filled(tmp_path)
    damage(tmp_path)
    assert command_line.main(["cache"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{tmp_path}, 3 entries, 1 of them damaged, 0.0 MiB\n")
    assert "`amdjit cache clear` removes it" in shown
    assert command_line.main(["cache", "clear"]) == 0
    assert capsys.readouterr().out == (
        f"{tmp_path}: removed 3 of 3 entries, 1 of them damaged, 0.0 MiB\n"
    )
    assert command_line.main(["cache", "info"]) == 0
    assert capsys.readouterr().out == f"{tmp_path}, empty\n"


def test_clearing_where_nothing_is_kept_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AMDJIT_CACHE_DIR", "")
    assert command_line.main(["cache", "clear"]) == 0
    assert "none: AMDJIT_CACHE_DIR is empty" in capsys.readouterr().out
