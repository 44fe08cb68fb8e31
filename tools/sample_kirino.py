"""The photos of きりの道具店, our Japanese sample shop: cool, quiet, morning light."""

from collections.abc import Callable

from tools import sample_pieces as pieces
from tools import sample_pieces_japan as japan
from tools.sample_pieces import moved, put
from tools.sample_shapes import Slab
from tools.sample_stage import Backdrop, Camera, Lamp, Scene, Solid
from tools.sample_textures import brushed, glaze, plain, plaster, weave, wood

IRON = glaze("#3f4447", speck="#1e2122", amount=0.2, seed=2, gloss=0.035, rough=0.42)
INDIGO = glaze("#374a66", speck="#1e2c40", amount=0.3, seed=4, rim=1.24, edge="#a98a63", bare=0.12, clay="#a58c74")
ASH = glaze("#d5d2c4", speck="#6f6a5c", amount=0.5, seed=6, rim=1.24, edge="#a98a63", bare=0.12, clay="#a58c74")
CELADON = glaze("#a9c0b0", speck="#6f8a7a", amount=0.12, seed=8, gloss=0.06, rough=0.1)
CEDAR = wood("#a9764c", "#6e452a", seed=21)
LACQUER = wood("#5b2c20", "#2e140f", seed=23, gloss=0.05)
WALNUT = wood("#6e4a36", "#3d281c", seed=27, gloss=0.02)
HINOKI = wood("#dfc49a", "#c09a68", seed=25, gloss=0.02)
BAMBOO = plain("#b9935a", gloss=0.035, rough=0.35)
BRASS = brushed("#d9a955")
COPPER = brushed("#cf8560")


def paper(colour: str, back: float = -6.0, floor: float = 0.0) -> Backdrop:
    """A backdrop of one colour."""
    return Backdrop(material=plaster(colour, depth=0.03), back=back, floor=floor)


def dobin_1() -> Scene:
    """The iron-glazed pot alone."""
    return Scene(
        solids=moved(japan.teapot(IRON, BAMBOO), (0.12, 0, 0), 14),
        camera=Camera(eye=(0, 3.8, 12), target=(-0.05, 1.3, 0), view=23.5),
        backdrop=paper("#c5cfcb"),
        seed=111,
    )


def dobin_2() -> Scene:
    """Lid and bail, close."""
    return Scene(
        solids=moved(japan.teapot(IRON, BAMBOO), (0, 0, 0), -32),
        camera=Camera(eye=(0.5, 5.6, 9.5), target=(0.05, 1.55, 0), view=20),
        backdrop=paper("#d8cfbf"),
        seed=112,
    )


def dobin_3() -> Scene:
    """Tea for two on a round tray."""
    cups = [
        *moved(japan.yunomi(ASH, 0.72, tea=True), (-1.15, 0.12, 1.0)),
        *moved(japan.yunomi(ASH, 0.72, tea=True), (0.15, 0.12, 1.45), 60),
    ]
    return Scene(
        solids=[*japan.round_tray(CEDAR, 2.75), *moved(japan.teapot(IRON, BAMBOO), (0.55, 0.12, -0.55), 22), *cups],
        camera=Camera(eye=(-1.0, 6.4, 11.5), target=(0, 0.85, 0.1), view=32),
        backdrop=paper("#b9c3b4"),
        gobo="leaves",
        seed=113,
    )


def yunomi_1() -> Scene:
    """Indigo and ash, a pair."""
    return Scene(
        solids=[
            pieces.table(HINOKI, back=-2.2),
            *moved(japan.yunomi(INDIGO), (-0.86, 0, -0.1)),
            *moved(japan.yunomi(ASH), (0.86, 0, 0.3), 120),
        ],
        camera=Camera(eye=(0.3, 3.4, 12), target=(0, 0.66, 0), view=22),
        backdrop=paper("#d9dcd6", back=-5, floor=-5),
        seed=121,
    )


def yunomi_2() -> Scene:
    """Green tea from above."""
    return Scene(
        solids=[
            *moved([pieces.linen_mat("#44566f", half=(2.0, 1.6))], (0.3, 0, 0.15), 3),
            *moved(japan.yunomi(ASH, tea=True), (-0.35, 0.04, 0.05)),
            *moved(
                japan.saucer(glaze("#d8bfb4", seed=41, amount=0.35, rim=0.2, edge="#a98a63"), 0.72), (1.2, 0.04, 0.5)
            ),
        ],
        camera=Camera(eye=(0, 10.5, 5.2), target=(0.28, 0.5, 0.2), view=26.5),
        backdrop=paper("#d6cfc0"),
        key=(-7, 7, -1),
        seed=122,
    )


def ichirin_1() -> Scene:
    """A celadon bud vase with red berries."""
    twig = pieces.berries(
        [(0, 0.7, 0), (0.05, 1.6, 0), (-0.25, 2.4, 0.1), (-0.8, 3.1, 0.1)], "#b23a2e", count=15, seed=3
    )
    return Scene(
        solids=[*moved(pieces.bud_vase(CELADON), (0.1, 0, 0)), *moved(twig, (0.1, 0, 0))],
        camera=Camera(eye=(0, 2.9, 13), target=(-0.1, 1.55, 0), view=21),
        backdrop=paper("#e3ddd0"),
        gobo="window",
        key=(-7.5, 6.0, 6.0),
        seed=131,
    )


def ichirin_2() -> Scene:
    """Three glazes in a row."""
    glazes = (
        CELADON,
        glaze("#374a66", speck="#1e2c40", amount=0.3, seed=4),
        glaze("#d8bfb4", speck="#8a6a5c", amount=0.3, seed=9),
    )
    row = [
        p
        for n, g in enumerate(glazes)
        for p in moved(pieces.bud_vase(g, (1.0, 0.82, 0.92)[n]), (1.62 * n - 1.6, 0, (0, 0.35, -0.1)[n]))
    ]
    return Scene(
        solids=[pieces.table(WALNUT, back=-1.8), *row],
        camera=Camera(eye=(0, 2.7, 13), target=(0, 0.72, 0), view=27),
        backdrop=paper("#c3b8a8", back=-4.5, floor=-5),
        seed=132,
    )


def marubon_1() -> Scene:
    """The lacquered tray with a cup of tea."""
    return Scene(
        solids=[
            *japan.round_tray(LACQUER, 2.3),
            *moved(japan.yunomi(CELADON, 0.9, tea=True), (-0.55, 0.12, 0.15)),
            *moved(
                japan.saucer(glaze("#d5d2c4", seed=43, amount=0.4, rim=0.22, edge="#a98a63"), 0.8), (1.0, 0.12, 0.45)
            ),
        ],
        camera=Camera(eye=(0.3, 5.6, 11.5), target=(0, 0.3, 0), view=29),
        backdrop=paper("#d8c9bd"),
        seed=141,
    )


def marubon_2() -> Scene:
    """Two sizes from above."""
    return Scene(
        solids=[
            *moved(japan.round_tray(CEDAR, 2.2), (-0.5, 0, -1.0), 15),
            *moved(japan.round_tray(LACQUER, 1.35), (0.95, 0.0, 2.35), -25),
        ],
        camera=Camera(eye=(0, 13, 3), target=(-0.05, 0.1, 0.5), view=35),
        backdrop=paper("#cfd4c8"),
        key=(-7, 7, -2),
        gobo="leaves",
        seed=142,
    )


MAME = ("#374a66", "#d8bfb4", "#a9c0b0", "#e6e0d0", "#c9a65b")


def small_dish(number: int) -> list[Solid]:
    """One of the five small dishes."""
    return japan.saucer(glaze(MAME[number], seed=40 + number, amount=0.35, rim=0.25, edge="#a98a63", rough=0.12))


def mamezara_1() -> Scene:
    """Five dishes from above."""
    spots = ((-1.1, -1.55), (1.12, -1.62), (0.02, 0.02), (-1.14, 1.6), (1.1, 1.52))
    return Scene(
        solids=[p for n, (x, z) in enumerate(spots) for p in moved(small_dish(n), (x, 0, z))],
        camera=Camera(eye=(0, 13, 2.2), target=(0, 0.1, 0.02), view=29),
        backdrop=paper("#d9d2c3"),
        key=(-7, 7, -2),
        seed=151,
    )


def mamezara_2() -> Scene:
    """Stacked, with one leaning dish in front."""
    stack = [p for n in range(5) for p in moved(small_dish((3, 1, 0, 4, 2)[n]), (0.03 * (n % 2), 0.16 * n, 0.02 * n))]
    return Scene(
        solids=stack,
        camera=Camera(eye=(0.3, 2.9, 11), target=(0, 0.48, 0), view=15, blur=14),
        backdrop=paper("#aebbb9"),
        seed=152,
    )


def andon_1() -> Scene:
    """Lit in the evening."""
    return Scene(
        solids=[pieces.table(CEDAR, back=-2.4), *moved(japan.andon(lit=True), (0, 0, 0), 24)],
        camera=Camera(eye=(0, 3.4, 13), target=(0, 1.4, 0), view=22),
        backdrop=paper("#56616e", back=-5, floor=-5),
        key_power=0.26,
        fill=0.16,
        exposure=1.15,
        lamps=[Lamp(at=(0, 1.2, 1.6), colour="#ffb066", power=0.5)],
        seed=161,
    )


def andon_2() -> Scene:
    """Unlit by day."""
    return Scene(
        solids=moved(japan.andon(lit=False), (0, 0, 0), -30),
        camera=Camera(eye=(0, 4.4, 13), target=(0, 1.35, 0), view=22),
        backdrop=paper("#c9c7b6"),
        seed=162,
    )


def tenugui_1() -> Scene:
    """Three folded cloths."""
    stack = [
        (japan.dyed("#e9e4d6", "#374a66", "dots", 3), -3.0),
        (japan.dyed("#e9e4d6", "#7d8f6a", "stripes", 2), 4.0),
        (japan.dyed("#34496b", "#e6e2d6", "waves", 1), -1.0),
    ]
    return Scene(
        solids=moved(pieces.towels(stack, width=2.3, depth=1.7, thick=0.06), (0, 0, 0), -24),
        camera=Camera(eye=(0, 5.2, 10.5), target=(0, 0.4, 0), view=21.5),
        backdrop=paper("#d5cabb"),
        seed=171,
    )


def tenugui_2() -> Scene:
    """The wave pattern from above."""
    cloths = [
        *moved(
            pieces.towels([(japan.dyed("#34496b", "#e6e2d6", "waves", 1), 0.0)], 2.3, 1.7, 0.06), (-0.5, 0, -0.75), 8
        ),
        *moved(
            pieces.towels([(japan.dyed("#e9e4d6", "#374a66", "dots", 3), 0.0)], 2.3, 1.7, 0.06), (0.45, 0.03, 1.1), -6
        ),
    ]
    return Scene(
        solids=cloths,
        camera=Camera(eye=(0, 12.5, 3), target=(0, 0.1, 0.15), view=24),
        backdrop=paper("#c7cfc6"),
        key=(-7, 7, -2),
        gobo="leaves",
        seed=172,
    )


def chazutsu_1() -> Scene:
    """Brass and copper."""
    return Scene(
        solids=[*moved(japan.canister(BRASS), (-0.95, 0, 0)), *moved(japan.canister(COPPER), (0.98, 0, 0.35))],
        camera=Camera(eye=(0.2, 3.3, 12), target=(0, 0.98, 0), view=25),
        backdrop=paper("#d3d6cf"),
        seed=181,
    )


def chazutsu_2() -> Scene:
    """Opened, with tea leaves."""
    return Scene(
        solids=[pieces.table(HINOKI, back=-4), *moved(japan.canister(BRASS, opened=True), (-0.85, 0, 0), 10)],
        camera=Camera(eye=(0.2, 6.6, 10), target=(0.42, 0.75, 0), view=31),
        backdrop=paper("#d9dcd6", back=-6, floor=-5),
        seed=182,
    )


def meshiwan_1() -> Scene:
    """The indigo rice bowl with chopsticks."""
    deep = glaze("#374a66", speck="#1e2c40", amount=0.3, seed=4, rim=1.14, edge="#a98a63", bare=0.2, clay="#a58c74")
    rest = japan.pebble(CELADON, (0.3, 0.13, 0.2), (-1.2, 1.75), 80)
    return Scene(
        solids=[
            *moved(japan.rice_bowl(deep), (0, 0, 0)),
            *rest,
            *moved(japan.chopsticks("#5b241d"), (0.15, 0.24, 1.75), 0),
        ],
        camera=Camera(eye=(0, 5.2, 11.5), target=(0.1, 0.42, 0.5), view=26),
        backdrop=paper("#e0d8c8"),
        seed=191,
    )


def meshiwan_2() -> Scene:
    """Two bowls, one upside down to show the foot."""
    deep = glaze("#374a66", speck="#1e2c40", amount=0.3, seed=4, rim=1.14, edge="#a98a63", bare=0.2, clay="#a58c74")
    pale = glaze("#d8d3c3", speck="#6f6a5c", amount=0.5, seed=6, rim=1.14, edge="#a98a63", bare=0.2, clay="#a58c74")
    flipped = [
        Solid(
            shape=p.shape, material=p.material, at=(1.2, 1.225, 0.35), turned=put(p.shape, p.material, roll=180).turned
        )
        for p in japan.rice_bowl(pale)
    ]
    return Scene(
        solids=[pieces.table(CEDAR, back=-2.4), *moved(japan.rice_bowl(deep), (-1.2, 0, -0.2)), *flipped],
        camera=Camera(eye=(0, 4.2, 13), target=(0, 0.6, 0), view=29),
        backdrop=paper("#c9cdc4", back=-5, floor=-5),
        seed=192,
    )


def hashioki_1() -> Scene:
    """Five rests like river stones."""
    spots = ((-1.0, -0.5, 20), (0.25, -0.75, 70), (1.1, 0.05, 110), (-0.55, 0.55, 40), (0.5, 0.75, 5))
    stones = [
        p
        for n, (x, z, yaw) in enumerate(spots)
        for p in japan.pebble(glaze(MAME[n], seed=60 + n, amount=0.3, rough=0.12), (0.42, 0.17, 0.27), (x, z), yaw)
    ]
    return Scene(
        solids=[
            *moved([put(Slab(half=(1.9, 0.09, 1.35), round=0.03, corner=0.1), HINOKI, (0, -0.02, 0))], (0, 0, 0), 8),
            *moved(stones, (0, 0.18, 0), 0),
        ],
        camera=Camera(eye=(0, 8, 8.5), target=(0, 0.15, 0.05), view=27.5),
        backdrop=paper("#b7c1bd"),
        seed=195,
    )


def furoshiki_1() -> Scene:
    """A box wrapped in cloth, the gift service."""
    return Scene(
        solids=moved(pieces.gift("#3f5573", "#d9cdb8"), (0, 0, 0), -22),
        camera=Camera(eye=(0, 4.8, 11), target=(0, 0.72, 0), view=22),
        backdrop=paper("#ddd3c6"),
        seed=196,
    )


def fukin_1() -> Scene:
    """A plain kitchen cloth, the small picture."""
    return Scene(
        solids=moved(
            pieces.towels(
                [(weave("#e9e4d6", stripe="#b23a2e", bands=((-0.5, -0.42), (0.42, 0.5))), 0.0)], 2.2, 1.7, 0.07
            ),
            (0, 0, 0),
            30,
        ),
        camera=Camera(eye=(0, 5.2, 10.5), target=(0, 0.2, 0), view=20),
        backdrop=paper("#bfc8c8"),
        seed=197,
    )


SCENES: dict[str, Callable[[], Scene]] = {
    f"kirino/photos/{scene.__name__.replace('_', '-')}.jpg": scene
    for scene in (
        dobin_1,
        dobin_2,
        dobin_3,
        yunomi_1,
        yunomi_2,
        ichirin_1,
        ichirin_2,
        marubon_1,
        marubon_2,
        mamezara_1,
        mamezara_2,
        andon_1,
        andon_2,
        tenugui_1,
        tenugui_2,
        chazutsu_1,
        chazutsu_2,
        meshiwan_1,
        meshiwan_2,
        hashioki_1,
        furoshiki_1,
        fukin_1,
    )
}
