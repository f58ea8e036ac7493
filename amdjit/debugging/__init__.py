"""A debugger of one launch on the emulator, which steps forwards and backwards: `amdjit.debug`,
`amdjit debug`.

`opening` takes launches; `debugger` has what users call, `launch_code` knows the code for it, and
`values` reads registers, variables and memory. `terminal` is the prompt, `adapter` speaks the Debug
Adapter Protocol of editors, `extension` is for VS Code, and `page` writes a wave's life for a
browser; `programs` runs files. The steps themselves are the emulator's (`emulator/stepping`).
"""
