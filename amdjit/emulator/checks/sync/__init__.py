"""The synchronisation check: barriers and whole-wave instructions that lanes or waves miss, and
missing waits.

`instrument` looks at EXEC before such instructions; the driver reports what it sees of barriers
(`scheduling/`); `checks/waits` finds the missing waits.
"""
