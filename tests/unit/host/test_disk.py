"""Which disks locks can be relied on."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lamplighter.host.disk import (
    exchange,
    find_disk_trouble,
    find_network_type,
    find_sync,
    move_new,
    read_kernel_device,
)

# Recorded lines of /proc/self/mountinfo, names changed.
MOUNTS = r"""
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
31 27 0:45 / /mnt/nas rw,relatime shared:1 - nfs4 nas.local:/volume1 rw,vers=4.2,rsize=1048576,hard,proto=tcp
32 31 0:46 / /mnt/nas/scratch rw,relatime - ext4 /dev/vdb rw
33 27 0:47 / /home/me/My\040Share rw,nosuid,nodev,relatime - cifs //box/share rw,vers=3.1.1,username=me
34 27 0:48 / /home/me/remote rw,nosuid,nodev,relatime - fuse.sshfs me@host:/ rw,user_id=0
35 27 0:49 / /home/me/usb rw,nosuid,nodev,relatime - fuseblk /dev/sdb1 rw
36 27 0:50 / /var/lib/odd\134name rw - nfs host:/odd rw
garbage
37 27
"""


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    """Return a file of recorded mounts."""
    file = tmp_path / "mountinfo"
    file.write_text(MOUNTS)
    return file


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/me/shop/state/locks", ""),
        ("/mnt/nas", "nfs4"),
        ("/mnt/nas/shop/state", "nfs4"),
        ("/mnt/nas/scratch/state", ""),
        ("/mnt/nastier/state", ""),
        ("/home/me/My Share/state", "cifs"),
        ("/home/me/remote/state", "fuse.sshfs"),
        ("/home/me/usb/state", ""),
        ("/var/lib/odd\\name/state", "nfs"),
        ("/", ""),
    ],
)
def test_a_network_disk_is_known_by_the_mount_it_is_on(mounts: Path, folder: str, kind: str) -> None:
    """The longest mount point that the folder is in decides, whatever else is mounted beside it."""
    assert find_network_type(Path(folder), mounts) == kind


def test_a_system_that_lists_no_mounts_is_taken_for_local(tmp_path: Path) -> None:
    """The lock tries itself besides."""
    assert find_network_type(Path("/home/me"), tmp_path / "none") == ""


@pytest.mark.parametrize(
    ("folder", "program"),
    [
        ("/Users/me/Library/Mobile Documents/com~apple~CloudDocs/shop/state", "iCloud Drive"),
        ("/Users/me/Library/CloudStorage/OneDrive-Personal/shop", "a cloud drive"),
        ("/home/me/Dropbox/shop/state", "Dropbox"),
        ("/home/me/Dropbox (Personal)/shop", "Dropbox"),
        ("/home/me/OneDrive - Firm/shop", "OneDrive"),
        ("/home/me/Google Drive/shop", "Google Drive"),
        ("/home/me/Nextcloud/shop", "Nextcloud"),
        ("/home/me/dropboxes/shop", ""),
        ("/home/me/shop/state", ""),
    ],
)
def test_a_synced_folder_is_known_by_its_name(folder: str, program: str) -> None:
    """A lock file that a program replaces by a copy of itself holds nothing."""
    assert find_sync(Path(folder)) == program


def test_a_synced_folder_is_known_by_its_mark(tmp_path: Path) -> None:
    """Syncthing leaves one wherever the folder is."""
    (tmp_path / ".stfolder").mkdir()
    assert find_sync(tmp_path / "shop" / "state") == "Syncthing"


def test_a_link_into_a_synced_folder_is_followed(tmp_path: Path) -> None:
    """Where it really is counts."""
    (tmp_path / "Dropbox" / "shop").mkdir(parents=True)
    (tmp_path / "shop").symlink_to(tmp_path / "Dropbox" / "shop")
    assert find_disk_trouble(tmp_path / "shop" / "state") == ("it is in a folder that Dropbox copies to and fro")


def test_the_disk_of_this_test_is_no_trouble(tmp_path: Path) -> None:
    """Whether the folder exists yet or not."""
    assert find_disk_trouble(tmp_path / "state" / "locks" / "generate") == ""


def test_the_kernels_device_is_that_of_its_list_of_locks(tmp_path: Path) -> None:
    """On an ordinary disk stat(2) says the same."""
    device = os.stat(tmp_path).st_dev
    assert read_kernel_device(tmp_path) == f"{os.major(device):02x}:{os.minor(device):02x}"


def test_what_does_not_exist_has_no_device(tmp_path: Path) -> None:
    """None is made up."""
    assert read_kernel_device(tmp_path / "none") == ""


def test_without_a_list_of_mounts_the_device_is_that_of_stat(tmp_path: Path) -> None:
    """Better than nothing, and right on most disks."""
    assert read_kernel_device(tmp_path, tmp_path / "none") == read_kernel_device(tmp_path)


@pytest.mark.skipif(os.getuid() != 0 or shutil.which("unshare") is None, reason="needs root and unshare(1)")
def test_a_holder_on_an_overlay_is_found_though_stat_tells_another_device(tmp_path: Path) -> None:
    """stat(2) and the list of locks disagree there, as on btrfs; holder and keepers are named all the same."""
    code = """
import os, sys
from pathlib import Path
from lamplighter.engine.holder import read_flock_holder
from lamplighter.engine.keeper import read_keepers
from lamplighter.engine.lock import JobLock
from lamplighter.host.clock import SystemClock
folder = Path(sys.argv[1]) / "generate"
lock = JobLock(folder, SystemClock())
for _ in range(2):  # the second time the files lie on the upper layer
    lock.acquire("second")
    lock.release()
lock.acquire("third")
kept = {(keeper.pid, keeper.on_folder) for keeper in read_keepers(folder)}
print(read_flock_holder(folder) == os.getpid() and kept == {(os.getpid(), True), (os.getpid(), False)}, flush=True)
"""
    script = (
        f"mount -t tmpfs t {tmp_path} && cd {tmp_path} && mkdir lower upper work seen "
        "&& mount -t tmpfs l lower && touch lower/one lower/two && mkdir lower/generate && touch lower/generate/lock "
        "&& mount -t overlay o -o lowerdir=lower,upperdir=upper,workdir=work seen "
        f'&& {sys.executable} -c "$0" $PWD/seen'
    )
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == "True\n", done.stderr


def test_two_names_are_swapped_in_one_step(tmp_path: Path) -> None:
    """Both stay; where one is missing nothing happens."""
    (tmp_path / "old").write_text("old")
    (tmp_path / "new").write_text("new")
    folder = os.open(tmp_path, os.O_RDONLY)
    assert exchange("new", "old", folder=folder)
    assert ((tmp_path / "old").read_text(), (tmp_path / "new").read_text()) == ("new", "old")
    assert not exchange("none", "old", folder=folder)
    assert not exchange("new", "none", folder=folder)
    os.close(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "old"]


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOSYS, errno.ENOTSUP])
def test_where_no_rename_can_refuse_a_move_looks_first(tmp_path: Path, number: int) -> None:
    """An old kernel or a file system such as NFS: what is there is still not replaced, and what is not is made."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with pytest.raises(FileExistsError):
        move_new(tmp_path / "a", tmp_path / "b", lambda _source, _target: number)
    move_new(tmp_path / "a", tmp_path / "c", lambda _source, _target: number)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "c"]


def test_any_other_trouble_of_a_move_is_raised(tmp_path: Path) -> None:
    """The move is not tried in another way."""
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match="No space left"):
        move_new(tmp_path / "a", tmp_path / "b", lambda _source, _target: errno.ENOSPC)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
