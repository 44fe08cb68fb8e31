"""brands list, skip, unskip."""

from __future__ import annotations

import argparse
from datetime import timedelta

from lamplighter.app import opening, place
from lamplighter.cli.command import Add, whole_number
from lamplighter.cli.console import Console, Json
from lamplighter.errors import InputError, UsageError, render_line
from lamplighter.featurepost.brandstate import LONGEST_SKIP


def add_commands(add: Add) -> None:
    """Add the commands to the parser."""
    add("list", _list, "every brand, when it was last featured, and whether it is skipped")
    parser = add("skip", _skip, "leave a brand out for a while; a skip always ends by itself")
    parser.add_argument("brand", metavar="SLUG")
    parser.add_argument(
        "--days", type=whole_number, default=7, metavar="N", help=f"1 to {LONGEST_SKIP.days}, default: %(default)s"
    )
    parser.add_argument("--reason", default="skipped by hand", metavar="TEXT")
    parser = add("unskip", _unskip, "take a brand in again at once")
    parser.add_argument("brand", metavar="SLUG")


def _list(arguments: argparse.Namespace, console: Console) -> int:
    workspace = place.open_workspace(arguments.workspace, console.say)
    rows: list[dict[str, Json]] = []
    with opening.reading(workspace) as parts:
        featured = parts.index.last_featured()
        for brand in parts.read_brands():
            state = parts.states.read(brand.slug, now=workspace.clock.now())
            rows.append(
                {
                    "slug": brand.slug,
                    "name": brand.name,
                    "shop": brand.shop,
                    "last_feature": featured.get(brand.slug),
                    "skip_until": state.skip_until.isoformat() if state.skip_until else None,
                    "skip_reason": state.skip_reason,
                    "failures": state.failures,
                    "last_failure": state.last_failure,
                }
            )
    console.table([_cells(row) for row in rows])
    console.value(rows)
    return 0


def _cells(row: dict[str, Json]) -> tuple[str, ...]:
    last = f"feature {row['last_feature']}" if row["last_feature"] else "never featured"
    if row["skip_until"]:
        note = f"skipped until {str(row['skip_until'])[:16].replace('T', ' ')} UTC: {row['skip_reason']}"
    elif row["failures"]:
        note = f"failed {row['failures']} in a row: {row['last_failure']}"
    else:
        note = ""
    return (str(row["slug"]), str(row["name"]), last, str(row["shop"]), note)


def _skip(arguments: argparse.Namespace, console: Console) -> int:
    longest = LONGEST_SKIP.days
    if not 1 <= arguments.days <= longest:
        raise UsageError("brands skip --days", f"{arguments.days} is not 1 to {longest}", "a skip always ends")
    workspace = place.open_workspace(arguments.workspace, console.say)
    until = workspace.clock.now() + timedelta(days=arguments.days)
    with opening.writing(workspace) as parts:
        _check_known(parts, arguments.brand)
        parts.states.skip(arguments.brand, until=until, reason=render_line(arguments.reason))
    console.good(f"{arguments.brand} is skipped until {until:%Y-%m-%d %H:%M} UTC")
    console.value({"slug": arguments.brand, "skip_until": until.isoformat()})
    return 0


def _unskip(arguments: argparse.Namespace, console: Console) -> int:
    with opening.writing(place.open_workspace(arguments.workspace, console.say)) as parts:
        _check_known(parts, arguments.brand)
        parts.states.unskip(arguments.brand)
    console.good(f"{arguments.brand} is taken in again")
    console.value({"slug": arguments.brand, "skip_until": None})
    return 0


def _check_known(parts: opening.Parts, slug: str) -> None:
    known = [brand.slug for brand in parts.read_brands()]
    if slug not in known:
        raise InputError(f"brand {slug!r}", "it is not in the catalog", f"known are {', '.join(known)}")
