"""The stage: solids, backdrop, camera, and what a ray meets first."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from tools.sample_shapes import Array, Shape, Triple, single
from tools.sample_textures import Material

Index = npt.NDArray[np.int32]
MISS = np.float32(1e6)
BACKDROP = -1
STEPS = 90


def turn(yaw: float = 0, pitch: float = 0, roll: float = 0) -> Array:
    """World from local, degrees: roll around z, then pitch around x, then yaw around y."""
    y, p, r = np.radians([yaw, pitch, roll])
    around_y = np.array([[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]])
    around_x = np.array([[1, 0, 0], [0, np.cos(p), -np.sin(p)], [0, np.sin(p), np.cos(p)]])
    around_z = np.array([[np.cos(r), -np.sin(r), 0], [np.sin(r), np.cos(r), 0], [0, 0, 1]])
    return single(around_y @ around_x @ around_z)


def carried(matrix: Array, points: Array) -> Array:
    """Points (3, n) through a 3x3 matrix, summed in one order on every machine (a BLAS may choose another)."""
    x, y, z = points
    return np.stack([row[0] * x + row[1] * y + row[2] * z for row in matrix.astype(np.float32)])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solid:
    """A shape of some material, put somewhere."""

    shape: Shape
    material: Material
    at: Triple = (0, 0, 0)
    turned: Array = field(default_factory=turn)
    furniture: bool = False

    @property
    def middle(self) -> Array:
        """The middle of its bounding sphere in the world."""
        return single(self.turned @ np.asarray(self.shape.centre, np.float32) + np.asarray(self.at, np.float32))

    def local(self, points: Array) -> Array:
        """World points in the solid's own frame."""
        return carried(self.turned.T, points - np.asarray(self.at, np.float32)[:, None])

    def normals(self, points: Array, *, relief: bool) -> Array:
        """Outward directions in the world at points on the surface, with or without the relief."""
        local = self.local(points)
        bump = self.material.relief if relief else None
        step = np.float32(0.004 if bump else 0.006)
        total = np.zeros_like(local)
        for sign in ((1, -1, -1), (-1, -1, 1), (-1, 1, -1), (1, 1, 1)):
            way = np.asarray(sign, np.float32)[:, None]
            moved = local + way * step
            value = self.shape.distance(moved[0], moved[1], moved[2])
            total += way * (value - bump(moved) if bump else value)
        world = carried(self.turned, total)
        return single(world / np.maximum(np.linalg.norm(world, axis=0), 1e-9))


@dataclass(frozen=True, slots=True, kw_only=True)
class Camera:
    """A long lens: where it stands, what it looks at, how much it sees and how deep it is sharp."""

    eye: Triple
    target: Triple
    view: float = 26.0
    blur: float = 0.0
    focus: float | None = None

    def rays(self, x: Array, y: Array, size: tuple[int, int]) -> tuple[Array, Array]:
        """Origin (3, 1) and unit directions (3, n) through picture points."""
        eye, target = np.asarray(self.eye, np.float32), np.asarray(self.target, np.float32)
        ahead = (target - eye) / np.linalg.norm(target - eye)
        right = np.cross(ahead, [0, 1, 0] if abs(ahead[1]) < 0.999 else [0, 0, -1])
        right /= np.linalg.norm(right)
        above = np.cross(right, ahead)
        half = np.tan(np.radians(self.view / 2)) / (size[1] / 2)
        across, up = (x - size[0] / 2) * half, (size[1] / 2 - y) * half
        ways = ahead[:, None] + right[:, None] * across + above[:, None] * up
        return eye[:, None], (ways / np.linalg.norm(ways, axis=0)).astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Backdrop:
    """Paper that runs from the floor up the wall in one curve."""

    material: Material
    back: float = -6.0
    curve: float = 3.0
    floor: float = 0.0

    def meet(self, eye: Array, ways: Array) -> Array:
        """How far each ray goes until it meets the paper."""
        down, deep = ways[1], ways[2]
        turn_z = np.float32(self.back + self.curve)
        from_y, from_z = eye[1] - np.float32(self.floor), eye[2]
        with np.errstate(divide="ignore", invalid="ignore"):
            to_floor = np.where(down < -1e-6, -from_y / down, MISS)
            to_wall = np.where(deep < -1e-6, (np.float32(self.back) - from_z) / deep, MISS)
            rise, run = from_y - np.float32(self.curve), from_z - turn_z
            a, b = down**2 + deep**2, rise * down + run * deep
            under = np.maximum(b * b - a * (rise**2 + run**2 - np.float32(self.curve) ** 2), 0)
            to_curve = (np.sqrt(under) - b) / np.maximum(a, 1e-9)
        on_floor = from_z + to_floor * deep >= turn_z
        on_wall = from_y + to_wall * down >= self.curve
        return np.where(on_floor & (to_floor > 0), to_floor, np.where(on_wall, to_wall, to_curve)).astype(np.float32)

    def normals(self, points: Array) -> Array:
        """Directions away from the paper."""
        share = np.clip((self.back + self.curve - points[2]) / self.curve, 0, 1)
        share = np.where(points[1] - self.floor > self.curve, 1, share)
        return np.stack([np.zeros_like(share), np.sqrt(1 - share**2), share]).astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lamp:
    """A small light of its own in the picture: a flame, a bulb."""

    at: Triple
    colour: str
    power: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scene:
    """A still life with its light and camera."""

    solids: Sequence[Solid]
    camera: Camera
    backdrop: Backdrop
    key: Triple = (-6.5, 8.0, 5.0)
    key_size: float = 2.2
    key_power: float = 1.0
    fill: float = 0.42
    warmth: float = 0.0
    gobo: str | None = None
    lamps: Sequence[Lamp] = ()
    exposure: float = 1.0
    seed: int = 1


def follow(shape: Shape, origin: Array, way: Array, at: Array, last: Array) -> Array:
    """Walk along local rays from `at`, no farther than `last`: where each meets the surface, else MISS."""
    found = np.full(at.size, MISS, np.float32)
    alive = np.arange(at.size, dtype=np.int32)
    for step in range(STEPS):
        point = origin + way * at
        apart = shape.distance(point[0], point[1], point[2])
        # A ray that grazes a surface for long has met it, even if it never quite arrives.
        hit = apart < (0.0008 if step < STEPS - 1 else 0.012)
        going = ~hit & (at < last)
        still = int(np.count_nonzero(going))
        if still < 0.7 * going.size or step == STEPS - 1:
            found[alive[hit]] = at[hit]
            if not still:
                break
            alive, at, last, way, apart = alive[going], at[going], last[going], way[:, going], apart[going]
            origin = origin[:, going] if origin.shape[1] > 1 else origin
            at = at + np.maximum(apart * np.float32(0.95), np.float32(0.0006))
        else:
            at = at + np.maximum(apart * np.float32(0.95), np.float32(0.0006)) * going
    return found


def meet_solid(solid: Solid, eye: Array, ways: Array, best: Array, start: float) -> tuple[Index, Array]:
    """Which rays pass a solid nearer than `best`, and how far away they meet it (MISS when they don't)."""
    reach = np.float32(solid.shape.reach)
    to_middle = solid.middle[:, None] - eye
    nearest = (to_middle * ways).sum(0)
    miss = (to_middle**2).sum(0) - nearest**2
    half = np.sqrt(np.maximum(reach * reach - miss, 0))
    near = np.flatnonzero((miss < reach * reach) & (nearest + half > start) & (nearest - half < best)).astype(np.int32)
    if not near.size:
        return near, np.zeros(0, np.float32)
    at = np.maximum(nearest - half, start)[near].astype(np.float32)
    last = np.minimum(nearest + half, best)[near].astype(np.float32)
    origin = solid.local(eye[:, near] if eye.shape[1] > 1 else eye)
    return near, follow(solid.shape, origin, carried(solid.turned.T, ways[:, near]), at, last)


def meet(solids: Sequence[Solid], eye: Array, ways: Array, start: float = 0.0) -> tuple[Array, Index]:
    """The nearest solid on each ray: how far, and its number (BACKDROP when none)."""
    best = np.full(ways.shape[1], MISS, np.float32)
    number = np.full(ways.shape[1], BACKDROP, np.int32)
    for index, solid in enumerate(solids):
        which, apart = meet_solid(solid, eye, ways, best, start)
        nearer = apart < best[which]
        best[which[nearer]] = apart[nearer]
        number[which[nearer]] = index
    return best, number
