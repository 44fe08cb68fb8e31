"""The template commands: a template of one's own, tried and shown. What draws is loaded only here."""

from __future__ import annotations

import contextlib
from pathlib import Path

from lamplighter.app.opening import TEMPLATES_DIR, build_renderer, reading
from lamplighter.app.place import Workspace, absolute, refuse_other_user
from lamplighter.config.settings import read_settings
from lamplighter.errors import InputError, render_line
from lamplighter.featurepost.catalog import Brand
from lamplighter.featurepost.slides.template_report import CheckReport, PreviewReport
from lamplighter.featurepost.stock import Place


def list_templates(workspace: Workspace) -> tuple[tuple[str, bool], ...]:
    """Return the name of each template, and whether it is a built-in one."""
    from lamplighter.featurepost.slides import template_folder  # noqa: PLC0415

    own_dir = workspace.folder / TEMPLATES_DIR
    own = {name for name in template_folder.list_templates(own_dir) if (own_dir / name).is_dir()}
    return tuple((name, name not in own) for name in template_folder.list_templates(own_dir))


def list_misnamed_templates(workspace: Workspace) -> tuple[str, ...]:
    """Return a line for each folder in templates/ that cannot be used by its name."""
    from lamplighter.featurepost.slides.template_folder import NAME_RULE, list_misnamed  # noqa: PLC0415

    own_dir = workspace.folder / TEMPLATES_DIR
    return tuple(f"{TEMPLATES_DIR}/{render_line(name)}: {NAME_RULE}" for name in list_misnamed(own_dir))


def new_template(workspace: Workspace, name: str, *, source: str) -> Path:
    """Copy a template into the workspace and return its folder; the function behind `lamplighter template new`."""
    from lamplighter.featurepost.slides.template_folder import copy_template  # noqa: PLC0415

    refuse_other_user(workspace.folder)
    return copy_template(source, name, workspace.folder / TEMPLATES_DIR).folder_dir


def check_template(workspace: Workspace, name: str, *, output: Path | None = None) -> CheckReport:
    """Try a template with every fixture and write one contact sheet; nothing else is touched, no lock is held."""
    from lamplighter.featurepost.slides import template_check  # noqa: PLC0415
    from lamplighter.featurepost.slides.template_folder import find_template  # noqa: PLC0415

    settings = read_settings(workspace.folder)
    template = find_template(name, workspace.folder / TEMPLATES_DIR)
    sheet_file = _choose_output(workspace, output, f"template-check-{name}.jpg")
    return template_check.check_template(template, build_renderer(settings), sheet_file)


def preview_template(workspace: Workspace, name: str, *, brand: str = "", output: Path | None = None) -> PreviewReport:
    """Show a template with a brand's newest feature, or with made-up words in its name; the stock is only read."""
    from lamplighter.featurepost.product import ShopImage  # noqa: PLC0415
    from lamplighter.featurepost.shop import open_shop  # noqa: PLC0415
    from lamplighter.featurepost.slides import template_preview  # noqa: PLC0415
    from lamplighter.featurepost.slides.template_folder import find_template  # noqa: PLC0415
    from lamplighter.featurepost.writer.caption import render_address  # noqa: PLC0415
    from lamplighter.host.http import Client  # noqa: PLC0415

    with reading(workspace) as parts, contextlib.ExitStack() as stack:
        settings, clock = parts.settings, workspace.clock
        template = find_template(name, workspace.folder / TEMPLATES_DIR)
        chosen = _choose_brand(parts.read_brands(), brand, template=name)
        client = stack.enter_context(
            Client(contact=settings.contact, allowed_hosts=settings.shop.allowed_hosts, clock=clock)
        )
        shop = open_shop(chosen, settings.workspace_dir, lambda: client, clock, settings.shop)
        seen = (found.feature for found in parts.stock.examine(Place.READY, Place.HELD, Place.POSTED))
        features = [feature for feature in seen if feature is not None and feature.brand == chosen.slug]
        subject = template_preview.Subject(
            brand=chosen,
            url=render_address(chosen),
            feature=features[-1] if features else None,
            fetch_photo=lambda source: shop.fetch_photo(ShopImage(src=source, position=1)),
        )
        target_dir = _choose_output(workspace, output, f"template-preview-{name}-{chosen.slug}")
        return template_preview.preview_template(template, subject, build_renderer(settings), target_dir)


def _choose_output(workspace: Workspace, output: Path | None, name: str) -> Path:
    """Return where a person wants a picture, by default in the workspace, where only its owner may write."""
    if output is not None:
        return absolute(output)
    refuse_other_user(workspace.folder)
    return workspace.folder / name


def _choose_brand(brands: tuple[Brand, ...], slug: str, *, template: str) -> Brand:
    """Return the brand a person names, else the first that has the template, else the first; raises InputError."""
    if not slug:
        return next((entry for entry in brands if entry.template == template), brands[0])
    for entry in brands:
        if entry.slug == slug:
            return entry
    known = ", ".join(entry.slug for entry in brands)
    raise InputError(f"brand {slug!r}", "it is not in the catalog", f"known are {known}")
