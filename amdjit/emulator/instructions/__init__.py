"""What each instruction does: an emitter of host IR beside the native functions that it calls."""
