"""Whether slides can be made: the templates of the brands, the fonts, and one slide drawn by the child that draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lamplighter.doctor.finding import Finding, good, wrong
from lamplighter.errors import DiskError, LamplighterError
from lamplighter.featurepost.catalog import Brand

if TYPE_CHECKING:
    from lamplighter.featurepost.slides.renderer import Renderer

_PLAIN = "no photo"


def look_at_slides(brands: Sequence[Brand], templates_dir: Path, renderer: Renderer) -> Iterator[Finding]:
    """Find whether every brand's template is whole, and draw one slide by the first; the picture is thrown away."""
    from lamplighter.featurepost.slides.template_folder import find_template  # noqa: PLC0415 - it loads Typst

    names = tuple(dict.fromkeys(brand.template for brand in brands)) or ("default",)
    for name in names:
        try:
            template = find_template(name, templates_dir)
            if name == names[0]:
                _draw(name, templates_dir, renderer)
        except DiskError:  # no room for the picture says nothing of the template
            raise
        except LamplighterError as error:
            remedy = error.remedy or f"lamplighter template check {name}"
            yield wrong("slides", f"template {name}: {error.subject}: {error.cause}", remedy)
        else:
            drawn = f"one slide was drawn by template {name}" if name == names[0] else f"template {name} is whole"
            yield good("slides", f"{drawn}, in {', '.join(template.fonts)}")


def _draw(name: str, templates_dir: Path, renderer: Renderer) -> None:
    """Draw the first slide of the fixture that needs no photo; raises RenderError, ConfigError or DiskError."""
    from lamplighter.featurepost.slides import fixture, fixture_photo, template_folder  # noqa: PLC0415 - as above
    from lamplighter.host.files import private_folder  # noqa: PLC0415 - as above

    template = template_folder.find_template(name, templates_dir)
    plain = next(one for one in fixture.FIXTURES if one.name == _PLAIN)
    with private_folder() as folder:
        photos = fixture_photo.FixturePhotos(folder=folder)
        usual = replace(plain, photo=fixture_photo.PhotoKind.USUAL)
        carousel, _ = fixture.compose_fixture(plain, fixture.Script.ENGLISH, template, photos)
        if not carousel.slides:  # a template whose slides all need a photo
            carousel, _ = fixture.compose_fixture(usual, fixture.Script.ENGLISH, template, photos)
        renderer.render(replace(carousel, slides=carousel.slides[:1]), template, folder / "slide")
