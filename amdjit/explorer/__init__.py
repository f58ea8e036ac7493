"""The explorer's page: what is known of a kernel in one file of HTML, to be read and passed around.

`page` writes it. `inspection_data` and `launch_data` turn values into plain data, `bundle` puts
that data together with the scripts and style sheets of `web`. The page needs no network and no
server, and shows text of foreign code objects as text only. Start reading at `page`, and in the
browser at `web/main.js`.
"""
