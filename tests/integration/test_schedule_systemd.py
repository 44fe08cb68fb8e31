"""systemd: units that systemd itself takes, and a real user manager that starts them, in a namespace of its own."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.simulators.private import SYSTEMD, Json, needs_analyze, needs_systemd, run_privately
from tests.unit.schedule.entries import at_home

from lamplighter.schedule.systemd import list_calendars, render_service, render_timer, service_name, timer_name

STORY = """
import json, pathlib, subprocess, sys, time
from dataclasses import replace
from tests_entry import entry

def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    return {"code": done.returncode, "out": done.stdout, "err": done.stderr}

folder = pathlib.Path(sys.argv[1])
home = folder / "home"
units = home / ".config/systemd/user"
place = folder / "my brand"
told = {}
told["init"] = run("lamplighter", "init", str(place), "--shop", "sample")
own = '\\n[jobs.back]\\ncommand = ["true"]\\ncron = "*/30 8-18 * * 1-5"\\n'
(place / "lamplighter.toml").write_text((place / "lamplighter.toml").read_text() + own)

def lamplighter(*words):
    return run("lamplighter", *words, "--workspace", str(place), "--json")

told["install"] = lamplighter("schedule", "install")
told["verify"] = lamplighter("schedule", "verify")
told["show"] = lamplighter("schedule", "show")
told["modes"] = sorted({oct(file.stat().st_mode & 0o777) for file in units.glob("dev.lamplighter.*")})
told["names"] = sorted(file.name.split(".", 3)[3] for file in units.glob("dev.lamplighter.*"))
told["analyze"] = run("systemd-analyze", "verify", "--user", *map(str, units.glob("dev.lamplighter.*")))
told["timers"] = run("systemctl", "--user", "list-timers", "--all", "--no-legend")["out"]

def one(job, kind):
    return next(units.glob(f"dev.lamplighter.*.{job}.{kind}"))

(units / (one("post", "timer").name + ".d")).mkdir()
(units / (one("post", "timer").name + ".d") / "mine.conf").write_text("[Timer]\\nPersistent=false\\n")
one("generate", "timer").unlink()
run("systemctl", "--user", "disable", "--now", one("back", "timer").name)
old = one("watch", "timer").name.replace(".watch.", ".old.")
(units / old).write_text(one("watch", "timer").read_text())
run("systemctl", "--user", "daemon-reload")
told["spoiled"] = lamplighter("schedule", "verify")
(units / (one("post", "timer").name + ".d") / "mine.conf").unlink()
told["watch"] = run("systemctl", "--user", "start", one("watch", "service").name)
told["repaired"] = lamplighter("schedule", "verify")
told["record"] = json.loads((place / "state/schedule/installed.json").read_text())

name = "dev.lamplighter.my-brand-0.none"
file = units / (name + ".service")
file.write_text(entry.replace("@FOLDER@", str(folder)))
run("systemctl", "--user", "daemon-reload")
run("systemctl", "--user", "start", file.name)
told["ended"] = (folder / "boot-generate.ended").read_text()
file.unlink()

told["inhibit"] = run("lamplighter", "run", "back", "--workspace", str(place))["code"]
told["remove"] = lamplighter("schedule", "remove")
told["left"] = sorted(str(path.relative_to(home)) for path in home.rglob("*lamplighter*") if path.is_file())
told["left_timers"] = run("systemctl", "--user", "list-timers", "--all", "--no-legend")["out"]
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Json]:
    """Return what came of the whole life of an installation under a real user manager."""
    folder = tmp_path_factory.mktemp("systemd")
    generate, _ = at_home(Path("@FOLDER@"))
    unit = render_service(replace(generate, argv=("/no/such/python", "-P"), folder=Path("/")))
    code = STORY.replace("from tests_entry import entry\n", f"entry = {unit!r}\n")
    return run_privately(SYSTEMD, code, folder)


def value(told: Json, *keys: str) -> Json:
    """Return what a command told, down to a key; its JSON is read on the way."""
    import json  # noqa: PLC0415 - beside its use

    for key in keys:
        assert isinstance(told, dict)
        told = told[key]
        if key == "out":
            assert isinstance(told, str)
            told = json.loads(told)
    return told


@needs_systemd
def test_the_manager_starts_a_run_that_is_seen(story: dict[str, Json]) -> None:
    """Four services, four timers, all waiting; 0644; and the proof's own unit is gone."""
    assert value(story, "install", "code") == 0, story["install"]
    proof = value(story, "install", "out", "proof")
    assert isinstance(proof, str)
    assert proof.startswith("systemd started lamplighter at ")
    jobs = ("back", "generate", "post", "watch")
    assert story["names"] == [f"{job}.{kind}" for job in jobs for kind in ("service", "timer")]
    assert story["modes"] == ["0o644"]
    timers = story["timers"]
    assert isinstance(timers, str)
    assert all(f".{job}.timer" in timers for job in jobs)
    assert value(story, "verify", "code") == 0, story["verify"]


@needs_systemd
def test_systemd_finds_nothing_wrong_with_the_units(story: dict[str, Json]) -> None:
    """Its own check, of every file, without a word."""
    assert story["analyze"] == {"code": 0, "out": "", "err": ""}


@needs_systemd
def test_show_has_the_same_times_as_systemd(story: dict[str, Json]) -> None:
    """In the machine's own zone the next three are the same three."""
    shown = value(story, "show", "out", "jobs")
    assert isinstance(shown, list)
    for job in shown:
        assert isinstance(job, dict)
        if job["job"] == "post":
            assert job["due_at"] == job["woken_at"]
    assert len(shown) == 4


@needs_systemd
def test_drift_is_found_and_the_watcher_repairs_it(story: dict[str, Json]) -> None:
    """A drop-in, a file that is gone, a disabled timer, a unit that came back; started by systemd, watch mends them."""
    checks = value(story, "spoiled", "out", "checks")
    assert isinstance(checks, list)
    found = {str(check["job"]): check["drift"] for check in checks if isinstance(check, dict)}
    assert found == {"generate": "missing", "post": "edited", "back": "disabled", "watch": None, "old": "retired"}
    assert value(story, "spoiled", "code") == 1
    assert value(story, "repaired", "code") == 0, story["repaired"]
    absences = value(story, "record", "absences")
    assert isinstance(absences, list)
    assert {absence[0] for absence in absences if isinstance(absence, list)} == {"generate", "back"}


@needs_systemd
def test_a_program_that_is_gone_leaves_its_word(story: dict[str, Json]) -> None:
    """203, by ExecStopPost=, though nothing of ours ever began."""
    assert story["ended"] == "exit-code exited 203\n"


@needs_systemd
def test_remove_leaves_nothing(story: dict[str, Json]) -> None:
    """No unit, no link, no stamp, no timer; and a run by hand works as before."""
    assert value(story, "remove", "code") == 0
    assert story["left"] == []
    assert "lamplighter" not in str(story["left_timers"])
    assert story["inhibit"] == 0


@needs_analyze
def test_units_pass_systemds_own_check(tmp_path: Path) -> None:
    """Also without a manager: paths with blanks, quotes, percent and dollar signs included."""
    python = tmp_path / "it's 100% $HOME" / "python"
    python.parent.mkdir()
    python.touch(mode=0o755)
    generate, watch = at_home(tmp_path)
    odd = [
        replace(entry, argv=(str(python).replace("$HOME", "x"), *entry.argv[1:-1], str(python)), folder=python.parent)
        for entry in (generate, watch)
    ]
    Path(odd[0].argv[0]).parent.mkdir()
    Path(odd[0].argv[0]).touch(mode=0o755)
    files = []
    for entry in odd:
        for name, text in (
            (service_name(entry.label), render_service(entry)),
            (timer_name(entry.label), render_timer(entry)),
        ):
            (tmp_path / name).write_text(text)
            files.append(str(tmp_path / name))
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", *files],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(run_dir), "HOME": str(tmp_path)},
    )
    assert (done.returncode, done.stderr) == (0, "")


@needs_analyze
def test_times_are_what_systemd_takes_them_for() -> None:
    """Every five minutes, and three times a day."""
    generate, watch = at_home(Path("/"))
    for entry, hours in ((generate, ["06:00", "12:00", "18:00"]), (watch, ["00:00", "00:05", "00:10"])):
        (times,) = list_calendars(entry.minutes)
        done = subprocess.run(
            ["systemd-analyze", "calendar", "--iterations=3", "--base-time=2026-11-30 23:59:00 UTC", times],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
            env={"PATH": "/usr/bin:/bin", "TZ": "UTC"},
        )
        assert [hour for hour in hours if f" {hour}:00 UTC" in done.stdout] == hours
