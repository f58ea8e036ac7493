"""The explorer's page shows everything that is known about a kernel in one HTML file, which can be
passed around.

`page_data` turns values into plain data, `page` combines that data with the scripts and style
sheets of `web`. The page needs no network and no server, and shows text of foreign code objects
only as text. Start reading at `page`, and in the browser at `web/main.js`.
"""
