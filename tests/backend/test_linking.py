"""The linker is found in the documented places, and its refusals become BackendErrors."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from amdjit.backend import Linker, OwnLinker, emit_object, find_linker, link, optimise, tools
from amdjit.backend.tools import find_assembler, find_lld
from amdjit.code_object import CodeObject
from amdjit.diagnostics.errors import BackendError
from amdjit.options import CompileOptions, Environment
from amdjit.target import Target

posix_only = pytest.mark.skipif(os.name == "nt", reason="makes shell scripts")


@pytest.fixture
def relocatable(ir: Callable[[str], str], target: Target, options: CompileOptions) -> bytes:
    return emit_object(optimise(ir("saxpy"), target, options), target, options)


def program(path: Path, text: str = "exit 0") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def without_ziglang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "_zig", lambda: None)


@pytest.fixture
def without_rocm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tools, "_DEFAULT_ROCM", tmp_path / "no-rocm")


def test_the_linker_of_the_ziglang_package_works(relocatable: bytes) -> None:
    linker = find_linker(Environment(), "zig")
    assert linker.command[1:] == ("ld.lld",)
    assert "saxpy" in CodeObject.read(link(relocatable, linker)).kernels


def test_all_linkers_make_the_same_code_object(relocatable: bytes) -> None:
    debian = shutil.which("ld.lld-22")
    if debian is None:
        pytest.skip("ld.lld-22 is not installed")
    linkers = (OwnLinker(), find_linker(Environment(), "zig"), Linker((debian,)))
    linked = [CodeObject.read(link(relocatable, linker)) for linker in linkers]
    for ours, theirs in itertools.pairwise(linked):
        # The ELF header says where the sections are, and one of them is the linker's name.
        loaded = [b"".join(s.data for s in each.segments)[64:] for each in (ours, theirs)]
        assert loaded[0] == loaded[1]
        assert [s.address for s in ours.segments] == [s.address for s in theirs.segments]


def test_no_program_is_looked_for_unless_one_is_chosen() -> None:
    nowhere = Environment(rocm_path=Path("/nowhere"), search_path="")
    assert find_linker(nowhere) == OwnLinker(nowhere)
    assert str(find_linker(nowhere)) == "amdjit"


@posix_only
def test_rocm_comes_before_ziglang(tmp_path: Path) -> None:
    lld = program(tmp_path / "rocm" / "llvm" / "bin" / "ld.lld")
    assert find_lld(Environment(rocm_path=tmp_path / "rocm")) == Linker((str(lld),))


@posix_only
def test_the_path_comes_last(tmp_path: Path, without_ziglang: None, without_rocm: None) -> None:
    lld = program(tmp_path / "bin" / "ld.lld")
    assert find_lld(Environment(search_path=str(lld.parent))) == Linker((str(lld),))


@posix_only
def test_a_choice_wins_and_the_argument_before_the_variable(tmp_path: Path) -> None:
    one, two = program(tmp_path / "one"), program(tmp_path / "two")
    environment = Environment(linker=str(one))
    assert find_linker(environment) == Linker((str(one),))
    assert find_linker(environment, str(two)) == Linker((str(two),))


@posix_only
def test_a_zig_program_is_called_as_its_linker(tmp_path: Path) -> None:
    zig = program(tmp_path / "zig")
    assert find_linker(Environment(), str(zig)) == Linker((str(zig), "ld.lld"))


def test_a_choice_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="not there"):
        find_linker(Environment(linker=str(tmp_path / "nothing")))


def test_no_linker_at_all_says_what_to_install(without_ziglang: None, without_rocm: None) -> None:
    install = r"pip install \"amdjit\[lld\]\""
    with pytest.raises(BackendError, match=rf"{install}.*AMDJIT_LINKER"):
        find_lld(Environment())
    with pytest.raises(BackendError, match=install):
        find_assembler(Environment())
    with pytest.raises(BackendError, match=f"ziglang is not installed.*{install}"):
        find_linker(Environment(), "zig")


@posix_only
def test_what_a_failing_linker_says_is_in_the_error(relocatable: bytes, tmp_path: Path) -> None:
    failing = program(tmp_path / "ld", "echo 'error: out of ideas' >&2; exit 3")
    with pytest.raises(BackendError, match=r"exit code 3\):\nerror: out of ideas"):
        link(relocatable, Linker((str(failing),)))


@posix_only
def test_a_linker_that_writes_nothing_is_an_error(relocatable: bytes, tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="linking failed"):
        link(relocatable, Linker((str(program(tmp_path / "ld")),)))


@posix_only
def test_a_linker_that_hangs_is_stopped(
    relocatable: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "_TIME_LIMIT", 0.2)
    with pytest.raises(BackendError, match="timed out"):
        link(relocatable, Linker((str(program(tmp_path / "ld", "exec sleep 20")),)))


def test_no_place_for_temporary_files_is_an_error_with_a_remedy(
    relocatable: bytes, lld: Linker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(name, str(tmp_path / "nowhere"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(tmp_path / "nowhere")])
    with pytest.raises(
        BackendError, match=r"No usable temporary directory.*set TMPDIR to a directory"
    ):
        link(relocatable, lld)


def test_a_full_disk_is_an_error_with_a_remedy(
    relocatable: bytes, lld: Linker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(path: Path, content: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", no_room)
    with pytest.raises(BackendError, match=r"No space left on device; make room, or set TMPDIR"):
        link(relocatable, lld)


def test_bytes_that_are_no_object_are_refused(lld: Linker) -> None:
    for linker in (lld, OwnLinker()):
        with pytest.raises(BackendError, match="linking failed"):
            link(b"not an object", linker)


def test_an_undefined_symbol_is_refused(
    target: Target, options: CompileOptions, lld: Linker
) -> None:
    text = """
target triple = "amdgcn-amd-amdhsa"
@elsewhere = external addrspace(1) global i32
define protected amdgpu_kernel void @kernel() {
  store i32 1, ptr addrspace(1) @elsewhere
  ret void
}
"""
    for linker in (lld, OwnLinker()):
        with pytest.raises(BackendError, match="elsewhere"):
            link(emit_object(text, target, options), linker)


def test_nothing_is_left_behind(
    relocatable: bytes, lld: Linker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    link(relocatable, lld)
    link(relocatable, OwnLinker())
    assert list(tmp_path.iterdir()) == []
