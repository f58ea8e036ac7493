"""Functions and kernels may have any name, also one that means something in LLVM's IR."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

import amdjit

# fmt: off
NAMES = (
    "noinline", "optnone", "alwaysinline", "define", "declare", "amdgpu_kernel", "entry", "label",
    "getelementptr", "ret", "addrspace", "attributes", "align", "syncscope", "llvm", "memcpy",
    "printf", "größe", "Δx",
)
# fmt: on
SOURCE = """
@amdjit.device_function(inline=False)
def NAME(a, b):
    return a * 3 if a > b else b

def other(x, o):
    i = amdjit.grid(1)
    total = NAME(x[i], i)
    o[i] = total + int(NAME(f32(total), 20.0))
"""
KERNEL = """
def NAME(x, o):
    i = amdjit.grid(1)
    o[i] = x[i] + 1
"""


def defined(name: str, text: str, wanted: str) -> object:
    text, file = text.replace("NAME", name), f"<{wanted} {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"amdjit": amdjit, "f32": amdjit.f32}
    exec(compile(text, file, "exec"), scope)
    return scope[wanted]


def expected(x: int, i: int) -> int:
    total = x * 3 if x > i else i
    return total + (total * 3 if total > 20 else 20)


@pytest.mark.sample(6)
@pytest.mark.parametrize(("processor", "wave_size"), [("gfx1100", 64), ("gfx1201", 32)])
@pytest.mark.parametrize("name", NAMES)
def test_any_name_will_do(name: str, processor: str, wave_size: int) -> None:
    x, out = np.arange(64, dtype=np.int32)[::-1].copy(), np.zeros(64, np.int32)
    with amdjit.use(f"emulator:{processor}"):
        amdjit.kernel(defined(name, SOURCE, "other"), wave_size=wave_size)[1, 64](x, out)
        assert out.tolist() == [expected(value, i) for i, value in enumerate(x.tolist())]
        amdjit.kernel(defined(name, KERNEL, name), wave_size=wave_size)[1, 64](x, out)
    assert (out == x + 1).all()
