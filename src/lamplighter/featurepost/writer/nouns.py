"""English nouns of things that shops sell: a closed list, for only a word that is known may be counted."""

from __future__ import annotations

import re

_COUNTED = re.compile(
    r"accessory|amulet|anklet|apron|armchair|artwork|badge|bag|ball|band|banner|basin|basket|bathrobe|bauble|"
    r"beaker|bean|beanie|bed|bell|belt|bench|bib|bicycle|bike|binder|blanket|blazer|blender|blouse|board|boat|"
    r"bolster|bonnet|book|bookend|bookmark|boot|bottle|bow|bowl|box|bra|bracelet|brooch|broom|brush|bucket|buckle|"
    r"bulb|bundle|butterdish|button|cabinet|cable|cake|calendar|camera|candle|candleholder|candlestick|cap|cape|"
    r"carafe|card|cardigan|case|casserole|chain|chair|charger|charm|chopper|clock|cloak|clog|coaster|coat|"
    r"coffeemaker|collar|comb|comforter|cooker|cookie|cookset|cooler|cork|corkscrew|costume|cot|couch|cover|"
    r"creamer|crate|crib|cruet|cup|cupboard|curtain|cushion|decal|decanter|desk|diary|dice|dish|dispenser|doll|"
    r"doormat|drawer|dress|dresser|dripper|drum|duvet|earbud|earphone|earring|envelope|espadrille|fan|figure|"
    r"figurine|flag|flask|flowerpot|footstool|fork|frame|funnel|game|garland|gift|glass|glove|goblet|grater|"
    r"grinder|grip|guitar|hairband|hairclip|hammer|hammock|hamper|handbag|handkerchief|handle|hat|headband|"
    r"headphone|helmet|hinge|holder|hoodie|hook|hoop|incense-holder|infuser|jacket|jar|jeans|journal|jug|jumper|"
    r"kettle|keychain|keyring|kimono|knife|knob|lace|ladder|ladle|lamp|lampshade|lantern|leash|leggings|lid|"
    r"lighter|light|lipstick|loafer|locket|magnet|mask|mat|mattress|mirror|mitten|mobile|mortar|mould|mug|napkin|"
    r"necklace|necktie|nightgown|notebook|notepad|organiser|organizer|ornament|oven|overall|pad|painting|pan|"
    r"pants|parasol|patch|peg|pen|pencil|pendant|percolator|pillow|pillowcase|pin|pitcher|placemat|planner|"
    r"planter|plant|plate|platter|playmat|plushie|pocketknife|pocket-knife|poster|postcard|pot|pouch|pourer|print|"
    r"pullover|puppet|purse|puzzle|quilt|rack|razor|ring|robe|roaster|rocket|rucksack|rug|sack|saddle|sandal|"
    r"sarong|satchel|saucepan|saucer|saw|scarf|scissors|scooter|e-scooter|screen|sculpture|seat|set|shade|shaker|"
    r"shawl|sheet|shelf|shirt|shoe|shorts|sideboard|skateboard|skillet|skirt|sleeve|slipper|snowboard|soapdish|"
    r"sock|sofa|spatula|spoon|spray|squeegee|stamp|stand|sticker|stocking|stool|strainer|strap|straw|stroller|"
    r"suit|suitcase|sunglasses|sweater|sweatshirt|swimsuit|t-shirt|tshirt|table|tablecloth|tablet|tankard|"
    r"tea-light|teacup|teapot|tee|teether|tent|thermos|throw|tie|tile|toaster|tool|top|torch|tote|tote-bag|towel|"
    r"toy|tray|trivet|trousers|tumbler|tunic|turner|umbrella|urn|vase|vest|waistcoat|wallet|wardrobe|washcloth|"
    r"watch|whisk|whistle|wok|wrap|wreath|wristband|yo-yo"
)
_UNCOUNTED = re.compile(
    r"apparel|art|bakeware|ceramics|clothing|coffee|cookware|crockery|cutlery|decor|drinkware|earthenware|"
    r"furniture|glassware|hardware|homeware|honey|incense|jewellery|jewelry|juice|kitchenware|knitwear|lighting|"
    r"linen|loungewear|nightwear|outdoor|outerwear|porcelain|pottery|skincare|soap|sportswear|stationery|"
    r"stoneware|swimwear|tableware|tea|textiles|underwear|wool|yarn"
)
_PLURAL_ONLY = re.compile(r"jeans|leggings|overalls|pants|scissors|shorts|sunglasses|trousers")
_IRREGULAR = {"knife": "knives", "shelf": "shelves", "pocketknife": "pocketknives", "pocket-knife": "pocket-knives",
              "scarf": "scarves", "dice": "dice"}  # fmt: skip
_SINGULAR = {plural: noun for noun, plural in _IRREGULAR.items()}
_KIND = re.compile(r"[a-z][a-z -]{1,28}")


def find_noun(kind: str) -> str:
    """Return a kind of thing in the singular, lower case ("Kitchen Knives": "kitchen knife"), "" when it is unknown."""
    words = kind.lower()
    if not _KIND.fullmatch(words) or " and " in words:
        return ""
    before, blank, last = words.rpartition(" ")
    noun = next((word for word in _singulars(last) if _COUNTED.fullmatch(word)), "")
    return f"{before}{blank}{noun}" if noun else ""


def find_last_noun(name: str) -> str:
    """Return the known thing a name ends with ("Pocket Notebook": "notebook"), or ""."""
    return find_noun(name.rpartition(" ")[2])


def is_word(kind: str) -> bool:
    """Tell whether a kind is one known English word."""
    return " " not in kind and (bool(_UNCOUNTED.fullmatch(kind.lower()) or find_noun(kind)))


def make_plural(noun: str) -> str:
    """Return the plural of a noun of the list, whatever stands before it."""
    before, blank, last = noun.rpartition(" ")
    return f"{before}{blank}{_plural(last)}"


def add_article(noun: str) -> str:
    """Return "a mug", "an e-scooter", "jeans"."""
    if _PLURAL_ONLY.fullmatch(noun.rpartition(" ")[2]):
        return noun
    return f"an {noun}" if re.match(r"[aeio]|u(?!ni|se|kulele)", noun) else f"a {noun}"


def join_words(words: list[str] | tuple[str, ...]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def _singulars(word: str) -> tuple[str, ...]:
    return (
        word,
        _SINGULAR.get(word, ""),
        f"{word[:-3]}y" if word.endswith("ies") else "",
        word.removesuffix("s"),
        word.removesuffix("es"),
    )


def _plural(noun: str) -> str:
    if _PLURAL_ONLY.fullmatch(noun):
        return noun
    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if re.search(r"(?:s|sh|ch|x|z)$", noun) else f"{noun}s"
