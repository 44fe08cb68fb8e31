"""[expect.NAME]: what a person expects of a job, or one line that says what is wrong with it."""

from __future__ import annotations

from datetime import time, timedelta
from pathlib import Path

import pytest

from lamplighter.config.settings import parse_settings
from lamplighter.engine.expect_settings import ExpectSettings
from lamplighter.errors import ConfigError
from lamplighter.notify.severity import Severity

HERE = Path("/work")
JOB = '[jobs.backup]\ncommand = ["./backup.sh"]\nat = ["03:00", "15:00"]\n'


def parse(text: str) -> tuple[ExpectSettings, ...]:
    """Return what is expected."""
    return parse_settings((JOB + text).encode(), HERE).expectations


def test_each_kind_with_its_own_keys() -> None:
    """By a time, at least so often, not so many bad runs in a row."""
    found = parse(
        '[expect.today]\nkind = "by_time"\njob = "backup"\nby = "04:30"\ngrace = "1h"\nat_least = 2\n'
        '[expect.fresh]\nkind = "max_age"\njob = "backup"\nmax_age = "3d"\nseverity = "critical"\n'
        '[expect.calm]\nkind = "streak"\njob = "post"\ncount = 5\nseverity = "info"\n'
    )
    assert found == (
        ExpectSettings(
            name="today", kind="by_time", job="backup", at=time(4, 30), grace=timedelta(hours=1), at_least=2
        ),
        ExpectSettings(
            name="fresh",
            kind="max_age",
            job="backup",
            at=time(3),
            max_age=timedelta(days=3),
            severity=Severity.CRITICAL,
        ),
        ExpectSettings(name="calm", kind="streak", job="post", at=time(19, 30), count=5, severity=Severity.INFO),
    )


@pytest.mark.parametrize(("at_least", "expected"), [(1, time(3)), (2, time(15)), (9, time(15))])
def test_without_a_time_the_jobs_own_is_meant(at_least: int, expected: time) -> None:
    """The second of two outputs is due at the second of its times."""
    (entry,) = parse(f'[expect.x]\nkind = "by_time"\njob = "backup"\nat_least = {at_least}\n')
    assert entry.at == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            'kind = "by_time"\njob = "bakup"',
            "expect.x.job = 'bakup': there is no such job; known are backup, generate, post",
        ),
        ('kind = "by_tme"\njob = "backup"', "it must be 'by_time' or 'max_age' or 'streak'"),
        ('kind = "by_time"', "missing required field `job`"),
        ('job = "backup"', "missing required field `kind`"),
        ('kind = "max_age"\njob = "backup"', "expect.x.max_age is missing"),
        ('kind = "max_age"\njob = "backup"\nmax_age = "soon"', "expect.x.max_age = 'soon' must be like 15s"),
        ('kind = "max_age"\njob = "backup"\nmax_age = "-1h"', "must be like 15s"),
        ('kind = "max_age"\njob = "backup"\nmax_age = "9999d"', "must be 10m to 400d"),
        ('kind = "max_age"\njob = "backup"\nmax_age = "1s"', "must be 10m to 400d"),
        ('kind = "max_age"\njob = "backup"\nmax_age = "36h"\nby = "03:00"', "expect.x.by is for kind = 'by_time'"),
        ('kind = "streak"\njob = "backup"\ncount = -1', "expect.x.count must be 1 to 20"),
        ('kind = "streak"\njob = "backup"\ncount = 99999999', "expect.x.count must be 1 to 20"),
        ('kind = "by_time"\njob = "backup"\nby = "25:00"', "expect.x.by = '25:00' must be like 19:30"),
        ('kind = "by_time"\njob = "backup"\ngrace = "2d"', "must be 0s to 1d"),
        ('kind = "by_time"\njob = "backup"\nat_least = 500', "expect.x.at_least must be 1 to 100"),
        ('kind = "by_time"\njob = "backup"\nseverity = "loud"', "it must be 'info' or 'warning' or 'critical'"),
        (
            'kind = "by_time"\njob = "backup"\ngrce = "1h"',
            "expect.x.grce (line 7) is not a setting; did you mean grace?",
        ),
    ],
)
def test_what_is_wrong_is_one_line(text: str, words: str) -> None:
    """It names the key, and what would be right."""
    with pytest.raises(ConfigError) as caught:
        parse(f"[expect.x]\n{text}\n")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ['"a b"', '"../x"', '"A"', '""'])
def test_a_name_that_is_none_is_one_line(name: str) -> None:
    """It becomes the key of incidents."""
    with pytest.raises(ConfigError):
        parse(f'[expect.{name}]\nkind = "streak"\njob = "backup"\n')


def test_a_time_is_needed_where_the_job_has_none() -> None:
    """A job that runs by hand only is not expected at midnight."""
    with pytest.raises(ConfigError) as caught:
        parse('[jobs.x]\ncommand = ["x"]\n[expect.y]\nkind = "by_time"\njob = "x"\n')
    assert "expect.y.by is missing: x has no times of its own" in str(caught.value)


@pytest.mark.parametrize("text", ["expect = 3", "[expect]\nx = 3", "[[expect]]\nkind = 'streak'"])
def test_what_is_no_table_is_one_line(text: str) -> None:
    """And no traceback."""
    with pytest.raises(ConfigError):
        parse_settings(text.encode(), HERE)
