"""The disk cache returns what was put or nothing, and never an error or other bytes."""

from __future__ import annotations

import errno
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from amdjit.disk_cache import DiskCache


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path / "cache", "1.0")


def files(cache: DiskCache) -> list[Path]:
    assert cache.directory is not None
    return sorted(path for path in cache.directory.rglob("*") if path.is_file())


def test_what_was_put_is_got_by_another_process_too(cache: DiskCache) -> None:
    key = cache.key("source", b"ir")
    assert cache.get(key) is None
    cache.put(key, b"code")
    assert cache.get(key) == b"code"
    assert DiskCache(cache.directory, "1.0").get(key) == b"code"
    cache.put(key, b"")
    assert cache.get(key) == b""


def test_keys_tell_their_parts_apart(cache: DiskCache) -> None:
    parts: list[tuple[str | bytes, ...]] = [
        ("ab", "c"),
        ("a", "bc"),
        ("abc",),
        (b"abc",),
        ("abc", ""),
        (),
        ("a", "b", "c"),
    ]
    keys = [cache.key(*each) for each in parts]
    assert len(set(keys)) == len(keys)
    assert cache.key("abc") == DiskCache(None, "1.0").key("abc")
    assert cache.key("abc") != DiskCache(cache.directory, "1.1").key("abc")
    assert cache.key("lone surrogate \ud800")


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "longer", "another entry"])
def test_a_damaged_entry_is_no_entry_and_goes(cache: DiskCache, damage: str) -> None:
    key, other = cache.key("one"), cache.key("two")
    cache.put(key, b"x" * 100)
    (path,) = files(cache)
    content = path.read_bytes()
    cache.put(other, b"y" * 100)
    foreign = next(entry for entry in files(cache) if entry != path).read_bytes()
    damaged = {
        "truncated": content[:-1],
        "flipped": content[:-1] + b"z",
        "empty": b"",
        "longer": content + b"x",
        "another entry": foreign,
    }
    path.write_bytes(damaged[damage])
    assert cache.get(key) is None
    assert not path.exists()
    cache.put(key, b"again")
    assert cache.get(key) == b"again"


def test_without_a_directory_nothing_is_kept() -> None:
    cache = DiskCache(None, "1.0")
    cache.put(cache.key("a"), b"code")
    cache.prune()
    assert cache.get(cache.key("a")) is None


def test_a_directory_that_cannot_be_made_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = DiskCache(tmp_path / "file" / "cache", "1.0")
    cache.put(cache.key("a"), b"code")
    cache.prune()
    assert cache.get(cache.key("a")) is None


def test_a_full_disk_is_ignored_and_leaves_nothing(
    cache: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.put(cache.key("before"), b"code")
    before = files(cache)
    real = os.fdopen

    def full(descriptor: int, mode: str) -> Any:
        file = real(descriptor, mode)

        class Full:
            def __enter__(self) -> Full:
                return self

            def __exit__(self, *_: object) -> None:
                file.close()

            def write(self, content: bytes) -> int:
                file.write(content[:10])
                raise OSError(errno.ENOSPC, "No space left on device")

        return Full()

    monkeypatch.setattr(os, "fdopen", full)
    cache.put(cache.key("a"), b"code" * 1000)
    assert cache.get(cache.key("a")) is None
    assert cache.get(cache.key("before")) == b"code"
    assert files(cache) == before


def test_the_directory_stays_below_its_bound(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, "1.0", max_bytes=20_000)
    for number in range(300):
        cache.put(cache.key(str(number)), b"x" * 1000)
    cache.prune()
    assert 10_000 < sum(path.stat().st_size for path in files(cache)) <= 20_000


def test_pruning_happens_by_itself(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, "1.0", max_bytes=20_000)
    for number in range(300):
        cache.put(cache.key(str(number)), b"x" * 1000)
    assert len(files(cache)) < 150


def test_what_is_used_stays_longest(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, "1.0")
    keys = [cache.key(str(number)) for number in range(6)]
    for age, key in enumerate(keys):
        cache.put(key, b"x" * 900)
        os.utime(tmp_path / key[:2] / f"{key}.bin", (1000 + age, 1000 + age))
    assert cache.get(keys[0]) is not None
    DiskCache(tmp_path, "1.0", max_bytes=5000).prune()
    assert cache.get(keys[0]) is not None
    assert cache.get(keys[1]) is None


def test_an_entry_larger_than_the_bound_is_not_kept(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, "1.0", max_bytes=100)
    cache.put(cache.key("a"), b"x" * 101)
    assert files(cache) == []


def test_files_of_dead_writers_go_and_those_of_live_ones_stay(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, "1.0", max_bytes=100)
    (tmp_path / "ab").mkdir()
    dead, live, foreign = (tmp_path / "ab" / name for name in ("dead.tmp", "live.tmp", "README"))
    for path in (dead, live, foreign):
        path.write_text("x")
    os.utime(dead, (time.time() - 7200, time.time() - 7200))
    cache.prune()
    assert (dead.exists(), live.exists(), foreign.exists()) == (False, True, True)


def test_a_key_that_is_none_is_refused(cache: DiskCache) -> None:
    for wrong in ("", "../../etc/passwd", "A" * 64, "0" * 63):
        with pytest.raises(ValueError, match="not a key"):
            cache.get(wrong)


def test_readers_and_writers_at_once_see_whole_entries(cache: DiskCache) -> None:
    key = cache.key("shared")
    versions = [bytes([number]) * 20_000 for number in range(4)]
    seen: set[bytes | None] = set()

    def write(data: bytes) -> None:
        for _ in range(20):
            cache.put(key, data)
            seen.add(cache.get(key))

    threads = [threading.Thread(target=write, args=(data,)) for data in versions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen <= set(versions)
    assert all(path.suffix == ".bin" for path in files(cache))
