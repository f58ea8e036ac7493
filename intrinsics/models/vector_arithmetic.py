"""What instructions of the vector unit return, and how well that is known: one row for each.

The approximate instructions follow the rules of `isa.approximations`, the others the expressions of
`isa.floats`, and modifiers and MODE what `isa.floats.modes` makes of them; the emulator follows all
three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from amdjit.intrinsics.models.certainty import Certainty, Known
from amdjit.late import late
from amdjit.target import DEFAULT_TARGET, Target, read_target

if TYPE_CHECKING:
    from amdjit.isa import approximations, instruction_set
    from amdjit.isa import instruction as instructions
    from amdjit.isa import rows as opcode_rows
    from amdjit.isa.floats import arrays, rows
    from amdjit.isa.instruction import Modifiers, Opcode
    from amdjit.isa.instruction_set import InstructionSet
else:
    instructions = late("amdjit.isa.instruction")
    approximations = late("amdjit.isa.approximations")
    instruction_set = late("amdjit.isa.instruction_set")
    opcode_rows = late("amdjit.isa.rows")
    arrays, rows = late("amdjit.isa.floats.arrays"), late("amdjit.isa.floats.rows")

__all__ = ["ROWS", "certainty", "known", "known_rows", "reference"]

Rounding = Literal["nearest", "up", "down", "zero"]
Denormals = Literal["preserve", "flush", "flush operands", "flush results"]


@dataclass(frozen=True, slots=True)
class Row:
    """An instruction of which something is known."""

    captured: Mapping[str, Known]
    """What is known, by processor: those whose results are published, or that compute otherwise."""
    otherwise: Known
    """What is known of other processors."""
    kind: str = ""
    """Of an approximate instruction, the type of its operand and of its result."""
    compute: Callable[[NDArray[Any]], NDArray[Any]] | None = None
    """Of an approximate instruction, from bits to bits; others are rows of `isa.floats`."""
    since: tuple[int, int, int] = (0, 0, 0)
    """Of an approximate instruction, the first ISA version that has it. Which others there are, the
    opcode tables say."""


_ROCJITSU = "ROCm/rocm-systems, rocjitsu's"
_ELSEWHERE = Known("rule", "the rule of gfx1201", "results of a GPU")
_DIGESTS = Known("measured", f"{_ROCJITSU} digests")
_CAPTURED = {"gfx1201": _DIGESTS, "gfx1100": replace(_DIGESTS, open="modifiers and MODE")}
_FEW = Known("measured", f"{_ROCJITSU} single results", "most of the domain")
_CIRCLE = {"gfx1201": _FEW, "gfx1100": _FEW}
_HALVES = {"gfx1201": Known("measured", f"{_ROCJITSU} digests of all halves")}
_SCALAR = {"gfx1201": Known("measured", f"{_ROCJITSU} captures: the bits of the vector form")}
_TANH = Known("model", "rounded to nearest", "bits; subnormal numbers")

_ACCORDING = Known("rule", f"{_ROCJITSU} rules, for which it was measured", "published results")
_DOCUMENTED = Known("rule", "the ISA document", "results of a GPU")
_FNUZ = Known("rule", "the ISA document of CDNA 3: formats FNUZ", "results of a GPU; which NaN")
_DOUBLES = Known("model", "rounded to nearest, of `v_rsq_f64` the root, too", "bits")


def _single(name: str, bits: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return approximations.of_bits(approximations.SINGLE_RULES[name], bits)


def _half(name: str, bits: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Return the float of the same rule, rounded once."""
    wide = bits.view(np.float16).astype(np.float32).view(np.uint32)
    if name == "exp":
        rule = approximations.power_of_two_half
        return approximations.of_bits(rule, wide).astype(np.uint16)
    with np.errstate(all="ignore"):
        return _single(name, wide).view(np.float32).astype(np.float16).view(np.uint16)


def _tangent(bits: NDArray[Any]) -> NDArray[Any]:
    """Compute in f64. A NaN becomes quiet."""
    x = bits.view(f"f{bits.itemsize}")
    quiet = np.array(np.nan, x.dtype).view(bits.dtype)
    with np.errstate(all="ignore"):
        found = np.tanh(x.astype(np.float64)).astype(x.dtype).view(bits.dtype)
    return np.where(np.isnan(x), bits | quiet, found)


def _rows() -> Iterator[tuple[str, Row]]:
    for name in ("exp", "log", "rcp", "rsq", "sqrt", "sin", "cos"):
        captured = _CIRCLE if name in ("sin", "cos") else _CAPTURED
        single = Row(captured, _ELSEWHERE, "f32", partial(_single, name))
        half = Row(_HALVES, _ELSEWHERE, "f16", partial(_half, name))
        yield f"v_{name}_f32", single
        yield f"v_{name}_f16", half
        if name not in ("sin", "cos"):
            for kind, row in (("f32", single), ("f16", half)):
                yield f"v_s_{name}_{kind}", replace(row, captured=_SCALAR, since=(12, 0, 0))
        if name == "rcp":
            yield "v_rcp_iflag_f32", single
    for kind in ("f32", "f16"):
        yield f"v_tanh_{kind}", Row({}, _TANH, kind, _tangent, since=(12, 5, 0))
    for name in ("rcp", "rsq", "sqrt"):
        yield f"v_{name}_f64", Row({}, _DOUBLES)
    for known, names in _EXACT:
        # What nobody captured is not better known of gfx1201 than of others.
        is_captured = known.open != _ELSEWHERE.open
        row = Row({"gfx1201": known}, _ELSEWHERE) if is_captured else Row({}, known)
        for name in names.split():
            is_byte = ("fp8" in name or "bf8" in name) and "scale" not in name
            yield name, replace(row, captured={**row.captured, "gfx942": _FNUZ}) if is_byte else row


def _each(kinds: str, names: str) -> str:
    return "".join(f"v_{name}_{kind} " for kind in kinds.split() for name in names.split())


# Instructions that round at most once, by what is known of them.
_GOC = "bjacob/goc's digests of an RX 9070"
_EXACT: tuple[tuple[Known, str], ...] = (
    (
        Known("measured", _GOC, "most of the domain"),
        "v_cvt_f32_i32 v_cvt_f32_u32 v_cvt_i32_f32 v_cvt_u32_f32 v_cvt_nearest_i32_f32 "
        "v_cvt_floor_i32_f32 v_cvt_f16_i16 v_cvt_f16_u16 v_cvt_i16_f16 v_cvt_u16_f16 "
        "v_cvt_pk_fp8_f32 v_cvt_pk_bf8_f32 v_cvt_sr_fp8_f32 v_cvt_sr_bf8_f32 "
        "v_cubeid_f32 v_cubesc_f32 v_cubetc_f32 v_cubema_f32 v_fract_f32 v_frexp_mant_f32 "
        "v_trunc_f32 v_ceil_f32 v_rndne_f32 v_floor_f32 v_div_scale_f32 v_div_scale_f64 "
        "v_div_fmas_f32 v_div_fmas_f64 v_div_fixup_f16 v_div_fixup_f32 v_div_fixup_f64",
    ),
    (
        Known("measured", _GOC, "most of the domain; payloads of NaNs"),
        "v_cvt_f16_f32 v_cvt_f32_f16 v_fract_f16 v_frexp_mant_f16 v_trunc_f16 v_ceil_f16 "
        "v_rndne_f16 v_floor_f16 v_med3_num_f16",
    ),
    (Known("measured", f"{_GOC}, all halves"), "v_pack_b32_f16 v_sat_pk_u8_i16"),
    (
        _ACCORDING,
        "v_cvt_f32_f64 v_cvt_f64_f32 v_cvt_f64_i32 v_cvt_f64_u32 v_cvt_i32_f64 v_cvt_u32_f64 "
        "v_cvt_pk_rtz_f16_f32 v_cvt_pk_i16_f32 v_cvt_pk_u16_f32 v_cvt_pk_u8_f32 "
        "v_cvt_norm_i16_f16 v_cvt_norm_u16_f16 v_cvt_pk_norm_i16_f16 v_cvt_pk_norm_u16_f16 "
        "v_cvt_pk_norm_i16_f32 v_cvt_pk_norm_u16_f32 v_cvt_f32_fp8 v_cvt_f32_bf8 "
        "v_cvt_pk_f32_fp8 v_cvt_pk_f32_bf8 v_fract_f64 "
        "v_frexp_mant_f64 v_frexp_exp_i16_f16 v_frexp_exp_i32_f32 v_frexp_exp_i32_f64 "
        "v_ldexp_f16 v_fma_f64 "
        + _each("f16 f32 f64", "add mul min_num max_num minimum maximum")
        + _each(
            "f16 f32",
            "sub subrev fma min3_num max3_num minimum3 maximum3 minmax_num maxmin_num "
            "minimummaximum maximumminimum",
        )
        + "v_med3_num_f32",
    ),
    (
        Known("rule", "the ISA document of CDNA 4, AMD's reference on hosts", _ELSEWHERE.open),
        "v_cvt_scalef32_f32_fp8 v_cvt_scalef32_f32_bf8 v_cvt_scalef32_sr_fp8_f32 "
        "v_cvt_scalef32_sr_bf8_f32 "
        + "".join(
            f"v_cvt_scalef32_pk_f32_{kind} v_cvt_scalef32_pk_{kind}_f32 "
            for kind in ("fp8", "bf8", "fp4")
        ),
    ),
    (
        replace(_ELSEWHERE, source="the rule of `v_ldexp_f16`"),
        "v_ldexp_f32 v_ldexp_f64",
    ),
    (
        _DOCUMENTED,
        "v_cvt_off_f32_i4 v_cvt_pk_i16_i32 v_cvt_pk_u16_u32 v_cvt_f32_ubyte0 v_cvt_f32_ubyte1 "
        "v_cvt_f32_ubyte2 v_cvt_f32_ubyte3 v_cvt_f32_bf16 v_mul_dx9_zero_f32 v_fma_dx9_zero_f32 "
        "v_trunc_f64 v_ceil_f64 v_rndne_f64 v_floor_f64 v_min_f64 v_max_f64 "
        + _each("f16 f32", "min max min3 max3 med3 minmax maxmin"),
    ),
)

ROWS: Mapping[str, Row] = MappingProxyType(dict(_rows()))


def certainty(instruction: str, target: str | None = None) -> Certainty:
    """Return how well the results of an instruction are known to be a GPU's, bit for bit:
    "measured", "rule" or "model".

    instruction: its name in AMD's assembler, such as "v_log_f32". target: the processor, such as
    "gfx942"; without it, gfx1201. Raises ValueError for instructions that the processor lacks or
    of which nothing is said here.
    """
    return known(instruction, target).certainty


def known(instruction: str, target: str | None = None) -> Known:
    """Return what is known about an instruction. Raises ValueError like `certainty`."""
    row, processor, _ = _row(instruction, target)
    return row.captured.get(processor.name, row.otherwise)


def known_rows(target: str) -> Mapping[str, Known]:
    """Return what is known about each instruction that a processor has."""
    return {name: known(name, target) for name in _names(read_target(target))}


def reference(
    instruction: str,
    *operands: Any,
    target: str | None = None,
    neg: bool | Sequence[bool] = False,
    abs: bool | Sequence[bool] = False,
    omod: float = 1,
    clamp: bool = False,
    rounding: Rounding = "nearest",
    denormals: Denormals = "preserve",
    fp16_ovfl: bool = False,
    ieee: bool = True,
    dx10_clamp: bool = True,
) -> NDArray[Any] | tuple[NDArray[Any], ...]:
    """Return what an instruction returns for each element of its operands.

    operands: in the order of AMD's assembler, without the old value of the result, as arrays that
    are broadcast together, of numbers, which are converted to the operand's type. An operand of
    floats may be given as bits, unsigned integers of its width; the result is bits, too, then.
    target: the processor, which may also be the last operand.

    The modifiers: `neg` changes the signs of operands and `abs` clears them, before; one value for
    all operands, or a sequence of one for each. omod: the factor of the result: 2, 4 or 0.5. clamp:
    as the instruction has it, floats to [0, 1].

    MODE: `rounding` is "nearest", "up", "down" or "zero". denormals: "preserve", "flush", "flush
    operands" or "flush results". fp16_ovfl: halves and 8-bit floats that overflow become their
    largest numbers. ieee and dx10_clamp count where MODE has these bits, before gfx12: `ieee` makes
    signalling NaNs quiet in minima and maxima, and like kept denormals it leaves `omod` without
    effect there; with `dx10_clamp` a clamped NaN is 0.

    Of instructions that write a byte, the result is that byte. `v_div_scale` and conversions to two
    f32, such as `v_cvt_pk_f32_fp8`, have two results. `certainty(instruction, target)` says how
    well this is known to be a GPU's result. Raises ValueError like `certainty`, and for modifiers
    that the instruction lacks; TypeError for complex numbers and for a wrong number of operands.
    """
    if operands and isinstance(operands[-1], str):
        *rest, target = operands
        operands = tuple(rest)
    row, _, opcode = _row(instruction, target)
    modifiers = _modifiers(instruction, opcode, neg=neg, abs=abs, omod=omod, clamp=clamp)
    mode = _mode(rounding, denormals) | fp16_ovfl << 23 | ieee << 9 | dx10_clamp << 8
    codes, results = _types(opcode)
    flat, shape, are_bits = _operands(instruction, codes, operands)
    asked = instructions.Instruction(0, 0, opcode, (), {}, modifiers)
    found = arrays.of_arrays(_row_of_arrays(row, opcode), asked, flat, mode)
    pairs = zip(found, results, strict=True)
    typed = tuple(_result(result, code, are_bits).reshape(shape) for result, code in pairs)
    return typed[0] if len(typed) == 1 else typed


def _row_of_arrays(row: Row, opcode: Opcode) -> Any:
    """Return the row that computes: an approximate instruction's by bits, others' as they are."""
    if row.compute is not None:
        return arrays.of_bits(row.compute)
    return rows.row_of_floats(opcode.traits.operation, opcode.instruction_set.name)


def _operands(
    instruction: str, codes: Sequence[str], operands: Sequence[Any]
) -> tuple[list[NDArray[Any]], tuple[int, ...], bool]:
    """Return operands as lists of their types, the shape of the arrays that they are, and whether
    bits were given."""
    if len(operands) != len(codes):
        plural = "s" * (len(codes) != 1)
        raise TypeError(f"{instruction} has {len(codes)} operand{plural}, not {len(operands)}")
    given = [_operand(instruction, code, each) for code, each in zip(codes, operands, strict=True)]
    wide = np.broadcast_arrays(*(bits for bits, _ in given))
    flat = [
        np.ascontiguousarray(bits).reshape(-1).view(arrays.dtype_of(code))
        for bits, code in zip(wide, codes, strict=True)
    ]
    return flat, wide[0].shape, any(is_bits for _, is_bits in given)


# MODE's fields, for every format.
_ROUNDINGS: Mapping[Rounding, int] = {"nearest": 0, "up": 1, "down": 2, "zero": 3}
_DENORMALS: Mapping[Denormals, int] = {
    "flush": 0,
    "flush results": 1,
    "flush operands": 2,
    "preserve": 3,
}
_FACTORS = {1: 0, 2: 1, 4: 2, 0.5: 3}


def _mode(rounding: Rounding, denormals: Denormals) -> int:
    return _chosen("rounding", rounding, _ROUNDINGS) * 0b0101 | (
        _chosen("denormals", denormals, _DENORMALS) * 0b0101_0000
    )


def _chosen(what: str, given: Any, choices: Mapping[Any, int]) -> int:
    if given not in choices:
        *first, last = map(repr, choices)
        raise ValueError(f"{what} is {', '.join(first)} or {last}, not {given!r}")
    return choices[given]


def _modifiers(
    instruction: str,
    opcode: Opcode,
    *,
    neg: bool | Sequence[bool],
    abs: bool | Sequence[bool],
    omod: float,
    clamp: bool,
) -> Modifiers:
    """Return an instruction's modifiers. ValueError if it lacks one of them."""
    signs = {"neg": _sign_bits("neg", neg, opcode), "abs": _sign_bits("abs", abs, opcode)}
    given = {**signs, "omod": _chosen("omod", omod, _FACTORS), "clamp": int(clamp)}
    allowed = opcode_rows.modifiers_of(opcode.mnemonic, opcode.instruction_set)
    for name, bits in given.items():
        if bits & ~allowed.get(name, 0):
            raise ValueError(f"{instruction} has no such modifier: {name}")
    return instructions.Modifiers(
        given["neg"], abs=given["abs"], omod=given["omod"], clamp=bool(given["clamp"])
    )


def _sign_bits(what: str, given: bool | Sequence[bool], opcode: Opcode) -> int:
    """Return a modifier of operands as bits, one for each. Of all operands, those are meant that
    can have it."""
    places = arrays.read_places(opcode)
    floats = [opcode.operands[place].type[0] == "f" for place in places]
    each = floats if given is True else [False] * len(floats) if given is False else given
    if len(each) != len(places):
        raise ValueError(f"{what} has {len(each)} values for {len(places)} operands")
    return sum(1 << number for number, is_set in enumerate(each) if is_set)


def _types(opcode: Opcode) -> tuple[list[str], list[str]]:
    """Return the types of an instruction's operands and results."""
    specs = opcode.operands
    first = ["f32", "f32"] if specs[0].type == "v2f32" else [specs[0].type]
    results = first + ["mask" for spec in specs[1:] if not spec.read]
    return [specs[place].type for place in arrays.read_places(opcode)], results


def _natural(code: str) -> np.dtype[Any]:
    """Return the dtype in which users have numbers of a type of the ISA."""
    if code == "mask":
        return np.dtype(bool)
    if code[0] in "fi":
        return np.dtype(f"{code[0]}{int(code[1:]) // 8}")
    return np.dtype(f"u{2 if code in ('b16', 'u16') else 8 if code[1:] == '64' else 4}")


def _operand(instruction: str, code: str, array: Any) -> tuple[NDArray[Any], bool]:
    """Return the bits of an operand, and whether these are what was given."""
    natural, given = _natural(code), np.asarray(array)
    if given.dtype.kind == "c":
        raise TypeError(f"{instruction} has real operands, but an array is {given.dtype}")
    is_same = given.dtype.kind == "u" and given.dtype.itemsize == natural.itemsize
    is_bits = code[0] == "f" and is_same
    bits = natural if code == "mask" else np.dtype(f"u{natural.itemsize}")
    numbers = np.asarray(given.astype(bits if is_bits else natural), order="C")
    return numbers.view(bits), is_bits


def _result(found: NDArray[Any], code: str, are_bits: bool) -> NDArray[Any]:
    natural = _natural(code)
    if code == "mask":
        return found
    bits = np.dtype(f"u{natural.itemsize}")
    # Halves of registers may count as whole ones.
    raw = np.ascontiguousarray(found).view(f"u{found.itemsize}").astype(bits)
    return raw.view(bits if are_bits else natural)


def _row(instruction: str, target: str | None) -> tuple[Row, Target, Opcode]:
    """Return the row of an instruction, the processor, and the opcode."""
    processor = read_target(target or DEFAULT_TARGET)
    row, opcode = ROWS.get(instruction), _opcode(instruction, processor)
    if row is not None and row.compute is not None and opcode is not None:
        return row, processor, opcode
    if opcode is not None:
        return ROWS[opcode.traits.operation], processor, opcode
    near = get_close_matches(instruction.lower(), _names(processor), 3)
    remedy = f"did you mean {', '.join(near)}?" if near else "such as v_log_f32"
    raise ValueError(
        f"{instruction!r} is not an instruction of {processor.name} that has a reference: {remedy}"
    )


def _instruction_set(processor: Target) -> InstructionSet | None:
    """Return the instructions of a processor; of gfx1250, which is not decoded, gfx1201's."""
    decoded = instruction_set.instruction_set_of(processor.name)
    return decoded or (instruction_set.GFX12 if processor.isa >= (12, 0, 0) else None)


def _opcode(mnemonic: str, processor: Target) -> Opcode | None:
    """Return the opcode of an instruction that has a reference. That of `v_tanh`, which is not
    decoded, is another approximate instruction's."""
    sets, row = _instruction_set(processor), ROWS.get(mnemonic)
    if sets is None or (row is not None and processor.isa < row.since):
        return None
    try:
        opcode = opcode_rows.opcode_named(mnemonic.replace("v_tanh", "v_exp"), sets)
    except KeyError:
        return None
    if row is None or row.compute is None:
        row = ROWS.get(opcode.traits.operation)
        # Other names of approximate instructions are other instructions. Halves of two instructions
        # at once are those instructions.
        if row is None or row.compute is not None or opcode.encoding.startswith("VOPD"):
            return None
    return opcode


def _names(processor: Target) -> list[str]:
    """Return the instructions of a processor that have a reference."""
    sets = _instruction_set(processor)
    names = {*ROWS, *(() if sets is None else opcode_rows.mnemonics(sets))}
    return [name for name in sorted(names) if _opcode(name, processor) is not None]
