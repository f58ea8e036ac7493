"""Run the Python programs of README and of the pages where no test tools are:
`python tests/docs/run_snippets.py [PAGE ...]`. The exit code is 1 if a program fails or prints
something else than its page shows.

Each page is a process, in which its programs run in order, as scripts; a program whose first line
names a file, `# folder/name.py`, is written there, and run if it is in no folder. A program that
imports what `pip install amdjit` does not bring is left out, with those after it, if its page says
`pip install "amdjit[EXTRA]"`, and only then.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = re.compile(
    r"```python\n(?P<code>.*?)```(?:\n+Prints:\n+```\n(?P<text>.*?)```)?", re.DOTALL
)
NAMED = re.compile(r"# (\S+\.py)\n")
EXTRA = re.compile(r'pip install "amdjit\[(\w+)\]"')
IMPORTED = re.compile(r"^(?:import|from) (\w+)", re.MULTILINE)
SECONDS = 300


def missing(text: str, code: str) -> list[str]:
    """Return what a page says that its programs need, a program imports, and this environment
    lacks."""
    extras = set(EXTRA.findall(text)) & set(IMPORTED.findall(code))
    return [name for name in sorted(extras) if find_spec(name) is None]


def run_page(page: Path) -> None:
    """Run a page's programs in the current folder."""
    names: dict[str, object] = {}
    text = page.read_text(encoding="utf-8")
    sys.path.insert(0, str(Path.cwd()))
    for number, match in enumerate(PROGRAM.finditer(text), 1):
        lacks = missing(text, match["code"])
        if lacks:
            print(f"left out from program {number} on: the page says it needs {', '.join(lacks)}")
            return
        named = NAMED.match(match["code"])
        file = Path(named[1] if named else f"{page.stem}_{number}.py")
        file.parent.mkdir(exist_ok=True)
        file.write_text(match["code"], encoding="utf-8")  # kernels are read from files
        if len(file.parts) > 1:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            found = runpy.run_path(str(file), init_globals=names, run_name="__main__")
        names = {name: value for name, value in found.items() if not name.startswith("__")}
        if match["text"] is not None and normalised(printed.getvalue()) != normalised(
            match["text"]
        ):
            raise SystemExit(f"program {number} prints\n{printed.getvalue()}")


def normalised(text: str) -> str:
    """Leave out names of files, addresses, and spaces at the ends of lines."""
    text = re.sub(r"(\S*/)?[\w-]+\.py\b", "FILE", text)
    text = re.sub(r"0x[0-9a-f]{6,}", "0x...", text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def run_in_process(page: Path) -> bool:
    """Run a page in a process and folder of its own; print and return whether all went well."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", str(Path(__file__).resolve()), "--here", str(page)],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env={**os.environ, "AMDJIT_DEVICE": "emulator:gfx1201"},
        )
    is_fine = done.returncode == 0
    word = "ran" if is_fine else "FAILED"
    took = f"{time.monotonic() - begin:.1f} s"
    print(f"{word:6} {page.name}: {took}\n{done.stdout}", end="", flush=True)
    if not is_fine:
        print(done.stderr, flush=True)
    return is_fine


def main(arguments: list[str]) -> int:
    """Run the named pages, or all that have programs."""
    if arguments[:1] == ["--here"]:
        run_page(Path(arguments[1]))
        return 0
    pages = [Path(each).resolve() for each in arguments] or [
        page
        for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
        if PROGRAM.search(page.read_text(encoding="utf-8"))
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return 0 if all(list(pool.map(run_in_process, pages))) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
