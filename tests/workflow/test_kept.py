"""A measured launch stays: no ordinary command, kill or failure deletes it."""

import shutil
import signal

import pytest
from copies import SMALL_MPI, Project
from test_interruptions import TOY_DRIVER, kill, pauses, wait_for, without_launch_2, workers

RUN = ("snakemake", "--profile", "profiles/local")


def raw(project: Project, tier: str = "quick") -> dict[str, bytes]:
    """The content of each raw file of a tier, by its name."""
    folder = project.folder / "results/raw" / tier
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("launch=*.parquet")}


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
    finished: Project, change: object, dry: tuple[str, ...]
) -> None:
    assert callable(change)
    before, differing = raw(finished), change(finished)
    code, said = finished.run(*RUN, *dry, "toy")
    assert code == 1 and "Traceback" not in said
    assert differing in said and "; add one of these behind snakemake's --config:" in said
    for choice in ("partial=true", "results=results.new", "remeasure=true"):
        assert f"\n  {choice}: " in said
    assert raw(finished) == before


@pytest.mark.long
def test_newer_libraries_and_lost_records_of_snakemake_remeasure_nothing(finished: Project) -> None:
    before = raw(finished)
    for path in (finished.folder / "results/native").iterdir():
        path.touch()
    (finished.folder / "results/native/mpi_exchange.so").unlink()
    shutil.rmtree(finished.folder / ".snakemake")
    assert "launch" not in finished.planned()
    finished.succeed(*RUN, "toy", "mpi_pingpong")
    assert raw(finished) == before


# ---- remeasured launches


def test_remeasure_measures_only_launches_that_differ_and_only_once(finished: Project) -> None:
    before, launches = raw(finished), finished.raw()
    other_setting(finished)
    finished.succeed(*RUN, "--config", "remeasure=true", "--", "toy")
    assert {name for name, path in finished.raw().items() if path != launches[name]} == {"toy/node/1", "toy/node/2"}
    assert {name: raw(finished)[name] for name in before} == before
    assert "launch" not in finished.planned("--config", "remeasure=true", "--", "toy", "mpi_pingpong")
    assert "launch" not in finished.planned("toy", "mpi_pingpong")
    # Changing back finds the first.
    finished.configure(toy={}, mpi_pingpong=SMALL_MPI)
    assert "launch" not in finished.planned("toy", "mpi_pingpong")


@pytest.mark.long
def test_a_hole_does_not_replace_a_measurement(finished: Project) -> None:
    before = raw(finished)
    fault = "    raise RuntimeError('the toy broke')\n"
    finished.edit(TOY_DRIVER, "    yield Spinner()", f"{fault}    yield Spinner()")
    code, said = finished.run(*RUN, "-F", "toy")
    assert code == 1 and raw(finished) == before
    assert "no launch was measured" in said
    assert "not remeasured (exception)" in said and "the earlier measurement stays" in said
    # The plain command still reports on the old launches.
    finished.edit(TOY_DRIVER, fault, "")
    finished.succeed(*RUN, "toy")
    assert raw(finished) == before


@pytest.mark.long
def test_a_failed_remeasurement_ends_with_code_1_and_the_same_command_repeats_it(
    finished: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = raw(finished)
    other_setting(finished)
    again = (*RUN, "--config", "remeasure=true", "--", "toy")
    with monkeypatch.context() as waiting:
        waiting.setenv("CROSSOVER_TOY_SECONDS", "3")
        said = without_launch_2(finished, *again)
    assert {name: raw(finished)[name] for name in before} == before
    assert "not measured: toy, placement node, launch 2 (no raw file): its job ended early" in said
    assert finished.planned(*again[3:])["launch"] == ["Measuring toy, placement node, launch 2"]
    finished.succeed(*again)
    assert finished.planned("toy") == {}


@pytest.mark.long
def test_a_launch_that_is_no_longer_planned_does_not_stop_the_run(finished: Project) -> None:
    before = raw(finished)
    finished.configure(toy={"weights": [1, 10], "launches": 1}, mpi_pingpong=SMALL_MPI)
    finished.succeed(*RUN, "--config", "remeasure=true", "--", "toy")
    assert {name: raw(finished)[name] for name in before} == before
    assert finished.planned("toy") == {}


@pytest.mark.parametrize(
    ("how", "asked"),
    [pytest.param(signal.SIGINT, ("-F", "toy"), marks=pytest.mark.long), (signal.SIGKILL, ("-R", "toy/node/2"))],
)
def test_a_kill_during_remeasuring_leaves_the_old_launch(
    finished: Project, how: signal.Signals, asked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, receipts = raw(finished), finished.receipts()
    asked = tuple(str(receipts[word].relative_to(finished.folder)) if word in receipts else word for word in asked)
    logs = finished.folder / "results/logs/quick/toy/node"
    with monkeypatch.context() as waiting:
        waiting.setenv("CROSSOVER_TOY_SECONDS", "60")
        shutil.rmtree(logs)
        run = finished.start(*RUN, *asked)
        # Wait for its ranks, because Snakemake can hang if it is interrupted while it forks.
        wait_for(lambda: any(logs.glob("*.log")) and len(workers(finished)) > 4)
        wait_for(lambda: any(pauses(each) for each in workers(finished)))
        kill(run, how)
    wait_for(lambda: not workers(finished))
    assert raw(finished) == before
    finished.succeed(*RUN, "toy")
    assert raw(finished) == before
