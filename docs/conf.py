"""The documentation site: `sphinx-build -W docs build/site`.

The pages are the Markdown files of this folder, as they are read in the repository too. The API
reference is made from docstrings.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import amdjit

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = "https://github.com/amdjit/amdjit"

project = "amdjit"
copyright = "the amdjit developers"
version = release = amdjit.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "sphinx_copybutton"]
exclude_patterns = ["generators", "_templates"]
templates_path = ["_templates"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.header"]

# Docstrings write code in single backquotes.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "undoc-members": False}

html_theme = "furo"
html_title = f"amdjit {release}"
html_theme_options = {
    "source_repository": REPOSITORY,
    "source_branch": "main",
    "source_directory": "docs/",
}
# furo's, with the list of versions behind the search.
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/versions.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
copybutton_exclude = ".linenos, .gp, .go"

# A link that leaves this folder leads to a file of the repository.
_OUTSIDE = re.compile(r"\]\(((?:\.\./)+)([^)#]+)([^)]*)\)")


def _prepare(_app: Sphinx, name: str, content: list[str]) -> None:
    folder = (ROOT / "docs" / name).parent

    def replaced(link: re.Match[str]) -> str:
        target = (folder / link[1] / link[2]).resolve()
        if target.is_relative_to(ROOT / "docs"):
            return link[0]
        if not target.exists():
            raise FileNotFoundError(f"docs/{name} links to {link[1]}{link[2]}, which is not there")
        kind = "tree" if target.is_dir() else "blob"
        return f"]({REPOSITORY}/{kind}/main/{target.relative_to(ROOT).as_posix()}{link[3]})"

    content[0] = _OUTSIDE.sub(replaced, content[0])
    if name == "reference/builtins/README":
        content[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _prepare)
