"""Are guarantees exceeded, and wrong winners named, as rarely as promised?

`make calibrate` simulates questions of known truth for each setting and prints a table; the first setting alone belongs
to every run of the tests, with fewer questions.
"""

import itertools

import numpy as np
import pytest

from crossover.analyse.estimates.choice import choices
from crossover.analyse.estimates.sensitivity import largest_bias
from crossover.records.outcome import OPEN, SURE, WINNER

ARMS, LAUNCHES, CELLS = (2, 4, 8), (3, 4, 12), 6
SPREADS = {"equal": (0.0, 0.0), "nearly equal": (0.08, 0.0), "unlike": (0.4, 0.2)}
"""The standard deviations of the arms' true values along the whole axis and in single cells, as logarithms."""
TAILS = ("normal", "heavy")
BIASES = (0.0, 0.03)
"""The standard deviations of biases that are the same in all launches, of every arm and of the null arm."""
LAUNCH, NOISE = 0.05, 0.1
SETTINGS = [*itertools.product(SPREADS, ARMS, LAUNCHES, TAILS, BIASES)]
QUESTIONS, FEW = 400, 60

EXCEEDED, WRONG = 0.05, 0.025
"""The share of points at which the best arm may be better than guaranteed, and of questions with a false winner."""

slow = pytest.mark.calibration, pytest.mark.timeout(7200)


def noise(random, tail, *shape):
    """Chance with a variance of 1."""
    return random.standard_normal(shape) if tail == "normal" else random.standard_t(3, shape) / np.sqrt(3)


def question(random, spread, arms, launches, tail, bias):
    """True values, shape (arms, cells), what launches found of each arm, and the possible bias by a null arm."""
    whole, single = SPREADS[spread]
    true = random.normal(0, whole, (arms, 1)) + random.normal(0, single, (arms, CELLS))
    shifts = LAUNCH * noise(random, tail, arms + 1, launches, 1)
    found = shifts + NOISE * noise(random, tail, arms + 1, launches, CELLS)
    found += random.normal(0, bias, (arms + 1, 1, CELLS))
    found[:arms] += true[:, np.newaxis]
    ratios = found - found[0]
    ratios[0] = 0
    null = ratios[arms]
    possible = largest_bias(null.mean(axis=0), null.var(axis=0, ddof=1) / launches)
    return true, {str(arm): ratios[arm] for arm in range(arms)}, possible


def rates(seed, setting, questions):
    """The shares of points beyond their guarantee, of questions with a false winner, of settled points, of winners."""
    random = np.random.default_rng(seed)
    exceeded, wrong, settled, won = [], [], [], []
    for _ in range(questions):
        true, better, possible = question(random, *setting)
        found = choices(better, possible)
        losses = [true[:, each.cell].max() - true[int(each.arm), each.cell] for each in found]
        exceeded += [loss > np.log(each.guarantee) + 1e-12 for loss, each in zip(losses, found, strict=True)]
        named = [loss for loss, each in zip(losses, found, strict=True) if each.verdict == WINNER]
        wrong.append(bool(named) if setting[0] == "equal" else max(named, default=0.0) > 0)
        settled += [each.verdict != OPEN for each in found]
        won += [each.verdict == WINNER for each in found]
    return tuple(float(np.mean(share)) for share in (exceeded, wrong, settled, won))


def crossing(random, arms, launches):
    """What two runs found of arms of which the second crosses the first once, and their possible biases."""
    place = np.linspace(-1, 1, CELLS)
    true = np.zeros((arms, CELLS))
    true[1] = random.uniform(0.2, 1.2) * (place - random.uniform(-0.7, 0.7))
    true[2:] = random.uniform(-0.5, 0, (arms - 2, 1)) + random.uniform(-0.3, 0.3, (arms - 2, 1)) * place
    runs = []
    for _ in range(2):
        found = LAUNCH * noise(random, "heavy", arms + 1, launches, 1)
        found = found + NOISE * noise(random, "heavy", arms + 1, launches, CELLS)
        found[:arms] += true[:, np.newaxis]
        ratios = found - found[0]
        null = ratios[arms]
        runs.append(
            (
                {str(arm): ratios[arm] for arm in range(arms)},
                largest_bias(null.mean(axis=0), null.var(axis=0, ddof=1) / launches),
            )
        )
    return true, runs


@pytest.mark.parametrize(("arms", "launches"), [(2, 4), (4, 4), (4, 7)])
def test_sure_changes_are_right_and_two_runs_state_places_that_agree(arms, launches):
    random, wrong, apart = np.random.default_rng(launches + arms), [], []
    for _ in range(FEW):
        true, runs = crossing(random, arms, launches)
        both = []
        for better, possible in runs:
            found = choices(better, possible)
            sure = [(before.arm, each) for before, each in itertools.pairwise(found) if each.change == SURE]
            wrong += [true[int(arm), each.between[1]] >= true[:, each.between[1]].max() for arm, each in sure]
            both.append({(arm, each.arm): each.between for arm, each in sure})
        first, second = both
        apart += [
            first[pair][0] > second[pair][1] or second[pair][0] > first[pair][1] for pair in first if pair in second
        ]
    print(
        f"{arms} arms, {launches} launches: {len(wrong)} sure changes, {np.mean(wrong):.1%} wrong; {len(apart)} pairs"
    )
    assert len(wrong) > FEW and np.mean(wrong) <= allowed(EXCEEDED, FEW) and np.mean(apart) <= allowed(EXCEEDED, FEW)


def allowed(share, count):
    """A promised share with three standard errors of a simulation of so many."""
    return share + 3 * np.sqrt(share * (1 - share) / count)


@pytest.mark.parametrize(
    ("seed", "setting", "questions"),
    [
        *(
            pytest.param(n, each, QUESTIONS, marks=slow, id=", ".join(map(str, each)))
            for n, each in enumerate(SETTINGS)
        ),
        *(
            pytest.param(n, each, FEW, id=f"few: {each[0]}")
            for n, each in enumerate(SETTINGS)
            if each[1:] == (4, 4, "heavy", 0.03)
        ),
    ],
)
def test_guarantees_hold_and_winners_are_the_best(seed, setting, questions):
    exceeded, wrong, settled, won = rates(seed, setting, questions)
    shares = " | ".join(f"{100 * share:.1f}" for share in (exceeded, wrong, settled, won))
    print(f"| {' | '.join(map(str, setting))} | {shares} |")
    # The cells of a question share its launches' shifts, so they count as one.
    assert exceeded <= allowed(EXCEEDED, questions)
    assert wrong <= allowed(WRONG, questions)
