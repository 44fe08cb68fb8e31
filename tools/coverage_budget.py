"""Holds branch coverage to its budgets: 95 % for what must not fail silently, 90 % for everything else."""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import coverage
import msgspec

STRICT = 95.0
USUAL = 90.0
_STRICT_PARTS = frozenset({"host", "engine", "schedule", "notify", "publish"})


class Summary(msgspec.Struct, frozen=True):
    """What coverage counted in one file."""

    covered_lines: int
    num_statements: int
    covered_branches: int
    num_branches: int


class MeasuredFile(msgspec.Struct, frozen=True):
    """One file of the report."""

    summary: Summary


class Report(msgspec.Struct, frozen=True):
    """Coverage's JSON report, as much of it as is needed."""

    files: dict[str, MeasuredFile]


def read_report() -> Report:
    """Return the report of the data file in the present folder."""
    measured = coverage.Coverage()
    measured.load()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        measured.json_report(outfile=file.name)
        return msgspec.json.decode(Path(file.name).read_bytes(), type=Report)


def sum_parts(report: Report) -> dict[str, tuple[int, int]]:
    """Return, for each top folder or module, what is covered and what there is, lines and branches together."""
    parts: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for name, file in report.files.items():
        inside = Path(name).parts[Path(name).parts.index("lamplighter") + 1 :]
        part = inside[0].removesuffix(".py")
        covered, there = parts[part]
        summary = file.summary
        parts[part] = (
            covered + summary.covered_lines + summary.covered_branches,
            there + summary.num_statements + summary.num_branches,
        )
    return parts


def main() -> int:
    """Print the table and return 1 when a part is under its budget."""
    under = 0
    for part, (covered, there) in sorted(sum_parts(read_report()).items()):
        share = 100 * covered / there if there else 100.0
        budget = STRICT if part in _STRICT_PARTS else USUAL
        under += share < budget
        print(
            f"  {part:<14} {share:6.1f} % of {there:>5}   budget {budget:.0f} %{'' if share >= budget else '   UNDER'}"
        )
    return int(bool(under))


if __name__ == "__main__":
    sys.exit(main())
