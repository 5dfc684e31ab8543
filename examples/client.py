"""A random agent in a process of its own, for any Python from 2.7 on, without packages.

    itinera run --agent-command "python examples/client.py" --tasks ... --worlds ... --out preds.jsonl

Each line on stdin is a request, each line on stdout the reply to one. Print anything else to stderr.
"""

from __future__ import print_function  # noqa: UP010

import json
import random
import sys

stdin = getattr(sys.stdin, "buffer", sys.stdin)  # bytes, in any Python


def reply(request, rng):
    ask = request["ask"]
    if ask == "hello":
        return {"version": 1, "wants": []}  # or ["views"], ["rgb", "depth"], ...; fewer are faster
    if ask == "reset":
        rng.seed(request["seed"])  # a new scene: forget everything
    if ask == "start_episode":
        print("Instruction:", request["text"].encode("ascii", "replace"), file=sys.stderr)
    if ask == "act":
        candidates = request["observation"]["candidates"]  # None on the ground, where 1, 2, 3 are forward, left, right
        count = 4 if candidates is None else 1 + len(candidates["nodes"])
        return {"action": int(rng.random() * count)}  # 0 is STOP
    return {}  # to reset, start_episode and observe


def main():
    rng = random.Random()
    for line in iter(stdin.readline, b""):
        request = json.loads(line.decode("utf-8"))
        for array in request.get("observation", {}).get("arrays", []):
            array["data"] = stdin.read(array["bytes"])  # numpy.frombuffer(data, dtype).reshape(shape)
        print(json.dumps(reply(request, rng)))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
