"""An inspection as text for a terminal: one function a view, from values to text.

`views` lists them, `screen` is what they know of the terminal. Start reading at `views`.
"""
