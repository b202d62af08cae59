"""Rules that choose verbs, tenses, negation and adverbials, and make clauses of them."""

from __future__ import annotations

from ablatable.data.corpora.toy.clauses import Clause, Fixed
from ablatable.data.corpora.toy.english import MODALS
from ablatable.data.corpora.toy.noun_rules import NounRules
from ablatable.data.corpora.toy.phrases import HE, SHE, Modifier, NounPhrase, Phrase
from ablatable.data.corpora.toy.verbs import BE, MOTION, POSITION, PUT, VERBS, Verb
from ablatable.data.corpora.toy.words import (
    ADJECTIVES,
    DEGREES,
    FREQUENCIES,
    MANNERS,
    NO,
    TIMES,
    A,
    Adverb,
)

PERSON = frozenset({"person"})
_TENSES = [(7.0, "present"), (5.0, "past"), (3.0, "perfect"), (2.5, "future"), (3.5, "modal")]
_MODAL_TENSES = [*MODALS, "can past", "must past", "want past", "may past"]
_CAREFUL = ("slowly", "quickly", "carefully")
_MANNERS = {
    "lesen": ("slowly", "quickly", "quietly", "loudly"), "essen": ("slowly", "quickly", "quietly"),
    "trinken": ("slowly", "quickly"), "singen": ("quietly", "loudly"), "lachen": ("quietly", "loudly"),
    "weinen": ("quietly", "loudly"), "arbeiten": _CAREFUL, "tanzen": ("slowly", "quickly"),
    "waschen": _CAREFUL, "reparieren": _CAREFUL, "putzen": _CAREFUL, "schreiben": _CAREFUL,
    "tragen": _CAREFUL, "antworten": ("quietly", "quickly"),
    "aufmachen": ("slowly", "carefully", "quietly"), "zumachen": ("slowly", "carefully", "quietly"),
    "gehen": ("slowly",), "laufen": ("quickly",), "fahren": _CAREFUL,
}  # fmt: skip


_STATES = frozenset(
    ("need", "know", "own", "love", "understand", "forget", "lose", "depart", "belong to", "fall asleep")
)
"""English verbs that nobody can be asked to do, or tries to."""


class ClauseRules(NounRules):
    """Draws clauses."""

    def tense(self) -> str:
        """Return a tense or a modal."""
        tense = self.draw.weighted(_TENSES)
        return self.draw.one(_MODAL_TENSES) if tense == "modal" else tense

    def time(self, tense: str, negated: bool, probability: float = 0.4) -> Adverb | None:
        """Return an adverbial of time that goes with the tense; none of frequency in a negated clause."""
        if not self.draw.chance(probability):
            return None
        kind = "modal" if tense.partition(" ")[0] in MODALS else tense
        past_modal = tense.endswith(" past")
        words = [*TIMES] if negated or self.draw.chance(0.7) else [*FREQUENCIES]
        fitting = [w for w in words if kind in w.tenses and not (past_modal and "past" not in w.tenses)]
        return self.draw.one(fitting) if fitting else None

    def _manner(self, verb: Verb) -> tuple[str, str] | None:
        words = _MANNERS.get(verb.full_infinitive)
        if words is None or not self.draw.chance(0.3):
            return None
        word = self.draw.one(words)
        return word, MANNERS[word]

    def action(
        self,
        subject: Phrase | None = None,
        tense: str | None = None,
        time: float = 0.4,
        deep: bool = False,
        infinitive: bool = False,
    ) -> Clause:
        """Return a clause with a verb that acts; persons only where a subject is given."""
        kinds = [(16.0, VERBS), (2.5, MOTION), (1.5, POSITION), (1.5, PUT)]
        verbs = self.draw.weighted(kinds)
        if subject is not None or infinitive:
            verbs = [verb for verb in verbs if "person" in verb.subjects]
        if infinitive:
            verbs = [verb for verb in verbs if verb.english not in _STATES]
        verb = self.draw.one(verbs)
        tense = tense or self.tense()
        negated = not infinitive and self.draw.chance(0.13)
        subject = subject or self.subject(verb.subjects, quantified=not negated, deep=deep)
        if verb.english == verb.english_past and tense in ("present", "past") and not infinitive:
            tense = "perfect"  # "they read" does not say which tense it is
        if isinstance(subject, NounPhrase) and subject.determiner is NO:
            negated = False
        return self._fill(verb, subject, tense, negated, time, deep and not self._has_relative(subject))

    def _has_relative(self, phrase: Phrase | None) -> bool:
        return isinstance(phrase, NounPhrase) and phrase.relative is not None

    def _fill(self, verb: Verb, subject: Phrase, tense: str, negated: bool, time: float, deep: bool) -> Clause:
        loud = not negated
        dative = self.object(verb.dative, subject, loud, deep and not verb.accusative) if verb.dative else None
        accusative = self.object(verb.accusative, subject, loud, deep) if verb.accusative else None
        prepositional = self.about(verb, subject, loud)
        manner = self._manner(verb)
        place = None
        if verb in MOTION:
            prepositional = self.direction()
        elif verb in POSITION:
            prepositional = self.position("dat")
        elif verb in PUT:
            prepositional = self.position("acc")
        elif verb.english not in ("depart", "belong to") and self.draw.chance(0.14):
            place = self.place()
        extraposed = self._has_relative(dative) or self._has_relative(accusative)
        if extraposed:
            manner = place = None
        when = self.time(tense, negated, time)
        first = when is not None and not when.before_verb and (extraposed or self.draw.chance(0.45))
        if extraposed and prepositional is not None:
            when = None
        return Clause(
            subject,
            verb,
            tense,
            negated,
            dative,
            accusative,
            prepositional,
            time=when,
            time_first=first and when is not None,
            manner=manner,
            place=place,
        )

    def state(self, subject: Phrase | None = None, tense: str | None = None, time: float = 0.25) -> Clause:
        """Return a clause with "be": an adjective, a comparison, or a noun."""
        tense = tense or self.draw.weighted([(6, "present"), (4, "past"), (1, "perfect"), (1, "future")])
        negated = self.draw.chance(0.15)
        if subject is None and not negated and self.draw.chance(0.15):
            return self._being_somebody(tense)
        adjective = self.draw.one(ADJECTIVES)
        if subject is not None and "person" not in adjective.classes:
            adjective = self.draw.one([word for word in ADJECTIVES if "person" in word.classes])
        classes = adjective.classes
        subject = subject or self.subject(classes, quantified=not negated)
        when = self.time(tense, negated, time)
        complement = self.draw.rule(
            [
                (3, lambda: Fixed(adjective.english, adjective.german)),
                (2, lambda: self._degree(adjective.english, adjective.german)),
                (2, lambda: self._than(adjective.english_comparative, adjective.comparative, classes)),
                (1, lambda: self._as(adjective.english, adjective.german, classes)),
            ]
        )
        first = when is not None and not when.before_verb and self.draw.chance(0.5)
        return Clause(subject, BE, tense, negated, complement=complement, time=when, time_first=first)

    def _degree(self, english: str, german: str) -> Fixed:
        degree = self.draw.one(list(DEGREES))
        return Fixed(f"{degree} {english}", f"{DEGREES[degree]} {german}")

    def _than(self, english: str, german: str, classes: frozenset[str]) -> Fixed:
        other = self.phrase(classes, quantified=False)
        return Fixed(f"{english} than {other.english(False)}", f"{german} als {other.german('nom')}")

    def _as(self, english: str, german: str, classes: frozenset[str]) -> Fixed:
        other = self.phrase(classes, quantified=False)
        return Fixed(f"as {english} as {other.english(False)}", f"so {german} wie {other.german('nom')}")

    def _being_somebody(self, tense: str) -> Clause:
        gender = self.draw.one(("m", "f"))
        name = self.name()
        while name.gender != gender:
            name = self.name()
        subject = self.draw.one((name, HE if gender == "m" else SHE))
        noun = self.noun(PERSON)
        while noun.gender != gender:
            noun = self.noun(PERSON)
        adjectives = [word for word in ADJECTIVES if "person" in word.classes]
        modifiers = (Modifier(self.draw.one(adjectives)),) if self.draw.chance(0.7) else ()
        somebody = NounPhrase(A, noun, False, modifiers)
        return Clause(subject, BE, tense, complement=Fixed(somebody.english(False), somebody.german("nom")))

    def passive(self) -> Clause:
        """Return a clause in the passive, with or without the one who acts."""
        verb = self.draw.one([verb for verb in VERBS if verb.passive])
        negated = self.draw.chance(0.1)
        tense = self.draw.one(("present", "past"))
        agent = self.phrase(verb.subjects, quantified=False) if self.draw.chance(0.6) else None
        when = self.time(tense, negated, 0.35)
        first = when is not None and not when.before_verb and self.draw.chance(0.5)
        subject = self.phrase(verb.accusative, quantified=not negated)
        return Clause(subject, verb, tense, negated, time=when, time_first=first, passive=True, agent=agent)

    def clause(self, tense: str | None = None) -> Clause:
        """Return a short clause for a longer sentence."""
        if self.draw.chance(0.22):
            return self.state(tense=tense, time=0.1)
        return self.action(tense=tense, time=0.15)
