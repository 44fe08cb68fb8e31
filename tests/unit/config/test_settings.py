"""The settings: what may stand in lamplighter.toml, and the one line that says what may not."""

from __future__ import annotations

import re
import tomllib
from datetime import time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lamplighter.config.settings as module
from lamplighter.config.basics import SETTINGS_FILE, find_basics
from lamplighter.config.settings import JobTable, SettingsFile, parse_settings, read_settings
from lamplighter.errors import ConfigError, FailureClass, InputError, LamplighterError
from lamplighter.featurepost.settings import GenerateSettings, ShopSettings, longest_feature
from lamplighter.publish.settings import PostSettings

HERE = Path("/workspace")
WRITTEN = Path(module.__file__).with_name(SETTINGS_FILE)


def refuse(text: str | bytes) -> str:
    """Return the one line that refuses a settings file, without the file's name."""
    content = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(ConfigError) as caught:
        parse_settings(content, HERE)
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith(f"{HERE / SETTINGS_FILE}: ")
    return line.removeprefix(f"{HERE / SETTINGS_FILE}: ")


def test_an_empty_file_means_all_defaults() -> None:
    """Every setting has a default, and those are the parts' own."""
    found = parse_settings(b"", HERE)
    longest = longest_feature(ShopSettings(), timedelta(seconds=60))
    assert found.generate == GenerateSettings(at=(time(6), time(12), time(18)), feature_limit=longest)
    assert found.shop == ShopSettings()
    assert found.post == PostSettings(at=time(19, 30), zone=ZoneInfo("UTC"))
    assert (found.state_dir, found.account, found.publisher) == (HERE / "state", "main", "folder")
    assert found.slides_limit == timedelta(seconds=60)


def test_every_key_reaches_its_part() -> None:
    """A changed value arrives where it is used."""
    found = parse_settings(
        b"""zone = "Asia/Tokyo"
        account = "studio-2"
        state_dir = "/var/lamp"
        [generate]
        target = 5
        max_per_run = 4
        at = ["05:30"]
        writer = "template"
        review = "ask"
        keep_drafts = "7d"
        slides_limit = "2m"
        [shop]
        tries = 2
        wait = "1s"
        total = "5m"
        [post]
        at = "07:05"
        publisher = "folder"
        [network]
        contact = "mailto:a@b.example"
        allowed_hosts = ["127.0.0.1:80"]
        """,
        HERE,
    )
    assert found.shop == ShopSettings(
        tries=2, wait=timedelta(seconds=1), total=timedelta(minutes=5), allowed_hosts=frozenset({"127.0.0.1:80"})
    )
    assert found.generate == GenerateSettings(
        target=5,
        max_per_run=4,
        at=(time(5, 30),),
        keep_drafts=timedelta(days=7),
        review=True,
        feature_limit=longest_feature(found.shop, timedelta(minutes=2)),
    )
    assert found.post == PostSettings(at=time(7, 5), zone=ZoneInfo("Asia/Tokyo"))
    assert (found.account, found.state_dir, found.contact) == ("studio-2", Path("/var/lamp"), "mailto:a@b.example")
    assert found.slides_limit == timedelta(minutes=2)


def test_a_byte_order_mark_is_no_trouble() -> None:
    """Windows editors write one."""
    assert parse_settings(b'\xef\xbb\xbfaccount = "x"', HERE).account == "x"


def test_an_empty_time_means_any_time_of_the_day() -> None:
    """The day's post may go out whenever post is run."""
    assert parse_settings(b'[post]\nat = ""', HERE).post.at is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[generate]\ntargt = 3", "generate.targt (line 2) is not a setting; did you mean target?"),
        ("# targt = 1\n\n[generate]\n  targt = 3", "generate.targt (line 4) is not a setting; did you mean target?"),
        ("generate.targt = 3", "generate.targt (line 1) is not a setting; did you mean target?"),
        ("generate = { targt = 3 }", "generate.targt (line 1) is not a setting; did you mean target?"),
        ("zon = 'UTC'", "zon (line 1) is not a setting; did you mean zone?"),
        ("\n[genrate]\ntarget = 3", "genrate (line 2) is not a setting; did you mean generate?"),
        ("target = 3", "target (line 1) is not a setting; did you mean generate.target?"),
        ("[post]\ntries = 3", "post.tries (line 2) is not a setting; did you mean shop.tries?"),
        ("[shop]\ntotal = '9s'\n[generate]\ntotal = '9s'", "generate.total (line 4) is not a setting"),
        ("[generate.deep]\na = 1", "generate.deep (line 1) is not a setting; known are target, max_per_run"),
        ('"a`b" = 1', "a`b (line 1) is not a setting; known are zone, account"),
        (f"{'k' * 5000} = 1", "kkk"),
        ('"" = 1', "'' is not a setting; known are zone, account"),
    ],
)
def test_an_unknown_key_is_named_with_its_line_and_the_nearest_right_one(text: str, line: str) -> None:
    """A typing mistake is never silent, at the top and in the tables."""
    refused = refuse(text)
    assert refused.startswith(line)
    assert len(refused) < 300


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[generate]\ntarget = '3'", "generate.target (line 2): Expected `int`, got `str`"),
        ("[generate]\ntarget = true", "generate.target (line 2): Expected `int`, got `bool`"),
        ("[generate]\ntarget = 3.0", "generate.target (line 2): Expected `int`, got `float`"),
        ("[shop]\ntries = 1\n[generate]\ntarget = nan", "generate.target (line 4): Expected `int`, got `float`"),
        ("generate = 3", "generate (line 1): Expected `object`, got `int`"),
        ("[[generate]]", "generate (line 1): Expected `object`, got `array`"),
        ("zone = 2026-01-01", "zone (line 1): Expected `str`, got `date`"),
        ("[post]\nat = 19:30:00", "post.at (line 2): Expected `str`, got `time`"),
        ("[network]\nallowed_hosts = 'a:1'", "network.allowed_hosts (line 2): Expected `array`, got `str`"),
        ("[network]\nallowed_hosts = ['a:1', 3]", "network.allowed_hosts (line 2): Expected `str`, got `int`"),
        (
            "[generate]\nwriter = 'claude'",
            "generate.writer (line 2): Invalid enum value 'claude': it must be 'template'",
        ),
        (
            "[generate]\nreview = 'yes'",
            "generate.review (line 2): Invalid enum value 'yes': it must be 'auto' or 'ask'",
        ),
    ],
)
def test_a_value_of_another_kind_is_named_with_its_line(text: str, line: str) -> None:
    """The line says where, what came and what is wanted."""
    assert refuse(text).startswith(line)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("account = ''", "account"),
        ("account = 'My Shop'", "account"),
        (f"account = '{'a' * 41}'", "account"),
        ("state_dir = ''", "state_dir"),
        ("state_dir = '~/state'", "state_dir"),
        ('state_dir = "a\\u0000b"', "state_dir"),
        ("[generate]\ntarget = 0", "generate.target"),
        ("[generate]\ntarget = -1", "generate.target"),
        ("[generate]\ntarget = 101", "generate.target"),
        (f"[generate]\ntarget = {'9' * 40}", "generate.target"),
        ("[generate]\nmax_per_run = 0", "generate.max_per_run"),
        ("[generate]\nkeep_drafts = '0s'", "generate.keep_drafts"),
        ("[generate]\nkeep_drafts = '999999d'", "generate.keep_drafts"),
        ("[generate]\nkeep_drafts = '30'", "generate.keep_drafts"),
        ("[generate]\nkeep_drafts = '-1d'", "generate.keep_drafts"),
        ("[generate]\nkeep_drafts = '1.5d'", "generate.keep_drafts"),
        ("[generate]\nkeep_drafts = ''", "generate.keep_drafts"),
        ("[generate]\nslides_limit = '0s'", "generate.slides_limit"),
        ("[generate]\nslides_limit = '2h'", "generate.slides_limit"),
        ("[shop]\ntries = 0", "shop.tries"),
        ("[shop]\nwait = '２s'", "shop.wait"),
        ("[shop]\nwait = '2h'", "shop.wait"),
        ("[shop]\ntotal = '0s'", "shop.total"),
        ("[post]\nat = '24:00'", "post.at"),
        ("[post]\nat = '7:5'", "post.at"),
        ("[post]\nat = 'evening'", "post.at"),
        ("[network]\nallowed_hosts = ['localhost']", "network.allowed_hosts"),
        ("[network]\nallowed_hosts = ['http://a:1']", "network.allowed_hosts"),
        ("[network]\nallowed_hosts = ['a:0']", "network.allowed_hosts"),
        ("[network]\nallowed_hosts = ['a:65536']", "network.allowed_hosts"),
        ("[network]\ncontact = 'a b'", "network.contact"),
    ],
)
def test_a_value_out_of_its_range_is_refused_by_name(text: str, key: str) -> None:
    """The line says what would be right."""
    refused = refuse(text)
    assert refused.startswith(key)
    assert " must be " in refused


@pytest.mark.parametrize(
    "zone", ["", "Nowhere/City", "Europe", "../etc/passwd", "/etc/passwd", "Europe/Berlin ", "\\u0000", "x" * 300]
)
def test_an_unknown_zone_is_refused(zone: str) -> None:
    """Whatever the zone database makes of it, it is one line."""
    assert refuse(f'zone = "{zone}"').startswith("zone = ")


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("1h", timedelta(hours=1)),
        ("90 m", timedelta(minutes=90)),
        (" 2d ", timedelta(days=2)),
        ("7200s", timedelta(hours=2)),
    ],
)
def test_durations_are_a_number_and_a_unit(text: str, duration: timedelta) -> None:
    """Seconds, minutes, hours and days are known."""
    assert parse_settings(f"[generate]\nkeep_drafts = '{text}'".encode(), HERE).generate.keep_drafts == duration


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"zone = \xff", "byte 7 is not UTF-8"),
        ("zone = 'UTC'".encode("utf-16"), "byte 0 is not UTF-8"),
        (b"[post\n", "this is not TOML: "),
        (b"zone = 'a'\nzone = 'b'", "this is not TOML: "),
        (b"a = " + b"[" * 100_000, "this is not TOML: "),
        (b"a = " + b"1" * 5_000, "this is not TOML: "),
        (b"\x00", "this is not TOML: "),
        (b"a = 2026-13-45", "this is not TOML: "),
    ],
)
def test_what_is_no_toml_is_refused_in_one_line(content: bytes, line: str) -> None:
    """Broken text, deep nesting and endless numbers end the same way."""
    assert refuse(content).startswith(line)


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_settings_or_one_line(content: bytes) -> None:
    """Nothing but our own error comes out."""
    told = ""
    try:
        parse_settings(content, HERE)
    except ConfigError as error:
        told = str(error)
    assert "\n" not in told


def test_a_missing_file_a_folder_and_a_huge_one_are_no_input(tmp_path: Path) -> None:
    """What cannot be read as a file is exit class 66."""
    for name in ("missing", "folder", "huge"):
        (tmp_path / name).mkdir()
    (tmp_path / "folder" / SETTINGS_FILE).mkdir()
    (tmp_path / "huge" / SETTINGS_FILE).write_bytes(b"#" * 1_000_001)
    for name in ("missing", "folder", "huge"):
        with pytest.raises(InputError) as caught:
            read_settings(tmp_path / name)
        assert caught.value.failure is FailureClass.INPUT
        assert str(caught.value).startswith(str(tmp_path / name / SETTINGS_FILE))


def test_a_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    """The limit itself is still allowed."""
    (tmp_path / SETTINGS_FILE).write_bytes(b"#" * 64_000)
    assert read_settings(tmp_path).account == "main"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"account = 'studio'\nstate_dir = 's'\ntypo = 1", ("s", "studio")),
        (b"account = 3\nstate_dir = 4", ("state", "main")),
        (b"account = 'Not An Account'\nstate_dir = ''", ("state", "main")),
        (b'state_dir = "a\\u0000b"', ("state", "main")),
        (b"state_dir = '~/x'", ("state", "main")),
        (b"[broken", ("state", "main")),
        (b"\xff\xfe", ("state", "main")),
        (b"a = " + b"[" * 100_000, ("state", "main")),
        (b"#" * 1_100_000, ("state", "main")),
        (b"\xef\xbb\xbfaccount = 'bom'", ("state", "bom")),
    ],
)
def test_the_basics_are_found_in_broken_settings_too(tmp_path: Path, content: bytes, expected: tuple[str, str]) -> None:
    """A run that fails by its settings has a place to be recorded."""
    (tmp_path / SETTINGS_FILE).write_bytes(content)
    assert find_basics(tmp_path) == (tmp_path / expected[0], expected[1])


def test_the_basics_of_nothing_are_the_defaults(tmp_path: Path) -> None:
    """A missing file and a folder in its place are no trouble."""
    assert find_basics(tmp_path) == (tmp_path / "state", "main")
    (tmp_path / SETTINGS_FILE).mkdir()
    assert find_basics(tmp_path) == (tmp_path / "state", "main")


def test_the_basics_agree_with_the_settings(tmp_path: Path) -> None:
    """The row of a run is written where the settings will look for it."""
    (tmp_path / SETTINGS_FILE).write_text("account = 'a-1'\nstate_dir = 'elsewhere'")
    found = read_settings(tmp_path)
    assert find_basics(tmp_path) == (found.state_dir, found.account)


def test_the_commented_defaults_of_the_written_file_are_the_real_ones() -> None:
    """Every line that begins with # shows the value that holds when it stays as it is, and no setting is missing."""
    text = WRITTEN.read_text("utf-8").replace('"$zone"', '"UTC"').replace('"$account"', '"main"')
    defaults, mark, example = text.partition("# [jobs.backup]")
    told = tomllib.loads(re.sub(r"(?m)^# (?=\w+ = )", "", defaults))
    assert msgspec.convert(told, SettingsFile) == SettingsFile()
    assert told.keys() == set(SettingsFile.__struct_fields__) - {"jobs", "expect"}
    job = tomllib.loads(re.sub(r"(?m)^# ", "", mark + example))
    assert job["jobs"]["backup"].keys() == set(JobTable.__struct_fields__)
    assert parse_settings(re.sub(r"(?m)^# ", "", mark + example).encode(), HERE).jobs[0].name == "backup"
    for name, default in msgspec.structs.asdict(SettingsFile()).items():
        if isinstance(default, msgspec.Struct):
            assert told[name].keys() == set(default.__struct_fields__)


def test_every_line_of_the_written_file_says_what_it_is_for() -> None:
    """A person can decide without a manual."""
    for line in WRITTEN.read_text("utf-8").splitlines():
        if " = " in line:
            assert re.search(r"\S\s+# \S", line), line


def test_our_errors_are_one_line_whatever_the_name_of_the_folder() -> None:
    """A folder with a line break in its name does not break the line."""
    with pytest.raises(LamplighterError) as caught:
        parse_settings(b"x = 1", Path("/a\nb"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('output = ""', "jobs.x.output is empty"),
        ('output = "  "', "jobs.x.output is empty"),
        ('env = { A = "env:" }', "jobs.x.env.A: the name of the variable is missing behind env:"),
        ('env = { A = "file: " }', "jobs.x.env.A: the name of the file is missing behind file:"),
    ],
)
def test_a_job_promises_nothing_without_a_name(line: str, told: str) -> None:
    """An empty pattern is not "none declared", and an empty name is no variable."""
    assert told in refuse(f'[jobs.x]\ncommand = ["true"]\n{line}\n')
