"""cron: a real daemon reads our lines beside other people's and starts them, in a namespace of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.simulators.private import CRON, Json, find_cron, needs_cron, run_privately

HEAD = """
import json, os, pathlib, re, subprocess, sys, time

def run(*words, **more):
    done = subprocess.run(words, capture_output=True, **more)
    return {"code": done.returncode, "out": done.stdout.decode("latin-1"), "err": done.stderr.decode("latin-1")}

THEIRS = b"MAILTO=root\\nTZ=Asia/Tokyo\\n# mine, \\xff odd\\n5 4 * * sun  echo \\"100\\\\%\\"\\n\\n@yearly true\\n"
place = pathlib.Path(sys.argv[1]) / "my 100% brand"
told = {"theirs": THEIRS.decode("latin-1")}
run("lamplighter", "init", str(place), "--shop", "sample")
offset = 14 - time.gmtime().tm_hour  # a zone where it is afternoon, and nothing is due, whatever the hour here
zone = f"Etc/GMT{-offset:+d}" if offset else "UTC"
settings_file = place / "lamplighter.toml"
settings_file.write_text(re.sub(r"(?m)^zone = .*$", f'zone = "{zone}"', settings_file.read_text()))
run("crontab", "-", input=THEIRS)

def lamplighter(*words):
    return run("lamplighter", *words, "--workspace", str(place), "--json")

def runs():
    return json.loads(lamplighter("runs", "list")["out"] or "[]")
"""
AT_START = """
from lamplighter.app import scheduling
from lamplighter.app.machine import build_launcher, read_machine
from lamplighter.config.settings import read_settings
from lamplighter.host.clock import SystemClock
from lamplighter.schedule.record import write_installed

machine, settings, now = read_machine(), read_settings(place), SystemClock().now()
basis = scheduling._new_basis(settings, "cron", machine, now)
entries = scheduling.list_entries(basis, settings, machine, now)
launcher = build_launcher("cron", machine)
launcher.install(entries, basis.project)
told["crontab"] = run("crontab", "-l")["out"]
write_installed(settings.state_dir, basis)
told["verified"] = lamplighter("schedule", "verify")
told["systemd"] = run("lamplighter", "schedule", "install", "--with", "systemd", "--workspace", str(place))
told["kept"] = run("crontab", "-l")["out"]
refusing = pathlib.Path(sys.argv[1]) / "refusing"
refusing.mkdir()
(refusing / "crontab").write_text("#!/bin/sh\\necho you may not >&2; exit 1\\n")
(refusing / "crontab").chmod(0o755)
path = os.environ["PATH"]
os.environ["PATH"] = f"{refusing}:{path}"
told["doubt"] = run("lamplighter", "schedule", "verify", "--workspace", str(place))
told["watched"] = run("lamplighter", "watch", "--workspace", str(place))
os.environ["PATH"] = path
daemon = subprocess.Popen([@CRON@, "-f"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
end = time.monotonic() + 40
while time.monotonic() < end and not {"generate", "post"} <= {run["job"] for run in runs() if run["outcome"]}:
    time.sleep(0.2)
told["runs"] = runs()
while time.monotonic() < end and not (place / "ALERT.txt").exists() and not list(place.glob("state/watch*")):
    time.sleep(0.2)
told["boot"] = (place / "state/schedule/boot-generate.log").read_text()
daemon.terminate()
launcher.remove(basis.project)
told["after"] = run("crontab", "-l")["out"]
print(json.dumps(told))
"""
WHOLE = """
daemon = subprocess.Popen([@CRON@, "-f"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
while not list(pathlib.Path("/run").glob("cron*.pid")):
    time.sleep(0.02)
begun = int(time.time()) + 1
while int(time.time()) <= begun:  # a change in the second of its first look it cannot tell from none
    time.sleep(0.02)
told["install"] = lamplighter("schedule", "install", "--with", "cron")
told["verify"] = lamplighter("schedule", "verify")
told["runs"] = runs()
told["remove"] = lamplighter("schedule", "remove")
told["after"] = run("crontab", "-l")["out"]
daemon.terminate()
print(json.dumps(told))
"""


@needs_cron
def test_cron_starts_our_lines_and_leaves_theirs_alone(tmp_path: Path) -> None:
    """At its own start, which is when a machine comes back: nothing is due, and that is recorded as cron's doing."""
    told = run_privately(CRON, (HEAD + AT_START).replace("@CRON@", repr(find_cron())), tmp_path)
    assert str(told["crontab"]).endswith(str(told["theirs"]))
    assert told["after"] == told["theirs"]
    runs = told["runs"]
    assert isinstance(runs, list)
    found = {(str(run["job"]), str(run["outcome"]), str(run["trigger"])) for run in runs if isinstance(run, dict)}
    assert {("generate", "not_due", "cron"), ("post", "not_due", "cron")} <= found, told
    assert "generate: not_due: no slot is open; the next is " in str(told["boot"])
    _check_doubts(told)


def _check_doubts(told: dict[str, Json]) -> None:
    """Check what was said where a crontab refuses and no user manager answers: one line each, never ok."""
    verified, doubt, watched, systemd = (told[name] for name in ("verified", "doubt", "watched", "systemd"))
    assert isinstance(verified, dict)
    assert isinstance(doubt, dict)
    assert isinstance(watched, dict)
    assert isinstance(systemd, dict)
    assert verified["code"] == 0, verified
    assert (doubt["code"], str(doubt["out"])) == (
        3,
        "could not check: crontab -l: you may not; see whether this user may use cron\n",
    )
    assert "unknown  nobody can tell about the scheduler's entries" in str(watched["out"])
    assert (systemd["code"], str(systemd["err"]).count("\n")) == (77, 1), systemd
    assert "no manager of this user answers" in str(systemd["err"])
    assert "or choose --with cron" in str(systemd["err"])
    assert told["kept"] == told["crontab"]  # what is there stays until what takes its place is there


@needs_cron
@pytest.mark.crash
@pytest.mark.timeout(200)
def test_install_waits_for_crons_next_minute_and_sees_its_run(tmp_path: Path) -> None:
    """The whole way, which takes cron a minute."""
    told = run_privately(CRON, (HEAD + WHOLE).replace("@CRON@", repr(find_cron())), tmp_path, limit=190)

    def code(command: str) -> Json:
        answer = told[command]
        assert isinstance(answer, dict)
        return answer["code"]

    assert (code("install"), code("verify"), code("remove")) == (0, 0, 0), told["install"]
    install = told["install"]
    assert isinstance(install, dict)
    assert "cron started lamplighter at " in str(install["out"])
    assert told["after"] == told["theirs"]
