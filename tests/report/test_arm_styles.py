"""Does every arm look the same in all charts, and can every eye distinguish it from its neighbours?"""

import itertools
import math

import pytest
from campaigns import Campaign, zmq

from crossover.design import farming, farms
from crossover.design.experiments import declared
from crossover.report.charts import arm_styles, ladder
from crossover.report.text.tables import Tables

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
EYES = {
    "any": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no green": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "no blue": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}


def linear(colour):
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def contrast(one, other):
    """The contrast ratio of WCAG."""
    dark, light = sorted(
        sum(w * part for w, part in zip((0.2126, 0.7152, 0.0722), linear(each), strict=True)) for each in (one, other)
    )
    return (light + 0.05) / (dark + 0.05)


def lab(colour, eye):
    seen = [min(1, max(0, sum(w * part for w, part in zip(row, linear(colour), strict=True)))) for row in EYES[eye]]
    mixed = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(w * part for w, part in zip(row, seen, strict=True)) for row in mixed]
    x, y, z = (
        part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116
        for part in (xyz[0] / 0.9505, xyz[1], xyz[2] / 1.089)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_contrasts_with_the_page(scheme):
    ground = getattr(arm_styles.GROUND, scheme)
    for colour in (*arm_styles.ARMS, arm_styles.NOISE, arm_styles.CEILING):
        assert contrast(getattr(colour, scheme), ground) >= 3, colour
    assert contrast(getattr(arm_styles.INK, scheme), ground) >= 7


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("eye", EYES)
def test_every_eye_can_distinguish_the_arms_colours(scheme, eye):
    for one, other in itertools.combinations((*arm_styles.ARMS, arm_styles.NOISE), 2):
        apart = math.dist(lab(getattr(one, scheme), eye), lab(getattr(other, scheme), eye))
        assert apart > 15, (one.name, other.name)


def test_every_colour_of_a_chart_is_a_variable_with_a_value_in_both_schemes():
    assert len({colour.light for colour in arm_styles.COLOURS}) == len(arm_styles.COLOURS), (
        "otherwise a colour would be ambiguous"
    )
    for colour in arm_styles.COLOURS:
        assert arm_styles.with_colour_variables(f'"{colour.light}"') == f'"{arm_styles.colour_variable(colour)}"'
        assert f"--chart-{colour.name}:light-dark({colour.light},{colour.dark})" in arm_styles.style_sheet()


def experiments():
    """The arms and ceilings that each experiment may have, by its name."""
    entrants = farms.arms()
    for name, known in declared().items():
        yield name, [*(known.names("arms") or entrants), *known.names("ceilings")]
    yield "an unknown arm", ["leastload", "pure", "dask", "mine"]


@pytest.mark.parametrize(("name", "arms"), list(experiments()))
def test_an_arms_look_depends_only_on_its_name(name, arms):
    together = arm_styles.of(drawn(arms))
    assert len(set(together.values())) == len(together) == len(arms)
    assert all(arm_styles.of(drawn([arm]))[arm] == look for arm, look in together.items())


def test_the_farms_that_win_most_often_have_different_colours():
    best = [name for name in farming.ORDER[:8] if name not in ("leastload", "pure")]
    assert len({look.colour for look in arm_styles.of(drawn(best)).values()}) == len(best) == len(arm_styles.ARMS)


def test_the_ladders_layers_differ_and_look_like_in_the_other_charts():
    rungs = arm_styles.of(drawn([rung.name for rung, _ in ladder.LAYERS]))
    assert len(set(rungs.values())) == len(ladder.LAYERS)
    assert rungs["memcpy"] == arm_styles.of(drawn(["send", "memcpy"]))["memcpy"]


def drawn(arms):
    row = next(row for row in Campaign([zmq()]).tables()["summary"] if not row["is_null_arm"])
    return Tables.of({"summary": [row | {"arm": arm} for arm in arms]}).every_panel[0]
