"""stock list, show, hold, release, approve, drop, clean."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from lamplighter.app import opening, place
from lamplighter.cli.command import Add
from lamplighter.cli.console import Console, Json, confirm
from lamplighter.errors import LamplighterError, UsageError, render_line
from lamplighter.featurepost.stock import Place, Reason, Stock, StockItem


def add_commands(add: Add) -> None:
    """Add the commands to the parser."""
    parser = add("list", _list, "every feature and where it is")
    parser.add_argument("--all", action="store_true", help="posted ones too")
    for name, handler, text in (
        ("show", _show, "one feature: words, facts, slides"),
        ("release", _release, "make a held feature ready again"),
        ("approve", _approve, "approve a feature that waits for review"),
    ):
        add(name, handler, text).add_argument("feature", metavar="ID")
    parser = add("hold", _hold, "keep a ready feature back")
    parser.add_argument("feature", metavar="ID")
    parser.add_argument("--reason", default="held by hand", metavar="TEXT")
    parser = add("drop", _drop, "delete a feature that was not posted")
    parser.add_argument("feature", metavar="ID")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    add("clean", _clean, "remove drafts that are older than keep_drafts")


def _list(arguments: argparse.Namespace, console: Console) -> int:
    with opening.reading(place.open_workspace(arguments.workspace, console.say)) as parts:
        places = [place for place in Place if arguments.all or place is not Place.POSTED]
        rows = [_describe(parts.stock, item) for place in places for item in parts.stock.items(place)]
    console.table([(str(row["place"]), str(row["id"]), str(row["text"])) for row in rows])
    if not rows:
        console.line("the stock is empty; lamplighter generate fills it")
    console.value(rows)
    return 0


def _describe(stock: Stock, item: StockItem) -> dict[str, Json]:
    """Return one line's worth of a feature: its title, or why it is not ready."""
    if item.place is Place.DRAFT:
        failure = stock.failure(item)
        text = f"failed at {failure.step}: {failure.message}" if failure else "being made"
    else:
        try:
            text = (stock.trouble(item) if item.place is not Place.POSTED else "") or stock.read(item).title
        except LamplighterError as error:
            text = str(error)
    reason = stock.reason(item) if item.place is Place.HELD else None
    if reason is not None:
        text = f"{text} ({reason.kind}: {reason.text})"
    return {"id": item.id, "place": item.place.value, "text": text, "folder": str(item.folder)}


def _show(arguments: argparse.Namespace, console: Console) -> int:
    with opening.reading(place.open_workspace(arguments.workspace, console.say)) as parts:
        item = parts.stock.find(arguments.feature)
        row = _describe(parts.stock, item)
        if item.place is Place.DRAFT:
            console.line(f"{row['place']}  {row['id']}  {row['text']}")
            console.line(str(item.folder))
            console.value(row)
            return 0
        feature = parts.stock.read(item)
    console.line(f"{feature.id}  ({item.place.value})  {feature.title}")
    console.line(f"{item.folder}")
    console.line()
    console.line(feature.caption)
    console.line()
    for slide in feature.slides:
        console.line(f"{slide.file}  {slide.role.value:<8} {slide.alt}")
    for sheet in feature.facts:
        for fact in sheet.facts:
            console.line(f"{sheet.product_id} {fact.id}  {fact.kind}: {fact.text}  [{fact.source}]")
    console.value(
        {
            **row,
            "title": feature.title,
            "caption": feature.caption,
            "slides": [{"file": slide.file, "role": slide.role.value, "alt": slide.alt} for slide in feature.slides],
            "facts": [
                {
                    "product": sheet.product_id,
                    "id": fact.id,
                    "kind": fact.kind,
                    "text": fact.text,
                    "source": fact.source,
                }
                for sheet in feature.facts
                for fact in sheet.facts
            ],
        }
    )
    return 0


def _hold(arguments: argparse.Namespace, console: Console) -> int:
    workspace = place.open_workspace(arguments.workspace, console.say)
    reason = Reason(kind="hold", text=render_line(arguments.reason), at=workspace.clock.now())
    return _change(arguments, console, "held", lambda stock, item: stock.hold(item, reason))


def _release(arguments: argparse.Namespace, console: Console) -> int:
    return _change(arguments, console, "ready", lambda stock, item: stock.release(item))


def _approve(arguments: argparse.Namespace, console: Console) -> int:
    return _change(arguments, console, "approved and ready", lambda stock, item: stock.approve(item))


def _drop(arguments: argparse.Namespace, console: Console) -> int:
    if not arguments.yes and not confirm(f"Delete {arguments.feature} for good?"):
        raise UsageError("stock drop", "it was not confirmed", "say yes at a terminal, or add --yes")
    return _change(arguments, console, "deleted", lambda stock, item: stock.drop(item))


def _change(
    arguments: argparse.Namespace, console: Console, word: str, act: Callable[[Stock, StockItem], StockItem | None]
) -> int:
    with opening.writing(place.open_workspace(arguments.workspace, console.say)) as parts:
        item = parts.stock.find(arguments.feature)
        opening.refuse_busy(parts, item)
        act(parts.stock, item)
    console.good(f"{item.id} is {word}")
    console.value({"id": item.id, "now": word})
    return 0


def _clean(arguments: argparse.Namespace, console: Console) -> int:
    workspace = place.open_workspace(arguments.workspace, console.say)
    with opening.writing(workspace) as parts:
        removed = parts.stock.clean(now=workspace.clock.now(), keep=parts.settings.generate.keep_drafts)
    for item in removed:
        console.line(f"removed {item.folder.name}")
    console.line(f"{len(removed)} old drafts removed")
    console.value({"removed": [item.id for item in removed]})
    return 0
