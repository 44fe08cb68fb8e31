"""From a scene to a photo: trace, light, shade, then lens, film and JPEG."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image
from tools import sample_light as lighting
from tools.sample_shapes import Array, single
from tools.sample_stage import BACKDROP, Index, Scene, meet

COARSE = 4
CHUNK = 120_000
LOOKS = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lightmap:
    """Cleaned light at every fourth pixel, and the forms it lies on."""

    light: Array
    normals: Array
    points: Array
    owner: Index
    width: int
    height: int

    def at(self, x: Array, y: Array, points: Array, normals: Array, owner: Index) -> Array:
        """Light (channels, n) at picture points, taken from the alike among the four neighbours."""
        column, row = x / COARSE - 0.5, y / COARSE - 0.5
        left = np.clip(np.floor(column), 0, self.width - 2).astype(np.int32)
        top = np.clip(np.floor(row), 0, self.height - 2).astype(np.int32)
        part_x, part_y = np.clip(column - left, 0, 1), np.clip(row - top, 0, 1)
        total = np.zeros((self.light.shape[0], x.size), np.float32)
        weight = np.zeros(x.size, np.float32)
        for step_y in (0, 1):
            for step_x in (0, 1):
                index = (top + step_y) * self.width + left + step_x
                share = (part_x if step_x else 1 - part_x) * (part_y if step_y else 1 - part_y) + 0.002
                alike = np.clip((self.normals[:, index] * normals).sum(0), 0.02, 1) ** 6
                apart = np.abs(((self.points[:, index] - points) * normals).sum(0))
                share = share * alike * np.exp(-apart * 10) * np.where(self.owner[index] == owner, 1, 1e-3) + 1e-9
                total += self.light[:, index] * share
                weight += share
        return total / weight


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hits:
    """What the camera sees through each picture point."""

    ways: Array
    apart: Array
    owner: Index
    points: Array
    normals: Array
    fine: Array


def see(scene: Scene, x: Array, y: Array, size: tuple[int, int]) -> Hits:
    """Trace picture points to the first surface, with plain and with relief normals."""
    eye, ways = scene.camera.rays(x, y, size)
    apart, owner = meet(scene.solids, eye, ways)
    paper = scene.backdrop.meet(eye, ways)
    owner = np.where(paper < apart, BACKDROP, owner).astype(np.int32)
    apart = np.minimum(paper, apart)
    points = (eye + ways * apart).astype(np.float32)
    normals = scene.backdrop.normals(points)
    fine = normals.copy()
    for number in np.unique(owner[owner != BACKDROP]):
        mine = np.flatnonzero(owner == number)
        solid = scene.solids[number]
        normals[:, mine] = solid.normals(points[:, mine], relief=False)
        fine[:, mine] = solid.normals(points[:, mine], relief=True) if solid.material.relief else normals[:, mine]
    return Hits(ways=ways, apart=apart, owner=owner, points=points, normals=normals, fine=fine)


def seen_everywhere(scene: Scene, size: tuple[int, int]) -> Hits:
    """Trace the middle of every pixel, in pieces that fit the cache."""
    parts = []
    for start in range(0, size[0] * size[1], CHUNK):
        pixels = np.arange(start, min(start + CHUNK, size[0] * size[1]), dtype=np.int32)
        parts.append(
            see(scene, (pixels % size[0] + 0.5).astype(np.float32), (pixels // size[0] + 0.5).astype(np.float32), size)
        )
    names = ("ways", "apart", "owner", "points", "normals", "fine")
    joined = {name: np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in names}
    return Hits(**joined)


def lightmap(scene: Scene, size: tuple[int, int]) -> Lightmap:
    """Light the stage coarsely and clean it."""
    width, height = size[0] // COARSE, size[1] // COARSE
    pixels = np.arange(width * height, dtype=np.int32)
    x, y = (pixels % width + 0.5) * COARSE, (pixels // width + 0.5) * COARSE
    hits = see(scene, x.astype(np.float32), y.astype(np.float32), size)
    grid = lighting.grid_of(scene)
    facing = np.where((hits.ways * hits.normals).sum(0) > 0, -1, 1).astype(np.float32)
    spots = lighting.Spots(points=hits.points, normals=hits.normals * facing, pixels=pixels, width=width)
    key = lighting.seen_key(scene, grid, spots)
    soft = lighting.gathered(scene, grid, spots)
    if scene.lamps:
        soft += lighting.from_lamps(scene, grid, spots)
    noisy = np.concatenate([key[None], soft]).astype(np.float32)
    cleaned = lighting.clean(noisy, hits.normals, hits.points, hits.owner, (height, width))
    return Lightmap(
        light=cleaned, normals=hits.normals, points=hits.points, owner=hits.owner, width=width, height=height
    )


def key_slant(scene: Scene, points: Array, normals: Array, soft: float) -> Array:
    """Light from the unhidden soft box, softer where light goes into the material."""
    total = np.zeros(points.shape[1], np.float32)
    for first, second in ((0.2, 0.2), (0.8, 0.2), (0.5, 0.5), (0.2, 0.8), (0.8, 0.8)):
        spot = lighting.key_points(scene, single([first]), single([second]))
        way = spot - points
        apart = np.linalg.norm(way, axis=0)
        slant = (way * normals).sum(0) / apart
        fall = (np.linalg.norm(scene.key) / apart) ** 1.3
        total += np.clip((slant + soft) / (1 + soft), 0, 1) * fall
    return single(total / 5)


def cards(scene: Scene, azimuth: Array, up: Array, rough: float) -> Array:
    """Two tall white cards beside the camera, which give glossy things their long soft lights."""
    blur = np.float32(0.06 + rough * 0.9)
    tall = np.clip((up + 0.75) * 3, 0, 1) * np.clip((0.85 - up) * 4, 0, 1)
    total = np.zeros_like(up)
    for middle, half, power in ((-1.0, 0.34, 1.5), (1.35, 0.16, 0.8)):
        edge = np.clip((half + blur - np.abs(azimuth - np.float32(middle))) / (2 * blur), 0, 1)
        total += edge * edge * (3 - 2 * edge) * np.float32(power * scene.key_power)
    return single(total * tall)


def mirrored(scene: Scene, points: Array, ways: Array, rough: float) -> Array:
    """What a glossy surface shows in a direction: the soft box, a strip light, the room, the paper."""
    raised = lighting.unit(ways + np.array([[0], [0.32], [0]], np.float32))
    azimuth = np.arctan2(ways[0], ways[2])
    total = lighting.sky(scene, raised) * (0.55 + 0.45 * np.cos(azimuth * 2 + 0.9)) + cards(
        scene, azimuth, ways[1], rough
    )
    blur = np.float32(0.08 + rough * 1.3)
    lights = ((scene.key, scene.key_size, 7.0 * scene.key_power), ((7.5, 4.5, 1.0), 1.6, 1.6))
    for place, half, power in lights:
        middle = np.asarray(place, np.float32)[:, None]
        ahead = middle / np.linalg.norm(middle)
        across, along = lighting.frame(ahead)
        toward = (ways * ahead).sum(0)
        length = ((middle - points) * ahead).sum(0) / np.maximum(toward, 1e-3)
        spot = points + ways * length - middle
        u, v = np.abs((spot * across).sum(0)) / half, np.abs((spot * along).sum(0)) / half
        edge = np.clip((1 + blur - u) / (2 * blur), 0, 1) * np.clip((1 + blur - v) / (2 * blur), 0, 1)
        shine = edge * edge * (3 - 2 * edge) * (toward > 0) * np.float32(power / (1 + 9 * rough * rough * 4))
        total = total + shine
    return single(total)


def reflect(scene: Scene, hits: Hits, mine: Index, light: Array) -> Array:
    """The mirror part of a glossy solid's look."""
    solid = scene.solids[hits.owner[mine[0]]]
    normals, ways, points = hits.fine[:, mine], hits.ways[:, mine], hits.points[:, mine]
    slant = np.clip(-(ways * normals).sum(0), 0, 1)
    bounce = lighting.unit(ways + 2 * slant * normals)
    shown = mirrored(scene, points, bounce, solid.material.rough)
    if solid.material.rough < 0.4:
        others = [s for s in scene.solids if not s.furniture]
        _, other = meet(others, points + normals * np.float32(0.025), bounce, 0.06)
        tones = np.stack([0.6 * s.material.tone[:, 0] + 0.4 * s.material.tone.mean() for s in others], axis=1)
        level = np.float32(0.6 * scene.key_power + 0.3 * scene.fill)
        shown = np.where(other != BACKDROP, tones[:, np.maximum(other, 0)] * level, shown)
    ambient = np.clip(light[1:].mean(0) / max(scene.fill, 0.05), 0.15, 1)
    strength = solid.material.gloss + (1 - solid.material.gloss) * (1 - slant) ** 5 * (1 - 0.75 * solid.material.rough)
    tint = solid.material.tone if solid.material.metal else np.float32(1)
    return single(shown * tint * strength * ambient)


def shade(scene: Scene, hits: Hits, light: Array, gobo: Array | None) -> Array:
    """The colour of every hit in linear light."""
    colour = np.zeros_like(hits.points)
    passed = lighting.through_gobo(scene, gobo, hits.points)
    warm = np.array([[1 + 0.06 * scene.warmth], [1.0], [1 - 0.10 * scene.warmth]], np.float32)
    for number in np.unique(hits.owner):
        mine = np.flatnonzero(hits.owner == number).astype(np.int32)
        solid = None if number == BACKDROP else scene.solids[number]
        material = solid.material if solid else scene.backdrop.material
        points = hits.points[:, mine]
        slant = key_slant(scene, points, hits.fine[:, mine], material.soft)
        seen = light[0, mine] * (1 - material.soft * 0.4) + material.soft * 0.4
        lit = warm * (slant * seen * passed[mine] * np.float32(scene.key_power)) + light[1:, mine]
        local = solid.local(points) if solid else points
        base = material.paint(local, hits.fine[:, mine]) if material.paint else material.tone
        look = base * lit * np.float32(0.05 if material.metal else 1)
        if material.gloss and solid:
            look = look + reflect(scene, hits, mine, light[:, mine])
        colour[:, mine] = look + base * np.float32(material.glow)
    return colour


def edges(hits: Hits, size: tuple[int, int]) -> Index:
    """Pixels where form changes: the ones that need more than one look."""
    owner = hits.owner.reshape(size[1], size[0])
    normals = hits.fine.reshape(3, size[1], size[0])
    apart = hits.apart.reshape(size[1], size[0])
    rough = np.zeros(owner.shape, bool)
    for axis in (0, 1):
        ahead = (slice(1, None), slice(None)) if axis == 0 else (slice(None), slice(1, None))
        behind = (slice(None, -1), slice(None)) if axis == 0 else (slice(None), slice(None, -1))
        change = owner[ahead] != owner[behind]
        change |= (normals[(slice(None), *ahead)] * normals[(slice(None), *behind)]).sum(0) < 0.82
        change |= np.abs(apart[ahead] - apart[behind]) > 0.06
        rough[ahead] |= change
        rough[behind] |= change
    return np.flatnonzero(rough.ravel()).astype(np.int32)


def part_of(hits: Hits, mine: Index) -> Hits:
    """The hits of some pixels."""
    return Hits(
        ways=hits.ways[:, mine], apart=hits.apart[mine], owner=hits.owner[mine],
        points=hits.points[:, mine], normals=hits.normals[:, mine], fine=hits.fine[:, mine],
    )  # fmt: skip


def open_paper(hits: Hits, size: tuple[int, int]) -> npt.NDArray[np.bool_]:
    """Pixels of paper with nothing but paper around them, shaped (height, width)."""
    paper = (hits.owner == BACKDROP).reshape(size[1], size[0])
    around = np.zeros_like(paper)
    around[2:-2, 2:-2] = True
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            around[2:-2, 2:-2] &= paper[2 + dy : size[1] - 2 + dy, 2 + dx : size[0] - 2 + dx]
    return np.asarray(around, bool)


def between(colour: Array, smooth: npt.NDArray[np.bool_]) -> Array:
    """A picture (3, height, width) whose `smooth` pixels are filled from their neighbours at even places."""
    filled = colour.copy()
    filled[:, ::2, 1:-1:2] = (colour[:, ::2, :-2:2] + colour[:, ::2, 2::2]) / 2
    filled[:, 1:-1:2] = (filled[:, :-2:2] + filled[:, 2::2]) / 2
    smooth = smooth.copy()
    smooth[::2, ::2] = False
    return np.where(smooth, filled, colour).astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exposure:
    """A scene with its light worked out, ready to be looked at point by point."""

    scene: Scene
    coarse: Lightmap
    gobo: Array | None
    size: tuple[int, int]

    def look(self, x: Array, y: Array, hits: Hits) -> Array:
        """The colour at picture points, highlights held so that edges stay smooth."""
        light = self.coarse.at(x, y, hits.points, hits.normals, hits.owner)
        return np.minimum(shade(self.scene, hits, light, self.gobo), 1.6)

    def middles(self, hits: Hits) -> Array:
        """Every pixel looked at once, open paper only at every second place."""
        smooth = open_paper(hits, self.size)
        needed = ~smooth
        needed[::2, ::2] = True
        pixels = np.flatnonzero(needed).astype(np.int32)
        colour = np.zeros((3, hits.owner.size), np.float32)
        for start in range(0, pixels.size, CHUNK):
            mine = pixels[start : start + CHUNK]
            x, y = mine % self.size[0] + 0.5, mine // self.size[0] + 0.5
            colour[:, mine] = self.look(x.astype(np.float32), y.astype(np.float32), part_of(hits, mine))
        return between(colour.reshape(3, self.size[1], self.size[0]), smooth).reshape(3, -1)

    def several(self, mine: Index) -> Array:
        """Pixels looked at LOOKS times and averaged."""
        total = np.zeros((3, mine.size), np.float32)
        for step in range(LOOKS):
            x = (mine % self.size[0] + (step * 3 % LOOKS + 0.5) / LOOKS).astype(np.float32)
            y = (mine // self.size[0] + (step + 0.5) / LOOKS).astype(np.float32)
            total += self.look(x, y, see(self.scene, x, y, self.size))
        return single(total / LOOKS)


def exposed(scene: Scene, size: tuple[int, int]) -> tuple[Array, Array]:
    """Linear light (3, n) and distance (n) of every pixel, edges looked at several times."""
    gobo = lighting.gobo_mask(scene.gobo, scene.seed) if scene.gobo else None
    exposure = Exposure(scene=scene, coarse=lightmap(scene, size), gobo=gobo, size=size)
    hits = seen_everywhere(scene, size)
    colour = exposure.middles(hits)
    rough = edges(hits, size)
    for start in range(0, rough.size, CHUNK):
        mine = rough[start : start + CHUNK]
        colour[:, mine] = exposure.several(mine)
    return colour, hits.apart


def blurred(image: Array, radius: float) -> Array:
    """A (channels, height, width) image through three box blurs, near enough a Gaussian."""
    size = max(1, int(radius))
    for _ in range(3):
        for axis in (1, 2):
            pad = [(0, 0), (0, 0), (0, 0)]
            pad[axis] = (size + 1, size)
            run = np.cumsum(np.pad(image, pad, mode="edge"), axis=axis, dtype=np.float64)
            count = image.shape[axis]
            ahead, behind = [slice(None)] * 3, [slice(None)] * 3
            ahead[axis], behind[axis] = slice(2 * size + 1, 2 * size + 1 + count), slice(0, count)
            image = ((run[tuple(ahead)] - run[tuple(behind)]) / (2 * size + 1)).astype(np.float32)
    return image


def through_lens(scene: Scene, image: Array, apart: Array) -> Array:
    """Blur what is out of focus, without smearing sharp things over it."""
    if not scene.camera.blur:
        return image
    eye, target = np.asarray(scene.camera.eye), np.asarray(scene.camera.target)
    focus = scene.camera.focus or float(np.linalg.norm(target - eye))
    circle = np.abs(apart - focus) / apart * np.float32(scene.camera.blur)
    for radius in (2, 4, 8):
        loose = np.clip(circle / radius, 0, 1)[None]
        spread = blurred(np.concatenate([image * loose, loose]), radius)
        share = np.clip(circle / radius - 0.5, 0, 1)[None]
        image = image * (1 - share) + share * spread[:3] / np.maximum(spread[3:], 1e-4)
    return image


def on_film(image: Array, seed: int, exposure: float) -> Image.Image:
    """Exposure, bloom, a soft shoulder, vignette, the finest grain, sRGB."""
    height, width = image.shape[1:]
    image = image * np.float32(0.87 * exposure)
    small = image[:, ::4, ::4]
    haze = blurred(np.clip(small - 0.85, 0, 1), 14)
    glow = np.array([0.6, 0.36, 0.15], np.float32)[:, None, None]
    image = image + np.repeat(np.repeat(haze, 4, 1), 4, 2)[:, :height, :width] * glow
    grey = image.mean(0, keepdims=True)
    image = grey + (image - grey) * np.float32(0.93)
    knee = np.float32(0.62)
    over = np.maximum(image - knee, 0)
    image = np.minimum(image, knee) + (1 - knee) * (1 - np.exp(-over / (1 - knee)))
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j].astype(np.float32)
    image = image * (1 - 0.07 * np.clip((x * x + y * y) / 2, 0, 1) ** 1.5)
    srgb = np.where(image <= 0.0031308, image * 12.92, 1.055 * np.maximum(image, 1e-6) ** (1 / 2.4) - 0.055)
    srgb = srgb + np.float32(0.16) * (srgb * srgb * (3 - 2 * np.minimum(srgb, 1)) - srgb)
    grain = np.random.default_rng(seed).normal(0, 0.0032, (height, width)).astype(np.float32)
    return Image.fromarray((np.clip(srgb + grain, 0, 1) * 255 + 0.5).astype(np.uint8).transpose(1, 2, 0))


def photograph(scene: Scene, size: tuple[int, int]) -> Image.Image:
    """The finished photo of a scene."""
    colour, apart = exposed(scene, size)
    image = colour.reshape(3, size[1], size[0])
    return on_film(through_lens(scene, image, apart.reshape(size[1], size[0])), scene.seed, scene.exposure)
