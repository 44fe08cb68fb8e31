"""template list, new, check, preview."""

from __future__ import annotations

import argparse
import contextlib
import os
from pathlib import Path

from lamplighter.app import opening, place, templating
from lamplighter.cli.command import Add
from lamplighter.cli.console import Console
from lamplighter.errors import FailureClass


def add_commands(add: Add) -> None:
    """Add the commands to the parser."""
    add("list", _list, "the templates there are")
    parser = add("new", _new, "copy a template into templates/ to make it your own")
    parser.add_argument("name", metavar="NAME")
    parser.add_argument(
        "--from", dest="source", default="default", metavar="TEMPLATE", help="what to copy, default: %(default)s"
    )
    parser = add("check", _check, "try a template with every kind of words and photos, on one contact sheet")
    parser.add_argument("name", metavar="NAME")
    parser.add_argument(
        "--output", default="", metavar="FILE", help="a .jpg or .png, default: template-check-NAME.jpg in the workspace"
    )
    parser = add("preview", _preview, "show a template with a brand's newest feature, or its name and colours")
    parser.add_argument("name", metavar="NAME")
    parser.add_argument(
        "--brand", default="", metavar="SLUG", help="default: the first brand that has the template, else the first"
    )
    parser.add_argument(
        "--output", default="", metavar="DIR", help="default: template-preview-NAME-SLUG in the workspace"
    )


def _list(arguments: argparse.Namespace, console: Console) -> int:
    workspace = place.open_workspace(arguments.workspace, console.say)
    rows = templating.list_templates(workspace)
    console.table([(name, "built in" if built_in else f"{opening.TEMPLATES_DIR}/{name}") for name, built_in in rows])
    for line in templating.list_misnamed_templates(workspace):
        console.bad(line)
    console.value([{"name": name, "built_in": built_in} for name, built_in in rows])
    return 0


def _new(arguments: argparse.Namespace, console: Console) -> int:
    workspace = place.open_workspace(arguments.workspace, console.say)
    folder = templating.new_template(workspace, arguments.name, source=arguments.source)
    console.good(f"A template: {_short(folder)}, a copy of {arguments.source}")
    console.line(f"  {_short(folder / 'slides.typ')}      how each slide is laid out")
    console.line(f"  {_short(folder / 'template.toml')}   sizes, fonts, colours, how long the words may be")
    console.line("docs/template.md says what both may hold.")
    console.line(f"Next: lamplighter template check {arguments.name}{_place(arguments)}")
    console.line(f'Then: "template": "{arguments.name}" for a brand in brand-catalog.json')
    console.value({"template": arguments.name, "from": arguments.source, "folder": str(folder)})
    return 0


def _check(arguments: argparse.Namespace, console: Console) -> int:
    workspace = place.open_workspace(arguments.workspace, console.say)
    output = Path(arguments.output) if arguments.output else None
    with console.working("drawing"):
        report = templating.check_template(workspace, arguments.name, output=output)
    for line in report.problems:
        console.bad(f"  {line}")
    for line in report.remarks:
        console.line(f"  remark: {line}")
    drawn = f"{report.slides} slides on {_short(report.sheet_file)}"
    if report.problems:
        console.bad(f"template {report.template}: {len(report.problems)} to mend; {drawn}")
    else:
        console.good(f"template {report.template}: all that must fit fits; {drawn}")
    console.value(
        {
            "template": report.template,
            "sheet": str(report.sheet_file),
            "slides": report.slides,
            "problems": list(report.problems),
            "remarks": list(report.remarks),
        }
    )
    return FailureClass.CONFIG.value if report.problems else 0


def _preview(arguments: argparse.Namespace, console: Console) -> int:
    workspace = place.open_workspace(arguments.workspace, console.say)
    output = Path(arguments.output) if arguments.output else None
    with console.working("drawing"):
        report = templating.preview_template(workspace, arguments.name, brand=arguments.brand, output=output)
    words = f"the words of {report.feature}" if report.feature else "made-up words"
    console.good(f"template {arguments.name}, brand {report.brand}, {words}: {_short(report.folder)}")
    for line in report.remarks:
        console.line(f"  remark: {line}")
    console.line(f"Look at: {_short(report.files[-1])}")
    console.value(
        {
            "template": arguments.name,
            "brand": report.brand,
            "feature": report.feature or None,
            "folder": str(report.folder),
            "files": [str(file) for file in report.files],
            "remarks": list(report.remarks),
        }
    )
    return 0


def _place(arguments: argparse.Namespace) -> str:
    return f" --workspace {arguments.workspace}" if arguments.workspace else ""


def _short(path: Path) -> str:
    """Return a path as it is shortest from here, in one line."""
    shown = str(path)
    with contextlib.suppress(OSError):  # the present folder is gone
        shown = min(shown, os.path.relpath(path), key=len)
    return shown.replace("\n", "?")
