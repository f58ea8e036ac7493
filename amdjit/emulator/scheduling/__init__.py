"""How waves take turns on a host thread: workgroups, barriers, the driver, and its host threads.

`driver` takes workgroups, `workgroup` runs their waves, `release` lets them go on after a barrier;
`fault_record`, `report_rows` and `resolution` say what goes wrong. Native code that every launch
runs. Imports `host` and `layout`: nothing here knows instructions.
"""
