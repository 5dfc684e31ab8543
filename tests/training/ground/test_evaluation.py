"""Evaluation in training gives the scores of `itinera run` and `itinera score`, to the digit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import itinera
from itinera.mapping.config import MapLifetime
from itinera.tasks import PROTOCOLS
from itinera.tasks.protocol import IVLN_CE
from itinera.training.ground.evaluation import (
    evaluate_on_ground,
    exchange_instructions,
    measure_reading,
)
from itinera.training.ground.lane_agents import ExpertDecider
from itinera.training.ground.tour_lanes import episode_jobs


@pytest.mark.parametrize(
    ("kind", "lifetime", "toured"),
    [
        ("map-cma", MapLifetime.EPISODIC, False),
        ("map-cma", MapLifetime.ITERATIVE, True),
        pytest.param("tour-cma", MapLifetime.EPISODIC, True, marks=pytest.mark.slow),
    ],
)
def test_scores_equal_those_of_a_run(ground, kind, lifetime, toured):
    model = ground.model(kind, 1, lifetime=lifetime)
    split = ground.toured if toured else ground.split
    protocol = replace(IVLN_CE if toured else PROTOCOLS["r2r-ce"], step_limit=25)
    life = lifetime if kind == "map-cma" else None
    collector = ground.collector(
        model, *(() if life is None else (life,)), toured=toured, keep_guided=model.policy.remembers_tours
    )
    found = evaluate_on_ground(model.policy, split, ground.texts_of(model), collector, life, protocol=protocol)
    predictions = itinera.run(model.agent(), split, ground.worlds, protocol=protocol, workers=0)
    expected = itinera.score(predictions, split, ground.worlds, protocol=protocol)
    for name in ("SR", "OSR", "SPL", "nDTW", "NE", "PL", "steps"):
        assert np.array_equal(found[name], expected[name]), name
    assert found["PL"].max() > 0.5
    if toured:
        assert np.array_equal(found.tours["t-nDTW"], expected.tours["t-nDTW"])


def test_every_episode_gets_the_words_of_another_path(ground):
    exchanged = exchange_instructions(ground.split)
    by_text = {}
    for episode in ground.split.episodes:
        by_text.setdefault(episode.instruction.text, set()).add(episode.path_id)
    for episode, own in zip(exchanged.episodes, ground.split.episodes, strict=True):
        assert episode.id == own.id
        assert episode.instruction != own.instruction
        assert own.path_id not in by_text[episode.instruction.text]


def test_a_policy_that_does_not_read_has_no_reading_gap_and_one_that_does_has_one(ground):
    model = ground.model("cma")
    collector, texts = ground.collector(model), ground.texts_of(model)
    experience = collector.collect(episode_jobs(ground.split), ExpertDecider(), seed=0, beta=1.0)[1]
    others = type(texts).from_split(exchange_instructions(ground.split), model.tokenizer)
    found = measure_reading(model.policy, ground.split, texts, others, experience, None)
    assert found.gap == pytest.approx(found.difference.mean, abs=1e-6)
    same = measure_reading(model.policy, ground.split, texts, texts, experience, None)
    assert same.gap == 0.0
    assert found.own == pytest.approx(same.own)
    assert found.other != found.own
