"""The verbs of the `itinera` command, and the options they all share. `itinera.__main__` runs it.

A command imports and builds its own verb only; `itinera --help` needs all of them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from itertools import dropwhile
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from itinera.cli import output

# In the order of the help. The verb "fastest-times" is the function `fastest_times` of the file of that name; a verb
# with verbs of its own is the `app` of its file.
VERBS = (
    "build",
    "export",
    "view",
    "describe",
    "train",
    "train-pointnav",
    "run",
    "gather",
    "replay",
    "show",
    "first-faults",
    "sample",
    "score",
    "estimate",
    "adopt",
    "judge",
    "serve",
    "submit",
    "work",
    "host",
    "attack",
    "compare",
    "report",
    "study",
    "convert",
    "check",
    "fastest",
    "fastest-times",
    "reproduce",
    "audit",
    "conformance",
    "power",
    "data",
    "doctor",
)
QUIET = ("--quiet", "-q")


def make_app(verbs: Sequence[str] = VERBS) -> typer.Typer:
    """The command with these verbs."""
    made = typer.Typer(
        name="itinera",
        cls=_Group,
        help="Itinera evaluates vision-and-language navigation agents: every published metric, with confidence "
        "intervals, on a laptop.\n\n"
        "A first score: itinera score predictions.json --tasks R2R_val_unseen.json --worlds connectivity/",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(_itinera)
    for verb in verbs:
        name = verb.replace("-", "_")
        module = import_module(f"itinera.cli.{name}")
        if hasattr(module, "app"):
            made.add_typer(module.app, name=verb)
        else:
            made.command(verb, cls=_Verb)(getattr(module, name))
    return made


def app_for(words: Sequence[str]) -> typer.Typer:
    """The command with the verb that these words call; with all of them if they call none."""
    verb = next((word for word in words if not word.startswith("-")), "")
    return make_app([verb]) if verb in VERBS else make_app()


def __getattr__(name: str) -> Any:
    """`app`, the command with all verbs, is built on first use."""
    if name != "app":
        raise AttributeError(name)
    globals()["app"] = made = make_app()
    return made


class _Group(TyperGroup):
    """The command itself, which has options too."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _convert_plainly(super().get_params(ctx))


class _Verb(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return _convert_plainly(super().get_params(ctx))


def _convert_plainly(parameters: list[Any]) -> list[Any]:
    """Convert names and paths without typer, which imports pydantic for it: a tenth of the time of a cold score."""
    for parameter in parameters:
        plain = isinstance(parameter.process_value, partial)
        if not plain and hasattr(parameter, "type_descriptor"):  # else an older typer, with conversions of its own
            parameter.process_value = partial(_convert, parameter, parameter.process_value)
    return parameters


def _convert(parameter: Any, convert: Callable[[Any, Any], Any], ctx: Any, value: Any) -> Any:
    """The value of an option; `convert` is typer's own conversion, for everything that is not plain."""
    kind, callback = parameter.type_descriptor.annotation, parameter.callback
    single = not parameter.multiple and parameter.nargs == 1
    if single and not parameter.required and (value is None or value is parameter.default):
        return value if callback is None else callback(ctx, parameter, value)
    if parameter.multiple and not value and parameter.default is None and callback is None:
        return None
    if single and callback is None and isinstance(value, str) and value and value.isascii():
        if kind is str:
            return value
        if kind is Path and (not os.path.exists(value) or os.access(value, os.R_OK)):
            return Path(value)
    return convert(ctx, value)


def _print_version(wanted: bool) -> None:
    if wanted:
        from itinera.records.provenance import itinera_version

        output.print_line(f"itinera {itinera_version()}")
        raise typer.Exit


def _itinera(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print version and commit.", is_eager=True, callback=_print_version),
    ] = False,
    quiet: Annotated[bool, typer.Option(*QUIET, help="Results and errors only: no remarks, no progress.")] = False,
) -> None:
    # A result records the command that made it, which does not depend on how much was printed meanwhile.
    output.configure(tuple(dropwhile(QUIET.__contains__, sys.argv[1:])), quiet=quiet)
