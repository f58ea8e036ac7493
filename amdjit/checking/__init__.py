"""The checks that users turn on for launches: which are on, and how their reports name elements.

The emulator makes the checks (`amdjit.emulator.checks`); this room holds what it shares with
launches, and may import options and errors only. Start reading at `sanitizing`.
"""
