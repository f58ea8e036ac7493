"""Random assembly text of every opcode: operands of all kinds, halves among them, with all
modifiers."""

from __future__ import annotations

import random
from collections.abc import Iterator

from amdjit.isa.instruction_set import GFX11, GFX12, InstructionSet
from amdjit.isa.rows import OperandRow, Row, row_of

_VECTORS = ("v1", "v2", "v5", "v127", "v128", "v255")
_SCALARS = ("s1", "s4", "s103", "vcc_lo", "vcc_hi", "exec_lo", "exec_hi", "m0", "null", "ttmp3")
_READ_ONLY = ("src_scc", "src_shared_base", "src_private_limit", "src_vccz", "src_execz")
_INTEGERS = ("0", "1", "-16", "64", "65", "0x1234", "0x12345678", "0xffffffff", "-1")
_FLOATS = ("0.5", "-4.0", "1.0", "0.15915494309189532", "2.5")
_SIGNS = ("-{}", "|{}|", "-|{}|", "neg({})", "abs({})")
_DPP = (
    *(
        "quad_perm:[0,1,2,3]",
        "quad_perm:[3,3,0,1]",
        "row_shl:1",
        "row_shr:15",
        "row_ror:4",
        "row_mirror",
    ),
    *(
        "row_half_mirror",
        "row_share:3",
        "row_xmask:15",
        "dpp8:[7,6,5,4,3,2,1,0]",
        "dpp8:[0,0,0,0,1,1,1,1] fi:1",
    ),
)
_MASKS = ("row_mask:0x3", "bank_mask:0x5", "bound_ctrl:1", "fi:1", "row_mask:0xf bank_mask:0xf")
_RESULTS = ("clamp", "mul:2", "mul:4", "div:2", "clamp mul:2", "byte_sel:1", "byte_sel:3")
_LISTS = ("op_sel", "op_sel_hi", "neg_lo", "neg_hi")
_MEMORY = (
    *(
        "offset:16",
        "offset:-8",
        "offset:65535",
        "th:TH_LOAD_NT",
        "th:TH_STORE_HT",
        "th:TH_ATOMIC_RETURN",
    ),
    *(
        "scope:SCOPE_DEV",
        "scope:SCOPE_SYS",
        "idxen",
        "offen",
        "idxen offen",
        "tfe",
        "offset0:1 offset1:3",
    ),
    *("format:[BUF_FMT_32_FLOAT]", "th:TH_ATOMIC_CASCADE_RT scope:SCOPE_SE"),
)
_OLDER_MEMORY = (
    *("offset:16", "offset:-8", "offset:4095", "offset:65535", "glc", "slc", "dlc", "glc slc dlc"),
    *("idxen", "offen", "idxen offen", "tfe", "offset0:1 offset1:3", "format:[BUF_FMT_32_FLOAT]"),
)
_VECTOR_FORMATS = ("VOP1", "VOP2", "VOPC", "VOP3", "VOP3P")
_MEMORY_FORMATS = ("SMEM", "DS", "VFLAT", "VSCRATCH", "VGLOBAL", "VBUFFER", "VTBUFFER")


def random_texts(
    generator: random.Random, count: int, sets: InstructionSet = GFX12
) -> Iterator[str]:
    """Yield `count` lines for each row of the tables; most are no instructions, as the assembler
    will tell."""
    for name, rows in sets.rows.items():
        for code in rows if not name.startswith("VOPD") else ():
            row = row_of(name, code, instruction_set=sets)
            assert row is not None
            for _ in range(count):
                yield _Line(generator, row).text()


class _Line:
    def __init__(self, generator: random.Random, row: Row) -> None:
        self._random = generator
        self._row = row
        self._name = row.format.name
        self._dpp = (row.has("dpp16") or row.has("dpp8")) and generator.random() < 0.3

    def text(self) -> str:
        """Return a line: usually right, at times with something that the opcode has not."""
        operands = [self._operand(operand) for operand in self._row.operands if not operand.hidden]
        return (
            f"{self._row.opcode.mnemonic}{self._suffix()} {', '.join(operands)}{self._modifiers()}"
        )

    def _pick(self, *items: str) -> str:
        return self._random.choice(items)

    def _suffix(self) -> str:
        if self._name not in _VECTOR_FORMATS or self._random.random() < 0.3:
            return ""
        long = self._name in ("VOP3", "VOP3P")
        if self._dpp:
            return "_e64_dpp" if long else "_dpp"
        return ("_e64" if long else "_e32") if self._row.suffixed else ""

    def _operand(self, operand: OperandRow) -> str:
        dwords = operand.dwords
        if operand.spec.type == "mask":
            return self._pick("vcc_lo", "s4", "null", "s1")
        if operand.takes in ("off", "null"):
            return self._pick("off", "null", "s[4:5]", "s8", "v2", "v[2:3]", "0x10")
        if operand.takes == "literal":
            return self._pick(*_INTEGERS, *_FLOATS)
        if dwords > 1:
            return self._wide(operand, dwords)
        kinds = operand.takes if set(operand.takes) <= set("vsiln") else "v"
        kind = self._random.choice(kinds or "s")
        if self._dpp and operand.source == 0:
            kind = "v"
        text = self._narrow(operand, kind)
        signed = (
            operand.source in (0, 1, 2)
            and self._name in _VECTOR_FORMATS
            and self._random.random() < 0.2
        )
        return self._pick(*_SIGNS).format(text) if signed else text

    def _narrow(self, operand: OperandRow, kind: str) -> str:
        if kind == "v":
            half = operand.half and self._random.random() < 0.8
            return self._pick(*_VECTORS) + (self._pick(".l", ".h") if half else "")
        if kind == "s":
            # The assembler takes src_scc as a destination too, but no encoding has that.
            return self._pick(*_SCALARS, *(_READ_ONLY if not operand.spec.written else ()))
        return self._pick(*_INTEGERS, *_FLOATS)

    def _wide(self, operand: OperandRow, dwords: int) -> str:
        scalar = "v" not in operand.takes or ("s" in operand.takes and self._random.random() < 0.4)
        if "i" in operand.takes and self._random.random() < 0.2:
            return self._pick(*_INTEGERS, *_FLOATS)
        if scalar:
            pairs = ("vcc", "exec", "null", "ttmp[2:3]") if dwords == 2 else ()
            return self._pick(f"s[8:{7 + dwords}]", *pairs)
        first = self._random.choice((2, 4, 100, 256 - dwords))
        return f"v[{first}:{first + dwords - 1}]"

    def _modifiers(self) -> str:
        chosen: list[str] = []
        if self._name in _MEMORY_FORMATS:
            is_older = self._row.opcode.instruction_set.formats is GFX11.formats
            there = _OLDER_MEMORY if is_older else _MEMORY
            chosen = self._random.sample(there, self._random.randrange(3))
        elif self._name in ("VOP3", "VOP3P", "VINTERP"):
            chosen = [self._pick(*_RESULTS)] if self._random.random() < 0.3 else []
            chosen += [self._list()] if self._random.random() < 0.4 else []
        if self._dpp:
            chosen += [
                self._pick(*_DPP),
                *([self._pick(*_MASKS)] if self._random.random() < 0.5 else []),
            ]
        return "".join(f" {text}" for text in chosen)

    def _list(self) -> str:
        name = self._pick(*_LISTS) if self._name == "VOP3P" else "op_sel"
        places = sum(operand.source in (0, 1, 2) for operand in self._row.operands)
        places += self._name == "VOP3"
        return f"{name}:[{','.join(self._pick('0', '1') for _ in range(places))}]"
