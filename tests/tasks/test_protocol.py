"""The rules results carry."""

from __future__ import annotations

from dataclasses import fields, replace
from math import pi

import pytest

from itinera.tasks import PROTOCOLS, Guidance, Protocol
from itinera.tasks.protocol import R2R, R2R_CE, RXR_CE

ANOTHER = {
    "name": "other",
    "version": 2,
    "success_radius": 1.0,
    "needs_stop": True,
    "step_limit": 7,
    "step_size": 0.5,
    "turn_angle": 0.1,
    "tilt_angle": 0.1,
    "sliding": True,
    "robot_radius": 0.2,
    "robot_height": 1.0,
    "guidance": Guidance(),
    "drive": "unicycle-6",
}


def test_protocols_are_found_by_their_own_names():
    assert {name: protocol.name for name, protocol in PROTOCOLS.items()} == {name: name for name in PROTOCOLS}


def test_equal_protocols_have_equal_digests_and_others_do_not():
    assert R2R.digest == Protocol("r2r", step_limit=15).digest
    assert len({protocol.digest for protocol in PROTOCOLS.values()}) == len(PROTOCOLS)


def test_results_made_before_there_was_guidance_keep_their_protocol():
    before = {"r2r": "fdb2e8f855b4b0ed", "r4r": "4893d4da3c990c50", "r2r-ce": "04788f809f5c8fac"}
    assert {name: PROTOCOLS[name].digest for name in before} == before


@pytest.mark.parametrize("name", [f.name for f in fields(Protocol)])
def test_every_field_counts_in_the_digest(name):
    assert replace(R2R, **{name: ANOTHER[name]}).digest != R2R.digest


def test_graph_tasks_do_not_ask_for_stop_and_continuous_ones_do():
    on_ground = {"r2r-ce", "rxr-ce", "pointnav", "ivln-ce", "ivln-ce-test"}
    assert {name for name, protocol in PROTOCOLS.items() if protocol.needs_stop} == on_ground


def test_turns_are_in_radians():
    assert pytest.approx((pi / 12, pi / 6)) == (R2R_CE.turn_angle, RXR_CE.turn_angle)
