"""Rules that choose noun phrases, places and relative clauses."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from ablatable.data.corpora.toy.clauses import Clause, Relative
from ablatable.data.corpora.toy.draw import Draw
from ablatable.data.corpora.toy.nouns import COMPOUNDS, PLACES, SIMPLE, Noun, Place
from ablatable.data.corpora.toy.phrases import (
    PRONOUNS,
    Both,
    Modifier,
    Name,
    NounPhrase,
    Phrase,
    Prepositional,
    Pronoun,
    at,
    towards,
)
from ablatable.data.corpora.toy.verbs import VERBS, Verb
from ablatable.data.corpora.toy.words import (
    ADJECTIVES,
    ALL,
    EVERY,
    MANY,
    NAMES,
    NUMBERS,
    POSITIONS,
    POSSESSIVES,
    SEVERAL,
    SOME,
    THE,
    THIS,
    A,
    Adjective,
    Determiner,
    name_determiner,
)

_POSSESSED = frozenset({"animal", "garment", "vehicle", "small", "building", "picture", "young"})


def _by_class(nouns: Iterable[Noun]) -> dict[str, list[Noun]]:
    found: dict[str, list[Noun]] = {}
    for noun in nouns:
        for name in sorted(noun.classes):
            found.setdefault(name, []).append(noun)
    return found


_BY_CLASS = _by_class([*SIMPLE, *SIMPLE, *COMPOUNDS, *(place.noun for place in PLACES)])
"""Simple nouns stand twice in each class: they are twice as frequent as compounds."""


@cache
def _ordered(classes: frozenset[str]) -> list[str]:
    return sorted(classes & _BY_CLASS.keys())


@cache
def _fitting(noun: Noun) -> list[Adjective]:
    return [word for word in ADJECTIVES if word.classes & noun.classes]


@cache
def _gaps(noun: Noun) -> list[tuple[str, list[Verb]]]:
    """Return the roles ``noun`` can play in a relative clause, each with the verbs that offer it."""
    roles = {
        "subject": [verb for verb in VERBS if verb.subjects & noun.classes],
        "accusative": [verb for verb in VERBS if verb.accusative & noun.classes and not verb.dative],
        "dative": [verb for verb in VERBS if verb.dative & noun.classes and not verb.accusative],
    }
    return [(gap, verbs) for gap, verbs in roles.items() if verbs]


class NounRules:
    """Draws noun phrases."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw

    def noun(self, classes: frozenset[str]) -> Noun:
        """Return a noun of one of the classes, drawn class first, so that small classes are heard too."""
        return self.draw.one(_BY_CLASS[self.draw.one(_ordered(classes))])

    def modifiers(self, noun: Noun, determiner: Determiner) -> tuple[Modifier, ...]:
        """Return no adjective, one, or two joined by "and"; superlatives after "the" only."""
        fitting = _fitting(noun)
        if not fitting or not self.draw.chance(0.38):
            return ()
        first = self.draw.one(fitting)
        if determiner is THE and self.draw.chance(0.15):
            return (Modifier(first, "superlative"),)
        second = self.draw.one(fitting)
        if second is not first and self.draw.chance(0.12):
            return (Modifier(first), Modifier(second))
        return (Modifier(first),)

    def _determiner(self, noun: Noun, plural: bool, quantified: bool) -> Determiner:
        if noun.mass:
            return self.draw.weighted([(4, A), (3, THE), (1, self.draw.one(POSSESSIVES))])
        some: list[tuple[float, Determiner]] = [(6, THE), (4, A), (2, self.draw.one(POSSESSIVES)), (1, THIS)]
        if noun.classes & _POSSESSED:
            some.append((1, name_determiner(self.draw.one(list(NAMES)))))
        if quantified and plural:
            some += [(1, SOME), (1, MANY), (0.6, ALL), (0.4, SEVERAL), (1.6, self.draw.one(NUMBERS))]
        elif quantified:
            some.append((0.7, EVERY))
        return self.draw.weighted(some)

    def phrase(self, classes: frozenset[str], quantified: bool = True, deep: bool = False) -> NounPhrase:
        """Return a noun phrase; ``deep`` allows a genitive or a relative clause."""
        noun = self.noun(classes)
        plural = not noun.mass and self.draw.chance(0.27)
        determiner = self._determiner(noun, plural, quantified)
        modifiers = self.modifiers(noun, determiner)
        genitive = relative = None
        if deep and determiner is THE and noun.classes & _POSSESSED and self.draw.chance(0.15):
            genitive = self._owner()
        elif deep and determiner in (THE, A) and not noun.mass and self.draw.chance(0.12):
            relative = self.relative(noun, plural)
        return NounPhrase(determiner, noun, plural, modifiers, genitive, relative)

    def _owner(self) -> NounPhrase:
        noun = self.noun(frozenset({"person"}))
        determiner = self.draw.weighted([(4, THE), (2, self.draw.one(POSSESSIVES)), (1, THIS)])
        return NounPhrase(determiner, noun, self.draw.chance(0.2), self.modifiers(noun, determiner))

    def subject(self, classes: frozenset[str], quantified: bool = True, deep: bool = False) -> Phrase:
        """Return a subject: for persons also a pronoun, a name or two people."""
        if "person" not in classes:
            return self.phrase(classes, quantified, deep)
        return self.draw.weighted(
            [
                (3.0, self.draw.one(PRONOUNS)),
                (1.4, self.name()),
                (0.6, Both(self.name(), self.phrase(frozenset({"person"}), quantified=False))),
                (7.0, self.phrase(classes, quantified, deep)),
            ]
        )

    def name(self) -> Name:
        """Return a person's name."""
        name = self.draw.one(list(NAMES))
        return Name(name, NAMES[name])

    def object(self, classes: frozenset[str], subject: Phrase, quantified: bool, deep: bool) -> Phrase:
        """Return an object: for persons also a pronoun (not the subject's own) or a name."""
        if "person" in classes and self.draw.chance(0.3):
            pronoun = self.draw.one(PRONOUNS)
            own = isinstance(subject, Pronoun) and (subject is pronoun or subject.person == pronoun.person == 1)
            return self.name() if own else pronoun
        if "person" in classes and self.draw.chance(0.15):
            return self.name()
        return self.phrase(classes, quantified, deep)

    def _place_phrase(self, place: Place) -> NounPhrase:
        determiner = self.draw.weighted([(8, THE), (2, A), (1, self.draw.one(POSSESSIVES)), (1, THIS)])
        return NounPhrase(determiner, place.noun, False, self.modifiers(place.noun, determiner))

    def place(self) -> Prepositional:
        """Return being somewhere."""
        place = self.draw.one(PLACES)
        return at(place, self._place_phrase(place))

    def direction(self) -> Prepositional:
        """Return going somewhere."""
        place = self.draw.one(PLACES)
        return towards(place, self._place_phrase(place))

    def position(self, case: str) -> Prepositional:
        """Return a position at furniture or the like: dative for being there, accusative for moving there."""
        preposition = self.draw.one(list(POSITIONS))
        phrase = self.phrase(frozenset({"surface"}), quantified=False)
        return Prepositional(preposition, POSITIONS[preposition], case, phrase)

    def relative(self, noun: Noun, plural: bool) -> Relative | None:
        """Return a relative clause whose subject or object is ``noun``; None where no verb fits."""
        choices = _gaps(noun)
        if not choices:
            return None
        gap, verbs = self.draw.one(choices)
        return self._relative_clause(noun, plural, gap, self.draw.one(verbs))

    def _relative_clause(self, noun: Noun, plural: bool, gap: str, verb: Verb) -> Relative:
        antecedent = NounPhrase(THE, noun, plural)
        subject = antecedent if gap == "subject" else self.subject(verb.subjects, quantified=False)
        clause = Clause(
            subject,
            verb,
            self.draw.weighted([(5, "present"), (3, "past"), (1, "perfect"), (1, "can")]),
            accusative=self.phrase(verb.accusative, quantified=False)
            if verb.accusative and gap != "accusative"
            else None,
            dative=self.phrase(verb.dative, quantified=False) if verb.dative and gap != "dative" else None,
            prepositional=self.about(verb, subject, quantified=False),
        )
        return Relative(clause, gap, bool(noun.classes & {"person"}), noun.gender, plural)

    def about(self, verb: Verb, subject: Phrase, quantified: bool) -> Prepositional | None:
        """Return the prepositional object a verb takes, if it takes one."""
        if not verb.preposition:
            return None
        return Prepositional(
            "", verb.preposition, verb.case, self.object(verb.prepositional, subject, quantified, deep=False)
        )
