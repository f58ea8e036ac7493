"""Tests of code objects that other compilers made: what they share, and the table of what ran."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.foreign.foreign_table import Record, Row, table_page

PAGE = Path(__file__).parents[2] / "docs" / "foreign.md"
_ROWS = pytest.StashKey[list[Row]]()


def pytest_configure(config: pytest.Config) -> None:
    """Collect the rows in the process that gets all reports: with xdist the tests run in others."""
    rows: list[Row] = []
    config.stash[_ROWS] = rows
    config.pluginmanager.register(_RowCollector(rows), "foreign-rows")


class _RowCollector:
    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self._rows += [
                Row(**value) for name, value in report.user_properties if name == "foreign"
            ]


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Record:
    """Return the function that puts a row into the table of docs/foreign.md."""
    return lambda row: request.node.user_properties.append(("foreign", vars(row)))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Write the table where `--update-foreign` asks for it, if everything passed."""
    config = session.config
    if (
        config.getoption("update_foreign")
        and exitstatus == 0
        and not hasattr(config, "workerinput")
    ):
        PAGE.write_text(table_page(PAGE.read_text(), config.stash[_ROWS]))
