"""Without a C compiler, the ceilings are missing with the reason, and everything else is measured."""

import shutil

import pytest
from copies import SMALL_MPI, Project

import crossover


@pytest.mark.long
def test_without_a_compiler_only_the_ceilings_are_missing_and_a_compiler_fills_them(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.configure(mpi_pingpong=SMALL_MPI | {"elements": [1], "launches": 1})
    with monkeypatch.context() as bare:
        bare.setenv("CC", "/no/such/cc")
        bare.setenv("MPICC", "/no/such/mpicc")
        said = project.succeed("snakemake", "--profile", "profiles/local")
        assert (
            "mpi_exchange.so: not built, so its ceilings will not be measured: no C compiler '/no/such/mpicc'" in said
        )
        assert project.planned() == {}
    rows = crossover.load(project.folder / "results").measurements().to_table().to_pylist()
    assert {row["value"] is None for row in rows if row["ceiling"]} == {True}
    assert {row["validity"].split(" was found")[0] for row in rows if row["arm"] == "C"} == {
        "no C compiler '/no/such/mpicc'"
    }
    assert all(row["value"] is not None for row in rows if not row["ceiling"])
    page = " ".join((project.folder / "results/report/index.html").read_text().split())
    assert "<code>C</code> of <code>mpi_pingpong</code> has no value under" in page
    assert "no C compiler '/no/such/mpicc' was found; install a C compiler" in page.replace("&#39;", "'").replace(
        "’", "'"
    )
    if not shutil.which("cc"):
        pytest.skip("no C compiler here to fill the hole with")
    project.succeed("snakemake", "--profile", "profiles/local", "-F", "mpi_pingpong")
    rows = crossover.load(project.folder / "results").measurements().to_table().to_pylist()
    assert all(row["value"] is not None for row in rows if row["ceiling"])
    assert project.leftovers() == []
