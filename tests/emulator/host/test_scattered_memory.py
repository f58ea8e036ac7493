"""Host code is linked also where free memory lies in small pieces, far from each other."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import mmap, sys
from amdjit.emulator.host.jit import HostCompiler

compiler = HostCompiler()
OBJECTS = [
    compiler.compile(f'''
declare void @call{k}()
define double @function{k}(double %x) {compiler.function_attributes} {{
  call void @call{k}()
  %y = fmul double %x, {k}.125
  ret double %y
}}''').image
    for k in range(40)
]
FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # not reserved

def piece(size=mmap.PAGESIZE):
    return mmap.mmap(-1, size, flags=FLAGS, prot=mmap.PROT_READ)

pages = [piece() for _ in range(4000)]
between = piece(5 << 30)
near = [piece() for _ in range(1024)]
for page in pages[int(sys.argv[1])::100]:
    page.close()
linked = [
    compiler.link([image], {f"call{k}": 1 << 60}, [f"function{k}"])
    for k, image in enumerate(OBJECTS)
]
print(len({code.addresses[f"function{k}"] for k, code in enumerate(linked)}))
"""


@pytest.mark.sample(1)
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's mmap, not Windows or macOS")
@pytest.mark.parametrize("first", [801, 901, 1001])
def test_sections_of_an_object_stay_together(first: int) -> None:
    """The last of the free pages is taken by one section, of any number that an object has."""
    command = [sys.executable, "-c", PROGRAM, str(first)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert result.stdout == "40\n", result.stderr
