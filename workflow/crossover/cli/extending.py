"""Commands for developers: a new experiment from the skeleton that `docs/extending.md` explains, generated files."""

import keyword
import re
from argparse import Namespace
from pathlib import Path

from crossover.cli.command import EXTENDING, command, value
from crossover.errors import CrossoverError


@command(
    "experiment socket_options",
    value("kind", "what to start", choices=["experiment"]),
    value("name", "its name, such as socket_options"),
    group=EXTENDING,
)
def new(chosen: Namespace) -> None:
    """Start a new experiment: write its driver, its test and its configuration.

    Adds a block to config/schema.yaml and a line to config/config.yaml. The experiment runs as it is; docs/extending.md
    explains what to change.
    """
    from crossover import paths
    from crossover.config import reference_page, schema

    _require_checkout()
    name, config = chosen.name, paths.CONFIG / "config.yaml"
    driver = paths.PACKAGE / "measure" / "experiments" / f"{name}.py"
    test = paths.PROJECT / "tests" / "measure" / f"test_{name}.py"
    rules = [paths.PROJECT / "Snakefile", *paths.WORKFLOW.glob("rules/*.smk")]
    # Snakemake's rules are in the same namespace as experiments.
    taken = [rule for file in rules for rule in re.findall(r"^ *(?:rule|checkpoint) (\w+):", file.read_text(), re.M)]
    taken += schema.read_schema()["properties"]["experiments"]["properties"]
    # Pytest refuses two tests of the same name, even in different folders.
    _require(name, taken, [driver, driver.with_suffix(""), *(paths.PROJECT / "tests").rglob(test.name)])

    def skeleton(part: str) -> str:
        return (paths.WORKFLOW / "skeleton" / part).read_text(encoding="utf-8").replace("NAME", name)

    # All texts are made before any is written, so that an error leaves nothing half done.
    texts = {
        driver: skeleton("driver.py"),
        test: skeleton("test.py"),
        # Before the definitions, which follow the experiments.
        schema.FILE: schema.FILE.read_text(encoding="utf-8").replace("\n$defs:", f"\n{skeleton('block.yaml')}$defs:"),
        config: _listed(config.read_text(encoding="utf-8"), name),
    }
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    reference_page.PAGE.write_text(reference_page.text(), encoding="utf-8")
    print("\n".join(f"wrote {file.relative_to(paths.PROJECT)}" for file in [*texts, reference_page.PAGE]))
    print(f"to run it: snakemake --profile profiles/local --config tier=smoke -- {name}")


@command("", group=EXTENDING)
def document(_: Namespace) -> None:
    """Write the generated files: config/README.md and reports/references.bib."""
    from crossover.config import reference_page, sources
    from crossover.paths import PROJECT

    _require_checkout()
    reference_page.PAGE.write_text(reference_page.text(), encoding="utf-8")
    sources.BIBLIOGRAPHY.write_text(sources.bibliography(sources.read()), encoding="utf-8")
    print(f"wrote {reference_page.PAGE.relative_to(PROJECT)} and {sources.BIBLIOGRAPHY.relative_to(PROJECT)}")


def _require_checkout() -> None:
    from crossover.paths import CHECKOUT, PACKAGE

    if CHECKOUT is None:
        raise CrossoverError(
            f"{PACKAGE} is an installed copy, and this command changes the source code; run it in a clone of crossover"
        )


def _require(name: str, taken: list[str], files: list[Path]) -> None:
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise CrossoverError(f"{name!r} cannot name a module; use small letters, digits and _, such as socket_options")
    if name in taken or any(file.exists() for file in files):
        raise CrossoverError(f"{name!r} is the name of an experiment, a rule or a test already; choose another")


def _listed(content: str, name: str) -> str:
    """The configuration with this experiment too, before the others."""
    found = re.search(r"^experiments:[ \t]*(?:#.*)?\n(?=( +)\S)", content, re.MULTILINE)
    if found is None:
        raise CrossoverError(
            "config/config.yaml has no experiments on lines of their own; write them so, beneath a line experiments:"
        )
    return f"{content[: found.end()]}{found[1]}{name}: {{}}\n{content[found.end() :]}"
