"""From text to bytes and back: what the assembler takes decodes to llvm-objdump's text, in both
syntaxes."""

from __future__ import annotations

import random
import re

import pytest

from amdjit.isa.decode import decode
from amdjit.isa.errors import UndecodableInstruction
from amdjit.isa.instruction_set import GFX11, GFX12, GFX115, InstructionSet
from amdjit.isa.text import disassemble
from tests.emulator.decoder.assembler import Assembled, assemble_each
from tests.emulator.decoder.objdump import Line, asking_about, disassemble_each, missing_tools
from tests.emulator.decoder.random_text import random_texts

pytestmark = pytest.mark.skipif(missing_tools() is not None, reason=missing_tools() or "")


# The disassembler takes the DPP control of these for a source.
_MISREAD = re.compile(r"(v_cvt_pk_(fp8|bf8)_f32|v_fma_mix(lo|hi)_f16)_e64_dpp")


def disagreement(made: Assembled, line: Line, true16: bool, sets: InstructionSet) -> str | None:
    """Return how the decoding of what was assembled differs from the disassembler's, or None.

    Where the disassembler errs, the text that was assembled counts.
    """
    text = made.text if line.rejected or _MISREAD.match(made.text) else line.text
    try:
        instruction = decode(made.code, 0, 0, 32, sets)
    except UndecodableInstruction as error:
        if "_dpp" in text and "takes no literal" in error.reason:
            # In V_FMA_MIX the assembler takes a literal beside DPP, for which there is no place,
            # and drops it.
            return None
        return f"{made.code.hex()} {text!r} is refused: {error.reason}"
    mine = disassemble(instruction, true16)
    same = without_constant(mine) == without_constant(text)
    return (
        None
        if same and instruction.size == len(made.code)
        else f"{made.code.hex()}: {mine}, not {text!r}"
    )


def without_constant(text: str) -> str:
    """Leave out src1 of V_FMAC with DPP: of a constant the disassembler writes the code, 0xf2 for
    1.0."""
    return re.sub(r"^(v_fmac_\w+_e64_dpp [^,]+, [^,]+), \S+", r"\1", text)


def check(true16: bool, seed: int, count: int, sets: InstructionSet = GFX12) -> int:
    """Assemble `count` lines for each opcode; return how many of them were instructions."""
    with asking_about(sets.processor):
        return _check(true16, seed, count, sets)


def _check(true16: bool, seed: int, count: int, sets: InstructionSet) -> int:
    features = "+real-true16" if true16 else ""
    made = assemble_each(list(random_texts(random.Random(seed), count, sets)), features)
    good = [one for one in made if one is not None]
    codes = [one.code for one in good]
    usual, other = (
        disassemble_each(codes, names) for names in (features, "" if true16 else "+real-true16")
    )
    # The assembler takes v1.h in some instructions without the feature; the disassembler does not.
    lines = [
        second if first.rejected else first for first, second in zip(usual, other, strict=True)
    ]
    wrong = [
        found
        for one, line in zip(good, lines, strict=True)
        if (found := disagreement(one, line, true16, sets))
    ]
    assert not wrong, f"{len(wrong)} of {len(good)} differ:\n" + "\n".join(wrong[:20])
    return len(good)


@pytest.mark.sample(1)
@pytest.mark.parametrize("true16", [False, True])
def test_what_is_assembled_decodes_to_its_text(true16: bool) -> None:
    assert check(true16, 1, 4) > 1500


@pytest.mark.parametrize("true16", [False, True])
def test_what_is_assembled_for_gfx11_decodes_to_its_text(true16: bool) -> None:
    assert check(true16, 1, 2, GFX11) > 700


def test_a_flat_access_of_gfx11_has_twelve_bits_of_offset() -> None:
    """RDNA 3 ISA, microcode format FLAT; accesses of global and private memory have a sign."""
    with asking_about(GFX11.processor):
        texts = [f"flat_load_b32 v1, v[2:3] offset:{n}" for n in (4095, 4096, -1)]
        flat, *refused = assemble_each(texts)
        signed = assemble_each(
            [
                "global_load_b32 v1, v[2:3], off offset:-4096",
                "scratch_load_b32 v1, off, s1 offset:-4096",
            ]
        )
    assert flat is not None
    assert refused == [None, None]
    assert decode(flat.code, 0, 0, 32, GFX11).immediates["offset"] == 4095
    for one in signed:
        assert one is not None
        assert decode(one.code, 0, 0, 32, GFX11).immediates["offset"] == -4096
    ignored = bytes([flat.code[0], flat.code[1] | 0x10, *flat.code[2:]])
    with pytest.raises(UndecodableInstruction, match="no negative offset"):
        decode(ignored, 0, 0, 32, GFX11)


def test_the_second_source_with_dpp_is_a_vgpr_before_gfx11_5() -> None:
    texts = ["v_add_f32_e64_dpp v5, v1, s2 row_mirror", "v_add_f32_e64_dpp v5, v1, 1.0 row_mirror"]
    for text in texts:
        with asking_about(GFX11.processor):
            assert assemble_each([text]) == [None]
        with asking_about(GFX115.processor):
            (made,) = assemble_each([text])
        assert made is not None
        assert disassemble(decode(made.code, 0, 0, 32, GFX115)).startswith(text)
        with pytest.raises(UndecodableInstruction, match="src1 must be a VGPR with DPP"):
            decode(made.code, 0, 0, 32, GFX11)


def test_what_is_assembled_for_gfx11_5_decodes_to_its_text() -> None:
    assert check(False, 1, 1, GFX115) > 400


@pytest.mark.exhaustive
@pytest.mark.parametrize("sets", [GFX12, GFX11, GFX115], ids=["gfx12", "gfx11", "gfx11.5"])
@pytest.mark.parametrize("true16", [False, True])
@pytest.mark.parametrize("seed", range(2, 8))
def test_much_that_is_assembled_decodes_to_its_text(
    true16: bool, seed: int, sets: InstructionSet
) -> None:
    assert check(true16, seed, 100, sets) > 35000
