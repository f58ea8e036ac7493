"""The table of clang's `__builtin_amdgcn_*`: one row per builtin, in amdgcn_builtins.tsv beside
this file.

A row says on which processors and in which wave sizes a builtin exists, and which instruction it
becomes. It also gives the types and LLVM's call, unless a module here declares the builtin with a
reference model: `@builtin(...)`.

signature: `f32 f32 flag 0..7 -> f32`. `flag` and ranges are constants of the instruction;
`*global`, `*lds`, `*generic`, `*constant` and `*buffer` are pointers; `order` and `scope` are those
of atomic operations. operands: LLVM's, where they are not simply the arguments: positions,
arguments read as another type (`1:i16`), constants.

Sources: clang 22's BuiltinsAMDGPU, each compiled for each processor; LLVM AMDGPU guide, "LLVM IR
Intrinsics".
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from amdjit.declarations import As, Emit, Intrinsic, LlvmCall, Lowering, Parameter, intrinsic
from amdjit.intrinsics.builtins.irregular import EMITTERS, emit_atomic
from amdjit.intrinsics.models.builtins import model_of
from amdjit.target import TARGETS, with_builtins_of
from amdjit.types import (
    SCALARS,
    VOID,
    AddressSpace,
    Choice,
    Immediate,
    Pointer,
    PointerPattern,
    Tuple,
    Type,
    Vector,
    boolean,
    u8,
)

_SCALARS: Mapping[str, Type] = MappingProxyType({scalar.name: scalar for scalar in SCALARS})
_ANY_MEMORY = (AddressSpace.GLOBAL, AddressSpace.LDS, AddressSpace.PRIVATE, AddressSpace.CONSTANT)
_MEMORIES: Mapping[str, tuple[AddressSpace, ...]] = MappingProxyType(
    {
        "*global": (AddressSpace.GLOBAL,),
        "*lds": (AddressSpace.LDS,),
        "*constant": (AddressSpace.CONSTANT, AddressSpace.GLOBAL),
        "*buffer": (AddressSpace.BUFFER,),
        "*generic": _ANY_MEMORY,
    }
)
_POINTER_TYPES: Mapping[str, Pointer] = MappingProxyType(
    {
        "*global": Pointer(u8, AddressSpace.GLOBAL),
        "*lds": Pointer(u8, AddressSpace.LDS),
        "*constant": Pointer(u8, AddressSpace.CONSTANT),
        "*buffer": Pointer(u8, AddressSpace.BUFFER),
        "*generic": Pointer(u8, AddressSpace.GENERIC),
    }
)


# Processors that have the builtins of another one are not named in the table.
_NAMED = {target.name: target.like or target.name for target in TARGETS}
_NOT_GFX950 = tuple(name for name, known in _NAMED.items() if known != "gfx950")
_BEFORE_GFX12 = tuple(target.name for target in TARGETS if target.isa < (12, 0, 0))


def _dpp_rows() -> Iterator[int]:
    """Yield the controls that shift and rotate rows by 1 to 15 (RDNA4 ISA, "DPP"); row_xmask exists
    from gfx10 on."""
    for base in (0x100, 0x110, 0x120):
        yield from range(base + 1, base + 16)


_CHOICES: Mapping[str, Choice | Immediate] = MappingProxyType(
    {
        "flag": Immediate(0, 1),
        "dpp": Immediate(
            0, 0x16F, (*range(0x100), *_dpp_rows(), 0x140, 0x141, *range(0x150, 0x160))
        ),
        # C's __ATOMIC_ACQUIRE, __ATOMIC_RELEASE, __ATOMIC_ACQ_REL, __ATOMIC_SEQ_CST; 0 is
        # __ATOMIC_RELAXED.
        "order": Immediate(0, 5, only=(0, 2, 3, 4, 5)),
        "fence_order": Immediate(2, 5),
        # Before gfx12 these are the bits GLC, SLC, DLC and SCC. The bit between them is for
        # swizzling, which images lack.
        "image_policy": Immediate(0, 31, elsewhere=((_BEFORE_GFX12, (*range(8), *range(16, 24))),)),
        # Of products of f64: bits that negate A, B and C, which gfx90a has not.
        "negation": Immediate(0, 7, elsewhere=((("gfx90a",), (0,)),)),
        # Bytes that a lane loads into LDS.
        "lds_bytes": Immediate(1, 16, (1, 2, 4, 12, 16), elsewhere=((_NOT_GFX950, (1, 2, 4)),)),
        "scope": Choice("", "agent", "workgroup", "wavefront", "singlethread"),
    }
)


@dataclass(frozen=True, slots=True)
class Row:
    """One builtin."""

    name: str
    group: str
    targets: tuple[str, ...]
    wave_sizes: tuple[int, ...]
    signature: str
    llvm: str
    operands: str
    isa: str
    """Its mnemonics joined by `+`, or `mnemonic=targets` for each mnemonic where they differ by
    target."""

    def mnemonics(self, target: str) -> tuple[str, ...]:
        """Return the instructions that the builtin becomes on a processor; () if it needs none of
        its own."""
        named = _NAMED[target]
        for word in self.isa.split():
            names, _, targets = word.partition("=")
            if not targets or not {target, named}.isdisjoint(targets.split(",")):
                return tuple(names.split("+"))
        return ()


@cache
def _lines() -> Mapping[str, str]:
    lines = Path(__file__).with_name("amdgcn_builtins.tsv").read_text(encoding="utf-8").splitlines()
    return {line[: line.index("\t")]: line for line in lines[2:]}


def row_of(name: str) -> Row:
    """Return one builtin's row. Raises KeyError if clang has no such builtin."""
    cells = _lines()[name].split("\t")
    name, group, targets, sizes, signature, llvm, operands, isa = (*cells, *[""] * (8 - len(cells)))
    return Row(
        name,
        group,
        targets=with_builtins_of(*targets.split(), builtin=name),
        wave_sizes=tuple(map(int, sizes.split())),
        signature=signature,
        llvm=llvm,
        operands=operands,
        isa=isa,
    )


def is_builtin(name: str) -> bool:
    """Whether clang has a builtin of this name that LLVM can select."""
    return name in _lines()


@cache
def rows() -> Mapping[str, Row]:
    """Return the table by the builtins' names."""
    return MappingProxyType({name: row_of(name) for name in _lines()})


def builtin(lowering: Lowering) -> Callable[[Callable[..., Any]], Intrinsic]:
    """Declare a builtin by a function of the same name, which gives types and reference model; its
    row gives the rest."""

    def declare(function: Callable[..., Any]) -> Intrinsic:
        row = row_of(function.__name__)
        own = row.mnemonics(row.targets[-1] if "gfx1201" not in row.targets else "gfx1201")
        declaration = intrinsic(
            lowering,
            isa=own[0] if own else None,
            targets=row.targets,
            wave_sizes=row.wave_sizes,
            alternative=partial(nearest, row.name),
        )
        return declaration(function)

    return declare


def python_name(name: str) -> str:
    """Return a builtin's name in Python, with an underscore where clang's name is a keyword
    (`class_`)."""
    return f"{name}_" if keyword.iskeyword(name) else name


@cache
def from_table(name: str) -> Intrinsic:
    """Return the intrinsic that a row declares in full. Raises KeyError if there is none."""
    row = row_of(name)
    if not row.signature:
        raise KeyError(name)
    *words, result = row.signature.replace("->", "").split()
    names = _PRODUCT_PARAMETERS.get(
        "scale" if name.startswith("mfma_scale") else row.group,
        tuple(f"a{number}" for number in range(len(words))),
    )
    parameters = tuple(map(_parameter, names, words))
    own = row.mnemonics("gfx1201" if "gfx1201" in row.targets else row.targets[-1])
    return Intrinsic(
        name=name,
        parameters=parameters,
        result=_type(result),
        lowering=_lowering(row, parameters),
        reference=model_of(name),
        wave_sizes=row.wave_sizes,
        isa=own[0] if own else None,
        targets=row.targets,
        alternative=partial(nearest, name),
        documentation=f"clang's `__builtin_amdgcn_{name}`"
        + (f" (`{'`, `'.join(own)}`)." if own else "."),
    )


def nearest(name: str, target: str) -> str:
    """Return what replaces a builtin that a processor lacks: the closest builtin, or a phrase; ""
    if nothing does."""
    group = rows()[name].group
    family = _FAMILIES.get(group, (group,))
    there = [row.name for row in rows().values() if target in row.targets and row.group in family]
    if group in _FAMILIES:
        return _product_instead(name, target, there)
    alike = [other for other in there if _kind(other) == _kind(name)]
    likeness = {other: SequenceMatcher(None, name, other).ratio() for other in alike}
    best = max(likeness, key=lambda other: likeness[other], default=None)
    if best is not None and likeness[best] >= _ALIKE:
        return f"amdgcn.{best}"
    return _REMEDIES.get(rows()[name].group, "")


def _product_instead(name: str, target: str, there: list[str]) -> str:
    same = nearest_product(name, there)
    if same is not None:
        return f"amdgcn.{same}"
    if rows()[name].group in ("swmmac", "smfmac"):
        return "a dense product: expand A by its index first"
    if not there:
        return (
            f"dot products, such as amdgcn.fdot2 and amdgcn.sdot4: {target} has no matrix "
            "instructions"
        )
    family = "wmma" if any(other.startswith("wmma") for other in there) else "mfma"
    return (
        f"another type in amdgcn.{family}_*: no matrix instruction of {target} multiplies "
        f"{multiplied(name)}"
    )


def _kind(name: str) -> tuple[str, ...]:
    """Return what a builtin's name says about its result and operation: a sum cannot replace a
    maximum."""
    result = re.search(r"_(b?f|iu?|u)(\d+)", name)
    operation = re.search(r"fadd|fmin|fmax|fdot|dot\d", name)
    return tuple("" if found is None else found[0] for found in (result, operation))


_ALIKE = 0.7
# Names of the parameters of matrix instructions: their modifiers by the ISA's names.
_PRODUCT_PARAMETERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "mfma": ("a", "b", "c", "cbsz", "abid", "blgp"),
        "smfmac": ("a", "b", "c", "index", "cbsz", "abid"),
        "scale": ("a", "b", "c", "format_a", "format_b", "byte_a", "scale_a", "byte_b", "scale_b"),
    }
)
# Groups of builtins that can replace one another.
_FAMILIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "mfma": ("mfma", "wmma"),
        "wmma": ("wmma", "mfma"),
        "smfmac": ("smfmac", "swmmac"),
        "swmmac": ("swmmac", "smfmac"),
    }
)
_REMEDIES: Mapping[str, str] = MappingProxyType(
    {
        "fp8": "amdjit.fp8(x) and amdjit.bf8(x), which convert in software where there is no "
        "instruction",
        "image": "arrays: this processor has no image instructions",
        "bvh/ray": "device functions: this processor does not intersect rays in hardware",
        "load_tr": "loads and amdgcn.ds_bpermute, or an exchange through LDS",
        "lds_dma": "a load and a store to LDS",
        "atomics": "amdjit.atomic, which becomes a loop where there is no instruction",
        "prefetch": "nothing: a prefetch only warms the cache",
    }
)


def _parameter(name: str, word: str) -> Parameter:
    mark = _CHOICES.get(word) or _immediate(word)
    if mark is not None:
        return Parameter(name, None, mark, word == "flag")
    if word in _MEMORIES:
        return Parameter(name, PointerPattern(None, _MEMORIES[word]))
    return Parameter(name, _type(word))


def _immediate(word: str) -> Immediate | None:
    if word.startswith("{"):
        values = tuple(map(int, word[1:-1].split(",")))
        return Immediate(min(values), max(values), values)
    bounds = re.fullmatch(r"(-?\d+)\.\.(\d+)", word)
    return Immediate(int(bounds[1]), int(bounds[2])) if bounds is not None else None


def _type(word: str) -> Type:
    if word == "void":
        return VOID
    if word.startswith("("):
        return Tuple(tuple(map(_type, word[1:-1].split(","))))
    if word in _POINTER_TYPES:
        return _POINTER_TYPES[word]
    name, _, length = word.partition("x")
    scalar = boolean if word == "boolean" else _SCALARS[name]
    return Vector(scalar, int(length)) if length else scalar  # type: ignore[arg-type]


def _lowering(row: Row, parameters: tuple[Parameter, ...]) -> Lowering:
    if row.llvm == "emit":
        return Emit(EMITTERS[row.name])
    if row.llvm.startswith("atomicrmw "):
        return Emit(partial(emit_atomic, operation=row.llvm.removeprefix("atomicrmw ")))
    if not row.operands:
        return LlvmCall(row.llvm, tuple(_whole(parameter) for parameter in parameters))
    *words, last = row.operands.split()
    result = _type(last[1:]) if last.startswith(">") else None
    words = words if result is not None else [*words, last]
    return LlvmCall(row.llvm, tuple(_operand(word) for word in words), result)


def _whole(parameter: Parameter) -> str | As:
    """Return an argument as LLVM's operand; where any memory is allowed, as a generic pointer."""
    is_generic = (
        isinstance(parameter.type, PointerPattern) and parameter.type.address_spaces == _ANY_MEMORY
    )
    return As(parameter.name, _POINTER_TYPES["*generic"]) if is_generic else parameter.name


def _operand(word: str) -> str | As | bool | int:
    if word in ("true", "false"):
        return word == "true"
    place, _, cast = word.partition(":")
    return As(f"a{place}", _type(cast)) if cast else f"a{place}"


# Which matrix instruction of another processor multiplies the same types, by clang's names.

_NAME = re.compile(
    r"(?:wmma|mfma|swmmac|smfmac)(?:_scale(?:16)?)?_(?P<result>[a-z0-9]+?)_(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)_?"
    r"(?P<types>.*?)(?:_1k|_tied)?(?:_w(?P<wave>32|64))?(?:_gfx12)?"
)


@dataclass(frozen=True, slots=True)
class _Product:
    result: str
    size: tuple[int, int]
    k: int
    types: str
    wave: str | None


def _product(name: str) -> _Product | None:
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    types = re.sub(r"iu(?=\d)", "i", found["types"])
    return _Product(
        found["result"], (int(found["m"]), int(found["n"])), int(found["k"]), types, found["wave"]
    )


def multiplied(name: str) -> str:
    """Return the types that a matrix instruction multiplies, as its name spells them: f16, fp8_bf8,
    i8."""
    product = _product(name)
    return product.types if product is not None else ""


def nearest_product(name: str, names: Iterable[str]) -> str | None:
    """Return the candidate that multiplies the same types and is closest in result, size and
    wave."""
    wanted = _product(name)
    if wanted is None:
        return None

    def unlikeness(other: str) -> tuple[bool, bool, bool, bool, float, str]:
        product = _product(other)
        assert product is not None
        further = abs(math.log2(product.k / wanted.k))
        return (
            product.result != wanted.result,
            product.size != wanted.size,
            None not in (product.wave, wanted.wave) and product.wave != wanted.wave,
            ("_tied" in name) != ("_tied" in other),
            further,
            other,
        )

    return min(
        (other for other in names if multiplied(other) == wanted.types),
        key=unlikeness,
        default=None,
    )
