"""The colours of the charts, and the style of each arm.

Colour, shape and dash of an arm depend on its name, so they are the same in every chart and report. Each colour has one
value for a light page and one for a dark page. On both, the contrast with the background is at least 3 to 1, and 4.5 to
1 for text (WCAG 2.2, 1.4.11 and 1.4.3). The colours of arms can be distinguished with each kind of colour blindness.
Tests check both.
"""

import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from crossover.design import farming, farms
from crossover.design.experiments import declared
from crossover.report.text.tables import Panel

# Outlines in a square from -1 to 1, in the syntax of Vega and SVG.
CIRCLE = "M-0.9,0A0.9,0.9,0,1,0,0.9,0A0.9,0.9,0,1,0,-0.9,0Z"
SQUARE = "M-0.8,-0.8L0.8,-0.8L0.8,0.8L-0.8,0.8Z"
UP, DOWN = "M0,-1L1,0.8L-1,0.8Z", "M0,1L1,-0.8L-1,-0.8Z"
LEFT, RIGHT = "M-1,0L0.8,-1L0.8,1Z", "M1,0L-0.8,-1L-0.8,1Z"
DIAMOND = "M0,-1L1,0L0,1L-1,0Z"
HOURGLASS = "M-0.9,-0.9L0.9,-0.9L-0.9,0.9L0.9,0.9Z"
BAR = "M-1,-0.4L1,-0.4L1,0.4L-1,0.4Z"
PLUS = "M-1,-0.35L-0.35,-0.35L-0.35,-1L0.35,-1L0.35,-0.35L1,-0.35L1,0.35L0.35,0.35L0.35,1L-0.35,1L-0.35,0.35L-1,0.35Z"
CROSS = "M-0.6,-1L0,-0.4L0.6,-1L1,-0.6L0.4,0L1,0.6L0.6,1L0,0.4L-0.6,1L-1,0.6L-0.4,0L-1,-0.6Z"
PENTAGON = "M0,-1L0.95,-0.31L0.59,0.81L-0.59,0.81L-0.95,-0.31Z"

SHAPES = (CIRCLE, SQUARE, UP, DIAMOND, DOWN, RIGHT, CROSS, PENTAGON)
DASHES = ((1, 0), (7, 3), (2, 2), (7, 2, 2, 2), (4, 4), (10, 3))
CEILING_SHAPES = (LEFT, HOURGLASS, BAR, UP)
CEILING_DASHES = ((1, 3), (8, 4), (2, 6))

LAYERS = ("pyzmq", "mpi4py Send", "mpi4py send", "ipyparallel, per task", "Dask, per task", "Foolscap, per task")
"""The layers of the ladder that differ most; those in C have the next free styles."""

FARMS = tuple(dict.fromkeys((*farming.ORDER, *farms.arms())))
FAMILIES = (*(each.names("arms") for each in declared().values()), FARMS, (*LAYERS, "MPI in C", "ZeroMQ in C"))
"""Known arms, the most frequent in charts first, because the first styles differ most. Other names get a style too."""

CEILINGS = tuple(
    dict.fromkeys(name for each in declared().values() for name in (*each.names("ceilings"), farming.BOUND))
)
"""Known ceilings, likewise. They are grey in the ladder too, where they are layers like all others."""


@dataclass(frozen=True)
class Colour:
    """A colour by name, as hexadecimal sRGB: on a light background (also paper), and on a dark one."""

    name: str
    light: str
    dark: str


GROUND = Colour("ground", "#ffffff", "#15191d")
INK = Colour("ink", "#1c2024", "#e4e7ea")
GRID = Colour("grid", "#e1e5e9", "#333b43")
NOISE = Colour("noise", "#71777d", "#8d959d")
CEILING = Colour("ceiling", "#565c62", "#a9b1b9")
ARMS = (
    Colour("blue", "#1d5fd6", "#569aed"),
    Colour("orange", "#d17b10", "#f0803a"),
    Colour("green", "#00a05f", "#40e09a"),
    Colour("pink", "#b862cb", "#fbc0ff"),
    Colour("brown", "#7b480d", "#e0f06a"),
    Colour("violet", "#4b1a81", "#a455ff"),
)
COLOURS = (GROUND, INK, GRID, NOISE, CEILING, *ARMS)


def colour_variable(colour: Colour) -> str:
    """The colour as a CSS variable, so that the page's scheme decides."""
    return f"var(--chart-{colour.name})"


def style_sheet() -> str:
    """CSS that defines these variables, whose values follow the `color-scheme` of the element; and a class for each
    colour of marks, which sets the variable `--own`."""
    light = "".join(f"--chart-{colour.name}:{colour.light};" for colour in COLOURS)
    both = "".join(f"--chart-{colour.name}:light-dark({colour.light},{colour.dark});" for colour in COLOURS)
    own = "".join(f".{colour.name}{{--own:{colour_variable(colour)}}}" for colour in (*ARMS, CEILING, NOISE))
    return f":root{{{light}}}@supports (color:light-dark(red,red)){{:root{{{both}}}}}{own}"


def with_colour_variables(text: str) -> str:
    """Text with each colour of a chart replaced by its variable, so that a drawn chart follows the page."""
    variables = {colour.light: colour_variable(colour) for colour in COLOURS}
    return re.sub("|".join(variables), lambda found: variables[found[0]], text)


@dataclass(frozen=True)
class Look:
    """Colour, shape and dash of an arm."""

    colour: Colour
    shape: str
    dash: tuple[int, ...]


COMPETING = tuple(
    # Each pass through the colours shifts shapes and dashes, so that no two styles are alike.
    Look(colour, SHAPES[(index + lap) % len(SHAPES)], DASHES[(index + 2 * lap) % len(DASHES)])
    for lap in range(len(SHAPES))
    for index, colour in enumerate(ARMS)
)
BOUNDING = tuple(
    Look(CEILING, CEILING_SHAPES[index % 4], CEILING_DASHES[index % 3]) for index in range(12)
)  # 4 and 3 share no factor: twelve different ones
NULL = Look(NOISE, PLUS, (3, 3))


def of(panel: Panel) -> dict[str, Look]:
    """The style of each arm of a panel, by label: reference and rivals, the ceilings in grey, the null arm last."""
    bounds = [arm for arm in panel.arms if arm in (*panel.ceilings, *CEILINGS)]
    rivals = [arm for arm in panel.arms if arm not in (*bounds, panel.null)]
    looks = _assigned(rivals, COMPETING, FAMILIES) | _assigned(bounds, BOUNDING, [CEILINGS])
    return {label(panel, arm): NULL if arm == panel.null else looks[arm] for arm in panel.arms}


def label(panel: Panel, arm: str) -> str:
    """The label of an arm in charts."""
    if arm in panel.ceilings:
        return f"{arm} (ceiling)"
    return f"{panel.reference} again (null)" if arm == panel.null and panel.reference else arm


def _assigned(arms: Sequence[str], looks: Sequence[Look], families: Iterable[Sequence[str]]) -> dict[str, Look]:
    """A distinct style for each arm: the one of its name, or the next free one."""
    known = {arm: place for family in families for place, arm in enumerate(family)}
    assigned: dict[str, int] = {}
    for arm in sorted(arms, key=lambda arm: (arm not in known, arm)):
        wanted = known.get(arm, zlib.crc32(arm.encode()))
        places = (place % len(looks) for place in range(wanted, wanted + len(looks)))
        used = set(assigned.values())
        assigned[arm] = next((place for place in places if place not in used), wanted % len(looks))
    return {arm: looks[place] for arm, place in assigned.items()}
