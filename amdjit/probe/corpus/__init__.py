"""What the probe runs on a device: a module for each kind, which makes its batches for a target.

The corpus is generated: the same version gives the same cases, names and inputs on every machine.
"""
