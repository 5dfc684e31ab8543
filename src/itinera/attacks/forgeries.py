"""Forged entries: what people have sent to test servers, by mistake or not, and a few things worse.

Each is made from two honest entries: that of an agent which never moves, and that of an expert which arrives. A scorer
must refuse a forgery or give it no better score than its honest twin: what is really in it, with every other episode
answered by the agent that never moves.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from itinera.attacks.entry_formats import NUMBER, Answer, Entry

Twin = Literal["the still agent", "one good episode"]
STILL: Twin = "the still agent"
ONE_GOOD: Twin = "one good episode"
EXPERT = "the expert"
MANY_STEPS = 1_000_000
DEPTH = 200_000
_PACKED_MIB = 1024  # of spaces, in about a MB
_SCALES = {"centimeters": 100.0, "kilometers": 0.001}


@dataclass(frozen=True)
class Forgery:
    """A forged entry."""

    name: str
    make: Callable[[], bytes]  # made when needed: some are large
    malformed: bool  # there is no score that it deserves: a scorer should refuse it
    twin: Twin = STILL  # the honest entry that it must not beat


@dataclass(frozen=True)
class Honest:
    """The honest entries, of the same format and episodes."""

    still: Entry
    expert: Entry

    def one_good(self) -> Entry:
        """The still agent's entry with one answer of the expert."""
        good = self.expert.answers[0]
        return self.still.with_answers([good if a.episode_id == good.episode_id else a for a in self.still.answers])

    def controls(self) -> dict[str, bytes]:
        """The honest entries by name."""
        entries = {STILL: self.still, ONE_GOOD: self.one_good(), EXPERT: self.expert}
        return {name: entry.encode() for name, entry in entries.items()}


def make_forgeries(honest: Honest) -> list[Forgery]:
    """All forgeries that the format of these entries can express."""
    made = [*_no_entries(honest), *_wrong_episodes(honest), *_wrong_trajectories(honest), *_claims(honest)]
    if honest.still.format.has_positions:
        made += _wrong_units(honest)
    if honest.still.format.name == "native":
        made += _native_claims(honest)
    return made


def _no_entries(honest: Honest) -> Iterator[Forgery]:
    whole = honest.still.encode()
    yield Forgery("empty file", lambda: b"", malformed=True)
    yield Forgery("empty list", lambda: b"[]", malformed=True)
    yield Forgery("no answers", lambda: honest.still.with_answers([]).encode(), malformed=True)
    yield Forgery("null", lambda: b"null", malformed=True)
    yield Forgery("cut off in the middle", lambda: whole[: len(whole) // 2], malformed=True)
    yield Forgery("not UTF-8", lambda: whole.replace(b'"', b'"\xff', 1), malformed=True)
    yield Forgery("not JSON", lambda: b"PK\x03\x04" + bytes(64), malformed=True)
    yield Forgery("deep JSON", lambda: b"[" * DEPTH, malformed=True)
    yield Forgery("deep JSON in an answer", lambda: _insert(honest.still, "[" * DEPTH + "]" * DEPTH), malformed=True)
    yield Forgery(
        "1 GiB packed to 1 MB", lambda: gzip.compress(b" " * (1 << 20), 9, mtime=0) * _PACKED_MIB, malformed=True
    )


def _insert(entry: Entry, text: str) -> bytes:
    return _change_first(entry, lambda content: entry.format.with_field(content, "note", NUMBER)).encode(text)


def _change_first(entry: Entry, change: Callable[[Any], Any]) -> Entry:
    first, *others = entry.answers
    return entry.with_answers([replace(first, content=change(first.content)), *others])


def _change_all(entry: Entry, change: Callable[[Any], Any]) -> Entry:
    return entry.with_answers([replace(answer, content=change(answer.content)) for answer in entry.answers])


def _wrong_episodes(honest: Honest) -> Iterator[Forgery]:
    still, expert = honest.still, honest.expert
    good, count = expert.answers[0], len(still.answers)
    pairs = list(zip(still.answers, expert.answers, strict=True))
    strangers = [replace(answer, episode_id=str(10**9 + i)) for i, answer in enumerate(expert.answers)]

    def entry(answers: Sequence[Answer]) -> Callable[[], bytes]:
        return lambda: still.with_answers(answers).encode()

    yield Forgery("one good episode alone", entry([good]), malformed=False, twin=ONE_GOOD)
    yield Forgery("one good episode, again and again", entry([good] * count), malformed=True, twin=ONE_GOOD)
    yield Forgery("an answer twice", entry([*still.answers, still.answers[0]]), malformed=True)
    # Whether the first or the last counts, the agent stands still; only the best of the three does not.
    yield Forgery("three answers each, the best in the middle", entry([one for s, e in pairs for one in (s, e, s)]),
                  malformed=True)  # fmt: skip
    yield Forgery("answers of another split", entry(strangers), malformed=True)
    yield Forgery("answers of another split as well", entry([*still.answers, *strangers]), malformed=True)
    yield Forgery("an id with spaces", entry([*still.answers, replace(good, episode_id=f" {good.episode_id} ")]),
                  malformed=True)  # fmt: skip
    yield Forgery("an id that is empty", entry([*still.answers, replace(good, episode_id="")]), malformed=True)
    yield Forgery("an id of a million characters", entry([*still.answers, replace(good, episode_id="9" * 1_000_000)]),
                  malformed=True)  # fmt: skip


def _wrong_trajectories(honest: Honest) -> Iterator[Forgery]:
    still, expert = honest.still, honest.expert
    visit, with_place = still.format.visit, still.format.with_place

    def of_experts(indices: Sequence[int]) -> Callable[[], bytes]:
        return lambda: _change_all(expert, lambda content: visit(content, indices)).encode()

    def with_number(number: str) -> Callable[[], bytes]:
        place = [NUMBER] * 3 if _on_ground(still) else NUMBER
        return lambda: _change_all(still, lambda content: with_place(content, place)).encode(number)

    def first(change: Callable[[Any], Any]) -> Callable[[], bytes]:
        return lambda: _change_first(still, change).encode()

    elsewhere: Any = [1e6, 0.0, 1e6] if _on_ground(still) else "nowhere"
    yield Forgery("a jump to the goal", of_experts([0, -1]), malformed=False)
    yield Forgery("a start at the goal", of_experts([-1]), malformed=False)
    yield Forgery("a jump to the goal and back", of_experts([0, -1, 0]), malformed=False)
    yield Forgery("no places", of_experts([]), malformed=True)
    yield Forgery("a place that does not exist",
                  lambda: _change_all(still, lambda content: with_place(content, elsewhere)).encode(),
                  malformed=False)  # fmt: skip
    yield Forgery("places that are NaN", with_number("NaN"), malformed=True)
    yield Forgery("places that are infinite", with_number("Infinity"), malformed=True)
    yield Forgery("places at -1e999", with_number("-1e999"), malformed=True)
    yield Forgery("a number of 100,000 digits", with_number("9" * 100_000), malformed=True)
    yield Forgery("an answer without its trajectory", first(still.format.without_field), malformed=True)
    yield Forgery("a trajectory that is a text", first(_as_text), malformed=True)
    yield Forgery(f"{MANY_STEPS:,} steps", first(lambda content: visit(content, [0] * MANY_STEPS)), malformed=False)


def _as_text(content: Any) -> Any:
    if isinstance(content, list):
        return "arrived"
    return {key: "arrived" if key in ("trajectory", "places") else value for key, value in content.items()}


def _on_ground(entry: Entry) -> bool:
    return entry.format.has_positions or (
        entry.format.name == "native" and not isinstance(entry.answers[0].content["places"][0], str)
    )


def _claims(honest: Honest) -> Iterator[Forgery]:
    still = honest.still
    claims = {"success": 1, "SR": 1.0, "spl": 1.0, "ndtw": 1.0, "distance_to_goal": 0.0, "ne": 0.0, "reached": True}

    def claim(content: Any) -> Any:
        for name, value in claims.items():
            content = still.format.with_field(content, name, value)
        return content

    yield Forgery("scores in the entry", lambda: _change_all(still, claim).encode(), malformed=False)


def _wrong_units(honest: Honest) -> Iterator[Forgery]:
    def scaled(factor: float) -> Callable[[], bytes]:
        return lambda: _move(honest.expert, lambda place: [factor * x for x in place])

    for unit, factor in _SCALES.items():
        yield Forgery(f"positions in {unit}", scaled(factor), malformed=False)
    yield Forgery("axes in another order", lambda: _move(honest.expert, lambda p: [p[1], p[2], p[0]]), malformed=False)


def _move(entry: Entry, move: Callable[[list[float]], list[float]]) -> bytes:
    def moved(states: Any) -> Any:
        return [{**state, "position": move(state["position"])} for state in states]

    return _change_all(entry, moved).encode()


def _native_claims(honest: Honest) -> Iterator[Forgery]:
    """What only a format with actions and rules can claim."""
    still, expert = honest.still, honest.expert
    visit = still.format.visit

    def with_rule(name: str, value: Any) -> Callable[[], bytes]:
        protocol = {**(still.header.get("protocol") or {}), name: value}
        return lambda: replace(still, header={**still.header, "protocol": protocol}).encode()

    def guided(phase: str) -> Callable[[], bytes]:
        def claim(content: Any) -> Any:
            jump = visit(content, [0, -1])
            return {**jump, "phases": ["acting", phase]}

        return lambda: _change_all(expert, claim).encode()

    def act(actions: list[int]) -> Callable[[], bytes]:
        return lambda: _change_all(expert, lambda content: {**visit(content, [0, -1]), "actions": actions}).encode()

    yield Forgery("a success radius of 1,000 m", with_rule("success_radius", 1000.0), malformed=True)
    yield Forgery("a success radius without end", lambda: json.dumps({
        **still.header, "protocol": {"success_radius": NUMBER}
    }).replace(json.dumps(NUMBER), "Infinity").encode(), malformed=True)  # fmt: skip
    yield Forgery("guidance to the goal", guided("guided to goal"), malformed=False)
    yield Forgery("a phase that does not exist", guided("carried"), malformed=True)
    yield Forgery("an action that does not exist", act([10**6]), malformed=False)
    yield Forgery("fewer actions than moves", act([]), malformed=True)
