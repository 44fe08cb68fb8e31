"""Addresses are read from where they are kept, and are in no word we say."""

from __future__ import annotations

from pathlib import Path

import pytest

from lamplighter.errors import ConfigError
from lamplighter.notify.secret import mark_of, read_secret, redact

ADDRESS = "discord://1234567890/secret-Token_x1?avatar=no"


def read(source: str, folder: Path, **environment: str) -> str:
    """Read a channel's address."""
    return read_secret(source, about="channel team", folder=folder, environment=environment)


def test_an_address_is_read_from_a_variable_or_a_private_file(tmp_path: Path) -> None:
    """One line, blanks and empty lines apart; a relative path begins at the workspace."""
    file = tmp_path / "secrets" / "team"
    file.parent.mkdir()
    file.write_text(f"\n  {ADDRESS}\n\n")
    file.chmod(0o600)
    assert read("file:secrets/team", tmp_path) == ADDRESS
    assert read(f"file:{file}", Path("/")) == ADDRESS
    assert read("env:TEAM", tmp_path, TEAM=ADDRESS) == ADDRESS
    assert read("dbus://", tmp_path) == "dbus://"


@pytest.mark.parametrize(
    ("mode", "content", "words"),
    [
        (0o644, ADDRESS, "can be read by others; chmod 600"),
        (0o640, ADDRESS, "can be read by others"),
        (0o600, f"{ADDRESS}\n{ADDRESS}2\n", "it must hold one line"),
        (0o600, "", "it must hold one line"),
        (0o600, f"{ADDRESS}\x00", "it must hold one line"),
        (0o600, "x" * 9_000, "larger than"),
    ],
)
def test_a_file_that_is_not_right_is_one_line_without_the_address(
    tmp_path: Path, mode: int, content: str, words: str
) -> None:
    """It names the channel, and what to do."""
    file = tmp_path / "team"
    file.write_text(content)
    file.chmod(mode)
    with pytest.raises(ConfigError) as caught:
        read("file:team", tmp_path)
    assert str(caught.value).startswith("channel team: ")
    assert words in str(caught.value)
    assert "secret-Token" not in str(caught.value)


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    """A variable that is not set or blank, a file that is not there, a folder in its place."""
    (tmp_path / "folder").mkdir(mode=0o700)
    for source, words in (("env:TEAM", "TEAM is not set"), ("file:none", "No such file"), ("file:folder", "folder")):
        with pytest.raises(ConfigError) as caught:
            read(source, tmp_path, OTHER="x")
        assert words in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        f"Unparseable URL {ADDRESS}",
        "POST https://discord.com/api/webhooks/1234567890/secret-Token_x1 failed",
        "HTTPConnectionPool(host='x'): Max retries exceeded with url: /api/webhooks/1234567890/secret-Token_x1",
        "user 1234567890",
    ],
)
def test_no_piece_of_an_address_is_left_in_a_text(text: str) -> None:
    """Neither the whole, nor what a library makes of it."""
    left = redact(text, ADDRESS)
    assert "1234567890" not in left
    assert "secret" not in left


def test_a_quoted_password_is_found_unquoted_too() -> None:
    """In the address it is written %40, in an error it is @."""
    assert redact("login me:p@ss!word failed", "mailto://me:p%40ss%21word@host.example") == "login me:… failed"


def test_a_mark_tells_addresses_apart_and_nothing_of_them() -> None:
    """Eight digits of a hash."""
    assert mark_of(ADDRESS) == mark_of(ADDRESS) != mark_of(ADDRESS + "x")
    assert len(mark_of(ADDRESS)) == 8
