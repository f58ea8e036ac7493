"""The exact facts of a kernel, read from the bytes of a code object: of amdjit's or of others.

`facts` are the values, `inspection` puts them together; `impossible` finds what is no instruction
of the processor, for the compiler. The room imports `code_object`, the library of machine code
(`isa/`), and issue cycles from `cycles`; neither LLVM nor the compiler. Start reading at
`inspection`.
"""
