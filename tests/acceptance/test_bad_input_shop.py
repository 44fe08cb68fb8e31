"""Bad shops, products, texts and photos, each met by the installed program: one line, and never a spoilt feature."""

from __future__ import annotations

import io
import json
import os
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image
from tests.acceptance.bad_input import Json, check_left, check_ready, make_jpeg, make_product, make_workspace, refuse
from tests.acceptance.program import Ended, run
from tests.simulators import shop as storefront
from tests.simulators.shop import Answer, ShopSimulator

FEATURE = "content/sns/feature-0001-kiln"


def generate(workspace: Path) -> Ended:
    """Make one feature, or try; nothing half-made is left either way."""
    ended = run("generate", "--force", "--workspace", workspace)
    check_left(workspace)
    return ended


def variant(**changes: Json) -> Json:
    """Return a list of one variant that can be bought, but for the changes."""
    return [{"id": 1, "title": "Default Title", "price": "30.00", "available": True, **changes}]


def image(src: Json) -> Json:
    """Return a list of one picture."""
    return [{"src": src, "width": 900, "height": 1100, "position": 1}]


# --- the list ----------------------------------------------------------------------------------------------------

LISTS: dict[str, tuple[bytes, str]] = {
    "empty file": (b"", "the answer is empty"),
    "empty list": (b'{"products": []}', "the shop lists no product"),
    "no list": (b'{"products": null}', "the answer is not a product list"),
    "a list alone": (b"[]", "the answer is not a product list"),
    "web page": (b"<html><title>Opening soon</title>", "a web page came instead of a product list, titled"),
    "half": (b'{"products": [{"id": 1, "title": "Bo', "breaks off after"),
    "not UTF-8": (b'{"products": ["\xff"]}', "the answer is not a product list"),
    "UTF-16": ('{"products": []}'.encode("utf-16"), "the answer is not a product list"),
    "deep": (b'{"products": ' + b"[" * 200_000, "the answer is not a product list"),
    "deep inside": (b'{"products": [{"x": ' + b"[" * 200_000, ""),
    "over 8 MB": (b" " * 8_000_001, "larger than 8,000,000 bytes"),
    "nulls": (b'{"products": [' + b"null," * 100_000 + b"null]}", "none of 100001 products can be read"),
    "surrogate": (b'{"products": [{"id": 1, "title": "\\ud800"}]}', ""),
}


@pytest.mark.parametrize("case", LISTS)
def test_a_bad_product_list_fails_its_brand_in_one_line(tmp_path: Path, case: str) -> None:
    """Exit 69 (66 where the file is no file to read), and the draft says the same."""
    content, words = LISTS[case]
    workspace = make_workspace(tmp_path / "w")
    (workspace / "shop/products.json").write_bytes(content)
    line = refuse(workspace, "generate", code=66 if case == "over 8 MB" else 69)
    assert words in line
    assert "brand kiln: products: " in line


BAD_PRODUCTS: dict[str, tuple[dict[str, Json], str]] = {
    "null everywhere": (dict.fromkeys(make_product()), "Expected `int`, got `null`"),
    "id as text": ({"id": "1"}, "Expected `int`, got `str`"),
    "id with a fraction": ({"id": 1.5}, "Expected `int`, got `float`"),
    "id of 300 digits": ({"id": 10**300}, "product 1: "),
    "negative id": ({"id": -1}, "product 1: "),
    "no title": ({"title": None}, "no title"),
    "title of another kind": ({"title": {}}, "Expected `str | null`, got `object`"),
    "title unseen": ({"title": "\u200b\u00a0\u202e"}, "there are no words in its title"),
    "only an emoji": ({"title": "🫖"}, "there are no words in its title"),
    "Arabic": ({"title": "إبريق الشاي"}, "no font has إ (U+0625)"),
    "text of another kind": ({"body_html": 5}, "Expected `str | null`, got `int`"),
    "negative price": ({"variants": variant(price="-5.00")}, "not for sale"),
    "price 1e30": ({"variants": variant(price=1e30)}, "is no number: 1e+30"),
    "price NaN": ({"variants": variant(price="NaN")}, "is no number: 'NaN'"),
    "price null": ({"variants": variant(price=None)}, "got `null`"),
    "sold out": ({"variants": variant(available=False)}, "sold out"),
    "available as text": ({"variants": variant(available="yes")}, "Expected `bool | null`, got `str`"),
    "nothing to buy": ({"variants": []}, "sold out"),
    "no picture": ({"images": []}, "no usable photo"),
    "picture without address": ({"images": image(None)}, "no usable photo"),
    "script": ({"images": image("javascript:alert(1)")}, "there is no such photo"),
    "data": ({"images": image("data:image/png;base64,AAAA")}, "there is no such photo"),
    "file address": ({"images": image("file:///etc/passwd")}, "there is no such photo"),
    "file outside": ({"images": image("../secret.jpg")}, "it lies outside the shop's folder"),
    "whole path": ({"images": image("/etc/passwd")}, "it lies outside the shop's folder"),
    "link outside": ({"images": image("link.jpg")}, "it lies outside the shop's folder"),
    "folder": ({"images": image(".")}, "this is a folder, not a photo"),
    "NUL": ({"images": image("a\0b")}, "this is no file name"),
    "endless name": ({"images": image("a" * 5_000)}, "File name too long"),
    "pictures as text": ({"images": "p.jpg"}, "Expected `array | null`, got `str`"),
}


def test_each_bad_product_is_passed_over_with_its_reason_and_the_good_one_is_featured(tmp_path: Path) -> None:
    """All of them in one list: the good one at its end is found."""
    products = [make_product(number, changes) for number, (changes, _) in enumerate(BAD_PRODUCTS.values(), start=1)]
    workspace = make_workspace(tmp_path / "w", *products, make_product(99, {"title": "Heron Bowl"}))
    (tmp_path / "w/secret.jpg").write_bytes(make_jpeg())
    (workspace / "shop/link.jpg").symlink_to("../secret.jpg")
    assert generate(workspace).code == 0
    manifest = json.loads((workspace / FEATURE / "feature.json").read_bytes())
    assert [product["title"] for product in manifest["products"]] == ["Heron Bowl"]


@pytest.mark.parametrize("case", BAD_PRODUCTS)
def test_a_shop_of_one_bad_product_says_why(tmp_path: Path, case: str) -> None:
    """Exit 69, with the reason in the line."""
    changes, words = BAD_PRODUCTS[case]
    workspace = make_workspace(tmp_path / "w", make_product(changes=changes))
    (tmp_path / "w/secret.jpg").write_bytes(make_jpeg())
    (workspace / "shop/link.jpg").symlink_to("../secret.jpg")
    assert words in refuse(workspace, "generate", code=69)


ODD_TEXTS: dict[str, dict[str, Json]] = {
    "Typst markup": {
        "title": 'Bowl #panic("x") $x$ *b* @r <l> \\ `c` [ #import "/etc/passwd"',
        "body_html": '<p>Made of #raw(read("/etc/passwd")) $ clay. Holds 350 ml. #let x = [</p>',
    },
    "HTML in the title": {"title": "Bowl <b>blue</b> <script>alert(1)</script>"},
    "control and bidi": {"title": "Bo\x00wl\x07 \x1b[31m \u202elwob\u202c", "body_html": "<p>Clay\u202e.\x00\x08</p>"},
    "20 kB of HTML": {"body_html": "<div><p>Made of <b>clay</b>. Holds 350 ml.</p></div>" * 400},
    "5,000 deep": {"body_html": "<div>" * 5_000 + "Made of clay." + "</div>" * 5_000},
    "Arabic text": {"body_html": "<p>إبريق مصنوع من الطين.</p>"},
    "emoji text": {"title": "Bowl 🫖👨\u200d👩\u200d👧🇩🇪", "body_html": "🫖"},
    "heap of marks": {"title": f"M{chr(0x0301) * 200}ug of clay"},
    "endless title": {"title": "Bowl " * 4_000},
    "private letters": {"title": "Bowl \ue000\uffff\U000e0041"},
    "handle": {"handle": "../../a b?c#d🫖\n"},
    "prices": {"variants": variant(price=29.9, compare_at_price="x", extra=[None])},
    "odd sizes": {"images": [{"src": "p.jpg", "width": -1, "height": 10**30, "position": -(10**30)}, None]},
}


@pytest.mark.parametrize("case", ODD_TEXTS)
def test_odd_texts_of_a_shop_never_spoil_a_feature(tmp_path: Path, case: str) -> None:
    """They are shown clean or not at all; nothing in them is obeyed."""
    workspace = make_workspace(tmp_path / "w", make_product(changes=ODD_TEXTS[case]))
    ended = generate(workspace)
    assert ended.code == 0, ended
    text = (workspace / FEATURE / "feature.json").read_text("utf-8")
    assert "root:" not in text
    assert all(letter.isprintable() or letter in "\n\u200d" for letter in text)


# --- the folder --------------------------------------------------------------------------------------------------


def link_out(workspace: Path) -> None:
    """Let the shop's folder lead elsewhere, as a person may wish."""
    (workspace / "shop").rename(workspace.parent / "elsewhere")
    (workspace / "shop").symlink_to(workspace.parent / "elsewhere")


def loop(workspace: Path) -> None:
    """Let the list lead to itself."""
    (workspace / "shop/products.json").unlink()
    (workspace / "shop/products.json").symlink_to("products.json")


def remove(workspace: Path) -> None:
    """Take the shop's folder away."""
    (workspace / "shop").rename(workspace.parent / "gone")


def test_a_shop_may_be_a_link(tmp_path: Path) -> None:
    """The folder it leads to is the shop."""
    workspace = make_workspace(tmp_path / "w")
    link_out(workspace)
    assert generate(workspace).code == 0


@pytest.mark.parametrize(
    ("spoil", "code", "words"), [(remove, 66, "no such product list"), (loop, 69, "remove the link")]
)
def test_a_shop_folder_that_cannot_be_read_is_not_the_end_of_the_other_brands(
    tmp_path: Path, spoil: Callable[[Path], None], code: int, words: str
) -> None:
    """Alone it fails its brand; beside another the run goes on to that."""
    workspace = make_workspace(tmp_path / "w")
    catalog = json.loads((workspace / "brand-catalog.json").read_bytes())
    spoil(workspace)
    assert words in refuse(workspace, "generate", code=code)
    other = {**catalog["brands"][0], "slug": "other", "shop": "file:other"}
    (workspace / "brand-catalog.json").write_text(json.dumps({"brands": [*catalog["brands"], other]}))
    make_workspace(tmp_path / "second")
    (tmp_path / "second/shop").rename(workspace / "other")
    ended = generate(workspace)
    assert ended.code == 0, ended
    assert list((workspace / "content/sns").glob("feature-*-other"))


# --- the web -----------------------------------------------------------------------------------------------------

ANSWERS: dict[str, tuple[Answer, int, str]] = {
    "web page": (storefront.web_page(), 69, "a web page came instead"),
    "empty": (storefront.empty_list(), 69, "the shop lists no product"),
    "over 8 MB": (storefront.flood(9), 69, "larger than 8,000,000 bytes"),
    "gzip bomb": (storefront.bomb(9), 69, "larger than 8,000,000 bytes"),
    "half": (storefront.half_json(), 69, "breaks off after"),
    "cut short": (storefront.cut_short(), 69, "the answer is broken"),
    "wrong length": (Answer(body=b"{}", promised=-5), 69, "the answer is broken: bad Content-Length"),
    "no answer": (storefront.reset(), 69, "the answer is broken"),
    "204": (Answer(status=204), 69, "the shop gives no product list (204)"),
    "401": (storefront.refused(401), 69, "locked with a password (401)"),
    "403": (storefront.refused(403), 69, "the shop's protection turns us away (403)"),
    "404": (storefront.refused(404), 69, "there is no product list at this address (404)"),
    "429": (storefront.refused(429, retry_after="300"), 75, "the shop asks for a pause until"),
    "500": (storefront.refused(500), 69, "the shop has trouble of its own (500)"),
    "redirect loop": (storefront.redirect("/products.json?limit=250"), 69, "it redirects in a circle"),
    "redirect to a private address": (
        storefront.redirect("http://169.254.169.254/latest/meta-data"), 69, "169.254.169.254 is not a public address"
    ),
    "redirect to another port here": (storefront.redirect("http://127.0.0.1:1/"), 69, "is not a public address"),
    "redirect to a file": (storefront.redirect("file:///etc/passwd"), 69, "only http and https"),
    "redirect to a script": (storefront.redirect("javascript:alert(1)"), 69, "only http and https"),
    "redirect to nonsense": (storefront.redirect("http://[::1"), 69, "no address"),
    "encoding": (Answer(body=b"x", headers=(("Content-Type", "x"), ("Content-Encoding", "br"))), 69, "nobody asked"),
    "nothing for a minute": (storefront.hang(60), 69, "it was not done in the time allowed"),
    "drip": (storefront.drip(0.05, b" " * 5_000), 69, "it was not done in the time allowed"),
}  # fmt: skip


@pytest.fixture
def web() -> Iterator[ShopSimulator]:
    """Return a shop on loopback with three products and good pictures."""
    picture = make_jpeg()
    products = [storefront.make_product(number) for number in (1, 2, 3)]
    with ShopSimulator(products=products, pictures=lambda _: picture) as shop:
        yield shop


def open_web_workspace(folder: Path, shop: ShopSimulator) -> Path:
    """Make a workspace whose brand has that shop and asks it once, for a second and a half at most."""
    settings = f'[shop]\ntries = 1\nwait = "0s"\ntotal = "2s"\n[network]\nallowed_hosts = ["127.0.0.1:{shop.port}"]\n'
    return make_workspace(folder, settings=settings, brand={"shop": shop.url})


@pytest.mark.parametrize("case", ANSWERS)
def test_a_bad_answer_of_a_shop_fails_its_brand_in_one_line(tmp_path: Path, web: ShopSimulator, case: str) -> None:
    """The line says which shop and what it did; a shop that says nothing is given up at the limit."""
    answer, code, words = ANSWERS[case]
    web.always(answer)
    workspace = open_web_workspace(tmp_path / "w", web)
    started = time.monotonic()
    line = refuse(workspace, "generate", code=code)
    assert time.monotonic() - started < 20
    assert f"127.0.0.1:{web.port}/products.json" in line
    assert words in line


@pytest.mark.parametrize(
    "src", ["javascript:alert(1)", "file:///etc/passwd", "data:,x", "http://169.254.169.254/a", "p"]
)
def test_a_picture_is_fetched_from_the_shops_own_host_alone(tmp_path: Path, web: ShopSimulator, src: str) -> None:
    """Whatever the list says; no request leaves."""
    web.products = [storefront.make_product(1, images=image(src))]
    web.local_pictures = False
    assert "not on the shop's own host" in refuse(open_web_workspace(tmp_path / "w", web), "generate", code=69)
    assert [request.path for request in web.requests] == ["/products.json"]


def test_a_picture_that_leads_to_a_private_address_gives_way_to_the_next_product(
    tmp_path: Path, web: ShopSimulator
) -> None:
    """It is told, and not asked for."""
    web.always(storefront.redirect("http://169.254.169.254/a"), at="/s/files/1/0001/0002/files/piece-1.jpg")
    workspace = open_web_workspace(tmp_path / "w", web)
    ended = generate(workspace)
    assert ended.code == 0
    assert "Piece 1 is passed over" in ended.out
    assert "169.254.169.254 is not a public address" in ended.out


# --- photos ------------------------------------------------------------------------------------------------------

NOISE = Image.effect_noise((900, 1100), 80)


def encode(picture: Image.Image, form: str = "JPEG", **options: object) -> bytes:
    """Return a picture as a file."""
    stream = io.BytesIO()
    picture.save(stream, form, **options)
    return stream.getvalue()


def huge_png(side: int) -> bytes:
    """Return a small PNG that says it is square and of so many pixels a side."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    data = chunk(b"IDAT", zlib.compress(b"\0" * 100))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + data + chunk(b"IEND", b"")


def damaged_jpeg() -> bytes:
    """Return a picture that has its end, and nonsense in its middle."""
    content = bytearray(encode(NOISE.convert("RGB")))
    middle = len(content) // 2
    content[middle : middle + 50] = b"\xff" * 50
    return bytes(content)


def turned() -> Image.Exif:
    """Return what a camera writes that was held on its side."""
    exif = Image.Exif()
    exif[0x112] = 6
    return exif


GOOD_PHOTOS: dict[str, bytes] = {
    "CMYK": encode(NOISE.convert("CMYK")),
    "16 bits": encode(Image.new("I;16", (900, 1100), 30_000), "PNG"),
    "8 to 1": encode(Image.new("RGB", (6_400, 800), "teal")),
    "1 to 8": encode(Image.new("RGB", (800, 6_400), "teal")),
    "turned": encode(NOISE.convert("RGB"), exif=turned()),
    "WebP": encode(NOISE.convert("RGB"), "WEBP"),
    "AVIF": encode(NOISE.convert("RGB"), "AVIF"),
    "animated GIF": encode(NOISE.convert("P"), "GIF", save_all=True, append_images=[NOISE.convert("P").rotate(90)]),
    "animated PNG": encode(NOISE.convert("RGB"), "PNG", save_all=True, append_images=[NOISE.convert("RGB").rotate(90)]),
    "animated WebP": encode(NOISE.convert("RGB"), "WEBP", save_all=True, append_images=[NOISE.convert("RGB")]),
    "transparent": encode(Image.new("RGBA", (900, 1100), (200, 20, 20, 90)), "PNG"),
    "transparent palette": encode(NOISE.convert("P"), "PNG", transparency=3),
    "grey and alpha": encode(NOISE.convert("LA"), "PNG"),
    "one bit": encode(NOISE.convert("1"), "PNG"),
    "TIFF": encode(NOISE.convert("RGB"), "TIFF"),
    "float TIFF": encode(NOISE.convert("F"), "TIFF"),
    "progressive": encode(NOISE.convert("RGB"), progressive=True),
    "broken profile": encode(NOISE.convert("RGB"), icc_profile=b"no profile at all" * 20),
}
BAD_PHOTOS: dict[str, tuple[bytes, str]] = {
    "web page": (b"<!doctype html><title>x</title>", "it is text or a web page, not a picture"),
    "JSON": (b'{"error": 404}', "it is text or a web page"),
    "SVG": (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "it is text or a web page"),
    "empty": (b"", "it is empty"),
    "noise": (bytes(range(255, 0, -1)) * 20, "it is none of JPEG"),
    "cut off": (encode(NOISE.convert("RGB"))[:20_000], "it is cut off or damaged"),
    "cut off PNG": (encode(NOISE.convert("RGB"), "PNG")[:20_000], "it is"),
    "cut off WebP": (encode(NOISE.convert("RGB"), "WEBP")[:20_000], "it is"),
    "header alone": (b"\xff\xd8\xff\xe0\x00\x10JFIF", "it is damaged"),
    "30,000 pixels a side": (huge_png(30_000), "it has more than 50,000,000 pixels"),
    "too small": (encode(NOISE.convert("RGB").resize((300, 300))), "it is too small: 300×300"),
    "bitmap": (encode(NOISE.convert("RGB"), "BMP"), "it is none of JPEG"),
    "26 MB": (b"\xff\xd8\xff" + b"0" * 26_000_000, "larger than 25,000,000 bytes"),
    "pipe": (b"", "not a regular file"),
}


def photo_workspace(folder: Path, photos: dict[str, bytes]) -> Path:
    """Make a workspace with one product for each photo, six in a feature."""
    products = [make_product(number, {"images": image(f"{number}.jpg")}) for number in range(1, len(photos) + 1)]
    workspace = make_workspace(folder, *products, brand={"products_per_feature": 6})
    for number, (kind, content) in enumerate(photos.items(), start=1):
        if kind == "pipe":
            os.mkfifo(workspace / f"shop/{number}.jpg")
        else:
            (workspace / f"shop/{number}.jpg").write_bytes(content)
    return workspace


def test_photos_of_every_kind_become_slides_the_network_takes(tmp_path: Path) -> None:
    """Six a feature, whatever their modes, sizes, sides and frames; the name says nothing."""
    workspace = photo_workspace(tmp_path / "w", GOOD_PHOTOS)
    for _ in range(len(GOOD_PHOTOS) // 6):
        ended = generate(workspace)
        assert ended.code == 0, ended
        assert "passed over" not in ended.out
    assert len(list((workspace / "content/sns").glob("feature-*"))) == len(GOOD_PHOTOS) // 6


def test_bad_photos_are_told_and_their_products_passed_over(tmp_path: Path) -> None:
    """Each with its reason, by its product's name."""
    workspace = photo_workspace(tmp_path / "w", {kind: content for kind, (content, _) in BAD_PHOTOS.items()})
    ended = run("generate", "--force", "--workspace", workspace)
    assert ended.code == 69
    check_left(workspace)
    told = [line for line in ended.out.splitlines() if "is passed over" in line]
    for (kind, (_, words)), line in zip(BAD_PHOTOS.items(), told, strict=True):
        assert words in line, kind


def test_a_photo_whose_damage_only_drawing_finds_does_not_stop_its_brand(tmp_path: Path) -> None:
    """It is left out, and the feature is made of the others."""
    photos = {"damaged": damaged_jpeg(), "good": make_jpeg(), "other": make_jpeg(1000, 1000)}
    workspace = photo_workspace(tmp_path / "w", photos)
    ended = generate(workspace)
    assert ended.code == 0, ended
    assert "1.jpg is left out: slide" in ended.out
    check_ready(workspace / FEATURE)
