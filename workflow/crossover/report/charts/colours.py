"""Every colour of the charts, one for a light page and one for a dark page.

On both, the contrast with the background is at least 3 to 1, and 4.5 to 1 for text (WCAG 2.2, 1.4.11 and 1.4.3). The
colours of arms can be distinguished with each kind of colour blindness. Tests check both.
"""

import re
from dataclasses import dataclass


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
ALL = (GROUND, INK, GRID, NOISE, CEILING, *ARMS)


def variable(colour: Colour) -> str:
    """The colour as a CSS variable, so that the page's scheme decides."""
    return f"var(--chart-{colour.name})"


def style() -> str:
    """CSS that defines these variables, whose values follow the `color-scheme` of the element; and a class for each
    colour of marks, which sets the variable `--own`."""
    light = "".join(f"--chart-{colour.name}:{colour.light};" for colour in ALL)
    both = "".join(f"--chart-{colour.name}:light-dark({colour.light},{colour.dark});" for colour in ALL)
    own = "".join(f".{colour.name}{{--own:{variable(colour)}}}" for colour in (*ARMS, CEILING, NOISE))
    return f":root{{{light}}}@supports (color:light-dark(red,red)){{:root{{{both}}}}}{own}"


def on_page(text: str) -> str:
    """Text with each colour of a chart replaced by its variable, so that a drawn chart follows the page."""
    variables = {colour.light: variable(colour) for colour in ALL}
    return re.sub("|".join(variables), lambda found: variables[found[0]], text)
