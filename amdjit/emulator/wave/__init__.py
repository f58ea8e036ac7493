"""A wave while its kernel is translated: registers, operands, MODE, pauses, and the checks' hook.

Emitters work with a `frame.Frame`. Checks plug in through `frame.Instrument`. Imports
`expressions` and below; nothing here knows single instructions.
"""
