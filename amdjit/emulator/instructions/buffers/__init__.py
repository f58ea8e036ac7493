"""Buffer loads, stores and atomics (VBUFFER, and scalar buffer loads): where a resource descriptor
puts an access, and the conversion of texels. Builds on `instructions/memory`."""
