"""The left side of an assignment: names, elements, fields, and parts of arrays.

`targets` takes a target apart, `elements` stores one element of an array or vector, `record_fields`
a field or a whole record, and `parts` makes the loop that fills a slice. `statements`, loops and
comprehensions all assign through `targets.assign_target`, where to start.

Imports: `expressions` and the rooms below it.
"""
