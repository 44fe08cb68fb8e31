"""Channels by Apprise addresses. Importing Apprise takes 0.2 s and its services another second, so it is done late."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import stat
import warnings
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from lamplighter.host.address import key_of
from lamplighter.host.network import Answered
from lamplighter.notify.channel import BrokenChannel, Channel, Message, Result, Sent, judge
from lamplighter.notify.limits import Limits, choose_limits
from lamplighter.notify.outbox import Severity
from lamplighter.notify.secret import mark_of, redact

if TYPE_CHECKING:
    from apprise import AppriseAsset, NotifyBase

    from lamplighter.host.wire import Wire

_NAME: Final = "lamplighter"
_WORDS_FIRST = frozenset({"discord", "tgram", "ntfy", "ntfys", "slack"})  # their first request has the words in it
_KNOWN: Final = MappingProxyType(
    {
        "discord": ("discord", "NotifyDiscord"),
        "json": ("custom_json", "NotifyJSON"),
        "jsons": ("custom_json", "NotifyJSON"),
        "mailto": ("email", "NotifyEmail"),
        "mailtos": ("email", "NotifyEmail"),
        "ntfy": ("ntfy", "NotifyNtfy"),
        "ntfys": ("ntfy", "NotifyNtfy"),
        "slack": ("slack", "NotifySlack"),
        "tgram": ("telegram", "NotifyTelegram"),
    }
)
_DENIED: Final = re.compile(r"Socket Exception: \((?:530|534|535), ")
_KINDS = {Severity.INFO: "info", Severity.WARNING: "warning", Severity.CRITICAL: "failure"}
_PICTURE_TROUBLE = "the words are out, the picture is not"


def open_channel(address: str, wire: Wire, *, allowed_hosts: frozenset[str] = frozenset()) -> Channel:
    """Return the channel of an Apprise address, or one that says what is wrong with it, without saying the address."""
    from apprise import Apprise, AppriseAsset  # noqa: PLC0415 - see above

    asset = AppriseAsset(
        app_id=_NAME,
        app_desc=_NAME,
        app_url="",
        image_url_mask="",
        image_url_logo="",
        async_mode=False,
        service_timeout=0,
        http_redirects=False,
        pgp_autogen=False,
        pem_autogen=False,
    )
    with _listening():
        known = _KNOWN.get(address.partition("://")[0].lower())
        if known is not None:
            service = _open_known(known, address, asset)
        else:
            service = Apprise.instantiate(address, asset=asset, suppress_exceptions=True)
    if service is None:
        return BrokenChannel(why="its address is none that Apprise knows here, or a part of it is missing")
    if not service.verify_certificate and not _is_listed(service, allowed_hosts):
        return BrokenChannel(why="its address turns certificates off (verify=no), so anybody could listen")
    return _AppriseChannel(address, service, asset, wire)


def _open_known(known: tuple[str, str], address: str, asset: AppriseAsset) -> NotifyBase | None:
    """Return the service of one of the usual addresses without loading all others, None where it is not a right one."""
    with contextlib.suppress(Exception):  # it checks what it is given, and says so in many ways
        kind: type[NotifyBase] = getattr(import_module(f"apprise.plugins.{known[0]}"), known[1])
        parsed = kind.parse_url(address.replace("/#", "/%23"))
        return kind(**parsed, asset=asset) if parsed else None
    return None


def _find_scheme(address: str, service: NotifyBase) -> str:
    """Return Apprise's name of the service, also for the address a service itself gives (https://discord.com/…)."""
    given = address.partition("://")[0].lower()
    known = sorted(str(scheme) for scheme in service.schemas())  # type: ignore[no-untyped-call]  # it has no types
    return given if given in known or not known else known[0]


def _is_listed(service: NotifyBase, allowed_hosts: frozenset[str]) -> bool:
    host, port = str(getattr(service, "host", "") or ""), getattr(service, "port", None) or 443
    return key_of(host, int(port)) in allowed_hosts


class _AppriseChannel:
    """One Apprise service."""

    def __init__(self, address: str, service: NotifyBase, asset: AppriseAsset, wire: Wire) -> None:
        self._address = address
        self._service = service
        self._asset = asset
        self._wire = wire
        self._scheme = _find_scheme(address, service)
        service.request_rate_per_sec = 0.0  # the pauses are ours

    @property
    def limits(self) -> Limits:
        """Return what the service takes at a time."""
        return choose_limits(self._scheme, body=int(self._service.body_maxlen), title=int(self._service.title_maxlen))

    @property
    def mark(self) -> str:
        """Return by what the address is known again."""
        return mark_of(self._address)

    def send(self, message: Message, limit: timedelta) -> Sent:
        """Send a message; a picture that is gone, too large or not taken does not stop the words."""
        pictures = tuple(path for path in message.pictures if _is_usable(path, self.limits.picture_bytes))
        sent, record = self._try(replace(message, pictures=pictures), limit)
        if sent.result is Result.SENT or not pictures:
            return sent
        if self._scheme in _WORDS_FIRST and record and record[0].is_ok:
            return Sent(result=Result.SENT, why=f"{_PICTURE_TROUBLE}: {sent.why}")
        if sent.result is Result.REFUSED or not record:
            sent, _ = self._try(replace(message, pictures=()), limit)
        return sent

    def _try(self, message: Message, limit: timedelta) -> tuple[Sent, list[Answered]]:
        from apprise import Apprise, AppriseAttachment, NotifyFormat  # noqa: PLC0415 - see above

        sender = Apprise(self._service, asset=self._asset)
        with _listening() as ear, self._wire.open(limit) as record:
            try:
                accepted = bool(
                    sender.notify(
                        body=message.body,
                        title=message.title,
                        notify_type=_KINDS[message.severity],
                        body_format=NotifyFormat.TEXT,
                        attach=AppriseAttachment(list(message.pictures), asset=self._asset)
                        if message.pictures
                        else None,
                    )
                )
            except Exception as error:  # noqa: BLE001 - 170 services, and a notice must never take us down
                return Sent(result=Result.REFUSED, why=f"Apprise failed: {type(error).__name__}"), record
        if not accepted and not record and ear.is_denied():
            return Sent(result=Result.DEAD, why="the mail server refuses user or password"), record
        return judge(record, accepted=accepted, said=redact(ear.complaint(), self._address)), record


def _is_usable(path: str, most: int) -> bool:
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(found.st_mode) and 0 < found.st_size <= most and os.access(path, os.R_OK)


class _Ear(logging.Handler):
    """Keeps what Apprise says, which has addresses in it, from everybody else."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.said: list[tuple[int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one line."""
        with contextlib.suppress(Exception):
            self.said.append((record.levelno, record.getMessage()))

    def complaint(self) -> str:
        """Return the last thing it complained of, "" when it did not."""
        return next((words for level, words in reversed(self.said) if level >= logging.WARNING), "")

    def is_denied(self) -> bool:
        """Return whether a mail server refused user or password (RFC 4954 §6)."""
        return any(_DENIED.match(words) for _, words in self.said)


@contextlib.contextmanager
def _listening() -> Iterator[_Ear]:
    """Lend what hears all that Apprise says in this block; none of it goes anywhere else."""
    ear = _Ear()
    loggers = [logging.getLogger(name) for name in ("apprise", "urllib3", "requests")]
    before = [(logger.propagate, logger.level) for logger in loggers]
    for logger in loggers:
        logger.propagate = False
        logger.addHandler(ear)
    loggers[0].setLevel(logging.DEBUG)  # why a mail was not taken is said there
    try:
        with warnings.catch_warnings():  # its modules load what Python is about to drop
            warnings.simplefilter("ignore")
            yield ear
    finally:
        for logger, (propagate, level) in zip(loggers, before, strict=True):
            logger.removeHandler(ear)
            logger.propagate = propagate
            logger.setLevel(level)
