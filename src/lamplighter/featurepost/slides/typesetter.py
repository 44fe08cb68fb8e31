"""The typesetter: words and photos by a Typst template into one PDF/A, a page a slide."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import msgspec
import typst

from lamplighter.featurepost.feature import Language, Struct
from lamplighter.featurepost.slides.carousel import RenderError, TemplateBroken, Trouble
from lamplighter.featurepost.slides.font_folder import UNREADABLE, FontFolder, link_fonts
from lamplighter.featurepost.slides.glyphs import Coverage, read_coverage
from lamplighter.featurepost.slides.palette import Palette
from lamplighter.featurepost.slides.phrases import Field
from lamplighter.featurepost.slides.template_folder import SLIDES_FILE

EMOJI_FAMILY = "Twemoji Mozilla"
_MAIN = """\
#import "/lib/lamp.typ": carousel
#import "/tpl/slides.typ" as template
#carousel(json(bytes(sys.inputs.data)), template)
"""
_TROUBLE = "<fit-trouble>"
_MOST_REMARKS = 3
_REMEDY = "correct it and run again"
# The template's own line comes first, also when it only called the helper that failed.
_PLACES = (re.compile(r"tpl/([^\n]+?:\d+):\d+"), re.compile(r"(lib/[^\n]+?:\d+):\d+"))
_ASSERTION = "assertion failed: "
# What Typst says of a role's function that takes other than two values; only the call is named then, which is ours.
_WRONG_CALL = ("unexpected argument", "missing argument")
# PDF/A forbids the empty box for a missing letter, so Typst says so instead of drawing it (typst/typst#3004).
_MISSING_LETTER = re.compile(r"PDF/A-2b error: the text `\"(.+?)\"` could not be displayed")
_NO_FILE = re.compile(r"file not found \(searched at (.+)\)")
_SHOWN_LETTERS = 8


class Words(Struct, frozen=True, kw_only=True):
    """The text fields of a slide as a template gets them; an absent one has no lines."""

    kicker: Field
    title: Field
    subtitle: Field
    name: Field
    price: Field
    note: Field
    body: Field


class PageSlide(Struct, frozen=True, kw_only=True):
    """One slide as the document has it; `photo` is a path from the document's root."""

    role: str
    photo: str | None
    words: Words


class BrandFields(Struct, frozen=True, kw_only=True):
    """The brand's lines as a template gets them."""

    name: Field
    handle: Field
    url: Field


class Document(Struct, frozen=True, kw_only=True):
    """Everything a template is told."""

    size: tuple[int, int]
    fonts: tuple[str, ...]
    lang: Language
    theme: Palette
    brand: BrandFields
    slides: tuple[PageSlide, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Typeset:
    """A PDF, the texts that did not fit, and what Typst remarked."""

    pdf: bytes
    fit: tuple[Trouble, ...]
    remarks: tuple[str, ...]


class Typesetter:
    """Typst over a private copy of one template; `fonts` is the order in which letters are looked for."""

    def __init__(
        self,
        *,
        template: str,
        template_dir: Path,
        library_dir: Path,
        root_dir: Path,
        fonts: tuple[str, ...],
        bundled_fonts_dir: Path,
        own_fonts: FontFolder,
    ) -> None:
        """Copy the template and find the fonts; raises TemplateBroken when one is missing."""
        self._subject = f"template {template}"
        self._root_dir = root_dir
        _copy_folder(template_dir, root_dir / "tpl")
        _copy_folder(library_dir, root_dir / "lib")
        # A file, not bytes: query() cannot see a main document in memory (typst-py 0.15.2).
        main_file = root_dir / "main.typ"
        main_file.write_text(_MAIN, encoding="utf-8")
        own_fonts_dir = link_fonts(own_fonts.fonts, root_dir / "own-fonts")
        font_dirs = [str(folder) for folder in (bundled_fonts_dir, own_fonts_dir) if folder is not None]
        found = typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=font_dirs)
        files = {font.path for font in found.fonts()}
        unread = (f"{own.name}: {UNREADABLE}" for own in own_fonts.fonts if own.file not in files)
        self._font_remarks = (*own_fonts.remarks, *unread)
        self.fonts = self._choose_families(fonts, found, {own.file for own in own_fonts.fonts})
        self._font_files = sorted({font.path for font in found.fonts() if font.family in self.fonts and font.path})
        nowhere = str(root_dir / "no-packages")
        self._compiler = typst.Compiler(
            input=str(main_file),
            root=str(root_dir),
            font_paths=found,
            ignore_system_fonts=True,
            package_path=nowhere,
            package_cache_path=nowhere,
        )

    def read_coverage(self) -> Coverage:
        """Return the letters that can be shown."""
        return read_coverage(Path(file) for file in self._font_files)

    def typeset(self, document: Document) -> Typeset:
        """Return the document as PDF/A; raises TemplateBroken with the template's file and line."""
        data = msgspec.json.encode(document).decode("utf-8")
        try:
            pdf, warnings = self._compiler.compile_with_warnings(
                format="pdf", pdf_tags=False, pdf_standards=["a-2b"], timestamp=0, sys_inputs={"data": data}
            )
            fit = self._compiler.query(_TROUBLE, field="value")
        except typst.TypstError as error:
            raise self._explain(error) from None
        if not isinstance(pdf, bytes):
            raise RenderError(self._subject, "Typst gave no document")
        return Typeset(
            pdf=pdf,
            fit=msgspec.json.decode(fit, type=tuple[Trouble, ...]),
            remarks=(*self._font_remarks, *(warning.message for warning in warnings)),
        )

    def _choose_families(self, wanted: tuple[str, ...], found: typst.Fonts, own_files: set[str]) -> tuple[str, ...]:
        """Return the template's families, then those a person added to the workspace, then the emoji."""
        present = set(found.families())
        lacking = [family for family in wanted if family not in present]
        if lacking:
            cause = "; ".join((f"there is no font {', '.join(lacking)}", *self._font_remarks[:_MOST_REMARKS]))
            raise TemplateBroken(self._subject, cause, f"put its file into fonts/; present: {_listing(present)}")
        added = {font.family for font in found.fonts() if font.path in own_files}
        return (*wanted, *sorted(added.difference(wanted, (EMOJI_FAMILY,))), EMOJI_FAMILY)

    def _explain(self, error: typst.TypstError) -> TemplateBroken:
        """Return the error with the template's file and line where Typst knows them."""
        message = error.message.removeprefix(_ASSERTION).replace(f"{self._root_dir}/tpl/", "")
        message, remedy = _reword(message.replace(str(self._root_dir), ""), error)
        found = [match[1] for pattern in _PLACES if (match := pattern.search(error.diagnostic))]
        place = found[0] if found else SLIDES_FILE
        if place.startswith("lib/") and message.startswith(_WRONG_CALL):
            place, message = SLIDES_FILE, f"the function of a role takes two values, (s, c): {message}"
        elif place.startswith("lib/") and error.message.startswith(_ASSERTION):
            place = SLIDES_FILE  # said by a check of ours before a slide was drawn
        return TemplateBroken(self._subject, f"{place}: {message}", remedy or _REMEDY)


def _reword(message: str, error: typst.TypstError) -> tuple[str, str]:
    """Return message and remedy, in our words where Typst's are of its own inside; `message` names no path of ours."""
    letters = tuple(dict.fromkeys(map(_unescape, _MISSING_LETTER.findall(error.diagnostic))))
    absent = _NO_FILE.fullmatch(message)
    if letters:
        them = "it" if len(letters) == 1 else "them"
        return f"no font has {' '.join(letters[:_SHOWN_LETTERS])}", f"put a font that has {them} into fonts/"
    if absent:
        return f"there is no {absent[1]}", "; ".join(error.hints)
    if "project root" in message:
        return "a template sees no file outside its folder", "copy the file into it"
    return message, "; ".join(error.hints)


def _unescape(shown: str) -> str:
    """Return a text as Typst shows it in an error, by its letters and their numbers."""
    text = re.sub(r"\\u\{([0-9a-f]+)\}", lambda match: chr(int(match[1], 16)), shown)
    return " ".join(f"{letter} (U+{ord(letter):04X})" for letter in text)


def _copy_folder(source_dir: Path, target_dir: Path) -> None:
    """Copy files and nothing else of them; shutil.copytree would lose the number of what went wrong."""
    for file in source_dir.rglob("*"):
        if file.is_file():
            copy = target_dir / file.relative_to(source_dir)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())


def _listing(families: set[str]) -> str:
    return ", ".join(sorted(families))
