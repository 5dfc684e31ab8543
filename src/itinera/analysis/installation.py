"""The state of an installation and machine: versions, extras, compiled kernels, browser, data. See `examine`."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

CORE = ("numpy", "scipy", "numba", "msgspec", "typer", "rich")
# extra -> its purpose; those that are not here are for developers
EXTRAS = {
    "maps": "ROS maps, pictures of replays",
    "figures": "figures, floor plans",
    "features": "HDF5 features of views",
    "gym": "Gymnasium environments",
    "neural": "neural policies and training (PyTorch)",
    "video": "videos of replays",
    "scenes": "meshes as .glb and .obj",
    "viewer": "recordings for Rerun",
    "tables": "data frames and Parquet files",
    "server": "challenge servers",
    "cluster": "work on Ray clusters and in SLURM jobs",
    "lkh": "LKH orders of tours, not for commercial use",
}
_MORE = {"all": "everything for users but lkh and cluster", "test": "the tests",
         "lint": "style and types", "docs": "this manual",
         "bench": "the benchmarks"}  # fmt: skip
MANY_PACKAGES = 4  # an extra with more is summarized
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "firefox")


@dataclass(frozen=True)
class Extra:
    """An extra, with its packages that are installed and missing."""

    purpose: str
    installed: Mapping[str, str]  # package -> version
    missing: tuple[str, ...]
    install: str  # the command


@dataclass(frozen=True)
class Kernels:
    """The cache of compiled kernels, which makes only the first call slow."""

    folder: str  # common parent of all caches; kernels may be cached beside their sources
    writable: bool
    compiled: int
    count: int  # of all kernels
    wrong: str = ""  # why nothing can be cached


@dataclass(frozen=True)
class DataFolder:
    """The folder of real data that ITINERA_DATA names."""

    folder: str
    found: bool
    r2r_splits: int


@dataclass(frozen=True)
class Diagnosis:
    """What is installed and what works here. `print` shows it, `troubles` lists what does not work."""

    itinera: str
    python: str
    platform: str
    core: Mapping[str, str]  # package -> version, empty where it is missing
    extras: Mapping[str, Extra]
    kernels: Kernels
    cores: int
    memory: int | None  # bytes; None where the system does not say
    browser: str | None  # its path
    browser_setting: str | None  # the one that ITINERA_BROWSER names
    data: DataFolder | None  # None where ITINERA_DATA is not set

    @property
    def troubles(self) -> tuple[str, ...]:
        """What should work and does not, each with a remedy."""
        missing = " ".join(name for name, version in self.core.items() if not version)
        found = [f"{missing} not installed. Install again: pip install itinera"] if missing else []
        if self.kernels.wrong:
            found.append(self.kernels.wrong)
        elif not self.kernels.writable:
            found.append(
                f"{self.kernels.folder} is not writable, so kernels are compiled in every process. "
                "Set NUMBA_CACHE_DIR to a writable folder."
            )
        if self.browser is None and self.browser_setting:
            found.append(f"ITINERA_BROWSER names {self.browser_setting}, which is not found. Install it, or unset it.")
        if self.data is not None and not self.data.found:
            found.append(f"ITINERA_DATA names {self.data.folder}, which is not a folder. Correct or unset it.")
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis as plain values for JSON."""
        return {**asdict(self), "troubles": self.troubles}

    def __str__(self) -> str:
        lines = [f"{name:<14}  {value}" for name, value in _lines(self)]
        return "\n".join([*lines, *(self.troubles or ("Everything works.",))])


def examine(*, browser: str | None = None, data: str | None = None) -> Diagnosis:
    """The state of this installation and machine; `browser` and `data` are the user's settings, if any."""
    import platform
    import shutil

    from itinera.records.provenance import itinera_version

    browsers = (browser,) if browser else BROWSERS
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
        browser_setting=browser,
        data=_data(data),
    )


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _extras() -> dict[str, Extra]:
    from importlib.metadata import PackageNotFoundError, metadata, requires

    try:
        required = requires("itinera") or []
    except PackageNotFoundError:  # run from a source tree that was never installed
        return {}
    named = dict.fromkeys([*EXTRAS, *(metadata("itinera").get_all("Provides-Extra") or ())])
    extras = {}
    for name in named:
        packages = {package: _version(package) for package in _packages(required, name)}
        installed = {package: version for package, version in packages.items() if version}
        missing = tuple(package for package in packages if package not in installed)
        purpose = EXTRAS.get(name, _MORE.get(name, "for developers"))
        extras[name] = Extra(purpose, installed, missing, f'pip install "itinera[{name}]"')
    return extras


def _packages(required: list[str], extra: str) -> Iterator[str]:
    """The packages of an extra, from requirements such as 'h5py>=3.10; extra == "features"'; extras may name others."""
    for requirement in required:
        package, _, condition = requirement.partition(";")
        if not re.search(rf"""\bextra\s*==\s*["']{extra}["']""", condition):
            continue
        others = re.match(r"itinera\s*\[([\w,\s-]+)\]", package)
        if others is not None:
            for other in others[1].split(","):
                yield from _packages(required, other.strip())
        elif (found := re.match(r"[\w.-]+", package)) is not None:
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
    except RuntimeError as error:  # numba finds no folder for its cache
        return Kernels("", False, 0, 0, f"Kernels cannot be cached: {error}. Set NUMBA_CACHE_DIR to a writable folder.")
    return Kernels(os.path.commonpath(folders), all(map(_is_writable, set(folders))), compiled, count)


def _is_writable(folder: Path) -> bool:
    while not folder.exists():
        folder = folder.parent
    return os.access(folder, os.W_OK | os.X_OK)


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _data(folder: str | None) -> DataFolder | None:
    if not folder:
        return None
    return DataFolder(folder, Path(folder).is_dir(), len(list(Path(folder).glob("r2r/R2R_*.json*"))))


def _lines(found: Diagnosis) -> Iterator[tuple[str, str]]:
    """The items that were examined, with the result for each."""
    yield "itinera", found.itinera
    yield "Python", f"{found.python}, {found.platform}"
    for name, version in found.core.items():
        yield name, version or "missing"
    for name, extra in found.extras.items():
        yield f"extra {name}", f"{_describe_extra(extra)}  ({extra.purpose})"
    if not found.extras:
        yield "extras", "unknown: itinera is not installed"
    kernels = found.kernels
    yield "kernels", f"{kernels.compiled} of {kernels.count} compiled, cached below {kernels.folder or 'no folder'}"
    memory = "" if found.memory is None else f", {found.memory / 2**30:.1f} GiB of memory"
    yield "machine", f"{found.cores} core{'' if found.cores == 1 else 's'}{memory}"
    yield "browser", found.browser or "none found; pages open in any"
    yield "real data", _describe_data(found.data)


def _describe_extra(extra: Extra) -> str:
    if extra.missing or not extra.installed:  # no packages: this version was not installed, only its source is here
        return f"not installed: lacks {', '.join(extra.missing) or 'all of it'}; {extra.install}"
    if len(extra.installed) > MANY_PACKAGES:
        return f"installed: {len(extra.installed)} packages"
    return "installed: " + ", ".join(f"{package} {version}" for package, version in extra.installed.items())


def _describe_data(data: DataFolder | None) -> str:
    if data is None:
        return "none: ITINERA_DATA is not set"
    return f"{data.folder}: {f'{data.r2r_splits} files of R2R' if data.found else 'no such folder'}"
