"""Signed distances of the solids in our still lifes: turned, bent, extruded and boxed."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]
Points = Sequence[tuple[float, float]]
Triple = tuple[float, float, float]


def single(values: npt.ArrayLike) -> Array:
    """Values as an array of single precision."""
    return np.asarray(values, dtype=np.float32)


class Shape(Protocol):
    """Anything with a signed distance in its own frame and a sphere around it."""

    @property
    def centre(self) -> Triple:
        """The middle of the bounding sphere."""
        ...

    @property
    def reach(self) -> float:
        """The radius of the bounding sphere."""
        ...

    def distance(self, x: Array, y: Array, z: Array) -> Array:
        """Distance to the surface, negative inside."""
        ...


def smooth(points: Points, steps: int = 12) -> npt.NDArray[np.float64]:
    """A Catmull-Rom curve through `points`, `steps` samples a span."""
    knots = np.asarray([points[0], *points, points[-1]], float)
    at = np.linspace(0, 1, steps, endpoint=False)[:, None]
    spans = []
    for a, b, c, d in zip(knots, knots[1:], knots[2:], knots[3:], strict=False):
        cubic = (2 * b) + (c - a) * at + (2 * a - 5 * b + 4 * c - d) * at**2 + (3 * b - a - 3 * c + d) * at**3
        spans.append(cubic / 2)
    return np.vstack([*spans, knots[-1:]])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Field:
    """A table over a rectangle, read between its cells."""

    values: Array
    left: float
    bottom: float
    cell: float

    def at(self, u: Array, v: Array) -> Array:
        """The value at (u, v); outside, the value at the border."""
        rows, columns = self.values.shape
        column = np.clip((u - self.left) / self.cell, 0, columns - 1.001).astype(np.float32)
        row = np.clip((v - self.bottom) / self.cell, 0, rows - 1.001).astype(np.float32)
        corner_column, corner_row = column.astype(np.int32), row.astype(np.int32)
        column -= corner_column
        row -= corner_row
        index = corner_row * columns + corner_column
        flat = self.values.ravel()
        low = flat[index] * (1 - column) + flat[index + 1] * column
        high = flat[index + columns] * (1 - column) + flat[index + columns + 1] * column
        return single(low * (1 - row) + high * row)


def grid_over(left: float, bottom: float, width: float, height: float, cells: int) -> tuple[Array, Array, float]:
    """Coordinates of a table of about `cells` squared over the rectangle, and the cell size."""
    cell = max(width, height) / cells
    v, u = np.mgrid[0 : int(height / cell) + 2, 0 : int(width / cell) + 2].astype(np.float32)
    return u * np.float32(cell) + np.float32(left), v * np.float32(cell) + np.float32(bottom), cell


def to_segments(u: Array, v: Array, line: npt.NDArray[np.float64]) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """Distance to a line, how far along the nearest point is (in points), and even-odd inside."""
    best = np.full(u.shape, 1e9, np.float32)
    along = np.zeros(u.shape, np.float32)
    inside = np.zeros(u.shape, bool)
    for number, ((x0, y0), (x1, y1)) in enumerate(pairwise(line)):
        dx, dy = x1 - x0, y1 - y0
        share = np.clip(((u - x0) * dx + (v - y0) * dy) / max(dx * dx + dy * dy, 1e-12), 0, 1)
        apart = (u - x0 - share * dx) ** 2 + (v - y0 - share * dy) ** 2
        nearer = apart < best
        best = np.where(nearer, apart, best).astype(np.float32)
        along = np.where(nearer, number + share, along).astype(np.float32)
        if y0 != y1:
            inside ^= ((y0 > v) != (y1 > v)) & (u < (v - y0) / dy * dx + x0)
    return np.sqrt(best), along, inside


def signed(u: Array, v: Array, outline: npt.NDArray[np.float64]) -> Array:
    """Signed distance to a closed outline."""
    apart, _, inside = to_segments(u, v, np.vstack([outline, outline[:1]]))
    return np.where(inside, -apart, apart).astype(np.float32)


def soft_max(a: Array, b: Array, blend: float) -> Array:
    """The larger of two distances with a rounded corner."""
    mix = np.maximum(blend - np.abs(a - b), 0) / blend
    return single(np.maximum(a, b) + mix * mix * np.float32(blend / 4))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Turned:
    """A solid of revolution around y, from a table of its half section."""

    section: Field
    centre: Triple
    reach: float

    def distance(self, x: Array, y: Array, z: Array) -> Array:
        """Distance to the turned surface."""
        return self.section.at(np.sqrt(x * x + z * z), y)


def turned(
    profile: Points, *, wall: float | None = None, floor: float = 0.0, curve: bool = True, soft: float = 0.015
) -> Turned:
    """Turn a profile (radius, height) from foot to top; with `wall` it is a vessel, hollow down to `floor`."""
    line = smooth(profile) if curve else np.asarray(profile, float)
    line[:, 0] = np.maximum(line[:, 0], 0)
    low, high, widest = line[:, 1].min(), line[:, 1].max(), line[:, 0].max()
    middle, reach = (low + high) / 2, float(np.hypot(widest, (high - low) / 2) * 1.04 + soft)
    u, v, cell = grid_over(0, middle - reach, reach, 2 * reach, 420)
    # The axis is not a surface, so the outline goes far beyond it.
    solid = signed(u, v, np.vstack([[-4, low], line, [-4, high]])) - np.float32(soft)
    if wall is not None:
        above = high + 4
        cavity = signed(u, v, np.vstack([[-4, low], line, [line[-1, 0], above], [-4, above]])) - np.float32(soft)
        hollow = (
            soft_max(cavity + np.float32(wall), np.float32(floor) - v, 0.16) if floor else cavity + np.float32(wall)
        )
        solid = soft_max(solid, -hollow, wall * 0.8)
    table = Field(values=solid.astype(np.float32), left=0, bottom=middle - reach, cell=cell)
    return Turned(section=table, centre=(0, middle, 0), reach=reach)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bent:
    """A tube along a curve in the plane z = 0, thinner or wider along the way and across."""

    apart: Field
    radius: Field
    flat: float
    centre: Triple
    reach: float

    def distance(self, x: Array, y: Array, z: Array) -> Array:
        """Distance to the tube's surface."""
        across = z * np.float32(self.flat)
        near = self.apart.at(x, y)
        apart = np.sqrt(near * near + across * across) - self.radius.at(x, y)
        return single(apart * np.float32(min(1, 1 / self.flat)))


def bent(points: Points, radii: Sequence[float], *, flat: float = 1.0) -> Bent:
    """A tube through `points` with one radius a point; `flat` < 1 widens it sideways."""
    line = smooth(points)
    thick = smooth([(r, 0.0) for r in radii])[:, 0]
    (left, bottom), (right, top) = line.min(0), line.max(0)
    middle = ((left + right) / 2, (bottom + top) / 2)
    widest = float(max(radii)) / min(flat, 1)
    reach = float(np.hypot(right - left, top - bottom) / 2 + widest * 1.1)
    u, v, cell = grid_over(middle[0] - reach, middle[1] - reach, 2 * reach, 2 * reach, 320)
    apart, along, _ = to_segments(u, v, line)
    radius = np.interp(along, np.arange(len(thick)), thick).astype(np.float32)
    corner = {"left": middle[0] - reach, "bottom": middle[1] - reach, "cell": cell}
    return Bent(
        apart=Field(values=apart, **corner),
        radius=Field(values=radius, **corner),
        flat=flat,
        centre=(middle[0], middle[1], 0),
        reach=reach,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Extruded:
    """A flat outline pulled along z, with rounded edges."""

    outline: Field
    half_depth: float
    round: float
    centre: Triple
    reach: float

    def distance(self, x: Array, y: Array, z: Array) -> Array:
        """Distance to the extruded surface."""
        flat = self.outline.at(x, y) + np.float32(self.round)
        deep = np.abs(z) - np.float32(self.half_depth - self.round)
        corner = np.sqrt(np.maximum(flat, 0) ** 2 + np.maximum(deep, 0) ** 2)
        return single(np.minimum(np.maximum(flat, deep), 0) + corner - np.float32(self.round))


def folded(width: float, layers: int, thick: float, depth: float) -> Extruded:
    """Cloth folded to and fro in `layers`, seen from its folds, lying on y = 0."""
    path: list[tuple[float, float]] = []
    pitch = thick * 1.06
    for layer in range(layers):
        height = thick / 2 + layer * pitch
        ends = (-width / 2, width / 2) if layer % 2 == 0 else (width / 2, -width / 2)
        path += [(ends[0] * 0.985, height), (ends[0] * 0.5, height), (ends[1] * 0.5, height), (ends[1] * 0.985, height)]
        if layer < layers - 1:
            path.append((ends[1] * (1 + pitch / width * 0.7), height + pitch / 2))
    tall = layers * pitch
    reach = float(np.sqrt((width / 2 + thick) ** 2 + (tall / 2) ** 2 + (depth / 2) ** 2) * 1.05)
    u, v, cell = grid_over(-width / 2 - 0.4, -0.4, width + 0.8, tall + 0.8, 520)
    apart, _, _ = to_segments(u, v, smooth(path, 8))
    table = Field(values=apart - np.float32(thick / 2), left=-width / 2 - 0.4, bottom=-0.4, cell=cell)
    return Extruded(outline=table, half_depth=depth / 2, round=thick * 0.3, centre=(0, tall / 2, 0), reach=reach)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slab:
    """A box with rounded edges, standing on y = 0, optionally with rounded corners seen from above."""

    half: Triple
    round: float
    corner: float = 0.0

    @property
    def centre(self) -> Triple:
        """The middle of the box."""
        return (0, self.half[1], 0)

    @property
    def reach(self) -> float:
        """Half the diagonal."""
        return float(np.linalg.norm(self.half)) * 1.02

    def distance(self, x: Array, y: Array, z: Array) -> Array:
        """Distance to the box."""
        corner = np.float32(max(self.corner, self.round))
        across = np.abs(x) - np.float32(self.half[0]) + corner
        along = np.abs(z) - np.float32(self.half[2]) + corner
        plan = np.sqrt(np.maximum(across, 0) ** 2 + np.maximum(along, 0) ** 2)
        plan += np.minimum(np.maximum(across, along), 0) - corner
        edge = np.float32(self.round)
        wide, tall = plan + edge, np.abs(y - np.float32(self.half[1])) - np.float32(self.half[1]) + edge
        return single(
            np.minimum(np.maximum(wide, tall), 0) + np.sqrt(np.maximum(wide, 0) ** 2 + np.maximum(tall, 0) ** 2) - edge
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Egg:
    """An ellipsoid; bent along x when `sag` is not zero (a leaf)."""

    half: Triple
    sag: float = 0.0

    @property
    def centre(self) -> Triple:
        """The middle."""
        return (0, 0, 0)

    @property
    def reach(self) -> float:
        """The longest half axis and its sag."""
        return max(self.half) * 1.05 + abs(self.sag) * max(self.half) ** 2

    def distance(self, x: Array, y: Array, z: Array) -> Array:
        """A good bound on the distance to the ellipsoid."""
        a, b, c = (np.float32(h) for h in self.half)
        lift = y + np.float32(self.sag) * x * x
        scaled = np.sqrt((x / a) ** 2 + (lift / b) ** 2 + (z / c) ** 2)
        steep = np.sqrt((x / a**2) ** 2 + (lift / b**2) ** 2 + (z / c**2) ** 2)
        return single(scaled * (scaled - 1) / np.maximum(steep, 1e-6))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Leaf:
    """A pointed leaf along x with its width along z, bent and folded along its vein."""

    half: Triple
    sag: float = 0.0

    @property
    def centre(self) -> Triple:
        """The middle."""
        return (0, 0, 0)

    @property
    def reach(self) -> float:
        """Half its length and its sag."""
        return max(self.half) * 1.05 + abs(self.sag) * max(self.half) ** 2

    def distance(self, x: Array, y: Array, z: Array) -> Array:
        """A good bound on the distance to the leaf."""
        a, b, c = (np.float32(h) for h in self.half)
        lift = y + np.float32(self.sag) * x * x - np.float32(0.22) * np.abs(z)
        full = np.sqrt((lift / b) ** 2 + (z / c) ** 2) + 1e-6
        slope = ((lift / b**2) ** 2 + (z / c**2) ** 2) / full**2 + (2 * x / a**2) ** 2
        return single((full - 1 + (x / a) ** 2) / np.sqrt(slope + 1e-6) * np.float32(0.8))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Branch:
    """A chain of round cones through points in space."""

    points: npt.NDArray[np.float64]
    radii: npt.NDArray[np.float64]

    @property
    def centre(self) -> Triple:
        """The middle of its box."""
        x, y, z = (self.points.min(0) + self.points.max(0)) / 2
        return (float(x), float(y), float(z))

    @property
    def reach(self) -> float:
        """Half the diagonal of its box."""
        return float(np.linalg.norm(self.points.max(0) - self.points.min(0)) / 2 + self.radii.max())

    def distance(self, x: Array, y: Array, z: Array) -> Array:
        """Distance to the nearest piece."""
        best = np.full(x.shape, 1e9, np.float32)
        for start, end, thick, thin in zip(self.points, self.points[1:], self.radii, self.radii[1:], strict=False):
            way = (end - start).astype(np.float32)
            from_x, from_y, from_z = (axis - np.float32(s) for axis, s in zip((x, y, z), start, strict=True))
            share = np.clip((from_x * way[0] + from_y * way[1] + from_z * way[2]) / np.float32(way @ way), 0, 1)
            apart = (from_x - share * way[0]) ** 2 + (from_y - share * way[1]) ** 2 + (from_z - share * way[2]) ** 2
            best = np.minimum(best, np.sqrt(apart) - (np.float32(thick) + share * np.float32(thin - thick)))
        return best


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Joined:
    """Several shapes in one frame, melted into one another over `blend`."""

    parts: tuple[Shape, ...]
    blend: float

    @property
    def centre(self) -> Triple:
        """The middle of the first part."""
        return self.parts[0].centre

    @property
    def reach(self) -> float:
        """A sphere around every part's sphere."""
        middle = np.asarray(self.centre)
        return float(max(np.linalg.norm(np.asarray(p.centre) - middle) + p.reach for p in self.parts))

    def distance(self, x: Array, y: Array, z: Array) -> Array:
        """Distance to the melted whole."""
        whole = self.parts[0].distance(x, y, z)
        for part in self.parts[1:]:
            whole = -soft_max(-whole, -part.distance(x, y, z), self.blend)
        return whole


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Carved:
    """A shape with another one, lifted by `lift`, taken out of it."""

    body: Shape
    tool: Shape
    lift: float
    blend: float

    @property
    def centre(self) -> Triple:
        """The body's middle."""
        return self.body.centre

    @property
    def reach(self) -> float:
        """The body's reach."""
        return self.body.reach

    def distance(self, x: Array, y: Array, z: Array) -> Array:
        """Distance to what is left."""
        return soft_max(self.body.distance(x, y, z), -self.tool.distance(x, y - np.float32(self.lift), z), self.blend)
