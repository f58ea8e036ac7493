"""How inspections and profiles are shown: the page for a browser, and the views of a terminal.

Start reading at `page`.
"""
