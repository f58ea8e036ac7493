"""A wave while its kernel is translated: registers, operands, MODE, and the checks' hook.

Emitters work with a `frame.Frame`. Checks plug in through `frame.Instrument`. Imports
`expressions` and below; nothing here knows single instructions.
"""
