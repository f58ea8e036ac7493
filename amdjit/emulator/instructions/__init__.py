"""What each instruction does: an emitter for each mnemonic, beside the native functions it calls.

`tables` has all emitters, `emission` applies one to both halves of a wave64, and `operation`
describes those that are a type and an expression. The folders follow the ISA's encodings. Native
functions go to the library through `native_sources`. Imports `wave` and below.
"""
