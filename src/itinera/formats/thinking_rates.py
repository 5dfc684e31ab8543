"""Tables of thinking seconds: a JSON file with the seconds of a unit of usage, by its name."""

from __future__ import annotations

from pathlib import Path

import msgspec

from itinera.errors import BadFile, Fault
from itinera.formats.io import read_bytes
from itinera.records.thinking import MAX_SECONDS

MAX_RATES, MAX_BYTES = 100, 1 << 20  # of a table
REMEDY = 'Write seconds by name: {"act": 0.05, "calls": 0.4, "completion_tokens": 0.02}.'


def read_rates(path: Path) -> tuple[tuple[str, float], ...]:
    """The seconds for a unit of usage, by name, of a JSON file such as {"act": 0.05, "completion_tokens": 0.02}."""
    try:
        rates = msgspec.json.decode(read_bytes(path, limit=MAX_BYTES), type=dict[str, float])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadFile(str(path), [Fault("", f"is no table of seconds: {error}.", REMEDY)]) from None
    faults = [
        Fault("", f"is {seconds:g}; expected 0 to {MAX_SECONDS:.0f} seconds.", REMEDY, name)
        for name, seconds in rates.items()
        if not 0 <= seconds <= MAX_SECONDS
    ]
    if not 0 < len(rates) <= MAX_RATES:
        faults.append(Fault("", f"has {len(rates)} rates; expected 1 to {MAX_RATES}.", REMEDY))
    if faults:
        raise BadFile(str(path), faults)
    return tuple(sorted(rates.items()))
