"""Matterport's 40 object categories: which of them an object's name belongs to, if no category table is given.

The built-in table is small: a name is looked up whole, then by its last word ("round coffee table" is a table).
Matterport's own table, `category_mapping.tsv`, has every name of its scans; `formats.categories` reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "wall": "wall, backsplash, back splash, molding, crown molding, moulding",
        "floor": "floor, rug, carpet, mat, doormat",
        "chair": "chair, chairs, armchair, highchair, recliner, rocker",
        "door": "door, doors, doorway, door frame, doorframe, door handle, doorstep, gate",
        "table": "table, desk, sidetable, workbench, teapoy",
        "picture": "picture, pictures, painting, paintings, photo, photograph, poster, artwork, picture frame, "
        "picture frames, frame",
        "cabinet": "cabinet, cabinets, cupboard, wardrobe, armoire, sideboard, vanity, closet",
        "cushion": "cushion, cushions, pillow, pillows",
        "window": "window, windows, windowsill, window sill, window frame, windowframe",
        "sofa": "sofa, couch, loveseat",
        "bed": "bed, crib, headboard, mattress",
        "curtain": "curtain, curtains, drapes",
        "chest_of_drawers": "dresser, nightstand, bedside table, drawer, drawers, chest of drawers, commode, bureau",
        "plant": "plant, plants, flower, flowers, tree, bush, houseplant, hedge, flower bed, planter",
        "sink": "sink, washbasin, basin, wash basin",
        "stairs": "stairs, stair, staircase, step, steps",
        "ceiling": "ceiling, dome roof, roof",
        "toilet": "toilet, urinal, bidet, toilet bowl",
        "stool": "stool, footstool, footrest",
        "towel": "towel, towels",
        "mirror": "mirror, mirrors",
        "tv_monitor": "tv, television, monitor, screen, computer monitor",
        "shower": "shower, showerhead, shower head",
        "column": "column, pillar, pedestal",
        "bathtub": "bathtub, tub, bath, jacuzzi",
        "counter": "counter, countertop, kitchen island, island, bar, counter top",
        "fireplace": "fireplace, hearth, mantle",
        "lighting": "light, lights, lamp, chandelier, sconce, light fixture, lighting fixture, lantern",
        "beam": "beam, beams, rafter",
        "railing": "railing, handrail, banister, bannister, fence",
        "shelving": "shelf, shelves, shelving, bookshelf, bookcase, wine rack, shoe rack, rack",
        "blinds": "blinds, blind, shades, shutters",
        "gym_equipment": "gym equipment, gym equip, exercise equipment, treadmill, weights, dumbbells, exercise bike, "
        "dumbbell rack, punching bag, weight bench, elliptical, exercise ball",
        "seating": "bench, ottoman, seat, seating, pouf, pew, lounger",
        "board_panel": "whiteboard, blackboard, bulletin board, panel, chalkboard",
        "furniture": "chest, piano, tv stand, coat rack, ironing board, arcade machine, folding screen, furniture",
        "appliances": "appliance, appliances, stove, oven, microwave, refrigerator, fridge, dishwasher, "
        "washing machine, dryer, range hood, kitchen hood, toaster, kettle, coffee machine, water heater, range, "
        "heater, radiator, fan, air conditioner, vacuum cleaner, blender, mixer, grill",
        "clothes": "clothes, clothing, robe, coat, dress, shoes, boots, slippers, hat, laundry, clothes rack",
        "objects": "decoration, statue, sculpture, box, boxes, pot, vase, rope, book, books, faucet, toiletry, bottle, "
        "bottles, basket, trash can, trashcan, bin, candle, candles, candlestick, clock, bucket, bowl, plate, laptop, "
        "globe, easel, dart board, telephone, phone, speaker, figure, hunting trophy, toilet paper, tissue box, thing, "
        "umbrella, blanket, sign, light switch, switch, thermostat, fire extinguisher, vent, hanger, trinkets, art, "
        "backpack, ball, bird bath, board game, bottle crate, bread, broom, cake, camera, cookie jar, cup, cutting "
        "board, doll, drill, figurine, fire pit, folder, game controller, garden gnome, glass, guitar, handbag, "
        "headphones, hourglass, knife block, ladder, magazine, napkin holder, newspaper, notebook, paint can, pan, "
        "paper towel, parasol, pencil cup, perfume, pet bed, pineapple, printer, radio, remote control, rubber "
        "duck, salt shaker, scale, shampoo, skateboard, soap, soap dispenser, spare tire, suitcase, surfboard, "
        "tablet, teapot, teddy bear, toilet brush, toolbox, toothbrush cup, toy car, toy tower, toy train, tray, "
        "trophy, typewriter, umbrella stand, watering can, wine glass",
        "misc": "bicycle, bike, car, clutter, doghouse, fountain, lawn mower, motorcycle, pond, sandbox, shed, slide, "
        "swing, trampoline, wheelbarrow",
    }
)

DEFAULT_CATEGORIES: Mapping[str, str] = MappingProxyType(
    {name: category for category, names in _NAMES.items() for name in names.split(", ")} | {"exercise mat": "floor"}
)
"""The category of each name in the built-in table."""


def lookup_category(name: str, table: Mapping[str, str] = DEFAULT_CATEGORIES) -> str | None:
    """The category of an object of this name; None if the table lacks it.

    In the built-in table the last word of a name is looked up too; other tables must contain the whole name.

    >>> lookup_category("round coffee table"), lookup_category("didgeridoo")
    ('table', None)
    """
    category = table.get(name)
    return (
        DEFAULT_CATEGORIES.get(name.rpartition(" ")[2])
        if category is None and table is DEFAULT_CATEGORIES
        else category
    )
