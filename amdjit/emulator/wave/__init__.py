"""A wave while its kernel is translated: the frame that emitters work with, registers, operands,
float mode."""
