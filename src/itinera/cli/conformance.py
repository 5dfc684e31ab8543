"""`itinera conformance`: does somebody else's scorer agree with ours, and if not, whose rules does it follow?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from itinera.cli import output
from itinera.errors import BadArgument


def conformance(
    scorer: Annotated[str, typer.Argument(help="A function as module:function; see the documentation for its shape.")],
    suite: Annotated[str, typer.Option(help="The suite it should agree with.")] = "paper",
    json: output.Json = False,
) -> None:
    """Try a scorer on golden cases worked by hand, and tell which suites it agrees with.

    The function gets one attempt as a plain dict and returns a dict of metric names and values; metrics it leaves out
    are not asked for. Exit 0 if it agrees with --suite everywhere.

    Example: itinera conformance my_package.evaluation:score_one --suite hamt
    """
    from itinera.cli.inputs import one_of
    from itinera.metrics import conformance as golden
    from itinera.metrics.suites import SUITES

    one_of("--suite", suite, tuple(SUITES))
    function = _imported(scorer)
    raise NotImplementedError(function, golden)


def _imported(name: str) -> Callable[[dict[str, Any]], Any]:
    import importlib
    import sys

    module, colon, function = name.partition(":")
    if not (module and colon and function):
        raise BadArgument(f"{name!r} is not module:function.")
    sys.path.insert(0, "")  # a module beside the caller, as `python -m` finds it
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise BadArgument(f"{name} cannot be imported: {error}.") from None
    if not callable(found):
        raise BadArgument(f"{name} is not a function.")
    return found  # type: ignore[no-any-return]
