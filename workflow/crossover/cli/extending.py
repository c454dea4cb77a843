"""Commands for developers: a new experiment, farm or arm as the guide explains it, generated files."""

import keyword
import re
from argparse import Namespace
from collections.abc import Collection, Sequence
from pathlib import Path

from crossover.cli.command import EXTENDING, command, value
from crossover.errors import CrossoverError


@command(
    "experiment socket_options",
    value("kind", "what to start", choices=["experiment", "farm", "arm"]),
    value("name", "its name, such as socket_options; for an arm, the name of its experiment"),
    value("arm", "the name of a new arm, such as 'nng ipc'", nargs="?", default=""),
    group=EXTENDING,
)
def new(chosen: Namespace) -> None:
    """Start a new experiment, task farm or arm: write its files, and list an experiment in config/config.yaml.

    It runs as it is; docs/extending.md explains what to change. An arm is started by: crossover new arm EXPERIMENT NAME
    """
    from crossover import paths
    from crossover.cli import new_arm
    from crossover.config import reference_page

    _require_checkout()
    if (chosen.kind == "arm") != bool(chosen.arm):
        raise CrossoverError("type: new experiment NAME, new farm NAME, or new arm EXPERIMENT NAME")
    if chosen.kind == "arm":
        texts, next_step = new_arm.add(chosen.name, chosen.arm)
    else:
        texts, next_step = (_experiment if chosen.kind == "experiment" else _farm)(chosen.name)
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    if chosen.kind == "arm":
        new_arm.read_again(chosen.name)
    reference_page.PAGE.write_text(reference_page.text(), encoding="utf-8")
    print("\n".join([*(f"wrote {file.relative_to(paths.PROJECT)}" for file in texts), next_step]))


def _experiment(name: str) -> tuple[dict[Path, str], str]:
    """The files of a new experiment, all made before any is written; and the next step."""
    from crossover import experiments, paths

    folder = paths.PACKAGE / "experiments" / name
    rules = [paths.PROJECT / "Snakefile", *paths.WORKFLOW.glob("rules/*.smk")]
    # Snakemake's rules are in the same namespace as experiments.
    taken = [rule for file in rules for rule in re.findall(r"^ *rule (\w+):", file.read_text(encoding="utf-8"), re.M)]
    taken += experiments.names()
    _require(name, taken, [folder], "an experiment, a rule")
    texts = {
        **{folder / part: _skeleton(f"experiment/{part}", name) for part in ("__init__.py", "driver.py", "page.md")},
        _test(name): _skeleton("experiment_test.py", name),
        _config(): _listed(_config().read_text(encoding="utf-8"), name),
    }
    return texts, f"to run it: snakemake --profile profiles/local --config tier=smoke -- {name}"


def _farm(name: str) -> tuple[dict[Path, str], str]:
    """The same for a task farm."""
    from crossover import farms, paths

    folder = paths.PACKAGE / "farms" / name
    _require(name, [*farms.names(), *farms.arms()], [folder], "a farm")
    texts = {
        **{folder / part: _skeleton(f"farm/{part}", name) for part in ("__init__.py", "farm.py")},
        _test(name): _skeleton("farm_test.py", name),
    }
    farms.declared.cache_clear()
    return texts, (
        "to run it, name it as an arm in config/config.yaml, such as task_latency: {arms: [leastload, pure, "
        f"{name}]}}, then: snakemake --profile profiles/local --config tier=smoke -- task_latency"
    )


def _skeleton(part: str, name: str) -> str:
    from crossover.paths import WORKFLOW

    return (WORKFLOW / "skeleton" / part).read_text(encoding="utf-8").replace("NAME", name)


def _config() -> Path:
    from crossover.paths import CONFIG

    return CONFIG / "config.yaml"


def _test(name: str) -> Path:
    from crossover.paths import PROJECT

    return PROJECT / "tests" / "measure" / f"test_{name}.py"


@command("", group=EXTENDING)
def document(_: Namespace) -> None:
    """Write the generated pages and the bibliography."""
    from crossover.config import reference_page, sources
    from crossover.paths import PROJECT

    _require_checkout()
    reference_page.PAGE.write_text(reference_page.text(), encoding="utf-8")
    sources.BIBLIOGRAPHY.write_text(sources.bibliography(sources.read()), encoding="utf-8")
    overview = reference_page.OVERVIEW.read_text(encoding="utf-8")
    reference_page.OVERVIEW.write_text(reference_page.overview(overview), encoding="utf-8")
    written = (reference_page.PAGE, reference_page.OVERVIEW, sources.BIBLIOGRAPHY)
    print("wrote", ", ".join(str(file.relative_to(PROJECT)) for file in written))


def _require_checkout() -> None:
    from crossover.paths import CHECKOUT, PACKAGE

    if CHECKOUT is None:
        raise CrossoverError(
            f"{PACKAGE} is an installed copy, and this command changes the source code; run it in a clone of crossover"
        )


def _require(name: str, taken: Collection[str], files: Sequence[Path], kind: str) -> None:
    """Raise CrossoverError if `name` cannot name a module, or already names one of this `kind` or a test."""
    # Pytest refuses two tests of the same name, even in different folders.
    tests = _test(name).parents[1].rglob(_test(name).name)
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise CrossoverError(f"{name!r} cannot name a module; use small letters, digits and _, such as socket_options")
    if name in taken or any(file.exists() for file in [*files, *tests]):
        raise CrossoverError(f"{name!r} is the name of {kind} or a test already; choose another")


def _listed(content: str, name: str) -> str:
    """The configuration with this experiment too, before the others."""
    found = re.search(r"^experiments:[ \t]*(?:#.*)?\n(?=( +)\S)", content, re.MULTILINE)
    if found is None:
        raise CrossoverError(
            "config/config.yaml has no experiments on lines of their own; write them so, beneath a line experiments:"
        )
    return f"{content[: found.end()]}{found[1]}{name}: {{}}\n{content[found.end() :]}"
