"""Counts of an emulated launch: executions, lanes, requests, cache lines, LDS cycles; and what a
sample of its workgroups did, for the cycle model.
"""
