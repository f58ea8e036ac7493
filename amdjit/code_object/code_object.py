"""A code object as the rest of amdjit uses it: kernels, loadable memory, source lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from types import MappingProxyType

from amdjit.code_object.bytes_reader import MalformedCodeObject
from amdjit.code_object.descriptor import DESCRIPTOR_SIZE, KernelDescriptor, read_descriptor
from amdjit.code_object.elf import (
    ELF_TYPE_SHARED,
    MACHINE_AMDGPU,
    OSABI_AMDGPU_HSA,
    SECTION_SYMBOL_TABLE,
    ElfFile,
    Relocation,
    Segment,
    Symbol,
    read_elf,
)
from amdjit.code_object.line_table import LineTable, read_line_table
from amdjit.code_object.metadata import KernelMetadata, read_metadata
from amdjit.code_object.target_flags import check_metadata_target, target_of_flags
from amdjit.late_methods import dataclass
from amdjit.target import Target

__all__ = ["CodeObject", "Kernel"]

_DESCRIPTOR_BYTES = 64


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel of a code object. Addresses are virtual ones; code_size is in bytes."""

    metadata: KernelMetadata
    descriptor: KernelDescriptor
    descriptor_address: int
    entry_address: int
    code_size: int

    @property
    def name(self) -> str:
        """The name by which the kernel is looked up."""
        return self.metadata.name


@dataclass(frozen=True)
class CodeObject:
    """A linked AMDGPU code object, read from its bytes alone. Two are equal if their bytes are."""

    data: bytes = field(repr=False)
    target: Target = field(compare=False)
    """The processor, with the settings that the code is for."""
    kernels: Mapping[str, Kernel] = field(compare=False, repr=False)
    """The kernels by their names."""
    segments: tuple[Segment, ...] = field(compare=False, repr=False)
    """What a loader puts in memory, by address."""
    symbols: tuple[Symbol, ...] = field(compare=False, repr=False)
    """The full symbol table."""
    dynamic_symbols: tuple[Symbol, ...] = field(compare=False, repr=False)
    """The symbols that a loader sees."""
    relocations: tuple[Relocation, ...] = field(compare=False, repr=False)
    """Places that a loader has to patch, usually none; their symbols are numbers of dynamic
    ones."""
    undefined_symbols: tuple[str, ...] = field(compare=False, repr=False)
    """Names that a loader would have to find elsewhere."""
    printf_formats: tuple[str, ...] = field(compare=False, repr=False)
    """As in the metadata."""
    elf: ElfFile = field(compare=False, repr=False)

    def __repr__(self) -> str:
        return f"<code object for {self.target} with {', '.join(self.kernels) or 'no kernel'}>"

    @staticmethod
    def read(data: bytes) -> CodeObject:
        """Read a linked code object; MalformedCodeObject if it is damaged or for an unknown
        processor."""
        elf = read_elf(bytes(data))
        target = _target(elf)
        described = read_metadata(elf)
        check_metadata_target(described.target, target)
        symbols = elf.symbols()
        addresses = {symbol.name: symbol for symbol in symbols if symbol.section}
        kernels = [_read_kernel(elf, target, addresses, metadata) for metadata in described.kernels]
        by_name = {kernel.name: kernel for kernel in kernels}
        if len(by_name) < len(kernels):
            raise MalformedCodeObject("metadata: two kernels have the same name")
        dynamic_symbols = elf.dynamic_symbols()
        undefined = tuple(
            symbol.name for symbol in dynamic_symbols if symbol.name and not symbol.section
        )
        return CodeObject(
            data=elf.data,
            target=target,
            kernels=MappingProxyType(by_name),
            segments=elf.segments,
            symbols=symbols,
            dynamic_symbols=dynamic_symbols,
            relocations=elf.dynamic_relocations(),
            undefined_symbols=undefined,
            printf_formats=described.printf_formats,
            elf=elf,
        )

    @property
    def target_name(self) -> str:
        """The processor, such as "gfx1201"."""
        return self.target.name

    def text(self, address: int, nbytes: int) -> bytes:
        """Return the bytes from a virtual address on; MalformedCodeObject if no segment has them
        all."""
        return _bytes_at(self.segments, address, nbytes)

    def code(self, kernel: Kernel) -> bytes:
        """Return the machine code of one kernel."""
        return self.text(kernel.entry_address, kernel.code_size)

    @property
    def constant_bytes(self) -> int:
        """Bytes of constants that kernels read from memory; descriptors are not counted."""
        section = self.elf.section(".rodata")
        return 0 if section is None else section.size - _DESCRIPTOR_BYTES * len(self.kernels)

    @property
    def has_symbol_table(self) -> bool:
        """Whether all symbols are there: stripping leaves only those that a loader needs."""
        return any(section.type == SECTION_SYMBOL_TABLE for section in self.elf.sections)

    @cached_property
    def line_table(self) -> LineTable:
        """The addresses' source lines, empty without debug information; MalformedCodeObject if it
        is broken."""
        return read_line_table(self.elf)

    def line_of(self, pc: int) -> tuple[str, int] | None:
        """Return the file and line of the instruction at `pc`, or None if they are not known."""
        try:
            return self.line_table.line_of(pc)
        except MalformedCodeObject:
            # Lines only explain a fault: broken debug information must not hide the fault itself.
            return None


def _target(elf: ElfFile) -> Target:
    if elf.machine != MACHINE_AMDGPU:
        raise MalformedCodeObject(
            f"the ELF file is for machine {elf.machine}, not AMDGPU ({MACHINE_AMDGPU})"
        )
    if elf.osabi != OSABI_AMDGPU_HSA:
        raise MalformedCodeObject(
            f"the code object is for OS ABI {elf.osabi}, not amdhsa ({OSABI_AMDGPU_HSA})"
        )
    if elf.type != ELF_TYPE_SHARED:
        raise MalformedCodeObject(
            "the code object is not linked (its ELF type is not ET_DYN): `ld.lld -shared FILE.o -o "
            "FILE.co` links it"
        )
    return target_of_flags(elf)


def _read_kernel(
    elf: ElfFile, target: Target, symbols: Mapping[str, Symbol], metadata: KernelMetadata
) -> Kernel:
    symbol = symbols.get(metadata.symbol)
    if symbol is None:
        raise MalformedCodeObject(f"kernel {metadata.name}: no symbol {metadata.symbol}")
    content = _bytes_at(elf.segments, symbol.address, DESCRIPTOR_SIZE)
    descriptor = read_descriptor(content, is_gfx12=target.isa[0] == 12)
    if descriptor.wave_size != metadata.wave_size:
        raise MalformedCodeObject(
            f"kernel {metadata.name}: descriptor and metadata differ in the wavefront size"
        )
    entry = symbol.address + descriptor.entry_offset
    function = symbols.get(metadata.symbol.removesuffix(".kd"))
    size = function.size if function is not None and function.address == entry else 0
    if not _is_code(elf.segments, entry, max(size, 4)):
        raise MalformedCodeObject(
            f"kernel {metadata.name}: its code at {entry:#x} is in no executable segment"
        )
    return Kernel(metadata, descriptor, symbol.address, entry, size)


def _bytes_at(segments: tuple[Segment, ...], address: int, nbytes: int) -> bytes:
    for segment in segments:
        start = address - segment.address
        if start >= 0 and nbytes >= 0 and start + nbytes <= len(segment.data):
            return segment.data[start : start + nbytes]
    raise MalformedCodeObject(f"no segment of the code object holds {nbytes} bytes at {address:#x}")


def _is_code(segments: tuple[Segment, ...], address: int, nbytes: int) -> bool:
    return any(
        s.executable and s.address <= address and address + nbytes <= s.address + len(s.data)
        for s in segments
    )
