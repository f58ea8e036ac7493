"""`amdjit inspect`: every stage of a kernel, and clear errors for wrong input."""

from __future__ import annotations

from pathlib import Path

import pytest

from amdjit.code_object import CodeObject
from amdjit.command_line import main, parse_signature
from amdjit.diagnostics import LaunchError
from amdjit.language.launch_numbers import PYTHON_FLOAT, PYTHON_INT
from amdjit.language.vector_types import f16x8
from amdjit.types import bf16, f32, i32

FILE = str(Path(__file__).with_name("shown_kernels.py"))
SCALE = ["inspect", f"{FILE}:scale", "--signature", "f32[:],f32"]


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        ("tree", "kernel scale(x: f32[::1] (written), s: f32)"),
        ("llvm", 'amdgpu_kernel void @"scale"('),
        ("optimized", 'target triple = "amdgcn-amd-amdhsa"'),
        ("asm", "shown_kernels.py"),
        ("resources", "vgpr_spills      0"),
    ],
)
def test_it_prints_a_stage(stage: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SCALE, "--emit", stage]) == 0
    assert expected in capsys.readouterr().out


def test_assembly_is_the_default_and_carries_the_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(SCALE) == 0
    text = capsys.readouterr().out
    assert "global_load_b32" in text
    assert "x[i] = s * x[i]" in text


@pytest.mark.parametrize("target", ["gfx1200", "gfx1201"])
def test_it_writes_the_object_for_the_target(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*SCALE, "--emit", "object", "--target", target]) == 0
    data = (tmp_path / "scale.hsaco").read_bytes()
    assert capsys.readouterr().out == f"scale.hsaco: {len(data)} bytes for {target}\n"
    read = CodeObject.read(data)
    assert list(read.kernels) == ["scale"]
    assert read.target_name == target
    assert (
        main([*SCALE, "--emit", "object", "-o", str(tmp_path / "other.co"), "--target", target])
        == 0
    )
    assert (tmp_path / "other.co").read_bytes() == data


def test_annotated_kernels_need_no_signature(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", f"{FILE}:annotated", "--emit", "tree"]) == 0
    assert "annotated(x: f32[::1] (written), s: f32)" in capsys.readouterr().out


def test_a_constant_is_given_by_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", f"{FILE}:constant", "--signature", "i32[:], 42", "--emit", "tree"]) == 0
    assert "i32(42)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["inspect", FILE], "names no kernel: write FILE.py:KERNEL"),
        (["inspect", "absent.py:scale"], "absent.py is not a Python file"),
        (
            ["inspect", f"{FILE}:absent"],
            "has no kernel 'absent'; its kernels are: annotated, constant, grid, scale, wrong",
        ),
        (["inspect", f"{FILE}:not_a_kernel"], "has no kernel 'not_a_kernel'"),
        (["inspect", f"{FILE}:scale"], "scale takes 2 arguments (x, s), but 0 were given"),
        (["inspect", f"{FILE}:scale"], ':scale --signature "f32[:],f32"'),
        (
            ["inspect", f"{FILE}:grid", "--target", "gfx1200"],
            '--signature "f32[:, ::1],f32[:],f32"',
        ),
        (["inspect", "absent.co"], "absent.co cannot be read: No such file or directory"),
        (["inspect", "absent.o", "--signature", "i32"], "--signature is for FILE.py:KERNEL"),
        ([*SCALE, "--kernel", "scale"], "--kernel is for code objects"),
        (["inspect", f"{FILE}:scale", "--signature", "f32[:]"], "but 1 was given"),
        (
            ["inspect", f"{FILE}:scale", "--signature", "f32[:],doubel"],
            "'doubel' is not a type; there are i8, i16",
        ),
        (["inspect", f"{FILE}:scale", "--signature", "f32[:],3"], "for s it was given 3"),
        (
            ["inspect", f"{FILE}:wrong", "--signature", "f32[:]"],
            "error[AJ0101]: `with` cannot be used in a kernel",
        ),
        (
            [*SCALE, "--target", "gfx803"],
            "unknown target 'gfx803': amdjit has gfx906, gfx908, gfx90a",
        ),
        ([*SCALE, "--output", "x"], "--output is for --emit object"),
        (
            [*SCALE, "--emit", "object", "-o", "absent/x"],
            "absent/x cannot be written: No such file or directory",
        ),
    ],
)
def test_wrong_input_is_one_clear_error(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    output = capsys.readouterr()
    assert words in output.err
    assert "Traceback" not in output.err
    assert output.out == ""


def test_signatures_on_the_command_line_become_types() -> None:
    assert parse_signature("f32, f32[:],bf16[:, ::1],f16x8") == [f32, f32[:], bf16[:, ::1], f16x8]
    assert parse_signature("void(float32[:], i32, (i32, f16x8))") == [f32[:], i32, (i32, f16x8)]
    assert parse_signature("i32,3,-1,2.5,True,None") == [i32, 3, -1, 2.5, True, None]
    assert parse_signature("int,f32[:],float") == [PYTHON_INT, f32[:], PYTHON_FLOAT]
    assert parse_signature("") == []


@pytest.mark.parametrize(
    "text", ["f32[", "f32[]", "f32[:", "f32[3]", "f32[::1,:]", "f32x4[:]", "[:]", "f32]"]
)
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(LaunchError, match=r"is not an? (array )?type"):
        parse_signature(text)


def test_bundles_are_written_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "scale.hipfb")
    targets = "gfx1100,gfx90a:xnack-:sramecc+"
    assert main([*SCALE, "--emit", "object", "-o", file, "--target", targets]) == 0
    assert "bytes for gfx1100, gfx90a:sramecc+:xnack-" in capsys.readouterr().out
    for target in ("gfx1100", "gfx90a:sramecc+:xnack-"):
        assert main(["inspect", file, "--target", target, "--json"]) == 0
        assert f'"target": "{target}"' in capsys.readouterr().out.replace('":"', '": "')
    page = str(tmp_path / "page.html")
    assert main(["explore", file, "--target", "gfx1100", "-o", page]) == 0
    assert "gfx1100" in Path(page).read_text()
    for arguments, message in (
        (["inspect", file], "say which target: the bundle has code for gfx1100, gfx90a:sr"),
        (["inspect", file, "--target", "gfx1201"], "no code for gfx1201, but for gfx1100, gfx90a"),
        (["inspect", file, "--target", "gfx1100,gfx1200"], "several targets are for --emit object"),
        ([*SCALE, "--target", "gfx1100,gfx1201"], "several targets are for --emit object"),
        ([*SCALE, "--target", "gfx1201:xnack+"], "gfx1201 has no setting of xnack"),
        (
            ["inspect", file, "--target", "gfx1100,gfx1200", "--emit", "object"],
            "is compiled already: name one target",
        ),
    ):
        assert main(arguments) == 1
        assert message in capsys.readouterr().err
