"""What every test gets: a home of its own, and a guard that makes touching the real one an error."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings
from tests.guard import STUBS, install_guard

settings.register_profile("lamplighter", deadline=None)  # a loaded machine is no bug
settings.load_profile("lamplighter")
_REAL_HOME = Path(os.environ.get("LAMPLIGHTER_REAL_HOME") or Path.home())


def pytest_configure() -> None:
    """Hear signals as a program in the foreground does, also when the tests run under nohup or in the background."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def guarded_session(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Give the session an empty HOME, schedulers that refuse, and a guard in this process and in its children."""
    home = tmp_path_factory.mktemp("home")
    stubs = tmp_path_factory.mktemp("stubs")
    for name in (*STUBS, "notify-send", "osascript"):  # nor does a test show anything on a person's screen
        stub = stubs / name
        stub.write_text(f'#!/bin/sh\necho "tests must not call {name}" >&2\nexit 99\n')
        stub.chmod(0o755)
    guard_dir = Path(__file__).parent / "guarded"
    os.environ.update(
        HOME=str(home),
        PATH=f"{stubs}{os.pathsep}{os.environ['PATH']}",
        PYTHONPATH=os.pathsep.join(filter(None, (str(guard_dir), os.environ.get("PYTHONPATH")))),
        LAMPLIGHTER_REAL_HOME=str(_REAL_HOME),
        TZ="UTC",
    )
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        os.environ[name] = str(home / name.lower())
    install_guard(_REAL_HOME)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Under LAMPLIGHTER_REQUIRE=all a skip is a failure: CI has what the test needs."""
    report = yield
    if report.skipped and os.environ.get("LAMPLIGHTER_REQUIRE") == "all" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
    return report
