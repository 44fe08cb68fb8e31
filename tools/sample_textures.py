"""What surfaces look like close up: colour, relief and gloss."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tools.sample_shapes import Array, single

Paint = Callable[[Array, Array], Array]
Relief = Callable[[Array], Array]


def light(colour: str) -> Array:
    """A hex colour as linear light, shaped (3, 1)."""
    srgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], np.float32) / 255
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4).astype(np.float32)[:, None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Material:
    """How a surface answers to light."""

    tone: Array
    paint: Paint | None = None
    relief: Relief | None = None
    gloss: float = 0.0
    rough: float = 0.5
    metal: bool = False
    soft: float = 0.0
    glow: float = 0.0


def hashed(x: Array, y: Array, z: Array, seed: int) -> Array:
    """A number in [0, 1) for each cell of a lattice, always the same."""
    with np.errstate(over="ignore"):
        key = x.astype(np.int32).view(np.uint32) * np.uint32(0x9E3779B1)
        key ^= y.astype(np.int32).view(np.uint32) * np.uint32(0x85EBCA77)
        key ^= z.astype(np.int32).view(np.uint32) * np.uint32(0xC2B2AE3D)
        key ^= np.uint32(seed * 0x27D4EB2F & 0xFFFFFFFF)
        key ^= key >> np.uint32(15)
        key *= np.uint32(0x2C1B3C6D)
        key ^= key >> np.uint32(12)
        key *= np.uint32(0x297A2D39)
        key ^= key >> np.uint32(15)
    return single(key >> np.uint32(8)) * np.float32(1 / (1 << 24))


def noise(points: Array, scale: float | tuple[float, float, float], seed: int = 0) -> Array:
    """Smooth noise in [-1, 1] with about one bump a unit of `scale`."""
    stretch = np.broadcast_to(np.asarray(scale, np.float32), (3,))[:, None]
    at = points / stretch
    cell = np.floor(at)
    part = at - cell
    part = part * part * (3 - 2 * part)
    total = np.zeros(points.shape[1], np.float32)
    for corner in range(8):
        step = [corner & 1, corner >> 1 & 1, corner >> 2]
        weight = np.ones(points.shape[1], np.float32)
        for axis in range(3):
            weight *= part[axis] if step[axis] else 1 - part[axis]
        total += weight * hashed(cell[0] + step[0], cell[1] + step[1], cell[2] + step[2], seed)
    return total * 2 - 1


def specks(points: Array, cell: float, seed: int, share: float = 0.5) -> Array:
    """Round specks of different size: 1 inside, 0 outside, soft at the edge."""
    at = points / np.float32(cell)
    corner = np.floor(at)
    local = at - corner
    apart = np.zeros(points.shape[1], np.float32)
    for axis in range(3):
        place = 0.3 + 0.4 * hashed(corner[0], corner[1], corner[2], seed + axis)
        apart += (local[axis] - place) ** 2
    size = 0.06 + 0.24 * hashed(corner[0], corner[1], corner[2], seed + 5) ** 3
    there = hashed(corner[0], corner[1], corner[2], seed + 9) < share
    return single(np.clip((size - np.sqrt(apart)) / 0.06, 0, 1) * there)


def plain(colour: str, *, gloss: float = 0.0, rough: float = 0.5, soft: float = 0.0, glow: float = 0.0) -> Material:
    """One colour all over."""
    return Material(tone=light(colour), gloss=gloss, rough=rough, soft=soft, glow=glow)


def glaze(
    colour: str,
    *,
    speck: str = "#4a3a2c",
    amount: float = 0.4,
    seed: int = 1,
    rim: float | None = None,
    edge: str = "#b98a5e",
    bare: float | None = None,
    clay: str = "#b9977a",
    gloss: float = 0.05,
    rough: float = 0.2,
) -> Material:
    """Stoneware glaze: faint clouds, iron specks, a thin rim at height `rim`, raw clay under height `bare`."""
    base, dark, lip, raw = light(colour), light(speck), light(edge), light(clay)

    def paint(points: Array, _normals: Array) -> Array:
        clouds = 1 + 0.06 * noise(points, 0.5, seed) + 0.03 * noise(points, 0.17, seed + 1)
        dots = 0.75 * specks(points, 0.085, seed, amount) + 0.35 * specks(points, 0.04, seed + 20, amount)
        colour = base * clouds * (1 - dots) + dark * dots
        waver = points[1] + 0.025 * noise(points, 0.3, seed + 3)
        if rim is not None:
            worn = np.clip((waver - np.float32(rim)) / 0.05, 0, 1) * 0.75
            colour = colour * (1 - worn) + lip * worn
        if bare is not None:
            foot = np.clip((np.float32(bare) - waver) / 0.012, 0, 1)
            grit = raw * (1 + 0.12 * noise(points, 0.03, seed + 4))
            colour = colour * (1 - foot) + grit * foot
        return single(colour)

    def relief(points: Array) -> Array:
        rings = noise(points, (3.0, 0.09, 3.0), seed + 7)
        return single(0.0035 * rings + 0.003 * noise(points, 0.35, seed + 8))

    return Material(tone=base, paint=paint, relief=relief, gloss=gloss, rough=rough)


def ribbed(material: Material, count: int, depth: float) -> Material:
    """The same surface with upright flutes all around."""
    under = material.relief

    def relief(points: Array) -> Array:
        angle = np.arctan2(points[2], points[0])
        out = np.clip((np.hypot(points[0], points[2]) - 0.6) / 0.5, 0, 1) * np.clip((points[1] - 0.12) / 0.2, 0, 1)
        ridge = np.float32(depth) * np.abs(np.sin(angle * np.float32(count / 2))) * out
        return single(ridge + (under(points) if under else np.float32(0)))

    return Material(
        tone=material.tone,
        paint=material.paint,
        relief=relief,
        gloss=material.gloss,
        rough=material.rough,
        soft=material.soft,
    )


def wood(colour: str, dark: str, *, seed: int = 1, scale: float = 1.0, gloss: float = 0.03) -> Material:
    """Oiled wood with its grain along x."""
    pale, deep = light(colour), light(dark)

    def paint(points: Array, _normals: Array) -> Array:
        at = points / np.float32(scale)
        wave = 0.22 * noise(at, (2.6, 0.7, 0.7), seed) + 0.05 * noise(at, (0.9, 0.2, 0.2), seed + 1)
        rings = np.hypot(at[2] + 0.9 + wave, (at[1] - 1.7) * 0.8 + wave) * 5.5
        part = rings - np.floor(rings)
        late = np.where(part < 0.86, (part / 0.86) ** 2, ((1 - part) / 0.14)) * 0.34
        pores = np.clip(noise(at, (0.5, 0.016, 0.016), seed + 2) - 0.35, 0, 1) * 0.7
        share = np.clip(0.12 + late + pores + 0.12 * noise(at, (1.5, 0.12, 0.12), seed + 3), 0, 1)
        return single(pale * (1 - share) + deep * share)

    def relief(points: Array) -> Array:
        return single(0.0015 * noise(points, (0.5, 0.02, 0.02), seed + 2))

    return Material(tone=pale * 0.75 + deep * 0.25, paint=paint, relief=relief, gloss=gloss, rough=0.45)


def weave(
    colour: str,
    *,
    stripe: str | None = None,
    bands: tuple[tuple[float, float], ...] = (),
    pitch: float = 0.028,
    seed: int = 1,
) -> Material:
    """Woven linen: threads both ways, slubs, and stripes where z lies in one of `bands`."""
    base, second = light(colour), light(stripe or colour)

    def threads(points: Array) -> Array:
        along, across = points[0] + points[1], points[2]
        warp = np.sin(along * np.float32(2 * np.pi / pitch))
        weft = np.sin(across * np.float32(2 * np.pi / pitch))
        return single(warp * weft)

    def paint(points: Array, _normals: Array) -> Array:
        slub = noise(points, (0.9, 0.9, 0.03), seed) + noise(points, (0.03, 0.03, 0.9), seed + 1)
        shade = 1 + 0.055 * slub + 0.10 * threads(points)
        share = np.zeros(points.shape[1], np.float32)
        for start, end in bands:
            share += np.clip(np.minimum(points[2] - start, end - points[2]) / 0.012 + 0.5, 0, 1)
        return single((base * (1 - share) + second * share) * shade)

    def relief(points: Array) -> Array:
        return single(
            0.004 * threads(points) + 0.03 * noise(points, 0.55, seed + 4) + 0.012 * noise(points, 0.2, seed + 5)
        )

    return Material(tone=base, paint=paint, relief=relief, soft=0.25)


def brushed(colour: str, *, rough: float = 0.16, pitch: float = 0.02) -> Material:
    """Metal turned on a lathe: fine rings around y."""
    tone = light(colour)

    def relief(points: Array) -> Array:
        return single(0.00025 * noise(points, (4.0, pitch, 4.0), 3) + 0.0012 * noise(points, 0.8, 5))

    return Material(tone=tone, relief=relief, gloss=0.8, rough=rough, metal=True)


def plaster(colour: str, *, seed: int = 1, depth: float = 0.02) -> Material:
    """Painted paper or plaster with the faintest clouds."""
    base = light(colour)

    def paint(points: Array, _normals: Array) -> Array:
        clouds = noise(points, 2.3, seed) + 0.5 * noise(points, 0.7, seed + 1)
        return single(base * (1 + np.float32(depth) * clouds))

    return Material(tone=base, paint=paint)
