"""Scalar instructions: arithmetic, branches, barriers, MODE, scalar loads, relative registers."""
