"""Changes to a launch, by what they are about: memory of workgroups, loops, numbers, launches."""
