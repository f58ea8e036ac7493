"""Forked processes: the emulator works there, HIP says that it does not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")

# Forks while other threads launch, load and compile kernels; each child launches an old kernel and
# compiles a new one. Prints which children did not end well.
PROGRAM = """
import faulthandler, linecache, os, sys, threading, time
import numpy as np
import amdjit

def kernel(number):
    text = (
        "def scale(x, y):\\n    i = amdjit.grid(1)\\n    if i < x.shape[0]:\\n"
        f"        y[i] = x[i] * {number}.5 + {number}\\n"
    )
    name = f"<kernel {number}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    names = {"amdjit": amdjit}
    exec(compile(text, name, "exec"), names)
    return amdjit.kernel(warnings=False)(names["scale"])

def run(scale, number):
    x = np.arange(64, dtype=np.float32)
    y = np.zeros_like(x)
    with amdjit.use("emulator:gfx1201"):
        scale[1, 64](x, y)
    assert np.array_equal(y, x * np.float32(number + 0.5) + number), (number, y)

def launch():
    while True:
        run(known, 7)

def compile_kernels(first):
    number = first
    while True:
        run(kernel(number), number)
        number += 1

known = kernel(7)
run(known, 7)
compiled = int(sys.argv[2])
threading.Thread(target=launch, daemon=True).start()
for first in range(1000, 1000 * compiled + 1, 1000):
    threading.Thread(target=compile_kernels, args=(first,), daemon=True).start()
failed = []
for count in range(int(sys.argv[1])):
    time.sleep(0.003 * (count % 7))
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(60, exit=True)
        status = 1
        try:
            run(known, 7)
            if count % 3 == 0:
                run(kernel(500_000 + count), 500_000 + count)
            status = 0
        finally:
            os._exit(status)
    if os.waitpid(child, 0)[1]:
        failed.append(count)
print("failed:", failed, flush=True)
os._exit(0)
"""


def failed_children(forks: int, compiling: int, timeout: float) -> str:
    command = [sys.executable, "-c", PROGRAM, str(forks), str(compiling)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=timeout
    )
    return result.stdout + result.stderr


# Plain locks, and why no forked process waits for one that another thread held.
PLAIN_LOCKS = {
    "amdjit/forking.py": "made again in the new process",
    "amdjit/backend/process.py": "of LLVM's process: a new one is started in the new process",
    "amdjit/command_line/watching.py": "of the page's server, a command that does not fork",
    "amdjit/emulator/scheduling/workers.py": "of the calls of one launch",
    "amdjit/runtime/pending.py": "of a HIP device, which forked processes refuse",
    "amdjit/simulating/work_items.py": "of the threads of one launch, whose turn it says",
}


def test_locks_are_free_in_forked_processes() -> None:
    plain = re.compile(r"threading\.(R?Lock|Condition|Semaphore)\(|factory=threading\.R?Lock")
    found = {
        file.relative_to(ROOT).as_posix()
        for folder in ("amdjit", "intrinsics", "lowering")
        for file in (ROOT / folder).rglob("*.py")
        if plain.search(file.read_text())
        and "runtime/hip/" not in file.as_posix()  # forked processes refuse HIP
    }
    assert found == set(PLAIN_LOCKS), "use amdjit.forking.Lock, or say why this one is free"


@needs_fork
def test_the_emulator_works_in_children_of_a_busy_process() -> None:
    assert failed_children(12, 2, 250) == "failed: []\n"


@needs_fork
@pytest.mark.exhaustive
def test_the_emulator_works_in_hundreds_of_children() -> None:
    assert failed_children(400, 2, 3000) == "failed: []\n"
