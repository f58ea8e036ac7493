"""The checks as the session knows them: names, numbers and fields that do not collide."""

from __future__ import annotations

from amdjit.emulator.checks.check import KINDS_OF_A_CHECK
from amdjit.emulator.checks.session import CHECKS
from amdjit.emulator.host.native_library import NATIVES
from amdjit.emulator.host.native_sources import Variant, all_makers
from amdjit.emulator.native_sources import ROOMS
from amdjit.options import SANITIZER_CHECKS


def test_the_session_has_every_check_that_users_can_ask_for() -> None:
    assert {check.name for check in CHECKS} == set(SANITIZER_CHECKS)


def test_each_check_has_kinds_of_reports_and_a_field_of_its_own() -> None:
    kinds = [first for check in CHECKS for first in check.kinds]
    assert len(set(kinds)) == len(kinds)
    assert all(first % KINDS_OF_A_CHECK == 0 for first in kinds)
    fields = [check.field for check in CHECKS if check.field is not None]
    assert len(set(fields)) == len(fields)


def test_no_two_rooms_define_one_native_function() -> None:
    rooms = [NATIVES, *ROOMS, *(room for check in CHECKS for room in check.natives)]
    variant = Variant(16, "silicon")
    assert len(all_makers(rooms, variant)) == sum(len(room.makers(variant)) for room in rooms)
