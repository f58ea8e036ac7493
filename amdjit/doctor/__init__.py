"""What is on this machine, what keeps an AMD GPU from being used, and whether kernels run right.

`examination.py` asks every question; each answer is a `Finding` with its remedy.
"""
