"""Questions about the folder of compiled code: what it contains, and whether that is intact."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from amdjit.disk_cache import DiskCache
from amdjit.doctor.finding import Finding, State
from amdjit.doctor.machine import Machine

__all__ = ["cache"]

_CHOOSE = "Free some space or grant permission, or name another folder in AMDJIT_CACHE_DIR."
_CLEAR = "`amdjit cache clear` removes it; until then damaged entries cost a compilation each."


def cache(machine: Machine) -> Iterator[Finding]:
    """Find where compiled code is stored, how much there is, and what is wrong with it."""
    folder = machine.environment().cache_dir
    if folder is None:
        found = "none: AMDJIT_CACHE_DIR is empty, or there is no home folder"
        yield Finding("cache", State.NOTE, found, "Unset AMDJIT_CACHE_DIR to keep compiled code.")
        return
    contents = DiskCache(folder, version="").contents()
    found = machine.shown(f"{folder}, {contents}")
    facts = dict(
        folder=machine.shown(str(folder)),
        entries=contents.entries,
        bytes=contents.nbytes,
        damaged=len(contents.damaged),
    )
    why_not = _why_not_writable(folder)
    exposed = _exposed(folder)
    if why_not:
        found = f"{found}; nothing can be stored there ({machine.shown(why_not)})"
        yield Finding("cache", State.PROBLEM, found, _CHOOSE, facts)
    elif exposed:
        private = f"chmod 700 {machine.shown(str(folder))}"
        remedy = f"{private}, or name a folder of your own in AMDJIT_CACHE_DIR."
        yield Finding("cache", State.PROBLEM, f"{found}; {exposed}", remedy, facts)
    elif contents.damaged:
        yield Finding("cache", State.NOTE, found, _CLEAR, facts)
    else:
        yield Finding("cache", State.OK, found, facts=facts)


def _why_not_writable(folder: Path) -> str:
    """Return why no file can be made in a folder, or in the existing folder above it."""
    there = next((each for each in (folder, *folder.parents) if os.path.lexists(each)), folder)
    try:
        with tempfile.TemporaryFile(dir=there):
            return ""
    except OSError as error:
        return f"{there}: {error.strerror}"


def _exposed(folder: Path) -> str:
    """Return who else may write to a folder. Whoever does decides what this user's processes
    execute, because the emulator stores host code there."""
    try:
        status = folder.stat()
    except OSError:
        return ""
    if not hasattr(os, "geteuid"):
        return ""
    if status.st_uid not in (os.geteuid(), 0) and os.geteuid() != 0:
        return "it belongs to another user, who decides what your processes run"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return (
            f"others may write there ({stat.filemode(status.st_mode)}), and your processes run it"
        )
    return ""
