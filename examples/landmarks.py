"""An agent in a process of its own that sees: it goes where the things and rooms of its instruction come into view.

    itinera run --agent-command "python examples/landmarks.py" --views annotations --objects BBox/ --rooms rooms.csv ...

The 36 views around arrive as bytes behind the line, a row of numbers for each, whose names came with the hello. For any
Python from 2.7 on and without any package.
"""

from __future__ import print_function  # noqa: UP010

import array
import json
import sys

stdin = getattr(sys.stdin, "buffer", sys.stdin)  # bytes, in any Python


class Agent:
    def answer(self, question):
        return getattr(self, question["ask"])(question) or {}

    def hello(self, question):
        names = [name[3:] if name[:3] in ("in ", "to ") else name for name in question.get("columns", [])]
        self.words = [set(name.replace("/", " ").replace("room", " room").split()) for name in names]
        return {"version": 1, "wants": ["views"]}

    def reset(self, question):
        pass  # a new place: there is nothing to forget

    def start_episode(self, question):
        told = set(question["text"].lower().replace(",", " ").replace(".", " ").split())
        self.sought = [k for k, words in enumerate(self.words) if words & told - {"room"}]
        self.visits = {}  # how often it was where
        self.left = max(3, min(8, len(told) // 5))  # moves; long texts tell of long ways

    def act(self, question):
        seen, views = question["observation"], question["observation"]["arrays"]
        candidates, here = seen["candidates"], seen["place"]
        self.visits[here] = self.visits.get(here, 0) + 1
        if not self.left or not candidates["nodes"]:
            return {"action": 0}
        self.left -= 1
        onward = enumerate(candidates["nodes"])
        worth = [self.worth(views, candidates["views"][k]) - 9 * self.visits.get(node, 0) for k, node in onward]
        return {"action": 1 + worth.index(max(worth))}

    def worth(self, views, view):
        """How much of what is sought the view shows."""
        row = views[0]["data"][view * views[0]["shape"][1] :] if views else []
        return sum(row[k] for k in self.sought) if views else 0.0

    def observe(self, question):
        pass


def main():
    agent = Agent()
    for line in iter(stdin.readline, b""):
        question = json.loads(line.decode("utf-8"))
        for sent in question.get("observation", {}).get("arrays", []):
            sent["data"] = array.array("f", stdin.read(sent["bytes"]))  # little-endian, as nearly all machines are
        print(json.dumps(agent.answer(question)))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
