"""`itinera doctor`: what is installed, and what works on this machine."""

from __future__ import annotations

import os

import typer

from itinera.cli import options, output


def doctor(json: options.Json = False) -> None:
    """Print what is installed and what works: versions, extras, compiled kernels, browser, data, cores, memory.

    Exits with 1 if something is broken; a missing extra is not an error.

    Example: itinera doctor --json
    """
    from itinera import api

    found = api.doctor(browser=os.environ.get("ITINERA_BROWSER"), data=os.environ.get("ITINERA_DATA"))
    if json:
        output.print_json(found.to_dict())
    else:
        output.print_text(str(found))
    if found.troubles:
        raise typer.Exit(1)
