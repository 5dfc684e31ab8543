"""Writes `src/itinera/metrics/conformance.json`, the golden cases others can test their scorer against.

Each case gives values worked by hand for what it is about; the rest is filled in by the plain-Python scorers of
`released_scorers.py`, which must agree with the hand. Nothing here calls the code under test.

    cd tests && python -m golden.conformance     (then read the diff)
"""

from __future__ import annotations

from math import dist, inf
from pathlib import Path
from typing import Any

import msgspec

from golden import in_the_open, on_graphs, on_tours
from golden.drawing import Asked, Drawn, Values
from itinera.worlds import NavGraph
from released_scorers import EPISODES, TOURS, Attempt, tour_weight
from text_worlds import graph_distance

FILE = Path(__file__).parents[2] / "src/itinera/metrics/conformance.json"
ABOUT = (
    "Golden cases for scorers of instruction following. In each case a world (a graph whose edges are as long as the "
    "straight line between their ends, or open space), episodes, one trajectory per episode and, for every suite of "
    "conventions, the values expected: metres and fractions, null where undefined or refused, 'inf' where unreachable. "
    "'split' is the mean over tours with the suite's weights."
)
GRAPH_SUITES = ("paper", "m3ds", "envdrop", "hamt", "google", "ivln")
OPEN_SUITES = ("paper", "vlnce", "ivln-ce")
CASES = (*on_graphs.CASES, *on_tours.CASES, *in_the_open.CASES)


def built() -> dict[str, Any]:
    """The whole file, values filled in."""
    return {"about": ABOUT, "version": 1, "cases": [_case(drawn) for drawn in CASES]}


def _case(drawn: Drawn) -> dict[str, Any]:
    attempts = {name: _attempt(drawn, asked) for name, asked in drawn.asked.items()}
    suites = drawn.suites or (OPEN_SUITES if drawn.world is None else GRAPH_SUITES)
    expected: dict[str, Any] = {}
    for suite in suites:
        expected[suite] = {name: EPISODES[suite](attempt) for name, attempt in attempts.items()}
        if suite in TOURS:
            legs = {tour: [attempts[name] for name in names] for tour, names in drawn.tours.items()}
            expected[suite] |= {tour: TOURS[suite](leg) for tour, leg in legs.items()}
    _compare(drawn.name, expected, drawn.by_hand)
    case = {"name": drawn.name, "why": drawn.why, "world": _world(drawn.world)}
    case["episodes"] = [_episode(drawn, name) for name in drawn.asked]
    case["trajectories"] = {
        name: {"places": _places(drawn, a.walk), "stopped": a.stopped} for name, a in drawn.asked.items()
    }
    case |= {"radius": 3.0, "needs_stop": drawn.needs_stop}
    if drawn.tours:
        case["tours"] = drawn.tours
        means = {suite: _means(suite, drawn.tours, expected[suite]) for suite in suites if suite in TOURS}
        _compare(drawn.name, {"split": means}, {"split": drawn.split})
        case["split"] = means
    case["expected"] = expected
    return _jsonable(case)


def _compare(name: str, found: dict[str, Any], by_hand: dict[str, dict[str, Values]]) -> None:
    for suite, rows in by_hand.items():
        for row, values in rows.items():
            for metric, value in values.items():
                got = found[suite][row][metric]
                same = got is value if value is None or got is None else got == value or abs(got - value) < 1e-12
                assert same, f"{name}, {suite}, {row}, {metric}: by hand {value}, by the plain scorer {got}"


def _means(suite: str, tours: dict[str, list[str]], rows: dict[str, Values]) -> Values:
    """The mean over tours; undefined where any tour is, or where no tour weighs anything."""
    weights = {tour: tour_weight(suite, len(names)) for tour, names in tours.items()}
    total = sum(weights.values())
    means: Values = {}
    for metric in rows[next(iter(tours))]:
        values = [(weights[tour], rows[tour][metric]) for tour in tours]
        known = total > 0 and all(value is not None for _, value in values)
        means[metric] = sum(w * v for w, v in values) / total if known else None
    return means


def _world(graph: NavGraph | None) -> dict[str, Any]:
    if graph is None:
        return {"kind": "open"}
    edges = [[graph.nodes[i], graph.nodes[j]] for i, j in graph.edges.tolist()]
    return {"kind": "graph", "nodes": dict(zip(graph.nodes, graph.positions.tolist(), strict=True)), "edges": edges}


def _places(drawn: Drawn, places: Any) -> list[Any]:
    if drawn.world is not None:
        return list(places)
    points = [place if isinstance(place, tuple) else (place,) for place in places]
    return [tuple(float(x) for x in (*point, 0, 0)[:3]) for point in points]


def _episode(drawn: Drawn, name: str) -> dict[str, Any]:
    asked = drawn.asked[name]
    reference = _places(drawn, asked.reference)
    goals = reference[-1:] if asked.goals is None else _places(drawn, asked.goals)
    episode = {"id": name, "start": reference[0], "goals": goals, "reference": reference}
    return episode | ({} if asked.stated is None else {"distance": asked.stated})


def _attempt(drawn: Drawn, asked: Asked) -> Attempt:
    world = _world(drawn.world)
    places = world.get("nodes")
    edges = [frozenset(edge) for edge in world.get("edges", ())]
    reference = _places(drawn, asked.reference)

    def straight(a: Any, b: Any) -> float:
        return dist(places[a], places[b]) if places else dist(a, b)

    walkable = straight if drawn.world is None else graph_distance(drawn.world)
    return Attempt(
        walk=_places(drawn, asked.walk),
        start=reference[0],
        goals=reference[-1:] if asked.goals is None else _places(drawn, asked.goals),
        reference=reference,
        distance=walkable,
        straight=straight,
        joined=lambda a, b: places is None or frozenset((a, b)) in edges,
        stopped=asked.stopped,
        needs_stop=drawn.needs_stop,
        stated=asked.stated,
    )


def _jsonable(value: Any) -> Any:
    """The value with infinity spelt out, which JSON has no number for, and tuples as lists."""
    if isinstance(value, dict):
        return {key: _jsonable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(inner) for inner in value]
    return "inf" if value == inf else value


def written(content: dict[str, Any]) -> bytes:
    """The file: a line per fact, so that a person can read it and its diffs."""
    head = {key: value for key, value in content.items() if key != "cases"}
    cases = ",\n".join(_lines(case, deep=("expected", "split")) for case in content["cases"])
    return f'{_lines(head)[:-2]},\n"cases": [\n{cases}\n]\n}}\n'.encode()


def _lines(record: dict[str, Any], deep: tuple[str, ...] = (), indent: int = 1) -> str:
    """A JSON object with a line per key; values named in `deep` are laid out likewise, down to their rows."""
    gap = " " * indent
    told = []
    for key, value in record.items():
        inner = tuple(value) if key in deep and isinstance(value, dict) and indent < 3 else ()
        text = _lines(value, inner, indent + 1) if inner else msgspec.json.encode(value).decode()
        told.append(f"{gap}{msgspec.json.encode(key).decode()}: {text}")
    return "{\n" + ",\n".join(told) + f"\n{gap[:-1]}}}"


if __name__ == "__main__":
    FILE.write_bytes(written(built()))
    print(f"{len(CASES)} cases -> {FILE}")
