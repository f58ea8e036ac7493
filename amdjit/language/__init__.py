"""The kernel language as plain values: what types, declarations and compile-time functions are.

With `amdjit/types.py` and `amdjit/declarations.py`, which users import, this is the vocabulary of
all other rooms. It may import the table of processors (`target.py`), the options and the errors,
and knows neither LLVM nor a device. Start reading at `amdjit/types.py`; the rest of a declaration
is in `emit_context` and `compile_time`.
"""
