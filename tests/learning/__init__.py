"""The course: its pages, its puzzles with right and wrong solutions, its notebooks."""
