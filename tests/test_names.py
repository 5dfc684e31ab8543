"""Public names use the words of the field: no retired word, no bare participle, no function that ends in `_of`.

Run as a program (the pre-commit hook does), it prints every finding of `src/itinera`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "itinera"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Refused wherever they occur in a name, as a word of their own: told, TOLD, ToldOnce, as_told.
RETIRED_WORDS = _words("""
    told asked unasked brief logbook leaning leanings crew crews atlas walkers lesson lessons weigh weighed weighing
    playground pastimes whereabouts outlook outlooks stranger footing sight sights heard taught cloned halving hire
    boxed teller tallied
""")

# Refused as a complete name only: as part of a longer name, most of them are ordinary words (`val_seen`, `even_split`).
RETIRED_NAMES = _words("""
    Walk Ways Eye Stage Panel Setting Happened Chance Shuffle Seen Mixed Sampled Sizes Card Fastest Walker Leader
    Arm Cut Cuttings Tally Contest Look More Outsider Trail OnDemand Numbered Unicycle GraphWalk GroundWalk
    enter begin watch ways led leader lead simply again far there who slots gap gaps missed even one_of chosen
    here_first read_on as_taught cloning usual_suite most most_words going_on alone
    NEVER EVERY_SUITE ALL_SUITES LED_TO_GOAL LED_TO_START
""")

# Refused as names of modules and packages; as parameters, some of them are ordinary words (`houses=3`).
RETIRED_MODULES = _words("""
    houses learning studies neural going_on tally bodies senses trained many printed asking leading stage walk pairing
    leaving sidecar meaning wording phrases legs searching relaxing merging stitching on_demand eye looking proxies
    courses teachers speaking cutting passing observing spreads polishing arrival trailing contest draft seen ways
""")

# Participles: a function is a verb ("truncate"), a value is a noun ("truncation").
PARTICIPLES = _words("told seen kept asked shown known made given found taken drawn written said sent held built")
NOT_PARTICIPLES = _words("seed feed speed need embed proceed exceed breed red bed shed")

# Names that the field itself uses: Gymnasium's flag, the metric success weighted by edit distance, networkx's graphs,
# the near and far plane of a camera, the gap between a bound and a solution, ragged arrays.
ALLOWED = frozenset({"done", "sed", "directed", "far", "gap", "Ragged"})


@dataclass(frozen=True)
class Name:
    """A name that a file of the package defines."""

    where: str
    kind: str  # module, class, function, property, constant, field or parameter
    text: str
    public: bool


def names(root: Path) -> Iterator[Name]:
    """Every name that files below root define, apart from local variables."""
    for file in sorted(root.rglob("*.py")):
        where = file.relative_to(root).as_posix()
        for part in Path(where).with_suffix("").parts[-2:]:
            if part != "__init__":
                yield Name(where, "module", part, not part.startswith("_"))
        yield from _defined(ast.parse(file.read_text(encoding="utf-8")), where, public=True, in_class=False)


def _defined(tree: ast.AST, where: str, *, public: bool, in_class: bool) -> Iterator[Name]:
    for node in ast.iter_child_nodes(tree):
        place = f"{where}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.ClassDef):
            seen = public and not node.name.startswith("_")
            yield Name(place, "class", node.name, seen)
            yield from _defined(node, where, public=seen, in_class=True)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            seen = public and not node.name.startswith("_")
            yield Name(place, "property" if _is_property(node) else "function", node.name, seen)
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            yield from (Name(place, "parameter", each.arg, seen) for each in given if each.arg not in ("self", "cls"))
            yield from _defined(node, where, public=False, in_class=False)
        elif isinstance(node, ast.AnnAssign | ast.Assign) and (in_class or isinstance(tree, ast.Module)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            kind = "field" if in_class else "constant"
            for target in targets:
                if isinstance(target, ast.Name):
                    yield Name(place, kind, target.id, public and not target.id.startswith("_"))
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.For):
            yield from _defined(node, where, public=public, in_class=in_class)


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id.endswith("property") for each in node.decorator_list)


def fault(name: Name) -> str:
    """What is wrong with a name, or nothing."""
    if name.text in ALLOWED:
        return ""
    if name.kind in ("function", "property") and name.text.endswith("_of"):
        return "ends in _of; name what it does or returns"
    if not name.public:
        return ""
    words = {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name.text)}
    if retired := sorted(words & RETIRED_WORDS):
        return f"uses the retired word {retired[0]}"
    if name.text in (RETIRED_MODULES if name.kind == "module" else RETIRED_NAMES):
        return "is a retired name"
    if name.kind in ("class", "function") and is_participle(name.text.lower()):
        return "is a bare participle; functions are verbs, values are nouns"
    return ""


def is_participle(word: str) -> bool:
    regular = re.fullmatch(r"[a-z]+ed", word) is not None
    return word not in NOT_PARTICIPLES and (regular or word in PARTICIPLES)


def findings(root: Path) -> list[str]:
    """Every fault below root, as `file:line: kind name fault`."""
    found_here = (f"{name.where}: {name.kind} {name.text} {found}" for name in names(root) if (found := fault(name)))
    return list(dict.fromkeys(found_here))


def test_public_names_use_the_words_of_the_field():
    assert "\n".join(findings(SOURCE)) == ""


def test_retired_words_are_found(tmp_path):
    (tmp_path / "crews.py").write_text(
        "class Atlas:\n    ways: int\n    def kept(self, taught): ...\ndef _goals_of(x): ...\ndef val_seen(who): ...\n"
    )
    assert [line.split(": ", 1)[1].split(" ")[1] for line in findings(tmp_path)] == [
        "crews", "Atlas", "ways", "kept", "taught", "_goals_of", "who",
    ]  # fmt: skip


def test_ordinary_names_pass(tmp_path):
    text = "class Seed:\n    failed: bool\n    def embed(self, candidates): ...\ndef val_seen(path): ...\n_told = 1\n"
    (tmp_path / "walkable.py").write_text(text)
    assert findings(tmp_path) == []


if __name__ == "__main__":
    found = findings(SOURCE)
    print("\n".join(found))
    sys.exit(bool(found))
