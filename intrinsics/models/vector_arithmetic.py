"""What instructions of the vector unit return, and how well that is known: one row for each.

The approximate instructions follow the rules of `isa.approximations`, the others the expressions of
`isa.floats`; the emulator follows both. A reference is for rounding to nearest and without
modifiers: subnormal numbers are numbers, and NaNs become quiet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from amdjit.intrinsics.models.certainty import Certainty, Known
from amdjit.late import late
from amdjit.target import DEFAULT_TARGET, Target, read_target

if TYPE_CHECKING:
    from amdjit.isa import approximations, instruction_set
    from amdjit.isa import rows as opcode_rows
    from amdjit.isa.floats import arrays, rows
    from amdjit.isa.instruction import Opcode
    from amdjit.isa.instruction_set import InstructionSet
else:
    approximations = late("amdjit.isa.approximations")
    instruction_set = late("amdjit.isa.instruction_set")
    opcode_rows = late("amdjit.isa.rows")
    arrays, rows = late("amdjit.isa.floats.arrays"), late("amdjit.isa.floats.rows")

__all__ = ["ROWS", "certainty", "known", "known_rows", "reference"]


@dataclass(frozen=True, slots=True)
class Row:
    """An instruction of which something is known."""

    captured: Mapping[str, Known]
    """What is known, by the processor whose results are published."""
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


def _double(name: str, bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    (found,) = arrays.of_arrays(rows.expression_of(name), ["f64"], [bits.view(np.float64)])
    return found.view(np.uint64)


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
        compute = partial(_double, f"v_{name}_f64")
        yield f"v_{name}_f64", Row({}, _DOUBLES, "f64", compute)
    for known, names in _EXACT:
        # What nobody captured is not better known of gfx1201 than of others.
        is_captured = known.open != _ELSEWHERE.open
        row = Row({"gfx1201": known}, _ELSEWHERE) if is_captured else Row({}, known)
        yield from ((name, row) for name in names.split())


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
        "v_cvt_pk_norm_i16_f32 v_cvt_pk_norm_u16_f32 v_cvt_f32_fp8 v_cvt_f32_bf8 v_fract_f64 "
        "v_frexp_mant_f64 v_frexp_exp_i16_f16 v_frexp_exp_i32_f32 v_frexp_exp_i32_f64 "
        "v_ldexp_f16 v_fma_f64 "
        + _each("f16 f32 f64", "add mul min_num max_num minimum maximum")
        + _each(
            "f16 f32",
            "sub fma min3_num max3_num minimum3 maximum3 minmax_num maxmin_num minimummaximum "
            "maximumminimum",
        )
        + "v_med3_num_f32",
    ),
    (
        replace(_ELSEWHERE, source="the rule of `v_ldexp_f16`"),
        "v_ldexp_f32 v_ldexp_f64",
    ),
    (
        _DOCUMENTED,
        "v_cvt_off_f32_i4 v_cvt_pk_i16_i32 v_cvt_pk_u16_u32 v_trunc_f64 v_ceil_f64 v_rndne_f64 "
        "v_floor_f64 v_min_f64 v_max_f64 "
        + _each("f16 f32", "min max min3 max3 med3 minmax maxmin"),
    ),
)

# Conversions of 8 bits, which are of other formats on gfx942.
_EIGHTHS = frozenset(
    f"v_cvt_{form}"
    for kind in ("fp8", "bf8")
    for form in (f"f32_{kind}", f"pk_{kind}_f32", f"sr_{kind}_f32")
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
    instruction: str, *operands: Any, target: str | None = None
) -> NDArray[Any] | tuple[NDArray[Any], ...]:
    """Return what an instruction returns for each element of its operands.

    operands: in the order of AMD's assembler, without the old value of the result, as arrays that
    are broadcast together, of numbers, which are converted to the operand's type. An operand of
    floats may be given as bits, unsigned integers of its width; the result is bits, too, then.
    target: the processor, which may also be the last operand.

    MODE is taken to round to nearest and to keep subnormal numbers; NaNs become quiet. Of
    instructions that write a byte, the result is that byte. `v_div_scale` has two results.
    `certainty(instruction, target)` says how well this is known to be a GPU's result. Raises
    ValueError like `certainty`, and TypeError for complex numbers and for a wrong number of
    operands.
    """
    if operands and isinstance(operands[-1], str):
        *rest, target = operands
        operands = tuple(rest)
    row, _, opcode = _row(instruction, target)
    codes, results = _types(row, opcode)
    if len(operands) != len(codes):
        plural = "s" * (len(codes) != 1)
        raise TypeError(f"{instruction} has {len(codes)} operand{plural}, not {len(operands)}")
    given = [_operand(instruction, code, each) for code, each in zip(codes, operands, strict=True)]
    are_bits = any(is_bits for _, is_bits in given)
    wide = np.broadcast_arrays(*(bits for bits, _ in given))
    flat = [np.ascontiguousarray(bits).reshape(-1) for bits in wide]
    if opcode is None:
        assert row.compute is not None
        found: tuple[NDArray[Any], ...] = (row.compute(flat[0]),)
    else:
        floats = [bits.view(arrays.dtype_of(code)) for bits, code in zip(flat, codes, strict=True)]
        found = arrays.of_arrays(rows.expression_of(opcode.traits.operation), codes, floats)
    typed = tuple(
        _result(result, code, are_bits).reshape(wide[0].shape)
        for result, code in zip(found, results, strict=True)
    )
    return typed[0] if len(typed) == 1 else typed


def _types(row: Row, opcode: Opcode | None) -> tuple[list[str], list[str]]:
    """Return the types of an instruction's operands and results."""
    if opcode is None:
        return [row.kind], [row.kind]
    specs = opcode.operands
    results = [specs[0].type] + ["mask" for spec in specs[1:] if not spec.read]
    return [spec.type for spec in specs[1:] if spec.read], results


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
    return np.ascontiguousarray(found).view(bits).view(bits if are_bits else natural)


def _row(instruction: str, target: str | None) -> tuple[Row, Target, Opcode | None]:
    """Return the row of an instruction, the processor, and the opcode of an exact instruction."""
    processor = read_target(target or DEFAULT_TARGET)
    row = ROWS.get(instruction)
    if row is not None and row.compute is not None and processor.isa >= row.since:
        return row, processor, None
    opcode = _opcode(instruction, processor)
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
    sets = _instruction_set(processor)
    if sets is None or (mnemonic in _EIGHTHS and processor.isa[:2] == (9, 4)):
        return None
    try:
        opcode = opcode_rows.opcode_named(mnemonic, sets)
    except KeyError:
        return None
    row = ROWS.get(opcode.traits.operation)
    # Halves of two instructions at once are those instructions.
    is_other = row is None or row.compute is not None or opcode.encoding.startswith("VOPD")
    return None if is_other else opcode


def _names(processor: Target) -> list[str]:
    """Return the instructions of a processor that have a reference."""
    sets = _instruction_set(processor)
    approximate = [
        name for name, row in ROWS.items() if row.compute is not None and processor.isa >= row.since
    ]
    others = () if sets is None else opcode_rows.mnemonics(sets)
    return approximate + [name for name in others if _opcode(name, processor) is not None]
