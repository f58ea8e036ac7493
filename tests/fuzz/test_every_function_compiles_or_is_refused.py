"""Functions that nobody wrote as kernels: each compiles or is refused with a CompileError or
LaunchError.

They are compiled in processes of their own, so that one in which LLVM ends is a located failure.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MODULES = [
    "argparse",
    "ast",
    "base64",
    "bisect",
    "calendar",
    "cmd",
    "collections",
    "colorsys",
    "copy",
    "csv",
    "datetime",
    "decimal",
    "difflib",
    "dis",
    "fractions",
    "functools",
    "gettext",
    "glob",
    "hashlib",
    "heapq",
    "html",
    "inspect",
    "ipaddress",
    "json.decoder",
    "json.encoder",
    "keyword",
    "locale",
    "logging",
    "ntpath",
    "numbers",
    "operator",
    "optparse",
    "os",
    "pathlib",
    "pickle",
    "pprint",
    "posixpath",
    "queue",
    "random",
    "re",
    "shlex",
    "shutil",
    "statistics",
    "string",
    "struct",
    "subprocess",
    "tarfile",
    "tempfile",
    "textwrap",
    "threading",
    "token",
    "tokenize",
    "traceback",
    "types",
    "typing",
    "uuid",
    "warnings",
    "weakref",
    "zipfile",
]


def compile_in_a_process(*arguments: str) -> dict[str, int]:
    """Return how many functions compiled and how many were refused; fail where anything else
    happened."""
    command = [sys.executable, str(HERE / "refusals.py"), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    lines = done.stdout.splitlines()
    where = "\n".join(lines[-3:])
    assert done.returncode == 0, (
        f"the process ended with {done.returncode} at\n{where}\n{done.stderr[-3000:]}"
    )
    first = done.stdout.find("UNEXPECTED")
    assert first < 0, done.stdout[max(0, first - 200) : first + 5000]
    return {name: int(count) for name, count in re.findall(r"'(\w+)': (\d+)", lines[-1])}


@pytest.mark.sample(1)
@pytest.mark.parametrize("first", range(4))
def test_functions_of_the_standard_library(first: int) -> None:
    """Every fourth function of each module in every run."""
    outcomes = compile_in_a_process("modules", str(first), "4", *MODULES)
    assert outcomes["compiled"] > 2
    assert outcomes["TypeCheckError"] > 50
    assert outcomes["UnsupportedSyntaxError"] > 50


def test_random_functions_compile_or_are_refused() -> None:
    outcomes = compile_in_a_process("random", "1", "250")
    assert outcomes["compiled"] > 12
    assert outcomes["TypeCheckError"] > 50


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(100, 112))
def test_thousands_of_random_functions(seed: int) -> None:
    assert compile_in_a_process("random", str(seed), "4000")["compiled"] > 200
