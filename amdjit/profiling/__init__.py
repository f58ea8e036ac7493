"""`amdjit.profile()`: counts and cycles of emulated launches, by instruction and Python line.

`counts` are the values, `profile` the block that collects them. Start reading at `profile`.
"""
