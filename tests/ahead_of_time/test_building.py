"""`amdjit build` and `ahead_of_time.build`: the files, the same bytes each time, and refusals."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import amdjit
from amdjit import f16, f32, f64, i32
from amdjit.ahead_of_time import build
from amdjit.code_object import CodeObject
from amdjit.code_object.bundles import read_bundle
from amdjit.command_line import main, parse_signature
from amdjit.command_line.build import parse_options
from amdjit.diagnostics import AmdjitError, BackendError, LaunchError
from amdjit.options import OptionError
from amdjit.types import Array
from tests.ahead_of_time import built_kernels as kernels

FILE = str(Path(kernels.__file__))
ROOT = Path(__file__).parents[2]
SAXPY = [f"{FILE}:saxpy", "--signature", "f32,f32[:],f32[:],f32[:]"]


def test_the_command_writes_the_files_of_the_function(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["build", *SAXPY, "--target", "gfx1100", "-o", str(tmp_path / "new" / "out")]) == 0
    found = build(kernels.saxpy, f32, f32[:], f32[:], f32[:], target="gfx1100")
    written = {file.name: file.read_bytes() for file in (tmp_path / "new" / "out").iterdir()}
    assert written == dict(found.files)
    assert list(found.files) == ["saxpy.hsaco", "saxpy.h", "main.c", "saxpy.json"]
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "saxpy for gfx1100"
    assert [line.split(": ")[1] for line in lines[:-1]] == [
        f"{len(content)} bytes" for content in found.files.values()
    ]
    code_object = CodeObject.read(found.files["saxpy.hsaco"])
    assert (code_object.target_name, list(code_object.kernels)) == ("gfx1100", ["saxpy"])


def test_targets_with_commas_and_given_again_make_one_bundle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    targets = ["--target", "gfx1201,gfx1100", "--target", "gfx90a:xnack-"]
    named = ["--name", "axpy", "--option", "asserts=False", "--option", "block=64,2"]
    assert main(["build", *SAXPY, *targets, *named, "--embed", "-o", str(tmp_path)]) == 0
    assert capsys.readouterr().out.endswith("axpy for gfx1201, gfx1100, gfx90a:xnack-\n")
    names = {"axpy.hipfb", "axpy.h", "axpy_code_object.c", "main.c", "axpy.json"}
    assert {file.name for file in tmp_path.iterdir()} == names
    members = read_bundle((tmp_path / "axpy.hipfb").read_bytes()).members
    assert [each.target.id for each in members] == ["gfx1201", "gfx1100", "gfx90a:xnack-"]
    for member in members:
        metadata = member.code_object.kernels["saxpy"].metadata
        assert metadata.required_workgroup_size == (64, 2, 1)


def test_a_changed_example_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", *SAXPY, "-o", str(tmp_path)]) == 0
    (tmp_path / "main.c").write_text("mine")
    assert main(["build", *SAXPY, "-o", str(tmp_path)]) == 0
    assert (tmp_path / "main.c").read_text() == "mine"
    assert "main.c: kept, as it has other contents; remove it" in capsys.readouterr().out


_SCRIPT = """\
import sys
from amdjit.command_line import main, parse_signature
from amdjit.command_line.build import parse_options
sys.exit(main(sys.argv[1:]))
"""


def _built_elsewhere(file: Path, output: Path, *more: str, hash_seed: str) -> dict[str, bytes]:
    """Build in a new process with an empty cache, in the folder of the output."""
    output.mkdir(parents=True)
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": hash_seed}
    variables["AMDJIT_CACHE_DIR"] = str(output.parent / f"{output.name}-cache")
    arguments = ["build", f"{file}:records", "--target", "gfx1201,gfx90a", "--embed", *more]
    signature = ["--signature", "Line,(u16, i16[:]),3,VERTEX[:],f32x3,f64[:]"]
    command = [sys.executable, "-c", _SCRIPT, *arguments, *signature, "-o", str(output)]
    subprocess.run(command, cwd=output, env=variables, check=True, capture_output=True)
    return {each.name: each.read_bytes() for each in output.iterdir()}


@pytest.mark.sample(1)
@pytest.mark.parametrize("more", [(), ("--debug-info",)])
def test_the_bytes_are_the_same_everywhere_and_name_no_folder(
    more: tuple[str, ...], tmp_path: Path
) -> None:
    """Another folder of the source and of the output, another hash seed, an empty cache."""
    source = Path(FILE).read_bytes()
    found = []
    for hash_seed, place in (("1", "first"), ("77", "second/longer_name")):
        file = tmp_path / place / "built_kernels.py"
        file.parent.mkdir(parents=True)
        file.write_bytes(source)
        output = tmp_path / place / "out"
        found.append(_built_elsewhere(file, output, *more, hash_seed=hash_seed))
    first, second = found
    assert first == second
    everything = b"".join(first.values())
    assert (b"built_kernels.py" in everything) == bool(more)
    for folder in (tmp_path, ROOT, Path(sys.prefix), Path.home()):
        assert os.fsencode(folder) not in everything or str(folder) == "/"


def test_source_lines_are_kept_on_request() -> None:
    without = build(kernels.saxpy, f32, f32[:], f32[:], f32[:])
    assert not CodeObject.read(without.files["saxpy.hsaco"]).line_table.rows
    found = build(kernels.saxpy, f32, f32[:], f32[:], f32[:], debug_info=True)
    code_object = CodeObject.read(found.files["saxpy.hsaco"])
    kernel = code_object.kernels["saxpy"]
    places = {
        code_object.line_of(pc)
        for pc in range(kernel.entry_address, kernel.entry_address + kernel.code_size, 4)
    }
    lines = Path(FILE).read_text().splitlines()
    stores = [number for number, line in enumerate(lines, 1) if "out[i] = a * x[i] + y[i]" in line]
    assert ("built_kernels.py", stores[0]) in places
    assert code_object.code(kernel) == CodeObject.read(without.files["saxpy.hsaco"]).code(
        CodeObject.read(without.files["saxpy.hsaco"]).kernels["saxpy"]
    )


@pytest.mark.parametrize(
    ("kernel", "types", "options", "words"),
    [
        (kernels.computing, (int, f32[:]), {}, r"give n a type in the signature, such as i32"),
        (
            kernels.by_width,
            (int, f32[:]),
            {"target": ["gfx1201", "gfx942"]},
            "the code for gfx942 and that for gfx1201 take different arguments",
        ),
        (kernels.nothing, (), {"name": "class"}, "give a name that C can have"),
    ],
)
def test_what_needs_python_is_refused_with_a_remedy(
    kernel: Any, types: Any, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(LaunchError, match=words):
        build(kernel, *types, **options)


def test_the_remedies_help() -> None:
    build(kernels.computing, i32, f32[:])
    build(kernels.by_width, i32, f32[:], target=["gfx1201", "gfx942"])


def test_an_array_from_outside_is_refused() -> None:
    with amdjit.use("emulator:gfx1201"):
        table = amdjit.zeros(4, dtype="f4")

        @amdjit.kernel
        def lookup(out):
            out[0] = table[1]

        with pytest.raises(LaunchError, match="the array table, which is none of its parameters"):
            build(lookup, f32[:])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"debug_variables": True}, "what is built describes no variables"),
        ({"target": "gfx9999"}, "unknown target 'gfx9999'"),
        ({"target": []}, "name the processors"),
        ({"target": ["gfx90a", "gfx90a:xnack+"]}, "cannot have both"),
        ({"no_such": 1}, "a kernel has no option 'no_such'"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        build(kernels.nothing, **options)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([f"{FILE}:absent"], "has no kernel 'absent'; its kernels are: block_sums, by_width,"),
        ([f"{FILE}:saxpy"], '--signature "f32,f32[:],f32[:],f32[:]"'),
        (["saxpy.hsaco"], "saxpy.hsaco is built already: name a kernel, FILE.py:KERNEL"),
        ([*SAXPY, "--target", "gfx1"], "unknown target 'gfx1'"),
        ([*SAXPY, "--option", "asserts"], "write NAME=VALUE, such as asserts=False"),
        ([*SAXPY, "--option", "asserts=1", "--option", "asserts=0"], "asserts is given twice"),
        ([*SAXPY, "--option", "debug_info=True"], "--option debug_info: write --debug-info"),
        ([*SAXPY, "--option", "block=2000"], "block=2000: give 1 to 1024 work-items"),
        ([f"{FILE}:saxpy", "--signature", "f32,Foo"], "'Foo' is not a type; there are i8,"),
        ([f"{FILE}:saxpy", "--signature", "f32[:] upside"], "behind it may stand strided, in rows"),
        ([*SAXPY, "-o", f"{FILE}/out"], "cannot be written: Not a directory; name another folder"),
    ],
)
def test_the_command_says_what_is_wrong(
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["build", *arguments]) == 1
    printed = capsys.readouterr()
    assert words in printed.err
    assert printed.out == ""
    assert not list(tmp_path.iterdir())


def test_options_of_several_kinds_are_read() -> None:
    texts = ["fastmath=nnan,contract", "block=(32,8)", "unroll=4", "denormals=flush"]
    assert parse_options([*texts, "waves-per-eu=None", "asserts=False"]) == {
        "fastmath": frozenset({"nnan", "contract"}),
        "block": (32, 8),
        "unroll": 4,
        "denormals": "flush",
        "waves_per_eu": None,
        "asserts": False,
    }


def test_facts_about_arrays_are_read_behind_their_types() -> None:
    types = parse_signature(
        "f32[:, :] in rows overlapping, f16[:] over 2 GiB,(f32[::1] strided, (i32, 7)),complex64[:]"
    )
    rows, large, (strided, (number, constant)), _ = types
    assert str(rows) == "f32[:, :] in rows overlapping"
    assert str(large) == "f16[:] over 2 GiB"
    assert isinstance(strided, Array)
    assert strided.layout.has_strides
    assert (number, constant) == (i32, 7)


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    found = build(kernels.saxpy, f64, f64[:], f64[:], f64[:])
    with pytest.raises(BackendError, match="name another folder"):
        found.write(tmp_path / "out")
    assert issubclass(BackendError, AmdjitError)


def test_the_room_is_not_loaded_by_amdjit() -> None:
    code = "import sys, amdjit; sys.exit('amdjit.ahead_of_time' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ})
    assert build(kernels.nothing, target="gfx1201").interface.kernarg_bytes == 0
    assert f16.nbytes == 2
