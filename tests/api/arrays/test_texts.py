"""Fixed-width text in arrays and records, and constant text: NumPy's and Python's results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import amdjit
from amdjit import CompileError

pytestmark = pytest.mark.usefixtures("emulator")
WORDS = ["ab", "c", "", "abc", "abcde", "b", "a", "ba"]
MODE = "fast"
DIGITS = b"0123456789abcdef"


def words(kind: str) -> NDArray[Any]:
    return np.array(WORDS, kind)


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", ["S5", "U5", "S3", "U7"])
@pytest.mark.parametrize("on_device", [False, True])
def test_elements_are_compared_stored_and_copied(kind: str, on_device: bool) -> None:
    names, copies = words(kind), words(kind)
    found = np.zeros((4, len(WORDS)), bool)

    @amdjit.kernel
    def compute(names, copies, found):
        i = amdjit.grid(1)
        found[0, i] = names[i] == "ab"
        found[1, i] = names[i] != b"c"
        found[2, i] = names[i] == ""
        found[3, i] = names[i] == "much too long"
        if i % 3 == 0:
            copies[i] = "x"
        elif i % 3 == 1:
            copies[i] = names[7 - i]
        else:
            copies[i] = b""

    arguments: list[Any] = [names, copies, found]
    if on_device:
        arguments = [amdjit.to_device(array) for array in arguments]
    compute[1, len(WORDS)](*arguments)
    copies, found = (np.asarray(array) for array in arguments[1:])
    text = names.astype("U7")
    np.testing.assert_array_equal(found, [text == "ab", text != "c", text == "", [False] * 8])
    i = np.arange(len(WORDS))
    expected = np.where(i % 3 == 0, "x", np.where(i % 3 == 1, text[::-1], "")).astype(kind)
    np.testing.assert_array_equal(copies, expected)


@pytest.mark.parametrize("kind", ["S5", "U5"])
def test_characters_are_the_numbers_in_memory(kind: str) -> None:
    @amdjit.kernel
    def read(names, out):
        i = amdjit.grid(1)
        for k in range(len(names[i])):
            out[i, k] = names[i][k]

    names, out = words(kind), np.zeros((len(WORDS), 5), np.uint32)
    read[1, len(WORDS)](names, out)
    np.testing.assert_array_equal(out, names.view("u1" if kind == "S5" else "u4").reshape(-1, 5))


def test_text_is_a_field_of_records() -> None:
    kind = np.dtype([("n", "i2"), ("name", "U4"), ("code", "S3")])
    rows = np.array([(i, word[:4], word[:3]) for i, word in enumerate(WORDS)], kind)
    expected = rows.copy()

    @amdjit.kernel
    def change(rows):
        r = rows[amdjit.grid(1)]
        if r.name == "abc" or r.code == b"b":
            r.name = "äöü"
            r["code"] = "no"

    change[1, len(WORDS)](rows)
    chosen = (expected["name"] == "abc") | (expected["code"] == b"b")
    assert chosen.sum() == 2
    expected["name"][chosen], expected["code"][chosen] = "äöü", b"no"
    np.testing.assert_array_equal(rows, expected)


def test_constant_text_chooses_code_and_is_indexed() -> None:
    @amdjit.kernel
    def compute(out, mode: amdjit.Const):
        i = amdjit.grid(1)
        if mode == "fast" and MODE != "slow":
            out[i] = DIGITS[i] + b"\x01\x02"[i % 2]
        else:
            out[i] = len(mode) + len(DIGITS) + (mode[0] == "s")

    out = np.zeros(16, np.uint8)
    compute[1, 16](out, "fast")
    assert out.tolist() == [d + 1 + i % 2 for i, d in enumerate(DIGITS)]
    compute[1, 16](out, "slow")
    assert out.tolist() == [4 + 16 + 1] * 16


TABLE = np.array(["one", "two", "three"], "S5")


def test_arrays_of_text_are_constants_too() -> None:
    @amdjit.kernel
    def find(names, out):
        i = amdjit.grid(1)
        names[i] = TABLE[i % 3]
        out[i] = TABLE[i % 3] == "two"

    names, out = np.zeros(6, "S5"), np.zeros(6, bool)
    find[1, 6](names, out)
    np.testing.assert_array_equal(names, np.tile(TABLE, 2))
    assert out.tolist() == [False, True, False] * 2


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("S3", "abcd", r"the text 'abcd' has 4 characters\n(.*\n)*.*at most 3 bytes fit"),
        ("S3", "ä", "is not ASCII"),
        ("U3", b"\xff", "is not ASCII"),
        ("U3", 3, "is not converted to"),
    ],
)
def test_what_does_not_fit_is_refused(kind: str, text: object, message: str) -> None:
    @amdjit.kernel
    def store(names):
        names[0] = text

    with pytest.raises(CompileError, match=message):
        store[1, 1](np.zeros(1, kind))
