"""Measurements of the probe: latency and rate of instructions, LDS banks, caches, launches,
products."""
