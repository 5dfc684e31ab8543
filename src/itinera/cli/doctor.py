"""`itinera doctor`: what is installed, and what works on this machine."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import typer

from itinera.cli import options, output

CORE = ("numpy", "scipy", "numba", "msgspec", "typer", "rich")
# extra -> what it is for
EXTRAS = {
    "maps": "ROS maps, pictures of replays",
    "figures": "figures, floor plans",
    "features": "HDF5 features of views",
    "gym": "Gymnasium environments",
    "video": "films of replays",
    "scenes": "meshes as .glb and .obj",
    "viewer": "recordings for Rerun",
    "lkh": "LKH orders of tours, not for commercial use",
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "firefox")


@dataclass(frozen=True)
class Extra:
    """An extra and which of its packages are here."""

    purpose: str
    installed: Mapping[str, str]  # package -> version
    missing: tuple[str, ...]
    install: str  # the command


@dataclass(frozen=True)
class Kernels:
    """Where compiled kernels are kept, so that only the first call waits for them."""

    folder: str  # above all of them, for kernels may lie beside their sources
    writable: bool
    compiled: int  # how many are there
    count: int  # how many there could be
    wrong: str = ""  # why none can be kept


@dataclass(frozen=True)
class Data:
    """The folder of real data that ITINERA_DATA names."""

    folder: str
    found: bool
    r2r_splits: int


@dataclass(frozen=True)
class Diagnosis:
    """What is installed and what works here."""

    itinera: str
    python: str
    platform: str
    core: Mapping[str, str]  # package -> version, empty where it is missing
    extras: Mapping[str, Extra]
    kernels: Kernels
    cores: int
    memory: int | None  # bytes; None where the system does not say
    browser: str | None  # its path
    browser_asked: str | None  # the one that ITINERA_BROWSER names
    data: Data | None  # None where ITINERA_DATA is not set

    @property
    def troubles(self) -> tuple[str, ...]:
        """What does not work and ought to, each with a remedy."""
        missing = " ".join(name for name, version in self.core.items() if not version)
        found = [f"{missing} not installed. Install again: pip install itinera"] if missing else []
        if self.kernels.wrong:
            found.append(self.kernels.wrong)
        elif not self.kernels.writable:
            found.append(
                f"{self.kernels.folder} cannot be written, so kernels are compiled anew each time. "
                "Set NUMBA_CACHE_DIR to a folder that can."
            )
        if self.browser is None and self.browser_asked:
            found.append(f"ITINERA_BROWSER names {self.browser_asked}, which is not here. Install it, or unset that.")
        if self.data is not None and not self.data.found:
            found.append(f"ITINERA_DATA names {self.data.folder}, which is no folder. Mend or unset it.")
        return tuple(found)


def doctor(json: options.Json = False) -> None:
    """Tell what is installed and what works here: versions, extras, compiled kernels, browser, data, cores, memory.

    Exit 1 if something does not work that ought to; a missing extra is no trouble.

    Example: itinera doctor --json
    """
    found = examine()
    if json:
        output.print_json({**asdict(found), "troubles": found.troubles})
    else:
        for what, told in _lines(found):
            typer.echo(f"{what:<14}  {told}")
        typer.echo("\n".join(found.troubles) or "All is well.")
    if found.troubles:
        raise typer.Exit(1)


def examine() -> Diagnosis:
    """The state of this installation and machine."""
    import platform
    import shutil

    from itinera.records.provenance import itinera_version

    asked = os.environ.get("ITINERA_BROWSER")
    browsers = (asked,) if asked else BROWSERS
    return Diagnosis(
        itinera=itinera_version(),
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        core={name: _version(name) for name in CORE},
        extras=_extras(),
        kernels=_kernels(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory=_memory(),
        browser=next(filter(None, map(shutil.which, browsers)), None),
        browser_asked=asked,
        data=_data(os.environ.get("ITINERA_DATA")),
    )


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _extras() -> dict[str, Extra]:
    from importlib.metadata import PackageNotFoundError, requires

    try:
        required = requires("itinera") or []
    except PackageNotFoundError:  # run from a source tree that was never installed
        return {}
    told = {}
    for name, purpose in EXTRAS.items():
        packages = {package: _version(package) for package in _packages(required, name)}
        installed = {package: version for package, version in packages.items() if version}
        missing = tuple(package for package in packages if package not in installed)
        told[name] = Extra(purpose, installed, missing, f'pip install "itinera[{name}]"')
    return told


def _packages(required: list[str], extra: str) -> Iterator[str]:
    """The packages of an extra, from requirements such as 'h5py>=3.10; extra == "features"'."""
    for one in required:
        package, _, condition = one.partition(";")
        if re.search(rf"""\bextra\s*==\s*["']{extra}["']""", condition) and (found := re.match(r"[\w.-]+", package)):
            yield found[0]


def _kernels() -> Kernels:
    from importlib import import_module

    package = Path(__file__).parents[1]
    folders, compiled, count = [], 0, 0
    try:
        for file in sorted(package.rglob("_*kernels.py")):
            module = import_module(".".join(("itinera", *file.relative_to(package).with_suffix("").parts)))
            for kernel in vars(module).values():
                if getattr(kernel, "__module__", "") != module.__name__ or not hasattr(kernel, "py_func"):
                    continue
                folder, code = Path(kernel.stats.cache_path), kernel.py_func.__code__
                folders.append(folder)
                count += 1
                version = f"py{sys.version_info.major}{sys.version_info.minor}"
                compiled += any(folder.glob(f"{file.stem}.{code.co_name}-{code.co_firstlineno}.{version}*.nbi"))
    except RuntimeError as error:  # numba finds no folder to keep anything in
        return Kernels("", False, 0, 0, f"Kernels cannot be kept: {error}. Set NUMBA_CACHE_DIR to a folder of yours.")
    return Kernels(os.path.commonpath(folders), all(map(_can_be_written, set(folders))), compiled, count)


def _can_be_written(folder: Path) -> bool:
    while not folder.exists():
        folder = folder.parent
    return os.access(folder, os.W_OK | os.X_OK)


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _data(folder: str | None) -> Data | None:
    if not folder:
        return None
    return Data(folder, Path(folder).is_dir(), len(list(Path(folder).glob("r2r/R2R_*.json*"))))


def _lines(found: Diagnosis) -> Iterator[tuple[str, str]]:
    """What was looked at, and what was found."""
    yield "itinera", found.itinera
    yield "Python", f"{found.python}, {found.platform}"
    for name, version in found.core.items():
        yield name, version or "missing"
    for name, extra in found.extras.items():
        here = ", ".join(f"{package} {version}" for package, version in extra.installed.items())
        yield f"extra {name}", f"{extra.install}  ({extra.purpose})" if extra.missing else f"{here}  ({extra.purpose})"
    if not found.extras:
        yield "extras", "not known: itinera is not installed here"
    kernels = found.kernels
    yield "kernels", f"{kernels.compiled} of {kernels.count} compiled, kept below {kernels.folder or 'no folder'}"
    memory = "" if found.memory is None else f", {found.memory / 2**30:.1f} GiB of memory"
    yield "machine", f"{found.cores} core{'' if found.cores == 1 else 's'}{memory}"
    yield "browser", found.browser or "none found here; pages open in any"
    yield "real data", _data_told(found.data)


def _data_told(data: Data | None) -> str:
    if data is None:
        return "none: ITINERA_DATA is not set"
    return f"{data.folder}: {f'{data.r2r_splits} files of R2R' if data.found else 'no such folder'}"
