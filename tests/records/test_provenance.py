"""What a result tells of its making: the version with its commit."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from itinera.records import provenance
from itinera.records.provenance import describe_checkout, itinera_version

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository of one commit and one tag, laid out as ours."""
    package = tmp_path / "src" / "itinera"
    package.mkdir(parents=True)
    (package / "walk.py").write_text("one")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "One")
    git(tmp_path, "tag", "v1")
    return tmp_path


@pytest.fixture(autouse=True)
def asked_anew() -> None:
    provenance._commit.cache_clear()


def test_a_version_is_one_that_packaging_tools_take() -> None:
    assert re.fullmatch(r"\d+(\.\d+)*(\+[0-9a-f]{7,}(\.dirty)?|\+unknown)?", itinera_version())


@needs_git
def test_a_checkout_tells_its_commit_and_whether_it_was_changed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = git(checkout, "rev-parse", "--short=7", "HEAD")
    monkeypatch.setattr(provenance, "PACKAGE", checkout / "src" / "itinera")
    assert itinera_version().endswith(f"+{commit}")
    (checkout / "src" / "itinera" / "walk.py").write_text("two")
    assert describe_checkout(checkout) == f"{commit}.dirty"
    assert itinera_version().endswith(f"+{commit}")  # one process, one version


@needs_git
def test_the_commit_is_that_of_our_checkout_whatever_repository_git_is_told_of(
    checkout: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = describe_checkout(checkout)
    other = tmp_path_factory.mktemp("other")
    git(other, "init", "--quiet")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))  # as in a hook of Git's
    assert describe_checkout(checkout) == commit != ""


@needs_git
def test_a_package_installed_within_somebodys_repository_does_not_tell_their_commit(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = checkout / ".venv" / "lib" / "site-packages" / "itinera"
    installed.mkdir(parents=True)
    monkeypatch.setattr(provenance, "PACKAGE", installed)
    assert provenance._commit(installed) == ""
    (installed / "COMMIT").write_text("abcdef1\n")  # as a build leaves it
    provenance._commit.cache_clear()
    assert itinera_version().endswith("+abcdef1")


def test_without_git_the_version_is_the_number_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    assert describe_checkout(tmp_path) == ""
    monkeypatch.setenv("PATH", "")
    assert describe_checkout(tmp_path) == ""
