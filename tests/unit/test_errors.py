"""The exception tree: one line for a person, an exit class for a scheduler."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from lamplighter import errors
from lamplighter.errors import (
    ConfigError,
    Damaged,
    DiskError,
    FailureClass,
    Fenced,
    InputError,
    InternalError,
    LamplighterError,
    LockBusy,
    LockUnusable,
    NeedsHuman,
    NoWorkspace,
    UpstreamError,
    UsageError,
)

CODES = {
    UsageError: 64,
    ConfigError: 65,
    InputError: 66,
    NoWorkspace: 66,
    UpstreamError: 69,
    InternalError: 70,
    Fenced: 70,
    LockUnusable: 73,
    DiskError: 74,
    Damaged: 74,
    LockBusy: 75,
    NeedsHuman: 77,
}


class Undocumented(UpstreamError):  # noqa: D101 - it is the point
    pass


@pytest.mark.parametrize("kind", CODES, ids=lambda kind: kind.__name__)
def test_every_class_stands_for_the_exit_code_of_the_table(kind: type[LamplighterError]) -> None:
    """Class and exit code are those of DESIGN §3."""
    assert kind.failure.value == CODES[kind]


def test_no_class_of_the_tree_is_missing_from_the_table() -> None:
    """A new error class needs an exit code on purpose."""
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, LamplighterError)}
    assert kinds - {LamplighterError} == set(CODES)


@pytest.mark.parametrize("kind", CODES, ids=lambda kind: kind.__name__)
def test_an_error_without_a_cause_says_its_docstring(kind: type[LamplighterError]) -> None:
    """The docstring of a class is its default message, without the full stop."""
    line = str(kind("brand kibo"))
    assert line.startswith("brand kibo: ")
    assert not line.endswith(".")
    assert len(line) > len("brand kibo: ")


def test_an_undocumented_class_says_what_its_parent_says() -> None:
    """A class without a docstring of its own still has a message."""
    assert str(Undocumented("shop")) == "shop: the other side did not do its part"


def test_an_error_without_docstrings_can_still_be_raised() -> None:
    """Under python -OO, which strips docstrings, an error has a message too."""
    code = "from lamplighter.errors import DiskError; print(DiskError('a.json'))"
    child = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=False)
    assert (child.stdout, child.stderr) == ("a.json: it did not work\n", "")


def test_an_error_is_one_line_of_subject_cause_and_remedy() -> None:
    """Line breaks and runs of blanks from elsewhere never reach the person."""
    error = UpstreamError("brand kibo", "403 from\n\tthe shop", "wait\na while")
    assert str(error) == "brand kibo: 403 from the shop; wait a while"


def test_an_error_survives_pickling() -> None:
    """What happened in another process is told as it was."""
    error = pickle.loads(pickle.dumps(DiskError("a.json", "No space left on device", "free some space")))  # noqa: S301
    assert str(error) == "a.json: No space left on device; free some space"
    assert error.failure is FailureClass.DISK


@pytest.mark.parametrize("kind", [UpstreamError, DiskError, LockBusy])
def test_what_may_pass_is_not_permanent(kind: type[LamplighterError]) -> None:
    """Upstream, disk and a busy lock may be better next time."""
    assert not kind.permanent


@pytest.mark.parametrize("kind", [UsageError, ConfigError, InputError, InternalError, LockUnusable, NeedsHuman])
def test_what_a_person_must_change_is_permanent(kind: type[LamplighterError]) -> None:
    """Trying the same again cannot help."""
    assert kind.permanent
