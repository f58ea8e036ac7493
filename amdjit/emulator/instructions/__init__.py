"""What each instruction does: an emitter of host IR beside the native functions that it calls.

`tables` has the emitters by mnemonic, and `emission` applies one to both halves of a wave64; a
folder for each kind of instruction. Native functions go to the library through
`emulator/native_sources.py`. Imports `wave` and below; nothing here knows tiers or checks.
"""
