"""The command for developers: generated files."""

from argparse import Namespace

from crossover.cli.command import EXTENDING, command
from crossover.errors import CrossoverError


@command("", group=EXTENDING)
def document(_: Namespace) -> None:
    """Write the generated pages and the bibliography."""
    from crossover.config import reference_page, sources
    from crossover.paths import CHECKOUT, PACKAGE, PROJECT

    if CHECKOUT is None:
        raise CrossoverError(
            f"{PACKAGE} is an installed copy, and this command changes the source code; run it in a clone of crossover"
        )
    reference_page.PAGE.write_text(reference_page.text(), encoding="utf-8")
    sources.BIBLIOGRAPHY.write_text(sources.bibliography(sources.read()), encoding="utf-8")
    overview = reference_page.OVERVIEW.read_text(encoding="utf-8")
    reference_page.OVERVIEW.write_text(reference_page.overview(overview), encoding="utf-8")
    written = (reference_page.PAGE, reference_page.OVERVIEW, sources.BIBLIOGRAPHY)
    print("wrote", ", ".join(str(file.relative_to(PROJECT)) for file in written))
