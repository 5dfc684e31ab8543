"""Metrics of what an agent took: calls of a language model, tokens, cost, and answers that named no action.

They are undefined where the record does not say, and for a missing trajectory. Language models of `itinera run` say it.
"""

from __future__ import annotations

import numpy as np

from itinera.metrics.attempts import Attempts
from itinera.metrics.goal import ratio
from itinera.records.usage import EpisodeUsage
from itinera.worlds import Array


def calls(attempts: Attempts) -> Array:
    """(n,) the answers of the model in the episode."""
    return _usage(attempts).calls


def prompt_tokens(attempts: Attempts) -> Array:
    """(n,) the tokens of all prompts of the episode."""
    return _usage(attempts).prompt_tokens


def completion_tokens(attempts: Attempts) -> Array:
    """(n,) the tokens of all answers of the episode."""
    return _usage(attempts).completion_tokens


def cost(attempts: Attempts) -> Array:
    """(n,) US dollars, by the price that the run was given."""
    return _usage(attempts).cost


def unparsable_rate(attempts: Attempts) -> Array:
    """(n,) the share of answers that named no possible action; weigh it by `calls` for that of all answers."""
    usage = _usage(attempts)
    return ratio(usage.unparsable, usage.calls, np.nan)


def call_weights(attempts: Attempts) -> Array:
    """(n,) the number of calls, 0 where the record does not say."""
    return np.nan_to_num(_usage(attempts).calls)


def _usage(attempts: Attempts) -> EpisodeUsage:
    if attempts.usage is not None:
        return attempts.usage
    unknown = np.full(len(attempts), np.nan)
    return EpisodeUsage(unknown, unknown, unknown, unknown, unknown)
