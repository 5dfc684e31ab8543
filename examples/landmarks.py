"""An agent in a process of its own that moves towards the objects and rooms that its instruction names.

    itinera run --agent-command "python examples/landmarks.py" --views annotations --objects BBox/ --rooms rooms.csv ...

The features of the 36 views arrive as bytes after the line; their names are in the first request. For any Python from
2.7 on, without packages.
"""

from __future__ import print_function  # noqa: UP010

import array
import json
import sys

stdin = getattr(sys.stdin, "buffer", sys.stdin)  # bytes, in any Python


class Agent:
    def reply(self, request):
        return getattr(self, request["ask"])(request) or {}

    def hello(self, request):
        names = [name[3:] if name[:3] in ("in ", "to ") else name for name in request.get("columns", [])]
        self.words = [set(name.replace("/", " ").replace("room", " room").split()) for name in names]
        return {"version": 1, "wants": ["views"]}

    def reset(self, request):
        pass  # a new scene: there is nothing to forget

    def start_episode(self, request):
        words_said = set(request["text"].lower().replace(",", " ").replace(".", " ").split())
        self.targets = [k for k, words in enumerate(self.words) if words & words_said - {"room"}]
        self.visits = {}  # by node
        self.moves_left = max(3, min(8, len(words_said) // 5))  # long instructions describe long paths

    def act(self, request):
        observation, views = request["observation"], request["observation"]["arrays"]
        candidates, node = observation["candidates"], observation["place"]
        self.visits[node] = self.visits.get(node, 0) + 1
        if not self.moves_left or not candidates["nodes"]:
            return {"action": 0}
        self.moves_left -= 1
        nodes = enumerate(candidates["nodes"])
        scores = [self.score(views, candidates["views"][k]) - 9 * self.visits.get(node, 0) for k, node in nodes]
        return {"action": 1 + scores.index(max(scores))}

    def score(self, views, view):
        """The sum of the target features of a view."""
        row = views[0]["data"][view * views[0]["shape"][1] :] if views else []
        return sum(row[k] for k in self.targets) if views else 0.0

    def observe(self, request):
        pass


def main():
    agent = Agent()
    for line in iter(stdin.readline, b""):
        request = json.loads(line.decode("utf-8"))
        for sent in request.get("observation", {}).get("arrays", []):
            sent["data"] = array.array("f", stdin.read(sent["bytes"]))  # little-endian, as nearly all machines are
        print(json.dumps(agent.reply(request)))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
