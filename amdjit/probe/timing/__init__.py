"""What the probe measures: latency and rate of instructions, banks, caches, launches, products."""
