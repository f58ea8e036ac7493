"""Sentences of the instructions of other compilers' kernels: each has one, with its registers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import amdjit
from amdjit.code_object import CodeObject
from amdjit.explorer.terminal.screen import Screen
from amdjit.explorer.terminal.views import VIEWS, view
from amdjit.inspection.meanings import meanings_of

OBJECTS = sorted((Path(__file__).parents[1] / "foreign/objects").glob("*.co"))


@pytest.mark.sample(4)
@pytest.mark.parametrize("file", OBJECTS, ids=lambda file: file.stem)
def test_every_instruction_of_other_compilers_has_a_sentence(file: Path) -> None:
    data = file.read_bytes()
    for kernel in CodeObject.read(data).kernels:
        inspection = amdjit.inspect_object(data, kernel)
        meanings = meanings_of(inspection)
        assert set(meanings) == {item.address for item in inspection.instructions}
        for item in inspection.instructions:
            text = meanings[item.address]
            assert re.fullmatch(r".{8,}[^ .]\.", text), item.text
            # Null is where nothing goes, and an address that is off has no register.
            for register in re.findall(r"\b[vs](?:\d+|\[\d+:\d+\])", item.text):
                assert register in text, (item.text, text)


@pytest.mark.parametrize("file", OBJECTS[:2], ids=lambda file: file.stem)
def test_views_show_other_compilers_kernels(file: Path) -> None:
    inspection = amdjit.inspect_object(file.read_bytes())
    for name in VIEWS:
        text = view(inspection, name, Screen(80))
        assert text.startswith(inspection.kernel[:79])
        assert "not known: Source lines" in text


def test_there_are_objects_of_several_compilers() -> None:
    assert {file.stem.split("_")[0] for file in OBJECTS} >= {"triton", "iree", "flydsl"}
