"""Kernels to learn from. Each module is a script that runs on whichever device there is and checks
itself."""
