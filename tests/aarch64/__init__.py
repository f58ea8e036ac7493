"""amdjit on Linux aarch64, under QEMU's user mode emulation: `pytest -m aarch64`."""
