"""`sitecustomize`, which each Python program of `amdjit run` loads before itself."""
