"""Values are what frozen, slotted, keyword-only dataclasses are, without what those cost a start."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lamplighter.value import as_dict, replace, value


@value
class Point:
    """A value with a default."""

    x: int
    y: int = 2

    @property
    def sum(self) -> int:
        """Return what a method makes of the fields."""
        return self.x + self.y


@value(hidden=("token",))
class Login:
    """A value with a secret."""

    user: str
    token: str = ""


def test_a_value_is_made_by_names_and_compared_by_what_it_holds() -> None:
    """Defaults are filled in; equal fields are one value, also in a set; another class never is."""
    assert Point(x=1) == Point(x=1, y=2) != Point(x=1, y=3)
    assert {Point(x=1), Point(x=1)} == {Point(x=1)}
    assert Point(x=1).sum == 3
    assert Point(x=1).__eq__(Login(user="u")) is NotImplemented


@pytest.mark.parametrize("given", [{}, {"y": 1}, {"x": 1, "z": 3}])
def test_a_missing_and_an_unknown_field_are_refused(given: dict[str, int]) -> None:
    """As a function refuses them."""
    with pytest.raises(TypeError, match="Point: missing"):
        Point(**given)


def test_a_value_never_changes() -> None:
    """Neither a field nor another attribute can be set, and none be deleted."""
    point = Point(x=1)
    for name in ("x", "z"):
        with pytest.raises(AttributeError, match="never changes"):
            setattr(point, name, 2)
    with pytest.raises(AttributeError, match="never changes"):
        del point.x
    assert point == Point(x=1)


def test_another_value_is_made_by_replacing() -> None:
    """The one it was made of stays; what it has no field for is refused."""
    point = Point(x=1)
    assert (replace(point, y=5), point) == (Point(x=1, y=5), Point(x=1))
    with pytest.raises(TypeError, match="unknown"):
        replace(point, z=1)
    assert as_dict(replace(point, y=5)) == {"x": 1, "y": 5}


def test_a_secret_is_not_shown() -> None:
    """What is hidden stays out of a traceback."""
    assert repr(Login(user="u", token="hunter2")) == "Login(user='u')"
    assert repr(Point(x=1)) == "Point(x=1, y=2)"


def test_a_default_that_can_change_is_refused() -> None:
    """All values would share it."""

    class Bag:
        """A class with a list for a default."""

        things: list[int] = []  # noqa: RUF012 - what is refused

    with pytest.raises(TypeError, match="must not be a list"):
        value(Bag)


def test_a_run_loads_no_dataclasses() -> None:
    """That is what values are for: `inspect`, which dataclasses load, costs every start."""
    code = (
        "import sys; from lamplighter.cli import main; print(*{'dataclasses', 'inspect', 'msgspec'} & {*sys.modules})"
    )
    loaded = subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True, env={})
    assert loaded.stdout.strip() == ""
