"""Nouns and compounds of the toy grammar.

Columns: English singular, plural | German singular, gender, genitive singular, plural | classes. A
masculine whose genitive ends in n is weak (the same form in all cases but the nominative). Verbs and
adjectives select nouns by class.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Noun:
    """One noun; ``mass`` nouns have no plural and take no article when indefinite (``plural`` is empty)."""

    english: str
    english_plural: str
    german: str
    gender: str
    genitive: str
    plural: str
    classes: frozenset[str]

    @property
    def mass(self) -> bool:
        """Say whether the noun cannot be counted."""
        return not self.plural


_SIMPLE = """
man, men | Mann, m, Mannes, Männer | person
woman, women | Frau, f, Frau, Frauen | person
child, children | Kind, n, Kindes, Kinder | person young
boy, boys | Junge, m, Jungen, Jungen | person young
girl, girls | Mädchen, n, Mädchens, Mädchen | person young
father, fathers | Vater, m, Vaters, Väter | person
mother, mothers | Mutter, f, Mutter, Mütter | person
brother, brothers | Bruder, m, Bruders, Brüder | person
sister, sisters | Schwester, f, Schwester, Schwestern | person
son, sons | Sohn, m, Sohnes, Söhne | person young
daughter, daughters | Tochter, f, Tochter, Töchter | person young
uncle, uncles | Onkel, m, Onkels, Onkel | person
aunt, aunts | Tante, f, Tante, Tanten | person
grandfather, grandfathers | Großvater, m, Großvaters, Großväter | person
grandmother, grandmothers | Großmutter, f, Großmutter, Großmütter | person
teacher, teachers | Lehrer, m, Lehrers, Lehrer | person teacher
doctor, doctors | Arzt, m, Arztes, Ärzte | person
pupil, pupils | Schüler, m, Schülers, Schüler | person young
student, students | Student, m, Studenten, Studenten | person
neighbour, neighbours | Nachbar, m, Nachbarn, Nachbarn | person
policeman, policemen | Polizist, m, Polizisten, Polizisten | person
colleague, colleagues | Kollege, m, Kollegen, Kollegen | person
baker, bakers | Bäcker, m, Bäckers, Bäcker | person
cook, cooks | Koch, m, Kochs, Köche | person
farmer, farmers | Bauer, m, Bauern, Bauern | person
gardener, gardeners | Gärtner, m, Gärtners, Gärtner | person
painter, painters | Maler, m, Malers, Maler | person
tourist, tourists | Tourist, m, Touristen, Touristen | person
guest, guests | Gast, m, Gastes, Gäste | person
friend, friends | Freund, m, Freundes, Freunde | person
king, kings | König, m, Königs, Könige | person
queen, queens | Königin, f, Königin, Königinnen | person
princess, princesses | Prinzessin, f, Prinzessin, Prinzessinnen | person young
singer, singers | Sängerin, f, Sängerin, Sängerinnen | person
dog, dogs | Hund, m, Hundes, Hunde | animal
cat, cats | Katze, f, Katze, Katzen | animal
horse, horses | Pferd, n, Pferdes, Pferde | animal
bird, birds | Vogel, m, Vogels, Vögel | animal
bear, bears | Bär, m, Bären, Bären | animal
lion, lions | Löwe, m, Löwen, Löwen | animal
hare, hares | Hase, m, Hasen, Hasen | animal
mouse, mice | Maus, f, Maus, Mäuse | animal
cow, cows | Kuh, f, Kuh, Kühe | animal
pig, pigs | Schwein, n, Schweins, Schweine | animal
elephant, elephants | Elefant, m, Elefanten, Elefanten | animal
book, books | Buch, n, Buches, Bücher | thing reading book
letter, letters | Brief, m, Briefes, Briefe | thing reading
newspaper, newspapers | Zeitung, f, Zeitung, Zeitungen | thing reading
novel, novels | Roman, m, Romans, Romane | thing reading
story, stories | Geschichte, f, Geschichte, Geschichten | reading
poem, poems | Gedicht, n, Gedichts, Gedichte | reading
key, keys | Schlüssel, m, Schlüssels, Schlüssel | thing small key
ball, balls | Ball, m, Balls, Bälle | thing small toy
gift, gifts | Geschenk, n, Geschenks, Geschenke | thing small
picture, pictures | Bild, n, Bildes, Bilder | thing picture
bag, bags | Tasche, f, Tasche, Taschen | thing small bag
umbrella, umbrellas | Regenschirm, m, Regenschirms, Regenschirme | thing small
bottle, bottles | Flasche, f, Flasche, Flaschen | thing small
cup, cups | Tasse, f, Tasse, Tassen | thing small
knife, knives | Messer, n, Messers, Messer | thing small
suitcase, suitcases | Koffer, m, Koffers, Koffer | thing small
parcel, parcels | Paket, n, Pakets, Pakete | thing small
doll, dolls | Puppe, f, Puppe, Puppen | thing small toy
map, maps | Karte, f, Karte, Karten | thing small
clock, clocks | Uhr, f, Uhr, Uhren | thing device
lamp, lamps | Lampe, f, Lampe, Lampen | thing device electric lamp
computer, computers | Computer, m, Computers, Computer | thing device electric
radio, radios | Radio, n, Radios, Radios | thing device electric
camera, cameras | Kamera, f, Kamera, Kameras | thing device electric
machine, machines | Maschine, f, Maschine, Maschinen | device electric
table, tables | Tisch, m, Tisches, Tische | thing furniture surface table
chair, chairs | Stuhl, m, Stuhls, Stühle | thing furniture surface chair
bed, beds | Bett, n, Bettes, Betten | thing furniture surface
cupboard, cupboards | Schrank, m, Schranks, Schränke | thing furniture surface
sofa, sofas | Sofa, n, Sofas, Sofas | thing furniture surface
bench, benches | Bank, f, Bank, Bänke | furniture surface
wall, walls | Mauer, f, Mauer, Mauern | surface building
door, doors | Tür, f, Tür, Türen | opening door
window, windows | Fenster, n, Fensters, Fenster | opening window
box, boxes | Kiste, f, Kiste, Kisten | thing opening surface
gate, gates | Tor, n, Tores, Tore | opening
coat, coats | Mantel, m, Mantels, Mäntel | thing garment coat
jacket, jackets | Jacke, f, Jacke, Jacken | thing garment jacket
dress, dresses | Kleid, n, Kleides, Kleider | thing garment dress
shirt, shirts | Hemd, n, Hemdes, Hemden | thing garment
hat, hats | Hut, m, Hutes, Hüte | thing garment hat
shoe, shoes | Schuh, m, Schuhs, Schuhe | thing garment shoe
skirt, skirts | Rock, m, Rockes, Röcke | thing garment
car, cars | Auto, n, Autos, Autos | vehicle surface
bicycle, bicycles | Fahrrad, n, Fahrrads, Fahrräder | vehicle
bus, buses | Bus, m, Busses, Busse | vehicle public bus
train, trains | Zug, m, Zuges, Züge | vehicle public
ship, ships | Schiff, n, Schiffes, Schiffe | vehicle public
boat, boats | Boot, n, Bootes, Boote | vehicle
house, houses | Haus, n, Hauses, Häuser | building surface
bridge, bridges | Brücke, f, Brücke, Brücken | building bridge
tower, towers | Turm, m, Turmes, Türme | building
castle, castles | Schloss, n, Schlosses, Schlösser | building
tree, trees | Baum, m, Baumes, Bäume | plant surface
flower, flowers | Blume, f, Blume, Blumen | plant small
rose, roses | Rose, f, Rose, Rosen | plant small
apple, apples | Apfel, m, Apfels, Äpfel | food small
egg, eggs | Ei, n, Eies, Eier | food small
cake, cakes | Kuchen, m, Kuchens, Kuchen | food baked cake
soup, soups | Suppe, f, Suppe, Suppen | food cooked soup
potato, potatoes | Kartoffel, f, Kartoffel, Kartoffeln | food cooked small
pear, pears | Birne, f, Birne, Birnen | food small
sausage, sausages | Wurst, f, Wurst, Würste | food
course, courses | Kurs, m, Kurses, Kurse | event
meeting, meetings | Sitzung, f, Sitzung, Sitzungen | event
festival, festivals | Fest, n, Festes, Feste | event topic
competition, competitions | Wettbewerb, m, Wettbewerbs, Wettbewerbe | event
journey, journeys | Reise, f, Reise, Reisen | topic
film, films | Film, m, Films, Filme | topic film
mistake, mistakes | Fehler, m, Fehlers, Fehler | topic
exam, exams | Prüfung, f, Prüfung, Prüfungen | topic
bread, | Brot, n, Brotes, | food baked
cheese, | Käse, m, Käses, | food
rice, | Reis, m, Reises, | food cooked
meat, | Fleisch, n, Fleisches, | food cooked
butter, | Butter, f, Butter, | food
water, | Wasser, n, Wassers, | drink
milk, | Milch, f, Milch, | drink
coffee, | Kaffee, m, Kaffees, | drink
tea, | Tee, m, Tees, | drink
juice, | Saft, m, Saftes, | drink juice
beer, | Bier, n, Biers, | drink
wine, | Wein, m, Weins, | drink
"""

_MODIFIERS = """
kitchen | Küchen | door window lamp table chair
garden | Garten | door lamp table chair
cellar | Keller | door window lamp key
house | Haus | door key
school | Schul | door book bus bag
office | Büro | door window lamp table chair key
hotel | Hotel | door key
castle | Schloss | door window key
winter | Winter | coat jacket dress shoe hat
summer | Sommer | coat jacket dress shoe hat
leather | Leder | coat jacket shoe bag hat
wooden | Holz | door table chair bridge
glass | Glas | door table
stone | Stein | table bridge
children's | Kinder | book chair shoe film
travel | Reise | bag
apple | Apfel | cake juice
cherry | Kirsch | cake juice
cheese | Käse | cake
chocolate | Schokoladen | cake
tomato | Tomaten | soup juice
vegetable | Gemüse | soup juice
fish | Fisch | soup
music | Musik | teacher
history | Geschichts | teacher
sports | Sport | teacher shoe bag
art | Kunst | teacher book
"""


def _rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]


def _simple() -> list[Noun]:
    nouns: list[Noun] = []
    for english, german, classes in _rows(_SIMPLE):
        singular, plural = (word.strip() for word in english.split(","))
        nominative, gender, genitive, german_plural = (word.strip() for word in german.split(","))
        nouns.append(Noun(singular, plural, nominative, gender, genitive, german_plural, frozenset(classes.split())))
    return nouns


def _compounds(simple: list[Noun]) -> list[Noun]:
    """Join modifiers and heads: gender and inflection come from the head, which loses its capital."""
    compounds: list[Noun] = []
    for english, german, classes in _rows(_MODIFIERS):
        heads = [noun for noun in simple if noun.classes & set(classes.split())]
        for head in heads:
            compounds.append(
                Noun(
                    f"{english} {head.english}",
                    head.english_plural and f"{english} {head.english_plural}",
                    german + head.german.lower(),
                    head.gender,
                    german + head.genitive.lower(),
                    head.plural and german + head.plural.lower(),
                    head.classes,
                )
            )
    return compounds


SIMPLE = _simple()
COMPOUNDS = _compounds(SIMPLE)
NOUNS = SIMPLE + COMPOUNDS


@dataclass(frozen=True)
class Place:
    """A place: the preposition of being there (dative in German) and of going there (accusative)."""

    noun: Noun
    english_at: str
    german_at: str


_PLACES = """
garden, gardens | Garten, m, Gartens, Gärten | in | in
school, schools | Schule, f, Schule, Schulen | at | in
town, towns | Stadt, f, Stadt, Städte | in | in
village, villages | Dorf, n, Dorfes, Dörfer | in | in
park, parks | Park, m, Parks, Parks | in | in
forest, forests | Wald, m, Waldes, Wälder | in | in
museum, museums | Museum, n, Museums, Museen | in | in
kitchen, kitchens | Küche, f, Küche, Küchen | in | in
office, offices | Büro, n, Büros, Büros | in | in
library, libraries | Bibliothek, f, Bibliothek, Bibliotheken | in | in
hotel, hotels | Hotel, n, Hotels, Hotels | in | in
restaurant, restaurants | Restaurant, n, Restaurants, Restaurants | in | in
hospital, hospitals | Krankenhaus, n, Krankenhauses, Krankenhäuser | in | in
cellar, cellars | Keller, m, Kellers, Keller | in | in
church, churches | Kirche, f, Kirche, Kirchen | in | in
theatre, theatres | Theater, n, Theaters, Theater | at | in
market, markets | Markt, m, Marktes, Märkte | at | auf
island, islands | Insel, f, Insel, Inseln | on | auf
mountain, mountains | Berg, m, Berges, Berge | on | auf
beach, beaches | Strand, m, Strandes, Strände | on | an
lake, lakes | See, m, Sees, Seen | at | an
river, rivers | Fluss, m, Flusses, Flüsse | at | an
coast, coasts | Küste, f, Küste, Küsten | on | an
"""


def _places() -> list[Place]:
    places: list[Place] = []
    for english, german, english_at, german_at in _rows(_PLACES):
        singular, plural = (word.strip() for word in english.split(","))
        nominative, gender, genitive, german_plural = (word.strip() for word in german.split(","))
        indoors = "room" if singular in ("kitchen", "office", "cellar", "library") else "site"
        classes = frozenset({"place", indoors})
        noun = Noun(singular, plural, nominative, gender, genitive, german_plural, classes)
        places.append(Place(noun, english_at, german_at))
    return places


PLACES = _places()
