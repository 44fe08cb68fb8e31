"""When each job of a workspace is due."""

from __future__ import annotations

from collections.abc import Mapping

from lamplighter.app.timing import job_cadence, post_cadence
from lamplighter.config.settings import Settings
from lamplighter.featurepost import generate
from lamplighter.publish import post
from lamplighter.schedule.cadence import Cadence


def list_cadences(settings: Settings) -> Mapping[str, Cadence]:
    """Return the cadence of every job that has due times, by its name."""
    zone = settings.post.zone
    cadences = {
        generate.JOB: Cadence(zone=zone, at=settings.generate.at, catch_up=settings.generate.catch_up),
        post.JOB: post_cadence(settings.post.at, zone),
    }
    cadences |= {job.name: job_cadence(job, zone) for job in settings.jobs}
    return {job: cadence for job, cadence in cadences.items() if cadence.is_timed}
