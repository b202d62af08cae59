"""Rules that make clauses and sentences."""

from __future__ import annotations

import re

from ablatable.data.corpora.toy.clauses import Clause, Fixed
from ablatable.data.corpora.toy.draw import Draw
from ablatable.data.corpora.toy.english import MODALS
from ablatable.data.corpora.toy.noun_rules import NounRules
from ablatable.data.corpora.toy.phrases import HE, SHE, WHO, YOU, Modifier, NounPhrase, Phrase
from ablatable.data.corpora.toy.verbs import BE, MOTION, POSITION, PUT, THAT, TO, VERBS, WHETHER, Verb
from ablatable.data.corpora.toy.words import (
    ADJECTIVES,
    DEGREES,
    FREQUENCIES,
    MANNERS,
    NO,
    TIMES,
    WHERE_BEFORE,
    A,
    Adverb,
)

Sentence = tuple[str, str]
_PERSON = frozenset({"person"})
_TENSES = [(7.0, "present"), (5.0, "past"), (3.0, "perfect"), (2.5, "future"), (3.5, "modal")]
_MODAL_TENSES = [*MODALS, "can past", "must past", "want past", "may past"]
_CAREFUL = ("slowly", "quickly", "carefully")
_MANNERS = {
    "lesen": ("slowly", "quickly", "quietly", "loudly"), "essen": ("slowly", "quickly", "quietly"),
    "trinken": ("slowly", "quickly"), "singen": ("quietly", "loudly"), "lachen": ("quietly", "loudly"),
    "weinen": ("quietly", "loudly"), "arbeiten": _CAREFUL, "tanzen": ("slowly", "quickly"), "waschen": _CAREFUL,
    "reparieren": _CAREFUL, "putzen": _CAREFUL, "schreiben": _CAREFUL, "tragen": _CAREFUL, "antworten": ("quietly", "quickly"),
    "aufmachen": ("slowly", "carefully", "quietly"), "zumachen": ("slowly", "carefully", "quietly"),
    "gehen": ("slowly",), "laufen": ("quickly",), "fahren": _CAREFUL,
}  # fmt: skip


_STATES = ("need", "know", "own", "love", "belong to", "understand", "forget", "lose", "depart", "fall asleep")
"""English verbs that nobody can be asked to do, or tries to."""


def tidy(text: str, mark: str) -> str:
    """Close a sentence: commas without a space before them and never doubled, a capital, an end mark."""
    text = re.sub(r"\s+,", ",", text)
    text = re.sub(r",+", ",", text).rstrip(", ")
    return text[0].upper() + text[1:] + mark


class Grammar(NounRules):
    """Draws sentences. The abstract clause is drawn once and said twice."""

    def __init__(self, seed: str) -> None:
        super().__init__(Draw(seed))

    # Clauses ----------------------------------------------------------------------------------------------------

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
        self, subject: Phrase | None = None, tense: str | None = None, time: float = 0.4, deep: bool = False, infinitive: bool = False
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
        noun = self.noun(_PERSON)
        while noun.gender != gender:
            noun = self.noun(_PERSON)
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

    # Sentences --------------------------------------------------------------------------------------------------

    def statement(self) -> Sentence:
        """A main clause."""
        clause = self.draw.rule(
            [(9, lambda: self.action(deep=True)), (3, self.state), (1.6, self.passive), (0.8, self._no_subject)]
        )
        return tidy(clause.english(), "."), tidy(clause.german(), ".")

    def _no_subject(self) -> Clause:
        noun = self.noun(_PERSON)
        plural = self.draw.chance(0.3)
        return self.action(subject=NounPhrase(NO, noun, plural, self.modifiers(noun, NO)))

    def existence(self) -> Sentence:
        """ "There is ..." and "Es gibt ..." with the accusative."""
        what = self.phrase(frozenset({"person", "animal", "plant", "building", "furniture"}))
        while what.determiner.genitive or what.determiner.singular not in (None, "a"):
            what = self.phrase(frozenset({"person", "animal", "plant", "building", "furniture"}))
        place, past = self.place(), self.draw.chance(0.4)
        be = {(False, False): "is", (False, True): "are", (True, False): "was", (True, True): "were"}[past, what.plural]
        english = f"there {be} {what.english(True)} {place.english()}"
        return tidy(english, "."), tidy(f"es {'gab' if past else 'gibt'} {what.german('acc')} {place.german()}", ".")

    def question(self) -> Sentence:
        """A yes-or-no question, one for a reason, time or place, or one for a person."""
        clause = self.state(time=0.0) if self.draw.chance(0.15) else self.action(time=0.0)
        kind = self.draw.weighted([(4, "whether"), (4, "where"), (2, "who")])
        if clause.negated:
            kind = "who" if kind == "who" else "where"
        if kind == "who":
            clause = self.action(subject=WHO, tense=self.draw.one(("present", "past", "perfect", "can", "want")), time=0.3)
            while clause.time_first or clause.negated:
                clause = self.action(subject=WHO, tense="past", time=0.3)
            return tidy(clause.english(), "?"), tidy(clause.german(), "?")
        if kind == "whether":
            return tidy(clause.english_question(), "?"), tidy(clause.german_inverted(), "?")
        words = ["why", "when"] if clause.place or clause.prepositional or clause.complement else list(WHERE_BEFORE)
        word = "why" if clause.negated or clause.complement else self.draw.one(words)
        return tidy(clause.english_question(word), "?"), tidy(f"{WHERE_BEFORE[word]} {clause.german_inverted()}", "?")

    def command(self) -> Sentence:
        """A polite command."""
        clause = self.action(subject=YOU, tense="present", time=0.0, infinitive=True)
        english = f"please {clause.english_infinitive()}"
        return tidy(english, "!"), tidy(f"bitte {clause.german_inverted()}", "!")

    _CONJUNCTIONS = (
        ("because", "weil", ("present", "past", "perfect", "future", "can", "must", "want")),
        ("although", "obwohl", ("present", "past", "perfect", "can", "must")),
        ("if", "wenn", ("present", "can", "want")),
        ("while", "während", ("past",)),
        ("before", "bevor", ("past",)),
        ("as soon as", "sobald", ("present", "can")),
        ("until", "bis", ("past",)),
        ("so that", "damit", ("can",)),
    )

    def subordinate(self) -> Sentence:
        """A main clause with an adverbial clause before or after it."""
        english_word, german_word, tenses = self.draw.one(self._CONJUNCTIONS)
        tense = self.draw.one(tenses)
        main_tense = {"past": "past", "perfect": "present"}.get(tense) or self.draw.one(("present", "future", "must"))
        if english_word == "so that":
            main_tense = "present"
        main, side = self.clause(main_tense), self.clause(tense)
        while side.time_first or main.time_first:
            main, side = self.clause(main_tense), self.clause(tense)
        english_side, german_side = f"{english_word} {side.english()}", f"{german_word} {side.german_final()}"
        if english_word != "so that" and self.draw.chance(0.35):
            return tidy(f"{english_side}, {main.english()}", "."), tidy(f"{german_side}, {main.german_inverted()}", ".")
        return tidy(f"{main.english()} {english_side}", "."), tidy(f"{main.german()}, {german_side}", ".")

    def reported(self) -> Sentence:
        """Somebody says that, or asks whether."""
        verbs, english_word, german_word = self.draw.weighted([(4, (THAT, "that", "dass")), (1, (WHETHER, "whether", "ob"))])
        tense = self.draw.one(("present", "past"))
        inner = self.clause(self.draw.one(("past", "can past")) if tense == "past" else None)
        while inner.time_first:
            inner = self.clause(self.draw.one(("past", "can past")) if tense == "past" else None)
        outer = Clause(self.subject(_PERSON), self.draw.one(verbs), tense)
        english = f"{outer.english()} {english_word} {inner.english()}"
        return tidy(english, "."), tidy(f"{outer.german()}, {german_word} {inner.german_final()}", ".")

    def infinitive(self) -> Sentence:
        """Somebody tries to do something."""
        subject = self.subject(_PERSON)
        tense = self.draw.one(("present", "past", "perfect"))
        outer = Clause(subject, self.draw.one(TO), tense, time=self.time(tense, False, 0.15))
        inner = self.action(subject=subject, tense="present", time=0.0, infinitive=True)
        english = f"{outer.english()} to {inner.english_infinitive()}"
        if outer.time is not None and not outer.time.before_verb:
            outer = Clause(subject, outer.verb, tense, time=outer.time, time_first=True)
            english = f"{outer.english()} to {inner.english_infinitive()}"
        return tidy(english, "."), tidy(f"{outer.german()}, {inner.german_infinitive()}", ".")

    def purpose(self) -> Sentence:
        """Somebody does something in order to do something else."""
        subject = self.subject(_PERSON)
        outer = self.action(subject=subject, tense=self.draw.one(("present", "past", "perfect", "must")), time=0.1)
        inner = self.action(subject=subject, tense="present", time=0.0, infinitive=True)
        english = f"{outer.english()} in order to {inner.english_infinitive()}"
        return tidy(english, "."), tidy(f"{outer.german()}, um {inner.german_infinitive()}", ".")

    def coordination(self) -> Sentence:
        """Two main clauses."""
        english_word, german_word = self.draw.one((("and", "und"), ("but", "aber")))
        tense = self.draw.one(("present", "past"))
        first, second = self.clause(tense), self.clause(tense)
        while second.time_first:
            second = self.clause(tense)
        english = f"{first.english()}, {english_word} {second.english()}"
        comma = "," if german_word == "aber" else ""
        return tidy(english, "."), tidy(f"{first.german()}{comma} {german_word} {second.german()}", ".")

    def sentence(self) -> Sentence:
        """Return one English sentence and its German translation."""
        english, german = self.draw.rule(
            [
                (9, self.statement),
                (0.8, self.existence),
                (2.4, self.question),
                (0.7, self.command),
                (3.4, self.subordinate),
                (2.0, self.reported),
                (1.6, self.infinitive),
                (1.0, self.purpose),
                (1.2, self.coordination),
            ]
        )
        return english.replace("can not ", "cannot "), german
