"""Kills for want of memory are counted where the system counts them, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from lamplighter.host.memory import count_oom_kills

EVENTS = "low 0\nhigh 0\nmax 12\noom 4\noom_kill 3\noom_group_kill 0\n"
CONTROL = "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n"


def count(tmp_path: Path, groups: str) -> int | None:
    """Return what is counted for a process of these control groups."""
    (tmp_path / "cgroup").write_text(groups)
    return count_oom_kills(tmp_path / "cgroup", tmp_path / "tree")


def test_the_count_of_the_second_version_is_read(tmp_path: Path) -> None:
    """memory.events of the process's own group."""
    (tmp_path / "tree/user.slice/job").mkdir(parents=True)
    (tmp_path / "tree/user.slice/job/memory.events").write_text(EVENTS)
    assert count(tmp_path, "0::/user.slice/job\n") == 3


def test_the_count_of_the_first_version_is_read(tmp_path: Path) -> None:
    """memory.oom_control below the controller's own tree; the others say nothing of memory."""
    (tmp_path / "tree/memory/box").mkdir(parents=True)
    (tmp_path / "tree/memory/box/memory.oom_control").write_text(CONTROL)
    assert count(tmp_path, "5:devices:/box\n4:cpu,memory:/box\n0::/\n") == 5


@pytest.mark.parametrize("content", ["oom_kill_disable 0\nunder_oom 0\n", "", "oom_kill\n", "oom_kill many\n"])
def test_a_file_without_the_count_says_nothing(tmp_path: Path, content: str) -> None:
    """Before Linux 4.13 there is no such line: that is no count, and no error; another group's file may have it."""
    for file in ("memory/box/memory.oom_control", "box/memory.events"):
        (tmp_path / "tree" / file).parent.mkdir(parents=True)
        (tmp_path / "tree" / file).write_text(content)
    assert count(tmp_path, "4:memory:/box\n") is None
    assert count(tmp_path, "0::/box\n") is None
    (tmp_path / "tree/box/memory.events").write_text(EVENTS)
    assert count(tmp_path, "4:memory:/box\n0::/box\n") == 3


@pytest.mark.parametrize("groups", ["", "garbage\n", "0::/gone\n", "4:memory:/gone\n", "5:devices:/box\n"])
def test_where_nothing_is_counted_it_is_not_known(tmp_path: Path, groups: str) -> None:
    """A machine without control groups is no error."""
    assert count(tmp_path, groups) is None
    assert count_oom_kills(tmp_path / "missing", tmp_path) is None
