"""Runs the code of a `.qmd` in a kernel of this interpreter, and returns Markdown.

The kernel needs no installed kernelspec. It keeps its files and sockets in a temporary folder, so that nothing in the
user's home is read or written, and no port is opened.
"""

from __future__ import annotations

import ast
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from crossover.errors import CrossoverError
from crossover.report.render.qmd import Cell, Inline, Part, Prose

CELL_SECONDS = 300
"""Time limit of a cell, far above the time of any cell of the report."""


def markdown(parts: list[Part], folder: Path, environment: Mapping[str, str]) -> str:
    """The parts as one Markdown text, their code executed in order, in `folder`. Raises CrossoverError."""
    with tempfile.TemporaryDirectory(prefix="crossover-") as private:
        client = NotebookClient(
            nbformat.v4.new_notebook(),
            km=_manager(Path(private)),
            timeout=CELL_SECONDS,
            shutdown_kernel="immediate",
        )
        homes = {name: private for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")}
        try:
            with client.setup_kernel(cwd=str(folder), env={**environment, **homes}, cleanup_kc=True):
                return "".join(_text(client, part) for part in parts)
        except (RuntimeError, DeadKernelError) as error:
            raise CrossoverError(f"the Python kernel of {sys.executable} ended or did not start: {error}") from error


def _manager(private: Path) -> Any:
    # Without folders to search, only the kernel of this interpreter remains.
    specs = KernelSpecManager(kernel_dirs=[], ensure_native_kernel=True)
    # A short name, because the path of a socket is limited to about a hundred characters.
    return AsyncKernelManager(
        kernel_name="python3", kernel_spec_manager=specs, transport="ipc", connection_file=str(private / "kernel.json")
    )


def _text(client: Any, part: Part) -> str:
    match part:
        case Prose():
            return part.text
        case Inline():
            return _inline(_outputs(client, part.expression, f"expression in line {part.line}"), part)
        case Cell():
            return _cell(_outputs(client, part.code, part.name), part)


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


def _inline(outputs: list[Any], part: Inline) -> str:
    text = ast.literal_eval(outputs[0].data["text/plain"]) if _is_literal(outputs) else None
    if not isinstance(text, str):
        raise CrossoverError(f"expression in line {part.line}: `{part.expression}` must give a string")
    return re.sub(r"([\\`*_{}\[\]<>#|$~^@])", r"\\\1", text)


def _is_literal(outputs: list[Any]) -> bool:
    return len(outputs) == 1 and "data" in outputs[0] and outputs[0].data.get("text/plain", "")[:1] in ("'", '"')


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
