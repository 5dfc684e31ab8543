"""Templates of English: many phrases for each kind of clause, the most frequent first.

Slots: {go} a verb of motion, {thing} a landmark, {it} its pronoun, {room}, {door}, {side}, {near} a preposition.
Phrases are requests in the base form of the verb, so that "once you …" can precede them.
"""

from __future__ import annotations

from collections.abc import Mapping

from itinera.hearth.language.semantics import Act

GO_VERBS = (
    "walk",
    "go",
    "head",
    "move",
    "proceed",
    "continue",
    "step",
    "travel",
    "stroll",
    "march",
    "wander",
    "advance",
)
PLAYFUL_VERBS = (
    *("amble", "saunter", "venture", "stride", "trek", "hike", "mosey", "tiptoe", "scoot", "shuffle", "pace", "hustle"),
    *("sneak", "trot", "tread", "roam", "march", "wend your way", "waltz", "meander"),
)
"""Verbs for those who do not mind being smiled at."""

TURN_PHRASES = {
    "forward": (
        "{go} straight",
        "{go} straight ahead",
        "{go} forward",
        "continue straight",
        "keep going straight",
        "continue forward",
        "take a few steps forward",
        "keep walking straight ahead",
        "proceed straight ahead",
        "{go} forwards",
        "carry straight on",
        "keep on straight ahead",
        "keep straight",
        "keep moving forward",
        "keep heading straight",
    ),
    "slight": (
        "take a slight {side}",
        "veer {side}",
        "turn slightly {side}",
        "bear {side}",
        "make a slight {side}",
        "turn slightly {side} and {walk_on}",
        "{go} slightly to the {side}",
        "veer slightly {side}",
        "go diagonally to the {side}",
        "angle slightly to your {side}",
        "drift a bit to the {side}",
        "curve gently to the {side}",
        "make a gentle {side} turn",
        "swerve slightly {side}",
    ),
    "plain": (
        "turn {side}",
        "turn {side} and {walk_on}",
        "take a {side}",
        "make a {side}",
        "go {side}",
        "turn to the {side}",
        "turn to your {side}",
        "turn to your {side} and {walk_on}",
        "take a {side} and {walk_on}",
        "{go} to your {side}",
        "make a {side} turn",
        "head {side}",
        "hang a {side}",
        "pivot {side} and {walk_on}",
        "swing to the {side}",
        "take the {side}",
        "rotate to the {side} and {walk_on}",
        "head off to the {side}",
        "hook a {side}",
    ),
    "sharp": (
        "make a sharp {side}",
        "take a sharp {side}",
        "turn sharply {side}",
        "take a hard {side}",
        "turn sharply to your {side} and {walk_on}",
        "take a sharp {side} turn",
        "make a hard {side} and {walk_on}",
        "make a tight {side} turn",
        "double back to the {side}",
        "take a hairpin turn to the {side}",
    ),
    "around": (
        "turn around",
        "turn around and {walk_on}",
        "turn all the way around and {walk_on}",
        "turn back around",
        "turn around and go the other way",
        "make an about-face",
        "face the other way",
        "spin around and {walk_on}",
    ),
}

WALK_ON = (
    "walk forward",
    "go straight",
    "go forward",
    "walk straight",
    "keep going",
    "walk ahead",
    "continue",
    "move on",
)

TURN_FIRST = {
    "forward": ("{go} straight and", "{go} straight ahead and", "continue straight and", "keep straight and"),
    "slight": ("turn slightly {side} and", "veer {side} and", "bear {side} and", "take a slight {side} and"),
    "plain": ("turn {side} and", "take a {side} and", "make a {side} and", "turn to your {side} and", "go {side} and"),
    "sharp": ("make a sharp {side} and", "turn sharply {side} and", "take a sharp {side} and", "turn hard {side} and"),
    "around": ("turn around and", "turn all the way around and", "spin around and"),
}

TURN_INTO = {  # a turn and a passage in one: "turn right into the kitchen"
    Act.ENTER: (
        "turn {side} into {room}",
        "go {side} into {room}",
        "take a {side} into {room}",
        "make a {side} into {room}",
    ),
    Act.DOOR: ("turn {side} through {door}", "take a {side} through {door}", "go {side} through {door}"),
    Act.UP: ("turn {side} up the stairs", "take a {side} up the stairs"),
    Act.DOWN: ("turn {side} down the stairs", "take a {side} down the stairs"),
}

STRIDES: Mapping[tuple[str, str | Act], tuple[str, ...]] = {
    ("short", "forward"): (
        "take a small step forward",
        "walk forward just a little",
        "take just one step ahead",
        "move a little bit forward",
        "inch forward just a little",
    ),
    ("long", "forward"): ("walk straight ahead for a good stretch", "go a long way forward", "{go} a long way ahead"),
    ("short", Act.GO): (
        "{turn} and take a small step",
        "{turn} and walk just a little way",
        "{turn} and take just one step",
    ),
    ("long", Act.GO): ("{turn} and walk a long way", "{turn} and go on for a good stretch"),
    ("short", Act.TOWARDS): (
        "take a small step towards {thing}",
        "walk just a little way towards {thing}",
        "take just one step toward {thing}",
    ),
    ("long", Act.TOWARDS): ("{go} a long way towards {thing}", "walk for a good stretch towards {thing}"),
    ("short", Act.ENTER): ("step just inside {room}", "go just a little way into {room}", "take one step into {room}"),
    ("long", Act.ENTER): ("{go} well into {room}", "{go} deep into {room}", "walk a long way into {room}"),
    ("short", Act.LEAVE): ("step just outside {room}", "go just a little way out of {room}"),
    ("long", Act.LEAVE): ("{go} well away from {room}", "walk out of and well away from {room}"),
    ("short", Act.DOOR): ("step just through {door}", "go just a little way through {door}"),
    ("long", Act.DOOR): ("{go} through and well past {door}", "walk through and well beyond {door}"),
    ("short", Act.UP): (
        "go a few steps up the stairs",
        "{go} part of the way up the stairs",
        "start up the stairs",
        "go up a couple of steps",
    ),
    ("short", Act.DOWN): (
        "go a few steps down the stairs",
        "{go} part of the way down the stairs",
        "start down the stairs",
        "go down a couple of steps",
    ),
    ("landing", Act.UP): (
        "go up the stairs to the landing",
        "climb the first flight of stairs",
        "walk up to the landing",
        "go up the first flight",
        "climb the stairs as far as the landing",
    ),
    ("landing", Act.DOWN): (
        "go down the stairs to the landing",
        "walk down the first flight of stairs",
        "walk down to the landing",
        "descend the stairs as far as the landing",
    ),
    ("floor", Act.UP): (
        "go up one floor",
        "go up to the next floor",
        "climb the stairs to the next floor",
        "walk up one level",
        "take the stairs up one storey",
        "ascend to the floor above",
    ),
    ("floor", Act.DOWN): (
        "go down one floor",
        "go down to the next floor",
        "take the stairs down to the next floor",
        "walk down one level",
        "take the stairs down one storey",
        "descend to the floor below",
    ),
}

PHRASES = {
    Act.TOWARDS: (
        "{go} towards {thing}",
        "{go} toward {thing}",
        "{go} in the direction of {thing}",
        "take a few steps towards {thing}",
        "make for {thing}",
        "aim for {thing}",
        "advance towards {thing}",
        "set out towards {thing}",
        "steer toward {thing}",
        "move closer to {thing}",
    ),
    Act.REACH: (
        "{go} to {thing}",
        "{go} up to {thing}",
        "{go} over to {thing}",
        "{go} until you reach {thing}",
        "{go} until you get to {thing}",
        "continue until you get to {thing}",
        "continue to {thing}",
        "make your way to {thing}",
        "{go} as far as {thing}",
        "keep going until you are at {thing}",
        "proceed to {thing}",
        "cross over to {thing}",
        "approach {thing}",
        "get yourself to {thing}",
        "{go} until you come to {thing}",
    ),
    Act.PASS: (
        "{go} past {thing} on your {side}",
        "pass {thing} on your {side}",
        "{go} past {thing} on the {side}",
        "{go} by {thing} on your {side}",
        "pass by {thing} on the {side}",
        "continue past {thing} on your {side}",
        "{go} past {thing}, which is on your {side}",
        "{go} past {thing}, keeping {it} on your {side}",
        "keep {thing} on your {side} as you pass",
        "proceed past {thing} on the {side}",
        "skirt past {thing} on your {side}",
        "squeeze past {thing} on your {side}",
        "{go} alongside {thing} on your {side}",
    ),
    Act.ENTER: (
        "{go} into {room}",
        "enter {room}",
        "step into {room}",
        "continue into {room}",
        "{go} through the door to {room}",
        "go inside {room}",
        "{go} through the doorway into {room}",
        "{go} through into {room}",
        "make your way into {room}",
        "take the entrance to {room}",
        "proceed into {room}",
        "cross into {room}",
        "pop into {room}",
        "duck into {room}",
        "come into {room}",
    ),
    Act.LEAVE: (
        "exit {room}",
        "{go} out of {room}",
        "leave {room}",
        "step out of {room}",
        "exit out of {room}",
        "make your way out of {room}",
        "come out of {room}",
        "get out of {room}",
        "depart from {room}",
        "head out of {room}",
    ),
    Act.DOOR: (
        "{go} through {door}",
        "take {door}",
        "enter {door}",
        "exit through {door}",
        "{go} out {door}",
        "pass through {door}",
        "{go} out through {door}",
        "step through {door}",
        "continue through {door}",
        "go in {door}",
        "duck through {door}",
        "slip through {door}",
    ),
    Act.END: (
        "{go} to the end of {room}",
        "{go} to the other end of {room}",
        "{go} all the way across {room}",
        "{go} to the far end of {room}",
        "continue to the end of {room}",
        "cross {room} to the other end",
        "{go} the full length of {room}",
        "traverse {room} to its end",
    ),
    Act.UP: (
        "go up the stairs",
        "walk up the stairs",
        "{go} up the stairs",
        "climb the stairs",
        "walk up the steps",
        "head upstairs",
        "take the stairs up",
        "go up the steps to the top",
        "climb to the top of the stairs",
        "ascend the staircase",
        "go all the way up the stairs",
        "make your way upstairs",
        "mount the stairs",
    ),
    Act.DOWN: (
        "go down the stairs",
        "walk down the stairs",
        "{go} down the stairs",
        "descend the stairs",
        "walk down the steps",
        "head downstairs",
        "take the stairs down",
        "go down the steps to the bottom",
        "walk to the bottom of the stairs",
        "descend the staircase",
        "go all the way down the stairs",
        "make your way downstairs",
    ),
    Act.SEE: (
        "{go} straight until you see {thing}",
        "{go} until you see {thing}",
        "keep going until you see {thing}",
        "{go} forward until you can see {thing}",
        "continue straight until {thing} {comes} into view",
        "keep walking until you spot {thing}",
        "carry on until you notice {thing}",
        "proceed until {thing} {comes} into sight",
    ),
}

DOWN_A_HALL = (
    "{go} down {room} to the end",
    "{go} all the way down {room}",
    "follow {room} to its end",
    "{go} along {room} to the end",
)

ELLIPSES = {
    Act.TOWARDS: ("towards {thing}", "toward {thing}"),
    Act.REACH: ("to {thing}", "up to {thing}", "over to {thing}", "as far as {thing}"),
    Act.PASS: ("past {thing} on your {side}", "past {thing} on the {side}"),
    Act.ENTER: ("into {room}", "through to {room}"),
    Act.LEAVE: ("out of {room}",),
    Act.DOOR: ("through {door}", "out {door}"),
    Act.END: ("to the end of {room}", "across {room} to the end"),
    Act.UP: ("up the stairs", "upstairs"),
    Act.DOWN: ("down the stairs", "downstairs"),
    Act.SEE: ("straight until you see {thing}",),
}
TURN_ELLIPSES = {
    "forward": ("straight", "straight ahead", "forward", "straight on"),
    "slight": ("slight {side}", "slightly {side}", "bear {side}"),
    "plain": ("{side}", "a {side}", "{side} turn"),
    "sharp": ("sharp {side}", "hard {side}"),
    "around": ("around",),
}

AT_TURN = ("{turn} at {spot}", "at {spot}, {turn}", "when you reach {spot}, {turn}", "{turn} when you get to {spot}")

STOP_AT = (
    "stop {near} {thing}",
    "wait {near} {thing}",
    "stop when you are {near} {thing}",
    "stop once you are {near} {thing}",
    "stop and wait {near} {thing}",
    "come to a stop {near} {thing}",
    "stand {near} {thing}",
    "stop when you get to {thing}",
    "stay {near} {thing}",
    "finish {near} {thing}",
    "halt {near} {thing}",
    "pause {near} {thing}",
    "come to rest {near} {thing}",
    "remain {near} {thing}",
    "park yourself {near} {thing}",
)
STOP_IN = (
    "stop in {room}",
    "wait in {room}",
    "stop once you are in {room}",
    "stop and wait in {room}",
    "stand in {room}",
    "finish in {room}",
    "stay in {room}",
)
STOP_JUST_IN = (
    "stop just inside {room}",
    "wait just inside {room}",
    "stop once you are inside",
    "stop as soon as you are in {room}",
    "stop right after you enter",
    "stop in the doorway of {room}",
    "wait just inside the doorway",
    "stop immediately upon entering {room}",
)
STOP_HERE = (
    *("stop", "wait there", "stop there", "stop here", "wait here", "halt there", "stop and wait there", "stay there"),
    *("stop right there",),
)
STOP_ON_STAIRS = {
    (Act.UP, ""): ("stop at the top of the stairs", "wait at the top of the stairs", "stop at the top"),
    (Act.DOWN, ""): ("stop at the bottom of the stairs", "wait at the foot of the stairs", "stop at the bottom"),
    (Act.UP, "short"): ("stop on the stairs", "wait there on the stairs"),
    (Act.DOWN, "short"): ("stop on the stairs", "wait there on the stairs"),
    (Act.UP, "landing"): ("stop on the landing", "wait there on the landing"),
    (Act.DOWN, "landing"): ("stop on the landing", "wait there on the landing"),
    (Act.UP, "floor"): ("stop at the top of the stairs", "wait at the top"),
    (Act.DOWN, "floor"): ("stop at the bottom of the stairs", "wait at the bottom"),
}

GOALS = (
    "go to {room}",
    "walk to {room}",
    "head to {room}",
    "make your way to {room}",
    "find your way to {room}",
    "proceed to {room}",
    "get yourself to {room}",
    "find {room}",
    "come to {room}",
)
GOAL_STATEMENTS = (
    "your destination is {room}",
    "you are going to {room}",
    "your goal is {room}",
    "you are heading to {room}",
    "you want to end up in {room}",
    "the target is {room}",
    "we are going to {room}",
    "the final stop is {room}",
)
FLOORS = {"up": ("upstairs", "on the floor above"), "down": ("downstairs", "on the floor below")}

WARNINGS = (
    "but do not go into {room}",
    "but don't enter {room}",
    "without entering {room}",
    "avoiding {room}",
    "but stay out of {room}",
)
DOOR_WARNINGS = ("not the one on the {side}", "not the one on your {side}", "and not the one to your {side}")

NEAR = ("near", "by", "next to", "beside", "close to", "at", "right by", "adjacent to")
OPPOSITE = ("in front of", "in front of", "facing", *NEAR, "before")
RELATION_WORDS = {
    "next to": ("next to", "beside", "near", "by", "close to", "adjacent to"),
    "left of": ("to the left of", "left of", "on the left of"),
    "right of": ("to the right of", "right of", "on the right of"),
    "behind": ("behind", "in back of"),
    "between": ("between", "in between"),
    "on": ("on", "on top of", "sitting on"),
    "above": ("above", "over", "hanging above"),
    "below": ("below", "under", "beneath", "underneath"),
    "with": ("with",),
}
FAR_WORDS = ("in the distance", "over there", "farther away")

OPENERS = ("then", "next,", "now", "after that,", "from there,", "afterwards,", "after this,", "following that,")
AFTER_DOOR = ("once through,", "on the other side,", "once you are through,")
AFTER_ARRIVAL = ("once there,", "from there,", "from here,")
LAST_OPENERS = ("finally,", "lastly,")
SUBORDINATES = ("once you {clause},", "after you {clause},", "when you {clause},", "as soon as you {clause},")
FILLERS = (
    *("just", "simply", "please", "you'll want to", "go ahead and", "you need to", "you should", "carefully", "slowly"),
    *("calmly", "quickly", "casually", "be sure to", "you will have to", "kindly", "try to", "quietly", "steadily"),
    *("cautiously", "briskly", "swiftly", "patiently", "leisurely", "gingerly", "confidently", "promptly", "softly"),
    *("happily", "boldly", "smoothly", "remember to", "make sure to", "feel free to", "don't forget to"),
)
COURTESIES_FIRST = (
    "okay.",
    "alright.",
    "hello there.",
    "let's get going.",
    "here is how to get there.",
    "all set?",
    "this is easy.",
    "okay, listen.",
    "good morning.",
    "let me guide you.",
    "follow these instructions, please.",
    "pay attention now.",
    "this won't take long.",
    "ready?",
    "here are your directions.",
    "it is not very complicated.",
    "welcome to our house!",
    "don't worry about getting lost.",
    "listen closely.",
    "i will explain everything.",
    "don't be nervous.",
    "hey, could you do me a favor?",
    "someone is waiting for you.",
    "excuse the mess.",
    "good evening, friend.",
    "dinner is almost served.",
    "i have a small request.",
    "i know this place very well.",
    "nobody else seems to be home today.",
)
COURTESIES_LAST = (
    "thank you!",
    "thanks!",
    "you made it!",
    "good job!",
    "well done!",
    "that's it!",
    "that's all.",
    "great work!",
    "perfect!",
    "easy, wasn't it?",
    "congratulations!",
    "nicely done!",
    "see you soon!",
    "you have arrived.",
    "this is your destination.",
    "you are done!",
    "take a break now.",
    "hope that helps!",
    "wonderful!",
    "i appreciate your help.",
    "good luck!",
    "excellent!",
    "have fun!",
    "enjoy!",
    "hopefully that was clear enough.",
    "sorry if that sounded confusing.",
    "let me know whether it worked.",
    "sounds good?",
    "cheers!",
    "splendid!",
    "much obliged.",
    "that wasn't difficult, was it?",
    "ask someone if anything is unclear.",
)
AFTER_COLOR = ("corner", "double", "single")  # "a white corner sofa", but "a long white sofa"
PLURAL_NAMES = ("stairs", "steps", "shelves", "books", "candles", "bottles", "flowers", "magazines", "shoes", "blinds")
