"""Expected lines that are wrong fail, and those that `--update-golden` writes pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.test_text_cases import rewritten
from tests.golden.text_cases import Check, Mismatch, match, new_text, read_cases

IR = """
  %.1 = load i32, ptr addrspace(1) %a, align 4
  %.2 = load i32, ptr addrspace(1) %b, align 4
  %.3 = sub i32 %.1, %.2
  br i1 %.4, label %then, label %endif
  store i32 %.3, ptr addrspace(1) %out
""".splitlines()
CODE = """
  s_load_b64 s[2:3], s[0:1], 0x0
  v_add_f32_e32 v2, v1, v1
  v_mul_f32_e32 v3, v2, v1
  ds_store_b32 v7, v3 offset:12
  s_endpgm
""".splitlines()


def checks(text: str) -> list[Check]:
    lines = [line.strip().partition(": ") for line in text.strip().splitlines()]
    return [Check(kind, words, number) for number, (kind, _, words) in enumerate(lines, 1)]


RIGHT = {
    "names stand for values": "CHECK: %x = load\nCHECK: %y = load\nCHECK-NEXT: sub i32 %x, %y",
    "names of the text stand for themselves": "CHECK: br i1 %?, label %then, label %endif",
    "lines next to each other": "CHECK: %a, align 4\nCHECK-NEXT: %b, align 4",
    "any order": "CHECK-DAG: ptr addrspace(1) %b\nCHECK-DAG: ptr addrspace(1) %a",
    "nothing between": "CHECK: load\nCHECK-NOT: mul\nCHECK: store",
    "after the text that is not": "CHECK-NOT: store\nCHECK: load\nCHECK: store",
    "regular expressions": "CHECK: {{add|sub}} i32\nCHECK: store {{.*}}%out",
    "spaces do not count": "CHECK: sub   i32",
}
RIGHT_CODE = {
    "registers": "CHECK: v_add_f32_e32 v1, v0, v0\nCHECK-NEXT: v_mul_f32_e32 v9, v1, v0",
    "ranges": "CHECK: s_load_b64 s[4:5], s[6:7], 0x0",
    "any register": "CHECK: s_load_b64 s?, s?, 0x0\nCHECK: ds_store_b32 v?, v? offset:12",
}
WRONG = {
    "another order": "CHECK: store\nCHECK: load",
    "not next": "CHECK: %a, align 4\nCHECK-NEXT: sub",
    "not there": "CHECK: load\nCHECK: mul i32",
    "there though": "CHECK: load\nCHECK-NOT: sub\nCHECK: store",
    "there at the end": "CHECK: load\nCHECK-NOT: store",
    "there at the beginning": "CHECK-NOT: load\nCHECK: sub",
    "operands exchanged": "CHECK: %x = load\nCHECK: %y = load\nCHECK-NEXT: sub i32 %y, %x",
    "another value": "CHECK: %x = load\nCHECK: %y = load\nCHECK: store i32 %x",
    "one line for two": "CHECK-DAG: sub i32\nCHECK-DAG: sub i32",
    "another label": "CHECK: label %else, label %endif",
    "another argument": "CHECK: ptr addrspace(1) %c, align 4",
    "a part of a word": "CHECK: oad i32",
    "a part of a number": "CHECK: sub i3",
}
WRONG_CODE = {
    "another register": "CHECK: v_add_f32_e32 v1, v0, v0\nCHECK: v_mul_f32_e32 v9, v0, v0",
    "a vector register for a scalar one": "CHECK: s_load_b64 v[4:5]",
    "a register for a range": "CHECK: s_load_b64 s4",
    "a part of an offset": "CHECK: offset:1",
    "the beginning of a mnemonic": "CHECK: v_add_f32",
}


@pytest.mark.parametrize(
    ("lines", "text"),
    [*((IR, text) for text in RIGHT.values()), *((CODE, text) for text in RIGHT_CODE.values())],
    ids=[*RIGHT, *RIGHT_CODE],
)
def test_expectations_that_hold_pass(lines: list[str], text: str) -> None:
    match(lines, checks(text))


@pytest.mark.parametrize(
    ("lines", "text"),
    [*((IR, text) for text in WRONG.values()), *((CODE, text) for text in WRONG_CODE.values())],
    ids=[*WRONG, *WRONG_CODE],
)
def test_expectations_that_do_not_hold_fail(lines: list[str], text: str) -> None:
    with pytest.raises(Mismatch):
        match(lines, checks(text))


CASE = '''"""A file of cases."""

import amdjit


@amdjit.kernel
def subtract(a, b, out):
    """What the lines prove."""
    out[0] = a[0] - b[0]
    # CHECK: %x = load i32
    # CHECK: %sum = add i32 %x, %y
    # CHECK: store i32 %sum, ptr addrspace(1) %out
'''


def test_the_flag_writes_the_line_that_is_there_now_with_the_old_names(tmp_path: Path) -> None:
    file = tmp_path / "cases.py"
    file.write_text(CASE)
    (case,) = read_cases(file)
    with pytest.raises(Mismatch) as caught:
        match(IR, case.checks)
    text = new_text(caught.value)
    assert text == "%sum = sub i32 %x, %y"
    match(IR, rewritten(case, caught.value, text).checks)
    assert file.read_text() == CASE.replace("= add", "= sub")


@pytest.mark.parametrize("text", ["CHECK-NOT: load", "CHECK: v_wmma_f32_16x16x16_f16 v[0:7]"])
def test_the_flag_invents_nothing_where_no_line_is_like_the_old_one(text: str) -> None:
    with pytest.raises(Mismatch) as caught:
        match(IR, checks(text))
    assert new_text(caught.value) is None


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("CHECK: %x", "CHECK-NEAR: %x", "no such checks"),
        ("CHECK: %x", "CHECK-NEXT: %x", "next to what"),
        ('    """What the lines prove."""\n', "", "does not say what it proves"),
        ("# CHECK", "#", "expects nothing"),
    ],
)
def test_cases_that_could_not_fail_are_refused(
    old: str, new: str, words: str, tmp_path: Path
) -> None:
    file = tmp_path / "cases.py"
    file.write_text(CASE.replace(old, new))
    with pytest.raises(AssertionError, match=words):
        list(read_cases(file))
