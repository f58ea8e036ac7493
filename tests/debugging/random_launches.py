"""Random launches whose waves diverge, loop, wait for each other and write memory of every kind."""

from __future__ import annotations

import linecache
from random import Random
from typing import Any

import numpy as np

import amdjit
from amdjit.debugging.debugger import Debugger

BLOCK = 70
_WORDS = ("atomic", "blockIdx", "f32", "i32", "local", "shared", "syncthreads", "threadIdx")


def source_of(random: Random) -> str:
    """Return the text of a kernel."""
    lines = ["def program(x, counts, out):", "i = threadIdx.x", "b = blockIdx.x"]
    lines += ["tile = shared.array(128, f32)", "own = local.array(4, f32)", "v = x[b, i]"]
    lines += ["for k in range(4):", " own[k] = v + k"]
    for _ in range(random.randint(2, 6)):
        lines += random.choice((_exchange, _loop, _branch, _count, _private, _store))(random)
    lines.append("out[b, i] = v")
    return lines[0] + "".join(f"\n    {line}" for line in lines[1:]) + "\n"


def _exchange(random: Random) -> list[str]:
    return [
        "tile[i] = v",
        "syncthreads()",
        f"v = v * 0.5 + tile[(i + {random.randint(1, 64)}) % {BLOCK}]",
        "syncthreads()",
    ]


def _loop(random: Random) -> list[str]:
    return [
        f"for j in range((i + b) % {random.randint(2, 7)}):",
        f" v = v * 1.25 - {random.random():.3f}",
        f" if j == {random.randint(0, 3)}:",
        "  out[b, i] = v",
    ]


def _branch(random: Random) -> list[str]:
    return [
        f"if (i ^ b) % {random.randint(2, 5)} == 0:",
        " v += x[b, (i * 3) % 70]",
        "else:",
        " v -= 1.0",
    ]


def _count(random: Random) -> list[str]:
    return [f"atomic.add(counts, (i + b) % {random.randint(1, 8)}, {random.randint(1, 9)})"]


def _private(random: Random) -> list[str]:
    return [
        f"own[(i + {random.randint(0, 3)}) % 4] += v",
        f"v = own[(i * b) % {random.randint(2, 4)}]",
    ]


def _store(random: Random) -> list[str]:
    return [f"out[b, i] = v * {random.randint(2, 9)}"]


def launch(seed: int, **options: Any) -> tuple[amdjit.Kernel, tuple[Any, ...]]:
    """Return a kernel with its arguments, for 3 workgroups of BLOCK work-items."""
    source = source_of(Random(seed))
    file = f"<random launch {seed}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {word: getattr(amdjit, word) for word in _WORDS}
    exec(compile(source, file, "exec", dont_inherit=True), names)
    numbers = np.random.default_rng(seed).random((3, BLOCK), np.float32)
    arrays = numbers, np.zeros(8, np.int32), np.zeros((3, BLOCK), np.float32)
    return amdjit.kernel(**options)(names["program"]), arrays


def everything(debugger: Debugger) -> list[bytes]:
    """Return all that there is to see at a time: registers, LDS, private and global memory."""
    stepped = debugger._stepped
    found = [str((debugger.time, stepped.current, stepped.groups)).encode()]
    for group in stepped.groups:
        for wave in range(stepped.waves):
            state = stepped.wave(group, wave)
            assert state is not None
            found += [str(state.pc).encode(), state.scalars.tobytes(), state.vectors.tobytes()]
            found.append(stepped.private(group, wave).tobytes())
        found.append(stepped.lds(group).tobytes())
    return found + [array.tobytes() for array in debugger.arrays.values()]
