# ruff: noqa: E501 - a row of a table is one line
"""Adjectives, determiners, pronouns, adverbs and connectives of the toy grammar."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Adjective:
    """One adjective. German attributive, comparative and superlative are stems that take an ending."""

    english: str
    english_comparative: str
    english_superlative: str
    german: str
    stem: str
    comparative: str
    superlative: str
    classes: frozenset[str]


_ADJECTIVES = """
big, bigger, biggest | groß, groß, größer, größt | person animal thing vehicle building place plant
small, smaller, smallest | klein, klein, kleiner, kleinst | person animal thing vehicle building place plant
old, older, oldest | alt, alt, älter, ältest | person animal thing vehicle building place reading
young, younger, youngest | jung, jung, jünger, jüngst | person animal
new, newer, newest | neu, neu, neuer, neuest | thing vehicle building reading film
beautiful, more beautiful, most beautiful | schön, schön, schöner, schönst | person animal thing building place plant reading
ugly, uglier, ugliest | hässlich, hässlich, hässlicher, hässlichst | animal thing building place
clever, cleverer, cleverest | klug, klug, klüger, klügst | person animal
lazy, lazier, laziest | faul, faul, fauler, faulst | person animal
friendly, friendlier, friendliest | freundlich, freundlich, freundlicher, freundlichst | person animal
polite, more polite, most polite | höflich, höflich, höflicher, höflichst | person
happy, happier, happiest | glücklich, glücklich, glücklicher, glücklichst | person
tired, more tired, most tired | müde, müd, müder, müdest | person animal
strong, stronger, strongest | stark, stark, stärker, stärkst | person animal
rich, richer, richest | reich, reich, reicher, reichst | person
famous, more famous, most famous | berühmt, berühmt, berühmter, berühmtest | person building reading picture
hungry, hungrier, hungriest | hungrig, hungrig, hungriger, hungrigst | person animal
brave, braver, bravest | mutig, mutig, mutiger, mutigst | person animal
careful, more careful, most careful | vorsichtig, vorsichtig, vorsichtiger, vorsichtigst | person
quiet, quieter, quietest | ruhig, ruhig, ruhiger, ruhigst | person place
expensive, more expensive, most expensive | teuer, teur, teurer, teuerst | thing vehicle food drink
cheap, cheaper, cheapest | billig, billig, billiger, billigst | thing vehicle food drink
heavy, heavier, heaviest | schwer, schwer, schwerer, schwerst | thing furniture
light, lighter, lightest | leicht, leicht, leichter, leichtest | small garment
fast, faster, fastest | schnell, schnell, schneller, schnellst | vehicle animal
slow, slower, slowest | langsam, langsam, langsamer, langsamst | vehicle animal
long, longer, longest | lang, lang, länger, längst | reading topic bridge garment
short, shorter, shortest | kurz, kurz, kürzer, kürzest | reading topic event
boring, more boring, most boring | langweilig, langweilig, langweiliger, langweiligst | reading topic event film
interesting, more interesting, most interesting | interessant, interessant, interessanter, interessantest | reading topic event picture
difficult, more difficult, most difficult | schwierig, schwierig, schwieriger, schwierigst | topic event
high, higher, highest | hoch, hoh, höher, höchst | building
dark, darker, darkest | dunkel, dunkl, dunkler, dunkelst | place garment
warm, warmer, warmest | warm, warm, wärmer, wärmst | food drink garment
cold, colder, coldest | kalt, kalt, kälter, kältest | food drink place
fresh, fresher, freshest | frisch, frisch, frischer, frischest | food juice
good, better, best | gut, gut, besser, best | food drink person reading
sweet, sweeter, sweetest | süß, süß, süßer, süßest | baked juice
red, redder, reddest | rot, rot, röter, rötest | garment vehicle small flower
blue, bluer, bluest | blau, blau, blauer, blauest | garment vehicle door
green, greener, greenest | grün, grün, grüner, grünst | garment vehicle bag
white, whiter, whitest | weiß, weiß, weißer, weißest | animal garment building
black, blacker, blackest | schwarz, schwarz, schwärzer, schwärzest | animal garment vehicle
"""


def _adjective(row: str) -> Adjective:
    english, german, classes = (cell.strip() for cell in row.split("|"))
    positive, comparative, superlative = english.split(", ")
    predicate, stem, german_comparative, german_superlative = german.split(", ")
    return Adjective(
        positive,
        comparative,
        superlative,
        predicate,
        stem,
        german_comparative,
        german_superlative,
        frozenset(classes.split()),
    )


ADJECTIVES = [_adjective(row) for row in _ADJECTIVES.strip().splitlines()]


@dataclass(frozen=True)
class Determiner:
    """A determiner. ``pattern`` names its German inflection, ``adjectives`` the one of adjectives after it.

    ``quantifier`` marks those that would make the scope of a negation unclear.
    """

    singular: str | None
    plural: str | None
    stem: str
    pattern: str
    adjectives: str
    quantifier: bool = False
    genitive: bool = False


THE = Determiner("the", "the", "", "definite", "weak", genitive=True)
A = Determiner("a", "", "ein", "ein", "mixed")
MY = Determiner("my", "my", "mein", "ein", "mixed", genitive=True)
HIS = Determiner("his", "his", "sein", "ein", "mixed", genitive=True)
HER = Determiner("her", "her", "ihr", "ein", "mixed", genitive=True)
OUR = Determiner("our", "our", "unser", "ein", "mixed", genitive=True)
THEIR = Determiner("their", "their", "ihr", "ein", "mixed", genitive=True)
YOUR = Determiner("your", "your", "Ihr", "ein", "mixed", genitive=True)
THIS = Determiner("this", "these", "dies", "dieser", "weak", genitive=True)
EVERY = Determiner("every", None, "jed", "dieser", "weak", quantifier=True)
NO = Determiner("no", "no", "kein", "ein", "mixed", quantifier=True)
ALL = Determiner(None, "all", "all", "dieser", "weak", quantifier=True)
MANY = Determiner(None, "many", "viel", "dieser", "strong", quantifier=True)
SOME = Determiner(None, "some", "einig", "dieser", "strong", quantifier=True)
SEVERAL = Determiner(None, "several", "mehrer", "dieser", "strong", quantifier=True)
POSSESSIVES = [MY, HIS, HER, OUR, THEIR, YOUR]
_NUMBERS = {
    "two": "zwei", "three": "drei", "four": "vier", "five": "fünf", "six": "sechs", "seven": "sieben", "eight": "acht",
    "nine": "neun", "ten": "zehn", "twelve": "zwölf", "twenty": "zwanzig",
}  # fmt: skip
NUMBERS = [
    Determiner(None, english, german, "fixed", "strong", quantifier=True) for english, german in _NUMBERS.items()
]

NAMES = {
    "Anna": "f", "Maria": "f", "Clara": "f", "Lena": "f", "Julia": "f", "Paula": "f",
    "Peter": "m", "Paul": "m", "Martin": "m", "Robert": "m", "Daniel": "m", "Simon": "m",
}  # fmt: skip


def name_determiner(name: str) -> Determiner:
    """Return the possessive of a name: "Anna's", "Annas"; adjectives after it are strong."""
    return Determiner(f"{name}'s", f"{name}'s", f"{name}s", "fixed", "strong")


@dataclass(frozen=True)
class Adverb:
    """An adverbial: ``place`` in English is "end" or "verb" (before the verb); tenses it goes with."""

    english: str
    german: str
    tenses: frozenset[str]
    before_verb: bool = False


_ADVERBS = """
today | heute | present past perfect future modal
yesterday | gestern | past
last week | letzte Woche | past
last year | letztes Jahr | past
two days ago | vor zwei Tagen | past
tomorrow | morgen | future modal
next week | nächste Woche | future modal
next year | nächstes Jahr | future modal
soon | bald | future
every day | jeden Tag | present past
now | jetzt | present modal
in the morning | am Morgen | present past future modal
in the evening | am Abend | present past future modal
at night | nachts | present past
on Monday | am Montag | past future modal
on Friday | am Freitag | past future modal
on Sunday | am Sonntag | past future modal
in summer | im Sommer | present past future
in winter | im Winter | present past future
at the weekend | am Wochenende | past future modal
"""
_FREQUENCY = """
often | oft | present past perfect
always | immer | present past perfect
sometimes | manchmal | present past
never | nie | present past perfect
seldom | selten | present past
"""


def _adverbs(table: str, before_verb: bool) -> list[Adverb]:
    rows = [[cell.strip() for cell in row.split("|")] for row in table.strip().splitlines()]
    return [Adverb(english, german, frozenset(tenses.split()), before_verb) for english, german, tenses in rows]


TIMES = _adverbs(_ADVERBS, before_verb=False)
FREQUENCIES = _adverbs(_FREQUENCY, before_verb=True)
WHERE_BEFORE = {"why": "warum", "when": "wann", "where": "wo"}
DEGREES = {"very": "sehr", "quite": "ziemlich", "too": "zu"}
POSITIONS = {"on": "auf", "under": "unter", "behind": "hinter", "in front of": "vor", "next to": "neben"}
MANNERS = {
    "slowly": "langsam", "quickly": "schnell", "carefully": "vorsichtig", "quietly": "leise", "loudly": "laut",
}  # fmt: skip
