"""The native functions of the cycle model."""

from __future__ import annotations

from amdjit.cycles.engine.memory import ACCESS, access_text
from amdjit.cycles.engine.simulation import RUN, run_text
from amdjit.emulator.host.native_sources import NativeSources

NATIVES = NativeSources({ACCESS.name: access_text, RUN.name: run_text})
