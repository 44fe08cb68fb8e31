"""A workspace for command jobs, the program run in it, and what can be seen of it from outside."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.acceptance.program import Ended
from tests.simulators.child import LIMIT_SECONDS, is_running, until

from lamplighter.app.running import DATABASE_FILE, ENGINE_MIGRATIONS
from lamplighter.engine.ledger import Ledger, RunRow
from lamplighter.host.clock import SystemClock
from lamplighter.host.database import open_database_to_read

PROGRAM = str(Path(sys.executable).parent / "lamplighter")


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """A workspace with nothing in it but settings."""

    folder: Path
    env: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def make(cls, folder: Path, settings: str = "") -> Jobs:
        """Make one with these settings."""
        folder.mkdir(exist_ok=True)
        (folder / "lamplighter.toml").write_text(f'zone = "UTC"\n{settings}', "utf-8")
        return cls(folder=folder)

    @property
    def state_dir(self) -> Path:
        """Return where its state is."""
        return self.folder / "state"

    def call(self, job: str, *words: str | bytes, options: Sequence[str] = ()) -> list[str | bytes]:
        """Return the whole command line: `words` are the command behind --, none run a job of the settings."""
        return [PROGRAM, "run", job, *options, *(("--", *words) if words else ())]

    def run(self, job: str, *words: str | bytes, options: Sequence[str] = (), **env: str) -> Ended:
        """Run a job to its end."""
        done = subprocess.run(
            self.call(job, *words, options=options),
            cwd=self.folder,
            env={**os.environ, **self.env, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=100,
            check=False,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in out + err, out + err
        return Ended(code=done.returncode, out=out, err=err)

    def shell(self, job: str, script: str, *options: str) -> Ended:
        """Run a shell script as a job."""
        return self.run(job, "sh", "-c", script, options=options)

    @contextlib.contextmanager
    def running(self, job: str, *words: str, options: Sequence[str] = ()) -> Iterator[subprocess.Popen[str]]:
        """Lend a job at work, alone in its session; what is left of its group is killed in the end."""
        process = subprocess.Popen(
            self.call(job, *words, options=options),
            cwd=self.folder,
            env={**os.environ, **self.env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate(timeout=LIMIT_SECONDS)

    def wait_for(self, name: str) -> str:
        """Return the content of a file in the workspace once a job has written it."""
        file = self.folder / name
        until(lambda: file.exists() and bool(file.read_text()), f"{name} is written")
        return file.read_text().strip()

    def rows(self) -> tuple[RunRow, ...]:
        """Return the recorded runs, the newest first."""
        with open_database_to_read(self.state_dir / DATABASE_FILE, ENGINE_MIGRATIONS) as database:
            return Ledger(database, SystemClock(), "main").latest(limit=1_000)

    def told(self) -> tuple[str, int, tuple[str, ...]]:
        """Return outcome, exit code and flags of the newest run."""
        report = self.rows()[0].report
        assert report is not None
        return report.outcome.value, report.exit_code, report.flags

    def line(self) -> str:
        """Return what the newest run says of itself."""
        report = self.rows()[0].report
        assert report is not None
        return report.line

    def log(self, number: int, ending: str = "log") -> str:
        """Return a log of a run of job x."""
        return (self.state_dir / "logs" / "x" / f"{number}.{ending}").read_text("utf-8", "replace")

    def leftovers(self) -> list[str]:
        """Return the files that no finished run may leave."""
        return [
            path.name
            for path in self.folder.rglob("*")
            if path.name.startswith((".tmp-", ".removed-")) or path.suffix in {".tmp", ".result"}
        ]


def new_nap() -> str:
    """Return seconds to sleep for that no other process sleeps for, by which such a process is found."""
    return f"86400.{uuid.uuid4().int % 10**9:09}"


def list_pids(nap: str) -> list[int]:
    """Return the living processes that take such a nap."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and (folder / "cmdline").read_bytes().startswith(f"sleep\0{nap}\0".encode()):
                found.append(int(folder.name))
    return [pid for pid in found if is_running(pid)]


def write_result(**result: object) -> str:
    """Return a shell line that writes a result file."""
    text = json.dumps(result).replace("'", "'\\''")
    return f"printf %s '{text}' > \"$LAMPLIGHTER_RESULT\""
