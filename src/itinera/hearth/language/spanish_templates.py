"""Templates of Spanish: phrases in the imperative (tú) for each kind of clause, the most frequent first.

Slots as in `templates.py`; "a el" and "de el" are contracted after filling.
"""

from __future__ import annotations

from collections.abc import Mapping

from itinera.hearth.language.semantics import Act

SIDES = {"left": "izquierda", "right": "derecha"}
GO_VERBS = ("camina", "ve", "avanza", "sigue", "dirígete", "anda", "continúa", "muévete")

TURN_PHRASES = {
    "forward": (
        "sigue recto",
        "camina recto",
        "sigue de frente",
        "camina hacia adelante",
        "continúa recto",
        "avanza de frente",
        "sigue todo recto",
        "da unos pasos hacia adelante",
    ),
    "slight": (
        "gira ligeramente a la {side}",
        "gira un poco a la {side}",
        "tuerce ligeramente a la {side}",
        "desvíate un poco a la {side}",
    ),
    "plain": (
        "gira a la {side}",
        "dobla a la {side}",
        "ve a la {side}",
        "tuerce a la {side}",
        "gira hacia tu {side}",
        "haz un giro a la {side}",
    ),
    "sharp": ("gira bruscamente a la {side}", "da un giro cerrado a la {side}", "gira del todo a la {side}"),
    "around": ("date la vuelta", "da media vuelta", "gírate del todo"),
}
TURN_ELLIPSES = {
    "forward": ("recto", "todo recto", "de frente"),
    "slight": ("un poco a la {side}",),
    "plain": ("a la {side}",),
    "sharp": ("giro cerrado a la {side}",),
    "around": ("media vuelta",),
}

STRIDES: Mapping[tuple[str, str | Act], tuple[str, ...]] = {
    ("short", "forward"): ("da un pequeño paso adelante", "avanza recto solo un poco"),
    ("long", "forward"): ("avanza recto un buen trecho", "camina recto un largo tramo"),
    ("short", Act.GO): ("{turn} y da un pequeño paso", "{turn} y avanza solo un poco"),
    ("long", Act.GO): ("{turn} y avanza un buen trecho", "{turn} y camina un largo tramo"),
    ("short", Act.TOWARDS): ("da un pequeño paso hacia {thing}", "avanza solo un poco hacia {thing}"),
    ("long", Act.TOWARDS): ("avanza un buen trecho hacia {thing}",),
    ("short", Act.ENTER): ("da un pequeño paso dentro de {room}", "entra solo un poco en {room}"),
    ("long", Act.ENTER): ("entra un buen trecho en {room}",),
    ("short", Act.LEAVE): ("sal solo un poco de {room}", "da un pequeño paso fuera de {room}"),
    ("long", Act.LEAVE): ("sal de {room} y avanza un buen trecho",),
    ("short", Act.DOOR): ("da un pequeño paso por {door}", "pasa solo un poco por {door}"),
    ("long", Act.DOOR): ("pasa por {door} y avanza un buen trecho",),
    ("short", Act.UP): ("sube unos escalones", "sube parte de la escalera"),
    ("short", Act.DOWN): ("baja unos escalones", "baja parte de la escalera"),
    ("landing", Act.UP): ("sube hasta el descansillo", "sube el primer tramo de la escalera"),
    ("landing", Act.DOWN): ("baja hasta el descansillo", "baja el primer tramo de la escalera"),
    ("floor", Act.UP): ("sube un piso", "sube a la planta siguiente", "sube una planta"),
    ("floor", Act.DOWN): ("baja un piso", "baja a la planta siguiente", "baja una planta"),
}

PHRASES = {
    Act.TOWARDS: (
        "{go} hacia {thing}",
        "da unos pasos hacia {thing}",
        "{go} en dirección a {thing}",
        "acércate un poco a {thing}",
    ),
    Act.REACH: (
        "{go} hasta {thing}",
        "ve hasta {thing}",
        "acércate a {thing}",
        "sigue hasta llegar a {thing}",
        "llega hasta {thing}",
        "camina hasta llegar a {thing}",
    ),
    Act.PASS: (
        "pasa junto a {thing}, a tu {side}",
        "pasa por delante de {thing}, a la {side}",
        "deja {thing} a tu {side}",
        "camina dejando {thing} a tu {side}",
        "pasa de largo {thing}, a tu {side}",
    ),
    Act.ENTER: ("entra en {room}", "entra a {room}", "pasa a {room}", "pasa dentro de {room}", "accede a {room}"),
    Act.LEAVE: ("sal de {room}", "abandona {room}", "sal fuera de {room}"),
    Act.DOOR: ("pasa por {door}", "cruza {door}", "sal por {door}", "atraviesa {door}", "toma {door}"),
    Act.END: (
        "{go} hasta el final de {room}",
        "recorre {room} hasta el fondo",
        "cruza todo {room}",
        "llega al otro extremo de {room}",
    ),
    Act.UP: ("sube la escalera", "sube por la escalera", "sube las escaleras", "sube hasta arriba de la escalera"),
    Act.DOWN: ("baja la escalera", "baja por la escalera", "baja las escaleras", "baja hasta abajo de la escalera"),
    Act.SEE: (
        "sigue recto hasta que veas {thing}",
        "camina hasta ver {thing}",
        "avanza recto hasta que aparezca {thing}",
    ),
}
ELLIPSES = {
    Act.TOWARDS: ("hacia {thing}",),
    Act.REACH: ("hasta {thing}",),
    Act.PASS: ("junto a {thing}, a tu {side}",),
    Act.ENTER: ("a {room}",),
    Act.LEAVE: ("fuera de {room}",),
    Act.DOOR: ("por {door}",),
    Act.END: ("hasta el final de {room}",),
    Act.UP: ("escaleras arriba",),
    Act.DOWN: ("escaleras abajo",),
    Act.SEE: ("recto hasta ver {thing}",),
}

AT_TURN = ("{turn} al llegar a {spot}", "a la altura de {spot}, {turn}", "cuando llegues a {spot}, {turn}")

STOP_AT = (
    "detente {near} {thing}",
    "párate {near} {thing}",
    "espera {near} {thing}",
    "para {near} {thing}",
    "quédate {near} {thing}",
    "detente y espera {near} {thing}",
    "termina {near} {thing}",
)
STOP_IN = ("detente en {room}", "espera en {room}", "párate en {room}", "quédate en {room}")
STOP_JUST_IN = ("detente nada más entrar en {room}", "espera en la entrada de {room}", "párate al entrar en {room}")
STOP_HERE = ("detente ahí", "detente", "espera ahí", "párate ahí", "has llegado", "quédate ahí")
STOP_ON_STAIRS = {
    (Act.UP, ""): ("detente arriba de la escalera", "espera arriba"),
    (Act.DOWN, ""): ("detente al pie de la escalera", "espera abajo"),
    (Act.UP, "short"): ("detente en la escalera", "espera ahí en la escalera"),
    (Act.DOWN, "short"): ("detente en la escalera", "espera ahí en la escalera"),
    (Act.UP, "landing"): ("detente en el descansillo", "espera en el descansillo"),
    (Act.DOWN, "landing"): ("detente en el descansillo", "espera en el descansillo"),
    (Act.UP, "floor"): ("detente arriba", "espera arriba de la escalera"),
    (Act.DOWN, "floor"): ("detente abajo", "espera al pie de la escalera"),
}
GOALS = ("ve a {room}", "dirígete a {room}", "camina hasta {room}", "busca {room}", "encuentra {room}")
GOAL_STATEMENTS = ("tu destino es {room}", "vas a {room}", "la meta es {room}", "tienes que llegar a {room}")
FLOORS = {"up": ("de arriba", "del piso de arriba"), "down": ("de abajo", "del piso de abajo")}
WARNINGS = ("pero no entres en {room}", "sin entrar en {room}", "pero no pases a {room}")
DOOR_WARNINGS = ("no por la de la {side}", "pero no la de tu {side}")
NEAR = ("junto a", "cerca de", "al lado de")
OPPOSITE = ("frente a", "delante de", *NEAR)
RELATION_WORDS = {
    "next to": ("junto a", "al lado de", "cerca de"),
    "left of": ("a la izquierda de",),
    "right of": ("a la derecha de",),
    "behind": ("detrás de",),
    "between": ("entre",),
    "on": ("sobre", "encima de"),
    "above": ("por encima de", "colgado sobre"),
    "below": ("debajo de", "bajo"),
}
ON_SIDE = ("a tu", "de la", "a la", "que tienes a tu")
FAR_WORDS = ("a lo lejos", "al fondo")
DOOR_PLACES = ("de enfrente", "que tienes delante", "de delante")
OPENERS = ("luego", "después,", "ahora", "a continuación,", "entonces", "desde ahí,")
LAST_OPENERS = ("por último,", "finalmente,")
LINKS_FREE = (" y", ", luego", " y después", " y luego")
LINKS = (", luego", ", después", " y luego")
FILLERS = ("por favor", "simplemente", "con calma", "sin prisa", "tranquilamente")
COURTESIES_FIRST = ("hola.", "vamos allá.", "presta atención.", "es muy fácil.", "bueno, empecemos.", "buenos días.")
COURTESIES_LAST = ("¡gracias!", "¡muy bien!", "¡eso es todo!", "¡lo has conseguido!", "¡perfecto!", "¡buen trabajo!")
ORDINALS = ("primero", "segundo", "tercero", "cuarto", "quinto")
NUMBERS = ("cero", "uno", "dos", "tres", "cuatro", "cinco", "seis")
