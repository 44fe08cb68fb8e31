"""One run of a job at a time: the kernel decides who holds the lock, the record only explains.

Two flock(2) anchors, on the job's lock folder and on a permanent file in it, are held for the life of the run; a
POSIX record lock on the same file lets the kernel name the holder. Neither anchor is ever unlinked, unlocked by hand
or stolen: what a dead process held is free the moment it is dead (reference/locks.md §4).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import weakref
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

from lamplighter.engine.claim import Claim, read_generation, read_inode
from lamplighter.engine.history import Event, append_event, shorten_history
from lamplighter.engine.holder import LOCK_FILE, describe_holder, read_flock_holder, read_holder
from lamplighter.engine.owner import HELD, OWNER_FILE, RELEASED, Child, Owner, read_owner
from lamplighter.engine.record import SPARE_FILE, read_claim, write_next_generation, write_owner
from lamplighter.errors import Fenced, LockBusy, LockUnusable
from lamplighter.host.clock import Clock
from lamplighter.host.disk import find_disk_trouble
from lamplighter.host.identity import read_namespaces, read_own_identity
from lamplighter.value import replace, value

_TRIES = 100
# A release without an exit wakes nobody who watches the process, so nobody watches for longer than this at a time.
_LONGEST_WATCH = timedelta(milliseconds=50)
_BLIND_WATCH = timedelta(milliseconds=10)  # where there is no process to watch
_SHORTEST_WATCH = timedelta(milliseconds=1)
_END_BY_HAND = "lamplighter lock end"
_STATE_REMEDY = "put the state on a writable local disk (state_dir)"


@value
class Terms:
    """How a holder means to hold: for `limit` at most (None: any time), ended by others `grace` later; who started it.

    The limit is the holder's own: contenders go by what it wrote, so that all of them agree.
    """

    trigger: str = "person"
    limit: timedelta | None = None
    grace: timedelta = timedelta(seconds=20)


class JobLock:
    """The lock of one job, taken by `acquire` and held until `release` or the end of the process.

    After `acquire`, `before` is the record that was found, `predecessor` that of a holder that died without a word,
    `taken_over` of one that hung and was ended, `leftovers_ended` the processes of either that were still alive.
    """

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        terms: Terms | None = None,
        *,
        find_trouble: Callable[[Path], str] = find_disk_trouble,
    ) -> None:
        """Name the job's lock folder; nothing is touched before `acquire`, which first asks what ails the disk."""
        self._folder = folder
        self._clock = clock
        self._terms = terms or Terms()
        self._find_trouble = find_trouble
        self._descriptors: tuple[int, ...] = ()
        self._owner: Owner | None = None
        self._claim: Claim | None = None
        self.before: Owner | None = None
        self.predecessor: Owner | None = None
        self.taken_over: Owner | None = None
        self.leftovers_ended = 0

    @property
    def generation(self) -> int:
        """Return the number of this hold, higher than that of any before; 0 when nothing is held."""
        return self._owner.generation if self._owner is not None else 0

    @property
    def claim(self) -> Claim:
        """Return what a worker needs for its own `check`; raises Fenced when nothing is held."""
        if self._claim is None:
            raise Fenced(str(self._folder), "the lock is not held")
        return self._claim

    def acquire(self, command: str, *, floor: int = 0, wait: timedelta = timedelta(0), end_hung: bool = True) -> None:
        """Take the lock, or raise LockBusy (who has it) or LockUnusable (why it can't be relied on).

        `floor` is the highest generation the ledger knows; ours will be higher. `wait` is how long to wait for another
        run to end. A holder that is past its own limit and grace is ended first, where `end_hung` allows it.
        """
        self._acquire(command, floor=floor, wait=wait, end_hung=end_hung)

    def end_holder(self, nonce: str) -> bool:
        """End the run of this nonce if it holds the lock, due or not, and let go; return whether there was one.

        Raises LockBusy when another run holds the lock, or when this one cannot be verified or does not end.
        """
        self._acquire(_END_BY_HAND, floor=0, wait=timedelta(0), end_hung=True, end_now=nonce)
        had = self.taken_over is not None or self.predecessor is not None
        self.release("ended by hand" if had else "nothing to end")
        return had

    def _acquire(self, command: str, *, floor: int, wait: timedelta, end_hung: bool, end_now: str = "") -> None:
        if self._descriptors:
            raise LockBusy(f"job {self._folder.name}", describe_holder(self._folder))
        self.predecessor = self.taken_over = None
        self.leftovers_ended = 0
        self._find_place()
        try:
            with self._closing_on_error():
                self._wait_for_both(wait, end_hung=end_hung, end_now=end_now)
                self._succeed(command, floor)
        except LockBusy as error:
            self._note("refused", pid=os.getpid(), text=f"{command}: {error}")
            raise
        self._note_acquired(command)

    def _succeed(self, command: str, floor: int) -> None:
        """Count on from the holder before, end what it left if it did not let go itself, and write our own record.

        The number first: it fences what is left of the run before. Then that is ended, while its own record still
        stands: were we killed here, the next one would know of it just the same.
        """
        folder, file = self._descriptors
        before = self.before = read_owner(self._folder)
        generation = write_next_generation(file, floor=max(floor, before.generation if before is not None else 0))
        if before is not None and before.state == HELD:
            if self.taken_over is None or self.taken_over.nonce != before.nonce:
                self.predecessor = before
            self._end_leftovers(before)
        self._owner = self._describe_self(command, generation)
        self._claim = read_claim(self._folder, folder, file, self._owner)
        write_owner(folder, self._owner)

    def check(self) -> None:
        """Raise Fenced unless this run still holds the lock on disk; call before every commit."""
        try:
            generation = read_generation(self._descriptors[1])
        except (OSError, IndexError) as error:
            raise Fenced(str(self._folder), f"the lock is gone: {error}") from None
        self.claim.check_generation(generation)

    def describe(self, *, phase: str | None = None, children: tuple[Child, ...] | None = None) -> None:
        """Let the record say what the run is at and what it started; a full disk never stops the run."""
        if self._owner is None:
            return
        steady = self._clock.monotonic().total_seconds()
        if phase is not None:
            self._owner = replace(self._owner, phase=phase, phase_steady=steady)
        if children is not None:
            self._owner = replace(self._owner, children=children)
        with contextlib.suppress(OSError, Fenced):
            self.check()
            write_owner(self._descriptors[0], self._owner)

    @property
    def nonce(self) -> str:
        """Return the mark that every process of this run is to bear in its environment, under `takeover.MARK`."""
        return self._owner.nonce if self._owner is not None else ""

    def release(self, ended: str = "") -> None:
        """Say that the run has ended, and how, and let go; never fails, whatever became of the folder.

        The record goes where the folder is now: one that was moved in mid-run, with its workspace say, is still the one
        that is held, and what is in its old place is not asked.
        """
        with contextlib.suppress(OSError):
            if self._owner is not None and self._is_whole(self._owner):
                self._write_end(replace(self._owner, state=RELEASED, children=(), ended=ended))
        self._close()

    def _is_whole(self, owner: Owner) -> bool:
        """Return whether the folder that is held, wherever it is, still has the file that is held, of this hold."""
        folder, file = self._descriptors
        there, held = os.stat(LOCK_FILE, dir_fd=folder, follow_symlinks=False), os.fstat(file)
        is_same = (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino)
        return is_same and read_generation(file) == owner.generation

    def _write_end(self, released: Owner) -> None:
        folder = self._descriptors[0]
        try:
            write_owner(folder, released)
        except OSError:  # a full disk: with no record at all the next run is not told of a death
            os.unlink(OWNER_FILE, dir_fd=folder)

    def _close(self) -> None:
        """Close, never unlock: LOCK_UN would free what a copy in a forked process still needs (flock(2))."""
        for descriptor in self._descriptors:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._descriptors = ()
        self._owner = self._claim = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _find_place(self) -> None:
        """Make the folder; raises LockUnusable where no lock can be relied on, LockBusy where another user's run is."""
        with _unusable(self._folder):
            trouble = self._find_trouble(self._folder)
            if trouble:
                raise LockUnusable(str(self._folder), trouble, "set state_dir to a folder on a local disk")
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            user = self._folder.stat().st_uid
        if user != os.geteuid() and (os.geteuid() == 0 or not os.access(self._folder, os.W_OK | os.X_OK)):
            self._refuse_place(user)

    def _refuse_place(self, user: int) -> None:
        """Raise for a folder of another user: LockBusy when somebody holds it, so that EPERM is not taken for death.

        Root could take the lock, and would leave files there that shut the owner out for ever.
        """
        pid = read_flock_holder(self._folder)
        if pid is not None:
            raise LockBusy(
                f"job {self._folder.name}",
                f"another run is at work: pid {pid} of user {user}, which cannot be signalled from here",
            )
        raise LockUnusable(str(self._folder), f"it belongs to user {user}", "run it as its owner")

    @contextlib.contextmanager
    def _closing_on_error(self) -> Iterator[None]:
        try:
            with _unusable(self._folder):
                yield
        except BaseException:
            self._close()
            raise

    def _wait_for_both(self, wait: timedelta, *, end_hung: bool, end_now: str) -> None:
        """Hold folder and file, or raise LockBusy after `wait`; a hung holder is ended, this process not waited for."""
        end = self._clock.monotonic() + wait
        while not self._try_both():
            owner = read_owner(self._folder)
            is_own = owner is not None and owner.is_this_process
            if owner is not None and end_hung and not is_own and self._take_over(owner, end_now):
                return
            left = end - self._clock.monotonic()
            if is_own or left <= timedelta(0):
                raise LockBusy(f"job {self._folder.name}", describe_holder(self._folder))
            self._watch(min(left, _LONGEST_WATCH))

    def _take_over(self, owner: Owner, end_now: str) -> bool:
        """End a holder that is past its own limit and grace, or the one of the nonce `end_now`; did we get the lock?"""
        from lamplighter.engine.takeover import Freed, free_lock  # noqa: PLC0415 - few runs meet another, and importing the lock is to stay quick

        by_hand = bool(end_now) and owner.nonce == end_now
        freed = free_lock(self._folder, owner, clock=self._clock, try_lock=self._try_both, by_hand=by_hand)
        if freed is Freed.ENDED:
            self.taken_over = owner
        return freed is not Freed.NOT

    def _watch(self, limit: timedelta) -> None:
        """Sleep until the holder ends, for `limit` at most."""
        from lamplighter.host.handle import ProcessHandle  # noqa: PLC0415 - as above

        pause = _SHORTEST_WATCH
        pid = read_holder(self._folder)
        if pid is not None:
            try:
                with ProcessHandle(pid) as handle:
                    handle.wait(limit)
                    return
            except (OSError, ValueError):  # it ended just now, or lives where we cannot see it
                pause = _BLIND_WATCH
        self._clock.wait(min(limit, pause))

    def _try_both(self) -> bool:
        """Open and flock folder and file, see that they are still in place; return False when another has them."""
        for _ in range(_TRIES):
            folder = file = -1
            try:
                folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
                file = os.open(LOCK_FILE, flags, 0o600, dir_fd=folder)
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if read_inode(folder) == read_inode(self._folder) and read_inode(file) == read_inode(
                    self._folder / LOCK_FILE
                ):
                    self._check_exclusion()
                    self._keep(folder, file)
                    return True
            except FileNotFoundError:  # somebody took the folder away while we waited
                _close(folder, file)
                folder = file = -1
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                _close(folder, file)
                if error.errno == errno.EAGAIN or (error.errno == errno.EACCES and file >= 0):  # EACCES: lockf(3)
                    return False
                raise
            except LockUnusable:
                _close(folder, file)
                raise
            _close(folder, file)
        raise LockUnusable(str(self._folder), "the folder is being replaced again and again")

    def _check_exclusion(self) -> None:
        """Raise LockUnusable where the file system lets a second descriptor have what the first one holds."""
        second = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return
        finally:
            os.close(second)
        raise LockUnusable(str(self._folder), "this file system does not keep locks", _STATE_REMEDY)

    def _keep(self, folder: int, file: int) -> None:
        """Remember the descriptors, and close them in every process that is forked from this one."""
        self._descriptors = (folder, file)
        lock = weakref.ref(self)

        def forget() -> None:
            held = lock()
            if held is not None:
                held._close()  # noqa: SLF001 - the class's own module

        os.register_at_fork(after_in_child=forget)

    def _describe_self(self, command: str, generation: int) -> Owner:
        """Return the record of this hold."""
        own = read_own_identity()
        return Owner(
            pid=own.pid,
            start=own.start,
            session=os.getsid(0),
            boot_id=own.boot_id,
            namespaces=read_namespaces(),
            uid=os.getuid(),
            host=os.uname().nodename,
            command=command,
            trigger=self._terms.trigger,
            generation=generation,
            nonce=os.urandom(8).hex(),
            state=HELD,
            since=_say_moment(self._clock.now()),
            since_steady=self._clock.monotonic().total_seconds(),
            limit=self._terms.limit.total_seconds() if self._terms.limit is not None else None,
            grace=self._terms.grace.total_seconds(),
        )

    def _end_leftovers(self, before: Owner) -> None:
        """End what lives of a dead run before this one starts work; raises LockBusy when it cannot be ended."""
        from lamplighter.engine.takeover import end_leftovers  # noqa: PLC0415 - as above

        if before.children or before.nonce:
            self.leftovers_ended, left = end_leftovers(before)
            if left:
                raise LockBusy(
                    f"job {self._folder.name}", f"{left} processes of the run before cannot be ended", "end them first"
                )

    def _note(self, what: str, *, pid: int, text: str, generation: int = 0) -> None:
        at = _say_moment(self._clock.now())
        append_event(self._folder, Event(at=at, what=what, generation=generation, pid=pid, text=text))

    def _note_acquired(self, command: str) -> None:
        """Write into the history what was found and done, now that it is."""
        shorten_history(self._folder)
        for what, owner in (("died", self.predecessor), ("took_over", self.taken_over)):
            if owner is not None:
                self._note(what, pid=owner.pid, text=owner.describe(), generation=owner.generation)
        self._note("acquired", pid=os.getpid(), text=command, generation=self.generation)


def _say_moment(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        if descriptor >= 0:
            os.close(descriptor)


@contextlib.contextmanager
def _unusable(folder: Path) -> Iterator[None]:
    """Turn what the operating system says into LockUnusable: never "busy", never "go on without"."""
    try:
        yield
    except OSError as error:
        raise _explain(folder, error) from error


def _explain(folder: Path, error: OSError) -> LockUnusable:
    """Return the error that names what stands in the way, a single file where it is one, and what to do about it."""
    cause = error.strerror or str(error)
    if error.errno in {errno.EMFILE, errno.ENFILE}:
        return LockUnusable(str(folder), cause, "end what has so many open, or raise the limit (ulimit -n)")
    for path in (folder / LOCK_FILE, folder / OWNER_FILE, folder / SPARE_FILE):
        with contextlib.suppress(OSError):
            if not stat.S_ISREG(path.lstat().st_mode):
                return LockUnusable(str(path), "this is not a file of ours", "move it away")
            if not os.access(path, os.R_OK | os.W_OK):
                return LockUnusable(str(path), cause, "make it readable and writable for this user, or move it away")
    return LockUnusable(str(folder), cause, _STATE_REMEDY)
