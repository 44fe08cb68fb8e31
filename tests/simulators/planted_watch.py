"""A planted bug, which the simulation must catch: an expectation that takes exit 0 for output."""

from __future__ import annotations

from lamplighter.app.expecting import Expectations
from lamplighter.engine.expectation import DayFacts
from lamplighter.publish import post
from lamplighter.schedule.cadence import Cadence


class ExitZero(Expectations):
    """Believes that a day has its post when a run of that day exited 0."""

    def _read_posts(self, cadence: Cadence) -> DayFacts:
        runs = self._parts.ledger.latest(job=post.JOB, limit=50)
        ended = [run for run in runs if run.report is not None and run.report.exit_code == 0]
        days = frozenset(run.started_at.astimezone(self._zone).date() for run in ended)
        due = self._find_due(cadence, days)
        return self._read_days(post.JOB, cadence, days, due, command=self._choose_command)
