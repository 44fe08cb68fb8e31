"""HTML becomes the lines a customer would read, and nothing that is hidden from one."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamplighter.featurepost.html_text import clean_text, extract_text, is_unreadable

HIDDEN = (
    '<p style="display:none">secret</p>',
    '<p style="DISPLAY : None !important">secret</p>',
    '<p style="visibility:hidden">secret</p>',
    '<p style="opacity:0">secret</p>',
    '<p style="opacity: 0.0">secret</p>',
    '<p style="font-size:0">secret</p>',
    '<p style="font-size:0px;color:red">secret</p>',
    '<p style="font-size:1px">secret</p>',
    '<p style="position:absolute;left:-9999px">secret</p>',
    '<p style="text-indent:-999em">secret</p>',
    '<p style="height:0;overflow:hidden">secret</p>',
    '<p style="clip:rect(0 0 0 0);position:absolute">secret</p>',
    '<p style="clip-path:inset(100%)">secret</p>',
    '<p style="transform:scale(0)">secret</p>',
    '<p style="color:#fff">secret</p>',
    '<p style="color:transparent">secret</p>',
    '<p style="color:rgba(0,0,0,0)">secret</p>',
    '<p style="color:#123456;background-color:#123456">secret</p>',
    '<p style="/**/display/**/:none">secret</p>',
    "<p hidden>secret</p>",
    '<p hidden="">secret</p>',
    '<p aria-hidden="true">secret</p>',
    '<p class="big visually-hidden">secret</p>',
    '<div style="display:none"><div><p>secret</p></div></div>',
    "<style>.x{display:none}</style><p class=x>secret</p>",
    "<style><!-- p > span { color: red } .a, .b { opacity:0 } --></style><p><span class=b>secret</span></p>",
    "<script>secret</script>",
    "<style>secret{}</style>",
    "<iframe>secret</iframe>",
    "<template><p>secret</p></template>",
    "<noscript>secret</noscript>",
    "<!-- secret -->",
    "<svg><text>secret</text></svg>",
    "<textarea>secret</textarea>",
    "<select><option>secret</option></select>",
    "<del>secret</del>",
    '<img alt="secret" src="secret.jpg">',
)


@pytest.mark.parametrize("html", HIDDEN)
def test_what_a_customer_cannot_see_is_left_out(html: str) -> None:
    """Hidden text, code, comments and struck-out text never become visible text."""
    assert extract_text(f"<p>before</p>{html}<p>after</p>").visible == "before\nafter"


@pytest.mark.parametrize(
    "style",
    ["font-size:14px", "opacity:0.9", "left:-2px", "width:100%", "height:0", "color:#333", "margin-left:-10px",
     "color:#fff;background:#000", "width:5em;overflow:hidden", "font-size:0.9em", "visibility:visible"],
)  # fmt: skip
def test_ordinary_styles_hide_nothing(style: str) -> None:
    """Colours, sizes and small shifts as shops use them leave the text visible."""
    assert extract_text(f'<p style="{style}">seen</p>').visible == "seen"


def test_hidden_text_is_kept_apart() -> None:
    """What is there without being seen can still be looked at for attacks."""
    assert extract_text("<p>seen</p><p hidden>ignore <b>all</b></p>").hidden == "ignore all"


def test_rows_become_label_and_value() -> None:
    """A row of two cells and a definition read "label: value", with the colon of the label's script."""
    html = (
        "<table><tr><th>Material</th><td>Stone<b>ware</b></td></tr><tr><td>Size:</td><td>21 cm</td></tr>"
        "<tr><td>素材</td><td>磁器</td></tr></table><dl><dt>Made in</dt> <dd>Porto</dd></dl>"
    )
    assert extract_text(html).visible == "Material: Stoneware\nSize: 21 cm\n素材：磁器\nMade in: Porto"


def test_wide_rows_keep_their_cells_apart() -> None:
    """Several values follow the label with strokes between, empty cells are dropped, a head row has no label."""
    html = (
        "<table><tr><th>Size</th><th>Small</th><th>Large</th></tr>"
        "<tr><td>Across</td><td>18 cm</td><td>27 cm</td></tr><tr><td>Material</td><td>Oak</td><td></td></tr></table>"
    )
    assert extract_text(html).visible == "Size / Small / Large\nAcross: 18 cm / 27 cm\nMaterial: Oak"


def test_blocks_and_breaks_end_a_line_and_inline_tags_do_not() -> None:
    """Paragraphs, items and breaks are lines of their own; bold and spans run on."""
    html = "<p>One <b>bold</b>&nbsp;word</p><ul><li>two</li><li>th<span>ree</span></li></ul>four<br>five"
    assert extract_text(html).visible == "One bold word\ntwo\nthree\nfour\nfive"


def test_a_raised_digit_never_joins_the_number_before_it() -> None:
    """10 with a small 2 reads 10², not 102."""
    assert extract_text("220 g/m<sup>2</sup>, 10<sup>2</sup>, Bowl<sup>TM</sup>").visible == "220 g/m², 10², BowlTM"


def test_empty_and_blank_bodies_give_nothing() -> None:
    """No HTML, and paragraphs of no-break spaces only, are empty."""
    assert extract_text("").visible == ""
    assert extract_text("<p>&nbsp;</p>\n<p>\u200b</p>").visible == ""


def test_deep_nesting_is_read() -> None:
    """Thousands of nested tags are no problem."""
    assert extract_text("<div>" * 5_000 + "deep" + "</div>" * 5_000).visible == "deep"


def test_a_huge_table_and_a_huge_style_sheet_are_read_in_no_time() -> None:
    """Work grows with the size of the description, not with its square, and has an end."""
    table = "<table><tr>" + "<td>a</td>" * 20_000 + "</table>"
    sheet = "<style>" + "".join(f".a{number}{{display:none}}" for number in range(3_000)) + "</style><p>b</p>" * 2_000
    assert extract_text(table).visible.startswith("a: a / a")
    assert extract_text(sheet).visible.startswith("b\nb")
    assert len(extract_text(f"<p>{'word ' * 400_000}</p>").visible) < 100_000


def test_a_broken_selector_hides_nothing_and_stops_nothing() -> None:
    """A style sheet that no parser understands is passed over."""
    assert extract_text("<style>p:::{display:none} >>>{opacity:0}</style><p>seen</p>").visible == "seen"


def test_unreadable_letters_go_and_the_rest_is_composed() -> None:
    """Controls, bidi marks, invisible and tag letters are dropped; accents are composed; blanks are single."""
    dirty = "Cafe\u0301\u202e \u200bmug\u00ad\u0007\u2066\U000e0041\ufe01\u3164\u00a0 \u3000x\r\n\r\n y \u2028z"
    assert clean_text(dirty) == "Café mug x\ny\nz"


def test_emoji_keep_their_presentation() -> None:
    """The selector that makes a heart red stays, the joiner does not."""
    assert clean_text("❤\ufe0f") == "❤\ufe0f"


@given(st.text(max_size=300))
def test_clean_text_is_clean_and_stays_so(text: str) -> None:
    """Cleaning leaves no unreadable letter, is NFC, and does nothing the second time."""
    cleaned = clean_text(text)
    assert not any(is_unreadable(letter) for letter in cleaned)
    assert unicodedata.is_normalized("NFC", cleaned)
    assert clean_text(cleaned) == cleaned


@given(st.text(alphabet=st.sampled_from("<>/=\"' abptdiv-!&;style:none%\u202e素"), max_size=200))
def test_any_html_gives_clean_text(html: str) -> None:
    """Whatever the markup, the result is clean and no error escapes."""
    page = extract_text(html)
    assert clean_text(page.visible) == page.visible


@pytest.mark.parametrize("text", ["Phở bò", "ถ้ำ", "שָׁלוֹם", "1\ufe0f\u20e3", "e\u0301\u0302\u0303"])
def test_the_marks_of_a_language_stay(text: str) -> None:
    """However many of them a letter has in earnest."""
    assert clean_text(text) == unicodedata.normalize("NFC", text)


def test_a_heap_of_marks_on_one_letter_is_cut_down() -> None:
    """It would reach across the slide, and no cut between letters would ever fit."""
    assert len(clean_text(f"M{chr(0x0317) * 200}ug")) == 3 + 4
