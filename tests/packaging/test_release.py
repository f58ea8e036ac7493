"""What a release consists of: one version everywhere, workflows that name what exists, pages that
do not promise a package index, a site of several versions."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import amdjit
from tests.packaging.built_distributions import ROOT

CHECK = runpy.run_path(str(ROOT / ".ci" / "release_check.py"))
SITE = runpy.run_path(str(ROOT / ".ci" / "publish_site.py"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
RELEASED = CHECK["first"]("CHANGELOG.md", r"^## \S+ \((.+)\)$") != "not released yet"


def test_every_place_names_the_version_of_the_package() -> None:
    versions = CHECK["versions"]()
    assert set(versions.values()) == {amdjit.__version__}, versions


def test_headings_of_the_change_log_are_versions_with_a_date_newest_first() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    form = re.compile(r"(\d+\.\d+\.\d+) \((not released yet|\d{4}-\d{2}-\d{2})\)")
    found = [form.fullmatch(heading) for heading in headings]
    assert found
    assert all(found), headings
    numbers = [tuple(map(int, match[1].split("."))) for match in found if match]
    assert numbers == sorted(set(numbers), reverse=True)
    assert [match[2] for match in found[1:] if match].count("not released yet") == 0


@pytest.mark.parametrize(
    ("tag", "state", "lost", "said"),
    [
        ("v{}", "2030-01-02", "", "v{} can be released"),
        ("v9.9.9", "2030-01-02", "", "amdjit/__init__.py says {}"),
        ("v{}", "not released yet", "", "CHANGELOG.md has no date"),
        ("v{}", "2030-01-02", "docs/CITATION.cff", "docs/CITATION.cff says none"),
    ],
)
def test_only_a_tag_that_fits_is_released(
    tag: str, state: str, lost: str, said: str, tmp_path: Path
) -> None:
    for file in (*CHECK["PLACES"], ".ci/release_check.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    log = tmp_path / "CHANGELOG.md"
    log.write_text(re.sub(r"\A(# .*\n\n## \S+) \(.+\)", rf"\1 ({state})", log.read_text()))
    if lost:
        (tmp_path / lost).write_text("")
    done = release_check(tmp_path, tag.format(amdjit.__version__))
    assert done.returncode == ("can be released" not in said)
    assert said.format(amdjit.__version__) in done.stdout


def release_check(root: Path, tag: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / ".ci/release_check.py"), tag]
    return subprocess.run(command, capture_output=True, text=True)


def test_pages_do_not_install_from_a_package_index_before_the_first_release() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    said = re.compile(r"pip install (-\S+ )?[\"']?amdjit(?!\[)|additional_dependencies: \[amdjit")
    saying = [page.name for page in pages if said.search(page.read_text())]
    assert saying == [] or RELEASED


def steps(workflow: Path) -> list[dict[str, Any]]:
    """Return the steps of all jobs of a workflow."""
    yaml = pytest.importorskip("yaml", reason="pip install pyyaml")
    jobs = yaml.safe_load(workflow.read_text())["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.stem)
def test_workflows_name_what_the_repository_has(workflow: Path) -> None:
    found = steps(workflow)
    assert found
    assert all(("run" in step) != ("uses" in step) for step in found)
    commands = "\n".join(step.get("run", "") for step in found)
    for file in re.findall(r"\.ci/[\w.]+", commands):
        assert (ROOT / file).is_file(), file
    assert not re.search(r"password|(?<!id-)token:|secrets\.", workflow.read_text())


def test_releases_are_published_without_a_token() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text()
    assert "id-token: write" in text
    assert "pypa/gh-action-pypi-publish" in text
    assert "environment: pypi" in text


def test_a_site_lies_beside_those_of_other_versions(tmp_path: Path) -> None:
    site, pages = tmp_path / "site", tmp_path / "pages"
    for folder in (site, pages):
        folder.mkdir()
    (site / "index.html").write_text("site")
    (site / ".doctrees").mkdir()
    for name in ("main", "0.9.0", "0.10.0", "0.9.0"):
        SITE["publish"](site, pages, name)
    assert json.loads((pages / "versions.json").read_text()) == ["0.10.0", "0.9.0", "main"]
    assert "url=0.10.0/" in (pages / "index.html").read_text()
    assert (pages / "0.9.0" / "index.html").read_text() == "site"
    assert not (pages / "0.9.0" / ".doctrees").exists()
