"""What a screen does to text: width, colour, characters."""

from __future__ import annotations

import random
import re

from amdjit.explorer.terminal.screen import PLAIN, Cell, Screen, columns

ESCAPES = re.compile(r"\033\[\d*m")


def test_a_bar_is_as_long_as_its_value_to_an_eighth() -> None:
    assert PLAIN.bar(3) == "███"
    assert PLAIN.bar(2.5) == "██▌"
    assert PLAIN.bar(0.125) == "▏"
    assert PLAIN.bar(0) == ""
    assert Screen(unicode=False).bar(3.2) == "###"


def test_marks_stand_behind_the_bar_in_their_columns() -> None:
    assert PLAIN.bar(2, [1, 4], 6) == "██  │ "
    assert Screen(unicode=False).bar(2, [1, 4], 6) == "##  | "


def test_no_line_is_wider_than_the_screen_and_whole_text_is_kept_without_one() -> None:
    generator = random.Random(7)
    for _ in range(200):
        rows = [["x" * generator.randrange(30), "7" * generator.randrange(9), "y" * 40]]
        width = generator.randrange(1, 100)
        table = columns(Screen(width), ("name", "n", "text"), rows)
        whole = columns(PLAIN, ("name", "n", "text"), rows)
        assert all(len(line) <= width for line in table)
        assert whole[1].endswith("y" * 40)
        assert len(Screen(width).cut("z" * 100)) == width
    assert Screen(9).cut("z" * 10) == "z" * 8 + "…"
    assert Screen(9, unicode=False).cut("z" * 10) == "z" * 6 + "..."
    assert Screen(9).cut("z" * 9) == "z" * 9


def test_sentences_are_wrapped_whole() -> None:
    text = "instructions and all that follows from them are not known"
    assert " ".join(Screen(20).wrap(text)) == text
    assert max(map(len, Screen(20).wrap(text))) <= 20
    assert PLAIN.wrap(text) == [text]


def test_colour_adds_escapes_and_nothing_else() -> None:
    rows = [["1", Cell("x", "VALU"), "end"], ["20", Cell("yy", "warning"), "text"]]
    head = ("n", "unit", "text")
    coloured = columns(Screen(colour=True), head, rows)
    assert any(ESCAPES.search(line) for line in coloured)
    assert [ESCAPES.sub("", line).rstrip() for line in coloured] == columns(PLAIN, head, rows)


def test_columns_of_numbers_are_aligned_to_the_right() -> None:
    assert columns(PLAIN, ("n", "what"), [["1", "a"], ["20", "b"]]) == [
        " n  what",
        " 1  a",
        "20  b",
    ]
