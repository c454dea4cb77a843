"""Adds the project's folders to the installed package; pyproject.toml holds everything else."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PROJECT = (
    "Snakefile",
    "config",
    "docs/data.md",
    "envs",
    "profiles",
    "reports",
    "workflow/native",
    "workflow/rules",
    "pyproject.toml",
    "requirements.lock",
    "requirements-dev.lock",
    "CITATION.cff",
    "LICENSE",
)
"""Files and folders that the package reads; `crossover.paths` finds them in `crossover/project`."""


class WithProject(build_py):
    """Copies PROJECT; an editable installation reads the checkout instead."""

    def run(self):
        """Build the package."""
        super().run()
        if not self.editable_mode:
            for name in PROJECT:
                self._copy(Path(name), Path(self.build_lib, "crossover", "project", name))

    def _copy(self, source, copy):
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            left_out = shutil.ignore_patterns("__pycache__", "_site", ".quarto", "site.yaml")
            shutil.copytree(source, copy, ignore=left_out, dirs_exist_ok=True)
        else:
            shutil.copyfile(source, copy)


setup(cmdclass={"build_py": WithProject})
