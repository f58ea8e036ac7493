"""How waves take turns on a host thread: workgroups, barriers, the driver, and its host threads.

Native code that every launch runs, and the records it leaves when something goes wrong. Imports
`host` and `layout`: nothing here knows instructions.
"""
