"""lld, which decides what a linked object is; and the kernels of all tests compared with it."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pytest

import amdjit.backend
from amdjit.backend.linking.plain import link_plain

LLD = "ld.lld-22"


def require_lld() -> str:
    """Return the program; skip the test if there is none."""
    found = shutil.which(LLD)
    if found is None:
        pytest.skip(f"{LLD} is not installed")
    return found


@functools.cache
def comment_of(*command: str) -> bytes:
    """Return what a linker writes into `.comment`: its name and version."""
    said = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    found = re.match(r"(.*LLD [\d.]+)", said.stdout)
    assert found, said.stdout
    return b"Linker: " + found[1].encode() + b"\0"


def linked_by_lld(relocatable: bytes, *command: str) -> bytes:
    """Return the bytes that lld writes."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder, "kernel.o"), Path(folder, "kernel.so")
        source.write_bytes(relocatable)
        arguments = ["-shared", "--no-undefined", "-o", str(result), str(source)]
        done = subprocess.run([*command, *arguments], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return result.read_bytes()


def assert_same(relocatable: bytes, *command: str) -> None:
    """Link with lld and with amdjit, which signs as lld does, and compare all bytes."""
    command = command or (require_lld(),)
    ours = link_plain(relocatable, comment_of(*command))
    theirs = linked_by_lld(relocatable, *command)
    if ours != theirs:
        places = [i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b]
        raise AssertionError(
            f"{len(ours)} bytes, and lld's are {len(theirs)}; the first of {len(places)} others is "
            f"at {places[0] if places else len(ours):#x}"
        )


@contextmanager
def all_links_compared(count: list[int]) -> Iterator[None]:
    """Compare what amdjit links with what lld makes of it, and count in `count[0]`.

    That is done for every sixteenth object, by their bytes, or for as many as AMDJIT_TEST_LINKS
    says: `1` for all, `0` for none.
    """
    share = Fraction(os.environ.get("AMDJIT_TEST_LINKS", "1/16"))
    lld = shutil.which(LLD)
    if lld is None or not share:
        yield
        return
    assert amdjit.backend.link
    module = sys.modules["amdjit.backend.link"]

    def link_and_compare(relocatable: bytes) -> bytes:
        linked = link_plain(relocatable)
        if zlib.crc32(relocatable) % share.denominator < share.numerator:
            assert_same(relocatable, lld)
            count[0] += 1
        return linked

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "link_plain", link_and_compare)
        yield
