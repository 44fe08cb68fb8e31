"""[notify] and [heartbeat]: names and routes, and no secret ever in clear."""

from __future__ import annotations

from pathlib import Path

import pytest

from lamplighter.config.settings import Settings, parse_settings
from lamplighter.errors import ConfigError
from lamplighter.notify.settings import ChannelSettings

HERE = Path("/workspace")
CHANNELS = '[notify]\nchannels = { team = "env:TEAM", phone = "file:secrets/phone" }\n'


def parse(text: str) -> Settings:
    """Parse a settings file."""
    return parse_settings(text.encode(), HERE)


def test_without_a_word_nobody_is_told() -> None:
    """A new workspace has no channel and no heartbeat."""
    settings = parse("")
    assert (settings.notify.channels, settings.notify.alert, settings.notify.language) == ((), (), "en")
    assert (settings.heartbeat.watch, settings.heartbeat.verdict) == ("", "")


def test_with_channels_alone_everything_is_told() -> None:
    """Success to the first, alerts to each in turn."""
    notify = parse(CHANNELS).notify
    assert notify.channels == (
        ChannelSettings(name="team", source="env:TEAM"),
        ChannelSettings(name="phone", source="file:secrets/phone"),
    )
    assert (notify.made, notify.posted, notify.alert) == (("team",), ("team",), ("team", "phone"))


def test_each_kind_has_a_route_of_its_own() -> None:
    """Named channels, each once; success can be told to nobody."""
    notify = parse(
        CHANNELS + 'made = ["nobody"]\nposted = ["phone", "phone"]\nalert = ["phone"]\nlanguage = "ja"'
    ).notify
    assert (notify.made, notify.posted, notify.alert, notify.language) == ((), ("phone",), ("phone",), "ja")


def test_contact_and_listed_hosts_hold_for_channels_too() -> None:
    """One list of private hosts, one word of who we are."""
    settings = parse('[network]\ncontact = "mailto:me@example.com"\nallowed_hosts = ["127.0.0.1:8080"]')
    for part in (settings.notify, settings.heartbeat):
        assert (part.contact, part.allowed_hosts) == ("mailto:me@example.com", frozenset({"127.0.0.1:8080"}))


@pytest.mark.parametrize(
    "address",
    [
        "discord://1234567890/secret-token",
        "https://discord.com/api/webhooks/1/secret-token",
        "mailto://me:secret@mail.example",
        "ntfy://secret-topic",
        "secret",
        "",
        "env",
        "Env:SECRET",
        "dbus://secret@host/",
    ],
)
@pytest.mark.parametrize("key", ["notify", "heartbeat"])
def test_a_secret_in_clear_is_refused_and_not_repeated(address: str, key: str) -> None:
    """One line that names the place and says where to keep it instead."""
    if key == "heartbeat" and not address:
        return
    text = f'[notify.channels]\nteam = "{address}"' if key == "notify" else f'[heartbeat]\nwatch = "{address}"'
    with pytest.raises(ConfigError) as caught:
        parse(text)
    assert "secret" not in str(caught.value)
    assert "file:PATH" in str(caught.value)
    assert ("notify.channels.team" in str(caught.value)) == (key == "notify")


@pytest.mark.parametrize("address", ["dbus://", "macosx://", "syslog://", "gnome://_/"])
def test_an_address_of_this_machine_is_no_secret(address: str) -> None:
    """There is nothing in it to steal."""
    assert parse(f'[notify.channels]\nscreen = "{address}"').notify.channels[0].source == address


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[notify]\nmade = ["team"]', "notify.made: team is no channel of [notify.channels]; there is none yet"),
        (CHANNELS + 'alert = ["mail"]', "notify.alert: mail is no channel of [notify.channels]; there are team, phone"),
        (CHANNELS + 'alert = ["nobody"]', "notify.alert: nobody is no channel"),
        (CHANNELS + 'alert = ["https://x/secret"]', "notify.alert: one of them is no channel"),
        (CHANNELS + 'languge = "ja"', "notify.languge (line 3) is not a setting; did you mean language?"),
        (CHANNELS + 'language = "de"', "notify.language (line 3): Invalid enum value 'de': it must be 'en' or 'ja'"),
        ('[notify.channels]\n"Team A" = "env:X"', "a channel must have another name"),
        ('[notify.channels]\ndesktop = "env:X"', "desktop must have another name"),
        ('[notify.channels]\n"https://x/secret" = "env:X"', "a channel must have another name"),
        ('[notify.channels]\nteam = "env:"', "env: must be followed by the name of a variable"),
        ('[notify.channels]\nteam = "env:A B"', "env: must be followed by the name of a variable"),
        ('[notify.channels]\nteam = "file:"', "file: must be followed by a path"),
        ('[notify.channels]\nteam = "file:~/x"', "file: must be followed by a path, without ~"),
        ("[notify.channels]\nteam = 3", "notify.channels"),
        ("[heartbeat]\nwords = ['up']", "heartbeat.words"),
        ("[heartbeat]\nwords = ['up', 'a b']", 'heartbeat.words must be two words like ["up", "down"]'),
        ("[heartbeat]\nping = 'env:X'", "heartbeat.ping (line 2) is not a setting"),
    ],
)
def test_what_is_wrong_is_one_line(text: str, words: str) -> None:
    """It names the key; what could be an address is not repeated."""
    with pytest.raises(ConfigError) as caught:
        parse(text)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)
