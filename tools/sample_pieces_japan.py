"""The things our Japanese sample shop sells."""

import numpy as np
from tools.sample_pieces import Pieces, liquid, moved, put
from tools.sample_shapes import Array, Branch, Egg, Joined, Slab, Triple, bent, single, turned
from tools.sample_textures import Material, brushed, light, noise, plain, weave, wood


def teapot(material: Material, handle: Material) -> Pieces:
    """A dobin: round pot, short spout, lid with a knob, a bail handle above."""
    profile = [(0.62, 0.0), (0.72, 0.03), (1.12, 0.4), (1.22, 0.85), (1.0, 1.32), (0.62, 1.52)]
    body = turned(profile, soft=0.02)
    spout = bent([(-0.95, 0.62), (-1.35, 0.86), (-1.58, 1.24), (-1.74, 1.46)], [0.3, 0.21, 0.15, 0.125])
    lugs = [bent([(s * 0.84, 1.36), (s * 0.95, 1.56), (s * 0.8, 1.66)], [0.08, 0.085, 0.08]) for s in (-1, 1)]
    lid = turned(
        [(0.66, 1.49), (0.68, 1.53), (0.5, 1.64), (0.14, 1.7), (0.1, 1.76), (0.2, 1.88), (0.13, 1.99), (0.0, 2.01)],
        soft=0.01,
    )
    way = np.radians(np.linspace(-14, 194, 11))
    arch = bent(
        [(0.92 * float(np.cos(a)), 1.82 + 0.98 * float(np.sin(a)) ** 1.0) for a in way],
        [0.055, *[0.075] * 9, 0.055],
        flat=0.85,
    )
    hole = turned([(0.075, 0.0), (0.075, 0.02)], curve=False, soft=0.004)
    return [
        put(Joined(parts=(body, spout, *lugs), blend=0.12), material),
        put(lid, material),
        put(arch, handle),
        put(hole, plain("#1d1a18"), (-1.805, 1.555, 0), roll=36),
    ]


def yunomi(material: Material, size: float = 1.0, *, tea: bool = False) -> Pieces:
    """A cup without a handle."""
    profile = [(0.42, 0.0), (0.47, 0.02), (0.5, 0.1), (0.68, 0.3), (0.72, 0.8), (0.7, 1.3)]
    cup = put(turned([(r * size, h * size) for r, h in profile], wall=0.055, soft=0.015), material)
    leaf = plain("#a3a25c", gloss=0.04, rough=0.05)
    return [cup, liquid(0.675 * size, 1.02 * size, leaf)] if tea else [cup]


def rice_bowl(material: Material) -> Pieces:
    """A rice bowl on a tall foot."""
    profile = [(0.46, 0.0), (0.5, 0.02), (0.48, 0.2), (0.78, 0.34), (1.12, 0.74), (1.24, 1.2)]
    return [put(turned(profile, wall=0.06, floor=0.3, soft=0.015), material)]


def saucer(material: Material, size: float = 1.0) -> Pieces:
    """A very small dish."""
    profile = [(0.4, 0.0), (0.44, 0.02), (0.46, 0.08), (0.75, 0.14), (0.92, 0.27)]
    return [put(turned([(r * size, h * size) for r, h in profile], wall=0.06, floor=0.15 * size, soft=0.015), material)]


def round_tray(material: Material, radius: float = 2.3) -> Pieces:
    """A turned wooden tray with a low edge."""
    profile = [(radius - 0.22, 0.0), (radius - 0.1, 0.02), (radius - 0.02, 0.14), (radius, 0.3)]
    return [put(turned(profile, wall=0.12, soft=0.02), material)]


def canister(metal: Material, *, opened: bool = False) -> Pieces:
    """A tea caddy of sheet metal; opened, its lid lies beside it."""
    body = turned([(0.8, 0.0), (0.84, 0.02), (0.84, 1.3)], curve=False, soft=0.012)
    lid = turned([(0.86, 0.0), (0.86, 0.86), (0.84, 0.9), (0.2, 0.915)], curve=False, soft=0.012)
    if not opened:
        return [put(body, metal), put(lid, metal, (0, 1.18, 0))]
    hollow = turned([(0.84, 0.0), (0.84, 1.62)], wall=0.03, curve=False, soft=0.01)
    inner = turned([(0.80, 0.0), (0.80, 1.85)], wall=0.03, curve=False, soft=0.008)
    leaves = Material(tone=light("#39442a"), paint=tea_leaves, relief=tea_relief)
    fill = turned([(0.78, 1.0), (0.78, 1.52)], curve=False, soft=0.004)
    return [
        put(hollow, metal),
        put(inner, brushed("#d9d3c6", rough=0.25)),
        put(fill, leaves),
        put(lid, metal, (1.95, 0, 0.55)),
    ]


def needles(points: Array) -> Array:
    """How high the topmost of many crossing needles lies, about 0 to 1."""
    top = np.zeros(points.shape[1], np.float32)
    for number, angle in enumerate((0.2, 0.9, 1.7, 2.5)):
        along = points[0] * np.cos(angle) + points[2] * np.sin(angle)
        across = points[2] * np.cos(angle) - points[0] * np.sin(angle)
        lying = noise(np.stack([along, points[1], across]).astype(np.float32), (0.13, 1.0, 0.022), number + 3)
        top = np.maximum(top, lying)
    return top


def tea_leaves(points: Array, _normals: Array) -> Array:
    """Needles of green tea, dark between them."""
    return single(light("#55623c") * np.clip(needles(points) * 1.7, 0.15, 1.5))


def tea_relief(points: Array) -> Array:
    """Needles of green tea lie across one another."""
    return single(0.04 * needles(points))


def andon(*, lit: bool) -> Pieces:
    """A standing paper lamp in a wooden frame."""
    frame_wood = wood("#6b4a34", "#3c281b", seed=12)
    half, tall = 0.86, 2.5
    sheet = light("#f2e8d2")

    def paper_paint(points: Array, _normals: Array) -> Array:
        fibre = 1 + 0.05 * noise(points, (0.5, 0.06, 0.5), 5) + 0.04 * noise(points, 0.08, 6)
        if not lit:
            return single(sheet * fibre)
        apart = (points[1] - 1.0) ** 2 / 1.1 + (points[0] ** 2) / 1.2
        glow = np.exp(-apart)
        warm = np.stack([0.62 + 0.38 * glow, 0.32 + 0.42 * glow, 0.12 + 0.32 * glow])
        return single(warm * fibre * (0.4 + 0.75 * glow))

    paper = Material(tone=light("#ffc27a") if lit else sheet, paint=paper_paint, soft=0.4, glow=1.0 if lit else 0.0)
    post = Slab(half=(0.06, tall / 2, 0.06), round=0.012)
    bar = Slab(half=(half, 0.045, 0.045), round=0.01)
    thin = Slab(half=(half, 0.016, 0.016), round=0.006)
    pieces: Pieces = [put(Slab(half=(half + 0.16, 0.07, half + 0.16), round=0.02), frame_wood, (0, 0.0, 0))]
    for yaw in (0, 90, 180, 270):
        side: Pieces = [
            put(post, frame_wood, (half, 0.1, half)),
            put(bar, frame_wood, (0, 0.2, half)),
            put(bar, frame_wood, (0, tall - 0.06, half)),
            put(Slab(half=(half, (tall - 0.2) / 2, 0.012), round=0.004), paper, (0, 0.2, half - 0.03)),
        ]
        side += [put(thin, frame_wood, (0, h, half - 0.01)) for h in (0.95, 1.65)]
        side += [put(Slab(half=(0.016, (tall - 0.3) / 2, 0.016), round=0.006), frame_wood, (0, 0.25, half - 0.01))]
        pieces += moved(side, (0, 0, 0), yaw)
    handle = bent([(-0.8, 0.0), (-0.55, 0.42), (0.55, 0.42), (0.8, 0.0)], [0.035, 0.035, 0.035, 0.035])
    return [*pieces, put(handle, frame_wood, (0, tall + 0.05, 0), yaw=45)]


def dyed(ground: str, motif: str, pattern: str, seed: int = 1) -> Material:
    """Cotton dyed with a pattern: waves, dots, or stripes."""
    cloth, base, second = weave(ground, pitch=0.02, seed=seed), light(ground), light(motif)

    def waves(x: Array, z: Array) -> Array:
        share = np.zeros(x.shape, np.float32)
        for row in range(2):
            column = np.floor(x / 0.36 + row * 0.5)
            line = np.floor(z / 0.18 / 2)
            across = x - (column + 0.5 - row * 0.5) * 0.36
            along = z - (line * 2 + row) * 0.18
            reach = np.hypot(across, along)
            rings = np.abs((reach / 0.06) % 1 - 0.5) < 0.2
            share = np.where((reach < 0.18) & (along >= 0), rings, share)
        return share

    def paint(points: Array, normals: Array) -> Array:
        x, z = points[0] + points[1] * 0.9, points[2]
        if pattern == "waves":
            share = waves(x, -z)
        elif pattern == "dots":
            shift = (np.floor(z / 0.2) % 2) * 0.1
            apart = np.hypot((x + shift) % 0.2 - 0.1, z % 0.2 - 0.1)
            share = np.clip((0.042 - apart) / 0.012 + 0.5, 0, 1)
        else:
            share = np.clip((np.abs((x / 0.17) % 1 - 0.5) - 0.3) / 0.05 + 0.5, 0, 1)
        woven = (cloth.paint(points, normals) if cloth.paint else base) / base
        return single((base * (1 - share) + second * share) * woven)

    return Material(tone=base, paint=paint, relief=cloth.relief, soft=0.2)


def pebble(material: Material, half: Triple, at: tuple[float, float], yaw: float) -> Pieces:
    """A chopstick rest like a river stone, a little hollow on top."""
    return [put(Egg(half=half, sag=-0.25), material, (at[0], half[1] * 0.93, at[1]), yaw)]


def chopsticks(colour: str) -> Pieces:
    """A pair of tapered chopsticks along x."""
    lacquer = plain(colour, gloss=0.05, rough=0.15)
    rods = [np.array([[-1.75, 0.05, z], [1.75, 0.03, z * 0.5]]) for z in (-0.075, 0.075)]
    return [put(Branch(points=rod, radii=np.array([0.052, 0.022])), lacquer) for rod in rods]
