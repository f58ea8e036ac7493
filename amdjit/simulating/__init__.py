"""A launch as plain Python: `amdjit.simulate()`, for debuggers of Python.

Nothing is compiled: the kernel's own function is called for each work-item. `names` gives it
globals in which the names of the language mean what they mean in a kernel; `numbers`, `vectors` and
`arrays` are its values, `python_functions` Python's functions of them, `forms` the special forms.
`loop_types` asks the front end how wide a variable is that began as a literal, and `weak_calls`
keeps results of functions of such numbers as wide as they may have to be. `operations` does what
intrinsics do, by their reference models where these say it. `work_items` decides whose turn it is,
and `places` says how far each has come. The marks that `frontend.source.plain_python` adds to the
function say what Python alone cannot.

Imports: the front end, the intrinsics and what is below them. Start reading at `running`.
"""
