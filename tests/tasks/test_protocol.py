"""The rules results carry."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from math import pi, radians

import pytest

from itinera.errors import BadArgument, BadFile
from itinera.tasks import PROTOCOLS, Guidance, Protocol
from itinera.tasks.protocol import (
    IVLN,
    IVLN_TEST,
    POINTNAV,
    R2R,
    R2R_CE,
    RXR,
    RXR_CE,
    check_protocol,
    select_carried,
    task_protocols,
)

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


def test_a_known_name_stands_alone_only_for_its_own_rules():
    assert [protocol.label for protocol in PROTOCOLS.values()] == list(PROTOCOLS)
    modified = replace(R2R, success_radius=1000.0)
    assert modified.label == f"r2r (modified, {modified.digest[:8]})"
    driven = replace(R2R_CE, drive="unicycle-6", step_size=0.5)
    assert driven.label == f"r2r-ce (unicycle-6, {driven.digest[:8]})"
    both = replace(driven, success_radius=1000.0)
    assert both.label == f"r2r-ce (modified, {both.digest[:8]})"
    own = replace(R2R, name="mine")
    assert own.label == f"mine ({own.digest[:8]})"
    assert (driven.without_motion.label, R2R.without_motion.label) == ("r2r-ce (any motion)", "r2r")


@pytest.mark.parametrize(
    "fields",
    [
        {"success_radius": 0.0},
        {"success_radius": float("nan")},
        {"success_radius": float("inf")},
        {"step_limit": 0},
        {"step_size": -0.25},
        {"turn_angle": 0.0},
        {"robot_radius": 0.0},
        {"robot_height": -1.0},
        {"guidance": Guidance(step_limit=0)},
        {"name": "r2r\u200b"},
    ],
    ids=str,
)
def test_values_out_of_range_are_refused(fields):
    with pytest.raises(BadArgument, match=f"Protocol .*: {next(iter(fields))}"):
        check_protocol(replace(R2R, **fields))


def test_a_carried_protocol_must_be_one_that_the_tasks_allow():
    assert select_carried(replace(R2R), task_protocols("r2r", tours=False), "file") is R2R
    assert select_carried(IVLN_TEST, task_protocols("r2r", tours=True), "file") is IVLN_TEST
    remedies = {
        replace(R2R, success_radius=1000.0): "Name the protocol to apply: --protocol r2r.",
        RXR: "If these are the rules, name them: --protocol rxr.",
        IVLN: "Give the tours of the run: --tours. Or, if these are the rules, name them: --protocol ivln.",
    }
    for carried, remedy in remedies.items():
        with pytest.raises(BadFile, match=f"the predictions carry (?s:.*){re.escape(remedy)}"):
            select_carried(carried, task_protocols("r2r", tours=False), "file")
    driven = replace(POINTNAV, drive="unicycle-6", step_size=0.5, turn_angle=radians(20.0))
    with pytest.raises(BadFile, match=r"--drive unicycle-6 --vmax 0\.5 --wmax 20\."):
        select_carried(driven, task_protocols("pointnav", tours=False), "file")
