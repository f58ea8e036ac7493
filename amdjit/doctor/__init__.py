"""Finds out what is on this machine, what keeps an AMD GPU from being used, and whether kernels
compute correctly.

`examination.py` asks every question; each answer is a `Finding` with its remedy.
"""
