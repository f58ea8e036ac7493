"""What launches share on every device, and the HIP device.

`device` says what a device can do; the emulator is one and `hip` another, and no other module here
knows which it has. `arrays` holds memory, `staging` brings NumPy arrays to the device and back,
`arguments` packs the kernarg bytes. It may import types, the ABI and the errors, and knows nothing
of the compiler. Start reading at `device`.
"""
