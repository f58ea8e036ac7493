"""What instructions compute, as expressions over LLVM values, scalars and vectors alike."""
