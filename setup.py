"""Adds the commit to a built package. All other settings of the build are in pyproject.toml."""

from __future__ import annotations

import runpy
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent


class BuildWithCommit(build_py):
    """Writes the commit into the package, for `itinera --version` and for the provenance of results."""

    def run(self) -> None:
        super().run()
        # An editable install runs in its checkout, whose commit is read at each call.
        if not self.editable_mode and (ROOT / ".git").exists():
            provenance = runpy.run_path(str(ROOT / "src" / "itinera" / "records" / "provenance.py"))
            commit = provenance["describe_checkout"](ROOT)
            Path(self.build_lib, "itinera", "COMMIT").write_text(f"{commit}\n", encoding="utf-8")


setup(cmdclass={"build_py": BuildWithCommit})
