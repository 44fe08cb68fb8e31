"""demo, init, generate, post."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from lamplighter.app import making, place
from lamplighter.cli.command import Add
from lamplighter.cli.console import Console, confirm
from lamplighter.cli.report import describe_report, tell_line, tell_report
from lamplighter.errors import LamplighterError, UsageError
from lamplighter.host.clock import SystemClock
from lamplighter.publish.post import PostPlan

_DEMO_FOLDER = "lamplighter-demo"


def add_commands(add: Add) -> None:
    """Add the four commands to the parser."""
    parser = add("demo", _demo)
    parser.add_argument("folder", nargs="?", default="", metavar="DIR", help=f"default: {_DEMO_FOLDER}")
    parser = add("init", _init)
    parser.add_argument("folder", nargs="?", default="", metavar="DIR", help="default: the present folder")
    parser.add_argument(
        "--shop",
        action="append",
        default=[],
        metavar="URL",
        help='a Shopify shop to feature, a folder as "file:DIR", or "sample"; may be given again',
    )
    parser = add("generate", _generate)
    parser.add_argument("--dry-run", action="store_true", help="take no lock, write nothing, say what would be done")
    parser.add_argument("--force", action="store_true", help="make one whatever the stock")
    parser.add_argument("--brand", default="", metavar="SLUG", help="of this brand only, also when it is skipped")
    parser = add("post", _post)
    parser.add_argument("--dry-run", action="store_true", help="take no lock, write nothing, print the exact calls")
    parser.add_argument("--feature", default="", metavar="ID", help="this one instead of the oldest")
    parser.add_argument("--force", action="store_true", help="an extra post on a day that has one; asks first")


def _demo(arguments: argparse.Namespace, console: Console) -> int:
    folder = Path(arguments.folder or arguments.workspace or _DEMO_FOLDER)
    with console.working("making features"):
        result = making.demo(folder, SystemClock(), console.say)
    console.hurry()
    console.line()
    console.line(f"{'A new' if result.new else 'The'} demo workspace: {_short(result.folder)}")
    for report in result.generated:
        tell_line(console, "generate", report)
    tell_line(console, "post", result.posted)
    console.value(
        {
            "folder": str(result.folder),
            "new": result.new,
            "generate": [describe_report("generate", report) for report in result.generated],
            "post": describe_report("post", result.posted),
        }
    )
    _say_where(console, result.folder)
    codes = [report.exit_code for report in (*result.generated, result.posted)]
    return next((code for code in codes if code), 0)


def _say_where(console: Console, folder: Path) -> None:
    """Tell where the pictures are, what to open and what to type next."""
    previews = sorted((folder / "outbox").glob("*/preview.html"))
    console.line()
    console.line(f"Pictures:  {_short(folder / 'content' / 'sns')}/feature-*/slide-*.jpg")
    if previews:
        console.line(f"Look at:   {_short(previews[-1])}   (open it in a browser)")
    console.line(f"Next:      lamplighter status --workspace {_short(folder)}")
    console.line("Your own:  lamplighter init my-brand --shop https://your-shop.example")


def _init(arguments: argparse.Namespace, console: Console) -> int:
    folder = Path(arguments.folder or arguments.workspace or ".")
    made = making.init(folder, tuple(_seen_from(folder, shop) for shop in arguments.shop))
    console.good(f"A workspace: {_short(made.folder)}")
    for file in made.files:
        console.line(f"  {_short(file)}")
    if made.brands:
        console.line(f"Brands: {', '.join(made.brands)}")
        console.line("Look through brand-catalog.json before you post: its name, handle, language (en or ja), currency")
        console.line('(without one no price is shown), and "permission": that you may use the shop\'s pictures.')
    else:
        console.line("There is no brand in brand-catalog.json yet: docs/catalog.md shows the form of one.")
    console.line(f"Next: lamplighter generate --workspace {_short(made.folder)} --dry-run")
    console.value(
        {"folder": str(made.folder), "files": [str(file) for file in made.files], "brands": list(made.brands)}
    )
    return 0


def _seen_from(folder: Path, shop: str) -> str:
    """Return a shop as the new catalog names it: a folder that is there from here is given from the workspace."""
    place = Path(shop.removeprefix("file:"))
    if not shop.startswith("file:") or shop == "file:" or place.is_absolute() or not place.is_dir():
        return shop
    return f"file:{os.path.relpath(place.resolve(), folder.resolve())}"


def _generate(arguments: argparse.Namespace, console: Console) -> int:
    workspace = place.open_workspace(arguments.workspace, console.say)
    if arguments.dry_run:
        return _plan_generate(arguments, console, workspace)
    with console.working("making features"):
        report = making.run_generate(workspace, force=arguments.force, brand=arguments.brand)
    return tell_report(console, "generate", report)


def _plan_generate(arguments: argparse.Namespace, console: Console, workspace: place.Workspace) -> int:
    plan = making.plan_generate(workspace, force=arguments.force, brand=arguments.brand)
    stock = f"{plan.level.have} of {plan.level.target} in stock"
    if plan.wanted and plan.brands:
        console.line(f"dry run: {stock}; would make {plan.wanted}, trying at most {plan.attempts} times")
        console.line(f"dry run: brands in this order: {', '.join(plan.brands)}")
    elif plan.wanted:
        console.line(f"dry run: {stock}; would make {plan.wanted}, but every brand is skipped")
    else:
        console.line(f"dry run: {stock}; nothing to make")
    for skipped in plan.skipped:
        console.line(f"dry run: skipped: {skipped.slug} until {skipped.until:%Y-%m-%d %H:%M} UTC ({skipped.reason})")
    for trouble in plan.level.troubles:
        console.line(f"dry run: does not count as stock: {trouble}")
    console.value(
        {
            "dry_run": True,
            "stock": plan.level.have,
            "target": plan.level.target,
            "would_make": plan.wanted,
            "attempts": plan.attempts,
            "brands": list(plan.brands),
            "skipped": [
                {"slug": skip.slug, "until": skip.until.isoformat(), "reason": skip.reason} for skip in plan.skipped
            ],
            "troubles": list(plan.level.troubles),
        }
    )
    return 0


def _post(arguments: argparse.Namespace, console: Console) -> int:
    workspace = place.open_workspace(arguments.workspace, console.say)
    if arguments.dry_run:
        return _tell_post_plan(
            console, *making.plan_post(workspace, feature_id=arguments.feature, force=arguments.force)
        )
    extra = arguments.force and _confirm_extra(workspace, arguments.feature)
    report = making.run_post(workspace, feature_id=arguments.feature, force=extra)
    return tell_report(console, "post", report)


def _confirm_extra(workspace: place.Workspace, feature_id: str) -> bool:
    """Return whether today has its post and a person wants an extra one; raises UsageError when they do not."""
    try:
        plan, _ = making.plan_post(workspace, feature_id=feature_id, force=True)
    except LamplighterError:
        return False  # what is wrong is for the run to say and to record
    if not plan.is_extra or plan.post is None:
        return False
    if not confirm(f"Today has its post. Publish {plan.post.feature.id} too?"):
        raise UsageError("post --force", "an extra post was not confirmed", "say yes at a terminal")
    return True


def _tell_post_plan(console: Console, plan: PostPlan, calls: tuple[str, ...]) -> int:
    if plan.filled_by is not None:
        console.line(f"dry run: {plan.filled_by.feature_id} fills {plan.filled_by.slot} already; nothing to post")
    elif plan.post is None:
        console.line(f"dry run: no ready feature for {plan.slot}")
    else:
        console.line(f"dry run: would post {plan.post.feature.id} for {plan.slot}: {plan.post.feature.title}")
        for call in calls:
            console.line(f"dry run: {call}")
    for trouble in plan.troubles:
        console.line(f"dry run: cannot be posted: {trouble}")
    console.value(
        {
            "dry_run": True,
            "slot": plan.slot,
            "feature": plan.post.feature.id if plan.post else None,
            "filled_by": plan.filled_by.feature_id if plan.filled_by else None,
            "calls": list(calls),
            "troubles": list(plan.troubles),
        }
    )
    return 0


def _short(path: Path) -> str:
    """Return a path as it is shortest from here."""
    try:
        relative = os.path.relpath(path)
    except OSError:  # the present folder is gone
        return str(path)
    return relative if len(relative) < len(str(path)) else str(path)
