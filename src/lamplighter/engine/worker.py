"""The worker: the process that does a run's work, watched from outside until it has ended and left nothing behind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from lamplighter.engine.claim import Claim
from lamplighter.engine.ending import Declared, WorkerEnd, decide_end
from lamplighter.engine.job import Evidence, RunReport
from lamplighter.engine.log import err_file, log_file, log_parts, out_file, redact, redact_file, rotate
from lamplighter.engine.output import Mark, choose_new, explain_none, find_missing, read_outputs
from lamplighter.engine.owner import Child
from lamplighter.engine.relay import Relay, read_size
from lamplighter.engine.result import CLAIM_VARIABLE, MOST_BYTES, RESULT_VARIABLE, parse_result
from lamplighter.engine.supervisor import Run
from lamplighter.engine.takeover import MARK
from lamplighter.errors import InputError, LamplighterError, render_line
from lamplighter.host.clock import Clock
from lamplighter.host.files import (
    TEMPORARY_PREFIX,
    list_folder,
    make_folder,
    open_without_waiting,
    read_capped,
    write_atomic,
)
from lamplighter.host.identity import read_process
from lamplighter.host.memory import count_oom_kills
from lamplighter.host.session import Session, start_session
from lamplighter.host.signals import Deferral, Interrupted, deferring_signals
from lamplighter.value import replace, value

# Longer than it takes to end a worker and all that it left, so that no other run takes a lock over meanwhile.
LOCK_GRACE = timedelta(seconds=40)
_TURN = timedelta(milliseconds=250)
STOP_GRACE = timedelta(seconds=10)
_CHECK_EVERY = timedelta(minutes=1)  # a run that was fenced out must not go on for hours
_LOG_BYTES = 10_000_000
_MOST_OUTPUTS = 100
_RESULT = ".result"
_RAW = "raw"  # beside the log of a run whose output may still hold secrets: a digest of them


@value(hidden=("env", "secrets"))
class WorkerOrder:
    """What a worker runs: arguments as given, the folder and environment, and what is expected of it.

    `limit` is the most awake time it may take, `expected` what it should; `output` a pattern of files below `cwd` of
    which it must leave a new or changed one ("": none is declared); a worker of ours `must_report` how it ended.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    limit: timedelta | None = None
    expected: timedelta | None = None
    output: str = ""
    must_report: bool = False
    secrets: tuple[str, ...] = ()


@value
class Assignment:
    """What a worker of ours is told: its run, its lock's claim, and the most time it has."""

    number: int
    claim: Claim
    limit: timedelta | None

    def render(self) -> str:
        """Return the assignment as one variable of the environment."""
        claim = self.claim
        return json.dumps(
            {
                "number": self.number,
                "limit": self.limit.total_seconds() if self.limit is not None else None,
                "folder": str(claim.folder),
                "generation": claim.generation,
                "nonce": claim.nonce,
                "inodes": [*claim.folder_inode, *claim.file_inode],
            }
        )


def parse_assignment(text: str) -> Assignment:
    """Return the assignment of a supervisor; raises InputError for anything else."""
    try:
        found = json.loads(text)
        inodes = [int(number) for number in found["inodes"]]
        claim = Claim(
            folder=Path(found["folder"]),
            generation=int(found["generation"]),
            nonce=str(found["nonce"]),
            folder_inode=(inodes[0], inodes[1]),
            file_inode=(inodes[2], inodes[3]),
        )
        limit = found["limit"]
        return Assignment(
            number=int(found["number"]), claim=claim, limit=timedelta(seconds=limit) if limit is not None else None
        )
    except (ValueError, KeyError, TypeError, IndexError):
        raise InputError(CLAIM_VARIABLE, "this command is started by a supervisor only") from None


class Worker:
    """Does the work of one run in a process; give it to the supervisor as the work."""

    def __init__(self, order: WorkerOrder, *, job: str, state_dir: Path, clock: Clock, show_output: bool) -> None:
        """Take the order; a command's output is shown as it comes where that is asked for."""
        self._order = order
        self._job = job
        self._state_dir = state_dir
        self._clock = clock
        self._show_output = show_output

    def __call__(self, run: Run) -> RunReport:
        """Start the worker, watch it to its end, and return what that end means; raises what a start can raise."""
        before = read_outputs(self._order.cwd, self._order.output)
        oom_before = count_oom_kills()
        make_folder(self._result_file(run).parent, mode=0o700)
        self._clear_up(run)
        relays = self._open_relays(run)
        reports: list[RunReport] = []
        try:
            # A stop is heard only while the worker is watched: it must break in neither where the worker lives and
            # nobody here knows of it, nor while its remains are ended.
            with deferring_signals() as deferral:
                end = self._work(run, relays, deferral)
                killed = count_oom_kills()
                is_oom = killed is not None and oom_before is not None and killed > oom_before
                reports.append(self._settle(replace(end, is_oom=is_oom), before, run))
        except Interrupted:  # it came when the work was done: too late
            if not reports:
                raise
        return reports[0]

    def _work(self, run: Run, relays: tuple[Relay, ...], deferral: Deferral) -> WorkerEnd:
        """Start the worker, wait for its end, and end what it left; to be called while stop signals are put off."""
        limit = self._find_limit(run)
        with self._start(run, limit) as session:
            child = session.identity
            try:
                written = [_identify(file) for file in self._stream_files(run)]
                run.started(Child(pid=child.pid, start=child.start, command=self._order.argv[0]))
                end = self._wait(session, run, relays, deferral, limit)
            except BaseException:
                session.end(timedelta(0))
                session.end_strays()
                session.reap()
                raise
            for relay in relays:
                relay.finish()
            self._end_strays(session, run)
            self._tell_of_lost(written, run)
            return replace(end, code=session.reap())

    def _wait(
        self,
        session: Session,
        run: Run,
        relays: tuple[Relay, ...],
        deferral: Deferral,
        limit: timedelta | None,
    ) -> WorkerEnd:
        """Wait for the worker's end: by itself, at the limit, or by a stop signal that is passed on."""
        ends: list[WorkerEnd] = []
        began = self._clock.monotonic()
        try:
            with deferral.hearing():
                ends.append(self._watch(session, run, relays, limit))
        except Interrupted as interrupt:
            if not ends:
                run.say(f"stopping; the command has up to {STOP_GRACE.seconds} s, a second Ctrl-C ends it at once")
                session.end(STOP_GRACE, interrupt.number, deferral.is_urgent)
                # Who was stopped past its limit, and is ended by the run that takes over, was not merely asked.
                is_late = limit is not None and self._clock.monotonic() - began > limit + _TURN
                late = (self._order.limit or limit) if is_late else None
                ends.append(WorkerEnd(code=None, asked=interrupt.number, ran_out=late))
        if ends[0].ran_out is not None:
            session.end(STOP_GRACE, is_urgent=deferral.is_urgent)
        return ends[0]

    def _find_limit(self, run: Run) -> timedelta | None:
        """Return how long the worker may take: others count a run's limit from when it took its lock."""
        left = run.left()
        limits = [limit for limit in (self._order.limit, left) if limit is not None]
        return max(min(limits), timedelta(0)) if limits else None

    def _start(self, run: Run, limit: timedelta | None) -> Session:
        env = {**self._order.env, RESULT_VARIABLE: str(self._result_file(run)), MARK: run.nonce}
        if self._order.must_report and run.claim is not None:
            assignment = Assignment(number=run.number, claim=run.claim, limit=limit)
            env[CLAIM_VARIABLE] = assignment.render()
        out, err = self._stream_files(run)
        return start_session(self._order.argv, cwd=self._order.cwd, env=env, out_file=out, err_file=err)

    def _watch(self, session: Session, run: Run, relays: tuple[Relay, ...], limit: timedelta | None) -> WorkerEnd:
        began = self._clock.monotonic()
        expected = self._order.expected
        checked = timedelta(0)
        noted = {session.identity.pid}
        while True:
            taken = self._clock.monotonic() - began
            if limit is not None and taken >= limit:
                return WorkerEnd(code=None, ran_out=self._order.limit or limit)
            if session.wait(_TURN if limit is None else min(_TURN, limit - taken)):
                return WorkerEnd(code=None)
            if taken - checked >= _CHECK_EVERY:
                checked = taken
                run.check()
            if expected is not None and taken >= expected:
                expected = None
                run.flag("overran")
            self._note_escaped(session, run, noted)
            for relay in relays:
                relay.pass_on()
            for file in self._stream_files(run):
                rotate(file, _LOG_BYTES)

    def _note_escaped(self, session: Session, run: Run, noted: set[int]) -> None:
        """Record the sessions of what left the worker's, so that the next run finds it if this process is killed."""
        for entry in session.adopted():
            if entry.session not in noted:
                noted.add(entry.session)
                leader = read_process(entry.session)
                start = leader.start if leader is not None else ""
                run.started(Child(pid=entry.session, start=start, command="left its session"))

    def _end_strays(self, session: Session, run: Run) -> None:
        ended, left = session.end_strays()
        if ended > left:
            run.flag(f"leftovers_ended={ended - left}")
            run.say(f"ended {_count(ended - left)} it left behind")
        if left:
            run.say(f"{_count(left)} it left behind cannot be ended")

    def _tell_of_lost(self, written: list[tuple[int, int] | None], run: Run) -> None:
        """Say that somebody removed or replaced what the worker wrote to."""
        files = zip(self._stream_files(run), written, strict=True)
        lost = [str(file) for file, before in files if before is None or _identify(file) != before]
        if lost:
            run.flag("output_lost")
            run.say(f"what it wrote to {' and '.join(lost)} is lost: somebody removed or replaced that meanwhile")

    def _settle(self, end: WorkerEnd, before: Mapping[str, Mark], run: Run) -> RunReport:
        """Take the secrets out of what the worker wrote, and return what its end means."""
        secrets = self._order.secrets
        for file in self._stream_files(run):
            rotate(file, _LOG_BYTES)
        if secrets:
            self._redact(run.number, run)
        result, trouble = _read_result(self._result_file(run), is_ours=self._order.must_report)
        if result is not None and not self._order.must_report:
            trouble = find_missing(self._order.cwd, result.outputs)
            result = None if trouble else result
        if result is not None:
            result = replace(result, outputs=tuple(map(render_line, result.outputs)))
        last_words = render_line(redact(_read_last_line(self._stream_files(run)[1]), secrets), limit=300)
        report = decide_end(
            replace(end, last_words=last_words),
            result=result,
            trouble=trouble,
            declared=self._declare(before),
            must_report=self._order.must_report,
        )
        return _redact_report(report, secrets) if secrets else report

    def _clear_up(self, run: Run) -> None:
        """Take away what killed runs of this job left beside their logs, and the secrets that are still in these.

        From now on our own output may hold secrets too, which is marked: were we killed, the next run takes them out.
        """
        folder = self._result_file(run).parent
        mark = _mark_secrets(self._order.secrets) if self._order.secrets else b""
        for found in list_folder(folder):
            number, _, ending = found.name.partition(".")
            if _is_result_file(found.name):
                _remove(Path(found.path))
            elif ending == _RAW and number.isdecimal():
                known = self._order.secrets and _read_mark(Path(found.path)) == mark
                self._redact(int(number), run, is_known=bool(known))
        if self._order.secrets:
            write_atomic(folder / f"{run.number}.{_RAW}", mark, mode=0o600)

    def _redact(self, number: int, run: Run, *, is_known: bool = True) -> None:
        """Take the secrets out of a run's output, or all of it away where they are not known any more.

        What cannot be done is said, and tried again by the next run.
        """
        try:
            for file in _name_streams(self._state_dir, self._job, number):
                if is_known:
                    redact_file(file, self._order.secrets)
                for part in () if is_known else log_parts(file):
                    part.unlink()
            log_file(self._state_dir, self._job, number).with_suffix(f".{_RAW}").unlink(missing_ok=True)
        except (LamplighterError, OSError) as error:
            run.say(f"the secrets in the log of run {number} could not be taken out: {error}")
            return
        if not is_known:
            run.say(f"the output of run {number}, which was killed, held secrets that are not known any more: deleted")

    def _declare(self, before: Mapping[str, Mark]) -> Declared | None:
        pattern = self._order.output
        if not pattern:
            return None
        new = choose_new(before, read_outputs(self._order.cwd, pattern))
        why_not = "" if new else explain_none(self._order.cwd, pattern)
        return Declared(pattern=pattern, found=new[:_MOST_OUTPUTS], total=len(new), why_not=why_not)

    def _open_relays(self, run: Run) -> tuple[Relay, ...]:
        """Return what passes a worker's lines on to the person: our own worker's log, another command's output."""
        if self._order.must_report:
            log = log_file(self._state_dir, self._job, run.number)
            return (Relay(log, lambda line: _pass_on(run, line.partition(" ")[2])),)
        if not self._show_output:
            return ()
        secrets = self._order.secrets
        return tuple(
            Relay(file, lambda line: run.show(redact(line, secrets) if secrets else line))
            for file in self._stream_files(run)
        )

    def _result_file(self, run: Run) -> Path:
        return log_file(self._state_dir, self._job, run.number).with_suffix(_RESULT)

    def _stream_files(self, run: Run) -> tuple[Path, Path]:
        return _name_streams(self._state_dir, self._job, run.number)


def _name_streams(state_dir: Path, job: str, number: int) -> tuple[Path, Path]:
    return out_file(state_dir, job, number), err_file(state_dir, job, number)


def _count(processes: int) -> str:
    return "1 process" if processes == 1 else f"{processes:,} processes"


def _pass_on(run: Run, line: str) -> None:
    run.show(line)
    run.phase(line)


def _redact_report(report: RunReport, secrets: tuple[str, ...]) -> RunReport:
    return replace(
        report,
        line=redact(report.line, secrets),
        evidence=tuple(
            Evidence(name=redact(fact.name, secrets), value=redact(fact.value, secrets)) for fact in report.evidence
        ),
        outputs=tuple(redact(name, secrets) for name in report.outputs),
    )


def _identify(file: Path) -> tuple[int, int] | None:
    """Return device and inode of a file, None when it is not there."""
    try:
        entry = file.lstat()
    except OSError:
        return None
    return entry.st_dev, entry.st_ino


def _read_last_line(file: Path) -> str:
    try:
        with open(file, "rb", opener=open_without_waiting) as stream:
            stream.seek(max(0, read_size(file) - 4_000))
            lines = stream.read(4_000).decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    return next((line for line in reversed(lines) if line.strip()), "")


def _read_result(file: Path, *, is_ours: bool) -> tuple[RunReport | None, str]:
    """Return what the result file says, or why it does not count; it is taken away."""
    try:
        content = read_capped(file, limit=MOST_BYTES, what="result file")
    except InputError as error:
        return None, "" if not file.exists() else error.cause
    except LamplighterError as error:
        return None, error.cause
    finally:
        _remove(file)
    if not content:
        return None, "it is empty"
    try:
        return parse_result(content, is_ours=is_ours), ""
    except ValueError as error:
        return None, str(error)


def _is_result_file(name: str) -> bool:
    """Return whether it is a result file, or one half written: whoever holds the lock needs none of a killed run's."""
    return name.endswith(_RESULT) or (name.startswith(TEMPORARY_PREFIX) and f"{_RESULT}." in name)


def _mark_secrets(secrets: tuple[str, ...]) -> bytes:
    """Return what tells whether two runs had the same secrets, and tells nothing else of them."""
    from hashlib import scrypt  # noqa: PLC0415 - most jobs have no secrets

    return scrypt("\0".join(secrets).encode("utf-8", "surrogateescape"), salt=b"lamplighter", n=2**10, r=8, p=1)[:16]


def _read_mark(file: Path) -> bytes:
    try:
        return read_capped(file, limit=100)
    except LamplighterError:
        return b""


def _remove(file: Path) -> None:
    """Take away a result file, or whatever a command put in its place."""
    try:
        file.unlink(missing_ok=True)
    except OSError:
        from shutil import rmtree  # noqa: PLC0415 - it loads much, and hardly ever is there a folder

        rmtree(file, ignore_errors=True)
