"""Bad places, for real: full and read-only disks in a mount namespace of their own, and another user's workspace."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.acceptance.bad_input import check_left, make_product, make_workspace, say
from tests.acceptance.program import Ended, run, snapshot

OWNER, STRANGER = 12_345, 12_346
PROGRAM = Path(sys.executable).parent / "lamplighter"
# What hides the interpreter from other users (a folder of mode 0700, say) is covered by a folder that does not.
AS_USER = """
set -e; uid=$1 shut=$2 prefix=$3 spare=$4; shift 4; mount --make-rprivate /
if [ -n "$shut" ]; then
  mount --bind "$prefix" "$spare"; mount -t tmpfs -o mode=755 none "$shut"; mkdir -p "$prefix"
  mount --bind "$spare" "$prefix"
fi
exec setpriv --reuid="$uid" --regid="$uid" --clear-groups "$@"
"""
ON_DISK = 'set -e; mount --make-rprivate /; mount -t tmpfs -o size="$1" none "$2"; shift 2; exec "$@"'
READ_ONLY = 'set -e; mount --make-rprivate /; mount --bind "$1" "$1"; mount -o remount,bind,ro "$1"; shift; exec "$@"'


def in_namespace(script: str, *arguments: str | Path) -> Ended:
    """Run a shell script in a mount namespace of its own, where it may mount what it likes.

    Its coverage is not measured: another user, or a full disk, has no place for the data.
    """
    command = ["unshare", "--mount", "sh", "-c", script, "sh", *map(str, arguments)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
        stdin=subprocess.DEVNULL,
        env={name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_START"},
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Ended(code=done.returncode, out=done.stdout, err=done.stderr)


def can_unshare() -> bool:
    """Tell whether this user may make mount namespaces and act as other users."""
    if os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("setpriv"):
        return False
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0


pytestmark = pytest.mark.skipif(not can_unshare(), reason="needs root, unshare and setpriv")


@pytest.fixture
def open_dir() -> Iterator[Path]:
    """Return a folder that every user may enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def own(path: Path, uid: int) -> None:
    """Give a path and all below it to a user."""
    for entry in (path, *path.rglob("*")):
        os.chown(entry, uid, uid, follow_symlinks=False)


def find_shut(path: Path) -> str:
    """Return the first folder above a path that other users may not enter, or ""."""
    return next((str(parent) for parent in reversed(path.parents) if not parent.stat().st_mode & 0o001), "")


def run_as(uid: int, spare: Path, *command: str | Path) -> Ended:
    """Run the program as another user, for real."""
    prefix = Path(sys.base_prefix).resolve()
    return in_namespace(AS_USER, str(uid), find_shut(prefix), prefix, spare, PROGRAM, *command)


# --- another user's ----------------------------------------------------------------------------------------------

CHANGES = (
    ("generate",), ("generate", "--force"), ("post",), ("post", "--force"), ("brands", "skip", "kiln"),
    ("brands", "unskip", "kiln"), ("stock", "clean"), ("stock", "hold", "feature-0001-kiln"),
    ("stock", "drop", "feature-0001-kiln", "--yes"),
)  # fmt: skip
LOOKS = (
    ("generate", "--dry-run"), ("generate", "--dry-run", "--force"), ("post", "--dry-run"), ("status",),
    ("stock", "list", "--all"), ("brands", "list"), ("runs", "list"), ("posted",),
)  # fmt: skip


@pytest.fixture
def users(open_dir: Path) -> Path:
    """Return a workspace of another user, in which nothing has run."""
    workspace = make_workspace(open_dir / "w")
    (open_dir / "spare").mkdir()
    own(workspace, OWNER)
    return workspace


def test_root_changes_nothing_in_a_users_workspace(users: Path) -> None:
    """Exit 64 for every command that would write, and not a byte, time or owner is another."""
    before = snapshot(users)
    for command in CHANGES:
        ended = run(*command, "--workspace", users)
        assert ended.code == 64, ended
        assert f"it belongs to user {OWNER}, and this is user 0; run it as its owner" in say(ended)
    assert run("init", users / "inner").code == 64
    assert run("demo", users).code == 66
    assert snapshot(users) == before


def test_after_roots_looks_the_owner_works_on(users: Path, open_dir: Path) -> None:
    """A dry run as root leaves nothing behind that stops the user: before the first run, and after it."""
    for _ in range(2):
        before = snapshot(users)
        for command in LOOKS:
            assert run(*command, "--workspace", users).code == 0
        assert snapshot(users) == before
        ended = run_as(OWNER, open_dir / "spare", "generate", "--force", "--workspace", users)
        assert ended.code == 0, ended
        check_left(users)
    ended = run_as(OWNER, open_dir / "spare", "post", "--workspace", users)
    assert ended.code == 0, ended
    assert {path.stat().st_uid for path in (users, *users.rglob("*"))} == {OWNER}


def test_a_stranger_is_told_so(users: Path, open_dir: Path) -> None:
    """Neither may change anything, nor look at a state that is the owner's alone."""
    ended = run_as(STRANGER, open_dir / "spare", "generate", "--workspace", users)
    assert ended.code == 64
    assert f"it belongs to user {OWNER}, and this is user {STRANGER}" in say(ended)
    assert run_as(OWNER, open_dir / "spare", "post", "--workspace", users).code == 66
    ended = run_as(STRANGER, open_dir / "spare", "status", "--workspace", users)
    assert (ended.code, "Permission denied" in say(ended)) == (74, True)


@pytest.mark.parametrize(
    ("name", "mode", "codes"),
    [
        ("lamplighter.toml", 0o000, (74, 74, 74)),
        ("brand-catalog.json", 0o000, (74, 66, 74)),
        ("shop", 0o000, (69, 66, 0)),
        ("shop/p.jpg", 0o000, (69, 66, 0)),
        (".", 0o555, (74, 74, 0)),
        (".", 0o000, (66, 66, 66)),
    ],
)
def test_what_its_owner_may_not_read_or_write_is_told(
    users: Path, open_dir: Path, name: str, mode: int, codes: tuple[int, int, int]
) -> None:
    """For generate, post and status, in one line with a way out; the modes are nobody's to change but the owner's."""
    (users / name).chmod(mode)
    for command, code in zip(("generate", "post", "status"), codes, strict=True):
        ended = run_as(OWNER, open_dir / "spare", command, "--workspace", users)
        assert ended.code == code, (command, ended)
        if code:
            say(ended)
    assert (users / name).stat().st_mode & 0o777 == mode
    (users / name).chmod(0o755)
    check_left(users)


@pytest.mark.parametrize(("name", "code"), [("state", 64), ("content", 74)])
def test_a_folder_of_root_in_a_users_workspace_is_told(users: Path, open_dir: Path, name: str, code: int) -> None:
    """With the folder's name: somebody once worked here as root."""
    (users / name).mkdir(mode=0o700)
    ended = run_as(OWNER, open_dir / "spare", "generate", "--workspace", users)
    assert (ended.code, f"{users / name}" in say(ended)) == (code, True), ended


# --- disks -------------------------------------------------------------------------------------------------------


def test_a_read_only_disk_can_be_looked_at_and_refuses_the_rest(stocked: Path) -> None:
    """Exit 74 with what to do; looks and dry runs work as ever."""
    before = snapshot(stocked)
    for command in (("generate", "--force"), ("post",), ("brands", "skip", "kirino"), ("stock", "clean")):
        ended = in_namespace(READ_ONLY, stocked, PROGRAM, *command, "--workspace", stocked)
        assert (ended.code, ": " in say(ended)) == (74, True), ended
    for command in (("status",), ("generate", "--dry-run"), ("post", "--dry-run"), ("stock", "list")):
        assert in_namespace(READ_ONLY, stocked, PROGRAM, *command, "--workspace", stocked).code == 0
    assert in_namespace(READ_ONLY, stocked, PROGRAM, "init", stocked.parent / "w2").code == 0
    assert snapshot(stocked) == before


FULL_DISK = """
program=$1 source=$2 disk=$3; cp -r "$source" "$disk/w"
free() { df --output=avail -k "$disk" | tail -1; }
for left in 0 120 300 1500; do
  rm -f "$disk/fill"; head -c "$(( ($(free) - left) * 1024 ))" /dev/zero > "$disk/fill"
  for command in "generate --force" "post" "stock clean" "status" "generate --dry-run"; do
    $program $command --workspace "$disk/w" > "$disk/../said" 2>&1; echo "$left|$command|$?|$(tail -1 "$disk/../said")"
  done
  find "$disk/w" -name ".tmp-*"; $program init "$disk/new" --shop sample > "$disk/../said" 2>&1
  echo "$left|init|$?|$(tail -1 "$disk/../said")"; [ ! -e "$disk/new/lamplighter.toml" ] || rm -r "$disk/new"
  ls -A "$disk" | grep -v -e '^w$' -e '^fill$'
done
rm "$disk/fill"
for command in "generate --force" "post"; do
  $program $command --workspace "$disk/w" > "$disk/../said" 2>&1; echo "free|$command|$?|$(tail -1 "$disk/../said")"
done
cp -r "$disk/w" "$disk/../kept"
"""


def test_a_full_disk_is_told_and_everything_goes_on_when_there_is_room(tmp_path: Path) -> None:
    """At four fillings: exit 74 with what to do, nothing half-written, no half workspace; looks go on working."""
    source = make_workspace(tmp_path / "source", *(make_product(number) for number in range(1, 4)))
    disk = tmp_path / "disk"
    disk.mkdir()
    ended = in_namespace(ON_DISK, "12m", disk, "sh", "-c", FULL_DISK, "sh", PROGRAM, source, disk)
    rows = [line.split("|", 3) for line in ended.out.splitlines()]
    assert all(len(row) == 4 for row in rows), ended  # anything else that was printed is a leftover's name
    for left, command, code, line in rows:
        looks = command in {"status", "generate --dry-run"}
        assert int(code) in ({0} if looks or left == "free" else {0, 66, 74}), (left, command, code, line)
        if int(code) == 74:
            assert "No space left" in line or "disk is full" in line, line
    assert {code for left, command, code, _ in rows if left == "0" and command in {"generate --force", "post"}} == {
        "74"
    }
    check_left(tmp_path / "kept")
    assert len(list((tmp_path / "kept/outbox").iterdir())) == 1
