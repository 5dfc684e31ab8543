"""An agent in a separate process whose instruction names its behavior: "crash", "hang", "print", …

With a command line argument it also offers action probabilities. It imports no package, so it starts quickly.
"""

import json
import os
import signal
import sys
import time

out, err = sys.stdout, sys.stderr


def say(what):
    out.write(what + "\n")
    out.flush()


def print_megabytes():
    out.write("x" * (4 << 20))
    say("")


def complain_for_megabytes():
    err.write("y" * (4 << 20))
    err.flush()
    say('{"action": 0}')


def complain_a_little():
    err.write("hm\n" * 1000)
    err.flush()
    say('{"action": 0}')


def close_ears():
    os.close(0)
    say('{"action": 1}')
    time.sleep(600)


DEEDS = {
    "crash": lambda: 1 / 0,
    "leave": lambda: os._exit(3),
    "exit": lambda: sys.exit("enough"),
    "abort": os.abort,
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "hang": lambda: time.sleep(600),
    "nonsense": lambda: say("going left"),
    "no object": lambda: say("[1]"),
    "text": lambda: say('{"action": "left"}'),
    "half": lambda: say('{"action": 0.5}'),
    "true": lambda: say('{"action": true}'),
    "nan": lambda: say('{"action": NaN}'),
    "nothing": lambda: say("{}"),
    "strange": lambda: say('{"action": 1, "deed": 2}'),
    "far": lambda: say('{"action": 1000000000000000000000000000000}'),
    "back": lambda: say('{"action": -1}'),
    "twice": lambda: say('{"action": 0}\n{"action": 0}'),
    "bytes": lambda: (out.buffer.write(b"\xff\xfe\n"), out.flush()),
    "print": print_megabytes,
    "complain": complain_for_megabytes,
    "mutter": complain_a_little,
    "sorry": lambda: say('{"error": "no model"}'),
    "unasked": lambda: (say('{"action": 1}'), time.sleep(0.2), say('{"action": 1}')),
    "close": close_ears,
    "stop": lambda: say('{"action": 0}'),
}


def main():
    word = ""
    for line in iter(sys.stdin.buffer.readline, b""):
        asked = json.loads(line)
        for array in asked.get("observation", {}).get("arrays", []):
            sys.stdin.buffer.read(array["bytes"])
        if asked["ask"] == "hello":
            say(json.dumps({"version": 1, "action_probabilities": len(sys.argv) > 1}))
        elif asked["ask"] == "action_probabilities":
            say('{"probabilities": [0.5, 0.5]}')
        elif asked["ask"] == "act":
            DEEDS[word]()
        else:
            word = asked.get("text", "")
            say("{}")


if __name__ == "__main__":
    main()
