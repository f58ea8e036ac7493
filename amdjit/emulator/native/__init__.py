"""Host functions that translated kernels call. They are generated as LLVM IR, compiled once and cached on disk."""
