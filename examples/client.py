"""An agent in a process of its own, for any Python from 2.7 on and without any package: it wanders.

    itinera run --agent-command "python examples/client.py" --tasks ... --worlds ... --out walks.jsonl

Each line on stdin asks something, each line on stdout answers. Anything else you print must go to stderr.
"""

from __future__ import print_function  # noqa: UP010

import json
import random
import sys

stdin = getattr(sys.stdin, "buffer", sys.stdin)  # bytes, in any Python


def answer(question, chance):
    ask = question["ask"]
    if ask == "hello":
        return {"version": 1, "wants": []}  # or ["views"], ["rgb", "depth"], ...: fewer are faster
    if ask == "reset":
        chance.seed(question["seed"])  # a new place: forget all you know
    if ask == "start_episode":
        print("I am told:", question["text"].encode("ascii", "replace"), file=sys.stderr)
    if ask == "act":
        candidates = question["observation"]["candidates"]  # None on the ground, where 1, 2, 3 are forward, left, right
        many = 4 if candidates is None else 1 + len(candidates["nodes"])
        return {"action": int(chance.random() * many)}  # 0 is STOP
    return {}  # to enter, begin and watch


def main():
    chance = random.Random()
    for line in iter(stdin.readline, b""):
        question = json.loads(line.decode("utf-8"))
        for array in question.get("observation", {}).get("arrays", []):
            array["data"] = stdin.read(array["bytes"])  # numpy.frombuffer(data, dtype).reshape(shape)
        print(json.dumps(answer(question, chance)))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
