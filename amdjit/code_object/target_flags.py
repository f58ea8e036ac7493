"""The target of a code object: the processor and settings of the ELF header, as of version 4.

LLVM AMDGPU guide, "ELF Header": EF_AMDGPU_MACH, EF_AMDGPU_FEATURE_XNACK_V4 and
EF_AMDGPU_FEATURE_SRAMECC_V4; ELFABIVERSION_AMDGPU_HSA_V3 for the scheme before.
"""

from __future__ import annotations

from amdjit.code_object.bytes_reader import MalformedCodeObject
from amdjit.code_object.elf import ElfFile
from amdjit.target import TARGETS, Target, with_settings

__all__ = ["check_metadata_target", "flags_of", "target_of_flags"]

_MACHINE_MASK = 0xFF  # EF_AMDGPU_MACH
_VERSION_AT = 24  # EF_AMDGPU_GENERIC_VERSION, of code objects of version 6 for generic processors
# The lowest bit of each feature's field of two: 0 not supported, 1 any, 2 off, 3 on.
_FIELDS = {"xnack": 8, "sramecc": 10}
_ANY, _OFF, _ON = 1, 2, 3
# Version 3 has a bit for each, which says that it is on; versions of the ELF's ABI count from 0.
_BITS_OF_VERSION_3 = {"xnack": 0x100, "sramecc": 0x200}
_ABI_OF_VERSION_4 = 2


def target_of_flags(elf: ElfFile) -> Target:
    """Return the target that the header's flags name; MalformedCodeObject for an unknown processor,
    or settings that it does not have."""
    machine = elf.flags & _MACHINE_MASK
    row = next((target for target in TARGETS if target.elf_machine_flags == machine), None)
    if row is None:
        known = ", ".join(target.name for target in TARGETS)
        raise MalformedCodeObject(
            f"the code object is for an unknown processor (EF_AMDGPU_MACH {machine:#x}); amdjit "
            f"knows {known}"
        )
    version = elf.flags >> _VERSION_AT
    if version < row.generic_version:
        raise MalformedCodeObject(
            f"the code object is for {row.name} in version {version} (flags {elf.flags:#x}), and "
            f"the versions of that begin with {row.generic_version}"
        )
    settings = {}
    for feature in _FIELDS:
        is_on = _setting(elf, feature)
        if is_on is not None and feature in row.id_features:
            settings[feature] = is_on
        elif is_on is not None and elf.abi_version >= _ABI_OF_VERSION_4:
            raise MalformedCodeObject(
                f"the code object is for {row.name} with {feature}{'-+'[is_on]} (flags "
                f"{elf.flags:#x}), and {row.name} has no such setting"
            )
    return with_settings(row, settings)


def _setting(elf: ElfFile, feature: str) -> bool | None:
    if elf.abi_version < _ABI_OF_VERSION_4:
        return bool(elf.flags & _BITS_OF_VERSION_3[feature])
    value = elf.flags >> _FIELDS[feature] & 3
    return {_OFF: False, _ON: True}.get(value)


def flags_of(target: Target) -> int:
    """Return the flags of the ELF header for a target."""
    chosen = dict(target.settings)
    flags = target.elf_machine_flags | target.generic_version << _VERSION_AT
    for feature in target.id_features:
        value = _ANY if feature not in chosen else _ON if chosen[feature] else _OFF
        flags |= value << _FIELDS[feature]
    return flags


def check_metadata_target(named: str | None, target: Target) -> None:
    """MalformedCodeObject if the metadata's `amdhsa.target` names another target than the header.

    named: None where the metadata name none, as those of version 3 do.
    """
    # Compilers spell the triple before the target id in several ways: `amdgcn-amd-amdhsa--`,
    # `amdgcn-amd-amdhsa-unknown-`, `amdgpu12.01-amd-amdhsa-unknown-`.
    if named is not None and named.split("-", 4)[-1] != target.id:
        raise MalformedCodeObject(
            f"the code object's header is for {target}, and its metadata for {named}"
        )
