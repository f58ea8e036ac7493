"""SALU and SMEM instructions: arithmetic, SCC and EXEC, barriers, the MODE register, scalar
loads."""
