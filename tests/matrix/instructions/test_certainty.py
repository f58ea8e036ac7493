"""What is known about the sums of every instruction, by captures where they are said to be
measured."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from amdjit.intrinsics import amdgcn, arithmetic, matrix
from amdjit.intrinsics.matrix.multiply.certainty import (
    GFX11_KNOWN,
    KNOWN,
    cdna_known,
    known,
)
from amdjit.intrinsics.models.certainty import MEANING
from amdjit.intrinsics.models.mfma_instructions import CDNA
from amdjit.isa.gfx12_tables import ROWS
from amdjit.isa.instruction_set import GFX11
from tests.captures import capture

DOCS = Path(__file__).parents[3] / "docs"
MEASURED = ("float_dot_gfx1201", "wmma_integer_gfx1201")


def test_every_matrix_and_dot_instruction_of_gfx12_has_a_row() -> None:
    names = {name for rows in ROWS.values() for name, *_ in rows.values()}
    products = {
        name.removeprefix("v_")
        for name in names
        if re.match(r"v_(s?wmma|swmmac|dot\d|dual_dot\d)", name)
    }
    assert len(products) == 36
    assert products == set(KNOWN)


def captured() -> set[str]:
    rows = [row for name in MEASURED for row in capture(name)["rows"]]
    return {row["instruction"] for row in rows} | set(capture("packed_wmma")["instructions"])


def test_every_matrix_and_dot_instruction_of_gfx11_has_a_row() -> None:
    names = {name for rows in GFX11.rows.values() for name, *_ in rows.values()}
    products = {
        name.removeprefix("v_")
        for name in names
        if re.match(r"v_(s?wmma|swmmac|dot\d|dual_dot\d)", name)
    }
    assert products == set(GFX11_KNOWN)
    taken = {row["instruction"] for row in capture("float_dot_gfx1100")["rows"]}
    taken |= set(capture("packed_wmma")["instructions"])
    taken |= {"V_WMMA_F32_16X16X16_F16", "V_WMMA_F32_16X16X16_BF16"}
    measured = {name for name in GFX11_KNOWN if matrix.certainty(name, "gfx1100") == "measured"}
    assert measured == {name.removeprefix("V_").lower() for name in taken}
    with pytest.raises(ValueError, match="instruction of gfx11: did you mean"):
        matrix.certainty("wmma_f32_16x16x16_fp8_fp8", "gfx1100")
    with pytest.raises(ValueError, match="give one of gfx1100"):
        matrix.certainty("wmma_f32_16x16x16_f16", "gfx1030")
    with pytest.raises(ValueError, match="MFMA or SMFMAC instruction of gfx942: did you mean mfma"):
        matrix.certainty("wmma_f32_16x16x16_f16", "gfx942")


def test_captures_of_one_processor_are_a_rule_for_its_relatives() -> None:
    for name in ("wmma_f32_16x16x16_f16", "dot2_f32_bf16"):
        found = [matrix.certainty(name, target) for target in ("gfx1100", "gfx1103", "gfx1151")]
        assert found == ["measured", "rule", "rule"]
        found = [matrix.certainty(name, target) for target in (None, "gfx1201", "gfx1200")]
        assert found == ["measured", "measured", "rule"]
        assert known(name, "gfx1200").source.startswith("as captured on gfx1201: ")


def test_measured_are_those_that_the_captures_show_rounding_of() -> None:
    measured = {name for name in KNOWN if matrix.certainty(name) == "measured"}
    assert measured == {name.removeprefix("V_").lower() for name in captured()}


def test_captures_of_sparse_products_are_exact_and_so_make_no_rounding_measured() -> None:
    for name in {row["instruction"] for row in capture("swmmac_gfx1201")["rows"]}:
        expected = "model" if re.search("_[BF][FP]8", name) else "rule"
        assert matrix.certainty(name.removeprefix("V_").lower()) == expected


def test_products_of_8_bit_floats_are_a_model_and_say_what_is_not_known() -> None:
    for name, row in KNOWN.items():
        assert (row.certainty == "model") == bool(re.search("[bf][fp]8", name))
        assert row.open or row.certainty == "measured"
        assert row.source
        assert row.certainty in MEANING


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("v_dot2_f32_f16", "did you mean dot2_f32_f16"),
        ("wmma_f32_16x16x16_f16_w32", "did you mean wmma_f32_16x16x16_f16,"),
        ("mfma_f32_32x32x8f16", "is no WMMA, SWMMAC or dot instruction of gfx12"),
        ("fma", "such as wmma_f32_16x16x16_f16"),
    ],
)
def test_other_names_are_refused_with_those_that_are_alike(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        matrix.certainty(name)


def test_the_reference_page_says_what_is_known_of_each_instruction() -> None:
    page, gfx11 = (DOCS / "reference" / "matrix_instructions.md").read_text().split("## gfx11")
    for name, row in GFX11_KNOWN.items():
        assert re.search(rf"^\| {row.certainty} \| .*`v_{name}`", gfx11, re.MULTILINE)
    row = r"^\| `(\w+)` \| 32 \|.*\| (\w+) \| gfx1200, gfx1201, gfx12-generic \|$"
    cells = dict(re.findall(row, page, re.MULTILINE))
    assert cells == {
        each.mnemonic: matrix.certainty(each.mnemonic) for each in matrix.INSTRUCTIONS.values()
    }
    for file in (page, (DOCS / "emulator.md").read_text()):
        for name in KNOWN:
            (line,) = re.findall(rf"^\| (\w+) \| .*`v_{name}`.*$", file, re.MULTILINE)
            assert line == known(name).certainty


def test_sums_of_mfma_are_a_rule_where_one_is_published_and_else_a_model() -> None:
    for target in CDNA:
        for name, row in cdna_known(target).items():
            is_rule = "_i32_" in name or (target != "gfx950" and name.startswith("mfma"))
            assert matrix.certainty(name, target) == ("rule" if is_rule else "model")
            assert row.open
            assert row.source


def documentation(value: Any) -> str:
    return getattr(value, "documentation", None) or inspect.getdoc(value.function) or ""


def test_whatever_shows_sums_of_8_bit_floats_says_that_they_are_a_model() -> None:
    products = re.compile(r"s?w\w+_f32_.*[bf][fp]8")
    builtins = re.compile(r"dot4_f32_|wmma_f32_16x16x16_[bf][fp]8.*w32_gfx12")
    functions = [
        *(getattr(matrix, name) for name in matrix.__all__ if products.match(name)),
        *(getattr(amdgcn, name) for name in dir(amdgcn) if builtins.match(name)),
        arithmetic.dot4_float,
    ]
    assert len(functions) == 8 + 8 + 1
    for each in functions:
        assert "rounded by a model" in documentation(each).split("\n\n")[0]
    assert "model" in (inspect.getdoc(matrix.reference) or "")
    text = (DOCS / "matrix.md").read_text()
    assert "**Nobody has measured how fp8 and bf8 round**" in text


def test_no_text_says_that_nothing_is_known() -> None:
    root = DOCS.parent
    folders = ("docs", "intrinsics", "examples")
    texts = [
        file
        for folder in folders
        for end in ("md", "py")
        for file in (root / folder).rglob(f"*.{end}")
    ]
    assert len(texts) > 100
    for file in [*texts, root / "README.md"]:
        assert not re.search(
            r"(how a GPU rounds|How RDNA 4 (adds|rounds)[\w ]*) is not published", file.read_text()
        )
