"""Names of objects that people use, by the name of the object in a house. Unlisted objects have only their own name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_TABLE = """
alarm clock: alarm clock, bedside clock
arcade machine: arcade game, video game machine
armchair: armchair, easy chair, club chair
backpack: backpack, rucksack, knapsack
ball: ball, football
bar: bar, bar counter
bar stool: bar stool, counter stool, high stool
barbecue: barbecue, bbq
basket: basket, wicker basket, hamper
bath mat: bath mat, shower mat
bathtub: bathtub, tub, bath tub
bed: bed
bench: bench
bicycle: bicycle, bike
bird bath: bird bath, birdbath
blanket: blanket, throw, quilt
blender: blender
blinds: blinds, shades
board game: board game, tabletop game
book: book, paperback
books: books, stack of books, pile of books
bookshelf: bookshelf, bookcase, book shelf, book rack
boots: boots, pair of boots
bottle: bottle, flask
bottle crate: bottle crate, beverage crate
bottles: bottles, wine bottles
bowl: bowl, dish
box: box, cardboard box, crate, carton
bread: bread, loaf of bread
broom: broom
bucket: bucket, pail
bunk bed: bunk bed, bunks
bush: bush, shrub
cabinet: cabinet, cupboard, storage unit
cake: cake, birthday cake
camera: camera
candles: candles, candlesticks
candlestick: candlestick, candelabra
car: car, automobile, vehicle
cat tree: cat tree, scratching post
ceiling fan: ceiling fan
ceiling lamp: ceiling lamp, ceiling light
chair: chair, seat
chaise longue: chaise longue, daybed
chandelier: chandelier
chess board: chess board, chess set
chest: chest, trunk
clock: clock, wall clock, timepiece
clothes rack: clothes rack, garment rack, clothing rack
coat rack: coat rack, coat stand, hat stand, coat tree
coffee machine: coffee machine, coffee maker, espresso machine
coffee table: coffee table, cocktail table
column: column, pillar, post
computer: computer, pc
console table: console table, entry table, hall table
cookie jar: cookie jar, biscuit tin
cradle: cradle
crib: crib, baby bed, cot
cup: cup, teacup
curtain: curtain, drape, window curtain
cushion: cushion, throw pillow
cutting board: cutting board, chopping board
dart board: dart board, dartboard
desk: desk, writing desk, work desk
desk lamp: desk lamp, reading lamp, study lamp
dining table: dining table, dinner table, dining room table
dish rack: dish rack, drying rack
dishwasher: dishwasher, dish washer
doghouse: doghouse, kennel
doll: doll, puppet
doormat: doormat, welcome mat
dresser: dresser, chest of drawers, bureau
drill: drill, power drill
drum kit: drum kit, drums
dryer: dryer, tumble dryer, clothes dryer
dumbbell rack: dumbbell rack, weight rack
easel: easel
elliptical trainer: elliptical trainer, elliptical machine
exercise ball: exercise ball, yoga ball
exercise bike: exercise bike, stationary bike, spin bike
exercise mat: exercise mat, yoga mat
figurine: figurine, ornament
filing cabinet: filing cabinet, file cabinet
fire extinguisher: fire extinguisher, extinguisher
fire pit: fire pit, firepit
fireplace: fireplace, hearth, mantel
floor lamp: floor lamp, standing lamp, tall lamp
flower bed: flower bed, flowerbed
flower pot: flower pot, flowerpot
flowers: flowers, bouquet, bunch of flowers
folder: folder, ring binder
folding screen: folding screen, room divider, partition
fountain: fountain, water feature
freezer: freezer, deep freezer
fruit bowl: fruit bowl, bowl of fruit
game console: game console
game controller: game controller, gamepad, joystick
garbage bin: garbage bin, dumpster
garden chair: garden chair, lawn chair, patio chair
garden gnome: garden gnome, gnome
garden table: garden table, patio table, picnic table
glass: drinking glass, tumbler
glass cabinet: glass cabinet, display cabinet, china cabinet
globe: globe, world globe
grand piano: grand piano, baby grand
grandfather clock: grandfather clock, longcase clock
grill: grill, barbecue grill
guitar: guitar, acoustic guitar
hair dryer: hair dryer, blow-dryer
hammock: hammock
handbag: handbag, purse
hat: hat, cap
headphones: headphones, headset
hedge: hedge, row of bushes
highchair: highchair, baby chair
hot tub: hot tub, jacuzzi, whirlpool
hourglass: hourglass, sand timer
ironing board: ironing board
kettle: kettle, tea kettle
kitchen counter: kitchen counter, countertop, worktop
kitchen island: kitchen island, island
knife block: knife block, knife holder
ladder: ladder, stepladder
lamp: lamp, light
lantern: lantern
laptop: laptop, notebook computer
laundry: pile of laundry, heap of clothes
laundry basket: laundry basket, clothes hamper
lawn mower: lawn mower, mower
lounge chair: lounge chair, deck chair
lounger: lounger, sun lounger, chaise
magazine: magazine, periodical
magazine rack: magazine rack, magazine holder
magazines: magazines, stack of magazines
massage table: massage table, treatment table
microwave: microwave, microwave oven
mirror: mirror, wall mirror, looking glass
mixer: mixer, stand mixer
monitor: monitor, computer screen, computer monitor
motorcycle: motorcycle, motorbike
mug: mug, coffee mug
napkin holder: napkin holder, serviette holder
newspaper: newspaper, daily paper
nightstand: nightstand, bedside table, night table, bedside cabinet
notebook: notebook, notepad
office chair: office chair, desk chair, swivel chair
ottoman: ottoman, footstool, pouf
oven: oven, wall oven
paint can: paint can, paint tin
pan: pan, frying pan, skillet
paper towel: paper towel, kitchen roll
paper towel holder: paper towel holder
parasol: parasol, patio umbrella, sun umbrella
pencil cup: pencil cup, pen holder
pendant lamp: pendant lamp, hanging lamp, hanging light
perfume: perfume, perfume bottle
pet bed: pet bed, dog bed
pet bowl: pet bowl, dog dish
phone: phone, telephone, smartphone
photo frame: photo frame, framed photo
piano: piano, upright piano
picture: picture, painting, artwork, framed print, wall art, piece of art
pillow: pillow, bed pillow
pineapple: pineapple
ping-pong table: ping-pong table, table tennis table
plant: plant, potted plant, houseplant, pot plant, leafy plant
planter: planter, planter box
plate: plate, dinner plate
pond: pond, lily pond
pool table: pool table, billiard table, snooker table
poster: poster, wall poster
pot: pot, cooking pot, saucepan
printer: printer, copier
punching bag: punching bag, boxing bag, heavy bag
radiator: radiator, heater
radio: radio, stereo
range hood: range hood, extractor hood
record player: record player, turntable
refrigerator: refrigerator, fridge, icebox
remote control: remote control, remote
rocking chair: rocking chair, rocker
rowing machine: rowing machine, rower
rubber duck: rubber duck, bath toy
rug: rug, carpet, area rug, floor rug, throw rug
safe: safe, strongbox
salt shaker: salt shaker, saltcellar
sandbox: sandbox, sandpit
scale: scale, bathroom scale
sewing machine: sewing machine
shampoo: shampoo, shampoo bottle
shed: shed, toolshed, garden shed
shelf: shelf, ledge
shelves: shelves, shelving, shelving unit, storage shelves
shoe rack: shoe rack, shoe shelf
shoes: shoes, pair of shoes
shower: shower, shower stall, shower cabin
side table: side table, end table, occasional table
sideboard: sideboard, buffet, credenza
sink: sink, washbasin, basin, vanity
skateboard: skateboard
slide: slide, playground slide
slippers: slippers, house shoes
soap: soap, bar of soap
soap dispenser: soap dispenser, soap pump
sofa: sofa, couch, settee
spare tire: spare tire, spare wheel
speaker: speaker, loudspeaker
spice rack: spice rack, spice shelf
stairs: stairs, staircase, steps, stairway
statue: statue, sculpture
stool: stool
stove: stove, cooker, range
suitcase: suitcase, piece of luggage, travel bag, valise
surfboard: surfboard
swimming pool: swimming pool, pool
swing: swing, swing seat
table: table
table lamp: table lamp, bedside lamp
tablet: tablet, tablet computer
teapot: teapot, tea pot
teddy bear: teddy bear, stuffed animal, teddy
telescope: telescope, spyglass
tissue box: tissue box, box of tissues
toaster: toaster
toilet: toilet, commode
toilet brush: toilet brush, lavatory brush
toilet paper: toilet paper, toilet roll
tool chest: tool chest, tool cabinet
toolbox: toolbox, toolkit
toothbrush cup: toothbrush cup, toothbrush holder
towel: towel, hand towel, bath towel
towel rack: towel rack, towel rail
toy: toy, plaything
toy box: toy box, toy chest
toy car: toy car, model car
toy tower: toy tower, tower of blocks
toy train: toy train, model train
trampoline: trampoline
trash can: trash can, bin, garbage can, wastebasket, trash bin, waste bin, rubbish bin, wastepaper basket
tray: tray, serving tray
treadmill: treadmill, running machine
tree: tree, sapling
trophy: trophy, award
tv: tv, television, flat screen, tv set, telly
tv stand: tv stand, tv cabinet, media console
typewriter: typewriter
umbrella stand: umbrella stand, umbrella holder
vacuum cleaner: vacuum cleaner, hoover
vanity table: vanity table, dressing table, makeup table
vase: vase, flower vase, urn
wall cabinet: wall cabinet, hanging cabinet, wall cupboard
wall lamp: wall lamp, sconce, wall light
wardrobe: wardrobe, armoire, clothes closet, clothes cupboard
washing machine: washing machine, washer
water bottle: water bottle, sports bottle
water heater: water heater, boiler
watering can: watering can
weight bench: weight bench, workout bench, lifting bench
wheelbarrow: wheelbarrow, barrow
whiteboard: whiteboard, dry-erase board
window: window
wine fridge: wine fridge, wine cooler
wine glass: wine glass, goblet
wine rack: wine rack, wine shelf
workbench: workbench, work table, tool bench
"""


def _read_table(table: str) -> dict[str, tuple[str, ...]]:
    rows = (line.split(": ") for line in table.strip().splitlines())
    return {name: tuple(words.split(", ")) for name, words in rows}


OBJECT_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(_read_table(_TABLE))
"""Synonyms of object names, the most common first."""
