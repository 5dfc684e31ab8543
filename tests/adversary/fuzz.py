"""Fuzzing of every reader: `python tests/adversary/fuzz.py --inputs 20000 --seed 0`.

Each reader runs in a process of its own, whose memory is limited to `MEMORY` more than it has at its start, and each
input for at most `SECONDS`. Whatever a reader raises besides an `ItineraError` is a finding, as is an input that takes
too long or too much memory. Inputs are mutations (see `mutation.py`) of examples. With atheris installed they are
guided by coverage: libFuzzer keeps inputs that reach new lines of Itinera and mutates them further. `--engine plain`
needs nothing and keeps inputs that lead to a new message.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "support")]

MEMORY = 1 << 30  # bytes
SECONDS = 10.0
LONGEST = 1 << 15  # bytes of an input
SILENCE = 300.0  # seconds without an input after which a process is taken for hanging


class TooSlow(BaseException):
    """An input took longer than `SECONDS`."""


@dataclass
class Report:
    """What fuzzing a reader found."""

    reader: str
    inputs: int = 0
    accepted: int = 0  # inputs that were read without an error
    messages: int = 0  # different refusals
    seconds: float = 0.0
    slowest: float = 0.0  # seconds
    memory: int = 0  # bytes, the peak above that of the start
    findings: dict[str, str] = field(default_factory=dict)  # traceback by place
    engine: str = ""


class Trial:
    """Runs inputs through a reader, one after another, and keeps account."""

    def __init__(self, name: str, folder: Path, findings: Path | None = None) -> None:
        from adversary.readers import READERS

        self.reader = READERS[name]
        self.report = Report(name)
        self.target, self.path = self.reader.place(folder)
        self.seen: set[str] = set()
        self._findings = findings
        self._started = time.monotonic()
        self._memory = 0

    def warm_up(self) -> None:
        """Read the examples, which imports and compiles what is needed; each must be read or refused."""
        for seed in self.reader.seeds():
            self.target.write_bytes(seed)
            self.reader.read(self.path)
        self._memory = _peak_memory()

    def run(self, data: bytes) -> bool:
        """Whether the input led to an outcome that no earlier one led to."""
        from itinera.errors import ItineraError

        with open(self.target, "wb") as stream:
            stream.write(data)
        started = time.perf_counter()
        outcome = "read"
        try:
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            try:
                self.reader.read(self.path)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            self.report.accepted += 1
        except ItineraError as error:
            # Numbers and names differ between inputs; what is left is the kind of refusal.
            outcome = re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "", str(error)[:300])
        except (Exception, TooSlow):
            outcome = self._record(data)
        self.report.slowest = max(self.report.slowest, time.perf_counter() - started)
        self.report.inputs += 1
        fresh = outcome not in self.seen
        if len(self.seen) < 10_000:
            self.seen.add(outcome)
        return fresh

    def _record(self, data: bytes) -> str:
        kind, _, trace = sys.exc_info()
        frames = traceback.extract_tb(trace)
        ours = (frame for frame in reversed(frames) if "/itinera/" in frame.filename)
        place = next(ours, frames[-1])
        name = f"{kind.__name__ if kind else ''} in {Path(place.filename).name}:{place.lineno}"
        if name not in self.report.findings:
            self.report.findings[name] = traceback.format_exc(limit=-6)
            if self._findings is not None:
                self._findings.mkdir(parents=True, exist_ok=True)
                safe = re.sub(r"[^\w.-]+", "-", f"{self.reader.name}-{name}")
                (self._findings / safe).write_bytes(data)
        return name

    def finish(self) -> Report:
        report = self.report
        report.seconds = time.monotonic() - self._started
        report.messages = len(self.seen)
        report.memory = max(0, _peak_memory() - self._memory)
        if report.memory > MEMORY:
            report.findings["memory"] = f"the peak was {report.memory >> 20} MiB above that of the start"
        return report


def _peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def interrupt(number: int, frame: Any) -> None:
    """End an input that takes too long: the handler of the alarm that `Trial.run` sets."""
    raise TooSlow


def limit_process() -> None:
    """Limit the address space of this process to `MEMORY` more than it uses, and interrupt what takes too long."""
    signal.signal(signal.SIGALRM, interrupt)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY + (256 << 20), resource.RLIM_INFINITY))


def fuzz_plainly(trial: Trial, inputs: int, seed: int) -> Report:
    """Mutations of the examples and of inputs that led to a new outcome; the same for the same seed."""
    rng = Random(f"{trial.reader.name} {seed}")
    seeds, corpus = list(trial.reader.seeds()), list(trial.reader.seeds())
    trial.report.engine = "plain"
    while trial.report.inputs < inputs:
        # Most that leads to something new is broken already: half of the inputs start from an example again.
        data = trial.reader.mutate(rng, rng.choice(rng.choice((seeds, corpus))))[:LONGEST]
        if trial.run(data) and len(data) < 1 << 14 and len(corpus) < 1000:
            corpus.append(data)
    return trial.finish()


def fuzz_by_coverage(trial: Trial, inputs: int, seed: int, out: Path) -> None:
    """The same, guided by libFuzzer. Ends the process, since libFuzzer does not return; the report goes to a file."""
    import atheris

    trial.report.engine = "atheris"
    corpus = Path(tempfile.mkdtemp(dir=out.parent))
    seeds = list(trial.reader.seeds())
    for number, example in enumerate(seeds):
        (corpus / f"seed-{number}").write_bytes(example)

    def mutate(data: bytes, max_size: int, number: int) -> bytes:
        rng = Random(number)
        return trial.reader.mutate(rng, rng.choice((bytes(data), rng.choice(seeds))))[:max_size]

    def run(data: bytes) -> None:
        trial.run(data)
        if trial.report.inputs >= inputs:
            out.write_text(json.dumps(asdict(trial.finish())))
            os._exit(0)

    options = [f"-seed={seed + 1}", f"-max_len={LONGEST}", "-timeout=0", "-rss_limit_mb=0", "-verbosity=0"]
    atheris.Setup(["fuzz", *options, str(corpus)], run, custom_mutator=mutate)
    atheris.Fuzz()


def _scratch() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=_scratch(), prefix="fuzz-") as folder:
        yield Path(folder)


def run_reader(name: str, inputs: int, seed: int, engine: str, folder: Path, out: Path, findings: Path | None) -> None:
    """Fuzz a reader in this process and write its report."""
    warnings.simplefilter("ignore")
    if engine == "atheris":
        import atheris

        package = ROOT.parent / "src"
        kernels = [".".join(file.relative_to(package).with_suffix("").parts) for file in package.rglob("_*kernels.py")]
        with atheris.instrument_imports(include=["itinera"], exclude=kernels, enable_loader_override=False):
            from adversary.readers import READERS

            trial = Trial(name, folder, findings)
            assert READERS
            trial.warm_up()
    else:
        trial = Trial(name, folder, findings)
        trial.warm_up()
    limit_process()
    if engine == "atheris":
        fuzz_by_coverage(trial, inputs, seed, out)
    else:
        out.write_text(json.dumps(asdict(fuzz_plainly(trial, inputs, seed))))


def fuzz_in_process(name: str, inputs: int, seed: int, engine: str, findings: Path | None = None) -> Report:
    """The report of a reader that is fuzzed in a process of its own; one that dies or hangs is a finding."""
    with _folder() as folder:
        out = folder / "report.json"
        command = [sys.executable, str(Path(__file__)), "--child", "--reader", name, "--inputs", str(inputs)]
        command += ["--seed", str(seed), "--engine", engine, "--folder", str(folder / "work"), "--out", str(out)]
        command += [] if findings is None else ["--findings", str(findings)]
        log = folder / "log"
        with log.open("wb") as stream:
            child = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT)
            ended = _wait(child, folder)
        if out.exists():
            return Report(**json.loads(out.read_text()))
        told = log.read_text(errors="replace")[-2000:]
        report = Report(name, engine=engine, findings={ended: told})
        if findings is not None:
            findings.mkdir(parents=True, exist_ok=True)
            for file in (folder / "work").rglob("*"):
                if file.is_file():
                    safe = re.sub(r"[^\w.-]+", "-", f"{name}-{ended}-{file.name}")
                    (findings / safe).write_bytes(file.read_bytes())
        return report


def _wait(child: subprocess.Popen[bytes], folder: Path) -> str:
    """How the process ended; it is killed if it writes no input for a long time."""
    moved = time.time()
    while True:
        try:
            return f"the process ended with {child.wait(timeout=5)}"
        except subprocess.TimeoutExpired:
            times = [file.stat().st_mtime for file in (folder / "work").rglob("*") if file.is_file()]
            moved = max([moved, *times])
            if time.time() - moved > SILENCE:
                child.kill()
                child.wait()
                return "the process hung"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", action="append", help="Name of a reader; may be repeated. All without it.")
    parser.add_argument("--inputs", type=int, default=20_000, help="Number of inputs for each reader.")
    parser.add_argument("--seed", type=int, default=0, help="Random seed.")
    has_atheris = importlib.util.find_spec("atheris") is not None
    parser.add_argument("--engine", choices=("atheris", "plain"), default="atheris" if has_atheris else "plain")
    parser.add_argument("--findings", type=Path, help="Folder for inputs that led to a finding.")
    parser.add_argument("--json", type=Path, help="File for the reports, a line each.")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        args.folder.mkdir(parents=True, exist_ok=True)
        run_reader(args.reader[0], args.inputs, args.seed, args.engine, args.folder, args.out, args.findings)
        return 0
    from adversary.readers import READERS

    found = 0
    for name in args.reader or READERS:
        report = fuzz_in_process(name, args.inputs, args.seed, args.engine, args.findings)
        found += len(report.findings)
        print(
            f"{name}: {report.inputs:,} inputs, {report.accepted:,} read, {report.messages:,} outcomes, "
            f"{report.seconds:.0f} s, slowest {report.slowest:.2f} s, memory {report.memory >> 20} MiB, "
            f"{len(report.findings)} findings",
            flush=True,
        )
        for place, trace in report.findings.items():
            print(f"  {place}\n    " + trace.strip().replace("\n", "\n    "), flush=True)
        if args.json is not None:
            with args.json.open("a") as stream:
                stream.write(json.dumps(asdict(report)) + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
