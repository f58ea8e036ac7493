"""The typed tree to LLVM IR. The lowering never infers types: it writes down what the tree says."""

from amdjit.lowering.module import lower

__all__ = ["lower"]
