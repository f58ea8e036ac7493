"""An inspection as text for a terminal: one function for each view returns text.

`views` lists them, `screen` is what they know about the terminal. Start reading at `views`.
"""
