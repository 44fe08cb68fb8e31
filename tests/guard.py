"""The guard: in a test process, writing to the real home, leaving loopback and calling a scheduler raise."""

from __future__ import annotations

import ipaddress
import os
import sys
import tempfile
from pathlib import Path

STUBS = ("crontab", "launchctl", "systemctl", "loginctl", "atq", "at")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_ROOT = Path(__file__).parents[1]
# Which arguments of an audit event name a path that changes; a link leaves what it points to alone.
_CHANGING = {
    "os.mkdir": slice(0, 1),
    "os.rename": slice(0, 2),
    "os.remove": slice(0, 1),
    "os.rmdir": slice(0, 1),
    "os.symlink": slice(1, 2),
    "os.link": slice(1, 2),
    "os.truncate": slice(0, 1),
}


class GuardError(BaseException):
    """A test touched what it must not; not an Exception, so that no boundary swallows it."""


def install_guard(real_home: Path) -> None:
    """Install the audit hook for this process; it can't be taken out again."""
    home = str(real_home) + os.sep
    places = (str(path) + os.sep for path in (_ROOT, tempfile.gettempdir(), Path(sys.prefix)))
    allowed = tuple(place for place in places if not home.startswith(place))

    def is_forbidden(path: object) -> bool:
        if not isinstance(path, str | bytes | os.PathLike):
            return False
        name = os.path.abspath(os.fsdecode(path))
        return name.startswith(home) and not name.startswith(allowed) and "__pycache__" not in name

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING and is_forbidden(arguments[0]):
            raise GuardError(f"a test wrote to {arguments[0]!r} in the real home")
        if event in _CHANGING and any(is_forbidden(path) for path in arguments[_CHANGING[event]]):
            raise GuardError(f"a test changed {arguments!r} in the real home")
        if event == "socket.connect":
            _check_address(arguments[1])
        if event == "subprocess.Popen":
            _check_program(arguments[0])

    sys.addaudithook(hook)


def _check_address(address: object) -> None:
    """Raise unless a socket address is loopback, a Unix path or a name of this machine."""
    if not isinstance(address, tuple) or not address:
        return
    host = str(address[0])
    try:
        outside = not ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        outside = host != "localhost"
    if outside:
        raise GuardError(f"a test connected to {host}")


def _check_program(program: object) -> None:
    name = Path(os.fsdecode(program)).name if isinstance(program, str | bytes | os.PathLike) else ""
    if name in STUBS:
        raise GuardError(f"a test called {name}")
