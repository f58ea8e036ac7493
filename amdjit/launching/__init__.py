"""A launch, from the user's call to the results on the host.

`prepared` tells it as one line of stages; read that first. The stages are `signature` (bind the
call), `record_arguments` (take records apart), `argument_types` (what to compile for),
`specialisations` (compile and load) and the values of `amdjit.runtime`. It may import everything
below `api.py`, and knows no particular device.
"""
