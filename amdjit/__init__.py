"""amdjit."""
