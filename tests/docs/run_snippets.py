"""Run the Python programs of README and of the pages where no test tools are:
`python tests/docs/run_snippets.py [PAGE ...]`. The exit code is 1 if a program fails or prints
something else than its page shows.

Each page is a process, in which its programs run in order, as scripts; a program whose first line
names a file, `# folder/name.py`, is written there, and run if it is in no folder. On the pages of
docs/questions, a command whose output is shown is run too, in its place. A program that imports
what `pip install .` does not bring is left out, with those after it, if its page says
`pip install "amdjit[EXTRA]"`, and only then.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = ROOT / "docs" / "questions"
SHOWN = r"\n+Prints:\n+```\n(?P<text>.*?)```"
PROGRAM = re.compile(rf"```python\n(?P<code>.*?)```(?:{SHOWN})?", re.DOTALL)
STEP = re.compile(  # a program, or a command with its output
    rf"```python\n(?P<code>.*?)```(?:{SHOWN})?"
    rf"|```\n(?P<command>(?:amdjit|python) [^`]*?)\n```{SHOWN.replace('text', 'output')}",
    re.DOTALL,
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
    """Run a page's programs in the current folder, and its commands if it is a question's."""
    names: dict[str, object] = {}
    text = page.read_text(encoding="utf-8")
    sys.path.insert(0, str(Path.cwd()))
    steps = STEP if page.parent == QUESTIONS else PROGRAM
    for number, match in enumerate(steps.finditer(text), 1):
        found = match.groupdict()
        if found.get("command"):
            check(f"command {number}", output_of(found["command"]), found["output"])
            continue
        lacks = missing(text, found["code"])
        if lacks:
            print(f"left out from program {number} on: the page says it needs {', '.join(lacks)}")
            return
        named = NAMED.match(found["code"])
        file = Path(named[1] if named else f"{page.stem}_{number}.py")
        file.parent.mkdir(exist_ok=True)
        file.write_text(found["code"], encoding="utf-8")  # kernels are read from files
        if len(file.parts) > 1:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            made = runpy.run_path(str(file), init_globals=names, run_name="__main__")
        names = {name: value for name, value in made.items() if not name.startswith("__")}
        check(f"program {number}", printed.getvalue(), found["text"])


def output_of(command: str) -> str:
    """Return what a command prints, whatever its exit status: a gate that fails is an answer."""
    words = shlex.split(command.replace("\\\n", " "))
    module = {"amdjit": ["-m", "amdjit"], "python": []}[words[0]]
    paths = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        [sys.executable, *module, *words[1:]],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, "PATH": paths},  # `amdjit run -- python` starts this environment's
    )
    if not done.stdout:
        raise SystemExit(f"{command}\n{done.stderr}")
    return done.stdout


def check(step: str, printed: str, shown: str | None) -> None:
    """End with what was printed, if a page shows something else."""
    if shown is not None and normalised(printed) != normalised(shown):
        raise SystemExit(f"{step} prints\n{printed}")


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
        for page in (
            ROOT / "README.md",
            *sorted((ROOT / "docs").glob("*.md")),
            *sorted(QUESTIONS.glob("*.md")),
        )
        if PROGRAM.search(page.read_text(encoding="utf-8"))
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return 0 if all(list(pool.map(run_in_process, pages))) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
