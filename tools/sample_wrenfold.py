"""The photos of Wrenfold, our English sample shop: warm, sunny, close to the table."""

from collections.abc import Callable

from tools import sample_pieces as pieces
from tools.sample_pieces import moved, put
from tools.sample_shapes import Slab
from tools.sample_stage import Backdrop, Camera, Lamp, Scene
from tools.sample_textures import glaze, plaster, ribbed, weave, wood

CREAM = glaze("#e9e4d8", rim=1.88, bare=0.17, seed=1)
SLATE = glaze("#6f8796", rim=1.88, bare=0.17, seed=5, amount=0.25, speck="#2c3842")
SAGE = glaze("#9aa88a", bare=0.1, seed=3, amount=0.2, speck="#55603f")
CHALK = glaze("#efe9dc", rim=0.36, seed=8, amount=0.55)
CLAY = glaze("#b9674a", rim=None, seed=9, amount=0.3, speck="#5d2d1f", gloss=0.035, rough=0.4)
OAT = glaze("#e8d9bd", speck="#a5835a", amount=0.7, seed=2, gloss=0.03, rough=0.45)
BRAN = glaze("#cbb596", speck="#a5835a", amount=0.7, seed=5, gloss=0.03, rough=0.45)
OAK = wood("#c79a66", "#8b5e36", seed=2)
WALNUT = wood("#7a5236", "#412818", seed=4)
PALE_OAK = wood("#d8b68a", "#b08a5c", seed=6, gloss=0.02)


def paper(colour: str, back: float = -6.0, floor: float = 0.0) -> Backdrop:
    """A backdrop of one colour."""
    return Backdrop(material=plaster(colour), back=back, floor=floor)


def dawn_mug_1() -> Scene:
    """One cream mug on sand."""
    return Scene(
        solids=moved(pieces.mug(CREAM), (-0.2, 0, 0), -18),
        camera=Camera(eye=(0.6, 4.6, 11.5), target=(0.05, 0.98, 0), view=22),
        backdrop=paper("#d4ab8b"),
        gobo="leaves",
        seed=11,
    )


def dawn_mug_2() -> Scene:
    """Two mugs on an oak table, the slate one behind."""
    return Scene(
        solids=[
            pieces.table(PALE_OAK),
            *moved(pieces.mug(CREAM), (-0.75, 0, 0.5), 200),
            *moved(pieces.mug(SLATE), (0.95, 0, -0.6), -28),
        ],
        camera=Camera(eye=(-0.6, 3.4, 12), target=(0.06, 0.95, 0), view=29, blur=14),
        backdrop=paper("#ddd2c0", back=-5, floor=-5),
        seed=12,
    )


def dawn_mug_3() -> Scene:
    """Coffee from above on linen."""
    return Scene(
        solids=[
            pieces.linen_mat("#d9cdb8", stripe="#a8603f"),
            *moved([*pieces.mug(CREAM), pieces.liquid(0.79, 1.62, pieces.coffee())], (-0.1, 0.04, 0.0), -35),
        ],
        camera=Camera(eye=(0.0, 11.5, 4.4), target=(0.1, 0.9, 0.05), view=23),
        backdrop=paper("#b5683f"),
        key=(-6.5, 7.5, 2.2),
        seed=13,
    )


def ripple_bowl_1() -> Scene:
    """The fluted bowl on its own."""
    return Scene(
        solids=moved(pieces.bowl(ribbed(SAGE, 44, 0.035)), (0, 0, 0)),
        camera=Camera(eye=(0, 4.4, 11.5), target=(0, 0.62, 0), view=24),
        backdrop=paper("#e3d8c3"),
        seed=21,
    )


def ripple_bowl_2() -> Scene:
    """Full of apricots, from higher up."""
    spots = (
        (0.55, 0.78, 0.35),
        (-0.5, 0.76, 0.4),
        (0.05, 0.8, -0.55),
        (-0.02, 1.2, 0.12),
        (0.78, 0.84, -0.45),
        (-0.8, 0.86, -0.3),
    )
    return Scene(
        solids=[*pieces.bowl(ribbed(SAGE, 44, 0.035)), *(pieces.apricot(spot, n + 1) for n, spot in enumerate(spots))],
        camera=Camera(eye=(1.5, 8.2, 9), target=(0, 0.72, 0), view=24),
        backdrop=paper("#c9b79b"),
        gobo="leaves",
        seed=22,
    )


def ripple_bowl_3() -> Scene:
    """A stack in two glazes, close to the flutes."""
    warm = ribbed(glaze("#e8e0cf", seed=6, bare=0.1, amount=0.5), 44, 0.035)
    return Scene(
        solids=[*pieces.bowl(ribbed(SAGE, 44, 0.035)), *moved(pieces.bowl(warm), (0.02, 0.36, 0), 10)],
        camera=Camera(eye=(-1.5, 2.2, 10), target=(-0.35, 0.85, 0), view=17, blur=50, focus=9),
        backdrop=paper("#a7ae97"),
        seed=23,
    )


def heron_vase_1() -> Scene:
    """The tall vase with an olive branch by the window."""
    branch = pieces.sprig(
        [(0, 1.5, 0), (0.05, 2.9, 0), (0.35, 3.7, 0.1), (0.95, 4.4, 0.1)], (1.0, 0.3), count=9, seed=5
    )
    return Scene(
        solids=[*pieces.bottle_vase(CLAY), *branch],
        camera=Camera(eye=(0.4, 3.2, 14), target=(0.15, 2.2, 0), view=24),
        backdrop=paper("#e7dac4"),
        gobo="window",
        key=(-7.5, 6.0, 6.0),
        seed=31,
    )


def heron_vase_2() -> Scene:
    """The shoulder and neck, close."""
    branch = pieces.sprig(
        [(0, 1.5, 0), (0.05, 2.9, 0), (0.35, 3.7, 0.1), (0.95, 4.4, 0.1)], (1.0, 0.3), count=9, seed=5
    )
    return Scene(
        solids=[*pieces.bottle_vase(CLAY), *branch],
        camera=Camera(eye=(-2.5, 3.6, 10), target=(0.1, 2.3, 0), view=16),
        backdrop=paper("#d9c3a6"),
        seed=32,
    )


def heron_vase_3() -> Scene:
    """Two heights side by side on a shelf."""
    chalk = glaze("#e9e2d2", seed=14, amount=0.35, gloss=0.03, rough=0.45)
    return Scene(
        solids=[
            pieces.table(WALNUT, back=-1.6),
            *moved(pieces.bottle_vase(CLAY), (-0.72, 0, 0)),
            *moved(pieces.bottle_vase(chalk, 0.72), (0.85, 0, 0.35)),
        ],
        camera=Camera(eye=(0, 2.6, 13), target=(0, 1.35, 0), view=21.5),
        backdrop=paper("#b98f6d", back=-4, floor=-5),
        seed=33,
    )


STRIPES = ((-0.62, -0.56), (-0.5, -0.47), (0.47, 0.5), (0.56, 0.62))


def linen_towels_1() -> Scene:
    """Three folded towels."""
    stack = [
        (weave("#8d9a86", seed=3), 3.0),
        (weave("#e6dcc8", stripe="#3f5568", bands=STRIPES, seed=1), -4.0),
        (weave("#c98f6a", seed=2), 1.5),
    ]
    return Scene(
        solids=moved(pieces.towels(stack), (0, 0, 0), -24),
        camera=Camera(eye=(0, 4.2, 11), target=(0, 0.55, 0), view=22.5),
        backdrop=paper("#e9e0d0"),
        seed=41,
    )


def linen_towels_2() -> Scene:
    """The weave and the stripe, close."""
    stack = [
        (weave("#e6dcc8", stripe="#3f5568", bands=STRIPES, seed=1), 0.0),
        (weave("#e6dcc8", stripe="#3f5568", bands=STRIPES, seed=7), 5.0),
    ]
    return Scene(
        solids=moved(pieces.towels(stack), (0, 0, 0), 52),
        camera=Camera(eye=(0.4, 4.6, 6.5), target=(0.15, 0.6, 0.3), view=19, blur=60, focus=7.4),
        backdrop=paper("#c9a98a"),
        seed=42,
    )


def ember_candle_1() -> Scene:
    """Lit, at dusk."""
    cup = glaze("#47454a", seed=7, amount=0.2, speck="#221f22", gloss=0.03, rough=0.45)
    return Scene(
        solids=[pieces.table(WALNUT, back=-2.2), *pieces.candle(cup, lit=True)],
        camera=Camera(eye=(0, 4.6, 11), target=(0, 1.0, 0), view=21, blur=14),
        backdrop=paper("#9b6247", back=-3.6, floor=-5),
        key_power=0.34,
        fill=0.2,
        exposure=1.15,
        lamps=[Lamp(at=(0.02, 2.3, 0), colour="#ffa65a", power=3.0)],
        seed=51,
    )


def ember_candle_2() -> Scene:
    """Unlit, from above, in two cups."""
    dark = glaze("#47454a", seed=7, amount=0.2, speck="#221f22", gloss=0.03, rough=0.45)
    pale = glaze("#d8b9a4", seed=17, amount=0.3, gloss=0.03, rough=0.45)
    return Scene(
        solids=[
            *moved(pieces.candle(dark, lit=False), (-0.75, 0, -0.5)),
            *moved(pieces.candle(pale, lit=False), (0.8, 0, 0.5)),
        ],
        camera=Camera(eye=(0.6, 8.5, 9), target=(0.02, 0.6, 0), view=24, blur=14),
        backdrop=paper("#d6c2a6"),
        seed=52,
    )


def oak_tray_1() -> Scene:
    """The tray with a mug and a small bowl."""
    small = glaze("#efe9dc", seed=8, bare=0.06, amount=0.5)
    return Scene(
        solids=moved(
            [
                *pieces.tray(OAK),
                *moved([*pieces.mug(SLATE), pieces.liquid(0.79, 1.6, pieces.coffee())], (-0.95, 0.12, -0.2), -30),
                *moved(pieces.bowl(small, 0.62), (1.2, 0.12, 0.25)),
            ],
            (0, 0, 0),
            -16,
        ),
        camera=Camera(eye=(0.5, 5.6, 11.5), target=(0, 0.6, 0), view=33.5),
        backdrop=paper("#c4cbbd"),
        seed=61,
    )


def oak_tray_2() -> Scene:
    """The grain and the rounded corner, close."""
    return Scene(
        solids=moved(pieces.tray(OAK), (0, 0, 0), 38),
        camera=Camera(eye=(1.2, 4.4, 8), target=(0.5, 0.18, 0.75), view=22, blur=30, focus=7.6),
        backdrop=paper("#e2d5c0"),
        seed=62,
    )


def oak_tray_3() -> Scene:
    """From above, with a sprig."""
    branch = pieces.sprig(
        [(-1.3, 0.2, 0.55), (-0.3, 0.24, 0.1), (0.7, 0.26, -0.15), (1.4, 0.3, -0.5)],
        (0.85, 0.26),
        count=8,
        first=0.1,
        seed=9,
    )
    return Scene(
        solids=[*moved(pieces.tray(OAK), (0, 0, 0), 0), *branch],
        camera=Camera(eye=(0, 13, 2.4), target=(0, 0.1, 0), view=31, blur=0),
        backdrop=paper("#cfb49a"),
        key=(-7, 7, -2),
        seed=63,
    )


def field_plates_1() -> Scene:
    """A stack of four plates."""
    glazes = (
        CHALK,
        glaze("#c9b79e", rim=0.36, seed=18, amount=0.4),
        glaze("#8fa0a3", rim=0.36, seed=28, amount=0.3),
        CHALK,
    )
    stack = [
        piece
        for n, g in enumerate(glazes)
        for piece in moved(pieces.plate(g), (0.03 * (n % 2), n * 0.21, 0.02 * n), n * 40)
    ]
    return Scene(
        solids=stack,
        camera=Camera(eye=(0, 3.6, 12.5), target=(0, 0.5, 0), view=27),
        backdrop=paper("#b98d72"),
        seed=71,
    )


def field_plates_2() -> Scene:
    """A place set on linen, from above."""
    big, small = (
        pieces.plate(CHALK),
        moved(pieces.plate(glaze("#8fa0a3", rim=0.3, seed=28, amount=0.3), 0.64), (0.04, 0.14, -0.02)),
    )
    branch = pieces.sprig(
        [(-0.75, 0.5, 0.4), (-0.2, 0.55, 0.1), (0.3, 0.55, -0.1), (0.8, 0.6, -0.35)],
        (0.6, 0.2),
        count=6,
        first=0.2,
        seed=4,
    )
    return Scene(
        solids=[
            pieces.linen_mat("#d8c8ae", half=(2.6, 2.35), stripe="#7d8a72"),
            *moved([*big, *small, *branch], (0, 0.04, 0)),
        ],
        camera=Camera(eye=(0, 13, 3.2), target=(0, 0.2, 0), view=27, blur=0),
        backdrop=paper("#9aa08a"),
        key=(-7, 7, -2),
        gobo="leaves",
        seed=72,
    )


def pocket_notebook_1() -> Scene:
    """Three notebooks, slightly fanned."""
    colours = (("#44566a", "#2f3d4d"), ("#c07a55", "#8f5336"), ("#d9c9a5", "#5c6b52"))
    stack = [
        piece
        for n, (c, s) in enumerate(colours)
        for piece in moved(pieces.book(c, s), (0.05 * n, n * 0.2, 0), (-4, 9, -13)[n])
    ]
    return Scene(
        solids=moved(stack, (0, 0, 0), 28),
        camera=Camera(eye=(0, 6.4, 9.5), target=(0.0, 0.25, 0), view=24),
        backdrop=paper("#d9d3c2"),
        seed=81,
    )


def pocket_notebook_2() -> Scene:
    """One notebook with a pencil."""
    return Scene(
        solids=[
            *moved(pieces.book("#c07a55", "#8f5336"), (-0.3, 0, 0), 14),
            *moved(pieces.pencil("#3c5a4a"), (0.0, 0.2, 0.9), 62),
        ],
        camera=Camera(eye=(0, 11.5, 4.5), target=(0.05, 0.1, 0), view=21, blur=0),
        backdrop=paper("#e6d9c2"),
        key=(-7, 7, -1),
        seed=82,
    )


def gift_wrap_1() -> Scene:
    """A wrapped box."""
    return Scene(
        solids=moved(pieces.gift("#c8a27a", "#7d2f2b"), (0, 0, 0), 24),
        camera=Camera(eye=(0, 4.8, 11), target=(0, 0.72, 0), view=22),
        backdrop=paper("#d9c9b4"),
        seed=91,
    )


def oat_soap_1() -> Scene:
    """Two bars, one on the other."""
    bar = Slab(half=(0.95, 0.27, 0.62), round=0.13, corner=0.2)
    return Scene(
        solids=[
            put(bar, OAT, (-0.1, 0, 0), 18),
            put(bar, BRAN, (0.06, 0.54, 0), -12),
        ],
        camera=Camera(eye=(0, 4.6, 11), target=(0, 0.55, 0), view=17.5),
        backdrop=paper("#b7c0b4"),
        seed=95,
    )


def glaze_tile_1() -> Scene:
    """A small square of glaze."""
    tile = Slab(half=(0.9, 0.06, 0.9), round=0.03)
    return Scene(
        solids=[put(tile, glaze("#7f98a3", seed=31, amount=0.4), (0, 0, 0), 25)],
        camera=Camera(eye=(0, 7, 8), target=(0, 0, 0), view=19),
        backdrop=paper("#e4dccb"),
        seed=98,
    )


SCENES: dict[str, Callable[[], Scene]] = {
    f"wrenfold/photos/{scene.__name__.replace('_', '-')}.jpg": scene
    for scene in (
        dawn_mug_1,
        dawn_mug_2,
        dawn_mug_3,
        ripple_bowl_1,
        ripple_bowl_2,
        ripple_bowl_3,
        heron_vase_1,
        heron_vase_2,
        heron_vase_3,
        linen_towels_1,
        linen_towels_2,
        ember_candle_1,
        ember_candle_2,
        oak_tray_1,
        oak_tray_2,
        oak_tray_3,
        field_plates_1,
        field_plates_2,
        pocket_notebook_1,
        pocket_notebook_2,
        gift_wrap_1,
        oat_soap_1,
        glaze_tile_1,
    )
}
