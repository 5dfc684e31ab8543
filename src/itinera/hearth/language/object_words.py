"""Names of objects that people use, by the name of the object in a house. Unlisted objects have only their own name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_TABLE = """
arcade machine: arcade game, video game machine
armchair: armchair, easy chair, club chair, recliner
bar stool: bar stool, counter stool, high stool
barbecue: barbecue, grill, bbq
basket: basket, wicker basket, hamper
bath mat: bath mat, shower mat
bathtub: bathtub, tub, bath tub
bed: bed
bench: bench, settle
bicycle: bicycle, bike, pushbike
blanket: blanket, throw, quilt
blinds: blinds, shades
books: books, stack of books, pile of books
bookshelf: bookshelf, bookcase, book shelf
bottles: bottles, wine bottles
bowl: bowl, dish
box: box, cardboard box, crate, carton
bucket: bucket, pail
bunk bed: bunk bed, bunks
cabinet: cabinet, cupboard
candles: candles, candlesticks
candlestick: candlestick, candelabra
car: car, automobile, vehicle
cat tree: cat tree, scratching post
ceiling fan: ceiling fan
ceiling lamp: ceiling lamp, ceiling light
chair: chair, seat
chandelier: chandelier
chaise longue: chaise longue, daybed
chest: chest, trunk
chess board: chess board, chess set
clock: clock, wall clock, timepiece
clothes rack: clothes rack, garment rack, clothing rack
coat rack: coat rack, coat stand, hat stand, coat tree
coffee machine: coffee machine, coffee maker, espresso machine
coffee table: coffee table, cocktail table
column: column, pillar, post
computer: computer, pc
console table: console table, entry table, hall table
cradle: cradle
crib: crib, baby bed, cot
cup: cup, teacup
curtain: curtain, drape, drapery
cushion: cushion, throw pillow
dart board: dart board, dartboard
desk: desk, writing desk, work desk
desk lamp: desk lamp, reading lamp, study lamp
dining table: dining table, dinner table, dining room table
dishwasher: dishwasher, dish washer
doormat: doormat, welcome mat
dresser: dresser, chest of drawers, bureau
dryer: dryer, tumble dryer, clothes dryer
drum kit: drum kit, drums
dumbbell rack: dumbbell rack, weight rack
easel: easel
elliptical trainer: elliptical trainer, elliptical machine
exercise ball: exercise ball, yoga ball
exercise bike: exercise bike, stationary bike, spin bike
exercise mat: exercise mat, yoga mat
filing cabinet: filing cabinet, file cabinet
fireplace: fireplace, hearth, mantel
fire extinguisher: fire extinguisher, extinguisher
flower pot: flower pot, planter
flowers: flowers, bouquet, bunch of flowers
floor lamp: floor lamp, standing lamp, tall lamp
fountain: fountain, water feature
freezer: freezer, deep freezer
fruit bowl: fruit bowl, bowl of fruit
game console: game console
garden chair: garden chair, lawn chair, patio chair
garden table: garden table, patio table, picnic table
glass cabinet: glass cabinet, display cabinet, china cabinet
globe: globe, world globe
grandfather clock: grandfather clock, longcase clock
guitar: guitar, acoustic guitar
hammock: hammock
hedge: hedge, row of bushes
highchair: highchair, baby chair
hot tub: hot tub, jacuzzi, whirlpool
ironing board: ironing board
kettle: kettle, teapot
kitchen counter: kitchen counter, countertop, worktop
kitchen island: kitchen island, island
lamp: lamp, light
ladder: ladder, stepladder
lantern: lantern
laptop: laptop, notebook computer
laundry basket: laundry basket, clothes hamper
lounge chair: lounge chair, sun lounger, deck chair
magazine rack: magazine rack, magazine holder
magazines: magazines, stack of magazines
massage table: massage table, treatment table
microwave: microwave, microwave oven
mirror: mirror, looking glass
monitor: monitor, computer screen, computer monitor
mug: mug, coffee mug
nightstand: nightstand, bedside table, night table
office chair: office chair, desk chair, swivel chair
ottoman: ottoman, footstool, pouf, hassock
oven: oven, wall oven
paper towel holder: paper towel holder
parasol: parasol, patio umbrella, sun umbrella
pendant lamp: pendant lamp, hanging lamp, hanging light
piano: piano, upright piano
grand piano: grand piano, baby grand
picture: picture, painting, artwork, photograph, framed print
pillow: pillow, bed pillow
ping-pong table: ping-pong table, table tennis table
plant: plant, potted plant, houseplant
plate: plate, dinner plate
pool table: pool table, billiard table, snooker table
poster: poster, wall poster
printer: printer, copier
punching bag: punching bag, boxing bag, heavy bag
radiator: radiator, heater
radio: radio, stereo
range hood: range hood, extractor hood
record player: record player, turntable
refrigerator: refrigerator, fridge, icebox
rocking chair: rocking chair, rocker
rowing machine: rowing machine, rower
rug: rug, carpet, area rug
safe: safe, strongbox
screen: folding screen, room divider, partition
sewing machine: sewing machine
shelf: shelf, ledge
shelves: shelves, shelving, shelving unit, storage shelves
shoe rack: shoe rack, shoe shelf
shoes: shoes, pair of shoes
shower: shower, shower stall, shower cabin
side table: side table, end table, occasional table
sideboard: sideboard, buffet, credenza
sink: sink, washbasin, basin, vanity
skateboard: skateboard
soap dispenser: soap dispenser, soap bottle
sofa: sofa, couch, settee
speaker: speaker, loudspeaker
stairs: stairs, staircase, steps, stairway
statue: statue, sculpture, figurine
stool: stool, footrest
stove: stove, cooker, range
suitcase: suitcase, piece of luggage, travel bag
swimming pool: swimming pool, pool
swing: swing, swing seat
table: table
table lamp: table lamp, bedside lamp
telephone: telephone, phone
telescope: telescope, spyglass
toaster: toaster
toilet: toilet, commode, lavatory seat
toilet paper: toilet paper, toilet roll
tool chest: tool chest, toolbox
towel: towel, hand towel, bath towel
towel rack: towel rack, towel rail
toy: toy, plaything
toy box: toy box, toy chest
trash can: trash can, bin, garbage can, wastebasket, trash bin
tray: tray, serving tray
treadmill: treadmill, running machine
tree: tree, sapling
tv: tv, television, flat screen, tv set
tv stand: tv stand, tv cabinet, media console
umbrella stand: umbrella stand, umbrella holder
vacuum cleaner: vacuum cleaner, hoover
vanity table: vanity table, dressing table, makeup table
vase: vase, urn
wall cabinet: wall cabinet, hanging cabinet, wall cupboard
wall lamp: wall lamp, sconce, wall light
wardrobe: wardrobe, armoire, clothes closet
washing machine: washing machine, washer
watering can: watering can
water heater: water heater, boiler
weight bench: weight bench, workout bench, lifting bench
whiteboard: whiteboard, dry-erase board
window: window
wine rack: wine rack, wine shelf
workbench: workbench, work table, tool bench
"""


def _read_table(table: str) -> dict[str, tuple[str, ...]]:
    rows = (line.split(": ") for line in table.strip().splitlines())
    return {name: tuple(words.split(", ")) for name, words in rows}


OBJECT_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(_read_table(_TABLE))
"""Synonyms of object names, the most common first."""
