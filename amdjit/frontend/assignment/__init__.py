"""The left side of an assignment: names, elements, fields, and parts of arrays.

`targets` types a target of any kind, `elements` stores one element of an array or vector,
`record_fields` a field or a whole record, and `parts` makes the loop that fills a slice.
`statements`, loops and comprehensions all assign through `targets.assign_target`: start there.

Imports: `expressions` and the rooms below it.
"""
