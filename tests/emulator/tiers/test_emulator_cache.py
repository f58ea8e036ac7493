"""Host code kept on disk: used by the next process, by no other CPU, and never in the way of a
result."""

from __future__ import annotations

import itertools
import os
import platform
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from amdjit.emulator import EmulatorDevice, run
from amdjit.emulator.host.jit import HostCompiler
from amdjit.options import Environment
from amdjit.target import find_target
from tests.emulator.building import compile_kernel
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

# Runs a reduction on what the first argument names, and tells how much had to be compiled.
CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from amdjit.emulator import run
from amdjit.emulator.host.jit import HostCompiler
compiled = []
compile = HostCompiler.compile
HostCompiler.compile = lambda self, text: compiled.append(1) or compile(self, text)
{before}
x, sums = np.arange(2000, dtype=np.float32), np.zeros(8, np.float32)
run(open(sys.argv[2], "rb").read(), "reduction", 8, 256, [x, sums, np.uint32(2000)])
assert sums.tolist() == np.append(x, np.zeros(48)).reshape(8, 256).sum(1).tolist()
print(len(compiled))
"""


def start(sample: Path, cache: Path, before: str = "") -> subprocess.Popen[str]:
    script = CHILD.replace("{before}", textwrap.dedent(before))
    environment = dict(os.environ) | {
        "AMDJIT_CACHE_DIR": str(cache),
        "PYTHONPATH": str(Path(__file__).parents[3]),
    }
    command = [sys.executable, "-c", script, str(Path(__file__).parents[1]), str(sample)]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def compiled_by(process: subprocess.Popen[str]) -> int:
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return int(output)


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "reduction.co"
    path.write_bytes(compile_kernel("reduction"))
    return path


def files(cache: Path) -> list[Path]:
    return sorted(path for path in cache.rglob("*") if path.is_file())


def test_processes_that_start_at_once_share_a_cache(sample: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    counts = [compiled_by(process) for process in [start(sample, cache) for _ in range(4)]]
    assert max(counts) >= 5
    assert {path.suffix for path in files(cache)} == {".bin"}
    assert compiled_by(start(sample, cache)) == 0


@pytest.mark.sample(1)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits for the size of files")
@pytest.mark.parametrize("most", [0, 3000])
def test_a_full_disk_is_no_error(sample: Path, tmp_path: Path, most: int) -> None:
    # Writing beyond the limit fails as it does where no room is left: in the middle of a file.
    before = f"""
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}))
    """
    cache = tmp_path / "cache"
    assert compiled_by(start(sample, cache, before)) >= 5
    assert all(path.suffix == ".bin" for path in files(cache))
    compiled_by(start(sample, cache))
    assert compiled_by(start(sample, cache)) == 0


def test_damaged_entries_are_made_again(sample: Path, tmp_path: Path) -> None:
    damages = [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-9] + bytes(9),
        bytes.swapcase,
    ]
    cache = tmp_path / "cache"
    first = compiled_by(start(sample, cache))
    for path, damage in zip(files(cache), itertools.cycle(damages), strict=False):
        path.write_bytes(damage(path.read_bytes()))
    assert compiled_by(start(sample, cache)) == first
    assert compiled_by(start(sample, cache)) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_a_cache_that_may_not_be_written_is_read(sample: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    compiled_by(start(sample, cache))
    before = files(cache)
    for folder in [cache, *(path for path in cache.rglob("*") if path.is_dir())]:
        folder.chmod(0o500)
    try:
        assert compiled_by(start(sample, cache)) == 0
    finally:
        for folder in [cache, *(path for path in cache.rglob("*") if path.is_dir())]:
            folder.chmod(0o700)
    assert files(cache) == before


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="needs an x86-64 host")
def test_another_cpu_does_not_get_this_ones_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = find_target("gfx1201")
    assert target is not None
    code = compile_kernel("saxpy")
    counts: list[int] = []
    compile_text = HostCompiler.compile

    def counted(self: HostCompiler, text: str) -> bytes:
        counts[-1] += 1
        return compile_text(self, text)

    monkeypatch.setattr(HostCompiler, "compile", counted)
    without = frozenset(["avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"])
    for compiler in (
        HostCompiler(),
        HostCompiler("haswell", without),
        HostCompiler(),
        HostCompiler("haswell", without),
    ):
        counts.append(0)
        machine = EmulatorDevice(
            target, 1, environment=Environment(cache_dir=tmp_path), compiler=compiler
        )
        x, y = np.ones(256, np.float32), np.zeros(256, np.float32)
        run(code, "saxpy", 1, 256, [np.uint32(256), np.float32(3), x, y], device=machine)
        assert (y == 3).all()
    assert counts[0] == counts[1] > 3
    assert counts[2:] == [0, 0]


def test_host_code_is_made_anew_when_what_instructions_compute_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rooms: list[str] = []

    def version(*folders: Path) -> str:
        rooms.extend(folder.name for folder in folders)
        return "a version"

    monkeypatch.setattr("amdjit.emulator.device.source_version", version)
    target = find_target("gfx1201")
    assert target is not None
    EmulatorDevice(target, 1, environment=Environment(cache_dir=tmp_path))
    assert rooms == ["emulator", "isa"]
