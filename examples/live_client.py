"""A random agent in a live phase of a challenge server, for any Python from 3.6 on, without packages.

    ITINERA_TOKEN=itn_... python examples/live_client.py http://127.0.0.1:8321 test "My method"

It plays one episode after another. If it is interrupted, it can be started again: the episode in progress is given up,
and the others are continued. Other languages need no more than HTTP and JSON.
"""

import json
import os
import random
import sys
import time
import urllib.error
import urllib.request

URL, PHASE, METHOD = sys.argv[1:4]


def post(path, body, repeat=100):
    """The bytes of a reply. Every request may be repeated: what was received already changes nothing."""
    headers = {"Authorization": "Bearer " + os.environ["ITINERA_TOKEN"]}
    for _ in range(repeat):
        try:
            return urllib.request.urlopen(urllib.request.Request(URL + path, body, headers), timeout=60).read()
        except urllib.error.HTTPError as error:
            if error.code != 503:  # 503: no worker of the host is there now
                raise SystemExit(error.read().decode()) from None
        except OSError:
            pass  # the connection has failed
        time.sleep(0.5)
    raise SystemExit("The server does not answer.")


def send_turn(session, **turn):
    """The announcement of a reply and its requests, of which the last one is to be answered."""
    content = post("/api/live/" + session + "/turns?wants=description", json.dumps(turn).encode())
    head, _, rest = content.partition(b"\n")
    return json.loads(head), [json.loads(line) for line in rest.splitlines()]


def choose(requests, rng):
    """The action after these requests; those before the last one are for agents that remember."""
    for request in requests:
        if request["ask"] == "reset":
            rng.seed(request["seed"])
        if request["ask"] == "start_episode":
            print("Instruction:", request["text"], file=sys.stderr)
    candidates = requests[-1]["observation"]["candidates"]  # None on the ground: 1, 2, 3 are forward, left, right
    return int(rng.random() * (4 if candidates is None else 1 + len(candidates["nodes"])))  # 0 is STOP


def main():
    session = json.loads(post("/api/live", json.dumps({"phase": PHASE, "method": METHOD}).encode()))
    name, rng = session["entry"], random.Random()
    for tour in range(session["tours"]):
        if tour in session["ended"]:
            continue
        if str(tour) not in session["turns"]:
            head, requests = send_turn(name, tour=tour, turn=0)
            while not head["done"]:
                head, requests = send_turn(name, tour=tour, turn=head["turn"], action=choose(requests, rng))
        send_turn(name, tour=tour, turn=0, end=True)
    post("/api/live/" + name + "/close", b"")
    print("Entry", name)


if __name__ == "__main__":
    main()
