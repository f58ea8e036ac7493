"""What an installer reads: dependencies on each platform, URLs, and a description whose links lead
somewhere from anywhere."""

from __future__ import annotations

import re
import zipfile
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.packaging.built_distributions import ROOT

REPOSITORY = "https://github.com/amdjit/amdjit"
EVERYWHERE = {"cloudpickle", "llvmlite", "ml_dtypes", "msgpack", "numpy", "xxhash"}
LINUX, MACOS, WINDOWS = "linux", "darwin", "win32"
# conda has other names for some packages.
CONDA = {"msgpack-python": "msgpack", "python-xxhash": "xxhash"}


@pytest.fixture(scope="session")
def metadata(wheel: Path) -> Message:
    """Return what the wheel says of itself."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("dist-info/METADATA"))
        (scripts,) = (n for n in archive.namelist() if n.endswith("entry_points.txt"))
        assert "amdjit = amdjit.command_line:main" in archive.read(scripts).decode()
        return HeaderParser().parsestr(archive.read(name).decode())


def required(metadata: Message, platform: str, machine: str, extra: str = "") -> set[str]:
    """Return what an installer on a platform installs."""
    environment = {"sys_platform": platform, "platform_machine": machine, "extra": extra}
    requirements = map(Requirement, metadata.get_all("Requires-Dist", []))
    return {r.name for r in requirements if r.marker is None or r.marker.evaluate(environment)}


@pytest.mark.parametrize(
    ("platform", "machine", "more"),
    [
        (LINUX, "x86_64", {"hip-python"}),
        (LINUX, "aarch64", set()),
        (LINUX, "ppc64le", set()),
        (MACOS, "arm64", set()),
        (WINDOWS, "AMD64", set()),
        (WINDOWS, "ARM64", set()),
    ],
)
def test_each_platform_needs_only_what_has_wheels_there(
    metadata: Message, platform: str, machine: str, more: set[str]
) -> None:
    """hip-python has wheels for Linux on x86-64 only, in all versions since 6.2."""
    assert required(metadata, platform, machine) == EVERYWHERE | more


def test_lld_comes_with_an_extra_only(metadata: Message) -> None:
    assert required(metadata, LINUX, "aarch64", "lld") == EVERYWHERE | {"ziglang"}
    for platform, machine in ((LINUX, "x86_64"), (MACOS, "arm64"), (WINDOWS, "AMD64")):
        assert "ziglang" not in required(metadata, platform, machine)


def test_an_installer_learns_python_licence_and_places(metadata: Message, wheel: Path) -> None:
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["License-Expression"] == ("MIT AND Apache-2.0 WITH LLVM-exception")
    assert wheel.name.endswith("-py3-none-any.whl")
    places = dict(line.split(", ") for line in metadata.get_all("Project-URL", []))
    assert places["Repository"] == REPOSITORY
    assert {"Documentation", "Changelog", "Issues"} < set(places)
    assert all(place.startswith(REPOSITORY) for place in places.values())


def test_links_of_the_description_lead_somewhere_from_anywhere(metadata: Message) -> None:
    """PyPI shows the README without the repository around it."""
    text = metadata.get_payload()
    assert isinstance(text, str)
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    targets = dict(re.findall(r"^\[([^\]]+)\]: (\S+)$", prose, re.MULTILINE))
    named = re.findall(r"\[[^\]]+\]\[([^\]]+)\]", prose)
    links = [*re.findall(r"\]\(([^)\s]+)\)", prose), *(targets[name] for name in named)]
    assert targets.keys() == set(named)
    assert len(links) > 20
    for link in links:
        assert link.startswith("https://"), link
        inside = re.fullmatch(rf"{REPOSITORY}/(?:blob|tree)/main/([^#]+)(?:#.*)?", link)
        if link.startswith(REPOSITORY):
            assert inside, link
            assert (ROOT / inside[1]).exists(), link


def test_the_recipe_for_conda_needs_the_same(metadata: Message) -> None:
    recipe = (ROOT / ".ci" / "conda" / "recipe.yaml").read_text()
    run = re.search(r"  run:\n((?:    - .*\n)+)", recipe)
    assert run
    lines = [line.strip("- ").split(" ", 1) for line in run[1].splitlines()]
    needed = {CONDA.get(name, name): versions for name, versions in lines}
    assert needed.pop("python") == metadata["Requires-Python"]
    everywhere = [Requirement(line) for line in metadata.get_all("Requires-Dist", [])]
    expected = {r.name: r.specifier for r in everywhere if r.marker is None}
    assert needed.keys() == expected.keys()
    for name, specifier in expected.items():
        assert Requirement(f"{name}{needed[name]}").specifier == specifier
    (named,) = re.findall(r"^      - (\S+ = \S+)$", recipe, re.MULTILINE)
    assert named == "amdjit = amdjit.command_line:main"


def test_the_recipe_for_conda_can_be_rendered(metadata: Message) -> None:
    """What rattler-build reads in it. Building it needs conda's channels."""
    rattler = pytest.importorskip("rattler_build", reason="pip install py-rattler-build")
    recipe = rattler.Stage0Recipe.from_file(ROOT / ".ci" / "conda" / "recipe.yaml")
    (rendered,) = (variant.recipe.to_dict() for variant in recipe.render())
    assert rendered["package"] == {"name": "amdjit", "version": metadata["Version"]}
    assert rendered["build"]["noarch"] == "python"
    assert rendered["about"]["license"] == metadata["License-Expression"]
    assert all((ROOT / file).exists() for file in rendered["about"]["license_file"])
