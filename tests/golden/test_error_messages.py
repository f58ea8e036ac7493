"""Every error's text, as users read it: one case a file, its text beside it."""

from __future__ import annotations

import ast
import string
from pathlib import Path

import pytest

import amdjit
from amdjit.diagnostics import AmdjitError, CompileError, codes
from amdjit.diagnostics.errors import ErrorKind
from tests.golden.golden_files import check_golden, load_case, portable

CASES = sorted((Path(__file__).parent / "errors").glob("*.py"))
SEVERAL = sorted((Path(__file__).parent / "several").glob("*.py"))
KINDS = {kind.code: kind for kind in codes.ALL}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_an_error_has_the_text_beside_it(case: Path, update_golden: bool) -> None:
    module = load_case(case)
    with amdjit.use("emulator:gfx1201"), pytest.raises(AmdjitError) as caught:
        module.run()
    error = caught.value
    if isinstance(error, CompileError):
        kind = KINDS[case.stem.partition("_")[0]]
        assert [diagnostic.code for diagnostic in error.diagnostics] == [kind.code]
        assert type(error) is kind.exception
    text = f"{type(error).__name__}\n{portable(str(error))}"
    check_golden(case.with_suffix(".err"), text, update_golden)


@pytest.mark.parametrize("case", SEVERAL, ids=lambda case: case.stem)
def test_text_of_several_errors(case: Path, update_golden: bool) -> None:
    module = load_case(case)
    with amdjit.use("emulator:gfx1201"), pytest.raises(CompileError) as caught:
        module.run()
    error = caught.value
    assert len(error.diagnostics) > 1
    assert type(error) is error.diagnostics[0].kind.exception
    check_golden(
        case.with_suffix(".err"), f"{type(error).__name__}\n{portable(str(error))}", update_golden
    )


def test_every_error_code_has_a_case() -> None:
    shown = {case.stem.partition("_")[0] for case in CASES}
    assert not KINDS.keys() - shown


def test_every_error_is_raised_with_what_its_texts_need() -> None:
    for file in Path(amdjit.__file__).parent.rglob("*.py"):
        text = file.read_text()
        for call in ast.walk(ast.parse(text)) if "(codes." in "".join(text.split()) else ():
            match call:
                case ast.Call(
                    func=ast.Attribute(attr="error" | "at"),
                    args=[ast.Attribute(ast.Name("codes"), name), *_],
                    keywords=keywords,
                ):
                    given = {keyword.arg for keyword in keywords}
                    wanted = set() if None in given else fields_of(getattr(codes, name))
                    assert wanted <= given, f"{file}:{call.lineno}"


def fields_of(kind: ErrorKind) -> set[str]:
    texts = (kind.title, kind.label, kind.help)
    parts = [part for text in texts for part in string.Formatter().parse(text)]
    return {field for _, field, _, _ in parts if field}


def test_error_codes_are_unique_and_in_order() -> None:
    numbers = [kind.code for kind in codes.ALL]
    assert numbers == sorted(set(numbers))


def test_no_expected_text_is_left_without_its_case() -> None:
    texts = {text.stem for text in (Path(__file__).parent / "errors").glob("*.err")}
    assert texts == {case.stem for case in CASES}
