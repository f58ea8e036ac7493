"""A linker for the one object that LLVM makes of a kernel: byte for byte what `ld.lld -shared` of
LLVM 22 writes, without a process and without a file.

    objects      the sections, symbols and relocations of a relocatable object
    sections     the sections of the code object, in lld's order, and merged strings and constants
    relocations  what depends on addresses
    plain        the whole in this order, with addresses, program headers and symbol tables; start
                 reading here

If an object holds anything else, `NotPlain` says what it is, and `amdjit.backend.link` calls lld.
The one difference is the name in `.comment`, where each linker writes its own. Sources: the ELF
gABI; the LLVM AMDGPU guide, "Code Object"; lld's Writer.cpp and SyntheticSections.cpp.
"""
