"""VALU instructions that compute in each lane on its own."""
