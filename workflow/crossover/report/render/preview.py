"""Renders `reports/index.qmd` without Quarto, to one self-contained page that loads nothing.

The code runs in a kernel of this interpreter. Pandoc, with `preview.lua`, turns the subset of Quarto's Markdown that
`qmd` accepts into HTML: numbered figures and tables, references to them, citations, callouts, tabs.
"""

import ast
import base64
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import pypandoc
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from crossover.errors import CrossoverError
from crossover.report.charts import gallery
from crossover.report.render import qmd
from crossover.report.render.qmd import Cell, Part

HERE = Path(__file__).parent
PANDOC_SECONDS = 120
"""Time limit of pandoc, which needs a second for the largest report."""

FORMAT = "markdown-raw_html-yaml_metadata_block"
"""Without metadata in the text, because pandoc would fetch a bibliography that it names."""
CELL_SECONDS = 300
"""Time limit of a cell, far above the time of any cell of the report."""


def render(source: Path, page: Path, environment: Mapping[str, str]) -> None:
    """Render the `.qmd` at `source` to the HTML file `page`, with its code run in `environment`."""
    try:
        front, parts = qmd.parse(source.read_text(encoding="utf-8"))
        page.write_bytes(html(front, markdown(parts, source.parent, environment), source.parent))
    except CrossoverError as error:
        raise CrossoverError(f"{source.name}, {error}") from error


def markdown(parts: list[Part], folder: Path, environment: Mapping[str, str]) -> str:
    """The parts as one Markdown text, their code executed in order, in `folder`. Raises CrossoverError."""
    with tempfile.TemporaryDirectory(prefix="crossover-") as private:
        client = NotebookClient(
            nbformat.v4.new_notebook(), km=_manager(Path(private)), timeout=CELL_SECONDS, shutdown_kernel="immediate"
        )
        # So that nothing in the user's home is read or written.
        homes = {name: private for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")}
        try:
            with client.setup_kernel(cwd=str(folder), env={**environment, **homes}, cleanup_kc=True):
                return "".join(_text(client, part) for part in parts)
        except (RuntimeError, DeadKernelError) as error:
            raise CrossoverError(f"the Python kernel of {sys.executable} ended or did not start: {error}") from error


def _manager(private: Path) -> Any:
    # Without folders to search, only the kernel of this interpreter remains.
    specs = KernelSpecManager(kernel_dirs=[], ensure_native_kernel=True)
    # Over ipc, so that no port is opened. A short name, because a path of a socket has at most about 100 characters.
    return AsyncKernelManager(
        kernel_name="python3", kernel_spec_manager=specs, transport="ipc", connection_file=str(private / "kernel.json")
    )


def _text(client: Any, part: Part) -> str:
    if isinstance(part, str):
        return part
    outputs = _outputs(client, part.code, part.name)
    return _inline(outputs, part) if part.inline else _cell(outputs, part)


def _outputs(client: Any, code: str, name: str) -> list[Any]:
    cell = nbformat.v4.new_code_cell(code)
    client.nb.cells.append(cell)
    try:
        client.execute_cell(cell, len(client.nb.cells) - 1)
    except CellExecutionError as error:
        raise CrossoverError(f"{name}: {error.ename}: {error.evalue}") from error
    except CellTimeoutError as error:
        raise CrossoverError(f"{name}: not finished after {CELL_SECONDS} s") from error
    for output in cell.outputs:
        if output.get("name") == "stderr":
            print(f"{name}: {output.text.rstrip()}", file=sys.stderr)
    return [output for output in cell.outputs if output.get("name") != "stderr"]


def _inline(outputs: list[Any], part: Cell) -> str:
    shown = outputs[0].get("data", {}).get("text/plain", "") if len(outputs) == 1 else ""
    if not shown.startswith(("'", '"')):
        raise CrossoverError(f"{part.name}: `{part.code}` must give a string")
    return re.sub(r"([\\`*_{}\[\]<>#|$~^@])", r"\\\1", ast.literal_eval(shown))


def _cell(outputs: list[Any], part: Cell) -> str:
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
    with tempfile.TemporaryDirectory(prefix="crossover-") as folder:
        metadata = Path(folder) / "front.json"
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
            done = subprocess.run(command, cwd=base, input=body.encode(), capture_output=True, timeout=PANDOC_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise CrossoverError(f"pandoc: not finished after {PANDOC_SECONDS} s") from error
    if done.returncode:
        raise CrossoverError(f"pandoc: {done.stderr.decode(errors='replace').strip()}")
    page = done.stdout.decode()
    return page.replace("POLICY", _policy(page), 1).encode()


def _policy(page: str) -> str:
    """What a browser may run and load: the scripts of this package, by their checksums, and nothing from elsewhere.

    So no text from a table or a figure can run a script, even if it gets past every escape.
    """
    last = page.rpartition("<script>")[2].partition("</script>")[0]  # the template's own, which ends the page
    digests = (hashlib.sha256(text.encode()).digest() for text in (last, gallery.script()))
    scripts = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
