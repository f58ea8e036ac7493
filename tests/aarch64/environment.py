"""An environment of Linux aarch64 in a folder: Debian's Python and C library, wheels of PyPI, and a
`python` that QEMU runs.

It needs mmdebstrap and qemu-user-static of Debian, the package index, and neither privileges nor
binfmt_misc: the environment's `python` is a shell script that starts QEMU, so that processes which
it starts from `sys.executable` go the same way.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

__all__ = ["MISSING", "Environment"]

ROOT = Path(__file__).resolve().parents[2]
_TOOLS = ("mmdebstrap", "qemu-aarch64-static")
MISSING = [tool for tool in _TOOLS if shutil.which(tool) is None]
_RELEASE = "trixie"
_PACKAGES = ("python3", "libgcc-s1", "libstdc++6")
# What amdjit needs on every platform (tests/packaging/test_metadata.py), and pytest for its tests.
_WHEELS = ("llvmlite>=0.50,<0.51", "numpy", "ml_dtypes", "msgpack", "xxhash", "cloudpickle")
_FOR_TESTS = ("pytest", "pytest-timeout", "hypothesis")
_PLATFORMS = ("manylinux2014_aarch64", "manylinux_2_27_aarch64", "manylinux_2_28_aarch64")
# A processor without SVE, as those of laptops: with QEMU's own choice, NumPy's products warn of
# divisions by zero, and some are wrong.
_SCRIPT = (
    '#!/bin/sh\nexec qemu-aarch64-static -cpu neoverse-n1 -L "{root}" -0 "$0" "{python}" "$@"\n'
)


@dataclass(frozen=True)
class Environment:
    """folder: where it is, or is going to be."""

    folder: Path

    @property
    def python(self) -> Path:
        """The script that runs Python."""
        return self.folder / "python"

    @property
    def packages(self) -> Path:
        """The folder of the installed wheels."""
        return self.folder / "packages"

    def build(self) -> None:
        """Build what is missing; CalledProcessError if a step fails."""
        root = self.folder / "root"
        if not root.exists():
            _unpack_debian(root)
        (python,) = (root / "usr" / "bin").glob("python3.[0-9]*")
        self.python.write_text(_SCRIPT.format(root=root, python=python))
        self.python.chmod(0o755)
        if not self.packages.exists():
            self._install_wheels(python.name.removeprefix("python"))

    def _install_wheels(self, version: str) -> None:
        wheels = self.folder / "wheels"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:"]
        command += ["--python-version", version, "--dest", str(wheels)]
        command += [part for name in _PLATFORMS for part in ("--platform", name)]
        subprocess.run([*command, *_WHEELS, *_FOR_TESTS], check=True)
        for wheel in wheels.glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(self.packages)

    def run(self, *arguments: str, seconds: float) -> subprocess.CompletedProcess[str]:
        """Run Python with this checkout's amdjit on its path."""
        paths = os.pathsep.join((str(self.packages), str(ROOT)))
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": paths,
            "PYTHONDONTWRITEBYTECODE": "1",
            "AMDJIT_CACHE_DIR": str(self.folder / "cache"),
            "AMDJIT_DEVICE": "emulator:gfx1201",
        }
        return subprocess.run(
            [str(self.python), *arguments],
            cwd=ROOT,
            env=variables,
            capture_output=True,
            text=True,
            timeout=seconds,
        )


def _unpack_debian(root: Path) -> None:
    command = ["mmdebstrap", "--quiet", "--architectures=arm64", "--variant=extract"]
    command += [f"--include={','.join(_PACKAGES)}", _RELEASE, str(root)]
    subprocess.run(command, check=True)
    for name in ("bin", "lib"):  # which a package makes that is not among these
        if not (root / name).exists():
            (root / name).symlink_to(f"usr/{name}")
