"""Spanish words for rooms, objects and looks, with their gender. The first word of a noun is inflected."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_OBJECTS = """
alarm clock: m despertador
arcade machine: f máquina recreativa
armchair: m sillón, f butaca
backpack: f mochila
ball: f pelota
bar: f barra
bar stool: m taburete de bar, m taburete alto
barbecue: f barbacoa
basket: f cesta, m cesto
bath mat: f alfombrilla de baño
bathtub: f bañera
bed: f cama
bench: m banco
bicycle: f bicicleta, f bici
bird bath: m bebedero de pájaros
blanket: f manta
blender: f batidora de vaso
blinds: f persiana
board game: m juego de mesa
book: m libro
books: m montón de libros, f pila de libros
bookshelf: f estantería, f librería
boots: m par de botas
bottle: f botella
bottle crate: f caja de botellas
bottles: m grupo de botellas
bowl: m cuenco, m bol
box: f caja
bread: m pan
broom: f escoba
bucket: m cubo
bunk bed: f litera
bush: m arbusto
cabinet: m armario, m mueble
cake: m pastel, f tarta
camera: f cámara
candles: m grupo de velas
candlestick: m candelabro
car: m coche, m automóvil
cat tree: m rascador
ceiling fan: m ventilador de techo
ceiling lamp: f lámpara de techo
chair: f silla
chaise longue: m diván
chandelier: f araña de cristal
chess board: m tablero de ajedrez
chest: m baúl, m arcón
clock: m reloj
clothes rack: m perchero de ropa
coat rack: m perchero
coffee machine: f cafetera
coffee table: f mesa de centro, f mesita de café
column: f columna, m pilar
computer: m ordenador
console table: f consola, f mesa de entrada
cookie jar: m tarro de galletas
cradle: f cuna
crib: f cuna
cup: f taza
curtain: f cortina
cushion: m cojín
cutting board: f tabla de cortar
dart board: f diana
desk: m escritorio, f mesa de trabajo
desk lamp: f lámpara de escritorio, m flexo
dining table: f mesa de comedor
dish rack: m escurridor
dishwasher: m lavavajillas, m lavaplatos
doghouse: f caseta del perro
doll: f muñeca
doormat: m felpudo
dresser: f cómoda
drill: m taladro
drum kit: f batería
dryer: f secadora
dumbbell rack: m soporte de mancuernas
easel: m caballete
elliptical trainer: f bicicleta elíptica
exercise ball: f pelota de ejercicio
exercise bike: f bicicleta estática
exercise mat: f colchoneta, f esterilla
figurine: f figurita
filing cabinet: m archivador
fire extinguisher: m extintor
fire pit: m brasero
fireplace: f chimenea
floor lamp: f lámpara de pie
flower bed: m macizo de flores
flower pot: f maceta
flowers: m ramo de flores
folder: f carpeta
folding screen: m biombo
fountain: f fuente
freezer: m congelador
fruit bowl: m frutero
game console: f consola de juegos
game controller: m mando de juegos
garbage bin: m contenedor de basura
garden chair: f silla de jardín
garden gnome: m gnomo de jardín
garden table: f mesa de jardín
glass: m vaso
glass cabinet: f vitrina
globe: m globo terráqueo
grand piano: m piano de cola
grandfather clock: m reloj de péndulo
grill: f parrilla
guitar: f guitarra
hair dryer: m secador
hammock: f hamaca
handbag: m bolso
hat: m sombrero
headphones: m par de auriculares
hedge: m seto
highchair: f trona
hot tub: m jacuzzi, f bañera de hidromasaje
hourglass: m reloj de arena
ironing board: f tabla de planchar
kettle: m hervidor
kitchen counter: f encimera
kitchen island: f isla de cocina, f isla
knife block: m taco de cuchillos
ladder: f escalera de mano
lamp: f lámpara
lantern: m farol
laptop: m portátil
laundry: m montón de ropa
laundry basket: m cesto de ropa
lawn mower: m cortacésped
lounge chair: f silla reclinable
lounger: f tumbona
magazine: f revista
magazine rack: m revistero
magazines: f pila de revistas
massage table: f camilla de masaje
microwave: m microondas
mirror: m espejo
mixer: f batidora
monitor: m monitor, f pantalla
motorcycle: f motocicleta, f moto
mug: m tazón
napkin holder: m servilletero
newspaper: m periódico
nightstand: f mesita de noche, f mesilla
notebook: m cuaderno
office chair: f silla de oficina, f silla giratoria
ottoman: m puf, m reposapiés
oven: m horno
paint can: m bote de pintura
pan: f sartén
paper towel: m rollo de cocina
paper towel holder: m portarrollos
parasol: f sombrilla
pencil cup: m bote de lápices
pendant lamp: f lámpara colgante
perfume: m perfume
pet bed: f cama del perro
pet bowl: m comedero
phone: m teléfono
photo frame: m portarretratos
piano: m piano
picture: m cuadro, f pintura
pillow: f almohada
pineapple: f piña
ping-pong table: f mesa de ping-pong
plant: f planta
planter: f jardinera
plate: m plato
pond: m estanque
pool table: f mesa de billar
poster: m cartel, m póster
pot: f olla
printer: f impresora
punching bag: m saco de boxeo
radiator: m radiador
radio: f radio
range hood: f campana extractora
record player: m tocadiscos
refrigerator: f nevera, m frigorífico
remote control: m mando a distancia
rocking chair: f mecedora
rowing machine: f máquina de remo
rubber duck: m patito de goma
rug: f alfombra
safe: f caja fuerte
salt shaker: m salero
sandbox: m arenero
scale: f báscula
sewing machine: f máquina de coser
shampoo: m champú
shed: m cobertizo, f caseta
shelf: f repisa, m estante
shelves: f estantería abierta
shoe rack: m zapatero
shoes: m par de zapatos
shower: f ducha
side table: f mesa auxiliar, f mesita
sideboard: m aparador
sink: m lavabo, m fregadero
skateboard: m monopatín
slide: m tobogán
slippers: m par de zapatillas
soap: m jabón
soap dispenser: m dispensador de jabón
sofa: m sofá
spare tire: f rueda de repuesto
speaker: m altavoz
spice rack: m especiero
stairs: f escalera
statue: f estatua, f escultura
stool: m taburete
stove: f cocina de gas, f placa de cocina
suitcase: f maleta
surfboard: f tabla de surf
swimming pool: f piscina
swing: m columpio
table: f mesa
table lamp: f lámpara de mesa
tablet: f tableta
teapot: f tetera
teddy bear: m oso de peluche
telescope: m telescopio
tissue box: f caja de pañuelos
toaster: m tostador, f tostadora
toilet: m inodoro, m váter
toilet brush: f escobilla
toilet paper: m papel higiénico
tool chest: m armario de herramientas
toolbox: f caja de herramientas
toothbrush cup: m vaso de cepillos
towel: f toalla
towel rack: m toallero
toy: m juguete
toy box: m baúl de juguetes
toy car: m coche de juguete
toy tower: f torre de bloques
toy train: m tren de juguete
trampoline: f cama elástica
trash can: f papelera, m cubo de basura
tray: f bandeja
treadmill: f cinta de correr
tree: m árbol
trophy: m trofeo
tv: m televisor, f tele
tv stand: m mueble del televisor
typewriter: f máquina de escribir
umbrella stand: m paragüero
vacuum cleaner: f aspiradora
vanity table: m tocador
vase: m jarrón, m florero
wall cabinet: m armario de pared
wall lamp: m aplique, f lámpara de pared
wardrobe: m ropero, m armario ropero
washing machine: f lavadora
water bottle: f botella de agua
water heater: m calentador de agua
watering can: f regadera de jardín
weight bench: m banco de pesas
wheelbarrow: f carretilla
whiteboard: f pizarra blanca
window: f ventana
wine fridge: f vinoteca
wine glass: f copa
wine rack: m botellero
workbench: m banco de trabajo
"""

Noun = tuple[str, str]  # gender, "m" or "f", and the word


def _read_table(table: str) -> dict[str, tuple[Noun, ...]]:
    rows = (line.split(": ") for line in table.strip().splitlines())
    return {name: tuple((word[0], word[2:]) for word in words.split(", ")) for name, words in rows}


OBJECT_NOUNS: Mapping[str, tuple[Noun, ...]] = MappingProxyType(_read_table(_OBJECTS))
"""Nouns for objects, by their English name, the most common first."""

ROOM_NOUNS: Mapping[str, tuple[Noun, ...]] = MappingProxyType(
    _read_table(
        """
a: m baño, m cuarto de baño
b: m dormitorio, f habitación, f alcoba
c: m vestidor
d: m comedor
e: m recibidor, m vestíbulo, f entrada
f: f sala familiar, m cuarto de estar
g: m garaje, f cochera
h: m pasillo, m corredor
i: f biblioteca, f sala de lectura
j: m lavadero, m cuarto de lavado
k: f cocina
l: m salón, f sala de estar, f sala
m: f sala de reuniones, f sala de juntas
n: m salón de descanso
o: m despacho, m estudio, f oficina
p: f terraza, m porche
r: f sala de juegos, m cuarto de juegos
s: m hueco de la escalera
t: m aseo, m medio baño
u: m cuarto de servicio, m trastero
v: f sala de televisión, f sala de cine
w: m gimnasio
x: m jardín, m patio
y: m balcón
z: m cuarto de invitados
B: m bar
C: f sala de clases
D: m rincón de comer
S: f sauna, m spa
Z: m cuarto de los trastos
"""
    )
)
"""Nouns for kinds of rooms, the most common first."""

COLOR_ADJECTIVES: Mapping[str, str] = MappingProxyType(
    {
        "red": "rojo",
        "orange": "anaranjado",
        "yellow": "amarillo",
        "green": "verde",
        "blue": "azul",
        "purple": "morado",
        "pink": "rosado",
        "brown": "marrón",
        "black": "negro",
        "white": "blanco",
        "grey": "gris",
        "beige": "beige",
    }
)
SHAPE_ADJECTIVES: Mapping[str, str] = MappingProxyType(
    {
        "round": "redondo",
        "square": "cuadrado",
        "oval": "ovalado",
        "long": "largo",
        "tall": "alto",
        "low": "bajo",
        "small": "pequeño",
        "large": "grande",
        "wide": "ancho",
        "narrow": "estrecho",
        "rectangular": "rectangular",
        "double": "doble",
        "single": "individual",
        "corner": "esquinero",
    }
)
MATERIAL_PHRASES: Mapping[str, str] = MappingProxyType(
    {
        "wooden": "de madera",
        "glass": "de cristal",
        "leather": "de cuero",
        "metal": "de metal",
        "steel": "de acero",
        "stone": "de piedra",
        "marble": "de mármol",
        "brick": "de ladrillo",
        "fabric": "de tela",
        "velvet": "de terciopelo",
        "wicker": "de mimbre",
        "ceramic": "de cerámica",
        "plastic": "de plástico",
        "concrete": "de hormigón",
        "cardboard": "de cartón",
        "rattan": "de ratán",
        "porcelain": "de porcelana",
        "granite": "de granito",
        "bamboo": "de bambú",
        "iron": "de hierro",
        "brass": "de latón",
        "copper": "de cobre",
        "chrome": "de cromo",
        "linen": "de lino",
        "cotton": "de algodón",
        "wool": "de lana",
        "paper": "de papel",
        "clay": "de barro",
        "mirrored": "de espejo",
        "oak": "de roble",
        "pine": "de pino",
        "walnut": "de nogal",
        "tiled": "de azulejos",
        "carpeted": "de moqueta",
    }
)
"""Adjectives (masculine singular) and phrases for all looks of `vocabulary.py`."""

_PLURALS = {"cojín": "cojines", "sillón": "sillones", "jarrón": "jarrones", "montón": "montones", "reloj": "relojes"}
_INVARIABLE = ("lavavajillas", "lavaplatos", "microondas", "reposapiés", "tocadiscos")


def plural_word(word: str) -> str:
    """The plural of a Spanish noun or adjective."""
    if word in _PLURALS or word in _INVARIABLE:
        return _PLURALS.get(word, word)
    if word[-1] in "aeioué" or word.endswith("á"):
        return word + "s"
    if word.endswith("z"):
        return word[:-1] + "ces"
    for accented, plain in (("ín", "in"), ("ón", "on"), ("án", "an")):
        if word.endswith(accented):
            return word.removesuffix(accented) + plain + "es"
    return word + "es"


def agree(adjective: str, gender: str, *, many: bool) -> str:
    """The adjective in the gender and number of its noun."""
    word = adjective[:-1] + "a" if gender == "f" and adjective.endswith("o") else adjective
    return plural_word(word) if many else word
