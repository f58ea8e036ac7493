"""The native functions that launches without checks call, from every room that has some.

The checks' own are not here, so that a plain launch does not import them: the first checked launch
adds them to the library (`checks/session.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from amdjit.emulator.host.native_sources import NativeSources, Source, Variant
from amdjit.emulator.instructions.buffers.addresses import PARTS, PLACE, place_text
from amdjit.emulator.instructions.buffers.gfx9_addresses import (
    GFX9_PLACE,
    PRIVATE_PLACE,
    gfx9_place_text,
    private_place_text,
)
from amdjit.emulator.instructions.buffers.texels import TEXELS
from amdjit.emulator.instructions.lanes.permute import gather_lanes_text, scatter_lanes_text
from amdjit.emulator.instructions.long_expressions_native import long_sources
from amdjit.emulator.instructions.matrix.cdna.native import mfma_sources
from amdjit.emulator.instructions.matrix.cdna.scaled import scaled_product_sources
from amdjit.emulator.instructions.matrix.dots import dot_sources
from amdjit.emulator.instructions.matrix.layouts import Matrix, matrices
from amdjit.emulator.instructions.matrix.products import chain_text, integer_text
from amdjit.emulator.instructions.matrix.repeated import repeated_matrices, repeated_text
from amdjit.emulator.instructions.matrix.rounded_products import rounded_text
from amdjit.emulator.instructions.memory.access_native import access_text
from amdjit.emulator.instructions.memory.atomics import atomic_text, atomics
from amdjit.emulator.instructions.memory.spaces import SIZES, SPACES, Access
from amdjit.emulator.instructions.scalar.flat_scratch import CHECK_SCRATCH, check_scratch_text
from amdjit.emulator.instructions.scalar.memory import scalar_address_text
from amdjit.emulator.instructions.scaled.conversions import scaled_sources
from amdjit.emulator.instructions.vector.approximate import approximate_sources
from amdjit.emulator.scheduling.barriers import BARRIERS
from amdjit.emulator.scheduling.driver import driver_symbol, driver_text, single_steps
from amdjit.emulator.scheduling.fault_record import (
    FAULT,
    REFUSE_MODE,
    REQUIRE_LANES,
    STOPPED,
    TICK,
    fault_text,
    refuse_mode_text,
    require_lanes_text,
    stopped_text,
    tick_text,
)
from amdjit.emulator.scheduling.host_calls import HOST_CALL, host_call_text
from amdjit.emulator.scheduling.report_rows import (
    REPORT,
    SYNC_REPORT,
    report_text,
    sync_report_text,
)
from amdjit.emulator.scheduling.resolution import RESOLVE, resolve_text
from amdjit.emulator.tiers.operation_library import interpreter_symbol
from amdjit.emulator.tiers.program import WHERE, threaded_text, where_text
from amdjit.emulator.tiers.steps import STEP, step_text
from amdjit.emulator.wave.wave_state import MOVE_REGISTERS, move_registers_text

# The native functions that translated instructions call.


def _accesses() -> Mapping[str, Source]:
    accesses = [
        Access(space, size, store) for space in SPACES for size in SIZES for store in (False, True)
    ]
    return {access.symbol: partial(access_text, access) for access in accesses}


def _in_variant(variant: Variant) -> Mapping[str, Source]:
    """Return matrix and dot products, and approximate instructions: how they are computed is for
    the variant to say."""
    products = {matrix.symbol: _product(matrix, variant) for matrix in matrices()}
    repeated = {matrix.symbol: partial(repeated_text, matrix) for matrix in repeated_matrices()}
    arithmetic = variant.arithmetic
    return {
        **dot_sources(arithmetic),
        **mfma_sources(arithmetic),
        **products,
        **repeated,
        **approximate_sources(variant),
    }


def _product(matrix: Matrix, variant: Variant) -> Source:
    if matrix.is_integer:
        return partial(integer_text, matrix, variant.matrix_rows)
    text = rounded_text if variant.arithmetic == "silicon" else chain_text
    return partial(text, matrix, variant.matrix_rows)


NATIVES = NativeSources(
    {
        "aj_scalar_address": scalar_address_text,
        "aj_gather_lanes": gather_lanes_text,
        "aj_scatter_lanes": scatter_lanes_text,
        **long_sources(),
        **scaled_sources(),
        **scaled_product_sources(),
        **_accesses(),
        PLACE: place_text,
        GFX9_PLACE: gfx9_place_text,
        PRIVATE_PLACE: private_place_text,
        CHECK_SCRATCH: check_scratch_text,
        **PARTS,
        **TEXELS,
        **{atomic.symbol: partial(atomic_text, atomic) for atomic in atomics()},
    },
    _in_variant,
)


# The native functions of the quick tier: the wave functions that run threaded programs.

TIERS = NativeSources(
    {
        WHERE.name: where_text,
        MOVE_REGISTERS.name: move_registers_text,
        STEP.name: step_text,
        **{interpreter_symbol(size): partial(threaded_text, size) for size in (32, 64)},
    }
)


# The native functions that run workgroups and record what went wrong.

SCHEDULING = NativeSources(
    {
        FAULT.name: fault_text,
        REPORT.name: report_text,
        SYNC_REPORT.name: sync_report_text,
        STOPPED.name: stopped_text,
        TICK.name: tick_text,
        REFUSE_MODE.name: refuse_mode_text,
        REQUIRE_LANES.name: require_lanes_text,
        RESOLVE.name: resolve_text,
        HOST_CALL.name: host_call_text,
        **BARRIERS,
        **{driver_symbol(wave_size): partial(driver_text, wave_size) for wave_size in (32, 64)},
        **single_steps(32),
        **single_steps(64),
    }
)


ROOMS: tuple[NativeSources, ...] = (NATIVES, SCHEDULING, TIERS)
