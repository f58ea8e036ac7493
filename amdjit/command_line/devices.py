"""`amdjit devices`: the devices that kernels can run on."""

from __future__ import annotations

import argparse

from amdjit.command_line.commands import Commands
from amdjit.devices import current_device, devices, hip_status

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the command."""
    listing = commands.add_parser("devices", help="list the devices that kernels can run on")
    listing.set_defaults(run=_devices)


def _devices(options: argparse.Namespace) -> int:
    chosen = current_device().name
    for device in devices():
        mark = "*" if device.name == chosen else " "
        print(f"{mark} {device.name:20} {device.target.name:8} {device.description}")
    if hip_status():
        print(f"HIP: {hip_status()}")
    print("* is the default; AMDJIT_DEVICE or `with amdjit.use(name):` chooses another one")
    return 0
