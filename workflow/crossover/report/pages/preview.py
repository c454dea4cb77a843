"""Renders a `.qmd` of `reports/` without Quarto, to one self-contained page that loads nothing.

A `.qmd` has front matter, prose and code cells, in the subset that Quarto and the preview render alike. Anything else
is refused with its line, so that a page cannot look right in one renderer and wrong in the other. The code runs in a
kernel of this interpreter. Pandoc, with `preview.lua`, turns the Markdown into HTML: numbered figures and tables,
references to them, citations, callouts, tabs.
"""

import ast
import base64
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

import nbformat
import pypandoc
import yaml
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from crossover import programs
from crossover.errors import CrossoverError
from crossover.records import temporary
from crossover.records.record import RecordError
from crossover.report.charts import gallery

HERE = Path(__file__).parent
PANDOC_SECONDS = 120
"""Time limit of pandoc, which needs a second for the largest report."""

FORMAT = "markdown-raw_html-yaml_metadata_block"
"""Without metadata in the text, because pandoc would fetch a bibliography that it names."""
CELL_SECONDS = 300
"""Time limit of a cell, far above the time of any cell of the report."""

FRONT_MATTER = ("title", "subtitle", "lang", "jupyter", "bibliography", "link-citations")
OPTIONS = ("label", "tbl-cap", "include", "output")

FRONT = re.compile(r"---[ \t]*\n(?P<yaml>.*?)^---[ \t]*$\n?", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(
    r"^(?P<fence>(?>(?P<sign>[`~])(?P=sign){2,}))(?P<info>.*)\n(?P<body>(?:.*\n)*?)(?P=fence)(?P=sign)*[ \t]*$\n?",
    re.MULTILINE,
)
CELL = re.compile(r"\{python\}\s*")
INLINE = re.compile(r"(?<!`)`\{python\} (?P<expression>[^`\n]+)`(?!`)")

REFUSED = {
    re.compile(r"^(?:`{3,}|~{3,})", re.MULTILINE): "the block that starts here is not closed; close it with {}",
    re.compile(r"\{\{<.*?>\}\}"): "shortcodes such as {} need Quarto; remove it",
}
"""What prose must not contain, and the error."""


@dataclass(frozen=True)
class Cell:
    """A code cell, without the option lines; or an expression inside a sentence."""

    code: str
    line: int
    options: dict[str, Any] = field(default_factory=dict)
    inline: bool = False

    @property
    def name(self) -> str:
        """The cell's name in messages."""
        if label := self.options.get("label"):
            return f"cell {label!r} (line {self.line})"
        return f"{'expression' if self.inline else 'cell'} in line {self.line}"


Part = str | Cell
"""Markdown, unchanged from the file; or code."""


def render(source: Path, page: Path, environment: Mapping[str, str]) -> None:
    """Render the `.qmd` at `source` to the HTML file `page`, with its code run in `environment`."""
    try:
        front, parts = parse(source.read_text(encoding="utf-8"))
        page.write_bytes(html(front, markdown(parts, source.parent, environment), source.parent))
    except CrossoverError as error:
        raise CrossoverError(f"{source.name}, {error}") from error


def markdown(parts: list[Part], folder: Path, environment: Mapping[str, str]) -> str:
    """The parts as one Markdown text, their code executed in order, in `folder`. Raises CrossoverError."""
    with temporary.folder() as folder_of_kernel:
        private = temporary.shortened(folder_of_kernel)
        client = NotebookClient(
            nbformat.v4.new_notebook(), km=_manager(private), timeout=CELL_SECONDS, shutdown_kernel="immediate"
        )
        # So that nothing in the user's home is read or written.
        homes = {name: str(private) for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")}
        try:
            with client.setup_kernel(cwd=str(folder), env={**environment, **homes}, cleanup_kc=True):
                return "".join(_text(client, part) for part in parts)
        except (RuntimeError, DeadKernelError) as error:
            raise CrossoverError(f"the Python kernel of {sys.executable} ended or did not start: {error}") from error


def _manager(private: Path) -> Any:
    # Without folders to search, only the kernel of this interpreter remains.
    specs = KernelSpecManager(kernel_dirs=[], ensure_native_kernel=True)
    # Over ipc, so that no port is opened.
    return AsyncKernelManager(
        kernel_name="python3", kernel_spec_manager=specs, transport="ipc", connection_file=str(private / "kernel.json")
    )


def _text(client: Any, part: Part) -> str:
    if isinstance(part, str):
        return part
    outputs = _outputs(client, part.code, part.name)
    return _shown_inline(outputs, part) if part.inline else _shown_cell(outputs, part)


def _outputs(client: Any, code: str, name: str) -> list[Any]:
    cell = nbformat.v4.new_code_cell(code)
    client.nb.cells.append(cell)
    try:
        client.execute_cell(cell, len(client.nb.cells) - 1)
    except CellExecutionError as error:
        if error.ename not in (CrossoverError.__name__, RecordError.__name__):
            print(f"{name}: {error}", file=sys.stderr)
        raise CrossoverError(f"{name}: {error.ename}: {error.evalue}") from error
    except CellTimeoutError as error:
        raise CrossoverError(f"{name}: not finished after {CELL_SECONDS} s") from error
    for output in cell.outputs:
        if output.get("name") == "stderr":
            print(f"{name}: {output.text.rstrip()}", file=sys.stderr)
    return [output for output in cell.outputs if output.get("name") != "stderr"]


def _shown_inline(outputs: list[Any], part: Cell) -> str:
    shown = outputs[0].get("data", {}).get("text/plain", "") if len(outputs) == 1 else ""
    if not shown.startswith(("'", '"')):
        raise CrossoverError(f"{part.name}: `{part.code}` must give a string")
    return re.sub(r"([\\`*_{}\[\]<>#|$~^@])", r"\\\1", ast.literal_eval(shown))


def _shown_cell(outputs: list[Any], part: Cell) -> str:
    if part.options.get("include") is False:
        return "\n"
    shown = [output.get("data", {}).get("text/markdown") for output in outputs]
    if None in shown:
        raise CrossoverError(f"{part.name}: shows something that is not Markdown; end it with a Markdown(...) object")
    body = "\n\n".join(shown)
    if "tbl-cap" in part.options:
        body = f"::: {{#{part.options['label']}}}\n\n{body}\n\n{part.options['tbl-cap']}\n\n:::"
    return f"\n\n{body}\n\n"


def html(front: Mapping[str, Any], body: str, base: Path | None = None) -> bytes:
    """A page from front matter and Markdown; its bibliography is in the folder `base`. Raises CrossoverError."""
    with temporary.folder() as folder:
        metadata = folder / "front.json"
        metadata.write_text(json.dumps(dict(front)), encoding="utf-8")
        command = [
            *(pypandoc.get_pandoc_path(), f"--from={FORMAT}", "--to=html5", "--standalone", "--preserve-tabs"),
            *("--mathml", "--wrap=none", "--toc", "--toc-depth=3", f"--metadata-file={metadata}"),
            # The filter comes first, because citeproc would take references to parts of the page for citations.
            *(f"--template={HERE / 'preview.html'}", f"--lua-filter={HERE / 'preview.lua'}", "--citeproc"),
            *(
                f"--variable={name}={(HERE / file).read_text(encoding='utf-8')}"
                for name, file in (("style", "preview.css"), ("script", "preview.js"))
            ),
        ]
        try:
            done = programs.run(command, text=body, folder=base, seconds=PANDOC_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise CrossoverError(f"pandoc: not finished after {PANDOC_SECONDS} s") from error
    if done.returncode:
        raise CrossoverError(f"pandoc: {done.stderr.strip()}")
    return done.stdout.replace("POLICY", _policy(done.stdout), 1).encode()


def _policy(page: str) -> str:
    """What a browser may run and load: the scripts of this package, by their checksums, and nothing from elsewhere.

    So no text from a table or a figure can run a script, even if it gets past every escape.
    """
    last = page.rpartition("<script>")[2].partition("</script>")[0]  # the template's own, which ends the page
    digests = (hashlib.sha256(text.encode()).digest() for text in (last, gallery.LOADER, gallery.script()))
    scripts = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def parse(text: str) -> tuple[dict[str, Any], list[Part]]:
    """The front matter and the parts of a `.qmd`, in order. Raises CrossoverError."""
    front: dict[str, Any] = {}
    position = 0
    if re.match(r"---\s*$", text, re.MULTILINE):
        if not (found := FRONT.match(text)):
            raise CrossoverError("line 1: the front matter has no closing ---")
        front = _mapping(found["yaml"], 1, "the front matter", "key of the front matter", FRONT_MATTER)
        position = found.end()
    parts: list[Part] = []
    for block in BLOCK.finditer(text, position):
        parts += _prose(text, position, block.start())
        # A fence that is not a cell is shown unchanged, and nothing in it is executed.
        is_cell = CELL.fullmatch(block["info"])
        parts.append(_code_cell(block["body"], _line(text, block.start())) if is_cell else block[0])
        position = block.end()
    return front, [part for part in (*parts, *_prose(text, position, len(text))) if part]


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _mapping(text: str, line: int, what: str, kind: str, known: tuple[str, ...]) -> dict[str, Any]:
    try:
        found = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise CrossoverError(f"line {line}: {what} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(found, dict):
        raise CrossoverError(f"line {line}: {what} must be `key: value` lines")
    if unknown := sorted(str(key) for key in found if key not in known):
        raise CrossoverError(f"line {line}: unknown {kind} {', '.join(unknown)}; available: {', '.join(known)}")
    return found


def _code_cell(body: str, line: int) -> Cell:
    lines = body.splitlines(keepends=True)
    settings = [line[2:].removeprefix(" ") for line in takewhile(lambda text: text.startswith("#|"), lines)]
    options = _mapping("".join(settings), line, "a cell's options", "cell option", OPTIONS)
    if options.get("output", "asis") != "asis":
        raise CrossoverError(f"line {line}: unknown output: {options['output']}; available: asis")
    return Cell("".join(lines[len(settings) :]), line, options)


def _prose(text: str, start: int, end: int) -> Iterator[Part]:
    """The prose from `start` to `end`, split at its inline expressions."""
    for pattern, error in REFUSED.items():
        if refused := pattern.search(text, start, end):
            raise CrossoverError(f"line {_line(text, refused.start())}: {error.format(refused[0])}")
    for found in INLINE.finditer(text, start, end):
        yield text[start : found.start()]
        yield Cell(found["expression"], _line(text, found.start()), inline=True)
        start = found.end()
    yield text[start:end]
