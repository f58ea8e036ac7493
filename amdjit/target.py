"""The table of processors, and target ids. A new processor is a new row.

A target id is a processor with settings of XNACK and SRAM-ECC, such as `gfx90a:sramecc+:xnack-`.
Code without a setting runs where the feature is on and where it is off. Names, order and the rule
of what runs where: LLVM AMDGPU guide, "Target ID".
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from enum import Enum

from amdjit.late_methods import dataclass

TRIPLE = "amdgcn-amd-amdhsa"
"""LLVM's name of the platform: every processor here under HSA."""


class Feature(Enum):
    """What an intrinsic may need of a processor."""

    WAVE32 = "wave32"
    WAVE64 = "wave64"
    WMMA_GFX11 = "gfx11 WMMA"
    WMMA_GFX12 = "gfx12 WMMA"
    MFMA = "MFMA"
    PACKED_FP16 = "packed f16"
    GLOBAL_F32_ATOMIC_ADD = "global f32 atomic add"
    SPLIT_BARRIER = "split barrier"
    OCP_FLOATS = "OCP fp8 and bf8"


@dataclass(frozen=True, slots=True)
class Target:
    """One AMDGPU processor, or one target id of it."""

    name: str
    """LLVM's name, as for -mcpu."""
    isa: tuple[int, int, int]
    """(major, minor, stepping)."""
    wave_sizes: tuple[int, ...]
    """Lanes of a wave, the default first."""
    features: frozenset[Feature]
    """What intrinsics may need."""
    elf_machine_flags: int
    """EF_AMDGPU_MACH of the ELF header (LLVM AMDGPU guide, "ELF Header")."""
    vgpr_file: int
    """32-bit registers that a SIMD has for one lane."""
    vgpr_granule: int
    """VGPRs are allocated in this unit in wave32, in half of it in wave64."""
    vgpr_limit: int
    """The most VGPRs of a wave."""
    max_waves: int
    """Wave slots of a SIMD."""
    lds_per_workgroup: int
    """Bytes that a workgroup may have."""
    lds_per_workgroup_processor: int
    """Bytes of the LDS itself."""
    lds_granule: int
    """The unit of allocation, in bytes."""
    simds_per_workgroup_processor: int
    """SIMDs that share one LDS, in workgroup-processor mode if the processor has it."""
    max_workgroup_size: int = 1024
    """work-items."""
    has_workgroup_processors: bool = True
    """Whether a workgroup may span two compute units that share their LDS."""
    is_emulated: bool = False
    """Whether the emulator runs its machine code."""
    multiprocessors: int = 0
    """Workgroup processors of the largest product, or compute units where there are none; 0 where
    only a GPU has to know."""
    like: str | None = None
    """The processor that has the same builtins of clang; None if the table of builtins names this
    one."""
    id_features: tuple[str, ...] = ()
    """The settings that a target id may have, in alphabetical order (LLVM AMDGPU guide, "Target
    ID"; the processors are in "Processors")."""
    lacks: tuple[str, ...] = ()
    """Parts of the names of those builtins that it lacks, though `like` has them."""
    members: tuple[str, ...] = ()
    """The processors that run the code of a generic one; () for a real processor."""
    generic_version: int = 0
    """The version of a generic processor's code (LLVM AMDGPU guide, "Generic Processor
    Versioning")."""
    settings: tuple[tuple[str, bool], ...] = ()
    """The settings of this target id, in the order of `id_features`: code for a setting runs only
    on devices that have it."""

    @property
    def id(self) -> str:
        """The canonical target id: the name, and the settings, as in `gfx90a:sramecc+:xnack-`."""
        return self.name + "".join(f":{name}{'-+'[is_on]}" for name, is_on in self.settings)

    @property
    def processors(self) -> tuple[str, ...]:
        """The processors that run its code: itself, or the members of a generic processor."""
        return self.members or (self.name,)

    @property
    def wave_size(self) -> int:
        """Lanes of a wave unless the kernel's options say otherwise."""
        return self.wave_sizes[0]

    @property
    def has_wave_wide_permutes(self) -> bool:
        """Whether DS_PERMUTE and DS_BPERMUTE reach all lanes of a wave64, and not only those of a
        half (RDNA 3 ISA, DS_BPERMUTE_B32; RDNA 4 ISA, the same)."""
        return self.isa[0] not in (10, 11)

    def __str__(self) -> str:
        return self.id

    def __repr__(self) -> str:
        return f"<target {self.id}>"


_RDNA = frozenset({Feature.WAVE32, Feature.WAVE64, Feature.PACKED_FP16})
_GFX11 = _RDNA | {Feature.WMMA_GFX11, Feature.GLOBAL_F32_ATOMIC_ADD}
_GFX12 = _RDNA | {
    Feature.WMMA_GFX12,
    Feature.GLOBAL_F32_ATOMIC_ADD,
    Feature.SPLIT_BARRIER,
    Feature.OCP_FLOATS,
}
_CDNA = frozenset(
    {Feature.WAVE64, Feature.MFMA, Feature.PACKED_FP16, Feature.GLOBAL_F32_ATOMIC_ADD}
)


def _cdna(
    name: str,
    isa: tuple[int, int, int],
    machine: int,
    lds: int,
    lds_granule: int,
    multiprocessors: int,
    features: frozenset[Feature] = _CDNA,
) -> Target:
    # A compute unit has 4 SIMDs and an LDS of its own. A wave64 has 512 registers, VGPRs and AGPRs
    # together.
    return Target(
        name=name,
        isa=isa,
        wave_sizes=(64,),
        features=features,
        elf_machine_flags=machine,
        vgpr_file=1024,
        vgpr_granule=16,
        vgpr_limit=512,
        max_waves=8,
        lds_per_workgroup=lds,
        lds_per_workgroup_processor=lds,
        lds_granule=lds_granule,
        simds_per_workgroup_processor=4,
        has_workgroup_processors=False,
        is_emulated=True,
        multiprocessors=multiprocessors,
        id_features=("sramecc", "xnack"),
    )


# MI100: VGPRs and AGPRs are two files of 256 registers each, and a wave gets as many of one as of
# the other; waves and granules are those of gfx9. f32 is added in memory only without a result.
_GFX908 = Target(
    name="gfx908",
    isa=(9, 0, 8),
    wave_sizes=(64,),
    features=_CDNA - {Feature.GLOBAL_F32_ATOMIC_ADD},
    elf_machine_flags=0x30,
    vgpr_file=512,
    vgpr_granule=8,
    vgpr_limit=256,
    max_waves=10,
    lds_per_workgroup=64 * 1024,
    lds_per_workgroup_processor=64 * 1024,
    lds_granule=512,
    simds_per_workgroup_processor=4,
    has_workgroup_processors=False,
    is_emulated=True,
    multiprocessors=120,
    id_features=("sramecc", "xnack"),
)

# Vega 20 has the registers, the LDS and the waves of gfx908, without accumulation VGPRs and what
# needs them.
_GFX906 = dataclasses.replace(
    _GFX908,
    name="gfx906",
    isa=(9, 0, 6),
    features=_GFX908.features - {Feature.MFMA},
    elf_machine_flags=0x2F,
    multiprocessors=60,
    like="gfx908",
    lacks=("mfma",),
)


def _rdna(
    name: str,
    isa: tuple[int, int, int],
    machine: int,
    features: frozenset[Feature],
    vgpr_file: int,
    vgpr_granule: int,
    multiprocessors: int = 0,
    like: str | None = None,
) -> Target:
    return Target(
        name=name,
        isa=isa,
        wave_sizes=(32, 64),
        features=features,
        elf_machine_flags=machine,
        vgpr_file=vgpr_file,
        vgpr_granule=vgpr_granule,
        vgpr_limit=256,
        max_waves=16,
        lds_per_workgroup=64 * 1024,
        lds_per_workgroup_processor=128 * 1024,
        lds_granule=1024,
        simds_per_workgroup_processor=4,
        is_emulated=multiprocessors > 0,
        multiprocessors=multiprocessors,
        like=like,
    )


def _like_gfx1100(
    name: str,
    isa: tuple[int, int, int],
    machine: int,
    vgpr_file: int,
    vgpr_granule: int,
    multiprocessors: int,
) -> Target:
    # clang 22 gives all of gfx11 the same target features, and so the same builtins.
    return _rdna(
        name,
        isa,
        machine=machine,
        features=_GFX11,
        vgpr_file=vgpr_file,
        vgpr_granule=vgpr_granule,
        multiprocessors=multiprocessors,
        like="gfx1100",
    )


def _like(row: Target, name: str, stepping: int, machine: int) -> Target:
    """Return a processor that differs from another in its name and numbers only."""
    return dataclasses.replace(
        row,
        name=name,
        isa=(*row.isa[:2], stepping),
        elf_machine_flags=machine,
        like=row.name,
    )


def _generic(
    row: Target, name: str, machine: int, *members: str, lacks: tuple[str, ...] = ()
) -> Target:
    """Return a generic processor, whose code its members run, by the row of the one that it has
    the builtins and registers of."""
    return dataclasses.replace(
        row,
        name=name,
        elf_machine_flags=machine,
        is_emulated=False,
        multiprocessors=0,
        like=row.like or row.name,
        lacks=lacks,
        members=members,
        generic_version=1,
    )


# AMD's product page of the Instinct MI300X: 304 compute units.
_GFX942 = _cdna(
    "gfx942", (9, 4, 2), machine=0x4C, lds=64 * 1024, lds_granule=512, multiprocessors=304
)
_GFX1030 = _rdna(
    "gfx1030", (10, 3, 0), machine=0x36, features=_RDNA, vgpr_file=1024, vgpr_granule=16
)
# AMD's product page of the graphics named Radeon 780M: 12 compute units.
_GFX1103 = _like_gfx1100("gfx1103", (11, 0, 3), 0x44, 1024, 16, multiprocessors=6)
# AMD's product page of the RX 9060 XT: 32 compute units.
_GFX1200 = _rdna(
    "gfx1200",
    (12, 0, 0),
    machine=0x48,
    features=_GFX12,
    vgpr_file=1536,
    vgpr_granule=24,
    multiprocessors=16,
)
_GFX1250 = Target(
    name="gfx1250",
    isa=(12, 5, 0),
    wave_sizes=(32,),
    features=frozenset(
        {
            Feature.WAVE32,
            Feature.PACKED_FP16,
            Feature.GLOBAL_F32_ATOMIC_ADD,
            Feature.SPLIT_BARRIER,
            Feature.OCP_FLOATS,
        }
    ),
    elf_machine_flags=0x49,
    vgpr_file=1024,
    vgpr_granule=16,
    vgpr_limit=1024,
    max_waves=16,
    lds_per_workgroup=320 * 1024,
    lds_per_workgroup_processor=320 * 1024,
    lds_granule=2048,
    simds_per_workgroup_processor=4,
    has_workgroup_processors=False,
)

# LLVM: GCNSubtarget::getTotalNumVGPRs, AMDGPUBaseInfo's IsaInfo (allocation granules, waves a
# SIMD), GCNProcessors.td; the AMDGPU guide, "ELF Header", for the machine flags, and "Processors"
# for the members of the generic ones.
TARGETS: tuple[Target, ...] = (
    # AMD's product pages of the Instinct MI50 (60 compute units).
    _GFX906,
    _GFX908,
    # AMD's product pages of the Instinct MI100 (120 compute units), MI250X (110 on each of its two
    # devices) and MI355X.
    _cdna("gfx90a", (9, 0, 10), machine=0x3F, lds=64 * 1024, lds_granule=512, multiprocessors=110),
    _GFX942,
    # Its members differ in their 8-bit floats.
    _generic(_GFX942, "gfx9-4-generic", 0x5F, "gfx942", "gfx950", lacks=("fp8", "bf8", "xf32")),
    # gfx942's 8-bit floats are of another kind, FNUZ.
    _cdna(
        "gfx950",
        (9, 5, 0),
        machine=0x4F,
        lds=160 * 1024,
        lds_granule=1280,
        multiprocessors=256,
        features=_CDNA | {Feature.OCP_FLOATS},
    ),
    _GFX1030,
    _like(_GFX1030, "gfx1031", 1, 0x37),
    _like(_GFX1030, "gfx1032", 2, 0x38),
    _like(_GFX1030, "gfx1033", 3, 0x39),
    _like(_GFX1030, "gfx1034", 4, 0x3E),
    _like(_GFX1030, "gfx1035", 5, 0x3D),
    _like(_GFX1030, "gfx1036", 6, 0x45),
    _generic(_GFX1030, "gfx10-3-generic", 0x53, *(f"gfx103{n}" for n in range(7))),
    # AMD's product page of the RX 7900 XTX: 96 compute units.
    _rdna(
        "gfx1100",
        (11, 0, 0),
        machine=0x41,
        features=_GFX11,
        vgpr_file=1536,
        vgpr_granule=24,
        multiprocessors=48,
    ),
    # AMD's product pages of the RX 7800 XT, the RX 7600 XT, and of the graphics named Radeon 890M,
    # 8060S, 860M and 820M: 60, 32, 16, 40, 8 and 2 compute units.
    _like_gfx1100("gfx1101", (11, 0, 1), 0x46, 1536, 24, multiprocessors=30),
    _like_gfx1100("gfx1102", (11, 0, 2), 0x47, 1024, 16, multiprocessors=16),
    _GFX1103,
    _like_gfx1100("gfx1150", (11, 5, 0), 0x43, 1024, 16, multiprocessors=8),
    _like_gfx1100("gfx1151", (11, 5, 1), 0x4A, 1536, 24, multiprocessors=20),
    _like_gfx1100("gfx1152", (11, 5, 2), 0x55, 1024, 16, multiprocessors=4),
    _like_gfx1100("gfx1153", (11, 5, 3), 0x58, 1024, 16, multiprocessors=1),
    # It has the registers of the smallest member. ROCm's device libraries take it for a gfx1103.
    _generic(
        _GFX1103,
        "gfx11-generic",
        0x54,
        *("gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"),
    ),
    _GFX1200,
    # AMD's product page of the RX 9070 XT: 64 compute units.
    _rdna(
        "gfx1201",
        (12, 0, 1),
        machine=0x4E,
        features=_GFX12,
        vgpr_file=1536,
        vgpr_granule=24,
        multiprocessors=32,
    ),
    _generic(_GFX1200, "gfx12-generic", 0x59, "gfx1200", "gfx1201"),
    _GFX1250,
    _like(_GFX1250, "gfx1251", 1, 0x5A),
)
"""Every processor that amdjit compiles for."""

EMULATED: tuple[Target, ...] = tuple(target for target in TARGETS if target.is_emulated)

DEFAULT_TARGET = "gfx1201"


def with_builtins_of(*names: str, builtin: str = "") -> tuple[str, ...]:
    """Return the names of processors and of those like them that have a builtin, in the table's
    order."""
    return tuple(
        target.name
        for target in TARGETS
        if (target.like or target.name) in names
        and not any(part in builtin for part in target.lacks)
    )


def find_target(name: str) -> Target | None:
    """Return the row of a processor, or None.

    name: may be a target id, whose settings are left out; `read_target` reads them.
    """
    base = name.split(":", 1)[0]
    return next((target for target in TARGETS if target.name == base), None)


# LLVM AMDGPU guide, "Processors": major version in decimal, minor version and stepping a
# hexadecimal digit each.
_NAME = re.compile(r"gfx(\d{1,2})([0-9a-f])([0-9a-f])")


def nearest_target(name: str, among: Iterable[Target] = TARGETS) -> Target | None:
    """Return the target whose version is nearest to that in a name; None if it has none.

    Of two that are as near, the first of the table is returned.
    """
    row, match = find_target(name), _NAME.fullmatch(name.split(":", 1)[0])
    if row is not None:
        wanted = _rank(*row.isa)
    elif match is not None:
        wanted = _rank(int(match[1]), int(match[2], 16), int(match[3], 16))
    else:
        return None
    return min(among, key=lambda target: abs(_rank(*target.isa) - wanted), default=None)


def _rank(major: int, minor: int, stepping: int) -> int:
    return major << 8 | minor << 4 | stepping


_SETTING = re.compile(r"([a-z0-9]+)([+-])")


def read_target(text: str) -> Target:
    """Return the target of an id, whose settings may be in any order; ValueError says what is wrong
    with it, and what would be right."""
    name, *parts = text.split(":")
    row = find_target(name)
    if row is None:
        nearest = nearest_target(name)
        hint = "" if nearest is None else f"; the nearest is {nearest}"
        known = ", ".join(each.name for each in TARGETS)
        raise ValueError(f"unknown target {text!r}: amdjit has {known}{hint}")
    settings: dict[str, bool] = {}
    for part in parts:
        found = _SETTING.fullmatch(part)
        if found is None:
            raise ValueError(
                f"{text!r} is no target id: after the processor come settings such as "
                f"{_example(row)}"
            )
        feature, sign = found.groups()
        if feature not in row.id_features:
            raise ValueError(f"{text!r}: {_without(row, feature)}")
        if feature in settings:
            raise ValueError(f"{text!r}: {feature} is set twice; give one of both")
        settings[feature] = sign == "+"
    return with_settings(row, settings)


def with_settings(row: Target, settings: dict[str, bool]) -> Target:
    """Return a processor with settings of its features, in canonical order."""
    ordered = tuple((name, settings[name]) for name in row.id_features if name in settings)
    return dataclasses.replace(row, settings=ordered) if ordered else row


def device_target(architecture: str) -> Target | None:
    """Return the target of a GPU by HIP's name of it, or None for an unknown processor.

    What is not a setting of the processor's in amdjit's table is left out: code cannot ask for it.
    """
    name, *parts = architecture.split(":")
    row = find_target(name)
    if row is None:
        return None
    found = [match for part in parts if (match := _SETTING.fullmatch(part))]
    return with_settings(row, {each[1]: each[2] == "+" for each in found})


def runs_on(code: Target, device: Target) -> bool:
    """Whether a device runs code of a target: of its processor or a generic one that it is a member
    of, with no setting of another value.

    A device without a setting, as emulators are, runs the code of both.
    """
    there = dict(device.settings)
    return device.name in code.processors and all(
        there.get(name, is_on) == is_on for name, is_on in code.settings
    )


def most_specific(codes: Iterable[Target], device: Target) -> Target | None:
    """Return the target of most settings among those that a device runs, before those of generic
    processors: as HIP chooses."""
    found = [code for code in codes if runs_on(code, device)]
    return max(found, key=lambda each: (not each.members, len(each.settings)), default=None)


def emulated_for(code: Target) -> Target | None:
    """Return the target to emulate for code of a target, None if nothing is: itself, or the first
    member that is emulated of a generic processor."""
    rows = (find_target(name) for name in code.processors)
    found = next((row for row in rows if row is not None and row.is_emulated), None)
    return found if found is None else with_settings(found, dict(code.settings))


# The major version of the processors on which LLVM uses halves of registers unless told not to.
_HALVES = 11


def feature_string(target: Target) -> str:
    """Return the settings as LLVM's subtarget features: `+sramecc,-xnack`.

    On gfx11, LLVM 22 drops loads of 16 bits, of which two become one store, where it allocates
    halves of registers. Code for gfx12 does without halves, too.
    """
    settings = [f"{'-+'[is_on]}{name}" for name, is_on in target.settings]
    return ",".join([*settings, "-real-true16"] if target.isa[0] == _HALVES else settings)


def _example(row: Target) -> str:
    """Return a target id of a processor, or the name where there are no settings."""
    if not row.id_features:
        return f"`:xnack+`, which {row.name} has none of: write {row.name}"
    return row.name + "".join(f":{name}+" for name in row.id_features)


def _without(row: Target, feature: str) -> str:
    having = [each.name for each in TARGETS if feature in each.id_features]
    if not having:
        known = sorted({name for each in TARGETS for name in each.id_features})
        return f"a target id has no {feature}; it has {' and '.join(known)}"
    return (
        f"{row.name} has no setting of {feature}: write {_plain(row)}; {', '.join(having)} have one"
    )


def _plain(row: Target) -> str:
    others = [f"{name}+" for name in row.id_features]
    return ":".join([row.name, *others]) if others else row.name
