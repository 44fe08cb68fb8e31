"""Light: soft shadows and bounces over a coarse grid, cleaned and carried back to the full picture."""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFilter
from tools.sample_shapes import Array, single
from tools.sample_stage import Index, Scene
from tools.sample_textures import light

CELLS = 2_200_000
KEY_RAYS = 18
SKY_RAYS = 26
GOBO = 640


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spots:
    """Places to light: where they are, which way they face, and their pixels in a picture of some width."""

    points: Array
    normals: Array
    pixels: Index
    width: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grid:
    """The stage as cells: distance to the nearest solid and which solid it is."""

    apart: Array
    owner: Index
    low: Array
    high: Array
    cell: float

    def look(self, points: Array) -> tuple[Array, Index]:
        """Distance at points (3, n) and their flat cell numbers."""
        shape = self.apart.shape
        at = (points - self.low[:, None]) * np.float32(1 / self.cell)
        x = np.clip(at[0], 0, shape[0] - 1).astype(np.int32)
        y = np.clip(at[1], 0, shape[1] - 1).astype(np.int32)
        z = np.clip(at[2], 0, shape[2] - 1).astype(np.int32)
        index = (x * shape[1] + y) * shape[2] + z
        return self.apart.ravel()[index], index


def grid_of(scene: Scene) -> Grid:
    """Measure the stage, cell by cell, near each solid."""
    solids = [(n, s) for n, s in enumerate(scene.solids) if not s.furniture]
    low = np.min([s.middle - s.shape.reach for _, s in solids], axis=0) - 0.1
    high = np.max([s.middle + s.shape.reach for _, s in solids], axis=0) + 0.1
    low[1] = max(low[1], -0.1)
    cell = float((np.prod(high - low) / CELLS) ** (1 / 3))
    count = np.ceil((high - low) / cell).astype(int)
    axes = [(low[a] + (np.arange(count[a]) + 0.5) * cell).astype(np.float32) for a in range(3)]
    apart = np.full(count, 9.0, np.float32)
    owner = np.zeros(count, np.int32)
    for number, solid in solids:
        x, y, z = np.meshgrid(
            *(axis - np.float32(m) for axis, m in zip(axes, solid.middle, strict=True)), indexing="ij", sparse=True
        )
        bound = np.sqrt(x * x + y * y + z * z) - np.float32(solid.shape.reach)
        near = np.flatnonzero(bound.ravel() < 0.25)
        spot = np.unravel_index(near, bound.shape)
        local = solid.local(np.stack([axes[a][spot[a]] for a in range(3)]))
        value = np.maximum(bound, 0.2)
        value.ravel()[near] = solid.shape.distance(local[0], local[1], local[2])
        nearer = value < apart
        apart[nearer] = value[nearer]
        owner[nearer] = number
    return Grid(apart=apart, owner=owner, low=low.astype(np.float32), high=high.astype(np.float32), cell=cell)


def march(grid: Grid, start: Array, ways: Array, far: float = 30.0) -> tuple[Array, Index]:
    """Follow rays through the grid: a boolean hit for each, and the cell it hit."""
    hit = np.zeros(start.shape[1], bool)
    where = np.zeros(start.shape[1], np.int32)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = 1 / np.where(np.abs(ways) < 1e-6, np.float32(1e-6), ways)
    first, second = (grid.low[:, None] - start) * inverse, (grid.high[:, None] - start) * inverse
    enter = np.maximum(np.minimum(first, second).max(0), 0)
    leave = np.minimum(np.maximum(first, second).min(0), far)
    alive = np.flatnonzero(enter < leave).astype(np.int32)
    at, last, origin, way = enter[alive], leave[alive], start[:, alive], ways[:, alive]
    least = np.float32(grid.cell * 0.7)
    for _ in range(40):
        if not alive.size:
            break
        apart, index = grid.look(origin + way * at)
        # A ray that has just left a wall must not meet the wall's own thickened edge.
        inside = apart < grid.cell * (np.minimum(at * np.float32(0.16 / grid.cell), 0.8) - 0.3)
        hit[alive[inside]] = True
        where[alive[inside]] = index[inside]
        at = at + np.maximum(apart - np.float32(grid.cell * 0.3), least)
        keep = ~inside & (at < last)
        alive, at, last, origin, way = alive[keep], at[keep], last[keep], origin[:, keep], way[:, keep]
    return hit, where


def scatter(count: int, number: int, spots: Spots) -> tuple[Array, Array]:
    """The `number`-th of `count` well spread pairs in [0, 1), shifted from pixel to pixel in a 4x4 tile."""
    tile = ((spots.pixels % spots.width) % 4 + 4 * ((spots.pixels // spots.width) % 4)).astype(np.float32)
    order = (tile * 7 % 16 + 0.5) / 16
    first = (number + order) / count
    second = (number * 0.6180339887 + tile * 0.3819660113 * 1.37) % 1
    return first.astype(np.float32), second.astype(np.float32)


def frame(ways: Array) -> tuple[Array, Array]:
    """Two directions across each unit direction."""
    sign = np.where(ways[2] < 0, -1, 1).astype(np.float32)
    a = -1 / (sign + ways[2])
    b = ways[0] * ways[1] * a
    across = np.stack([1 + sign * ways[0] ** 2 * a, sign * b, -sign * ways[0]])
    along = np.stack([b, sign + ways[1] ** 2 * a, -ways[1]])
    return across.astype(np.float32), along.astype(np.float32)


def key_points(scene: Scene, first: Array, second: Array) -> Array:
    """Points on the soft box for pairs in [0, 1)."""
    ahead = np.asarray(scene.key, np.float32)[:, None]
    across, along = frame(ahead / np.linalg.norm(ahead))
    return single(ahead + scene.key_size * ((first * 2 - 1) * across + (second * 2 - 1) * along))


def unit(vectors: Array) -> Array:
    """Vectors of length one."""
    return single(vectors / np.maximum(np.linalg.norm(vectors, axis=0), 1e-9))


def sky(scene: Scene, ways: Array) -> Array:
    """Light that comes from a direction when nothing is in the way: room, wall, lit floor."""
    up = ways[1]
    cool = np.array([[0.97], [1.0], [1.04]], np.float32)
    room = scene.fill * (0.75 + 0.45 * np.clip(up, 0, 1)) * cool
    paper = scene.backdrop.material.tone
    floor = paper * np.float32(scene.key_power * 0.62 + scene.fill * 0.3)
    wall = paper * np.float32(scene.key_power * 0.38 + scene.fill * 0.4)
    to_wall = np.clip(-ways[2] * 1.6 - 0.2, 0, 1) * np.clip(1 - up * 0.8, 0, 1)
    to_floor = np.clip(-up * 6 + 0.3, 0, 1)
    upper = room * (1 - to_wall) + wall * to_wall
    return single(upper * (1 - to_floor) + floor * to_floor)


def seen_key(scene: Scene, grid: Grid, spots: Spots) -> Array:
    """The share of the soft box that each point sees, weighed by its slant."""
    points, normals = spots.points, spots.normals
    total = np.zeros(points.shape[1], np.float32)
    weight = np.full(points.shape[1], 1e-4, np.float32)
    start = points + normals * np.float32(grid.cell * 1.6)
    for number in range(KEY_RAYS):
        ways = unit(key_points(scene, *scatter(KEY_RAYS, number, spots)) - points)
        slant = np.clip((ways * normals).sum(0) + 0.15, 0.02, 1)
        hit, _ = march(grid, start, ways)
        total += np.where(hit, 0, slant)
        weight += slant
    return single(total / weight)


def gathered(scene: Scene, grid: Grid, spots: Spots) -> Array:
    """Light from everywhere but the soft box, with one bounce off the solids."""
    points, normals = spots.points, spots.normals
    tones = np.stack([s.material.tone[:, 0] * (s.material.glow or 1) for s in scene.solids], axis=1)
    own = np.array([bool(s.material.glow) for s in scene.solids])
    total = np.zeros_like(points)
    start = points + normals * np.float32(grid.cell * 1.3)
    across, along = frame(normals)
    owners = grid.owner.ravel()
    for number in range(SKY_RAYS):
        first, second = scatter(SKY_RAYS, number, spots)
        angle, out = second * np.float32(2 * np.pi), np.sqrt(first)
        ways = across * (np.cos(angle) * out) + along * (np.sin(angle) * out) + normals * np.sqrt(1 - first)
        hit, cell = march(grid, start, ways.astype(np.float32))
        bounced = np.float32(scene.key_power * 0.36 + scene.fill * 0.35)
        owner = owners[cell]
        lit = tones[:, owner] * np.where(own[owner], 1, bounced)
        # Paper close under a solid lies in its shadow and gives back less.
        reach = np.clip((points[1] - scene.backdrop.floor) / np.maximum(-ways[1], 0.05) / 1.4, 0, 1)
        share = np.where(ways[1] < 0, 0.35 + 0.65 * reach, 1)
        total += np.where(hit, lit, sky(scene, ways) * share)
    return single(total / SKY_RAYS)


def from_lamps(scene: Scene, grid: Grid, spots: Spots) -> Array:
    """Light from the lamps in the picture."""
    points, normals = spots.points, spots.normals
    total = np.zeros_like(points)
    start = points + normals * np.float32(grid.cell * 1.6)
    for lamp in scene.lamps:
        seen = np.zeros(points.shape[1], np.float32)
        for number in range(8):
            first, second = scatter(8, number, spots)
            jitter = np.stack([np.cos(second * 6.283) * 0.1, (first - 0.5) * 0.3, np.sin(second * 6.283) * 0.1])
            way = np.asarray(lamp.at, np.float32)[:, None] + jitter.astype(np.float32) - points
            apart = np.linalg.norm(way, axis=0)
            hit, _ = march(grid, start, unit(way), far=float(apart.max()))
            slant = np.clip((way * normals).sum(0) / apart, 0, 1)
            seen += np.where(hit, 0, slant / (0.35 + apart**2))
        total += light(lamp.colour) * (seen * np.float32(lamp.power / 8))
    return total


def clean(values: Array, normals: Array, points: Array, owner: Index, shape: tuple[int, int]) -> Array:
    """Smooth noisy light (channels, n) without crossing edges of form or strong shadow edges."""
    height, width = shape
    guide = np.concatenate([normals, points]).reshape(6, height, width)
    flat_owner = owner.reshape(shape)
    image = values.reshape(-1, height, width)
    for level, limit in ((1, 9.0), (2, 0.5), (4, 0.15)):
        total, weight = np.zeros_like(image), np.full(shape, 1e-6, np.float32)
        edge = np.pad(image, ((0, 0), (2 * level,) * 2, (2 * level,) * 2), mode="edge")
        wide = np.pad(guide, ((0, 0), (2 * level,) * 2, (2 * level,) * 2), mode="edge")
        near = np.pad(flat_owner, ((2 * level,) * 2, (2 * level,) * 2), mode="edge")
        for dy in range(5):
            for dx in range(5):
                window = (slice(dy * level, dy * level + height), slice(dx * level, dx * level + width))
                other = wide[(slice(None), *window)]
                apart = np.abs((other[3:] - guide[3:]) * guide[:3]).sum(0)
                alike = np.clip((other[:3] * guide[:3]).sum(0), 0, 1) ** 16
                value = edge[(slice(None), *window)]
                change = np.abs(value - image).max(0)
                share = alike * np.exp(-apart * 12 - change / limit) * (near[window] == flat_owner)
                share *= np.float32((1, 4, 6, 4, 1)[dy] * (1, 4, 6, 4, 1)[dx])
                total += value * share
                weight += share
        image = total / weight
    return single(image.reshape(values.shape))


def draw_window(draw: ImageDraw.ImageDraw) -> None:
    """Six panes in a dark wall."""
    draw.rectangle((0, 0, GOBO, GOBO), fill=0)
    for column in range(2):
        for row in range(3):
            left, top = 190 + column * 140, 60 + row * 180
            draw.rectangle((left, top, left + 120, top + 165), fill=255)


def draw_twig(draw: ImageDraw.ImageDraw, dice: np.random.Generator) -> None:
    """A twig with pointed leaves on both sides."""
    x, y, angle = dice.uniform(0, GOBO), dice.uniform(0, GOBO), dice.uniform(0.5, 1.3)
    for step in range(14):
        spot = np.array([x + step * 17 * np.cos(angle), y + step * 17 * np.sin(angle)])
        for side in (-1, 1):
            leaf = angle + side * dice.uniform(0.6, 1.0)
            along, across = np.array([np.cos(leaf), np.sin(leaf)]), np.array([np.sin(leaf), -np.cos(leaf)])
            tip = spot + along * 46 * (1 - step / 22)
            sides = [(spot + tip) / 2 + s * 8 * across for s in (1, -1)]
            draw.polygon([(float(u), float(v)) for u, v in (spot, sides[0], tip, sides[1])], fill=0)


def gobo_mask(kind: str, seed: int) -> Array:
    """What stands between the window and the stage, "leaves" or "window"; 1 lets all light through."""
    picture = Image.new("L", (GOBO, GOBO), 255)
    draw = ImageDraw.Draw(picture)
    dice = np.random.default_rng(seed)
    if kind == "window":
        draw_window(draw)
    else:
        for _ in range(9):
            draw_twig(draw, dice)
    soft = picture.filter(ImageFilter.GaussianBlur(11 if kind == "window" else 7))
    return single(np.asarray(soft, np.float32) / 255)


def through_gobo(scene: Scene, mask: Array | None, points: Array) -> Array:
    """How much of the key light passes the gobo on its way to each point."""
    if mask is None:
        return np.ones(points.shape[1], np.float32)
    across, along = frame(unit(np.asarray(scene.key, np.float32)[:, None]))
    scale = mask.shape[0] / 9
    u = np.clip((points * across).sum(0) * scale + mask.shape[0] / 2, 0, mask.shape[0] - 1).astype(np.int32)
    v = np.clip((points * along).sum(0) * scale + mask.shape[0] / 2, 0, mask.shape[0] - 1).astype(np.int32)
    depth = 0.75 if scene.gobo == "window" else 0.5
    return single(1 - depth + depth * mask[v, u])
