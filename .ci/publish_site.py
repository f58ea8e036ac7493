"""Put a built site beside those of other versions: `python .ci/publish_site.py SITE PAGES NAME`.

PAGES gets a folder NAME, versions.json with the names of all folders, newest first, and an
index.html that leads to the newest released version, or to `main` before the first.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

_INDEX = '<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={}/">\n'


def order(name: str) -> tuple[int, ...]:
    """Return what versions are sorted by; a name without numbers, such as main, comes last."""
    parts = name.split(".")
    return tuple(map(int, parts)) if all(part.isdigit() for part in parts) else ()


def publish(site: Path, pages: Path, name: str) -> None:
    """Replace the folder of a version, and write what leads to all of them."""
    shutil.rmtree(pages / name, ignore_errors=True)
    shutil.copytree(site, pages / name, ignore=shutil.ignore_patterns(".doctrees"))
    folders = [each.name for each in pages.iterdir() if (each / "index.html").exists()]
    names = sorted(folders, key=order, reverse=True)
    (pages / "versions.json").write_text(json.dumps(names) + "\n", encoding="utf-8")
    (pages / "index.html").write_text(_INDEX.format(names[0]), encoding="utf-8")
    (pages / ".nojekyll").touch()  # folders that begin with _ are served too


if __name__ == "__main__":
    publish(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
