"""cron, by the crontab of one user. Linux only: on a Mac cron is there and may never run a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from itertools import islice
from pathlib import Path

from lamplighter.errors import InputError, LamplighterError, UpstreamError
from lamplighter.host.clock import Clock
from lamplighter.host.files import make_folder
from lamplighter.host.process import Runner
from lamplighter.schedule import cron
from lamplighter.schedule.check import Fact
from lamplighter.schedule.cron import Crontab
from lamplighter.schedule.cron_words import due_after, explain_cron
from lamplighter.schedule.entry import LABEL_PREFIX, Entry, job_of
from lamplighter.schedule.launcher import NextWakes
from lamplighter.schedule.tool import Tool

_NOT_BEFORE_SECONDS = 50  # cron reads a crontab anew when a minute begins
_QUIET_FROM, _QUIET_UNTIL = 2, 58
_GRACE = timedelta(seconds=20)
_MINUTE = timedelta(minutes=1)


class CronLauncher:
    """Our lines in one user's crontab."""

    name = "cron"

    def __init__(
        self,
        runner: Runner,
        *,
        environment: Mapping[str, str],
        clock: Clock,
        machine: tzinfo,
        pid_files: tuple[Path, ...] = (Path("/run/crond.pid"), Path("/run/cron.pid")),
    ) -> None:
        """Ask for the user of this process; `machine` is the zone that cron counts in."""
        self._tool = Tool(runner, "crontab", environment)
        self._clock = clock
        self._machine = machine
        self._pid_files = pid_files

    def answers(self) -> bool:
        """Return whether there is a crontab program that lets this user have one."""
        try:
            self._read_bytes()
        except LamplighterError:
            return False
        return True

    def read(self, entries: Sequence[Entry], project: str) -> tuple[Fact, ...]:
        """Return what there is of each entry; a crontab has no enabling and no loading."""
        crontab = self._read(project)
        edited, there = cron.find_edits(cron.render_block(entries, project), crontab.ours or b"")
        above = cron.describe_above(crontab)
        labels = [label for label in dict.fromkeys((*(entry.label for entry in entries), *there)) if label]
        stray = ("lines without a name",) if "" in edited else ()
        facts = []
        for label in labels:
            exists = label in there
            keys = ("its lines",) if label in edited and exists else ()
            odd = (f"{above} is set above our lines",) if above else ()
            facts.append(
                Fact(
                    label=label,
                    exists=exists,
                    edits=(*keys, *odd, *stray) if exists else (),
                    argv=cron.parse_argv(there.get(label, ())[:1]),
                )
            )
        return tuple(facts)

    def install(self, entries: Sequence[Entry], project: str, *, gently: bool = False) -> tuple[str, ...]:
        """Put exactly these lines at the head of the crontab."""
        del gently
        for entry in entries:
            make_folder(entry.boot_file.parent, mode=0o700)
        crontab = self._read(project)
        block = cron.render_block(entries, project)
        if crontab.ours == block and not crontab.before:
            return ()
        edited, _ = cron.find_edits(block, crontab.ours or b"")
        self._write(crontab, block + crontab.theirs, project)
        return tuple(label for label in edited if label) or tuple(entry.label for entry in entries)

    def remove(self, project: str) -> tuple[str, ...]:
        """Take our lines out; every other byte stays, and a crontab that holds nothing else goes."""
        crontab = self._read(project)
        if crontab.ours is None:
            return ()
        _, there = cron.find_edits(b"", crontab.ours)
        self._write(crontab, crontab.theirs, project)
        return tuple(label for label in there if job_of(label, project))

    def start(self, entry: Entry, now: datetime) -> datetime:
        """Add a line for the next minute."""
        make_folder(entry.boot_file.parent, mode=0o700)
        self._wait_for_quiet()
        now = max(now, self._clock.now())
        ahead = 1 if now.second < _NOT_BEFORE_SECONDS else 2
        at = now.replace(second=0, microsecond=0) + ahead * _MINUTE
        wall = at.astimezone(self._machine)
        line = f"{wall:%-M %-H %-d %-m} * {cron.render_command(entry)}"
        project = entry.label.removeprefix(f"{LABEL_PREFIX}.").removesuffix(f".{entry.job}")
        crontab = self._read(project)
        block = cron.add_lines(crontab.ours or cron.render_block((), project), entry.label, (line,))
        self._write(crontab, block + crontab.theirs, project)
        return at + _GRACE

    def clear(self, entry: Entry, project: str) -> None:
        """Take that line out again."""
        crontab = self._read(project)
        if crontab.ours is not None:
            block = cron.drop_label(crontab.ours, entry.label)
            left = b"" if block == cron.render_block((), project) else block
            self._write(crontab, left + crontab.theirs, project)

    def list_next(self, entry: Entry, now: datetime, count: int) -> NextWakes:
        """Return what the entry's own lines say."""
        project = entry.label.removeprefix(f"{LABEL_PREFIX}.").removesuffix(f".{entry.job}")
        _, there = cron.find_edits(b"", self._read(project).ours or b"")
        found: set[datetime] = set()
        for expression in cron.list_expressions(there.get(entry.label, ())):
            if explain_cron(expression):
                return NextWakes(words=f"{expression} is no time")
            found.update(islice(due_after(expression, self._machine, now), count))
        return NextWakes(at=tuple(sorted(found)[:count]), words="" if found else "its lines have no time")

    def list_remarks(self) -> tuple[str, ...]:
        """Say what cron does not do."""
        return ("cron makes up for nothing that was missed in sleep: our own lines look once an hour and do",)

    def explain_silence(self, entry: Entry) -> str:
        """Return whether a cron daemon runs at all, as far as its pid file tells."""
        del entry
        if not any(file.exists() for file in self._pid_files):
            return "no cron daemon runs: sudo service cron start"
        return "cron runs, and its log (journalctl -t CRON, /var/log/syslog) says what it did"

    def _wait_for_quiet(self) -> None:
        """Wait while a minute begins: cron, which tells changes apart by the second, may never see one made then."""
        while not _QUIET_FROM <= (second := self._clock.now().second) <= _QUIET_UNTIL:
            self._clock.wait(timedelta(seconds=(_QUIET_FROM - second) % 60))

    def _read(self, project: str) -> Crontab:
        return cron.parse_crontab(self._read_bytes(), project)

    def _read_bytes(self) -> bytes:
        answer = self._tool.ask("-l")
        if answer.code == 0:
            return answer.out
        if b"no crontab for" in answer.err:
            return b""
        raise UpstreamError("crontab -l", answer.words, "see whether this user may use cron")

    def _write(self, crontab: Crontab, content: bytes, project: str) -> None:
        """Replace the crontab that was read, unless somebody changed it meanwhile, and see that it took."""
        self._wait_for_quiet()
        before = self._read_bytes()
        if cron.parse_crontab(before, project) != crontab:
            raise InputError("crontab", "somebody changed it meanwhile, so it was left as it is", "run it again")
        if content == before:
            return
        if content:
            self._tool.order("-", stdin=content)
        else:
            self._tool.order("-r")
        after = self._read_bytes()
        if after != content:
            raise UpstreamError("crontab", "it does not hold what was written", "look at it by crontab -l")
