"""Machine code of gfx9, gfx11 and gfx12 as instructions: opcodes, operands and text.

The emulator translates what it reads here, inspection, the checks of waits and the cycle model read
it; the probe writes it. `decode` reads bytes with the rows of an `InstructionSet`, `text` writes an
instruction as LLVM does, `mnemonics/` says what a mnemonic means (`traits`), `integer_rows` what an
instruction on integers computes, `floats/` what one on floats does, `approximations` the functions
that are not exact, `matrix_rounding` how matrix cores and dot units round.
`analysis/` has facts about whole kernels, `register_numbers` numbers registers. Imports
`code_object`, `abi` and below; nothing here makes host code or knows a device.
"""
