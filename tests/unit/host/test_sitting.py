"""Since when a user is logged in, and the zone of the machine's own clock."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from lamplighter.host.localtime import read_machine_zone
from lamplighter.host.sitting import read_session_begin

AT = datetime(2026, 11, 29, 8, tzinfo=UTC)


def test_the_user_managers_socket_tells_it_on_linux(tmp_path: Path) -> None:
    """It is made when the first session begins; without one nobody can tell."""
    uid = tmp_path.stat().st_uid
    assert read_session_begin(uid=uid, run_dir=tmp_path, is_mac=False) is None
    folder = tmp_path / str(uid) / "systemd"
    folder.mkdir(parents=True)
    (folder / "private").touch()
    os.utime(folder / "private", (AT.timestamp(), AT.timestamp()))
    assert read_session_begin(uid=uid, run_dir=tmp_path, is_mac=False) == AT
    assert read_session_begin(uid=uid + 1, run_dir=tmp_path, is_mac=False) is None


def test_the_console_tells_it_on_a_mac(tmp_path: Path) -> None:
    """It belongs to who is logged in at the screen, and to nobody else."""
    console = tmp_path / "console"
    console.touch()
    uid = console.stat().st_uid
    found = read_session_begin(uid=uid, console=console, is_mac=True)
    assert found == datetime.fromtimestamp(console.stat().st_ctime, tz=UTC)
    assert read_session_begin(uid=uid + 1, console=console, is_mac=True) is None


def test_the_machines_zone_is_where_its_link_points(tmp_path: Path) -> None:
    """A link, a file of its own, nothing; and never what a terminal has in TZ."""
    link = tmp_path / "localtime"
    assert read_machine_zone(link) is UTC
    source = next(
        place / "Europe/Berlin" for place in map(Path, ("/usr/share/zoneinfo", "/usr/lib/zoneinfo")) if place.exists()
    )
    link.symlink_to(source)
    assert read_machine_zone(link) == ZoneInfo("Europe/Berlin")
    link.unlink()
    link.write_bytes(source.read_bytes())
    winter = datetime(2026, 1, 1, tzinfo=UTC).astimezone(read_machine_zone(link))
    assert winter.utcoffset() == datetime(2026, 1, 1, tzinfo=UTC).astimezone(ZoneInfo("Europe/Berlin")).utcoffset()
    link.write_bytes(b"garbage")
    assert read_machine_zone(link) is UTC
