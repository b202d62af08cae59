"""German inflection: articles, adjective endings, nouns, verbs, contractions.

Cases are ``nom acc dat gen``, genders ``m f n``. The ending tables hold the columns masculine, feminine,
neuter and plural for each case.
"""

from __future__ import annotations

from ablatable.data.corpora.toy.nouns import Noun
from ablatable.data.corpora.toy.verbs import Verb
from ablatable.data.corpora.toy.words import Determiner

_COLUMNS = {"m": 0, "f": 1, "n": 2, "pl": 3}
Endings = dict[str, tuple[str, str, str, str]]

DEFINITE: Endings = {
    "nom": ("der", "die", "das", "die"),
    "acc": ("den", "die", "das", "die"),
    "dat": ("dem", "der", "dem", "den"),
    "gen": ("des", "der", "des", "der"),
}
RELATIVE: Endings = {
    **DEFINITE,
    "dat": ("dem", "der", "dem", "denen"),
    "gen": ("dessen", "deren", "dessen", "deren"),
}
_DIESER: Endings = {
    "nom": ("er", "e", "es", "e"),
    "acc": ("en", "e", "es", "e"),
    "dat": ("em", "er", "em", "en"),
    "gen": ("es", "er", "es", "er"),
}
_EIN: Endings = {**_DIESER, "nom": ("", "e", "", "e"), "acc": ("en", "e", "", "e")}
_WEAK: Endings = {
    "nom": ("e", "e", "e", "en"),
    "acc": ("en", "e", "e", "en"),
    "dat": ("en", "en", "en", "en"),
    "gen": ("en", "en", "en", "en"),
}
_MIXED: Endings = {**_WEAK, "nom": ("er", "e", "es", "en"), "acc": ("en", "e", "es", "en")}
_STRONG: Endings = {**_DIESER, "gen": ("en", "er", "en", "er")}
ADJECTIVE_ENDINGS = {"weak": _WEAK, "mixed": _MIXED, "strong": _STRONG}


def _cell(table: Endings, case: str, gender: str, plural: bool) -> str:
    return table[case][_COLUMNS["pl" if plural else gender]]


def determiner(word: Determiner, case: str, gender: str, plural: bool) -> str:
    """Return the inflected determiner."""
    if word.pattern == "definite":
        return _cell(DEFINITE, case, gender, plural)
    if word.pattern == "fixed":
        return word.stem
    return word.stem + _cell(_EIN if word.pattern == "ein" else _DIESER, case, gender, plural)


def relative_pronoun(case: str, gender: str, plural: bool) -> str:
    """Return the relative pronoun."""
    return _cell(RELATIVE, case, gender, plural)


def adjective_ending(pattern: str, case: str, gender: str, plural: bool) -> str:
    """Return the ending after a determiner that asks for the ``weak``, ``mixed`` or ``strong`` inflection."""
    return _cell(ADJECTIVE_ENDINGS[pattern], case, gender, plural)


def noun(word: Noun, case: str, plural: bool) -> str:
    """Return the noun in a case and number; the dative plural takes an n unless it ends in n or s."""
    if plural:
        return word.plural + ("n" if case == "dat" and word.plural[-1] not in "ns" else "")
    if case == "gen":
        return word.genitive
    weak = word.gender == "m" and word.genitive.endswith("n")
    return word.genitive if weak and case != "nom" else word.german


_AUXILIARIES = {
    "haben": ("habe", "hat", "haben", "hatte"),
    "sein": ("bin", "ist", "sind", "war"),
    "werden": ("werde", "wird", "werden", "wurde"),
    "können": ("kann", "kann", "können", "konnte"),
    "müssen": ("muss", "muss", "müssen", "musste"),
    "wollen": ("will", "will", "wollen", "wollte"),
    "dürfen": ("darf", "darf", "dürfen", "durfte"),
    "sollen": ("sollte", "sollte", "sollten", "sollte"),
}
"""First person, third person, plural and past. ``sollen`` stands for English "should" and is past in form."""


def _past(stem: str, plural: bool) -> str:
    if not plural:
        return stem
    return stem + ("n" if stem.endswith("e") else "en")


def auxiliary(name: str, person: int, plural: bool, past: bool = False) -> str:
    """Return a finite auxiliary or modal."""
    first, third, many, past_form = _AUXILIARIES[name]
    if past:
        return _past(past_form, plural)
    return many if plural else first if person == 1 else third


def finite(verb: Verb, person: int, plural: bool, past: bool) -> str:
    """Return the finite form without a separable prefix."""
    if verb.infinitive in _AUXILIARIES:
        return auxiliary(verb.infinitive, person, plural, past)
    if past:
        return _past(verb.past, plural)
    if plural:
        return verb.infinitive
    if person == 3:
        return verb.present
    if verb.infinitive == "wissen":
        return "weiß"
    return verb.infinitive.removesuffix("n").removesuffix("e") + "e"


def with_zu(verb: Verb) -> str:
    """Return the infinitive with "zu", which goes between a separable prefix and its verb."""
    return f"{verb.prefix}zu{verb.infinitive}" if verb.prefix else f"zu {verb.infinitive}"


def reflexive(person: int, plural: bool, formal: bool) -> str:
    """Return the accusative reflexive pronoun."""
    if person == 3 or formal:
        return "sich"
    return "uns" if plural else "mich"


_CONTRACTIONS = {
    ("in", "dem"): "im",
    ("an", "dem"): "am",
    ("von", "dem"): "vom",
    ("in", "das"): "ins",
    ("an", "das"): "ans",
}


def prepositional(preposition: str, phrase: str) -> str:
    """Put a preposition before a phrase, contracted with its article where German does ("in dem" -> "im")."""
    article, _, rest = phrase.partition(" ")
    short = _CONTRACTIONS.get((preposition, article))
    return f"{short} {rest}" if short and rest else f"{preposition} {phrase}"
