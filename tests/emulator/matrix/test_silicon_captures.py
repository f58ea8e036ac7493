"""The emulator returns every value that was captured from gfx1201's dot and matrix instructions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from amdjit.diagnostics.errors import KernelFault
from tests.captures import capture, digest, numbers
from tests.emulator.building import assemble, emulate
from tests.emulator.required_tools import needs_tools
from tests.emulator.silicon_captures import (
    integer_inputs,
    negated_halves,
    of_gfx12,
    sparse_inputs,
    sparse_kinds,
    sparse_seed,
)
from tests.emulator.single_instruction import run_registers

pytestmark = [needs_tools, pytest.mark.usefixtures("each_tier")]
both_waves = pytest.mark.parametrize("wave", [32, 64])


def packed(low: int, high: int) -> int:
    return low | high << 16


def dot_rows(kind: str, capture_name: str | None) -> list[dict[str, Any]]:
    rows = capture("float_dot_gfx1201")["rows"]
    return [
        row
        for row in rows
        if (row["format"], row.get("capture")) == (kind, capture_name) and len(row["a"]) == 2
    ]


# Dual-issue instructions need wave32.
@pytest.mark.parametrize(
    ("form", "wave"), [("v_dot2_f32", 32), ("v_dot2_f32", 64), ("v_dot2acc_f32", 32)]
)
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_captured_dots_of_registers(kind: str, form: str, wave: int) -> None:
    rows = dot_rows(kind, None)
    inputs = np.zeros((3, 64), np.uint32)
    for lane, row in enumerate(rows):
        inputs[:, lane] = [
            packed(*numbers(row["a"])),
            packed(*numbers(row["b"])),
            int(row["c"], 16),
        ]
    if form == "v_dot2_f32":
        found = run_registers(
            f"  v_dot2_f32_{kind} v100, v1, v2, v3", inputs, [100], wave_size=wave
        )[0]
    else:
        body = f"  v_dual_dot2acc_f32_{kind} v3, v1, v2 :: v_dual_mov_b32 v100, v2"
        found = run_registers(body, inputs, [3], wave_size=wave)[0]
    expected = [int(row["result"], 16) for row in rows]
    assert [hex(value) for value in found[: len(rows)]] == [hex(value) for value in expected]
    assert len(rows) >= 25


@both_waves
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_captured_dots_of_inline_constants(kind: str, wave: int) -> None:
    rows = dot_rows(kind, "inline")
    assert len(rows) == 12
    body, expected = [], []
    for number, row in enumerate(rows):
        source, other = (
            row["modifiers"]["inline_source"],
            row["b"] if row["modifiers"]["inline_source"] == 0 else row["a"],
        )
        text = {129: "1", 242: "1.0", 248: "0.15915494"}[
            row["modifiers"]["inline_constant_selector"]
        ]
        operands = [text, "v100"] if source == 0 else ["v100", text]
        chosen = ["0", "0", "0"]
        chosen[source] = str(row["modifiers"]["op_sel"])
        body.append(f"  v_mov_b32 v100, {packed(*numbers(other)):#x}")
        body.append(
            f"  v_dot2_f32_{kind} v{101 + number}, {', '.join(operands)}, 0 "
            f"op_sel:[{','.join(chosen)}]"
        )
        expected.append(row["result"])
    outputs = list(range(101, 101 + len(rows)))
    found = run_registers("\n".join(body), np.zeros((1, wave), np.uint32), outputs, wave_size=wave)
    assert [f"{value:#010x}" for value in found[:, 3]] == expected


def place(wave: int, k: int) -> tuple[int, int]:
    """The row of 16 lanes and the element where a factor of the logical k lies."""
    return (k // 4, k % 4) if wave == 64 else (k // 4 % 2, 4 * (k // 8) + k % 4)


def factor_registers(rows: list[list[int]], wave: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Registers of 16-bit factors by their logical k."""
    registers = np.zeros((128 // wave, wave), np.uint32)
    for lane, row in enumerate(rows):
        for k, value in enumerate(row):
            half, index = place(wave, k)
            registers[index // 2, lane + 16 * half] |= np.uint32(value << 16 * (index % 2))
    return registers


@both_waves
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_captured_elements_of_f32_matrices(kind: str, wave: int) -> None:
    rows = [
        row
        for row in capture("float_dot_gfx1201")["rows"]
        if row["format"] == kind and len(row["a"]) == 16
    ]
    assert len(rows) == 12
    count, results = 128 // wave, 256 // wave
    a = factor_registers([numbers(row["a"]) for row in rows], wave)
    b = factor_registers([numbers(row["b"]) for row in rows], wave)
    c = np.zeros((results, wave), np.uint32)
    for number, row in enumerate(rows):
        c[register(wave, number)] = int(row["c"], 16)
    ranges = [(1, count), (1 + count, count), (1 + 2 * count, results)]
    sources = ", ".join(f"v[{first}:{first + size - 1}]" for first, size in ranges)
    body = f"  v_wmma_f32_16x16x16_{kind} v[100:{99 + results}], {sources}"
    found = run_registers(
        body, np.concatenate([a, b, c]), list(range(100, 100 + results)), wave_size=wave
    )
    for number, row in enumerate(rows):
        assert hex(found[register(wave, number)]) == hex(int(row["result"], 16)), row


def register(wave: int, number: int) -> tuple[int, int]:
    """The register and the lane of the element of D in that row and column."""
    if wave == 32:
        return number % 8, number + 16 * (number // 8)
    return number % 4, number + 16 * (number // 8) + 32 * (number % 8 // 4)


@pytest.mark.parametrize("number", range(5))
def test_captured_matrices_with_packed_results(number: int) -> None:
    matrix = capture("packed_wmma")["matrices"][number]
    for captured in of_gfx12(matrix):
        wave = captured["wave"]
        run = 8 if wave == 32 else 4
        count = 128 // wave
        inputs = np.zeros((3 * count, wave), np.uint32)
        for lane in range(wave):
            for element in range(run):
                k, shift = run * (lane // 16) + element, 16 * (element % 2)
                # The captures hold four rows of A.
                inputs[element // 2, lane] |= int(matrix["a_rows"][lane % 4][k], 16) << shift
                inputs[count + element // 2, lane] |= int(matrix["b"][k][lane % 16], 16) << shift
                row = (
                    8 * (lane // 16) + element
                    if wave == 32
                    else 8 * (lane // 16 % 2) + 4 * (lane // 32) + element
                )
                inputs[2 * count + element // 2, lane] |= (
                    int(matrix["c_rows"][row % 4][lane % 16], 16) << shift
                )
        ranges = [f"v[{1 + count * part}:{count * part + count}]" for part in range(3)]
        body = (
            f"  v_wmma_{matrix['format']}_16x16x16_{matrix['format']} v[100:{99 + count}], "
            f"{', '.join(ranges)}"
        )
        found = run_registers(body, inputs, list(range(100, 100 + count)), wave_size=wave)
        for row, column in np.ndindex(4, 16):
            value = int(found[row // 2, column]) >> 16 * (row % 2) & 0xFFFF
            assert f"{value:#06x}" == captured["d_rows"][row][column], (wave, row, column)


_OPERANDS = """
  s_load_b128 s[0:3], s[0:1], 0x0
  v_lshlrev_b32 v100, 2, v0
  s_wait_kmcnt 0x0
"""


def has_encoding(row: dict[str, Any]) -> bool:
    """Whether LLVM has the encoding: op_sel, op_sel_hi and clamp, which gfx1201 ignores, must be as
    without them."""
    high, low = numbers(row["encoding"])
    return (high >> 11 & 31, low >> 27 & 3) == (8, 3)


def test_modifiers_that_matrices_ignore_are_refused_as_llvm_refuses_them() -> None:
    rows = [row for row in capture("packed_operands")["rows"] if not has_encoding(row)]
    assert len(rows) == 66
    for row in (rows[0], rows[-1]):
        body = _OPERANDS + "  .long {}, {}\n".format(*row["encoding"])
        with pytest.raises(KernelFault, match="does not have the modifier"):
            emulate(
                assemble(body), "kernel", 1, 32, [np.zeros(1, np.uint32), np.zeros(1, np.uint32)]
            )


@both_waves
@pytest.mark.parametrize("kind", ["F16", "BF16"])
def test_captured_operands_of_packed_matrices(kind: str, wave: int) -> None:
    """All modifiers, by encoding; every word of an operand is the same."""
    rows = [
        row for row in capture("packed_operands")["rows"] if row["instruction"].endswith(f"_{kind}")
    ]
    rows = [row for row in rows if has_encoding(row)]
    assert len(rows) == 77
    count = 128 // wave
    for first in range(0, len(rows), 55):
        body = _OPERANDS
        part = rows[first : first + 55]
        for number, row in enumerate(part):
            values = {0: row["a"], 8: row["b"], 16: row["c"], 24: "0x56781234"}
            body += "".join(
                f"  v_mov_b32 v{v + i}, {text}\n"
                for v, text in values.items()
                for i in range(count)
            )
            body += "  .long {}, {}\n".format(*row["encoding"])
            for word in (0, count - 1):
                offset = 4 * wave * (2 * number + (word != 0))
                body += f"  global_store_b32 v100, v{24 + word}, s[2:3] offset:{offset}\n"
        found = np.zeros((len(part), 2, wave), np.uint32)
        emulate(assemble(body, wave_size=wave), "kernel", 1, wave, [np.zeros(1, np.uint32), found])
        for number, row in enumerate(part):
            assert {f"{value:#010x}" for value in found[number].ravel()} == {row["gfx1201"]}, row


@pytest.mark.covering(2)
@pytest.mark.parametrize("clamp", [0, 1])
@pytest.mark.parametrize("signed_b", [0, 1])
@pytest.mark.parametrize("name", ["16X16X16_IU8", "16X16X16_IU4", "16X16X32_IU4"])
def test_the_emulator_gives_the_captured_integer_products(
    name: str, signed_b: int, clamp: int
) -> None:
    rows = [
        row
        for row in capture("wmma_integer_gfx1201")["rows"]
        if row["instruction"].endswith(name)
        and (row["signed_b"], row["clamp"]) == (signed_b, clamp)
    ]
    assert len(rows) == 16
    inputs = np.concatenate([integer_inputs(row["sample"]) for row in rows], axis=1)
    a, b = ("v1", "v3") if name == "16X16X16_IU4" else ("v[1:2]", "v[3:4]")
    assert all(row["signed_a"] == 0 for row in rows)
    modifiers = f" neg_lo:[0,{signed_b},0]{' clamp' if clamp else ''}"
    body = f"  v_wmma_i32_{name.lower()} v[100:107], {a}, {b}, v[7:14]{modifiers}"
    found = run_registers(body, inputs, list(range(100, 108)))
    for number, row in enumerate(rows):
        assert digest(found[:, 32 * number : 32 * number + 32]) == row["digest"], row


@pytest.mark.parametrize("op", range(4))
def test_captured_sparse_products_of_halves(op: int) -> None:
    rows = [
        row for row in capture("swmmac_gfx1201")["rows"] if (row["kind"], row["op"]) == ("sw16", op)
    ]
    a_kind, b_kind, result = sparse_kinds(rows[0]["instruction"])
    parts = sparse_inputs(a_kind, b_kind, result, sparse_seed(rows[0]))
    count = len(parts[2])
    body, outputs = [], []
    for number, row in enumerate(rows):
        neg, target = row["neg"], 100 + 8 * number
        body += [f"  v_mov_b32 v{target + word}, v{13 + word}" for word in range(count)]
        name = row["instruction"].lower()
        signs = f"neg_lo:[{neg & 1},{neg >> 1 & 1},0] neg_hi:[{neg >> 2 & 1},{neg >> 3 & 1},0]"
        index = f"v{13 + count} index_key:{row['index_key']} {signs}"
        body.append(f"  {name} v[{target}:{target + count - 1}], v[1:4], v[5:12], {index}")
        outputs += range(target, target + count)
    found = run_registers("\n".join(body), np.concatenate(parts), outputs)
    for number, row in enumerate(rows):
        assert digest(found[count * number : count * number + count]) == row["digest"], row
    assert any(negated_halves(row["neg"]) for row in rows)


@pytest.mark.parametrize("op", range(4))
def test_captured_sparse_products_of_eighths(op: int) -> None:
    rows = [
        row for row in capture("swmmac_gfx1201")["rows"] if (row["kind"], row["op"]) == ("sw8", op)
    ]
    a_kind, b_kind, result = sparse_kinds(rows[0]["instruction"])
    inputs = [
        np.concatenate(sparse_inputs(a_kind, b_kind, result, sparse_seed(row))) for row in rows
    ]
    assert {row["index_key"] for row in rows} == {0}
    body = f"  {rows[0]['instruction'].lower()} v[7:14], v[1:2], v[3:6], v15"
    found = run_registers(body, np.concatenate(inputs, axis=1), list(range(7, 15)))
    for number, row in enumerate(rows):
        assert digest(found[:, 32 * number : 32 * number + 32]) == row["digest"], row
