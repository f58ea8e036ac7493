"""Build the library, once for each version of its sources, compiler and Python."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

from amdjit.child_process import run
from amdjit.diagnostics.errors import BackendError
from amdjit.options import read_environment

__all__ = ["SOURCES", "hip_library"]

SOURCES = Path(__file__).with_name("source")
_MAP = SOURCES / "amdhip64.map"
# As programs ask for it: HIP 5, 6 and 7, and those that open it by hand. It is hiprtc, too.
_NAMES = tuple(
    f"lib{name}.so{version}"
    for name in ("amdhip64", "hiprtc")
    for version in ("", ".5", ".6", ".7")
)
_FLAGS = ("-std=gnu11", "-O2", "-shared", "-fPIC", f"-Wl,-soname,{_NAMES[0]}")
_COMPILERS = ("cc", "gcc", "clang", "clang-22")
_SECONDS = 300
_STUB = """
__attribute__((weak)) int {name}(void) {{
  static int is_said;
  return amdjit_hip_missing("{name}", &is_said);
}}"""


def hip_library() -> Path:
    """Return the path of amdjit's libamdhip64.so; the first call builds it.

    Its folder also has the names libamdhip64.so.5, .6 and .7, and the same of libhiprtc.so: put it
    into LD_LIBRARY_PATH. The folder's device_functions.h has the functions of ROCm's device library
    that HIP's headers call.
    BackendError without a C compiler, or on another system than Linux.
    """
    if not sys.platform.startswith("linux"):
        raise BackendError("amdjit's libamdhip64 is for Linux")
    compiler = _compiler()
    command = [compiler, *_FLAGS, *_definitions(), "-I", str(SOURCES)]
    digest = hashlib.sha256((repr(command) + _stubs()).encode())
    for path in sorted(SOURCES.iterdir()):
        digest.update(path.read_bytes())
    folder = _cache_folder() / "hip_library" / digest.hexdigest()[:16]
    library = folder / _NAMES[0]
    if not library.exists():
        _build(command, folder)
    return library


def _cache_folder() -> Path:
    folder = read_environment(os.environ).cache_dir
    return folder or Path(tempfile.gettempdir()) / f"amdjit-{os.getuid()}"


def _compiler() -> str:
    for name in (os.environ.get("CC"), *_COMPILERS):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise BackendError(
        "amdjit's libamdhip64 is built by a C compiler when it is first used, and there is none: "
        "install gcc or clang, or name one by CC"
    )


def _definitions() -> list[str]:
    """Return the interpreter to start, as macros."""
    values = {
        "PYTHON": sys.executable,
        "LIBPYTHON": _python_library(),
        "PACKAGES": str(Path(__file__).parents[2]),
    }
    return [f'-D{name}="{_escaped(value)}"' for name, value in values.items()]


def _escaped(text: str) -> str:
    return re.sub(r'(["\\])', r"\\\1", text)


def _python_library() -> str:
    """Return the path of this Python's shared library, or its name if it is not where it should
    be: then the program is told so."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    name = f"libpython{version}.so.1.0"
    folders = [sysconfig.get_config_var("LIBDIR"), Path(sys.base_prefix) / "lib"]
    multiarch = sysconfig.get_config_var("MULTIARCH")
    folders += [f"/usr/lib/{multiarch}"] if multiarch else []
    paths = [Path(folder) / name for folder in folders if folder]
    return next((str(path) for path in paths if path.exists()), name)


def _build(command: list[str], folder: Path) -> None:
    """Build in a folder of its own, which becomes `folder` when it is complete."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(dir=folder.parent))
    stubs = unfinished / "missing.c"
    stubs.write_text(_stubs())
    files = [str(SOURCES / "amdhip64.c"), str(stubs), f"-Wl,--version-script,{_MAP}"]
    output = unfinished / _NAMES[0]
    code, words = run([*command, *files, "-o", str(output), "-lpthread", "-ldl"], _SECONDS)
    if code != 0:
        shutil.rmtree(unfinished)
        raise BackendError(f"{command[0]} does not compile amdjit's libamdhip64:\n{words}")
    shutil.copy(SOURCES / "device_functions.h", unfinished)
    for name in _NAMES[1:]:
        (unfinished / name).symlink_to(_NAMES[0])
    try:
        unfinished.rename(folder)
    except OSError:  # another process was quicker
        shutil.rmtree(unfinished)


def _stubs() -> str:
    """Return weak functions for all names of HIP: those that nothing else defines say their
    name."""
    names = sorted(set(re.findall(r"\b(hip\w+);", _MAP.read_text())))
    head = "int amdjit_hip_missing(const char *function, int *is_said);"
    return head + "".join(_STUB.format(name=name) for name in names) + "\n"
