"""Scheduling of waves on a host thread: workgroups, barriers, the driver, and the host threads.

`driver` takes workgroups and runs their waves, `release` wakes them after a barrier;
`fault_record`, `report_rows` and `resolution` record what goes wrong. All of it is native code that
every launch runs. Imports `host` and `layout`: nothing here knows instructions.
"""
