"""Is Quarto installed, and does it work?"""

import shutil
import subprocess
from contextlib import suppress

from crossover.doctor.finding import NOT_RUN, Finding, Seen, Verdict

LIMIT_SECONDS = 30


def look() -> dict[str, str]:
    """The path of Quarto, empty if it is not installed, and its version, empty if it does not work."""
    path, version = shutil.which("quarto") or "", ""
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        done = subprocess.run(
            [path, "--version"],
            capture_output=True,
            timeout=LIMIT_SECONDS,
            check=True,
            encoding="utf-8",
            errors="replace",
        )
        version = done.stdout.strip()
    return {"path": path, "version": version}


def judge(seen: Seen) -> Finding:
    """Without Quarto the built-in preview renders the report. A broken Quarto is a problem, because rendering fails."""
    found = seen.here.get("quarto")
    if not found:
        return NOT_RUN
    if not found["path"]:
        return Finding(Verdict.OK, "not installed where Snakemake runs; the built-in preview renders the report")
    if not found["version"]:
        step = "repair it, or remove it from PATH, so that the built-in preview renders the report"
        return Finding(Verdict.PROBLEM, f"{found['path']} --version fails", step=step)
    return Finding(Verdict.OK, f"{found['path']} {found['version']} renders the report")
