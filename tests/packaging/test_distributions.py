"""The distributions hold all packages and nothing else, and are the same whichever way they are
built."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.packaging.built_distributions import ROOT, build

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomllib", reason="needs Python 3.11 to read TOML")

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = PROJECT["tool"]["setuptools"]["packages"]
WEB = ROOT / "amdjit" / "explorer" / "web"
COURSE = ROOT / "amdjit" / "learning" / "course"
HIP_SOURCES = ROOT / "amdjit" / "hip_programs" / "source"
PACKAGE_DIR = PROJECT["tool"]["setuptools"]["package-dir"]


def folder_of(package: str) -> Path:
    """Return a package's folder in the checkout: that of its longest mapped parent, and the
    rest."""
    parent = max((p for p in PACKAGE_DIR if f"{package}.".startswith(f"{p}.")), key=len)
    return ROOT / PACKAGE_DIR[parent] / package[len(parent) :].lstrip(".").replace(".", "/")


def folders_with_modules() -> set[str]:
    """Return the packages that the folders of the checkout make."""
    names = {place: name for name, place in PACKAGE_DIR.items()}
    found = set()
    for place in names:
        for module in (ROOT / place).rglob("*.py"):
            folder = module.parent.relative_to(ROOT)
            mapped = max((p for p in names if folder.is_relative_to(p)), key=len)
            found.add(".".join((names[mapped], *folder.relative_to(mapped).parts)))
    return found


def expected_files() -> set[str]:
    """Return the files that an installation has."""
    modules = {
        f"{p.replace('.', '/')}/{file.name}" for p in PACKAGES for file in folder_of(p).glob("*.py")
    }
    page = {f"amdjit/explorer/web/{file.name}" for file in WEB.iterdir()}
    course = {
        f"amdjit/{file.relative_to(ROOT / 'amdjit').as_posix()}" for file in COURSE.rglob("*.md")
    }
    hip_library = {f"amdjit/hip_programs/source/{file.name}" for file in HIP_SOURCES.iterdir()}
    return (
        modules
        | page
        | hip_library
        | course
        | {
            "amdjit/ahead_of_time/metadata_schema.json",
            "amdjit/debugging/wave.html",
            "amdjit/probe/corpus/language/programs.json.xz",
            "amdjit/py.typed",
            "amdjit/intrinsics/amdgcn.pyi",
            "amdjit/intrinsics/atomic.pyi",
            "amdjit/intrinsics/builtins/amdgcn_builtins.tsv",
            "amdjit/language/named_types.pyi",
            *(
                f"amdjit/numba_cuda/functions/{name}.pyi"
                for name in ("atomic", "bf16", "bf16_conversions", "fp16")
            ),
        }
    )


def contents(wheel: Path) -> dict[str, bytes]:
    """Return a wheel's files without its own records."""
    with zipfile.ZipFile(wheel) as archive:
        return {
            name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name
        }


def test_the_package_list_is_the_folders() -> None:
    assert sorted(PACKAGES) == sorted(folders_with_modules())


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_says_what_it_is(package: str) -> None:
    first = (folder_of(package) / "__init__.py").read_text().lstrip("# \n")
    assert first.startswith('"""')


@pytest.mark.parametrize("package", [name for name in PACKAGE_DIR if "." in name])
def test_top_level_packages_are_linked_into_the_checkout(package: str) -> None:
    link = ROOT / package.replace(".", "/")
    assert str(link.readlink()) == f"../{PACKAGE_DIR[package]}"


def test_the_wheel_holds_the_packages_and_nothing_else(wheel: Path) -> None:
    assert set(contents(wheel)) == expected_files()


def test_the_wheel_holds_what_is_generated_and_no_tests(wheel: Path) -> None:
    names = set(contents(wheel))
    assert {
        "amdjit/py.typed",
        "amdjit/isa/gfx12_tables.py",
        "amdjit/intrinsics/builtins/wmma.py",
    } <= names
    assert {"amdjit/lowering/module.py", "amdjit/examples/wmma_matmul.py"} <= names
    assert not [name for name in names if re.search(r"(^|/)(tests?/|test_|conftest)", name)]


def test_files_arrive_unchanged(wheel: Path) -> None:
    for name, data in contents(wheel).items():
        package, _, file = name.rpartition("/")
        assert data == (folder_of(package.replace("/", ".")) / file).read_bytes(), name


@pytest.mark.exhaustive  # the next one builds without an sdist, too
def test_the_wheel_does_not_depend_on_the_sdist(
    checkout: Path, wheel: Path, tmp_path: Path
) -> None:
    build(checkout, tmp_path, "--wheel")
    (direct,) = tmp_path.glob("*.whl")
    assert contents(direct) == contents(wheel)


def test_the_sdist_holds_the_packages_where_the_checkout_has_them(distributions: Path) -> None:
    (sdist,) = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        members = archive.getmembers()
    assert not [member.name for member in members if member.issym() or member.islnk()]
    names = {member.name.partition("/")[2] for member in members}
    wanted = {
        str(file.relative_to(ROOT))
        for package in PACKAGES
        for file in folder_of(package).glob("*.py")
    }
    assert wanted | {"pyproject.toml", "README.md", "LICENSE"} <= names


def test_links_that_are_checked_out_as_text_do_no_harm(
    checkout: Path, wheel: Path, tmp_path: Path
) -> None:
    moved = [checkout / name.replace(".", "/") for name in PACKAGE_DIR if "." in name]
    places = {link: link.readlink() for link in moved}
    try:
        for link, place in places.items():
            link.unlink()
            link.write_text(str(place))
        build(checkout, tmp_path, "--wheel")
    finally:
        for link, place in places.items():
            link.unlink()
            link.symlink_to(place)
    (built,) = tmp_path.glob("*.whl")
    assert contents(built) == contents(wheel)


def test_the_sdist_holds_all_that_the_repository_does(distributions: Path) -> None:
    (sdist,) = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers()}
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("exhaustive: only a checkout knows its files")
    links = {name.replace(".", "/") for name in PACKAGE_DIR if "." in name}
    files = {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}
    assert files - links - {".gitignore"} <= names
    assert not [name for name in names if name.endswith(".pyc") or "/results/" in name]


def test_licences_are_distributed(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name.partition("/licenses/")[2]: name for name in archive.namelist()}
        licences = [str(file.relative_to(ROOT)) for file in (ROOT / "docs/licenses").iterdir()]
        for name in ("LICENSE", *licences):
            assert archive.read(names[name]) == (ROOT / name).read_bytes()


def named_in(licence: str) -> set[str]:
    """Return the files that a licence says it is for."""
    text = (ROOT / "docs" / "licenses" / licence).read_text()
    return set(re.findall(r"^    (amdjit/\S+)", text, re.MULTILINE))


def test_licences_name_all_that_is_made_from_others(wheel: Path) -> None:
    files = contents(wheel)
    of_llvm = {name for name, data in files.items() if b"with LLVM 22; do not edit" in data}
    assert len(of_llvm) == 4
    assert of_llvm < named_in("LLVM.txt") <= files.keys()
    samples = {
        name
        for name, data in files.items()
        if re.search(rb"^amdjit/examples/", name.encode())
        and re.search(rb"rocWMMA's [\w ]*(simple|perf)_?|rocWMMA's samples", data)
    }
    assert len(samples) == 6
    assert samples < named_in("rocWMMA.txt") <= files.keys()
