"""The programs that tests of the emulator need: their kernels are compiled and assembled by LLVM's
own tools."""

from __future__ import annotations

import shutil

import pytest

_ABSENT = [name for name in ("clang-22", "ld.lld-22", "llvm-mc-22") if shutil.which(name) is None]

needs_tools = pytest.mark.skipif(bool(_ABSENT), reason=f"{', '.join(_ABSENT)} not installed")
