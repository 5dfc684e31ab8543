from __future__ import annotations

import re

import pytest

import grid_house
from itinera.hearth.language.generate import DETAILS, generate_instruction
from itinera.hearth.language.object_words import OBJECT_WORDS
from itinera.hearth.language.references import LAST, Reference
from itinera.hearth.language.semantics import Act, Clause
from itinera.hearth.language.spanish import SpanishSpeaker, can_name_in_spanish, contract
from itinera.hearth.language.spanish_words import (
    COLOR_ADJECTIVES,
    MATERIAL_PHRASES,
    ROOM_NOUNS,
    SHAPE_ADJECTIVES,
    agree,
    plural_word,
)
from itinera.hearth.language.vocabulary import COLOR_SYNONYMS, MATERIAL_SYNONYMS, ROOM_WORDS, SHAPE_SYNONYMS
from itinera.hearth.language.voices import VOICES
from itinera.seeding import generator


def test_every_look_and_room_has_a_spanish_word():
    assert set(ROOM_NOUNS) == set(ROOM_WORDS)
    assert set(COLOR_ADJECTIVES) == set(COLOR_SYNONYMS)
    assert set(SHAPE_ADJECTIVES) == set(SHAPE_SYNONYMS)
    assert set(MATERIAL_PHRASES) == set(MATERIAL_SYNONYMS)


def test_nearly_every_object_has_a_spanish_name():
    unnamed = [name for name in OBJECT_WORDS if not can_name_in_spanish(name)]
    assert len(unnamed) <= 10, unnamed
    assert can_name_in_spanish("snooker table")  # a table, whatever its kind
    assert not can_name_in_spanish("flux capacitor")


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        (Reference("chair", "red"), "la silla roja"),
        (Reference("bed", "white", "double"), "la cama doble blanca"),
        (Reference("desk", "black", material="wooden"), "(el escritorio negro|la mesa de trabajo negra) de madera"),
        (Reference("chair", "blue", count=2), "las dos sillas azules"),
        (Reference("mirror", rank=1, side="left"), "el primer espejo (a tu|de la|a la|que tienes a tu) izquierda"),
        (Reference("window", rank=LAST, side="right"), "la última ventana (a tu|de la|a la|que tienes a tu) derecha"),
        (Reference("chair", rank=1), "la silla más cercana"),
        (
            Reference("chair", relation="between", anchors=(Reference("bed"), Reference("mirror"))),
            "la silla entre la cama y el espejo",
        ),
        (Reference("table", relation="with", anchors=(Reference("plant"),)), "la mesa con la planta encima"),
    ],
)
def test_adjectives_agree_in_gender_and_number(reference, said):
    for k in range(10):
        assert re.fullmatch(said, SpanishSpeaker(generator(k), brief=True).name_landmark(reference))


@pytest.mark.parametrize(
    ("word", "many"),
    [
        ("silla", "sillas"),
        ("sofá", "sofás"),
        ("sillón", "sillones"),
        ("azul", "azules"),
        ("lavavajillas", "lavavajillas"),
    ],
)
def test_plurals(word, many):
    assert plural_word(word) == many


def test_adjectives_in_o_have_a_feminine():
    assert agree("rojo", "f", many=False) == "roja"
    assert agree("verde", "f", many=True) == "verdes"


def test_a_and_de_are_contracted_with_the_article():
    assert contract("ve a el baño de el fondo de ella") == "ve al baño del fondo de ella"


def test_requests_say_what_is_meant():
    clause = Clause(Act.PASS, "right", Reference("sofa", "red"), side="left")
    for k in range(20):
        said = SpanishSpeaker(generator(k), VOICES[k % 5], brief=True).say(clause)
        assert "sofá rojo" in said
        assert re.search(r"\bizquierda\b", said)
        assert re.match(r"(gira|dobla|ve|tuerce|toma|voltea) (a la|hacia tu) derecha y ", said), said


@pytest.mark.parametrize("detail", DETAILS)
def test_instructions_are_written_as_spanish_is(detail):
    place = grid_house.place(1)
    rng = generator(1, "es", detail)
    for path in place.paths(15, rng):
        wording = generate_instruction(place.descriptions, path, 0.2, rng, detail=detail, language="es")
        assert wording.language == "es-ES"
        assert " ".join(wording.words) == wording.text
        assert not re.search(r"\b(?:a|de) el\b| ,|  |\b(\w+) \1\b|\b(?:the|left|right|and|stop)\b|[{}]", wording.text)
        assert re.match(r"¡?[A-ZÁÉÍÓÚ]", wording.text)
