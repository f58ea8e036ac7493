"""Moves of data between the lanes of a wave, DPP included."""
