"""The package on the page docs/extending.md runs as it stands there, from a folder outside
amdjit."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = re.compile(r"```python\n# (?P<name>\S+)\n(?P<code>.*?)```", re.DOTALL)
PRINTED = re.compile(r"Prints:\n+```\n(?P<text>.*?)```", re.DOTALL)


def test_the_package_of_the_page_runs_outside_amdjit(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "extending.md").read_text()
    files = {match["name"]: match["code"] for match in FILE.finditer(page)}
    assert len(files) == page.count("```python") == 5
    for name, code in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(code)
    (tmp_path / "lanework" / "__init__.py").touch()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    outcome = subprocess.run(
        [sys.executable, "use.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    printed = PRINTED.search(page)
    assert printed is not None
    assert outcome.stdout == printed["text"]
