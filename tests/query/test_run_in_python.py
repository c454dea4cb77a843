"""Do Python and the command line give the same answers, quickly, from the tables of a run?"""

import json
import os
import subprocess
import sys

import altair as alt
import numpy as np
import pytest
import vl_convert
from campaigns import Campaign, recommendation, zmq
from hypothesis import given
from hypothesis import strategies as st

import crossover
from crossover.__main__ import main
from crossover.analyse.estimates.crossover import LATEST, NOT_YET, levels_reached
from crossover.errors import CrossoverError, printable
from crossover.paths import PACKAGE
from crossover.query import answers
from crossover.records.outcome import OPEN
from crossover.records.rows import Recommendation
from crossover.report.text import choices, numbers

QUESTION = ["ask", "zmq_throughput", "--at", "40kB", "--transport", "tcp", "--arm", "no-copy", "--than", "copy"]


@pytest.fixture
def ask(real, capsys):
    """Runs `crossover ask` on a stored run; returns the exit code and the output."""

    def run(*words):
        code = main([*words, "--results", str(real[0].results)])
        printed = capsys.readouterr()
        return code, printed.out or printed.err

    return run


def loaded(statement):
    """The modules that a statement loads in a fresh interpreter."""
    code = f"import sys; {statement}; print(*sys.modules)"
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, check=True)
    return set(done.stdout.decode().split())


# ---- one command, two lines of Python


def test_a_command_and_python_give_the_same_numbers(real, ask):
    run = crossover.load(real[0].results)
    frame = run.ask("zmq_throughput", at=40_000, transport="tcp")
    code, printed = ask(*QUESTION, "--json")
    [told] = json.loads(printed)
    [row] = json.loads(frame.to_json(orient="records", double_precision=15))
    assert code == 0
    assert told.pop("to_decide").startswith("more launches may decide it")
    assert told.keys() == row.keys()
    assert all(
        row[name] == (pytest.approx(value) if isinstance(value, float) else value) for name, value in told.items()
    )
    assert f"throughput {numbers.ratio(row['ratio'], row['low'], row['high'])} times" in ask(*QUESTION)[1]


def test_the_words_of_the_terminal_are_known_and_every_word_of_a_name_leads_to_it(real, ask):
    for run in real:
        for curve in choices.curves(run._tables):
            found = run.find(curve.name, curve.rows[0].x)
            assert curve.panel in found.panels and not found.notes
            code, printed = ask("ask", *curve.name.split(), "--at", str(curve.rows[-1].x))
            assert code == 0 and curve.rows[-1].choice in printed


def test_keys_choose_the_metric_that_has_such_a_curve(tmp_path):
    curve = {"experiment": "async_cost", "arm": "uvloop", "reference": "asyncio"}
    metrics = {"REQ/REP": "round trip", "PUSH/PULL": "throughput"}
    asked = [zmq(f"{pattern} over tcp", metric, **curve) for pattern, metric in metrics.items()]
    run = crossover.load(Campaign(asked).write_tables(tmp_path))
    with pytest.raises(CrossoverError, match=r"^asyncio is the reference of all ratios; choose another arm"):
        run.ask("async_cost", "1kB", arm="asyncio", pattern="REQ/REP")
    with pytest.raises(CrossoverError, match=r"^unknown arm 'ray'"):
        run.ask("async_cost", "1kB", arm="ray", pattern="REQ/REP")
    for pattern, metric in metrics.items():
        (found,) = run.choose("async_cost", "1kB", pattern=pattern).to_dict("records")
        assert found["metric"] == metric


# ---- settings


def test_a_snippet_commands_no_terminal():
    row = Recommendation.of(recommendation(snippet="a = 1\x1b[2J\r\nif a:\n\tb = 2\n", arm="no copy"))
    shown = printable("\n".join(answers.recommendation_lines(row, "streams"))).splitlines()
    assert shown[1:] == ["arm 'no copy', to paste:", "", "a = 1�[2J", "if a:", "\tb = 2"]


def test_a_setting_can_be_narrowed_by_a_key_and_printed_as_json(ask):
    _, printed = ask("ask", "copy_threshold", "--transport", "tcp", "--json")
    assert {row["transport"] for row in json.loads(printed)} == {"tcp"}
    assert all(isinstance(row["points"], dict) for row in json.loads(printed))


# ---- charts


@pytest.mark.parametrize("ratios", [False, True])
def test_a_chart_is_the_reports_chart_of_one_curve_or_of_several(real, ratios):
    one = real[0].chart("zmq_throughput", ratios=ratios, transport="tcp")
    several = real[0].chart("zmq_throughput", ratios=ratios)
    assert isinstance(one, alt.LayerChart) and isinstance(several, alt.VConcatChart)
    assert len(several.vconcat) == 4
    for chart in (one, several):
        assert "no-copy" in vl_convert.vegalite_to_svg(chart.to_json())


# ---- what is loaded


def test_importing_crossover_loads_nothing_else():
    assert {name for name in loaded("import crossover") if name.startswith("crossover")} == {"crossover"}


def test_a_question_loads_no_library_of_charts_or_measurements(rivals):
    words = ["ask", "zmq", "40kB", "--results", str(rivals.results)]
    modules = loaded(f"from crossover.__main__ import main; main({words})")
    assert (
        modules & {"altair", "pandas", "IPython", "rich", "scipy.stats", "zmq", "mpi4py", "ipyparallel", "snakemake"}
        == set()
    )


@given(shift=st.floats(-1, 1), noise=st.floats(0.05, 0.8), seed=st.integers(0, 99))
def test_a_lower_efficiency_is_reached_no_later_than_a_higher_one(shift, noise, seed):
    x, random = np.logspace(2, 6, 5), np.random.default_rng(seed)
    logits = np.linspace(-4, 4, 5) + shift + noise * random.standard_normal((4, 5))
    found = levels_reached(x, 1 / (1 + np.exp(-logits)), [0.5, 0.8, 0.85, 0.9, 0.95])
    latest = [each.bracket_high if each.verdict == LATEST else each.high for each in found]
    for place, own in enumerate(found):
        if own.verdict in (LATEST, NOT_YET, "partly", OPEN):
            assert all(
                own.bracket_high is not None and own.bracket_high <= end for end in filter(None, latest[place + 1 :])
            )
