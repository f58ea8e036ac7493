"""The page of the emulator's instructions, from the decoder's tables, the translator's and those
beside the tests."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from amdjit.emulator.decoder.opcode_tables import ROWS
from amdjit.emulator.instructions.refused import refusal
from amdjit.emulator.tiers.full import executes

sys.path.append(str(Path(__file__).parents[1] / "tests/emulator"))

from checked_by import checking_test, why_not_in_the_model

Table = Callable[[tuple[str, ...], Iterable[tuple[str, ...]]], str]
HEAD = ("opcode", "number", "state", "checked by, or why not")


def introduction() -> str:
    """Return what stands above the tables."""
    done = [executes(mnemonic) for rows in ROWS.values() for mnemonic, _, _ in rows.values()]
    names = {
        mnemonic for rows in ROWS.values() for mnemonic, _, _ in rows.values() if executes(mnemonic)
    }
    covered = [name for name in names if not why_not_in_the_model(name)]
    return (
        "All opcodes that the [emulator](../emulator.md) decodes, by encoding. *Executed*: it "
        "runs, and the test of "
        "`tests/emulator/` looks at its results; `test_emulator_against_model.py` compares with a "
        "model that is "
        "written from the ISA document (ALUs in all encodings and with all modifiers), and has "
        f"{len(covered)} of the {len(names)} mnemonics; the others say why not. *Decoded only*: a "
        "kernel that "
        "reaches it is refused before the launch. Images, ray tracing and exports are not even "
        "decoded. "
        f"{sum(done)} opcodes are executed, {len(done) - sum(done)} are not."
    )


def tables(table: Table) -> list[str]:
    """Return a section for each encoding."""
    return [f"## {encoding}\n\n" + table(HEAD, _lines(rows)) for encoding, rows in ROWS.items()]


def _lines(rows: dict[int, tuple[str, str, str]]) -> list[tuple[str, ...]]:
    lines = []
    for code, (mnemonic, _, _) in sorted(rows.items()):
        done = executes(mnemonic)
        text = (
            ("executed", _checked_by(mnemonic))
            if done
            else ("decoded only", str(refusal(mnemonic)))
        )
        lines.append((f"`{mnemonic}`", f"{code:#x}", *text))
    return lines


def _checked_by(mnemonic: str) -> str:
    reason = why_not_in_the_model(mnemonic)
    return f"`{checking_test(mnemonic)}`" + (f": {reason}" if reason else "")
