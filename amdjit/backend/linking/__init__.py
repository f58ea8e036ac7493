"""A linker for the one object that LLVM makes of a kernel: byte for byte what `ld.lld -shared` of
LLVM 22 writes, without a process and without a file.

    objects     the sections, symbols and relocations of a relocatable object
    merging     sections of strings and constants, each of which is written once
    sections    the sections of the code object, in lld's order
    layout      their addresses, and the program headers
    symbols     the symbol tables and their hash tables
    relocations what depends on addresses
    plain       the whole, in this order; start reading here

Whatever else an object may hold, lld knows and this does not: `NotPlain` says what it is, and
`amdjit.backend.link` asks lld. The one difference is the name in `.comment`, where each linker
writes its own. Sources: the ELF gABI; the LLVM AMDGPU guide, "Code Object"; lld's Writer.cpp and
SyntheticSections.cpp.
"""
