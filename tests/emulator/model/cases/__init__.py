"""Programs that try an opcode in its forms, with the results that the model gives for them."""
