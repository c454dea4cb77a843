"""A measured launch stays: no ordinary command, kill or failure deletes it."""

import json
import shutil
import signal

import psutil
import pytest
from copies import SMALL_MPI, Project
from test_interruptions import MINE, TOY_DRIVER, kill, pauses, wait_for, words, workers

RUN = ("snakemake", "--profile", "profiles/local")


def raw(project: Project, tier: str = "quick") -> dict[str, bytes]:
    """The content of each raw file of a tier, by its name."""
    folder = project.folder / "results/raw" / tier
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("launch=*.parquet")}


@pytest.fixture
def measured(finished: Project) -> Project:
    """A copy of a project whose toy and MPI ping-pong are measured."""
    return finished


# ---- a run that would measure differently


def other_setting(project: Project) -> str:
    project.configure(toy={"weights": [1, 10]}, mpi_pingpong=SMALL_MPI)
    return "toy, placement node, launch 1, 2: weights: 100 is gone"


def other_code(project: Project) -> str:
    project.edit(TOY_DRIVER, "2e-5", "3e-5")
    return "toy, placement node, launch 1, 2: the code that measures"


def other_library(project: Project) -> str:
    """Change the current version, because recorded versions cannot be edited."""
    project.edit("workflow/crossover/measure/ranks/provenance.py", '"libzmq": zmq.zmq_version()', '"libzmq": "9.9"')
    return ", now 9.9"


@pytest.mark.parametrize(
    ("change", "dry"), [(other_setting, ()), (other_setting, ("-n",)), (other_code, ("-n",)), (other_library, ("-n",))]
)
def test_a_run_that_would_measure_differently_stops_with_the_differences_and_remedies(
    measured: Project, change: object, dry: tuple[str, ...]
) -> None:
    assert callable(change)
    before, differing = raw(measured), change(measured)
    code, said = measured.run(*RUN, *dry, "toy")
    assert code == 1 and "Traceback" not in said
    assert differing in said and "; add one of these behind snakemake's --config:" in said
    for choice in ("partial=true", "results=results.new", "remeasure=true"):
        assert f"\n  {choice}: " in said
    assert raw(measured) == before


def test_a_run_of_another_experiment_continues(measured: Project) -> None:
    other_setting(measured)
    assert measured.planned("mpi_pingpong") == {}


@pytest.mark.long
def test_newer_libraries_and_lost_records_of_snakemake_remeasure_nothing(measured: Project) -> None:
    before = raw(measured)
    for path in (measured.folder / "results/native").iterdir():
        path.touch()
    shutil.rmtree(measured.folder / ".snakemake")
    assert "launch" not in measured.planned()
    measured.succeed(*RUN, "toy", "mpi_pingpong")
    assert raw(measured) == before


@pytest.mark.long
def test_other_tiers_do_not_replace_it(measured: Project) -> None:
    before = raw(measured)
    measured.succeed(*RUN, "--config", "tier=smoke", "--", "toy")
    assert raw(measured) == before
    assert set(measured.raw("smoke", "results-smoke")) == {"toy/node/1", "toy/node/2"}
    assert "launch" not in measured.planned("toy")


# ---- remeasured launches


def test_remeasure_measures_only_launches_that_differ_and_only_once(measured: Project) -> None:
    before, launches = raw(measured), measured.raw()
    other_setting(measured)
    measured.succeed(*RUN, "--config", "remeasure=true", "--", "toy")
    assert {name for name, path in measured.raw().items() if path != launches[name]} == {"toy/node/1", "toy/node/2"}
    assert {name: raw(measured)[name] for name in before} == before
    assert "launch" not in measured.planned("--config", "remeasure=true", "--", "toy", "mpi_pingpong")
    assert "launch" not in measured.planned("toy", "mpi_pingpong")
    # Changing back finds the first.
    measured.configure(toy={}, mpi_pingpong=SMALL_MPI)
    assert "launch" not in measured.planned("toy", "mpi_pingpong")


@pytest.mark.long
def test_a_hole_does_not_replace_a_measurement(measured: Project) -> None:
    before = raw(measured)
    fault = "    raise RuntimeError('the toy broke')\n"
    measured.edit(TOY_DRIVER, "    yield Spinner()", f"{fault}    yield Spinner()")
    code, said = measured.run(*RUN, "-F", "toy")
    assert code == 1 and raw(measured) == before
    assert "no launch was measured" in said
    assert "not remeasured (exception)" in said and "the earlier measurement stays" in said
    # The plain command still reports on the old launches.
    measured.edit(TOY_DRIVER, fault, "")
    measured.succeed(*RUN, "toy")
    assert raw(measured) == before


@pytest.mark.long
def test_a_failed_remeasurement_ends_with_code_1_and_the_same_command_repeats_it(
    measured: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = raw(measured)
    other_setting(measured)
    again = (*RUN, "--config", "remeasure=true", "--", "toy")
    with monkeypatch.context() as waiting:
        waiting.setenv("CROSSOVER_TOY_SECONDS", "3")
        run = measured.start(*again)

        def supervisors() -> list[psutil.Process]:
            """That of launch 2."""
            return [each for each in workers(measured) if MINE.search(" ".join(words(each)))]

        wait_for(lambda: bool(supervisors()))
        supervisors()[-1].kill()
        said, _ = run.communicate(timeout=measured.limit_seconds)
    assert run.returncode == 1, said
    assert {name: raw(measured)[name] for name in before} == before
    assert "not measured: toy, placement node, launch 2 (no raw file): its job ended early" in said
    assert measured.planned(*again[3:])["launch"] == ["Measuring toy, placement node, launch 2"]
    measured.succeed(*again)
    assert measured.planned("toy") == {}


@pytest.mark.long
def test_a_launch_that_is_no_longer_planned_does_not_stop_the_run(measured: Project) -> None:
    before = raw(measured)
    measured.configure(toy={"weights": [1, 10], "launches": 1}, mpi_pingpong=SMALL_MPI)
    measured.succeed(*RUN, "--config", "remeasure=true", "--", "toy")
    assert {name: raw(measured)[name] for name in before} == before
    assert measured.planned("toy") == {}


PASSING = [pytest.param(kind, 1, marks=pytest.mark.long) for kind in ("host in use", "no space")]


@pytest.mark.parametrize(
    ("kind", "again"), [("stranger", 1), *PASSING, pytest.param("crashed", 0, marks=pytest.mark.long)]
)
def test_a_hole_whose_cause_passes_is_measured_by_the_next_run(measured: Project, kind: str, again: int) -> None:
    path = measured.receipts()["toy/node/1"]
    hole = json.loads(path.read_text()) | {"outcome": "hole", "hole": kind, "reason": "somebody else"}
    path.write_text(json.dumps(hole))
    assert measured.planned("toy").get("launch", []) == ["Measuring toy, placement node, launch 1"] * again
    assert "launch" not in measured.planned("mpi_pingpong")


@pytest.mark.parametrize(
    ("how", "asked"),
    [pytest.param(signal.SIGINT, ("-F", "toy"), marks=pytest.mark.long), (signal.SIGKILL, ("-R", "toy/node/2"))],
)
def test_a_kill_during_remeasuring_leaves_the_old_launch(
    measured: Project, how: signal.Signals, asked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, receipts = raw(measured), measured.receipts()
    asked = tuple(str(receipts[word].relative_to(measured.folder)) if word in receipts else word for word in asked)
    logs = measured.folder / "results/logs/quick/toy/node"
    with monkeypatch.context() as waiting:
        waiting.setenv("CROSSOVER_TOY_SECONDS", "60")
        shutil.rmtree(logs)
        run = measured.start(*RUN, *asked)
        # Wait for its ranks, because Snakemake can hang if it is interrupted while it forks.
        wait_for(lambda: any(logs.glob("*.log")) and len(workers(measured)) > 4)
        wait_for(lambda: any(pauses(each) for each in workers(measured)))
        kill(run, how)
    wait_for(lambda: not workers(measured))
    assert raw(measured) == before
    measured.succeed(*RUN, "toy")
    assert raw(measured) == before


@pytest.mark.long
def test_a_receipt_can_be_a_target(measured: Project) -> None:
    before = raw(measured)
    one = str(measured.receipts()["toy/node/1"].relative_to(measured.folder))
    measured.succeed(*RUN, one)
    measured.succeed(*RUN, one, "toy")
    assert raw(measured) == before
