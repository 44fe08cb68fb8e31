"""The things our sample shops sell, and the props beside them."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from tools.sample_shapes import (
    Array,
    Branch,
    Carved,
    Egg,
    Joined,
    Leaf,
    Shape,
    Slab,
    Triple,
    bent,
    folded,
    single,
    turned,
)
from tools.sample_stage import Solid, turn
from tools.sample_textures import Material, light, noise, plain, weave, wood

Pieces = list[Solid]
Line = list[Triple]


def put(
    shape: Shape, material: Material, at: Triple = (0, 0, 0), yaw: float = 0, *, pitch: float = 0, roll: float = 0
) -> Solid:
    """A solid standing somewhere, turned."""
    return Solid(shape=shape, material=material, at=at, turned=turn(yaw, pitch, roll))


def triple(values: npt.ArrayLike) -> Triple:
    """Three plain numbers."""
    x, y, z = (float(v) for v in np.asarray(values))
    return (x, y, z)


def moved(pieces: Pieces, at: Triple, yaw: float = 0) -> Pieces:
    """Pieces carried somewhere together and turned around y."""
    around = turn(yaw)
    return [
        replace(
            p,
            at=triple(around @ np.asarray(p.at, np.float32) + np.asarray(at)),
            turned=around @ p.turned,
        )
        for p in pieces
    ]


def table(material: Material, back: float = -2.4, thick: float = 0.5) -> Solid:
    """A table top at y = 0 that ends at z = `back`."""
    shape = Slab(half=(14, thick / 2, 8), round=0.06)
    return Solid(shape=shape, material=material, at=(0, -thick, back + 8), furniture=True)


def mug(material: Material) -> Pieces:
    """A straight mug with a handle, 1.95 tall."""
    body = turned(
        [(0.66, 0.0), (0.79, 0.02), (0.86, 0.16), (0.88, 0.8), (0.86, 1.5), (0.875, 1.93)], wall=0.07, soft=0.02
    )
    handle = bent(
        [(0.9, 1.62), (1.24, 1.66), (1.46, 1.22), (1.3, 0.72), (0.9, 0.48)], [0.085, 0.09, 0.085, 0.085, 0.08], flat=0.7
    )
    return [put(Joined(parts=(body, handle), blend=0.09), material)]


def liquid(radius: float, height: float, material: Material) -> Solid:
    """A still surface inside a vessel."""
    return put(turned([(radius, height - 0.25), (radius, height)], curve=False, soft=0.004), material)


def coffee() -> Material:
    """Black coffee with a thin paler ring at the edge."""
    dark, pale = light("#21120b"), light("#8f5f38")

    def paint(points: Array, _normals: Array) -> Array:
        waver = np.hypot(points[0], points[2]) + 0.012 * noise(points, 0.16, 4)
        edge = np.clip((waver - 0.715) / 0.05, 0, 1) ** 1.3
        return single(dark * (1 - edge) + pale * edge)

    return Material(tone=dark, paint=paint, gloss=0.04, rough=0.06)


def bowl(material: Material, size: float = 1.0) -> Pieces:
    """A deep serving bowl on a small foot."""
    profile = [(0.55, 0.0), (0.62, 0.03), (0.64, 0.12), (1.0, 0.34), (1.36, 0.78), (1.52, 1.22)]
    return [put(turned([(r * size, h * size) for r, h in profile], wall=0.075, floor=0.2 * size, soft=0.02), material)]


def plate(material: Material, size: float = 1.0) -> Pieces:
    """A coupe plate with a raised edge."""
    profile = [(0.95, 0.0), (1.02, 0.02), (1.06, 0.07), (1.55, 0.13), (1.86, 0.24), (1.98, 0.38)]
    return [
        put(turned([(r * size, h * (0.5 + size / 2)) for r, h in profile], wall=0.07, floor=0.155, soft=0.02), material)
    ]


def basis(way: npt.NDArray[np.float64], up: npt.NDArray[np.float64]) -> Array:
    """World from local for a thing whose x axis is `way` and whose y axis is near `up`."""
    x = way / np.linalg.norm(way)
    y = up - x * (up @ x)
    y /= np.linalg.norm(y)
    return single(np.stack([x, y, np.cross(x, y)], axis=1))


def leaf(material: Material, root: Array, axes: Array, size: tuple[float, float], sag: float) -> Solid:
    """One leaf from its root, along the first of its `axes`."""
    half = size[0] / 2
    middle = root + axes[:, 0] * half + axes[:, 1] * sag * half * half
    shape = Leaf(half=(half, 0.022, size[1] / 2), sag=sag)
    return Solid(shape=shape, material=material, at=triple(middle), turned=axes)


def greens(colour: str, vein: str, seed: int) -> Material:
    """A leaf: darker and lighter places and a pale middle vein."""
    base, pale = light(colour), light(vein)

    def paint(points: Array, _normals: Array) -> Array:
        middle = np.clip(1 - np.abs(points[2]) / 0.014, 0, 1) * 0.5
        shade = 1 + 0.16 * noise(points, 0.25, seed) + 0.05 * noise(points, 0.05, seed)
        return single((base * (1 - middle) + pale * middle) * shade)

    return Material(tone=base, paint=paint, gloss=0.035, rough=0.45, soft=0.3)


def stem(points: Line, thick: float, thin: float, steps: int = 5) -> Branch:
    """A stem that follows a smooth line through points and gets thinner."""
    knots = np.asarray([points[0], *points, points[-1]], float)
    at = np.linspace(0, 1, steps, endpoint=False)[:, None]
    spans = [
        ((2 * b) + (c - a) * at + (2 * a - 5 * b + 4 * c - d) * at**2 + (3 * b - a - 3 * c + d) * at**3) / 2
        for a, b, c, d in zip(knots, knots[1:], knots[2:], knots[3:], strict=False)
    ]
    line = np.vstack([*spans, knots[-1:]])
    return Branch(points=line, radii=np.linspace(thick, thin, len(line)))


def sprig(line: Line, leaf_size: tuple[float, float], *, count: int = 8, first: float = 0.35, seed: int = 1) -> Pieces:
    """An olive twig with pairs of leaves along its upper part and one at its tip."""
    dice = np.random.default_rng(seed)
    twig = stem(line, 0.034, 0.014)
    pieces = [put(twig, plain("#6b5a43", soft=0.1))]
    ways = np.diff(twig.points, axis=0)
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    for number in range(count):
        share = first + (1 - first) * number / (count - 1)
        index = min(int(share * len(ways)), len(ways) - 1)
        spin = number * 2.399 + dice.uniform(-0.3, 0.3)
        out = np.array([np.cos(spin), 0.1, np.sin(spin) * 0.8])
        for side in (1, -1):
            size = (1.05 - 0.45 * share) * dice.uniform(0.85, 1.12)
            way = ways[index] * dice.uniform(0.45, 0.9) + out * side
            up = np.array([dice.uniform(-0.4, 0.4), 1, dice.uniform(0.1, 0.7)])
            full = (leaf_size[0] * size, leaf_size[1] * size)
            tone = greens("#74805a", "#aab08c", seed + number)
            pieces.append(leaf(tone, single(twig.points[index]), basis(way, up), full, dice.uniform(-0.5, 0.1)))
    axes = basis(ways[-1], np.array([0, 0.3, 1]))
    tip = (leaf_size[0] * 0.6, leaf_size[1] * 0.5)
    return [*pieces, leaf(greens("#74805a", "#aab08c", seed), single(twig.points[-1]), axes, tip, 0)]


def berries(line: Line, colour: str, *, count: int = 12, seed: int = 1, bark: str = "#5a4334") -> Pieces:
    """A bare twig with berries on short stalks."""
    dice = np.random.default_rng(seed)
    twig = stem(line, 0.036, 0.014)
    pieces = [put(twig, plain(bark))]
    for number in range(count):
        share = 0.35 + 0.65 * number / max(count - 1, 1)
        root = twig.points[min(int(share * (len(twig.points) - 1)), len(twig.points) - 1)]
        spin = number * 2.399
        out = np.array([np.cos(spin), 0.55, np.sin(spin)]) * dice.uniform(0.13, 0.3)
        size = dice.uniform(0.065, 0.1)
        end = root + out
        pieces.append(put(Branch(points=np.array([root, end]), radii=np.array([0.013, 0.011])), plain(bark)))
        spot = (float(end[0]), float(end[1]), float(end[2]))
        pieces.append(put(Egg(half=(size, size * 0.95, size)), plain(colour, gloss=0.05, rough=0.15, soft=0.15), spot))
    return pieces


def towels(
    stack: "list[tuple[Material, float]]", width: float = 2.3, depth: float = 1.75, thick: float = 0.085
) -> Pieces:
    """A stack of folded cloths, each with its own turn."""
    pieces: Pieces = []
    height = 0.0
    for material, yaw in stack:
        pieces.append(put(folded(width, 4, thick, depth), material, (0, height, 0), yaw))
        height += 4 * thick * 1.06 + 0.012
    return pieces


def linen_mat(colour: str, half: tuple[float, float] = (2.5, 1.8), stripe: str | None = None) -> Solid:
    """A flat linen mat to stand things on."""
    bands = ((-half[1] + 0.15, -half[1] + 0.22), (half[1] - 0.22, half[1] - 0.15)) if stripe else ()
    return Solid(
        shape=Slab(half=(half[0], 0.02, half[1]), round=0.018, corner=0.06),
        material=weave(colour, stripe=stripe, bands=bands),
    )


def tray(material: Material, half: tuple[float, float] = (2.6, 1.7), tall: float = 0.36) -> Pieces:
    """A rectangular tray carved from one board."""
    body = Slab(half=(half[0], tall / 2, half[1]), round=0.05, corner=0.42)
    hollow = Slab(half=(half[0] - 0.14, tall, half[1] - 0.14), round=0.1, corner=0.32)
    return [put(Carved(body=body, tool=hollow, lift=0.12, blend=0.05), material, (0, -0.03, 0))]


def book(cover: str, spine: str, half: tuple[float, float] = (0.98, 1.4), thick: float = 0.2) -> Pieces:
    """A cloth-bound notebook lying flat, its spine to the left, an elastic band to the right."""
    cloth, paper = weave(cover, pitch=0.02), plain("#efe7d6")
    page = Slab(half=(half[0] - 0.05, thick / 2 - 0.03, half[1] - 0.05), round=0.012)
    board = Slab(half=(half[0], 0.016, half[1]), round=0.012, corner=0.05)
    back = Slab(half=(0.17, thick / 2 + 0.002, half[1] + 0.002), round=0.03, corner=0.03)
    band = Slab(half=(0.028, thick / 2 + 0.008, half[1] + 0.012), round=0.008)
    return [
        put(page, replace(paper, paint=leaves_of_paper), (0.02, 0.03, 0)),
        put(board, cloth, (0, 0, 0)),
        put(board, cloth, (0, thick - 0.032, 0)),
        put(back, weave(spine, pitch=0.02), (-half[0] + 0.168, -0.002, 0)),
        put(band, plain(spine, soft=0.1), (half[0] * 0.68, -0.004, 0)),
    ]


def leaves_of_paper(points: Array, _normals: Array) -> Array:
    """The edge of a block of paper: fine lines."""
    line = 1 + 0.08 * noise(points, (2.0, 0.012, 2.0), 3)
    return single(light("#efe7d6") * line)


def pencil(colour: str) -> Pieces:
    """A round pencil along x, its point to the right."""
    body = turned([(0.05, 0.0), (0.05, 2.1)], curve=False, soft=0.004)
    point = turned([(0.052, 2.1), (0.018, 2.34)], curve=False, soft=0.002)
    lead = turned([(0.018, 2.34), (0.004, 2.4)], curve=False, soft=0.002)
    parts = (
        (body, plain(colour, gloss=0.04, rough=0.25)),
        (point, wood("#d8b48a", "#b98f62")),
        (lead, plain("#2c2a2a")),
    )
    return [put(shape, material, (0, 0.056, 0), roll=-90) for shape, material in parts]


def gift(paper: str, ribbon: str) -> Pieces:
    """A wrapped box with a ribbon and a bow."""
    box = Slab(half=(1.15, 0.62, 0.95), round=0.025)
    band = plain(ribbon, soft=0.2, gloss=0.03, rough=0.5)
    loop = bent(
        [(0.0, 0.0), (0.32, 0.3), (0.62, 0.3), (0.6, 0.06), (0.0, 0.0)], [0.022, 0.022, 0.022, 0.022, 0.022], flat=0.14
    )
    tail = bent([(0.0, 0.02), (0.3, 0.05), (0.66, 0.0)], [0.02, 0.02, 0.02], flat=0.17)
    return [
        put(box, plain(paper)),
        put(Slab(half=(0.13, 0.626, 0.957), round=0.012), band, (0, 0, 0)),
        put(Slab(half=(1.157, 0.626, 0.13), round=0.012), band, (0, 0, 0)),
        put(loop, band, (0, 1.27, 0), yaw=28),
        put(loop, band, (0, 1.27, 0), yaw=205),
        put(tail, band, (0, 1.27, 0), yaw=-60),
        put(tail, band, (0, 1.27, 0), yaw=-118),
        put(Egg(half=(0.13, 0.09, 0.13)), band, (0, 1.31, 0)),
    ]


def bottle_vase(material: Material, size: float = 1.0) -> Pieces:
    """A tall vase with a narrow neck."""
    profile = [(0.5, 0.0), (0.6, 0.03), (0.74, 0.4), (0.8, 0.95), (0.62, 1.6), (0.3, 2.05), (0.22, 2.5), (0.29, 2.86)]
    return [put(turned([(r * size, h * size) for r, h in profile], wall=0.06, soft=0.015), material)]


def bud_vase(material: Material, size: float = 1.0) -> Pieces:
    """A small round vase for one stem."""
    profile = [(0.36, 0.0), (0.46, 0.03), (0.7, 0.3), (0.74, 0.62), (0.5, 0.95), (0.17, 1.12), (0.14, 1.3), (0.2, 1.44)]
    return [put(turned([(r * size, h * size) for r, h in profile], wall=0.05, soft=0.012), material)]


def candle(cup: Material, *, lit: bool) -> Pieces:
    """A candle poured into a stoneware cup."""
    wax_tone = light("#f1e3c6")

    def wax(points: Array, _normals: Array) -> Array:
        near = np.exp(-((points[0] ** 2 + points[2] ** 2) / 0.3))
        warm = np.array([[1.5], [0.75], [0.25]], np.float32) * near * np.float32(0.45 if lit else 0)
        return single(wax_tone * (1 + 0.03 * noise(points, 0.2, 4) + warm))

    body = turned([(0.72, 0.0), (0.86, 0.03), (0.9, 0.2), (0.9, 1.0), (0.9, 1.42)], wall=0.075, soft=0.02)
    fill = turned([(0.85, 0.9), (0.85, 1.17)], curve=False, soft=0.004)
    wick = Branch(
        points=np.array([[0, 1.1, 0], [0.0, 1.34, 0], [0.03, 1.42, 0.0]]), radii=np.array([0.02, 0.02, 0.018])
    )
    pieces = [
        put(body, cup),
        put(fill, Material(tone=wax_tone, paint=wax, gloss=0.03, rough=0.25, soft=0.3)),
        put(wick, plain("#2b211a" if lit else "#e8dcc4")),
    ]
    if lit:
        flame = turned([(0.0, 0.0), (0.075, 0.07), (0.1, 0.2), (0.062, 0.4), (0.0, 0.64)], soft=0.004)
        pieces.append(put(flame, Material(tone=light("#ffcf7a"), paint=flame_paint, glow=1.7), (0.02, 1.36, 0)))
        pieces[-1] = replace(pieces[-1], furniture=True)
    return pieces


def flame_paint(points: Array, _normals: Array) -> Array:
    """A flame: dim at the wick, pale yellow in its heart, orange towards the tip."""
    share = np.clip(points[1] / 0.62, 0, 1)
    low = np.clip(1 - share / 0.3, 0, 1)
    heart, tip = light("#ffe3ae"), light("#ff9a3c")
    return single((heart * (1 - share**1.5) + tip * share**1.5) * (1 - 0.72 * low))


def apricot(spot: Triple, seed: int) -> Solid:
    """One apricot with its crease and its blush."""
    skin, blush = light("#e59a48"), light("#c4532f")

    def paint(points: Array, _normals: Array) -> Array:
        red = np.clip(noise(points, 0.4, seed) * 0.8 + points[2] * 1.3 - 0.1, 0, 0.8)
        fleck = 1 + 0.05 * noise(points, 0.05, seed + 2)
        return single((skin * (1 - red) + blush * red) * fleck)

    def relief(points: Array) -> Array:
        crease = np.exp(-((points[0] / 0.045) ** 2)) * np.clip(points[2] * 4 + 1, 0, 1)
        stalk = np.exp(-((points[0] ** 2 + points[2] ** 2) / 0.008)) * (points[1] > 0)
        return single(-0.03 * crease - 0.09 * stalk + 0.004 * noise(points, 0.12, seed))

    material = Material(tone=skin, paint=paint, relief=relief, gloss=0.03, rough=0.55, soft=0.25)
    return put(Egg(half=(0.43, 0.41, 0.43)), material, spot, yaw=seed * 67, pitch=28, roll=seed * 23 % 40 - 20)
