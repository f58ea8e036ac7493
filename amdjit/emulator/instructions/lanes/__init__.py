"""Instructions that move values between lanes: permutations, reads and writes of single lanes."""
